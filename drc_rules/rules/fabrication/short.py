"""Tracks, vias, pads or graphics of different nets overlap.

What it checks
--------------
On every layer, whether straight tracks, vias, round and oval pads of different nets touch, and whether arcs and other
pads overlap others by 0.001 mm or more: curves and turned corners are not exact to less. Only net ties may: where
KiCad's net-tie pad groups join the nets (up to KiCad 6 a footprint whose tags begin with "net tie"), and there only
within the hull of the group's pads. Pads of one number of a part are one pin. Where only pads of one part
with two or three pads overlap, as in a closed jumper or a resistor of 0 ohm, or both nets are unnamed and have one pad
each, it is information. Pins that the schematic leaves open, under copper of another net, share one finding. Any other
names the widest overlap of each pair of nets and lists every place.

The hole of a via or plated pad counts on every layer that it goes through without a pad: its wall is copper.

Tracks, vias and pads without a net count where they join two nets, alone or together with others that they touch: what
touches one net alone joins nothing.

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

import re
from collections import Counter
from collections.abc import Iterator, Set

import numpy as np

from drc_rules.analysis.fabrication.clearance_places import uuid_in, uuid_of
from drc_rules.analysis.fabrication.copper_texts import texts_over_nets
from drc_rules.analysis.fabrication.fab_clearances import layers_with_spaces, space_finder
from drc_rules.analysis.fabrication.netless_shorts import NetContact, NetlessShort, netless_shorts
from drc_rules.facts.context import Context
from drc_rules.report.model import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.copper.clearances import Spaces
from stackup_lib.copper.drawn_shorts import DrawnShort
from stackup_lib.copper.shapes import CopperShape, CopperShapes, is_wall
from stackup_lib.copper.shorts import overlap_middles
from stackup_lib.copper.stale_fills import TOUCH_MM
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.two_pin_parts import is_unfitted, resistance_ohm

PLACES_SHOWN = 20

MOST_FINDINGS = 50
"""Pairs of nets with a finding of their own; for a wrong netlist the rest adds nothing."""

JUMPER_PADS = 3
NO_JUMPERS = frozenset(
    {
        ReferenceKind.RESISTOR,
        ReferenceKind.CAPACITOR,
        ReferenceKind.INDUCTOR,
        ReferenceKind.DIODE,
        ReferenceKind.FUSE,
        ReferenceKind.FERRITE,
        ReferenceKind.TRANSISTOR,
        ReferenceKind.CHIP,
    }
)
"""A jumper has two or three pads. Overlapping pads of such parts are a wrong footprint, but for 0 ohm."""

JUMPER_NAME = re.compile(r"jumper|solder[ _-]?bridge", re.IGNORECASE)
"""In the name of a footprint or the value of a jumper."""

BRIDGED_PADS = 2
"""Nets that one bridge of a jumper joins; a graphic that joins more is none."""

DRAWN_PARTS = {
    ReferenceKind.RESISTOR: "a drawn shunt",
    ReferenceKind.INDUCTOR: "a drawn inductor",
    ReferenceKind.FUSE: "a drawn fuse",
}
"""Of these parts those that may be drawn in copper: shunts, inductors and fuses."""

GENERATED = ("unconnected-(", "Net-(")
"""How KiCad begins the name of a net that has none in the schematic."""

WHY = "The nets are joined on the finished board"
OPEN_WHY = "The finished board joins the pin to the net; the schematic does not. Of an output it is a fault"
OPEN_FIX = "Join them in the schematic too and update the board, or move the copper off the pin"
FIX_DRAWN = "Move or remove the shape, give it the net of what it touches, or join the nets with a net tie"
FIX_NETLESS = "Move or remove the copper without a net, give it the net of what it touches, or use a net tie"
TEXT_AWAY = "in KiCad, move the text off that copper: its outlines are KiCad's, and KiCad's own rule check knows them"
MEANT = "Nothing if it is meant; a net tie says so to KiCad"
FIX = "Move or remove one of the two, give both the same net, or join the nets with a net tie"


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
    by_nets: dict[tuple[str, str], list[tuple[Spaces, int]]] = {}
    for layer in layers:
        shorts = ctx.get(space_finder).shorts(layer)
        for row in range(len(shorts)):
            one, other = sorted(ctx.board.nets[int(piece.net[row])] for piece in (shorts.one, shorts.other))
            by_nets.setdefault((one, other), []).append((shorts, row))
    met = Counter(net for nets in by_nets for net in nets)
    left_open = {net for net, times in met.items() if times == 1 and _is_left_open(ctx.board, net)}
    pairs = sorted(by_nets, key=lambda nets: (min(float(s.gap_mm[row]) for s, row in by_nets[nets]), nets))
    harmless = {pair for pair in pairs if _harmless(ctx.board, by_nets[pair])}
    on_open_pins = [pair for pair in pairs if not left_open.isdisjoint(pair) and pair not in harmless]
    apart = harmless.union(on_open_pins)
    pairs = [*(pair for pair in pairs if pair not in apart), *(pair for pair in pairs if pair in harmless)]
    for nets in (*pairs[:MOST_FINDINGS], *on_open_pins[:1]):
        wide = -min(float(shorts.gap_mm[row]) for shorts, row in by_nets[nets])
        ctx.shows(" and ".join(nets), o=wide, t=TOUCH_MM if wide >= TOUCH_MM else 0.0)
    for nets in pairs[:MOST_FINDINGS]:
        yield _draft(ctx.board, nets, by_nets[nets])
    drawn = tuple(_of_drawn_copper(ctx, by_nets.keys()))
    yield from drawn
    yield from _of_netless_copper(ctx, layers, {*by_nets, *(one.ids for one in drawn)})
    if on_open_pins:
        yield _of_open_pins(ctx.board, [by_nets[nets] for nets in on_open_pins])
    if len(pairs) > MOST_FINDINGS:
        more = pairs[MOST_FINDINGS:]
        places = [_place(ctx.board, *by_nets[nets][0]) for nets in more[:PLACES_SHOWN]]
        what = f"{_more_pairs(len(more))} overlap"
        yield _the_rest(what, "more shorts", (places, len(more)), fix=FIX, is_harmless=harmless.issuperset(more))
    texts = tuple(texts_over_nets(ctx.get(space_finder), layers))
    if texts:
        raise MissingFact(_and_more(f"the outlines of {texts[0]}", len(texts)), TEXT_AWAY)


def _of_open_pins(board: Board, by_pin: list[list[tuple[Spaces, int]]]) -> DraftFinding:
    """One finding for all pins that the schematic leaves open and that copper of another net lies on."""
    pins = [_widest_first(found) for found in by_pin]
    what, wide = _overlap(board, *pins[0][0])
    more = f" (and {len(pins) - 1} more)" if len(pins) > 1 else ""
    return DraftFinding(
        title=f"short: {what}: a pin that the schematic leaves open{more}",
        why=OPEN_WHY,
        fix=OPEN_FIX,
        ids=("open pins",),
        measured=Measured(value=round(wide, 4), unit="mm"),
        limit_value=0.0,
        places=tuple(_place(board, *found[0]) for found in pins[:PLACES_SHOWN]),
        counted=len(pins),
    )


def _widest_first(found: list[tuple[Spaces, int]]) -> list[tuple[Spaces, int]]:
    return sorted(found, key=lambda where: round(float(where[0].gap_mm[where[1]]), 5))


def _overlap(board: Board, shorts: Spaces, row: int) -> tuple[str, float]:
    """What overlaps what, as text, and how far."""
    wide, name = -float(shorts.gap_mm[row]), board.copper_layers[shorts.layer].name
    one, other = sorted((_words(board, side, row) for side in (shorts.one, shorts.other)), reverse=True)
    how = f"overlaps {other} by {wide:.3f} mm" if wide >= TOUCH_MM / 2 else f"touches {other}"
    return f"{one} {how} on {name}", wide


def _draft(board: Board, nets: tuple[str, str], found: list[tuple[Spaces, int]]) -> DraftFinding:
    found = _widest_first(found)
    what, wide = _overlap(board, *found[0])
    places = [_place(board, *where) for where in found[:PLACES_SHOWN]]
    return _joined(nets, _and_more(what, len(found)), wide, places, fix=FIX, harmless=_harmless(board, found))


def _and_more(what: str, count: int) -> str:
    more = count - 1
    return f"{what}, and at {more} more place{'' if more == 1 else 's'}" if more else what


def _joined(
    nets: tuple[str, str], what: str, wide_mm: float, places: list[Location], *, fix: str, harmless: str
) -> DraftFinding:
    """The finding of two nets; information where `harmless` says why they may be joined."""
    return DraftFinding(
        title=f"{what}: {harmless}" if harmless else f"short: {what}",
        why=WHY,
        fix=MEANT if harmless else fix,
        ids=nets,
        severity=Severity.INFO if harmless else None,
        measured=Measured(value=round(wide_mm, 4), unit="mm"),
        limit_value=0.0,
        places=tuple(places),
    )


def _harmless(board: Board, found: list[tuple[Spaces, int]]) -> str:
    """Return why an overlap of two nets breaks no circuit, "" where it may."""
    footprints: set[int] = set()
    nets: set[int] = set()
    for shorts, row in found:
        for side in (shorts.one, shorts.other):
            nets.add(int(side.net[row]))
            is_pad = int(side.kind[row]) == CopperShape.PAD
            footprints.add(int(board.pads.footprint[int(side.row[row])]) if is_pad else -1)
    if len(footprints) == 1 and min(footprints) >= 0 and _has_few_pads(board, min(footprints)):
        part = min(footprints)
        if reference_kind(str(board.footprints.reference[part])) not in NO_JUMPERS:
            return "joined by the part's own pads, as a closed jumper is"
        if _is_zero_ohm(board, part):
            return "joined by the part's own pads; a resistor of 0 ohm joins them anyway"
    if all(board.nets[net].startswith(GENERATED) and np.count_nonzero(board.pads.net == net) == 1 for net in nets):
        return "two pins that join nothing else"
    return ""


def _is_left_open(board: Board, name: str) -> bool:
    """Tell whether a net is but a pin: unnamed, with one pad, and nothing routed to it."""
    if not name.startswith(GENERATED):
        return False
    net = board.nets.index(name)
    pads = np.count_nonzero(board.pads.net == net)
    return bool(pads == 1 and not np.any(board.tracks.net == net) and not np.any(board.vias.net == net))


def _has_few_pads(board: Board, footprint: int) -> bool:
    """Tell whether a part has no more pads, by number, than a jumper."""
    return len(distinct(board.pads.number[board.pads.footprint == footprint])) <= JUMPER_PADS


def _may_be_drawn(board: Board, footprint: int) -> bool:
    """Tell whether a part may be drawn in copper between its pads: an inductor, a shunt, a fuse, an antenna."""
    kind = reference_kind(str(board.footprints.reference[footprint]))
    return _has_few_pads(board, footprint) and kind not in NO_JUMPERS - DRAWN_PARTS.keys()


def _is_zero_ohm(board: Board, footprint: int) -> bool:
    """Tell whether a part is a resistor that joins its two nets anyway."""
    value = str(board.footprints.value[footprint])
    is_resistor = reference_kind(str(board.footprints.reference[footprint])) is ReferenceKind.RESISTOR
    return is_resistor and resistance_ohm(value) == 0 and not is_unfitted(value)


def _words(board: Board, pieces: CopperShapes, row: int) -> str:
    """A piece as text: `track of NET`, `pad 1 of U3 (NET)`, without a pad on the layer `hole of via of NET`."""
    kind, net, item = CopperShape(int(pieces.kind[row])), board.nets[int(pieces.net[row])], int(pieces.row[row])
    hole = "hole of " if is_wall(board, pieces, row) else ""
    if kind != CopperShape.PAD:
        return f"{hole}{kind.name.lower()} of {net}"
    part = str(board.footprints.reference[int(board.pads.footprint[item])])
    number = str(board.pads.number[item])
    return hole + " ".join(word for word in ("pad", number, f"of {part}" if part else "", f"({net})") if word)


def _place(board: Board, shorts: Spaces, row: int) -> Location:
    rows = np.array([row])
    one, other = shorts.one.where(rows), shorts.other.where(rows)
    x, y = overlap_middles(board, one, other).round(6)[0].tolist()
    name = board.copper_layers[shorts.layer].name
    return Location(layer=name, net=board.nets[int(one.net[0])], uuid=uuid_of(board, one), x_mm=x, y_mm=y)


def _of_drawn_copper(ctx: Context, told: Set[tuple[str, str]]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets that only drawn copper joins.

    Args:
        ctx: the board.
        told: pairs of nets, by name, that other copper is reported to join.
    """
    board = ctx.board
    by_nets: dict[tuple[str, str], list[DrawnShort]] = {}
    joined: dict[int, set[int]] = {}
    for short in ctx.get(space_finder).drawn_shorts:
        joined.setdefault(short.drawing, set()).update(short.nets)
        one, other = sorted(board.nets[net] for net in short.nets)
        if (one, other) not in told:
            by_nets.setdefault((one, other), []).append(short)
    for found in by_nets.values():
        found.sort(key=lambda short: -round(short.overlap_mm, 5))
    bridges = {drawing for drawing, nets in joined.items() if len(nets) == BRIDGED_PADS}
    meant = {nets for nets, found in by_nets.items() if _is_drawn_part(board, found, bridges)}
    pairs = sorted(by_nets, key=lambda nets: (nets in meant, -round(by_nets[nets][0].overlap_mm, 5), nets))
    for nets in pairs[:MOST_FINDINGS]:
        found = by_nets[nets]
        ctx.shows(" and ".join(nets), o=found[0].overlap_mm, t=TOUCH_MM)
        what = _and_more(_drawn_words(board, found[0]), len(found))
        places = [_drawn_place(board, short) for short in found[:PLACES_SHOWN]]
        harmless = f"joined by the part's own copper{_as_what(board, found[0])}" if nets in meant else ""
        yield _joined(nets, what, found[0].overlap_mm, places, fix=FIX_DRAWN, harmless=harmless)
    more = pairs[MOST_FINDINGS:]
    if more:
        places = [_drawn_place(board, by_nets[nets][0]) for nets in more[:PLACES_SHOWN]]
        what = f"{_more_pairs(len(more))} joined by drawn copper"
        yield _the_rest(
            what, "more drawn shorts", (places, len(more)), fix=FIX_DRAWN, is_harmless=meant.issuperset(more)
        )


