"""`release`."""
