"""Tables and charts of a report."""
