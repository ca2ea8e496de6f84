"""stackwright.toml."""

FILE_NAME = "stackwright.toml"
