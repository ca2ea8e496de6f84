"""Changes of a parsed board that must not change what is found in it, and a judgement that can be compared.

A `Variant` is a board with its settings, and what undoes the change in what is said of it: names and places. What is
said is compared word by word; numbers in it, also those inside sentences, within a tolerance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from drc_rules.backdrill_table import backdrill_table
from drc_rules.check import prepare
from drc_rules.config import parse_config
from drc_rules.context import Context
from drc_rules.declared import CommandLine
from drc_rules.engine import run
from drc_rules.loss_table import loss_rows
from drc_rules.rail_table import rail_rows
from drc_rules.report import ClauseVerdict, Finding
from drc_rules.rule import all_rules
from stackup_lib.board import NO_LAYER, Board, Project, Small, Zones
from stackup_lib.facts import MissingFact
from stackup_lib.frozen import Frozen
from stackup_lib.stackup import StackupLayer

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


def rotated(board: Board) -> Variant:
    """Turn the board by 90 degrees, counter-clockwise on the screen."""
    return _placed(board, lambda x, y: (y, -x), lambda x, y: (-y, x), lambda angle: (angle + 90) % 360)


def mirrored(board: Board) -> Variant:
    """Mirror the board left to right; its layers stay."""
    return _placed(board, lambda x, y: (-x, y), lambda x, y: (-x, y), lambda angle: -angle % 360)


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
            if name.endswith("x_mm") and not name.startswith(("size_", "drill_")):
                other = name.removesuffix("x_mm") + "y_mm"
                new[name], new[other] = there(getattr(table, name), getattr(table, other))
            elif name == "rotation_deg":
                new[name] = turn(getattr(table, name))
        return replace(table, **new)  # type: ignore[type-var]

    turned = {
        name: placed(getattr(board, name)) for name in ("tracks", "vias", "footprints", "pads", "zones", "outline")
    }
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
    """Put tracks, vias, footprints, pads and zones into another order."""
    chance = np.random.default_rng(SEED)
    feet = chance.permutation(len(board.footprints)).astype(np.int64)
    place_of = np.argsort(feet)
    pads = _taken(board.pads, chance.permutation(len(board.pads)))
    new = replace(
        board,
        tracks=_taken(board.tracks, chance.permutation(len(board.tracks))),
        vias=_taken(board.vias, chance.permutation(len(board.vias))),
        footprints=_taken(board.footprints, feet),
        pads=replace(pads, footprint=place_of[pads.footprint] if len(feet) else pads.footprint),
        zones=_zones_taken(board.zones, chance.permutation(len(board.zones))),
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
    rows = ("name", "net", "layers", "priority", "is_rule_area", "is_filled", "uuid", "offset")
    return replace(
        zones,
        **{name: getattr(zones, name)[order] for name in rows},
        outline_start=outline_start,
        outline_x_mm=zones.outline_x_mm[outline],
        outline_y_mm=zones.outline_y_mm[outline],
        fill_zone=where[zones.fill_zone][by_zone] if len(zones.fill_zone) else zones.fill_zone,
        fill_layer=zones.fill_layer[by_zone],
        fill_start=fill_start,
        fill_x_mm=zones.fill_x_mm[fill],
        fill_y_mm=zones.fill_y_mm[fill],
    )


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
        for name in ("tracks", "vias", "pads", "zones")
    }
    return Variant(replace(board, nets=tuple(board.nets[i] for i in order), **new))


def with_other_uuids(board: Board) -> Variant:
    """Give every item another id."""
    new = {}
    for name in ("tracks", "vias", "footprints", "pads", "zones"):
        table = getattr(board, name)
        new[name] = replace(
            table, uuid=np.array([f"{name}-{i * 7919 % 1000003}-{i}" for i in range(len(table))], dtype=np.str_)
        )
    return Variant(replace(board, **new))


def renamed(board: Board, prefix: str) -> Variant:
    """Put every net that has a path onto another sheet, in the settings too: its last element says what it is for."""
    new = {net: prefix + net if net.startswith("/") else net for net in board.nets}
    project = replace(
        board.project,
        assignments={new.get(net, net): classes for net, classes in board.project.assignments.items()},
        net_classes_of={new.get(net, net): classes for net, classes in board.project.net_classes_of.items()},
    )
    return Variant(
        replace(board, nets=tuple(new[net] for net in board.nets), project=project),
        settings=_whole_words(new),
        say=lambda text: text.replace(prefix + "/", "/"),
    )


def _whole_words(names: Mapping[str, str]) -> Callable[[str], str]:
    changing = {a: b for a, b in names.items() if a != b}
    if not changing:
        return _same_text
    found = re.compile(r"[^\s,;:\"'()]+")
    return lambda text: found.sub(lambda word: changing.get(word[0], word[0]), text)


# What is said of a board.


Leaf = tuple[str, str | float]


@dataclass(frozen=True)
class Judgement:
    """All that is said of a board: kind and leaves of every record, in the original's terms.

    `keys` are the ids of the findings, which survive whatever leaves items and names as they are.
    """

    records: tuple[tuple[str, tuple[Leaf, ...]], ...]
    verdicts: Mapping[str, str]
    keys: frozenset[str]


@dataclass(frozen=True)
class Saying:
    """One record: its words with the numbers taken out, and the numbers."""

    words: str
    numbers: tuple[float, ...]


LEFT_OUT = frozenset({"uuid", "line", "key", "objects", "offset", "source", "share_source", "how_to_give", "cure"})
"""Ids and lines belong to the file; the rest are constants beside what is compared."""

_NUMBER = re.compile(r"(?<![A-Za-z\d._/])[-+]?\d+(?:\.\d+)?(?![\w])")
_BY_UUID = re.compile(r"\bvia [0-9a-z-]+")


def judge(variant: Variant, config: str) -> Judgement:
    """Check a board and put all that comes out into the original's terms."""
    context, requirements, _ = prepare(variant.board, parse_config(variant.settings(config)), CommandLine())
    outcome = run(context, requirements.clauses, all_rules(), all_rules())
    assert not outcome.crashes, outcome.crashes
    records: list[tuple[str, Frozen]] = [("finding", f) for f in outcome.findings]
    records += [("verdict", v) for v in outcome.verdicts]
    records += [("impedance", row) for row in context.link_impedances]
    records += [("loss", row) for row in loss_rows(context, requirements.clauses)]
    records += [("rail", row) for row in rail_rows(context)]
    records += [("backdrill", row) for row in _backdrills(context)]
    return Judgement(
        tuple((kind, tuple(_leaves(record, variant))) for kind, record in records),
        {v.clause.id: v.verdict.value for v in outcome.verdicts},
        frozenset(f.key for f in outcome.findings),
    )