def _of_netless_copper(ctx: Context, layers: tuple[int, ...], told: Set[tuple[str, ...]]) -> Iterator[DraftFinding]:
    """Yield one finding for each pair of nets that only tracks, vias or pads without a net join.

    Args:
        ctx: the board.
        layers: those with copper of more than one net.
        told: pairs of nets, by name, that are reported already.
    """
    board = ctx.board
    by_nets: dict[tuple[str, str], list[NetlessShort]] = {}
    for short in netless_shorts(ctx.get(space_finder), layers):
        one, other = sorted(board.nets[contact.net] for contact in short.contacts)
        if (one, other) not in told:
            by_nets.setdefault((one, other), []).append(short)
    for shorts in by_nets.values():
        shorts.sort(key=lambda short: -round(short.overlap_mm, 5))
    harmless = {nets: _netless_harmless(board, nets, found) for nets, found in by_nets.items()}
    pairs = sorted(by_nets, key=lambda nets: (bool(harmless[nets]), -round(by_nets[nets][0].overlap_mm, 5), nets))
    for nets in pairs[:MOST_FINDINGS]:
        found, wide = by_nets[nets], by_nets[nets][0].overlap_mm
        ctx.shows(" and ".join(nets), o=wide, t=TOUCH_MM)
        what = _and_more(_netless_words(board, found[0]), len(found))
        places = [_contact_place(board, one) for short in found for one in short.contacts][:PLACES_SHOWN]
        yield _joined(nets, what, wide, places, fix=FIX_NETLESS, harmless=harmless[nets])
    more = pairs[MOST_FINDINGS:]
    if more:
        places = [_contact_place(board, by_nets[nets][0].contacts[0]) for nets in more[:PLACES_SHOWN]]
        what, is_harmless = f"{_more_pairs(len(more))} joined by copper without a net", all(map(harmless.get, more))
        yield _the_rest(what, "more netless shorts", (places, len(more)), fix=FIX_NETLESS, is_harmless=is_harmless)


