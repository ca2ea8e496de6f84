"""Which tables of the settings name parts or pads that the board does not have: they are silently without effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from drc_rules.facts.declared_nets import note_of
from drc_rules.settings.config import Config
from drc_rules.settings.config_parts import PartModelDeclaration
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.config_thermal import HotPart
from drc_rules.settings.net_selection import matches
from stackup_lib.board.board import Board
from stackup_lib.core.errors import did_you_mean, nearest


def part_notes(board: Board, config: Config) -> Iterator[str]:
    """Yield a note for each table with a part or pad that is not there, where no missing fact says so."""
    for number, model in enumerate(config.part_model, start=1):
        yield from _model_notes(board, f"[[part_model]] {number} ({model.file})", model)
    for number, rail in enumerate(config.rail, start=1):
        yield from _capacitor_notes(board, f"[[rail]] {number} ({rail.net}), pdn.capacitor", rail)
    for number, part in enumerate(config.hot_part, start=1):
        yield from _pad_notes(board, f"[[hot_part]] {number}", part)
        yield from _sink_notes(board, f"[[hot_part]] {number}", part)


def _model_notes(board: Board, where: str, row: PartModelDeclaration) -> Iterator[str]:
    parts = board.footprints
    texts = [
        (str(reference), str(value), str(library))
        for reference, value, library in zip(parts.reference, parts.value, parts.library_id, strict=True)
    ]
    asked = ((row.parts, "reference"), (row.values, "value"), (row.libraries, "footprint"))
    said = [
        text
        for (patterns, what), known in zip(asked, zip(*texts, strict=True) if texts else ((), (), ()), strict=True)
        for text in _unmatched(patterns, known, f"no part has the {what}")
    ]
    has_any = any(row.fits(*of_part) for of_part in texts)
    if said or not has_any:
        yield note_of(where if has_any else f"{where} fits no part of this board", said)


def _capacitor_notes(board: Board, where: str, row: RailDeclaration) -> Iterator[str]:
    net = board.net_named(row.net)
    if net is None:
        return  # a note of its own
    footprints = np.unique(board.pads.footprint[(board.pads.net == net) & (board.pads.footprint >= 0)])
    known = [str(board.footprints.reference[k]) for k in footprints.tolist()]
    patterns = [pattern for one in row.pdn.capacitor for pattern in one.parts]
    if said := list(_unmatched(patterns, known, f"no part on {row.net} is called")):
        yield note_of(where, said)


def _pad_notes(board: Board, where: str, row: HotPart) -> Iterator[str]:
    for reference in row.refs:
        mine = np.flatnonzero(board.footprints.reference == reference)
        known = [str(number) for number in board.pads.number[np.isin(board.pads.footprint, mine)]]
        missing = [number for number in row.pads if number not in known]
        if known and missing and len(missing) < len(row.pads):  # with none of them the check says what is missing
            yield note_of(where, [f'{reference} has no pad "{number}"' for number in missing])


def _sink_notes(board: Board, where: str, row: HotPart) -> Iterator[str]:
    """A sink that is no layer, where no limit of the path to it makes the check say so."""
    has_limit = row.max_k_per_w is not None or row.junction_max_c is not None
    if row.sink is not None and row.sink not in board.layer_index and not has_limit:
        near = did_you_mean(row.sink, board.layer_index)
        yield note_of(where, [f'sink: the board has no copper layer "{row.sink}", {near}'])


def _unmatched(patterns: Iterable[str], known: Iterable[str], lead: str) -> Iterator[str]:
    names = sorted(set(filter(None, known)))
    for pattern in patterns:
        if not any(matches(pattern, name) for name in names):
            near = nearest(pattern.strip("*"), names)
            yield f'{lead} "{pattern}"' + (f', did you mean "{near}"?' if near else "")
