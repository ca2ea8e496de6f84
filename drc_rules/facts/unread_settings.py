"""What settings say of things that the board does not have: without a note it would look as if it counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from drc_rules.facts.declared import TEXT_VARIABLES
from drc_rules.settings import FILE_NAME
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.words import count

if TYPE_CHECKING:
    from drc_rules.facts.context import Context

PREFIX = "STACKWRIGHT_"
"""How the names of our text variables begin."""


def unread_notes(ctx: Context) -> Iterator[str]:
    """Yield a note for each setting that is for another board, or misspelt."""
    yield from _strange_variables(ctx.board.project.text_variables)
    yield from _other_laminates(ctx)
    yield from _other_stackup(ctx)
    yield from _unlisted_weights(ctx)


def _strange_variables(variables: Iterable[str]) -> Iterator[str]:
    known = TEXT_VARIABLES.values()
    for name in variables:
        if name.upper().startswith(PREFIX) and name not in known:
            yield f"text variable {name} of the project is not known and says nothing; {did_you_mean(name, known)}"


def _other_laminates(ctx: Context) -> Iterator[str]:
    """Slash sheets of laminates that the stackup does not have."""
    sheets = ctx.declarations.config.order.slash_sheets
    if not sheets:
        return
    stated = [ply.laminate.value.family if ply.laminate.value else ply.stated for ply in ctx.plies]
    names = set(filter(None, stated))
    for name in sheets:
        if names and name not in names:
            fix = did_you_mean(name, names)
            yield f'{FILE_NAME}, [order]: slash_sheets names "{name}", which is no laminate of the stackup; {fix}'


def _other_stackup(ctx: Context) -> Iterator[str]:
    """A stackup that is ordered, and has other layers than the board."""
    name, mine = ctx.declarations.config.order.stackup, ctx.board.layer_count
    if name is None:
        return
    from drc_rules.requirements.fabs.stackups.load import find, named_stackups  # noqa: PLC0415 - rarely needed

    theirs = sorted({one.copper_layers for one in find(name, named_stackups())})
    if mine not in theirs:
        layers, fix = " or ".join(map(str, theirs)), f"`stackwright fabs --layers {mine}` lists what fits"
        yield f'{FILE_NAME}, [order]: stackup "{name}" has {layers} copper layers, the board {mine}; {fix}'


def _unlisted_weights(ctx: Context) -> Iterator[str]:
    """Inner layers of a copper weight for which one's own fab states no width or space: the tiers of fabs count."""
    fab = ctx.declarations.config.fab
    tables: Mapping[str, Mapping[str, float]] = {"track_mm": fab.track_mm, "space_mm": fab.space_mm}
    if not any(tables.values()):
        return
    from drc_rules.facts.copper_weight import weight_of  # noqa: PLC0415 - rarely needed

    weights = [weight_of(ctx, index) for index in range(1, ctx.board.layer_count - 1)]
    found = [weight.value for weight in weights if weight.known and weight.value is not None]
    for key, table in tables.items():
        listed = {float(weight) for weight in table}
        lacking = sorted(oz for oz in found if oz not in listed)
        if table and lacking:
            several = " and ".join(f"{oz:g} oz" for oz in dict.fromkeys(lacking))
            of = f"the copper of {count(len(lacking), 'inner layer')}"
            yield f"{FILE_NAME}, [fab]: {key} says nothing of {several}, {of}: the tiers of fabs count there"
