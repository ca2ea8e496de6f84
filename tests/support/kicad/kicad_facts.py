"""A board as our reader finds it against what KiCad's own `pcbnew` finds in the same file.

Both sides become rows of plain values, lengths in KiCad's whole nanometres, and every row must be on both sides.
What is known to differ, and why, stands at the constants below.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stackup_lib.board.board import Board, Drilling, Floats, PadKind, ViaKind
from stackup_lib.copper.drawn_shorts import drawn_area
from tests.support.kicad.kicad_python import Facts, Machining, ViaFacts, ZoneFacts
from tests.support.kicad.kicad_stackup import kicads_stackup, our_stackup

Row = tuple[object, ...]

NM = 1_000_000
MOST_SHOWN = 6
PARTS = {"tracks", "vias", "pads", "zones", "nets", "net classes", "layers", "board thickness", "length per net"}
"""Tables that every board has."""

LENGTH_NM = 0.5
ARC_NM = 100
"""KiCad moves an arc's centre to a round number of nanometres, within what start, middle and end leave open."""

AREA_NM2 = 1e6
"""One square micrometre: areas are sums in double precision over square nanometres."""

ARC_AREA = 2e-4
"""Of an outline with arcs, where both sides draw chords, each its own."""

EDGE_NM = 5000
"""Of the board's outline where it has arcs, for the same reason."""

PROTECTION_SINCE = 20250228
"""Older files cannot say that a via is covered, plugged, capped or filled: KiCad takes no, we take not stated."""

DRAWN_NM = 10_000
"""Of copper with round ends and arcs, where both sides draw chords; of its area that far along its edge."""

DRAWN_FILLS_UNTIL = 20200000
"""Fills that a pen draws: both sides widen them, each with its own corners."""

DEFAULT = "Default"
SIZES = ("clearance", "track_width", "via_diameter", "via_drill", "diff_pair_width", "diff_pair_gap")
PROTECTION = {-1: 0, 1: 1, 0: 2}
"""Not stated, yes, no, as KiCad numbers them."""


@dataclass
class Comparison:
    """How many values were compared, by table, and what differs, a line each."""

    values: Counter[str] = field(default_factory=Counter)
    mismatches: list[str] = field(default_factory=list)

    def same(self, table: str, ours: object, theirs: object) -> None:
        """Compare two values."""
        self.values[table] += 1
        if ours != theirs:
            self.mismatches.append(f"{table}: ours {ours!r}, KiCad's {theirs!r}")

    def rows(self, table: str, ours: Iterable[Row], theirs: Iterable[Row]) -> None:
        """Compare two tables, whatever their order."""
        left, right = Counter(ours), Counter(theirs)
        self.values[table] += sum(len(row) * count for row, count in right.items())
        for name, extra in (("only ours", left - right), ("only KiCad's", right - left)):
            if extra:
                shown = sorted(map(str, extra.elements()))[:MOST_SHOWN]
                self.mismatches.append(f"{table}: {extra.total()} {name}: " + "; ".join(shown))

    def near(self, table: str, ours: Mapping[Row, float], theirs: Mapping[Row, float], within: float) -> None:
        """Compare numbers that have a name."""
        self.values[table] += len(theirs)
        off = [k for k in {*ours, *theirs} if not abs(ours.get(k, math.nan) - theirs.get(k, math.nan)) <= within]
        for key in sorted(off, key=str)[:MOST_SHOWN]:
            self.mismatches.append(f"{table} {key}: ours {ours.get(key)}, KiCad's {theirs.get(key)} ({len(off)} off)")


