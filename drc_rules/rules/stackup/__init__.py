"""STK: is there a stackup at all, does it agree with the board, can it be built."""
