"""`profiles`, `materials` and what else is looked up."""
