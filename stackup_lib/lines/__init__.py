"""Transmission lines: cross sections, field solver, material physics, loss and tolerance."""
