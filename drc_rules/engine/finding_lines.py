"""Where in the board file a finding is: the line where a fix would begin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from drc_rules.report.findings import Finding, Location
from stackup_lib.board.board import Board
from stackup_lib.core.record import record

NOWHERE = np.iinfo(np.int64).max
BLOCK_OF = {"layers": "layers", "thickness": "general"}
"""Findings about the whole board that do not belong to the stackup block."""


@record
class _Lines:
    """Lines of what findings name."""

    rows: Mapping[str, int]
    layers: Mapping[str, int]
    uuids: Mapping[str, int]
    points: Mapping[Location, int]
    nets: Mapping[str, int]
    blocks: Mapping[str, int]


def with_lines(findings: Iterable[Finding], board: Board, text: bytes) -> list[Finding]:
    """Return the findings with the lines of their places, and of what they are about, filled in.

    Args:
        findings: of this board.
        board: as read from `text`.
        text: the board file's bytes.
    """
    given = list(findings)
    lines = _lines_of(given, board, text)
    return [_located(finding, lines) for finding in given]


def _located(finding: Finding, lines: _Lines) -> Finding:
    places = tuple(p if p.line else p.model_copy(update={"line": _line_of(p, lines)}) for p in finding.places)
    rows = (lines.rows.get(name.partition(", ply ")[0]) for name in finding.objects)
    block = next((lines.blocks.get(BLOCK_OF[name]) for name in finding.objects if name in BLOCK_OF), None)
    candidates = (
        *(p.line for p in places if p.uuid),
        *rows,
        *(p.line for p in places),
        block,
        lines.blocks.get("stackup"),
        lines.blocks.get("setup"),
    )
    return finding.model_copy(update={"places": places, "line": next((n for n in candidates if n), 1)})


def _line_of(place: Location, lines: _Lines) -> int | None:
    if place.uuid and place.uuid in lines.uuids:
        return lines.uuids[place.uuid]
    if place in lines.points:
        return lines.points[place]
    if place.net and place.net in lines.nets:
        return lines.nets[place.net]
    if place.layer:
        return lines.rows.get(place.layer) or lines.layers.get(place.layer)
    return None


def _lines_of(findings: Iterable[Finding], board: Board, text: bytes) -> _Lines:
    places = [place for finding in findings for place in finding.places]
    stackup = board.stackup
    blocks = {name: _line_of_block(board, text, name) for name in ("layers", "general", "setup")}
    rows = {row.name: board.line_of(row.offset) for row in stackup.layers if row.offset} if stackup else {}
    if stackup and stackup.offset:
        blocks["stackup"] = board.line_of(stackup.offset)
    uuids = _lines_of_items(board, {place.uuid for place in places if place.uuid})
    return _Lines(
        rows=rows,
        layers=_lines_of_layers(board, text),
        uuids=uuids,
        points=_lines_of_points(board, [place for place in places if place.uuid not in uuids]),
        nets=_lines_of_nets(board, {place.net for place in places if place.net}),
        blocks={name: line for name, line in blocks.items() if line},
    )


def _line_of_block(board: Board, text: bytes, name: str) -> int | None:
    found = re.search(rb"\(\s*" + name.encode() + rb"\s", text)
    return board.line_of(found.start()) if found else None


def _lines_of_layers(board: Board, text: bytes) -> dict[str, int]:
    """Lines of the rows of the layer table, which comes before any item that names a layer."""
    table = re.search(rb"\(\s*layers\s", text)
    lines = {}
    for layer in board.copper_layers if table else ():
        row = re.compile(rb'\(\s*\d+\s+"?' + re.escape(layer.name.encode()) + rb'["\s]')
        if table and (found := row.search(text, table.start())):
            lines[layer.name] = board.line_of(found.start())
    return lines


def _lines_of_items(board: Board, wanted: set[str]) -> dict[str, int]:
    """Lines of tracks, vias, zones, footprints and pads, by uuid."""
    lines: dict[str, int] = {}
    for table in (board.tracks, board.vias, board.zones, board.footprints, board.pads) if wanted else ():
        for index, uuid in enumerate(table.uuid.tolist()):
            if uuid in wanted:
                lines.setdefault(uuid, board.line_of(int(table.offset[index])))
    return lines


def _lines_of_points(board: Board, places: Iterable[Location]) -> dict[Location, int]:
    """Lines of the pads and vias in whose middle a place is: before KiCad 6 pads have no uuid."""
    lines: dict[Location, int] = {}
    for place in places:
        net = board.net_index.get(place.net or "")
        if net is None or place.x_mm is None or place.y_mm is None:
            continue
        for table in (board.pads, board.vias):
            is_here = (table.net == net) & (table.x_mm == place.x_mm) & (table.y_mm == place.y_mm)
            if len(found := np.flatnonzero(is_here)):
                lines.setdefault(place, board.line_of(int(table.offset[found[0]])))
    return lines


def _lines_of_nets(board: Board, wanted: set[str]) -> dict[str, int]:
    """Line of the first pad, track or via of a net."""
    first = np.full(len(board.nets), NOWHERE)
    for table in (board.tracks, board.vias, board.pads) if wanted else ():
        named = np.flatnonzero(table.net > 0)
        np.minimum.at(first, table.net[named], table.offset[named])
    numbers = {name: number for name in wanted if (number := board.net_index.get(name))}
    return {name: board.line_of(int(first[net])) for name, net in numbers.items() if first[net] != NOWHERE}
