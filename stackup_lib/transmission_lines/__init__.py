"""Impedance, loss, tolerance and width of transmission lines."""
