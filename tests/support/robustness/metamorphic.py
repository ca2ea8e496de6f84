"""Changes of a parsed board that must not change what is found in it.

A `Variant` is a board with its settings, and what undoes the change in what is said of it: names and places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import NO_LAYER, Board, Drawings, Project, Small, Zones
from stackup_lib.board.stackup import StackupLayer

Columns = TypeVar("Columns")
Point = tuple[float, float]
Order = NDArray[np.int64]

SEED = 10


def _same_text(text: str) -> str:
    return text


def _same_point(x: float, y: float) -> Point:
    return x, y


@dataclass(frozen=True)
class Variant:
    """A board with its settings; `say` and `place` turn what is said of it back into the original's terms.

    `settings` makes the original's settings into this one's.
    """

    board: Board
    settings: Callable[[str], str] = _same_text
    say: Callable[[str], str] = _same_text
    place: Callable[[float, float], Point] = _same_point


def then(board: Board, *changes: Callable[[Board], Variant]) -> Variant:
    """Make several changes one after another."""
    variant = Variant(board)
    for change in changes:
        variant = _after(variant, change(variant.board))
    return variant


def _after(first: Variant, second: Variant) -> Variant:
    return Variant(
        second.board,
        settings=lambda text: second.settings(first.settings(text)),
        say=lambda text: first.say(second.say(text)),
        place=lambda x, y: first.place(*second.place(x, y)),
    )


# Where the board lies.


def moved(board: Board, dx_mm: float, dy_mm: float) -> Variant:
    """Move the whole board on KiCad's sheet."""
    return _placed(board, lambda x, y: (x + dx_mm, y + dy_mm), lambda x, y: (x - dx_mm, y - dy_mm), lambda a: a)


def rotated(board: Board, degrees: float = 90.0) -> Variant:
    """Turn the board, counter-clockwise on the screen; by 90 degrees without rounding."""
    turn = math.radians(degrees)
    c, s = (0.0, 1.0) if degrees == 90 else (math.cos(turn), math.sin(turn))
    return _placed(
        board,
        lambda x, y: (c * x + s * y, c * y - s * x),
        lambda x, y: (c * x - s * y, c * y + s * x),
        lambda angle: (angle + degrees) % 360,
    )


def mirrored(board: Board) -> Variant:
    """Mirror the board left to right; its layers stay."""
    there = replace(board, pads=replace(board.pads, shift_x_mm=-board.pads.shift_x_mm))
    return _placed(there, lambda x, y: (-x, y), lambda x, y: (-x, y), lambda angle: -angle % 360)


