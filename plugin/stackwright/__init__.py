"""How people meet Stackwright: the command line, the reporters, KiCad and CI."""

__version__ = "0.1.0"
