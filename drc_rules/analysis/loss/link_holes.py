"""What the plated holes of routed links lose, without a word on their lines: no Df is needed for it."""

from __future__ import annotations

from dataclasses import replace

from drc_rules.analysis.loss.hole_loss import HoleLosses, HolesOnLink
from drc_rules.analysis.loss.link_loss import LinkLosses
from drc_rules.analysis.nets.board_links import complete_routes
from drc_rules.analysis.via.high_speed_vias import StubGroup, grouped_stubs, length_of
from drc_rules.analysis.via.stub_removal import Removal, removal_of
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record


@record
class LinkHoles:
    """The holes of a link, of a pair those of both traces; `length_mm` is that of the longer trace, branches too."""

    name: str
    length_mm: float
    holes: HolesOnLink


@record
class InterfaceHoles:
    """The holes of an interface's links, and why those of others are not known."""

    known: tuple[LinkHoles, ...]
    missing: tuple[MissingFact, ...]


def interface_holes(ctx: Context, one: Interface, max_stub_mm: float | None = None) -> InterfaceHoles:
    """Return what the holes of every routed link of an interface lose at Nyquist, declared links and inferred ones.

    Args:
        ctx: the board and its facts.
        one: the interface.
        max_stub_mm: longer stubs without a backdrill count as cut; None where they stay.
    """
    losses, known_groups = LinkLosses(ctx), ctx.get(grouped_stubs)
    groups = tuple(_cut(ctx, group, max_stub_mm) for group in known_groups) if max_stub_mm is not None else known_groups
    of_one = HoleLosses(ctx, one, groups)
    known: list[LinkHoles] = []
    missing: list[MissingFact] = []
    chosen = [traces for declared in (True, False) for traces in losses.traces_of(one, declared=declared)]
    losses.links.prepare(trace for traces in chosen for trace in traces)
    for traces in chosen:
        name = ctx.board.nets[traces[0].nets[0]]
        try:
            holes = of_one.on([complete_routes(ctx, trace) for trace in traces])
        except MissingFact as fact:
            missing.append(fact)
        except StackwrightError as error:
            missing.append(MissingFact(f"the loss of the vias of {name} ({error.what})", error.next_step))
        else:
            known.append(LinkHoles(name, max(trace.length_mm for trace in traces), holes))
    return InterfaceHoles(tuple(known), tuple(missing))


def _cut(ctx: Context, group: StubGroup, max_stub_mm: float) -> StubGroup:
    """Return a group without stubs to be backdrilled; as it is where no drill reaches them or they are not known."""
    if (
        not group.stubs
        or group.drill is not None
        or not all(removal_of(ctx, stub) is Removal.DRILL for stub in group.stubs)
    ):
        return group
    try:
        is_long = length_of(ctx, group).nominal > max_stub_mm
    except MissingFact:
        return group
    return replace(group, stubs=()) if is_long else group
