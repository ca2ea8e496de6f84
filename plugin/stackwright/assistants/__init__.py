"""Stackwright for programs that ask in words: the commands that only read, as tools of the Model Context Protocol."""
