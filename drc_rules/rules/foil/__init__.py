"""FOI: is the copper foil smooth enough for what runs on it."""
