"""Signalling standards, and which nets of a board belong to which."""

from drc_rules.interfaces.assign import Assignment, NetRole, assign_nets
from drc_rules.interfaces.model import Family, Interface, families, family, interface, interface_ids

__all__ = [
    "Assignment",
    "Family",
    "Interface",
    "NetRole",
    "assign_nets",
    "families",
    "family",
    "interface",
    "interface_ids",
]
