"""Profiles, form factors, interfaces and fabs, and their clauses."""
