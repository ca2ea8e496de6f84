"""What joins two nets on copper, kind by kind, for the rule on short circuits."""
