"""`impedance`, `nets`, `stackup` and `validate`."""
