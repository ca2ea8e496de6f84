"""What is declared and inferred about one board, and how sure it is."""
