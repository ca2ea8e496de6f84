"""THM: do vias, coins and cooling dissipate the heat of declared high-power components."""
