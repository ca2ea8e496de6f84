"""Delay of routes: what sets the two traces of a pair apart."""
