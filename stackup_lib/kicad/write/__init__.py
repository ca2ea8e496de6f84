"""Writing stackups, net classes and rules into KiCad files without losing anything else."""
