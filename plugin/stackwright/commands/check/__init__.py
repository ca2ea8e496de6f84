"""`check` and `baseline`."""
