"""The planes that carry the return current of high-speed nets."""
