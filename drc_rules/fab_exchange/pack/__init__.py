"""What a fab needs in writing: tables of stackup, impedances, holes, backdrills, laminates, and notes."""
