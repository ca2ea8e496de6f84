"""Declared rails: drop, return, heat."""
