"""The S-parameters of links, from lines, vias, stubs, series parts and connectors in the order of the route.

`legs` puts the elements of both traces side by side, `elements` and `joints` give the chain of each, `link_network`
cascades them.
"""
