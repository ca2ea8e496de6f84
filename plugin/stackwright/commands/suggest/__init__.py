"""`suggest`."""
