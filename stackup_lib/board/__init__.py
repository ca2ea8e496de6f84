"""The model of a board as it was read: layers, stackup, tracks, vias, pads, zones."""
