"""Defects that `recall.py` makes in public boards, each as a change of the text of the board's files."""
