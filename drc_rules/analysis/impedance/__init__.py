"""Impedance of what was routed, what is asked of it, and how well it is known."""
