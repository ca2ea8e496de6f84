"""Impedance of what was routed, its target, and how well it is known."""
