"""Reference cases that the solvers are compared with."""
