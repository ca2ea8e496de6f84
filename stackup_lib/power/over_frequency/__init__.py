"""Impedance of a supply rail over frequency: planes as a cavity, capacitors with their mounting, a network of them.

`plane_pair` is what lies between two planes, `plane_outline` the cavity of their outline, `mounting` the loop between
capacitor and planes, `capacitors` what a part of a size and a value typically is, `circuit` the network and which of
its branches make a peak. The assumptions: linear parts at one temperature; one pair of planes, seen from above, with
open edges and without fringes.
"""
