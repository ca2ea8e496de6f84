"""From findings to markers in KiCad's DRC window, and back: ours are remembered and removed before the next run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.record import record
from stackwright.kicad.open_board import Canvas, Marker
from stackwright.text.output import OutputError, write_file
from stackwright.text.words import clean, count

if TYPE_CHECKING:
    from drc_rules.report.findings import Finding

MOST = 200
"""Markers set at most: a DRC window with more is unreadable, and each is one step of undo."""

MEMORY = "markers.json"


def markers_of(findings: Iterable[Finding], most: int = MOST) -> list[Marker]:
    """Return a marker for each error and warning, errors first; the last one counts those beyond `most`.

    Informations get none: KiCad knows errors and warnings, and would make errors of them.
    """
    from drc_rules.requirements.clauses import Severity

    shown = sorted((f for f in findings if f.severity is not Severity.INFO), key=lambda f: -f.severity.rank)
    if len(shown) <= most:
        return [_marker(finding) for finding in shown]
    kept = [_marker(finding) for finding in shown[: most - 1]]
    left_out = count(len(shown) - len(kept), "more finding")
    return [*kept, Marker(f"Stackwright: {left_out} without a marker; the report has all", is_warning=True)]


def _marker(finding: Finding) -> Marker:
    from drc_rules.requirements.clauses import Severity

    positions = [(p.x_mm, p.y_mm) for p in finding.places if p.x_mm is not None and p.y_mm is not None]
    return Marker(
        message=clean(f"{finding.code} {finding.title}"),
        is_warning=finding.severity is Severity.WARNING,
        at_mm=positions[0] if positions else None,
        items=tuple(dict.fromkeys(place.uuid for place in finding.places if place.uuid)),
    )


def replace(canvas: Canvas, board: Path, markers: Sequence[Marker], folder: Path) -> None:
    """Remove the markers of the last run on this board, add the new ones, and remember those in the folder.

    KiCad can neither list markers nor tell whose they are. Each id is remembered even when a later one fails. Where a
    second click was quicker than this one, its markers go.

    Raises:
        KicadError: KiCad is busy or silent.
        OutputError: the folder cannot be written; the markers are then removed again.
    """
    memory = _Memory(folder / MEMORY)
    old = memory.ids(board)
    canvas.remove(old)
    added: list[str] = []
    try:
        corner = canvas.corner_mm() if any(marker.at_mm is None for marker in markers) else (0.0, 0.0)
        for marker in markers:
            added.append(canvas.add(marker, corner))
    finally:
        try:
            canvas.remove([one for one in memory.ids(board) if one not in old])
            memory.keep(board, added)
        except Exception:
            canvas.remove(added)
            raise


@record
class _Memory:
    """Ids of the markers that were set last, by board."""

    path: Path

    def ids(self, board: Path) -> list[str]:
        return self._boards().get(str(board), [])

    def keep(self, board: Path, ids: Sequence[str]) -> None:
        boards = {**self._boards(), str(board): list(ids)}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                str(self.path.parent), f"cannot be made ({error.strerror})", "make it writable"
            ) from error
        write_file(self.path, json.dumps({name: kept for name, kept in boards.items() if kept}, indent=1) + "\n")

    def _boards(self) -> dict[str, list[str]]:
        """What was remembered; a file that is absent or damaged is no reason to refuse."""
        try:
            read = json.loads(read_plain_text(self.path))
        except (OSError, ValueError):
            return {}
        rows = read.items() if isinstance(read, dict) else ()
        return {name: [i for i in ids if isinstance(i, str)] for name, ids in rows if isinstance(ids, list)}