def compare(board: Board, facts: Facts, *, by_uuid: bool = True) -> Comparison:
    """Compare everything that both know of one board.

    Args:
        board: as our reader finds it.
        facts: as KiCad finds it.
        by_uuid: items keep their identity; before KiCad 6 they had none, and KiCad makes one up.
    """
    found = Comparison()
    facts = _with_stated_zones(board, facts)
    found.same("file version", board.format_version, facts["version"])
    found.same("board thickness", round((board.thickness_mm or 0.0) * NM), facts["thickness"])
    found.same("has a stackup", board.stackup is not None, facts["has_stackup"])
    if board.stackup is not None:
        for row, (ours, theirs) in enumerate(
            zip(our_stackup(board.stackup), kicads_stackup(facts["settings"]), strict=True)
        ):
            found.rows("stackup", [(row, *ours)], [(row, *theirs)])
    layers = [(c.name, c.user_name or c.name, c.kicad_type) for c in board.copper_layers]
    found.same("layers", layers, [tuple(row) for row in facts["layers"]])
    _edge(found, board, facts)
    tables = (
        ("tracks", _our_tracks(board), _their_tracks(facts)),
        ("vias", _our_vias(board), _their_vias(facts)),
        ("footprints", _our_footprints(board), _their_footprints(facts)),
        ("pads", _our_pads(board), _their_pads(facts)),
        ("zones", _our_zones(board), _their_zones(facts)),
    )
    for table, our_rows, their_rows in tables:
        rows = (our_rows, their_rows) if by_uuid else (_nameless(our_rows), _nameless(their_rows))
        found.rows(table, *rows)
    _lengths(found, board, facts, by_uuid=by_uuid)
    _outlines(found, board, facts, by_uuid=by_uuid)
    _fills(found, board, facts, by_uuid=by_uuid)
    if by_uuid:
        _drawings(found, board, facts)
    _nets(found, board, facts)
    return found


def _with_stated_zones(board: Board, facts: Facts) -> Facts:
    """Facts in which a zone without a uuid in the file has none: KiCad 10 writes none for teardrops."""
    stated = set(board.zones.uuid.tolist())
    zones: list[ZoneFacts] = []
    for row in facts["zones"]:
        nameless: ZoneFacts = {**row, "uuid": ""}
        zones.append(row if row["uuid"] in stated else nameless)
    return {**facts, "zones": zones}


