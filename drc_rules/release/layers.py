"""Copper layers of what is sent: all there, in order, of the right polarity; masks and outline."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from drc_rules.release.agreement import number_words
from drc_rules.release.board_side import BoardSide
from drc_rules.release.model import ReleaseFinding, ReleaseOutcome
from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.arrays import distinct
from stackup_lib.fab_files.facts import FabFormat, SentFile, SentLayer, SentRow, StatedNumber

DIFFERS, NOT_STATED = ReleaseOutcome.DIFFERS, ReleaseOutcome.NOT_STATED
OUTLINE_MM = 0.01
"""KiCad's chords of arcs lie up to 0.005 mm off on either side (its constant ARC_HIGH_DEF)."""
LINE_MM = 0.2
"""A job file's size has the line of the outline in it, as drawn; KiCad's widest default graphic line is 0.2 mm."""

_EXPORT = "kicad-cli pcb export gerbers --board-plot-params ..., with all copper layers chosen"
_NAMED = re.compile(r"(?:^|[-_.])(?:In(\d+)|([FB]))[_.]Cu\b", re.IGNORECASE)


def layer_findings(side: BoardSide, sent: SentFile) -> Iterator[ReleaseFinding]:
    """Return how names, order and polarity of copper in an IPC-2581 or ODB++ differ from the board's."""
    names = [layer.name for layer in sent.layers]
    count = len(side.names)
    if len(names) != count:
        yield _layers(sent.path, f"{count} copper layers", f"{len(names)} copper layers", "a layer is missing or extra")
    else:
        for k, layer in enumerate(sent.layers):
            known = {_plain(side.names[k]), _plain(side.board.copper_layers[k].user_name or side.names[k])}
            all_known = {_plain(name) for name in side.names}
            if _plain(layer.name) not in known and _plain(layer.name) in all_known:
                yield ReleaseFinding(
                    outcome=DIFFERS,
                    topic="order",
                    what=f"copper layer {k + 1}",
                    place=layer.place,
                    board=side.names[k],
                    sent=layer.name,
                    consequence="signals lie over other planes: impedance, return paths and crosstalk change",
                    fix="export it again from the board that was checked",
                )
    for layer in sent.layers:
        yield from _polarity(layer, layer.name)
    yield from _numbers(sent)


def _numbers(sent: SentFile) -> Iterator[ReleaseFinding]:
    """Return rows whose own number contradicts the order in which the file writes them, by which they are compared."""
    groups: dict[int, list[tuple[int, SentRow]]] = defaultdict(list)
    for row in sent.rows:
        if row.number is not None:
            groups[row.group].append((row.number, row))
    for rows in groups.values():
        numbers = [number for number, _ in rows]
        if numbers == sorted(numbers):
            continue
        if numbers == sorted(numbers, reverse=True):
            yield ReleaseFinding(
                outcome=ReleaseOutcome.NOT_COMPARED,
                topic="order",
                what="which row is at the top",
                place=rows[0][1].place,
                board="rows from the top",
                sent=f"{rows[0][1].name} is first and has the highest number, {numbers[0]}",
                consequence="a program that goes by the numbers turns the stackup over",
                fix="ask the fab which it goes by, or export it again",
            )
            continue
        by_number = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
        for k, (number, row) in enumerate(rows):
            there = by_number.index(row)
            if there == k:
                continue
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="order",
                what=row.name,
                place=row.place,
                board=f"row {k + 1} as the file writes it",
                sent=f"row {there + 1} by its number {number}, where {rows[there][1].name} is written",
                consequence="a program that goes by the numbers builds another stackup than one that goes by the order",
                fix="export it again; the order of the rows and their numbers (sequence) have to say the same",
            )


