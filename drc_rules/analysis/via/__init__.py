"""Vias of fast nets: stubs, backdrills, aspect ratios."""
