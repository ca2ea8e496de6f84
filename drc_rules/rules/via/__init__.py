"""VIA: stubs and how they are taken away."""
