"""IPC-2581 revisions B and C: stackup with its specs, drills, backdrills, hole fill, profile."""

from __future__ import annotations

import math
from itertools import chain

from stackup_lib.board.stackup import LayerKind
from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import (
    FabFormat,
    SentBackdrill,
    SentFile,
    SentHoles,
    SentImpedance,
    SentLayer,
    SentProtection,
    SentRow,
    StatedNumber,
    stated_number,
)
from stackup_lib.fab_files.ipc2581_elements import Elements, parse_ipc2581

KINDS = {
    "CONDUCTOR": LayerKind.COPPER,
    "CONDFILM": LayerKind.COPPER,
    "CONDFOIL": LayerKind.COPPER,
    "PLANE": LayerKind.COPPER,
    "SIGNAL": LayerKind.COPPER,
    "MIXED": LayerKind.COPPER,
    "DIELCORE": LayerKind.CORE,
    "DIELPREG": LayerKind.PREPREG,
    "DIELBASE": LayerKind.OTHER,
    "DIELADHV": LayerKind.OTHER,
    "SOLDERMASK": LayerKind.MASK,
}
"""Functions of layers that are rows of a stackup."""


def is_ipc2581(head: bytes) -> bool:
    """Tell whether a file begins as IPC-2581 does."""
    return b"<IPC-2581" in head


def read_ipc2581(member: Member) -> SentFile:
    """Return what an IPC-2581 file states.

    Raises:
        FabFileError: it is no such XML, or it declares entities or a document type.
    """
    seen = Elements(member.place)
    parse_ipc2581(member.read(), member.place, seen)
    return _file(seen)


def _file(seen: Elements) -> SentFile:
    """Return what was read."""
    copper = [row.layer for row in seen.rows if _kind(seen, row.layer) is LayerKind.COPPER]
    index = {name: k for k, name in enumerate(copper)}
    layers = tuple(
        SentLayer(name, k, seen.layers[name].polarity.capitalize(), seen.layers[name].place)
        for name, k in index.items()
    )
    return SentFile(
        seen.place,
        FabFormat.IPC2581,
        seen.generator,
        layers=layers,
        rows=tuple(_rows(seen)),
        holes=tuple(_holes(seen, index)),
        backdrills=tuple(_backdrills(seen, index)),
        protections=tuple(_protections(seen)),
        finish=seen.finish,
        thickness_mm=seen.thickness,
        size_mm=_size(seen),
        impedances=tuple(_impedances(seen, index)),
    )


def _impedances(seen: Elements, index: dict[str, int]) -> list[SentImpedance]:
    found = []
    for one in seen.impedances:
        on = tuple(index[row.layer] for row in seen.rows if one.spec in row.specs and row.layer in index)
        planes = tuple(sorted(index[name] for name in one.planes if name in index))
        plus, minus = one.tolerances
        found.append(SentImpedance(one.ohm, plus, minus, one.sizes.get("width"), one.sizes.get("gap"), planes, on))
    return found


def _kind(seen: Elements, name: str) -> LayerKind | None:
    return KINDS.get(seen.layers[name].function) if name in seen.layers else None


def _rows(seen: Elements) -> list[SentRow]:
    rows = []
    for row in seen.rows:
        kind = _kind(seen, row.layer)
        if kind is None:
            continue
        specs = [seen.specs[name] for name in row.specs if name in seen.specs]
        numbers = {key: n for spec in specs for key, n in spec.numbers.items()}
        is_number = row.sequence.isascii() and row.sequence.isdecimal() and len(row.sequence) < 10
        rows.append(
            SentRow(
                kind,
                row.layer,
                row.place,
                thickness_mm=stated_number(row.thickness, row.place, seen.scale),
                material=next((spec.material for spec in specs if spec.material), None),
                dk=numbers.get("DIELECTRIC_CONSTANT"),
                df=numbers.get("LOSS_TANGENT"),
                copper_oz=numbers.get("WEIGHT"),
                number=int(row.sequence) if is_number else None,
                group=row.group,
            )
        )
    return rows


def _holes(seen: Elements, index: dict[str, int]) -> list[SentHoles]:
    found = []
    for key, count in seen.holes.items():
        size = stated_number(key.diameter, seen.hole_lines[key], seen.scale)
        if size is None:
            continue
        ends = sorted(index[name] for name in seen.spans.get(key.layer, ()) if name in index)
        first, last = (ends[0], ends[-1]) if len(ends) == 2 else (None, None)
        is_plated = key.plating != "NONPLATED"
        found.append(SentHoles(first, last, is_plated, size, count, key.is_slot, size.place))
    return found


def _backdrills(seen: Elements, index: dict[str, int]) -> list[SentBackdrill]:
    found = []
    for name, spec in seen.specs.items():
        if not spec.start:
            continue
        size = spec.numbers.get("OTHER")
        ends = (index.get(spec.start), index.get(spec.must_cut), index.get(spec.must_not_cut))
        found.append(SentBackdrill(*ends, size, None, seen.drilled[name], spec.place))
    return found


def _protections(seen: Elements) -> list[SentProtection]:
    kinds = {"HOLEFILL": "filled", "COATINGCOND": "capped"}
    return [
        SentProtection(kinds[layer.function], seen.pads[name], layer.place)
        for name, layer in seen.layers.items()
        if layer.function in kinds and name in seen.spans
    ]


def _size(seen: Elements) -> tuple[StatedNumber, StatedNumber] | None:
    if not seen.points or not all(map(math.isfinite, chain(*seen.points))):
        return None
    xs, ys = zip(*seen.points, strict=True)
    x, y = (StatedNumber(round((max(v) - min(v)) * seen.scale, 6), 1e-4, seen.profile_line) for v in (xs, ys))
    return x, y
