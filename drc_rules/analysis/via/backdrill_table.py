"""The backdrill table for the fab: depth groups per side, what must be cut and what must not, what is left standing.

Rows are what the board file and `stackwright.toml` require, and what the stubs of high-speed interfaces would need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from drc_rules.analysis.via.drilled_holes import drilled_holes
from drc_rules.analysis.via.high_speed_vias import StubGroup, grouped_stubs
from drc_rules.analysis.via.stub_nulls import resonance_values
from drc_rules.analysis.via.stub_removal import Removal, removal_of
from drc_rules.facts.context import Context
from drc_rules.report.link_rows import BackdrillRow
from drc_rules.report.verdicts import Missing
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import (
    Backdrill,
    PlatedHole,
    Stub,
    residual_mm,
    stubs,
)

__all__ = ["BackdrillRow", "BackdrillTable", "backdrill_table"]

TIMES_NYQUIST = 3.0
"""A stub that resonates at this multiple of Nyquist, in the worst case, needs no drill."""


@record
class BackdrillTable:
    """All depth groups of a board, front side first, deepest last; `missing` keeps what could not be worked out."""

    rows: tuple[BackdrillRow, ...]
    missing: tuple[Missing, ...] = ()


@record
class _Entry:
    hole: PlatedHole
    stub: Stub
    drill: Backdrill
    is_proposed: bool
    exit_instead: int | None = None

    @property
    def key(self) -> tuple[float, ...]:
        drill = self.drill
        shape = (self.hole.drill_mm, drill.size_mm or 0.0, self.is_proposed)
        return (drill.start, abs(drill.must_cut - drill.start), drill.must_cut, self.stub.first, *shape)


def backdrill_table(ctx: Context) -> BackdrillTable:
    """Return the board's backdrill table.

    Raises:
        MissingFact: there is no stackup with a thickness for every layer, and the board has something to drill.
    """
    missing: dict[str, Missing] = {}
    entries = [*_asked(ctx), *_needed(ctx, missing)]
    if not entries:
        return BackdrillTable(rows=(), missing=tuple(missing.values()))
    groups: dict[tuple[float, ...], list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.key, []).append(entry)
    rows = tuple(_row(ctx, groups[key]) for key in sorted(groups))
    return BackdrillTable(rows=rows, missing=tuple(missing.values()))


def _asked(ctx: Context) -> Iterator[_Entry]:
    """The drills of the file and the declared ones, each with the stub that it takes away."""
    instead: dict[tuple[int, float, float, int], int | None] | None = None
    for drilled in drilled_holes(ctx):
        hole, side = drilled.hole, drilled.drill.start
        found = [s for s in stubs((hole,), ctx.copper_heights_mm()) if s.side == side]
        if found:
            instead = dict(_without_drill(ctx)) if instead is None else instead
            layer = instead.get((hole.net, hole.x_mm, hole.y_mm, side))
            yield _Entry(hole, found[0], drilled.drill, is_proposed=False, exit_instead=layer)


def _without_drill(ctx: Context) -> Iterator[tuple[tuple[int, float, float, int], int | None]]:
    """Net, place and side of the drilled holes of high-speed nets, with the layer that would need no drill."""
    for group in ctx.get(grouped_stubs):
        nyquist = group.choices[-1].nyquist_ghz if len(group.choices) == 1 else None
        if not group.stubs or group.drill is None or nyquist is None:
            continue
        with suppress(MissingFact):
            layer = _exit_instead(ctx, group, TIMES_NYQUIST * nyquist)
            for stub in group.stubs:
                yield (stub.hole.net, stub.hole.x_mm, stub.hole.y_mm, stub.side), layer


def _needed(ctx: Context, missing: dict[str, Missing]) -> Iterator[_Entry]:
    """A drill to the layer next to the used one for every stub that resonates too low.

    The pin of a soldered part goes through the whole board: only pins that are pressed in can be drilled. A via that
    joins nothing is to be deleted.
    """
    for group in ctx.get(grouped_stubs):
        nyquist = group.choices[-1].nyquist_ghz if len(group.choices) == 1 else None
        if not group.stubs or group.drill or nyquist is None:
            continue
        try:
            figures = resonance_values(ctx, group)
        except MissingFact as fact:
            missing.setdefault(fact.name, Missing(fact=fact.name, how_to_give=fact.how_to_give))
            continue
        if figures.resonance_ghz.low >= TIMES_NYQUIST * nyquist:
            continue
        first, side = group.stubs[0].first, group.stubs[0].side
        drill = Backdrill(start=side, must_cut=first + (1 if side > first else -1))
        instead = _exit_instead(ctx, group, TIMES_NYQUIST * nyquist)
        for stub in group.stubs:
            if removal_of(ctx, stub) is Removal.DRILL:
                yield _Entry(stub.hole, stub, drill, is_proposed=True, exit_instead=instead)


def _exit_instead(ctx: Context, group: StubGroup, least_ghz: float) -> int | None:
    """Nearest layer towards the stub's end from which the rest of the barrel resonates high enough."""
    first, side = group.stubs[0].first, group.stubs[0].side
    step = 1 if side > first else -1
    for layer in range(first + step, side + step, step):
        if layer == side:
            return layer
        if ctx.uses[layer].is_plane:
            continue
        nearer = group.at_layer(layer)
        if resonance_values(ctx, nearer).resonance_ghz.low >= least_ghz:
            return layer
    return None


def _row(ctx: Context, entries: list[_Entry]) -> BackdrillRow:
    first = entries[0]
    names = [layer.name for layer in ctx.board.copper_layers]
    faces = ctx.copper_faces_mm()
    drill, stub = first.drill, first.stub
    is_down = drill.start < drill.must_cut or drill.start == 0
    origin = faces[drill.start][0 if is_down else 1]
    through = abs(faces[drill.must_cut][1 if is_down else 0] - origin)
    following = drill.must_cut + (1 if is_down else -1)
    spare = abs(faces[following][0 if is_down else 1] - origin) if 0 <= following < len(faces) else through
    instead = [e.exit_instead for e in entries if e.exit_instead is not None]
    return BackdrillRow(
        start=names[drill.start],
        must_cut=names[drill.must_cut],
        must_not_cut=names[stub.first],
        hole_mm=first.hole.drill_mm,
        drill_mm=drill.size_mm,
        depth_mm=Interval(low=through, nominal=(through + spare) / 2, high=max(spare, through)),
        holes=len(entries),
        nets=tuple(sorted({ctx.board.nets[e.hole.net] for e in entries})),
        residual_mm=residual_mm(stub, drill, faces),
        is_proposed=first.is_proposed,
        exit_instead=names[min(instead, key=lambda layer: abs(layer - stub.side))]
        if len(instead) == len(entries)
        else None,
    )
