"""What rules and reports need to know of a board, computed once each."""