def gerber_findings(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Return what is missing, doubled, swapped, empty or negative among Gerber files."""
    found: dict[int, list[tuple[SentFile, SentLayer]]] = defaultdict(list)
    for file in files:
        for layer in file.layers:
            found[-1 if layer.index is None else layer.index].append((file, layer))
    used = _copper_layers_in_use(side)
    for k, name in enumerate(side.names):
        if k not in found:
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="layers",
                what=name,
                place="Gerber files",
                board=f"copper layer {k + 1} of {len(side.names)}",
                sent="no Gerber file",
                consequence="the layer is not made, or the job stops until it is sent",
                fix=_EXPORT,
            )
        for file, layer in found.get(k, ()):
            yield from _polarity(layer, name)
            yield from _named(side, file, layer, k)
            if layer.is_empty and k in used:
                yield _layers(layer.place, f"{name} has copper", "the file draws nothing", "the layer comes out bare")
        if len(found.get(k, ())) > 1:
            places = ", ".join(file.path for file, _ in found[k])
            yield _layers(
                places, f"one file for {name}", f"{len(found[k])} files", "the fab cannot tell which is meant"
            )
    for k in sorted(found.keys() - set(range(len(side.names)))):
        file, layer = found[k][0]
        yield _layers(layer.place, f"{len(side.names)} copper layers", f"layer {k + 1}", "a layer more than the board")
    yield from _masks_and_outline(side, files)


def _layers(place: str, board: str, sent: str, consequence: str) -> ReleaseFinding:
    return ReleaseFinding(
        outcome=DIFFERS,
        topic="layers",
        what="copper layers",
        place=place,
        board=board,
        sent=sent,
        consequence=consequence,
        fix="export all files again from the board that was checked",
    )


def _named(side: BoardSide, file: SentFile, layer: SentLayer, k: int) -> Iterator[ReleaseFinding]:
    match = _NAMED.search(file.path)
    if match is None:
        return
    index = int(match[1]) if match[1] else 0 if match[2].upper() == "F" else len(side.names) - 1
    if index != k:
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="order",
            what=side.name(index),
            place=layer.place,
            board=f"copper layer {index + 1}",
            sent=f"copper layer {k + 1} by its X2 attribute",
            consequence="two layers are swapped: signals lie over other planes",
            fix="export the Gerber files again; do not rename them",
        )


def _polarity(layer: SentLayer, name: str) -> Iterator[ReleaseFinding]:
    if layer.polarity and layer.polarity != "Positive":
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="polarity",
            what=name or "copper layer",
            place=layer.place,
            board="positive",
            sent=layer.polarity.lower(),
            consequence="copper and gaps are exchanged on this layer",
            fix="KiCad writes copper positive; export the layer again",
        )


def _copper_layers_in_use(side: BoardSide) -> set[int]:
    board = side.board
    used = set(distinct(board.tracks.layer).tolist()) | set(distinct(board.zones.fill_layer).tolist())
    mask = int(np.bitwise_or.reduce(board.pads.layers, initial=np.uint64(0)))
    return used | {k for k in range(len(side.names)) if mask >> k & 1}


def _masks_and_outline(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    functions = {",".join(f.lower().split(",")[:2]) for file in files for f in file.functions}
    masks = [row.name for row in side.stackup.layers if row.kind is LayerKind.MASK] if side.stackup else []
    for name in masks:
        which = "top" if name.startswith("F") else "bot"
        if f"soldermask,{which}" not in functions:
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="layers",
                what=name,
                place="Gerber files",
                board="solder mask",
                sent="no Gerber file",
                consequence="the side is made without solder mask, or the job stops",
                fix=_EXPORT,
            )
    if side.board.outline.size_mm and not any(f.startswith("profile") for f in functions):
        yield ReleaseFinding(
            outcome=NOT_STATED,
            topic="outline",
            what="Edge.Cuts",
            board=_size_words(side.board.outline.size_mm),
            consequence="the fab cannot cut the board",
            fix="export Edge.Cuts with the Gerber files",
        )
    bare = [file.path for file in files if file.format is FabFormat.GERBER and not file.functions]
    if bare:
        yield ReleaseFinding(
            outcome=NOT_STATED,
            topic="layers",
            what=f"{len(bare)} Gerber files without X2 attributes",
            place=bare[0],
            consequence="which layer a file is rests on its name",
            fix="export with X2 attributes (KiCad's default; leave out --no-x2)",
        )


def outline_findings(side: BoardSide, sent: SentFile, line_mm: float | None) -> Iterator[ReleaseFinding]:
    """Return how one file's board size differs; `line_mm` is the width of the outline's line where it is known."""
    ours = side.board.outline.size_mm
    if sent.unread:
        yield ReleaseFinding(
            outcome=ReleaseOutcome.NOT_COMPARED,
            topic="outline",
            what="the file is there and not read",
            place=sent.path,
            board=_size_words(ours) if ours else "",
            consequence="the outline is not compared",
            fix=sent.unread.partition("; ")[2] or sent.unread,
        )
    if ours is None or sent.size_mm is None:
        return
    off = [theirs.value - mine for mine, theirs in zip(ours, sent.size_mm, strict=True)]
    line = 0.0
    if sent.size_has_line:
        grown = abs(off[0] - off[1]) <= OUTLINE_MM and -OUTLINE_MM <= off[0] <= LINE_MM
        line = line_mm if line_mm is not None else off[0] if grown else 0.0
    if any(abs(o - line) > OUTLINE_MM for o in off):
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="outline",
            what="board size",
            place=sent.size_mm[0].place,
            board=_size_words(ours),
            sent=_size_words(_values(sent.size_mm)),
            consequence="the board does not fit its housing, or is of another state",
            fix="export the outline again from the board that was checked",
        )


def _values(size: tuple[StatedNumber, StatedNumber]) -> tuple[float, float]:
    return size[0].value, size[1].value


def _size_words(size: tuple[float, float]) -> str:
    return " x ".join(number_words(round(side, 3)) for side in size) + " mm"


def job_findings(side: BoardSide, job: SentFile, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Return how a job file differs from the board, and from the files that it lists."""
    if job.layer_count and job.layer_count.value != len(side.names):
        words = f"{len(side.names)} copper layers", f"{number_words(job.layer_count.value)} copper layers"
        yield _layers(job.layer_count.place, *words, "the fab quotes and makes another board")
    sent = {re.split(r"[/:\\]", file.path)[-1] for file in files}
    for path, function in job.file_layers:
        if re.split(r"[/\\]", path)[-1] not in sent and function.startswith(("Copper", "Profile", "SolderMask")):
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="layers",
                what=function,
                place=job.path,
                board=path,
                sent="listed in the job file, not sent",
                consequence="the set is not complete",
                fix="send the folder as it was exported",
            )
    flag = side.stackup.impedance_controlled if side.stackup else None
    if flag is not None and job.is_controlled and (job.is_controlled.value == "yes") != flag:
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="impedance",
            what="impedance controlled",
            place=job.is_controlled.place,
            board="yes" if flag else "no",
            sent=job.is_controlled.value,
            consequence="the fab does not adjust or test line widths" if flag else "the fab charges for a test",
            fix="export the Gerber files again",
        )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())
