"""What is sent to a fab, held against the board that was checked: what differs, and what no file states."""
