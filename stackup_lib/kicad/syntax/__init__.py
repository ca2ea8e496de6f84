"""S-expressions: KiCad's syntax, as text, spans and trees."""
