"""Planes beside tracks, their gaps, and where the return current changes planes."""
