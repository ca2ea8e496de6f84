"""Stackwright inside KiCad 10: the live board over its IPC API, markers in its DRC window, the button's action."""
