"""What a workload demands of a board: profiles, rules, the engine and its report."""
