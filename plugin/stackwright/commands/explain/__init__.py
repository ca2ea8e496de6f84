"""`explain`."""
