"""Reading KiCad boards, projects and library tables."""