def _netless_harmless(board: Board, nets: tuple[str, str], found: list[NetlessShort]) -> str:
    """Return why copper without a net may join two nets, "" where it may not."""
    if all(short.part >= 0 and _may_join(board, short.part) for short in found):
        return "joined by the part's own copper"
    numbers = [board.nets.index(net) for net in nets]
    if all(net.startswith(GENERATED) for net in nets) and all(np.sum(board.pads.net == one) == 1 for one in numbers):
        return "two pins that join nothing else"
    return ""


def _may_join(board: Board, footprint: int) -> bool:
    """Tell whether a part is a jumper, or one that joins its nets anyway."""
    return _may_be_drawn(board, footprint) or _is_jumper(board, footprint) or _is_zero_ohm(board, footprint)


def _netless_words(board: Board, short: NetlessShort) -> str:
    """What joins two nets, as text."""
    kind, row, _ = short.contacts[0].item
    what = CopperShape(kind).name.lower() if kind != CopperShape.DRAWN else "graphic"
    if kind == CopperShape.PAD:
        part = str(board.footprints.reference[int(board.pads.footprint[row])])
        number = str(board.pads.number[row])
        what = " ".join(word for word in ("pad", number, f"of {part}" if part else "") if word)
    one, other = short.contacts
    count = len(short.items)
    joins = "without a net joins" if count == 1 else f"and {count - 1} more without a net join"
    names = [board.copper_layers[contact.layer].name for contact in short.contacts]
    on = f"on {names[0]}" if names[0] == names[1] else f"on {names[0]} and {names[1]}"
    return f"{what} {joins} {board.nets[one.net]} and {board.nets[other.net]} {on}"


