"""A fab's stackup against the board's: rows side by side, and what its verdicts become."""
