"""What everything else stands on: errors, facts, intervals, files, processes."""
