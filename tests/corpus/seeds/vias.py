"""Defects of holes and vias."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.thermal.exposed_pads import exposed_pads
from stackup_lib.board.board import PadKind
from stackup_lib.kicad.write.spans import Edit, length_text, quoted
from tests.corpus.seeds.fills import around, cut_fills
from tests.corpus.seeds.ground import Ground, Kind, Seed, crosswise, set_field

RING_MM, DRILL_MM, DUST_MM = 0.02, 0.09, 0.02
GAP_MM = 0.05


def _via(ground: Ground, row: int, size_mm: float, drill_mm: float) -> Seed:
    vias = ground.board.vias
    item = ground.item(vias.offset[row])
    edits = (set_field(item, "size", length_text(size_mm)), set_field(item, "drill", length_text(drill_mm)))
    return Seed(edits=edits, names=frozenset({str(vias.uuid[row])}), at=(vias.x_mm[row], vias.y_mm[row]))


def thin_ring(ground: Ground) -> Iterator[Seed]:
    """The pad of a via is as small as its hole, almost."""
    for row in ground.shuffled(range(len(ground.board.vias)), "ring"):
        drill = float(ground.board.vias.drill_mm[row])
        yield _via(ground, row, drill + 2 * RING_MM, drill)


def small_hole(ground: Ground) -> Iterator[Seed]:
    """A hole that only lasers make, through the whole board."""
    for row in ground.shuffled(range(len(ground.board.vias)), "hole"):
        yield _via(ground, row, float(ground.board.vias.size_mm[row]), DRILL_MM)


def deep_hole(ground: Ground) -> Iterator[Seed]:
    """A hole twenty times as deep as it is wide."""
    thickness = ground.board.thickness_mm or 1.6
    for row in ground.shuffled(range(len(ground.board.vias)), "depth"):
        yield _via(ground, row, float(ground.board.vias.size_mm[row]), round(thickness / 20, 4))


def no_hole(ground: Ground) -> Iterator[Seed]:
    """A slip of the decimal point: 0.02 mm in place of 0.2 mm."""
    for row in ground.shuffled(range(len(ground.board.vias)), "dust"):
        yield _via(ground, row, float(ground.board.vias.size_mm[row]), DUST_MM)


def crossing_spans(ground: Ground) -> Iterator[Seed]:
    """Two vias, from the top to the last inner layer and from In1 to the bottom: no lamination makes both."""
    vias, layers = ground.board.vias, [layer.name for layer in ground.board.copper_layers]
    rows = ground.shuffled(range(len(vias)), "spans")
    for first, second in zip(rows[::2], rows[1::2], strict=False):
        edits: list[Edit] = []
        for row, ends in ((first, (layers[0], layers[-2])), (second, (layers[1], layers[-1]))):
            item = ground.item(vias.offset[row])
            edits.append(set_field(item, "layers", " ".join(map(quoted, ends))))
            if item.word(1) != "blind":
                edits.append(Edit(item.start + len("(via"), item.start + len("(via"), " blind"))
        yield Seed(
            edits=tuple(edits),
            names=frozenset({str(vias.uuid[first])}),
            at=(vias.x_mm[first], vias.y_mm[first]),
        )


def hole_next_to_track(ground: Ground) -> Iterator[Seed]:
    """A ground via whose hole comes too close to a track of an inner layer."""
    ground_track = ground_item(ground)
    if ground_track is None:
        return
    net = ground.net_words(ground_track)
    for row in ground.shuffled(ground.track_rows(longer_mm=2.0, outer=False), "hole to copper"):
        if ground.net_words(int(ground.board.tracks.offset[row])) == net:
            continue
        start, end = ground.ends(row)
        away = float(ground.board.tracks.width_mm[row]) / 2 + GAP_MM + 0.15
        at = (start + end) / 2 + crosswise(start, end) * away
        text, made = ground.via(net, (at[0], at[1]), size_mm=0.5)
        net_name = ground.board.nets[int(ground.board.tracks.net[row])]
        yield Seed(edits=(ground.inserted(text),), names=frozenset({made, net_name}), at=(at[0], at[1]))


def unplated_hole_next_to_track(ground: Ground) -> Iterator[Seed]:
    """A track that passes an unplated hole at a twentieth of a millimetre."""
    pads = ground.board.pads
    tracks = ground.track_rows(longer_mm=1.0, outer=True)
    holes = np.flatnonzero(pads.kind == PadKind.NON_PLATED)
    if not len(tracks):
        return
    like = ground.shuffled(tracks, "unplated")[0]
    for pad in ground.shuffled(holes, "unplated"):
        if abs(pads.drill_x_mm[pad] - pads.drill_y_mm[pad]) > 1e-6:
            continue
        width = 0.2
        y = float(pads.y_mm[pad] + pads.drill_x_mm[pad] / 2 + GAP_MM + width / 2)
        x = float(pads.x_mm[pad])
        text, made = ground.track(like, (x - 1, y), (x + 1, y), width_mm=width)
        track_net = int(ground.board.tracks.net[like])
        room = {int(ground.board.tracks.layer[like]): around([(x - 1, y), (x + 1, y)], width)}
        cut = cut_fills(ground, room, but_net=track_net)
        names = frozenset({made, ground.board.nets[track_net], str(pads.uuid[pad])})
        yield Seed(edits=(*cut, ground.inserted(text)), names=names, at=(x, y))


def bare_thermal_pad(ground: Ground) -> Iterator[Seed]:
    """All vias and plated holes are taken out of the exposed pad of a chip."""
    board = ground.board
    for pad in ground.context.get(exposed_pads):
        if not pad.vias:
            continue
        row = pad.rows[0]
        half = max(board.pads.size_x_mm[row], board.pads.size_y_mm[row]) / 2 * 1.5
        near = _within(board.vias.x_mm, board.vias.y_mm, board.pads.x_mm[row], board.pads.y_mm[row], half)
        holes = _within(board.pads.x_mm, board.pads.y_mm, board.pads.x_mm[row], board.pads.y_mm[row], half)
        holes &= board.pads.drill_x_mm > 0
        edits = [ground.removed(o) for o in (*board.vias.offset[near], *board.pads.offset[holes])]
        if edits:
            at = (float(board.pads.x_mm[row]), float(board.pads.y_mm[row]))
            yield Seed(edits=tuple(edits), names=frozenset({pad.reference}), at=at)


def _within(x: np.ndarray, y: np.ndarray, x0: float, y0: float, half: float) -> np.ndarray:
    return np.asarray((np.abs(x - x0) < half) & (np.abs(y - y0) < half))


def ground_item(ground: Ground) -> int | None:
    """The file's place of a via or track of ground."""
    board = ground.board
    for net in ("GND", "/GND", "GNDREF", "GNDD"):
        index = board.net_index.get(net)
        for table in (board.vias, board.tracks):
            rows = np.flatnonzero(table.net == (index or -1))
            if len(rows):
                return int(table.offset[rows[0]])
    return None


KINDS = (
    Kind(name="annular ring of 0.02 mm", rules=("FAB002",), make=thin_ring),
    Kind(name="hole of 0.09 mm through the board", rules=("FAB001",), make=small_hole),
    Kind(name="hole twenty times as deep as wide", rules=("VIA004",), make=deep_hole, needs_stackup=True),
    Kind(name="hole of 0.02 mm", rules=("FAB019",), make=no_hole),
    Kind(name="via spans that cross", rules=("VIA015",), make=crossing_spans),
    Kind(name="hole 0.05 mm from an inner track", rules=("FAB012",), make=hole_next_to_track),
    Kind(name="track 0.05 mm from an unplated hole", rules=("FAB017",), make=unplated_hole_next_to_track),
    Kind(name="exposed pad without its vias", rules=("THM006",), make=bare_thermal_pad),
)
