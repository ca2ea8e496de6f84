"""`init` and `kicad doctor`."""
