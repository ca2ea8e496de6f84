"""Holes and vias: spans, stubs, the lamination cycles that a build needs."""
