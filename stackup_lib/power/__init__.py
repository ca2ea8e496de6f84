"""Power at DC and at the board's own frequencies: resistance of copper, IR drop of a rail, target impedance.

`copper` and `planes` are closed forms; `rail` cuts one net out of a board; `sheets` solves thin sheets of copper joined
by barrels between two bounds; `ground_return` solves the drop of the ground return, on a grid that holds the largest
planes. `over_frequency` is the network of planes and capacitors from kHz to GHz, with assumptions of its own.
The assumptions of the others: direct current; every layer a sheet of uniform thickness, temperature and conductivity,
with no drop through its thickness; a pad under a terminal and a drilled hole are equipotential (a hole is the octagon
that spreads current as its circle does); solder, finish and copper fill of holes do not conduct.
"""
