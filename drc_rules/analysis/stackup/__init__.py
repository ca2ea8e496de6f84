"""Stackup, size and form factor of a board."""
