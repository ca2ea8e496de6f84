"""How much of a link runs where its plane is missing: a line over a plane is computed, and there is none.

Which plane counts, and what a gap of it is, are RET001's; rings around holes and cut-outs under pads are no such way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from drc_rules.analysis.lines.hatched_planes import FILL_SOLID, hatched_mm
from drc_rules.analysis.return_path.return_paths import REAL_SHARE, Referenced, ReturnPaths
from stackup_lib.core.facts import MissingFact
from stackup_lib.return_path.gap_kinds import GapKind

if TYPE_CHECKING:
    from drc_rules.facts.context import Context

MOST_WITHOUT = 0.1
"""Of a link's length; RET001 looks at single gaps. What edges and slots do to loss and delay is left out."""

AT_PADS = frozenset({GapKind.RING, GapKind.MERGED, GapKind.PAD})


def need_planes(ctx: Context, nets: Iterable[int], length_mm: float) -> None:
    """Raise `MissingFact` where more than a tenth of a link's length has no plane under or over it, or a hatched one.

    Args:
        ctx: the board.
        nets: that the link goes through.
        length_mm: of the link.
    """
    nets = tuple(nets)
    names, void = [ctx.board.nets[net] for net in nets], ctx.get(void_mm)
    without = sum(void.get(name, 0.0) for name in names)
    if without > MOST_WITHOUT * length_mm:
        without = min(without, length_mm)
        what = f"the line of {names[0]}, of which {without:.1f} of {length_mm:.1f} mm have no reference plane"
        raise MissingFact(what, "fill a plane along all of it, or route it over one")
    over = sum(mm for (_, net), mm in ctx.get(hatched_mm).items() if net in nets)
    if over > MOST_WITHOUT * length_mm:
        what = f"the line of {names[0]}, of which {over:.1f} of {length_mm:.1f} mm are next to a hatched plane"
        raise MissingFact(what, FILL_SOLID)


def void_mm(ctx: Context) -> Mapping[str, float]:
    """Return for high-speed nets, by name, the length over gaps of a plane; of two planes the one that misses more."""
    found: dict[str, float] = {}
    for part in ReturnPaths(ctx).referenced:
        for net, length in _of_part(ctx, part).items():
            name = ctx.board.nets[net]
            found[name] = found.get(name, 0.0) + length
    return found


def _of_part(ctx: Context, part: Referenced) -> dict[int, float]:
    paths, most = ReturnPaths(ctx), dict[int, float]()
    if not part.planes:
        return paths.lengths_of(part)
    try:
        for plane in [plane for plane, share in paths.shares(part).items() if share >= REAL_SHARE]:
            sums: dict[int, float] = {}
            for gap in paths.gaps(part, plane):
                if gap.kind not in AT_PADS:
                    sums[gap.net] = sums.get(gap.net, 0.0) + gap.length_mm
            most = {net: max(most.get(net, 0.0), sums.get(net, 0.0)) for net in {*most, *sums}}
    except MissingFact:  # what the line itself lacks as well, or what RET001 tells
        return most
    return most
