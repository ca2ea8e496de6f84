"""The missing facts as a form: which are asked, what an answer does, and how it is written to `stackwright.toml`."""