def _backdrills(context: Context) -> tuple[Frozen, ...]:
    try:
        return backdrill_table(context).rows
    except MissingFact:
        return ()


def _leaves(record: Frozen, variant: Variant) -> Iterator[Leaf]:
    for name in type(record).model_fields:
        value = getattr(record, name)
        if name in LEFT_OUT:
            continue
        if name == "clause" and isinstance(record, ClauseVerdict):
            yield name, record.clause.id
        elif name == "places" and isinstance(record, Finding):
            yield from _places(record, variant)
        else:
            yield from _flat(name, value, variant)


def _flat(path: str, value: object, variant: Variant) -> Iterator[Leaf]:
    if isinstance(value, Frozen):
        for name, leaf in _leaves(value, variant):
            yield f"{path}.{name}", leaf
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _flat(path, item, variant)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)
    elif is_dataclass(value):
        for column in fields(value):
            yield from _flat(f"{path}.{column.name}", getattr(value, column.name), variant)
    else:
        yield path, _BY_UUID.sub("via", variant.say(str(value)))


def _places(finding: Finding, variant: Variant) -> Iterator[Leaf]:
    """The places back where they are on the original, in the order of the board."""
    found = []
    for place in finding.places:
        x, y = place.x_mm, place.y_mm
        at = () if x is None or y is None else tuple(round(c, 4) + 0.0 for c in variant.place(x, y))
        found.append((variant.say(f"{place.layer} {place.net}"), at))
    for where, at in sorted(found):
        yield "place", where
        yield from zip(("place.x", "place.y"), at, strict=False)


def differences(
    one: Judgement, other: Judgement, *, within: float = 1e-6, without: Iterable[str] = (), in_order: bool = True
) -> list[str]:
    """Return what one says and the other does not.

    Args:
        one: of the original.
        other: of the variant.
        within: share of the larger by which numbers may differ, or so much in their own unit.
        without: leaves that the change may alter, by the head of their path.
        in_order: False compares the words of a record as a heap: what is above comes first, and was turned over.
    """
    found = [
        f"{clause}: {one.verdicts.get(clause)} -> {other.verdicts.get(clause)}"
        for clause in sorted({*one.verdicts, *other.verdicts})
        if one.verdicts.get(clause) != other.verdicts.get(clause)
    ]
    before, after = (sayings(judged, without=tuple(without), in_order=in_order) for judged in (one, other))
    for saying in before:
        match = next((s for s in after if _agree(saying, s, within)), None)
        if match is None:
            found.append(f"only before: {saying.words} {saying.numbers}")
        else:
            after.remove(match)
    return found + [f"only after: {s.words} {s.numbers}" for s in after]


def sayings(judged: Judgement, *, without: tuple[str, ...], in_order: bool) -> list[Saying]:
    """Return the records as words and numbers, sorted."""
    found = []
    for kind, leaves in judged.records:
        kept = [(path, value) for path, value in leaves if not path.startswith(without)] if without else list(leaves)
        found.append(_saying(kind, kept, in_order=in_order))
    return sorted(found, key=lambda s: (s.words, s.numbers))


def _saying(kind: str, leaves: Iterable[Leaf], *, in_order: bool) -> Saying:
    words = [kind]
    numbers: list[float] = []
    for path, value in leaves:
        if isinstance(value, float):
            words.append(f"{path}=#")
            numbers.append(value)
        else:
            words.append(f"{path}={_NUMBER.sub('#', value)}")
            numbers += [float(number) for number in _NUMBER.findall(value)]
    if in_order:
        return Saying(" ".join(words), tuple(numbers))
    heap = sorted(re.sub(r"[,=:;]", " ", " ".join(words)).split())
    return Saying(" ".join(heap), tuple(sorted(numbers)))


def _agree(one: Saying, other: Saying, within: float) -> bool:
    if one.words != other.words or len(one.numbers) != len(other.numbers):
        return False
    pairs = zip(one.numbers, other.numbers, strict=True)
    return all(a == b or math.isclose(a, b, rel_tol=within, abs_tol=within) for a, b in pairs)


def clauses_of(judged: Judgement) -> list[tuple[str, str]]:
    """Return clause and severity of every finding, sorted."""
    found = [dict(leaves) for kind, leaves in judged.records if kind == "finding"]
    return sorted((str(leaves["clause"]), str(leaves["severity"])) for leaves in found)
