"""The board from above as shapes: compact integers of 10 um for the script that draws them."""
