"""Other copper, a hole, the outline or a rule area is in a zone's stored fill: the fills are out of date.

What it checks
--------------
Tracks, vias, pads and holes on every layer, plated or not, graphics on copper and the shapes of pads against the
stored fills of zones of other nets, fills against each other, and the lines of Edge.Cuts and of rule areas that forbid
fills against every fill. KiCad keeps a fill clear of all of them whenever it fills the zones; what is in a fill was
placed there, or moved, since. Overlaps below 0.001 mm do not count, those of the outline and of rule areas below
0.05 mm, nor a net tie in a fill of a net that it ties. A plated hole counts on every layer. One that is not plated, or
has no net, does so in files of KiCad 10, in older ones on the copper layers of its pad: KiCad 9 keeps no fill off it
elsewhere. Tracks, vias and pads that overlap each other are FAB015's.

Why it matters
--------------
Gerbers plotted from these fills contain the shorts, and copper that a new cut-out cuts away. No verdict that uses fills
is valid: plane gaps, return paths, copper balance and the copper of rails are not verifiable until the zones are
refilled.

How to fix
----------
Press B in KiCad to fill all zones, save the board and check again. Fill before each DRC, and let the plot dialogue
check the fills.

What it cannot see
------------------
A fill that omits what it could cover, or whose clearance was widened since, passes. Graphics and rule areas count
every 1 mm; rule areas with holes, text and dimensions are not read. Negative clearances give false alarms.

Sources
-------
KiCad's board file stores fills as they were when the zones were last filled. What `kicad-cli pcb drc` reports of such
fills vanishes with its `--refill-zones`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_clearances import space_finder
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Ints, PadKind
from stackup_lib.board.layer_masks import holds_layer
from stackup_lib.copper.stale_fills import KICAD_10, Item, OtherNetItems

PLACES_SHOWN = 20

FIX = "Press B in KiCad to fill all zones, and save the board"
KEEP_OFF = ". KiCad 9 keeps fills off a hole on the layers of its pad alone: give the pad all copper layers first"

NOUNS = {
    Item.TRACK: "track",
    Item.VIA: "via",
    Item.PAD: "pad",
    Item.FILL: "fill",
    Item.HOLE: "hole",
    Item.EDGE: "outline line",
    Item.DRAWING: "drawn shape",
    Item.RULE_AREA: "rule area",
}


def _stored(ctx: Context, _clause: Clause) -> Iterator[Context]:
    if len(ctx.board.zones.fill_zone):
        yield ctx


@rule("FAB014", kinds=("fills_up_to_date",), over=_stored)
def stale_zone_fills(ctx: Context, _clause: Clause, _subject: Context) -> Iterator[DraftFinding]:
    """Yield one finding where fills are out of date."""
    found = ctx.get(space_finder).other_net
    if not len(found):
        return
    nets, layer = ctx.board.nets, ctx.board.copper_layers[int(found.layer[0])].name
    first, fill = _first(ctx, found), f"the fill of {nets[int(found.fill_net[0])] or 'no net'} on {layer}"
    items = np.unique(np.column_stack([found.kind, found.row]), axis=0)[:, 0]
    lies = f"{_counted(items)} overlap fills of other nets, e.g. {first} in {fill}"
    lies = lies if len(items) > 1 else f"{first} overlaps {fill}"
    yield DraftFinding(
        title=f"zone fills out of date: {lies}",
        why=(
            "Plotted as stored, the board has these shorts, or copper that is cut or not meant. Clauses that use fills "
            "are not verifiable until the zones are refilled"
        ),
        fix=FIX + (KEEP_OFF if _may_stay(ctx, found) else ""),
        ids=("zone fills",),
        places=tuple(_place(ctx, found, k) for k in range(min(len(found), PLACES_SHOWN))),
    )


def _may_stay(ctx: Context, found: OtherNetItems) -> bool:
    """Tell whether there are holes on layers without their pad in a file of a KiCad that keeps no fill off them."""
    holes = found.where(found.kind == Item.HOLE)
    on_pad = holds_layer(ctx.board.pads.layers[holes.row], holes.layer)
    return bool(ctx.board.format_version < KICAD_10 and not np.all(on_pad))


def _counted(kinds: Ints) -> str:
    """How many items of each kind, e.g. `2 tracks and 1 via`."""
    counts = [(int(np.sum(kinds == kind)), noun) for kind, noun in NOUNS.items()]
    words = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]


def _first(ctx: Context, found: OtherNetItems) -> str:
    """The first item as text."""
    kind, row = Item(int(found.kind[0])), int(found.row[0])
    pads, nets = ctx.board.pads, ctx.board.nets
    if kind == Item.HOLE and pads.kind[row] == PadKind.NON_PLATED:
        return "an unplated hole"
    if kind == Item.EDGE:
        return "a line of the board's outline"
    if kind == Item.RULE_AREA:
        return "a rule area that forbids fills"
    return f"a {NOUNS[kind]} of {nets[int(found.net[0])] or 'no net'}"


def _place(ctx: Context, found: OtherNetItems, k: int) -> Location:
    board, kind, row = ctx.board, Item(int(found.kind[k])), int(found.row[k])
    drawn, tracks, vias = board.drawings.uuid, board.tracks.uuid, board.vias.uuid
    tables = {Item.TRACK: tracks, Item.VIA: vias, Item.FILL: None, Item.EDGE: None, Item.DRAWING: drawn}
    tables[Item.RULE_AREA] = board.zones.uuid
    table = tables.get(kind, board.pads.uuid)
    return Location(
        layer=board.copper_layers[int(found.layer[k])].name,
        net=board.nets[max(int(found.net[k]), 0)] or None,
        uuid=None if table is None else str(table[row]) or None,
        x_mm=float(found.x_mm[k]),
        y_mm=float(found.y_mm[k]),
    )
