"""Which nets have to meet an impedance, and the widths and gaps that KiCad is configured with."""
