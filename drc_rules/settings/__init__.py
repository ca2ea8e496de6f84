"""stackwright.toml."""
