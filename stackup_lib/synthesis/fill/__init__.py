"""Fills orders of layers with cores and prepregs that are sold."""