def _contact_place(board: Board, contact: NetContact) -> Location:
    """Where copper without a net overlaps that of a net."""
    kind, row, _ = contact.item
    return Location(
        layer=board.copper_layers[contact.layer].name,
        net=board.nets[contact.net],
        uuid=uuid_in(board, CopperShape(kind), row),
        x_mm=round(contact.x_mm, 6),
        y_mm=round(contact.y_mm, 6),
    )


def _more_pairs(count: int) -> str:
    return f"{count} more pair{'' if count == 1 else 's'} of nets"


def _the_rest(what: str, ident: str, shown: tuple[list[Location], int], *, fix: str, is_harmless: bool) -> DraftFinding:
    """What is left beyond the findings of one pair each, some places and the number; information where all of it is."""
    places, count = shown
    return DraftFinding(
        title=f"{what}, by the parts' own copper" if is_harmless else f"short: {what}",
        why=WHY,
        fix=MEANT if is_harmless else fix,
        ids=(ident,),
        severity=Severity.INFO if is_harmless else None,
        places=tuple(places),
        counted=count,
    )


def _is_drawn_part(board: Board, found: list[DrawnShort], bridges: Set[int]) -> bool:
    """Tell whether only parts that may be drawn in copper join their own pads, or jumpers do by one of `bridges`."""
    footprint = board.drawings.footprint
    return all(
        short.is_own
        and (
            _may_be_drawn(board, int(footprint[short.drawing]))
            or (short.drawing in bridges and _is_jumper(board, int(footprint[short.drawing])))
        )
        for short in found
    )


