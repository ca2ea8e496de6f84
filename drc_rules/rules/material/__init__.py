"""MAT: is the laminate good enough for what runs on it."""
