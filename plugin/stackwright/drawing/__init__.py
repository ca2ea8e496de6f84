"""The stackup as a drawing (SVG) and as tables (text, Markdown, CSV, JSON)."""