def _is_jumper(board: Board, footprint: int) -> bool:
    """Tell whether a part is a solder jumper by its reference, the name of its footprint, or its value.

    Rectifier bridges and bridges to a bus are none.
    """
    parts = board.footprints
    kind = reference_kind(str(parts.reference[footprint]))
    if kind in NO_JUMPERS - DRAWN_PARTS.keys():
        return False
    named = f"{parts.library_id[footprint]} {parts.value[footprint]}"
    return kind is ReferenceKind.JUMPER or bool(JUMPER_NAME.search(named))


def _as_what(board: Board, short: DrawnShort) -> str:
    """Return which kind of part is drawn in copper, as text; "" where the part does not tell."""
    row = int(board.drawings.footprint[short.drawing])
    kind = reference_kind(str(board.footprints.reference[row]))
    what = "a closed solder jumper" if _is_jumper(board, row) else DRAWN_PARTS.get(kind, "")
    return f", as {what} is" if what else ""


def _drawn_words(board: Board, short: DrawnShort) -> str:
    drawings, row = board.drawings, short.drawing
    footprint, pad = int(drawings.footprint[row]), int(drawings.pad[row])
    part = str(board.footprints.reference[footprint]) if footprint >= 0 else ""
    of_part = f" of {part}" if part else ""
    own, other = (board.nets[net] for net in short.nets)
    layer = board.copper_layers[short.layer].name
    if pad >= 0:
        number = str(board.pads.number[pad])
        what = "custom pad" if board.pads.shape[pad] == "custom" else "pad"
        shape = " ".join(word for word in (what, number) if word) + f"{of_part} ({own})"
        return f"{shape} overlaps copper of {other} by {short.overlap_mm:.3f} mm on {layer}"
    if drawings.net[row]:
        return f"graphic of {own} overlaps copper of {other} by {short.overlap_mm:.3f} mm on {layer}"
    return f"graphic{of_part} joins {own} and {other} on {layer}"


def _drawn_place(board: Board, short: DrawnShort) -> Location:
    return Location(
        layer=board.copper_layers[short.layer].name,
        net=board.nets[short.nets[0]],
        uuid=str(board.drawings.uuid[short.drawing]) or None,
        x_mm=round(short.x_mm, 6),
        y_mm=round(short.y_mm, 6),
        line=board.line_of(int(board.drawings.offset[short.drawing])),
    )
