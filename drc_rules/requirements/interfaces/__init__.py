"""Signalling standards, and which nets of a board belong to which."""

from drc_rules.requirements.interfaces.load import families, family, interface, interface_ids
from drc_rules.requirements.interfaces.model import Family, Interface

__all__ = [
    "Family",
    "Interface",
    "families",
    "family",
    "interface",
    "interface_ids",
]
