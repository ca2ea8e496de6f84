"""Reading and writing files safely: bounded, regular, atomic, one writer at a time."""
