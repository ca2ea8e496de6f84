"""FAB: can it be made, and by whom: size, thickness, holes, rings, tracks, registration, flatness, glass weave."""
