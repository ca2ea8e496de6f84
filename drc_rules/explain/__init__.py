"""What is known of single nets, and how a clause was decided."""
