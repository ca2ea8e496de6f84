"""`compare` and `fab-pack`."""
