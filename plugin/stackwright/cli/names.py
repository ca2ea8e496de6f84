"""Names that the shell completes; what lists them is imported only when it asks."""

from __future__ import annotations


def profiles() -> list[str]:
    """Return the names of the workloads."""
    from drc_rules.requirements.profiles.profile import profile_names

    return list(profile_names())


def forms() -> list[str]:
    """Return the names of the form factors."""
    from drc_rules.requirements.forms import forms as known

    return list(known())


def rules() -> list[tuple[str, str]]:
    """Return the codes of the rules, each with the rule's name."""
    from drc_rules.rules.rule import all_rules

    return [(rule.code, rule.name) for rule in all_rules()]


def interfaces() -> list[str]:
    """Return the names of the interfaces."""
    from drc_rules.requirements.interfaces import interface_ids

    return list(interface_ids())
