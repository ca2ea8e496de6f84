"""The rules: one file each, found by walking; a family is a folder."""
