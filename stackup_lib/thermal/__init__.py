"""Heat through the board: via arrays under hot parts."""
