"""Two-dimensional field solver for cross sections of transmission lines, by boundary elements.

The solver's assumptions: quasi-static TEM in a cross section that does not change along the line; perfect conductors
with current on their surface (no internal inductance: a real line is about 1 % higher at 1 GHz); lossless dielectric
layers, horizontal, of one permittivity each; planes infinitely wide and of no thickness; coplanar grounds infinitely
wide, as thick as the trace and tied to the planes. Copper displaces the layer it is in (`sections` says where it is).
Truncation: open interfaces end at 1000 section sizes, shielded ones five plane distances beyond the copper.
"""
