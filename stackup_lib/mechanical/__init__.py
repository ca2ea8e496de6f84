"""Bow and twist of a laminated board."""
