"""Vias of high-speed nets: stubs, backdrills, aspect ratios."""
