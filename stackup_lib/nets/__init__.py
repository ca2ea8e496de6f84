"""What nets are joined to what: routes, links through series parts, pairs, power nets."""
