"""RET: gaps in planes, planes on both sides, layer changes, coupling between pairs."""
