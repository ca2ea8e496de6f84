"""Copper as geometry: fills, distances, clearances, shorts, coupling."""
