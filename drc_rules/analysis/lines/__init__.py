"""The transmission lines of a board: surroundings, impedance, loss, uncertainty."""
