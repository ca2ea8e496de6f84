"""The impedance of a board's rails over frequency: what of the board is in the network, and what it comes to.

`pdn_of` is the way in. `rail_named` tells the rail and its target, `heights` the dielectrics, `decoupling` the
capacitors, `mounts` how they are joined to the planes, `supply` the regulator, `load` the load and its vias;
`pdn_network` puts them together, `pdn_curve` solves it.
"""