def _nameless(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows without the uuid in front."""
    return (row[1:] for row in rows)


def _edge(found: Comparison, board: Board, facts: Facts) -> None:
    size = board.outline.size_mm
    if facts["edge"] is not None and size is not None:
        sides = ("width",), ("height",)
        ours: dict[Row, float] = dict(zip(sides, (length * NM for length in size), strict=True))
        theirs: dict[Row, float] = dict(zip(sides, facts["edge"], strict=True))
        found.near("board size", ours, theirs, EDGE_NM)


def nm(column: Floats) -> list[int]:
    """Return millimetres as KiCad's whole nanometres, NaN as 0."""
    whole: list[int] = np.rint(np.nan_to_num(column) * NM).astype(np.int64).tolist()
    return whole


def _our_tracks(board: Board) -> Iterator[Row]:
    t = board.tracks
    ends = zip(nm(t.start_x_mm), nm(t.start_y_mm), nm(t.end_x_mm), nm(t.end_y_mm), nm(t.width_mm), strict=True)
    mids = zip((~np.isnan(t.mid_x_mm)).tolist(), nm(t.mid_x_mm), nm(t.mid_y_mm), strict=True)
    for uuid, end, layer, net, (arc, *mid) in zip(t.uuid.tolist(), ends, t.layer, t.net, mids, strict=True):
        yield uuid, *end, board.copper_layers[layer].name, board.nets[net], tuple(mid) if arc else None


def _their_tracks(facts: Facts) -> Iterator[Row]:
    for row in facts["tracks"]:
        mid = tuple(row["mid"]) if row["mid"] else None
        yield row["uuid"], *row["start"], *row["end"], row["width"], row["layer"], row["net"], mid


def _lengths(found: Comparison, board: Board, facts: Facts, *, by_uuid: bool) -> None:
    """Track by track, and summed per net."""
    t = board.tracks
    lengths = (t.length_mm * NM).tolist()
    if by_uuid:
        for table, arcs, within in (("segment length", False, LENGTH_NM), ("arc length", True, ARC_NM)):
            is_one = (~np.isnan(t.mid_x_mm) == arcs).tolist()
            ours: dict[Row, float] = {
                (u,): x for u, x, one in zip(t.uuid.tolist(), lengths, is_one, strict=True) if one
            }
            chosen = (r for r in facts["tracks"] if (r["mid"] is not None) == arcs)
            theirs: dict[Row, float] = {(r["uuid"],): r["length"] for r in chosen}
            found.near(table, ours, theirs, within)
    nets = [(board.nets[net],) for net in t.net.tolist()]
    their_nets = _summed(((r["net"],), r["length"]) for r in facts["tracks"])
    found.near("length per net", _summed(zip(nets, lengths, strict=True)), their_nets, ARC_NM * len(t) ** 0.5)


def _summed(values: Iterable[tuple[Row, float]]) -> dict[Row, float]:
    sums: defaultdict[Row, float] = defaultdict(float)
    for key, value in values:
        sums[key] += value
    return sums


def _machining(drilling: Drilling, row: int, names: Sequence[str]) -> Row:
    """Secondary drills by the side they start on, and post-machining by the side it is on."""
    found: list[Row] = []
    sides = {0: "top_backdrill", len(names) - 1: "bottom_backdrill"}
    for size, start, cut in (
        (drilling.backdrill_size_mm, drilling.backdrill_start, drilling.backdrill_must_cut),
        (drilling.tertiary_size_mm, drilling.tertiary_start, drilling.tertiary_must_cut),
    ):
        if not math.isnan(size[row]):
            found.append((sides[int(start[row])], round(size[row] * NM), names[int(cut[row])]))
    for side, kind, *columns in (
        ("front_post", drilling.front_post, drilling.front_post_size_mm, drilling.front_post_depth_mm),
        ("back_post", drilling.back_post, drilling.back_post_size_mm, drilling.back_post_depth_mm),
    ):
        if kind[row]:
            found.append((side, str(kind[row]), *(round(float(np.nan_to_num(c[row])) * NM) for c in columns)))
    return tuple(sorted(found, key=str))


def _their_machining(machining: Machining) -> Row:
    rows = [(name, *values[:3]) for name, values in machining.items()]  # an angle is in units of KiCad's own
    return tuple(sorted(rows, key=str))


def _our_vias(board: Board) -> Iterator[Row]:
    v, names = board.vias, [c.name for c in board.copper_layers]
    sides = (v.tented_front, v.tented_back, v.covered_front, v.covered_back, v.plugged_front, v.plugged_back)
    protections = zip(*([PROTECTION[p] for p in c.tolist()] for c in (*sides, v.capped, v.filled)), strict=True)
    columns = zip(v.uuid.tolist(), nm(v.x_mm), nm(v.y_mm), nm(v.drill_mm), protections, strict=True)
    for i, (uuid, x, y, drill, protection) in enumerate(columns):
        span = names[v.start_layer[i]], names[v.end_layer[i]]
        sizes = tuple((n, round(s * NM)) for n, s in zip(names, v.pad_size_mm[i], strict=True) if not math.isnan(s))
        plain = uuid, x, y, drill, ViaKind(v.kind[i]).name.lower(), *span, board.nets[v.net[i]]
        unused = bool(v.remove_unused[i]), bool(v.keep_end[i])
        yield *plain, *unused, sizes, protection, _machining(v.drilling, i, names)


def _their_vias(facts: Facts) -> Iterator[Row]:
    for row in facts["vias"]:
        inside = not {"F.Cu", "B.Cu"} & set(row["span"])
        kind = "buried" if inside and row["kind"] == "blind" else row["kind"]  # KiCad 9 had one word for both
        plain = row["uuid"], *row["at"], row["drill"], kind, *row["span"], row["net"]
        unused, sizes = (row["remove_unused"], row["keep_end"]), tuple(row["sizes"].items())
        yield *plain, *unused, sizes, _protection(row, facts["version"]), _their_machining(row["machining"])


def _protection(row: ViaFacts, version: int) -> Row:
    sides, rest = row["protection"][:2], row["protection"][2:]
    if version < PROTECTION_SINCE and set(rest) == {PROTECTION[0]}:
        rest = (PROTECTION[-1],) * len(rest)
    return *sides, *rest


def _turn(angle_deg: float) -> float:
    return round(angle_deg % 360.0, 6) % 360.0


def _our_footprints(board: Board) -> Iterator[Row]:
    f = board.footprints
    words = zip(f.uuid.tolist(), f.reference.tolist(), f.value.tolist(), f.library_id.tolist(), strict=True)
    places = zip(nm(f.x_mm), nm(f.y_mm), f.rotation_deg.tolist(), f.back.tolist(), f.unfitted.tolist(), strict=True)
    for word, (x, y, rotation, back, unfitted) in zip(words, places, strict=True):
        yield *word, x, y, _turn(rotation), bool(back), bool(unfitted)


def _their_footprints(facts: Facts) -> Iterator[Row]:
    for row in facts["footprints"]:
        words = row["uuid"], row["reference"], row["value"], row["library_id"]
        yield *words, *row["at"], _turn(row["rotation"]), row["back"], row["unfitted"]


def _our_pads(board: Board) -> Iterator[Row]:
    p, names = board.pads, [c.name for c in board.copper_layers]
    references = board.footprints.reference.tolist()
    columns = (p.x_mm, p.y_mm, p.size_x_mm, p.size_y_mm, p.drill_x_mm, p.drill_y_mm)
    sizes = zip(*(nm(column) for column in columns), strict=True)
    words = zip(p.uuid.tolist(), p.number.tolist(), p.shape.tolist(), strict=True)
    for i, ((uuid, number, shape), size) in enumerate(zip(words, sizes, strict=True)):
        layers = _layers_of(int(p.layers[i]), names)
        turn, kind = _turn(float(p.rotation_deg[i])), PadKind(p.kind[i]).name.lower()
        machined = _machining(p.drilling, i, names)
        owner = references[p.footprint[i]]
        yield uuid, number, *size, turn, kind, shape, board.nets[p.net[i]], owner, layers, machined


def _their_pads(facts: Facts) -> Iterator[Row]:
    references = {row["uuid"]: row["reference"] for row in facts["footprints"]}
    for row in facts["pads"]:
        plain = row["uuid"], row["number"], *row["at"], *row["size"], *row["drill"], _turn(row["rotation"])
        words = row["kind"], row["shape"], row["net"], references[row["footprint"]]
        yield *plain, *words, tuple(row["layers"]), _their_machining(row["machining"])


def _layers_of(mask: int, names: Sequence[str]) -> Row:
    return tuple(name for k, name in enumerate(names) if mask >> k & 1)


def _our_zones(board: Board) -> Iterator[Row]:
    z, names = board.zones, [c.name for c in board.copper_layers]
    for i, (uuid, name) in enumerate(zip(z.uuid.tolist(), z.name.tolist(), strict=True)):
        if layers := _layers_of(int(z.layers[i]), names):
            yield uuid, name, board.nets[z.net[i]], int(z.priority[i]), bool(z.is_rule_area[i]), layers


def _their_zones(facts: Facts) -> Iterator[Row]:
    for row in facts["zones"]:
        words = row["uuid"], row["name"], row["net"]
        yield *words, row["priority"], row["rule_area"], tuple(row["layers"])


def _outlines(found: Comparison, board: Board, facts: Facts, *, by_uuid: bool) -> None:
    """Corners of every zone's outline and its area."""
    z = board.zones
    corners: defaultdict[Row, float] = defaultdict(float)
    areas: defaultdict[Row, float] = defaultdict(float)
    for i, (uuid, net) in enumerate(zip(z.uuid.tolist(), z.net.tolist(), strict=True)):
        span = slice(int(z.outline_start[i]), int(z.outline_start[i + 1]))
        key: Row = (uuid if by_uuid else board.nets[net],)
        corners[key] += span.stop - span.start
        areas[key] += abs(_shoelace(z.outline_x_mm[span] * NM, z.outline_y_mm[span] * NM))
    theirs: defaultdict[Row, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for row in facts["zones"]:
        key = (row["uuid"] if by_uuid else row["net"],)
        theirs[key] = [a + b for a, b in zip(theirs[key], row["outline"] or (0, 0, 0.0), strict=True)]
    for key, (count, arcs, area) in theirs.items():
        if not arcs:
            found.near("outline corners", {key: corners[key]}, {key: count}, 0)
        found.near("outline area", {key: areas[key]}, {key: area}, max(AREA_NM2, area * ARC_AREA if arcs else 0.0))


def _fills(found: Comparison, board: Board, facts: Facts, *, by_uuid: bool) -> None:
    """Polygons and their corners, and the copper area of every zone on every layer."""
    z = board.zones
    ours: defaultdict[Row, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for k, (zone, layer) in enumerate(zip(z.fill_zone.tolist(), z.fill_layer.tolist(), strict=True)):
        span = slice(int(z.fill_start[k]), int(z.fill_start[k + 1]))
        x, y = z.fill_x_mm[span] * NM, z.fill_y_mm[span] * NM
        owner = str(z.uuid[zone]) if by_uuid else board.nets[z.net[zone]]
        add = (1, len(x), abs(_shoelace(x, y)))
        key = (owner, board.copper_layers[layer].name)
        ours[key] = [a + b for a, b in zip(ours[key], add, strict=True)]
    theirs: defaultdict[Row, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for row in facts["zones"]:
        for name, values in row["fills"].items():
            if values[0]:
                key = (row["uuid"] if by_uuid else row["net"], name)
                theirs[key] = [a + b for a, b in zip(theirs[key], values, strict=True)]
    for column, (table, within) in enumerate((("fill polygons", 0), ("fill corners", 0), ("fill area", AREA_NM2))):
        if column != 1 or board.format_version >= DRAWN_FILLS_UNTIL:
            mine, other = ({key: row[column] for key, row in side.items()} for side in (ours, theirs))
            found.near(table, mine, other, within)


def _drawings(found: Comparison, board: Board, facts: Facts) -> None:
    """Layer and net of every graphic on copper, the box around its copper and the area of it."""
    drawn, names = board.drawings, [c.name for c in board.copper_layers]
    rows = np.flatnonzero(drawn.pad < 0).tolist()
    ours = [(str(drawn.uuid[k]), *_layers_of(int(drawn.layers[k]), names), board.nets[drawn.net[k]]) for k in rows]
    found.rows("drawings", ours, [(row["uuid"], row["layer"], row["net"]) for row in facts["drawings"]])
    theirs = {row["uuid"]: row for row in facts["drawings"]}
    for k in rows:
        copper, row = drawn_area(board, k), theirs.get(str(drawn.uuid[k]))
        if row is None or copper.is_empty:
            continue
        key: Row = (row["uuid"],)
        for side, mine, other in zip(("left", "top", "right", "bottom"), copper.bounds, row["box"], strict=True):
            found.near("drawn box", {(*key, side): mine * NM}, {(*key, side): other}, DRAWN_NM)
        within = DRAWN_NM * copper.length * NM
        found.near("drawn area", {key: copper.area * NM**2}, {key: row["area"]}, within)


def _shoelace(x: Floats, y: Floats) -> float:
    """Area of a polygon, around its first corner, so that large coordinates do not eat digits."""
    if not len(x):
        return 0.0
    x, y = x - x[0], y - y[0]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _nets(found: Comparison, board: Board, facts: Facts) -> None:
    """Names, and of every net its classes in order and the sizes that hold.

    Where no size is stated, KiCad has one of its own and we have none.
    """
    found.rows("nets", [(n,) for n in board.nets], [(n,) for n in facts["nets"]])
    ours: list[Row] = []
    theirs: list[Row] = []
    for net in board.nets:
        held = board.project.effective(net)
        stated = [(size, value) for size in SIZES if (value := getattr(held, f"{size}_mm")) is not None]
        names = ",".join(board.project.net_classes_of.get(net, ())) or DEFAULT
        ours.append((net, names, held.tuning_profile or "", *((size, round(value * NM)) for size, value in stated)))
        if (row := facts["nets"].get(net)) is not None:
            kept = row["names"].removesuffix(f",{DEFAULT}")  # it stands there where the others leave a size open
            sizes = ((size, row[size]) for size, _ in stated)  # type: ignore[literal-required]
            theirs.append((net, kept, row["tuning_profile"], *sizes))
    found.rows("net classes", ours, theirs)
