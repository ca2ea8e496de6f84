"""NET: what the nets are for."""
