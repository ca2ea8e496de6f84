"""What a board is: the file reader, the frozen `Board`, materials and physics. Needs no KiCad to run."""
