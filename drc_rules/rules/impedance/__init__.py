"""IMP: what is required of the fab, and what was routed."""
