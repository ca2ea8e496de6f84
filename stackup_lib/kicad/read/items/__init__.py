"""Tracks, vias, zones, footprints and outline of a KiCad board."""
