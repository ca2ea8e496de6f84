"""Parts that give off heat, and the vias under them."""
