"""CUP: is the copper heavy enough, and can it be etched."""
