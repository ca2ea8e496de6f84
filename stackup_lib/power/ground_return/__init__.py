"""The way of the current back through ground."""
