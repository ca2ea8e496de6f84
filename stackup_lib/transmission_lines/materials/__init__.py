"""Permittivity, conductivity and roughness over frequency."""
