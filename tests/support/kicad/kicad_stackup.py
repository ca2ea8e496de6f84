"""The rows of a stackup as our reader finds them, and as KiCad writes them back, parsed by plain sexpdata."""

from __future__ import annotations

from collections.abc import Iterator

import sexpdata

from stackup_lib.board.board import Stackup

Row = tuple[object, ...]
Listed = list[object]


def our_stackup(stackup: Stackup) -> Iterator[Row]:
    """Yield the rows, then finish and flags."""
    for row in stackup.layers:
        plies = tuple(
            (p.thickness_mm or 0.0, p.thickness_locked, p.material or "", p.dk or 1.0, p.df or 0.0, p.color or "")
            for p in row.plies
        )
        yield row.name, row.type_text, plies
    flags = stackup.impedance_controlled or False, stackup.edge_connector or "", stackup.edge_plating or False
    yield stackup.copper_finish or "None", *flags


def kicads_stackup(settings: str) -> Iterator[Row]:
    """Yield the same from a file; KiCad writes 1 or 0 for a permittivity that is not given, 0 for a loss tangent."""
    tree = sexpdata.loads(settings, nil=None, true=None)
    stackup = _lists(_lists(tree, "setup")[0], "stackup")[0]
    yield from (_row(row) for row in _lists(stackup, "layer"))
    flags = (_word(stackup, "dielectric_constraints"), _word(stackup, "edge_connector"), _word(stackup, "edge_plating"))
    yield _word(stackup, "copper_finish"), flags[0] == "yes", flags[1], flags[2] == "yes"


def _lists(tree: Listed, name: str) -> list[Listed]:
    return [item for item in tree if isinstance(item, list) and item and str(item[0]) == name]


def _word(tree: Listed, name: str, default: str = "") -> str:
    found = _lists(tree, name)
    return str(found[0][1]) if found else default


def _row(row: Listed) -> Row:
    parts: list[Listed] = [[]]
    for item in row[2:]:
        if isinstance(item, list):
            parts[-1].append(item)
        else:
            assert str(item) == "addsublayer"
            parts.append([])
    return str(row[1]), _word(parts[0], "type"), tuple(_ply(part) for part in parts)


def _ply(part: Listed) -> Row:
    locked = any("locked" in map(str, item) for item in _lists(part, "thickness"))
    numbers = max(1.0, float(_word(part, "epsilon_r", "1"))), float(_word(part, "loss_tangent", "0"))
    return float(_word(part, "thickness", "0")), locked, _word(part, "material"), *numbers, _word(part, "color")
