"""What a command found, as reporters take it: models without any work in them."""
