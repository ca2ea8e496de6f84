"""IMP: what is asked of the fab, and what was routed."""
