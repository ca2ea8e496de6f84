"""`apply` and `new`: stackups written into KiCad files."""
