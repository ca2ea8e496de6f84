"""What nets are, and what is not known of them."""
