"""Rows of `loss_shares.toml`: what published shares hold besides the board, and on which boards they are limits."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.documents import document
from drc_rules.requirements.forms import Form
from drc_rules.requirements.interfaces import Interface
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval

FILE = Path(__file__).with_name("loss_shares.toml")


class _Rows(Frozen):
    """What the file holds.

    Attributes:
        allowance: interface -> role -> part -> least, usual and most in dB.
        unstated: interface -> role -> parts of which no text states how much they take.
        holds_on: document -> form factors for whose boards it is; other documents are for any board.
        role_of_form: form factor -> role.
    """

    allowance: Mapping[str, Mapping[str, Mapping[str, tuple[float, float, float]]]]
    unstated: Mapping[str, Mapping[str, tuple[str, ...]]]
    holds_on: Mapping[str, tuple[str, ...]]
    role_of_form: Mapping[str, str]


@cache
def assumed_allowances(interface_id: str, role: str) -> Mapping[str, Interval]:
    """Return what a published share holds besides the board, in dB; empty for the board alone."""
    rows = _rows().allowance.get(interface_id, {}).get(role, {})
    return {part: Interval(low=low, nominal=usual, high=most) for part, (low, usual, most) in rows.items()}


def unstated_parts(interface_id: str, role: str) -> tuple[str, ...]:
    """Return what a published share holds besides the board, where only the user can say how much."""
    return _rows().unstated.get(interface_id, {}).get(role, ())


def holds_on(document: str, form: Form | None) -> bool:
    """Tell whether what a document states is a limit for a board of a form factor, None for an unknown one."""
    forms = _rows().holds_on.get(document)
    return forms is None or (form is not None and form.name in forms)


def role_by_form() -> Mapping[str, str]:
    """Return form factor -> what its boards are in the channels that have a share for it."""
    return _rows().role_of_form


def roles_to_choose(ones: Iterable[Interface], form: Form | None) -> str:
    """Return the roles of interfaces as a question names them: `host; by NVIDIA's guide to other boards: type_c`.

    Empty where a board of that form factor has none but by a guide to other boards: such a role is no choice.
    """
    here: dict[str, None] = {}
    by_guide: dict[str, dict[str, None]] = {}
    for one in ones:
        for role in one.board_loss_db:
            key = one.document_of(f"board_loss_db.{role}")
            stands_in = None if holds_on(key, form) else document(key)
            roles = by_guide.setdefault(stands_in.publisher, {}) if stands_in else here
            roles[role] = None
    others = (f"by {whose}'s guide to other boards: {', '.join(roles)}" for whose, roles in by_guide.items())
    return "; ".join((", ".join(here), *others)) if here else ""


@cache
def _rows() -> _Rows:
    return read_model(FILE, _Rows)
