"""The command line: options and help of every command."""
