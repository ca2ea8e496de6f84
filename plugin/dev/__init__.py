"""Tools of those who work on Stackwright; they are in no wheel."""
