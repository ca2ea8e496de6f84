"""Rules on the insertion loss of links."""
