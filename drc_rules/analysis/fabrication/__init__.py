"""Holes, rings, spaces and edges as fabs limit them."""
