"""The missing facts as a form: which are listed, what an answer does, and how it is written to `stackwright.toml`."""