def _placed(
    board: Board,
    there: Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    back: Callable[[float, float], Point],
    turn: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Variant:
    def placed(table: Columns) -> Columns:
        new: dict[str, object] = {}
        for column in fields(table):  # type: ignore[arg-type]
            name = column.name
            if name.endswith("x_mm") and not name.startswith(("size_", "drill_", "shift_")):
                other = name.removesuffix("x_mm") + "y_mm"
                new[name], new[other] = there(getattr(table, name), getattr(table, other))
            elif name == "rotation_deg":
                new[name] = turn(getattr(table, name))
        return replace(table, **new)  # type: ignore[type-var]

    tables = ("tracks", "vias", "footprints", "pads", "zones", "outline", "drawings")
    turned = {name: placed(getattr(board, name)) for name in tables}
    return Variant(replace(board, **turned), place=back)


def _names(table: object) -> set[str]:
    return {column.name for column in fields(table)}  # type: ignore[arg-type]


# What is up and what is down.


def flipped(board: Board) -> Variant:
    """Turn the board over: mirrored, its layers and stackup reversed, front and back exchanged."""
    lying = mirrored(board).board
    last = board.layer_count - 1
    names = [layer.name for layer in board.copper_layers]
    swap = _exchange({**dict(zip(names, reversed(names), strict=True)), **_SIDES})

    def layer(column: Small) -> Small:
        return np.where(column == NO_LAYER, NO_LAYER, last - column).astype(column.dtype)

    def mask(column: NDArray[np.uint64]) -> NDArray[np.uint64]:
        found = np.zeros_like(column)
        for i in range(last + 1):
            found |= ((column >> np.uint64(i)) & np.uint64(1)) << np.uint64(last - i)
        return found

    copper = tuple(
        old.model_copy(update={"name": name}) for name, old in zip(names, reversed(board.copper_layers), strict=True)
    )
    vias, pads, zones = lying.vias, lying.pads, lying.zones
    turned = replace(
        lying,
        copper_layers=copper,
        stackup=board.stackup
        and board.stackup.model_copy(
            update={"layers": tuple(_renamed_row(row, swap) for row in reversed(board.stackup.layers))}
        ),
        tracks=replace(lying.tracks, layer=layer(lying.tracks.layer)),
        vias=replace(
            _sides_exchanged(vias),
            start_layer=layer(vias.end_layer),
            end_layer=layer(vias.start_layer),
            pad_size_mm=vias.pad_size_mm[:, ::-1],
            drilling=_drilling_over(vias.drilling, layer),
        ),
        footprints=replace(lying.footprints, back=(1 - lying.footprints.back).astype(lying.footprints.back.dtype)),
        pads=replace(pads, layers=mask(pads.layers), drilling=_drilling_over(pads.drilling, layer)),
        zones=replace(zones, layers=mask(zones.layers), fill_layer=layer(zones.fill_layer)),
        drawings=replace(lying.drawings, layers=mask(lying.drawings.layers)),
        ipc4761={swap(key): value for key, value in board.ipc4761.items()},
        project=_project_over(board, swap),
    )
    return Variant(turned, settings=swap, say=swap, place=lambda x, y: (-x, y))


_SIDES = {
    "F.Mask": "B.Mask", "B.Mask": "F.Mask", "F.Paste": "B.Paste", "B.Paste": "F.Paste", "F.SilkS": "B.SilkS",
    "B.SilkS": "F.SilkS", "front": "back", "back": "front", "Top": "Bottom", "Bottom": "Top", "top": "bottom",
    "bottom": "top",
}  # fmt: skip


def _exchange(words: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces every word by its opposite, all at once; `tenting_front` ends in one."""
    pattern = re.compile(
        r"(?<![A-Za-z0-9])(?:"
        + "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
        + r")(?![A-Za-z0-9])"
    )
    return lambda text: pattern.sub(lambda found: words[found[0]], text)


def _renamed_row(row: StackupLayer, swap: Callable[[str], str]) -> StackupLayer:
    return row.model_copy(
        update={"name": swap(row.name), "type_text": swap(row.type_text), "plies": tuple(reversed(row.plies))}
    )


def _sides_exchanged(table: Columns) -> Columns:
    """Exchange the columns whose names end in `_front` and `_back`."""
    front = [name for name in _names(table) if name.endswith("_front")]
    pairs = [(name, name.removesuffix("_front") + "_back") for name in front]
    new = {a: getattr(table, b) for pair in pairs for a, b in (pair, pair[::-1])}
    return replace(table, **new)  # type: ignore[type-var]


def _drilling_over(drilling: Columns, layer: Callable[[Small], Small]) -> Columns:
    new: dict[str, object] = {}
    for name in _names(drilling):
        column = getattr(drilling, name)
        if name.endswith(("_start", "_must_cut")):
            new[name] = layer(column)
        elif name.startswith("front_"):
            new[name] = getattr(drilling, "back_" + name.removeprefix("front_"))
        elif name.startswith("back_post"):
            new[name] = getattr(drilling, "front_" + name.removeprefix("back_"))
    return replace(drilling, **new)  # type: ignore[type-var]


def _project_over(board: Board, swap: Callable[[str], str]) -> Project:
    profiles = tuple(
        profile.model_copy(
            update={
                "layers": tuple(
                    row.model_copy(
                        update={
                            "signal_layer": swap(row.signal_layer),
                            "top_reference": row.bottom_reference and swap(row.bottom_reference),
                            "bottom_reference": row.top_reference and swap(row.top_reference),
                        }
                    )
                    for row in profile.layers
                )
            }
        )
        for profile in board.project.tuning_profiles
    )
    return replace(board.project, tuning_profiles=profiles)


# How the file is written.


def split(board: Board, parts: int = 2) -> Variant:
    """Cut every straight segment into equal parts, each an item of its own."""
    tracks = board.tracks
    straight = np.isnan(tracks.mid_x_mm)
    times = np.where(straight, parts, 1)
    row = np.repeat(np.arange(len(tracks)), times)
    part = np.concatenate([np.arange(n) for n in times]) if len(times) else row
    new = {name: getattr(tracks, name)[row] for name in _names(tracks)}
    for axis in ("x", "y"):
        start, end = getattr(tracks, f"start_{axis}_mm")[row], getattr(tracks, f"end_{axis}_mm")[row]
        of = times[row]
        first = np.where(part == 0, start, start + (end - start) * part / of)
        final = np.where(part == of - 1, end, start + (end - start) * (part + 1) / of)
        new[f"start_{axis}_mm"], new[f"end_{axis}_mm"] = first, final
    new["length_mm"] = tracks.length_mm[row] / times[row]
    new["uuid"] = np.array([f"{uuid}/{k}" for uuid, k in zip(tracks.uuid[row], part, strict=True)], dtype=np.str_)
    return Variant(replace(board, tracks=replace(tracks, **new)))


def reversed_tracks(board: Board) -> Variant:
    """Exchange start and end of every track."""
    tracks = board.tracks
    new = {f"{a}_{axis}_mm": getattr(tracks, f"{b}_{axis}_mm") for axis in "xy" for a, b in _ENDS}
    return Variant(replace(board, tracks=replace(tracks, **new)))


_ENDS = (("start", "end"), ("end", "start"))


def shuffled(board: Board) -> Variant:
    """Put tracks, vias, footprints, pads, zones and drawings into another order."""
    chance = np.random.default_rng(SEED)
    feet = chance.permutation(len(board.footprints)).astype(np.int64)
    place_of = np.argsort(feet)
    pad_order = chance.permutation(len(board.pads))
    pads = _taken(board.pads, pad_order)
    new = replace(
        board,
        tracks=_taken(board.tracks, chance.permutation(len(board.tracks))),
        vias=_taken(board.vias, chance.permutation(len(board.vias))),
        footprints=_taken(board.footprints, feet),
        outline=replace(board.outline, footprint=_where(board.outline.footprint, place_of)),
        pads=replace(pads, footprint=place_of[pads.footprint] if len(feet) else pads.footprint),
        zones=_zones_taken(board.zones, chance.permutation(len(board.zones))),
        drawings=_drawings_taken(
            board.drawings, chance.permutation(len(board.drawings)), place_of, np.argsort(pad_order)
        ),
    )
    return Variant(new)


def _taken(table: Columns, order: Order) -> Columns:
    """Take the rows of a table in an order; a table in a column is taken along."""
    new: dict[str, object] = {}
    for name in _names(table):
        column = getattr(table, name)
        new[name] = _taken(column, order) if is_dataclass(column) else column[order]
    return replace(table, **new)  # type: ignore[type-var]


def _zones_taken(zones: Zones, order: Order) -> Zones:
    """Reorder zones with their outlines and their fills, which lie in rings of different length."""
    where = np.argsort(order)
    by_zone = np.argsort(where[zones.fill_zone], kind="stable") if len(zones.fill_zone) else zones.fill_zone
    outline, outline_start = _rings(zones.outline_start, order)
    fill, fill_start = _rings(zones.fill_start, by_zone)
    rows = (
        "name",
        "net",
        "layers",
        "priority",
        "is_rule_area",
        "forbids_fill",
        "is_filled",
        "is_hatched",
        "uuid",
        "offset",
    )
    return replace(
        zones,
        **{name: getattr(zones, name)[order] for name in (*rows, "offset")},
        outline_start=outline_start,
        outline_x_mm=zones.outline_x_mm[outline],
        outline_y_mm=zones.outline_y_mm[outline],
        fill_zone=where[zones.fill_zone][by_zone] if len(zones.fill_zone) else zones.fill_zone,
        fill_layer=zones.fill_layer[by_zone],
        fill_start=fill_start,
        fill_x_mm=zones.fill_x_mm[fill],
        fill_y_mm=zones.fill_y_mm[fill],
    )


def _drawings_taken(drawings: Drawings, order: Order, footprint_at: Order, pad_at: Order) -> Drawings:
    """Reorder drawings, of footprints and pads that are in another order."""
    points, start = _rings(drawings.start, order)
    rows = ("layers", "net", "footprint", "pad", "width_mm", "is_filled", "uuid", "offset")
    taken = {name: getattr(drawings, name)[order] for name in rows}
    taken["footprint"] = _where(taken["footprint"], footprint_at)
    taken["pad"] = _where(taken["pad"], pad_at)
    return replace(drawings, **taken, start=start, x_mm=drawings.x_mm[points], y_mm=drawings.y_mm[points])


def _where(rows: Order, at: Order) -> Order:
    """The new places of rows; -1 is none."""
    return np.array([at[row] if row >= 0 else -1 for row in rows.tolist()], dtype=np.int64)


def _rings(start: Order, order: Order) -> tuple[Order, Order]:
    """Return the points of the rings in a new order, and where each begins then."""
    pieces = [np.arange(start[k], start[k + 1]) for k in order]
    lengths = [0, *(len(piece) for piece in pieces)]
    return (np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)), np.cumsum(lengths).astype(np.int64)


def renumbered(board: Board) -> Variant:
    """Give the nets other numbers; 0 stays "no net"."""
    order = np.concatenate([[0], 1 + np.random.default_rng(SEED).permutation(len(board.nets) - 1)]).astype(np.int64)
    number = np.argsort(order)
    new = {
        name: replace(getattr(board, name), net=number[getattr(board, name).net])
        for name in ("tracks", "vias", "pads", "zones", "drawings")
    }
    return Variant(replace(board, nets=tuple(board.nets[i] for i in order), **new))


def with_other_uuids(board: Board) -> Variant:
    """Give every item another id."""
    new = {}
    for name in ("tracks", "vias", "footprints", "pads", "zones", "drawings"):
        table = getattr(board, name)
        new[name] = replace(
            table, uuid=np.array([f"{name}-{i * 7919 % 1000003}-{i}" for i in range(len(table))], dtype=np.str_)
        )
    return Variant(replace(board, **new))


def with_user_names(board: Board) -> Variant:
    """Give every copper layer a name of the user's, which leaves the canonical one as it is."""
    layers = tuple(
        layer.model_copy(update={"user_name": f"copper {k}"}) for k, layer in enumerate(board.copper_layers, 1)
    )
    return Variant(replace(board, copper_layers=layers))


def without_paths(board: Board) -> Variant:
    """Give every net of the root sheet the name that a global label would give it: without the slash."""
    new = {net: net[1:] if re.fullmatch("/[^/]+", net) else net for net in board.nets}
    pairs = {net[:-2] for net in board.nets if net.endswith(("_P", "_N"))}
    return _with_names(board, new, _whole_words({name.removeprefix("/"): name for name in pairs | {*board.nets}}))


def renamed(board: Board, prefix: str) -> Variant:
    """Put every net that has a path onto another sheet, in the settings too: its last element says what it is for."""
    new = {net: prefix + net if net.startswith("/") else net for net in board.nets}
    return _with_names(board, new, lambda text: text.replace(prefix + "/", "/"))


def _with_names(board: Board, new: Mapping[str, str], say: Callable[[str], str]) -> Variant:
    project = replace(
        board.project,
        assignments={new.get(net, net): classes for net, classes in board.project.assignments.items()},
        net_classes_of={new.get(net, net): classes for net, classes in board.project.net_classes_of.items()},
    )
    return Variant(
        replace(board, nets=tuple(new[net] for net in board.nets), project=project),
        settings=_whole_words(new),
        say=say,
    )


def _whole_words(names: Mapping[str, str]) -> Callable[[str], str]:
    changing = {a: b for a, b in names.items() if a != b}
    if not changing:
        return _same_text
    found = re.compile(r"[^\s,;:\"'()]+")
    return lambda text: found.sub(lambda word: changing.get(word[0], word[0]), text)
