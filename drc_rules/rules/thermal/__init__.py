"""THM: do vias, coins and cooling lead the heat of declared hot parts away."""
