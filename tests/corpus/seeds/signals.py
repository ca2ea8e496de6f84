"""Defects of high-speed pairs and of the planes below them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from drc_rules.analysis.delay.pair_skew import PairSkew, skews_of
from drc_rules.analysis.return_path.plane_changes import plane_changes
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, ReturnPaths
from drc_rules.report.link_rows import LinkImpedance
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad.write.spans import Edit, length_text, number_text, quoted
from tests.corpus.seeds.fills import around, cut_fills, slot
from tests.corpus.seeds.ground import Ground, Kind, Seed, crosswise, set_field

FAST = ("pcie", "usb3", "hdmi", "mipi", "displayport")
DETOUR_MM, AWAY_MM = 8.0, 8.0
MOST_HOLES = 40
UNSWAPPED = ("hdmi",)
"""Of `FAST` those whose receivers do not correct a swapped pair."""


def _passing(ground: Ground, kind: str) -> Iterator[LinkImpedance]:
    """Differential links whose impedance is known, and on target."""
    rows = [row for row in ground.report.impedances if row.kind == "differential" and row.mean_ohm is not None]
    for index in ground.shuffled(range(len(rows)), kind):
        row = rows[index]
        mean = row.mean_ohm
        share = row.tolerance_pct / 100
        if mean is not None and abs(mean.nominal / row.target_ohm - 1) <= share and row.length_mm > 2 * 5:
            yield row


def thin_pair(ground: Ground) -> Iterator[Seed]:
    """Both traces of a pair have half of their width."""
    tracks = ground.board.tracks
    for row in _passing(ground, "width"):
        nets = [ground.board.net_index[name] for name in row.nets]
        chosen = np.flatnonzero(np.isin(tracks.net, nets))
        edits = tuple(
            set_field(ground.item(tracks.offset[one]), "width", length_text(float(tracks.width_mm[one]) / 2))
            for one in chosen
        )
        yield Seed(edits=edits, names=frozenset(row.nets))


def _dielectric_under_pairs(ground: Ground, field: str, factor: float) -> Iterator[Seed]:
    stackup = ground.board.stackup
    if stackup is None or not ground.has_stackup:
        return
    for row in _passing(ground, field):
        worst = row.worst
        rows = [one for one in stackup.layers if one.is_dielectric]
        if worst is None or worst.layer not in (
            ground.board.copper_layers[0].name,
            ground.board.copper_layers[-1].name,
        ):
            continue
        one = rows[0] if worst.layer == ground.board.copper_layers[0].name else rows[-1]
        value = one.thickness_mm if field == "thickness" else one.plies[0].dk
        if value and len(one.plies) == 1:
            edit = set_field(ground.row(one), field, number_text(value * factor))
            yield Seed(edits=(edit,), names=frozenset(row.nets))


def thick_dielectric(ground: Ground) -> Iterator[Seed]:
    """The dielectric under a passing pair is twice as thick."""
    yield from _dielectric_under_pairs(ground, "thickness", 2.0)


def high_dk(ground: Ground) -> Iterator[Seed]:
    """The dielectric under a passing pair has 1.6 times the Dk: an impedance 15 to 20 % lower."""
    yield from _dielectric_under_pairs(ground, "epsilon_r", 1.6)


def _groups(ground: Ground) -> Iterator[HighSpeedGroup]:
    for group in ReturnPaths(ground.context).groups:
        if group.family in FAST:
            yield group


def _pairs(ground: Ground, kind: str) -> Iterator[tuple[HighSpeedGroup, PairSkew]]:
    found = [(group, pair) for group in _groups(ground) for pair in skews_of(ground.context, group).known]
    for index in ground.shuffled(range(len(found)), kind):
        yield found[index]


def _longest(ground: Ground, net: int) -> int | None:
    rows = ground.track_rows(longer_mm=2.0)
    rows = rows[ground.board.tracks.net[rows] == net]
    return int(rows[np.argmax(ground.board.tracks.length_mm[rows])]) if len(rows) else None


def _detour(ground: Ground, row: int, out_mm: float) -> tuple[Edit, ...]:
    """A track goes out to the side, along, and back; the zones there are filled again."""
    tracks = ground.board.tracks
    start, end = ground.ends(row)
    side = crosswise(start, end) * out_mm
    corners = [(float(x), float(y)) for x, y in (start, start + side, end + side, end)]
    new = [ground.track(row, *piece)[0] for piece in pairwise(corners)]
    room = {int(tracks.layer[row]): around(corners, float(tracks.width_mm[row]))}
    cut = cut_fills(ground, room, but_net=int(tracks.net[row]))
    return ground.removed(int(tracks.offset[row])), *cut, ground.inserted(*new)


def longer_leg(ground: Ground) -> Iterator[Seed]:
    """One trace of a pair is led 8 mm to the side and back: 16 mm, about 100 ps."""
    for _, pair in _pairs(ground, "skew"):
        row = _longest(ground, pair.nets[0])
        if row is not None:
            names = frozenset(ground.board.nets[net] for net in pair.nets)
            yield Seed(edits=_detour(ground, row, DETOUR_MM), names=names)


def leg_on_its_own(ground: Ground) -> Iterator[Seed]:
    """The same change, for the rule that looks at coupling."""
    judged = {net for row in ground.report.impedances if row.kind == "differential" for net in row.nets}
    for _, pair in _pairs(ground, "coupling"):
        row = _longest(ground, pair.nets[1])
        if row is not None and ground.board.nets[pair.nets[1]] in judged:
            names = frozenset(ground.board.nets[net] for net in pair.nets)
            yield Seed(edits=_detour(ground, row, AWAY_MM), names=names)


def leg_on_another_layer(ground: Ground) -> Iterator[Seed]:
    """The longest piece of one trace runs on the other side of the board."""
    last = ground.board.layer_count - 1
    for group, pair in _pairs(ground, "layers"):
        row = _longest(ground, pair.nets[0])
        if row is None or ground.board.tracks.length_mm[row] < 1.3 * group.lumped_mm[0]:
            continue
        layer = int(ground.board.tracks.layer[row])
        other = ground.board.copper_layers[last if layer != last else 0].name
        start, end = ground.ends(row)
        net = ground.net_words(int(ground.board.tracks.offset[row]))
        holes = [ground.via(net, (at[0], at[1]), size_mm=0.45)[0] for at in (start, end)]
        move = set_field(ground.item(ground.board.tracks.offset[row]), "layer", quoted(other))
        ends = [(float(x), float(y)) for x, y in (start, end)]
        lands = around(ends[:1], 0.45).union(around(ends[1:], 0.45))
        room = dict.fromkeys(range(last + 1), lands)
        room[last if layer != last else 0] = lands.union(around(ends, float(ground.board.tracks.width_mm[row])))
        cut = cut_fills(ground, room, but_net=pair.nets[0])
        names = frozenset(ground.board.nets[one] for one in pair.nets)
        yield Seed(edits=(move, *cut, ground.inserted(*holes)), names=names)


def slot_under_pair(ground: Ground) -> Iterator[Seed]:
    """A slot of 0.6 mm in the plane next to an outer pair, across it and to both sides."""
    board, last = ground.board, ground.board.layer_count - 1
    for group, pair in _pairs(ground, "slot"):
        row = _longest(ground, pair.nets[0])
        layer = int(board.tracks.layer[row]) if row is not None else -1
        if row is None or layer not in (0, last):
            continue
        start, end = ground.ends(row)
        middle = (start + end) / 2
        shape = slot(middle, end - start, 0.6, 1.5 * group.lumped_mm[0])
        edits = cut_fills(ground, {1 if layer == 0 else last - 1: shape})
        if edits:
            names = frozenset(board.nets[net] for net in pair.nets)
            yield Seed(edits=tuple(edits), names=names, at=tuple((start + end) / 2))


def no_return_via(ground: Ground) -> Iterator[Seed]:
    """No via and no plated pad of the planes is left near a via of a high-speed net."""
    board = ground.board
    for group in _groups(ground):
        try:
            changes = plane_changes(ground.context, group)
        except (MissingFact, StackwrightError):
            continue
        far = 1.3 * max(1.0, group.lumped_mm[0])
        for index in ground.shuffled(range(len(changes)), f"return {group.id}"):
            change = changes[index]
            if change.keeps_plane or change.distance_mm is None or change.distance_mm > far / 1.3:
                continue
            planes = [net for net in range(len(board.nets)) if is_ground(board.nets[net]) or net == change.shared_net]
            edits = [
                ground.removed(int(table.offset[one]))
                for table in (board.vias, board.pads)
                for one in np.flatnonzero(
                    np.isin(table.net, planes)
                    & (np.hypot(table.x_mm - change.x_mm, table.y_mm - change.y_mm) < far)
                    & ((table is board.vias) | (getattr(table, "drill_x_mm", np.ones(len(table.net))) > 0))
                )
            ]
            if edits and len(edits) <= MOST_HOLES:
                names = frozenset({str(board.vias.uuid[change.via])})
                yield Seed(edits=tuple(edits), names=names, at=(change.x_mm, change.y_mm))


def swapped_pins(ground: Ground) -> Iterator[Seed]:
    """The positive and the negative pin of a pair are swapped in one part: its symbol has them the wrong way round."""
    pads = ground.board.pads
    by_part: dict[tuple[int, frozenset[int]], list[int]] = defaultdict(list)
    pairs = [(pair.nets, frozenset(pair.nets)) for group, pair in _pairs(ground, "swap") if group.family in UNSWAPPED]
    for nets, key in pairs:
        for row in np.flatnonzero(np.isin(pads.net, nets) & (pads.function != "")):
            by_part[int(pads.footprint[row]), key].append(int(row))
    ends = defaultdict(list)
    for (part, key), rows in by_part.items():
        told = {_polarity(str(pads.function[row])) for row in rows}
        if len(rows) == 2 and told == {"P", "N"}:
            ends[key].append((part, rows))
    for nets, key in pairs:
        if len(ends[key]) == 2:
            _, (one, two) = ends[key][0]
            words = [quoted(str(pads.function[row])) for row in (two, one)]
            edits = tuple(
                set_field(ground.item(pads.offset[row]), "pinfunction", word)
                for row, word in zip((one, two), words, strict=True)
            )
            yield Seed(edits=edits, names=frozenset(ground.board.nets[net] for net in nets))


def _polarity(function: str) -> str:
    word = function.upper().replace("~", "").rstrip("}")
    last = word[-1:]
    return {"+": "P", "-": "N"}.get(last, last if last in "PN" else "")


KINDS = (
    Kind(name="traces of a pair half as wide", rules=("IMP002",), make=thin_pair),
    Kind(name="dielectric under a pair twice as thick", rules=("IMP002",), make=thick_dielectric),
    Kind(name="Dk under a pair 60 % higher", rules=("IMP002",), make=high_dk),
    Kind(name="one trace of a pair 16 mm longer", rules=("SKW001",), make=longer_leg, needs_stackup=True),
    Kind(name="one trace of a pair led away from the other", rules=("IMP004",), make=leg_on_its_own),
    Kind(name="one trace of a pair on another layer", rules=("SKW002",), make=leg_on_another_layer),
    Kind(name="slot in the plane under a pair", rules=("RET001",), make=slot_under_pair, needs_stackup=True),
    Kind(name="no return via near a layer change", rules=("RET003",), make=no_return_via, needs_stackup=True),
    Kind(name="pins of a pair swapped at one part", rules=("NET008",), make=swapped_pins),
)
