"""What the router and the drill leave: the area of a board, and copper near its edge, cut-outs and unplated holes."""
