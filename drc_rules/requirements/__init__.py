"""Profiles, form factors, interfaces and fabs, and the clauses that they ask for."""
