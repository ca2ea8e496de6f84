"""Text for terminals: words, tables, pages."""
