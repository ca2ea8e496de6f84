"""Voltage drop and current density of a supply rail, by finite elements."""
