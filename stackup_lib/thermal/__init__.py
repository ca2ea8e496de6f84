"""Heat through the board: via arrays under high-power components."""
