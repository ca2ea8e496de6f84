"""Reporters: functions from reports to text, without decisions of their own."""
