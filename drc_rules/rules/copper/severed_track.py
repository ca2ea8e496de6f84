"""The board's outline cuts through a track.

What it checks
--------------
Tracks and arcs that cross the edge of the board, a cut-out or a slot on Edge.Cuts: connected tracks of one net on one
layer, of which the outline leaves more than one part within the board. A slot that is drawn as one line cuts along it,
whatever its width. A track that leaves the board at one place only, as to a plating bar, is no break; FAB018 reports it
as copper at the edge. Where most vias and pads lie in cut-outs, the outer ring counts as a panel frame and these as
boards.

Why it matters
--------------
The router removes what is in its way. The net is open on the finished board, although KiCad shows it connected.

How to fix
----------
Route the track around the cut-out, or move the cut-out. A line that is not to be cut belongs on another layer than
Edge.Cuts.

What it cannot see
------------------
Fills, pads and graphics that are cut; refill the zones. Without a closed outline it is not verifiable. A net that
another track still connects is reported, too.

Sources
-------
Geometry of the drawing. `kicad-cli pcb drc` reports the same tracks as `copper_edge_clearance`.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.cuts import PLACES_SHOWN, severed
from drc_rules.analysis.fabrication.fab_size import need_closed_outline
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.copper.cuts.severed_tracks import SeveredTrack


def _routed(ctx: Context, _clause: Clause) -> Iterator[Context]:
    if len(ctx.board.tracks):
        yield ctx


@rule("CUP004", kinds=("no_severed_tracks",), over=_routed)
def severed_track(ctx: Context, _clause: Clause, _subject: Context) -> Iterator[DraftFinding]:
    """Yield one finding for each net with a track that is cut."""
    need_closed_outline(ctx)
    by_net: dict[str, list[SeveredTrack]] = {}
    for one in severed(ctx):
        by_net.setdefault(ctx.board.nets[one.net], []).append(one)
    for net, cuts in sorted(by_net.items()):
        layer = ctx.board.copper_layers[cuts[0].layer].name
        more = len(cuts) - 1
        places = f", and at {more} more place{'' if more == 1 else 's'}" if more else ""
        yield DraftFinding(
            title=f"the board's outline cuts through a track of {net} on {layer}{places}",
            why="The router removes what is in its way: the net is open there on the finished board",
            fix="Route the track around the cut-out, or move the cut-out",
            ids=(net,),
            places=tuple(_place(ctx, one) for one in cuts[:PLACES_SHOWN]),
        )


def _place(ctx: Context, cut: SeveredTrack) -> Location:
    return Location(
        layer=ctx.board.copper_layers[cut.layer].name,
        net=ctx.board.nets[cut.net],
        uuid=str(ctx.board.tracks.uuid[cut.track]) or None,
        x_mm=round(cut.x_mm, 6),
        y_mm=round(cut.y_mm, 6),
    )
