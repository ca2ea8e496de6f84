"""Tracks, vias, pads or graphics of different nets overlap.

What it checks
--------------
On every layer, whether straight tracks, vias, round and oval pads of different nets touch, and whether arcs and other
pads overlap others by 0.001 mm or more: curves and turned corners are not exact to less. Only net ties may: where
KiCad's net-tie pad groups join the nets (up to KiCad 6 a footprint whose tags begin with "net tie"), and there only
within the hull of the group's pads. Within 1 mm of it, as where the sense line of a shunt meets the shunt's pad, it is
information. Pads of one number of a part are one pin. Where only pads of one part with two or three pads overlap, as in
a closed jumper or a resistor of 0 ohm, or both nets are unnamed and have one pad each, it is information, too. Pins
that the schematic leaves open, under copper of another net, share one finding. Any other names the widest overlap of
each pair of nets and lists every place.

The hole of a via or plated pad counts on every layer that it goes through without a pad: its wall is copper.

Tracks, vias and pads without a net count where they join two nets, alone or together with others that they touch: what
touches one net alone joins nothing. A pad without a net that is on a pad of another part is a warning, where its own
part has nets.

Graphics on copper and the shapes of custom, slanted and chamfered pads are checked, too: those that overlap tracks,
vias or pads of another net, and those without a net that join two. What a part with up to three pads draws between its
own pads is information, and so is each bridge between two pads of a solder jumper with more: by reference (JP, SJ) or
by the name of its footprint or value.

Why it matters
--------------
The nets are joined on the finished board: it fails its electrical test, or does not work as the schematic says.

How to fix
----------
Move or remove one of the two, or give both the intended net. Where the nets are to be joined, use a net tie.

What it cannot see
------------------
Text and dimensions on copper have KiCad's outlines: where one may join two nets, the rule cannot tell. Text of one net
alone joins nothing. Fills are FAB014's, overlaps below 0.001 mm of arcs and corners FAB013's.

Sources
-------
Geometry of the drawing; the net ties are those of KiCad's file format. `kicad-cli pcb drc` reports the same overlaps as
`shorting_items` and `tracks_crossing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.fabrication.copper_texts import texts_over_nets
from drc_rules.analysis.fabrication.fab_clearances import layers_with_spaces, space_finder
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.fabrication.shorts.drawings import drawn_by_nets, of_drawings
from drc_rules.rules.fabrication.shorts.joined import and_more
from drc_rules.rules.fabrication.shorts.netless import of_netless
from drc_rules.rules.fabrication.shorts.pads_on_pads import of_pads_on_pads
from drc_rules.rules.fabrication.shorts.pieces import of_pieces, overlaps_by_nets
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact

TEXT_AWAY = "in KiCad, move the text off that copper: its outlines are KiCad's, and KiCad's own rule check knows them"


def _boards(ctx: Context, _clause: Clause) -> Iterator[tuple[int, ...]]:
    layers = layers_with_spaces(ctx.board)
    if layers:
        yield layers


FORMULA = """
o < t

o: widest overlap of copper of two nets that no net tie joins, 0 where they touch [mm]
t: 0 where what meets is straight or round, else 0.001 [mm]
"""


@rule("FAB015", kinds=("no_shorts",), over=_boards, formula=FORMULA)
def short(ctx: Context, _clause: Clause, layers: tuple[int, ...]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets that overlap somewhere."""
    pieces = overlaps_by_nets(ctx, layers)
    yield from of_pieces(ctx, pieces)
    drawn = drawn_by_nets(ctx, pieces.keys())
    yield from of_drawings(ctx, drawn)
    yield from of_netless(ctx, layers, {*pieces, *drawn})
    yield from of_pads_on_pads(ctx, layers)
    texts = tuple(texts_over_nets(ctx.get(space_finder), layers))
    if texts:
        raise MissingFact(and_more(f"the outlines of {texts[0]}", len(texts)), TEXT_AWAY)
