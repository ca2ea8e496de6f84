"""Holes and vias: spans, stubs, the presses that a build needs."""
