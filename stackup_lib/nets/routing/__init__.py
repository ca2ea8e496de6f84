"""The copper of nets as graphs, and the way a signal takes through them."""
