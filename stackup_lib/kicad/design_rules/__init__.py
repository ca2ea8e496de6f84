"""KiCad's custom design rules."""
