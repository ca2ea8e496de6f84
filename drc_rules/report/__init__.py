"""What a check says: findings, verdicts, tables."""
