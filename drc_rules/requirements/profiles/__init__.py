"""Workload profiles."""
