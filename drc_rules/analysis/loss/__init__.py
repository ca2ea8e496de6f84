"""Insertion loss of links, and what it asks of laminate and foil."""
