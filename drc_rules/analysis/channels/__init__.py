"""Links as channels between two chips: which pairs run next to them, what comes over, and their operating margin."""
