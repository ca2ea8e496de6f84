"""Planes next to tracks, their gaps, and where the return current changes planes."""
