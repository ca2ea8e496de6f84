"""What goes to a fab and comes back: stackup tables, drawings, comparisons."""
