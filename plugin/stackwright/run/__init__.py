"""What a run of the command line stands in: paths, revisions, processes, other programs."""
