"""What nets are and what they are joined to: links through series parts, pairs, power nets, KiCad's rules for them."""
