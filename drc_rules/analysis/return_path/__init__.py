"""The planes that carry the return current of fast nets."""
