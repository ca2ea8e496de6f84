"""Names that the shell completes; what lists them is imported only when it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from click import Context, Parameter
from click.shell_completion import CompletionItem

Completed = Callable[[Context, Parameter, str], list[CompletionItem]]
"""What Click calls for the answers that begin with what was typed."""


def completed(names: Callable[[], Iterable[str]]) -> Completed:
    """Return what completes one of these names."""

    def begun(_: Context, __: Parameter, typed: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(typed)]

    return begun


def profiles() -> Iterable[str]:
    """Return the names of the workloads."""
    from drc_rules.requirements.profiles.profile import profile_names

    return profile_names()


def forms() -> Iterable[str]:
    """Return the names of the form factors."""
    from drc_rules.requirements.forms import forms as known

    return known()


def rules() -> Iterable[str]:
    """Return the codes of the rules."""
    from drc_rules.rules.rule import all_rules

    return [rule.code for rule in all_rules()]


def interfaces() -> Iterable[str]:
    """Return the names of the interfaces."""
    from drc_rules.requirements.interfaces import interface_ids

    return interface_ids()
