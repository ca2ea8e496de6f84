"""Deciding clauses: rules, verdicts, findings, suppressions, baselines."""
