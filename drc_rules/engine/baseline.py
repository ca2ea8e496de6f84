"""The baseline: findings that were there when the gate was put up. It is written once, and from then on only shrinks.

Findings are known by their structural keys, so moved lines, a new KiCad version and edits elsewhere change nothing.
"""

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from drc_rules.engine.suppressions import with_accepted
from drc_rules.report.findings import Finding
from drc_rules.report.known_findings import Accepted, Remembered
from drc_rules.report.model import Report
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.files.file_names import composed, place_of
from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.record import record

FILE_NAME = "stackwright-baseline.json"
REWRITE = "write it anew with `stackwright baseline`"


class Baseline(BaseModel):
    """The file: known findings by board, whose path is relative to the file's folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["stackwright-baseline"] = "stackwright-baseline"
    version: Literal[1] = 1
    boards: Mapping[str, tuple[Remembered, ...]] = {}

    def text(self) -> str:
        """Return the file's text: sorted, so that a diff shows what has gone."""
        boards = {
            name: [known.model_dump() for known in sorted(self.boards[name], key=lambda k: (k.code, k.title, k.key))]
            for name in sorted(self.boards)
        }
        data = {"format": self.format, "version": self.version, "boards": boards}
        return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def load_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        ConfigError: it cannot be read, or is no baseline.
    """
    try:
        found = Baseline.model_validate(json.loads(read_plain_text(path, "utf-8-sig")))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read ({error.strerror or 'error'})", REWRITE) from error
    except (ValidationError, ValueError, RecursionError) as error:
        fix = "name what `stackwright baseline` wrote; move a damaged one away before you write it anew"
        raise ConfigError(str(path), "is not a baseline of Stackwright", fix) from error
    boards: dict[str, tuple[Remembered, ...]] = {}
    for name, known in found.boards.items():
        boards[composed(name)] = (*boards.get(composed(name), ()), *known)
    return Baseline(boards=boards)


def board_name(board: Path, baseline: Path) -> str:
    """Return how a baseline calls a board on every system: its path relative to the folder of the baseline.

    A link to a board is a board of its own.
    """
    place = place_of(board)
    try:
        relative = os.path.relpath(place, baseline.resolve().parent)
    except ValueError:  # another drive
        return composed(place.as_posix())
    return composed(Path(relative).as_posix())


def gate(report: Report, known: Sequence[Remembered], *, reason: str = "in the baseline") -> Report:
    """Return the report with the known findings set apart as accepted, and those of them that are gone as fixed."""
    by_key = {one.key: one for one in known}
    accepted = [f for f in report.findings if f.key in by_key and by_key[f.key].covers(f)]
    keys = {one.key for one in accepted}
    baselined = [Accepted(finding=f, by="baseline", reason=reason) for f in accepted]
    return report.model_copy(
        update={
            "findings": tuple(_grown(f, by_key.get(f.key)) for f in report.findings if f.key not in keys),
            "accepted": (*report.accepted, *baselined),
            "fixed": tuple(one.plain() for one in _gone(known, report)),
            "headline_why": with_accepted(report, len(baselined)),
        }
    )


@record
class Rewritten:
    """A baseline after a look at the boards.

    Attributes:
        removed: known findings that are gone.
        missing: boards that are gone with their known findings, by name, with the number of these.
        refused: new findings, which are not added; empty when growing is allowed.
    """

    baseline: Baseline
    kept: int
    removed: tuple[Remembered, ...]
    refused: tuple[Finding, ...]
    missing: Mapping[str, int]


def rewrite(
    old: Baseline | None, reports: Mapping[str, Report], *, grow: bool, missing: Iterable[str] = ()
) -> Rewritten:
    """Return the baseline without what has gone; new findings come in only where there was none, or with `grow`.

    Args:
        old: the present baseline; None when there is none.
        reports: complete reports (not gated by a baseline) by the board's name; other boards stay as they are.
        grow: add new findings.
        missing: names of boards that are not there any more.
    """
    boards = dict(old.boards) if old else {}
    left = {name: len(boards.pop(name)) for name in missing if name in boards and name not in reports}
    removed: list[Remembered] = []
    refused: list[Finding] = []
    kept = 0
    for name, report in reports.items():
        before = boards.get(name, ())
        gone = _gone(before, report)
        staying = [_shrunk(one, report) for one in before if one not in gone]
        new = [f for f in report.findings if not any(one.covers(f) for one in staying)]
        added = new if grow or old is None else []
        keys = {one.key for one in added}
        staying = [one for one in staying if one.key not in keys]
        refused += [] if added else new
        removed += gone
        kept += len(staying) + len(added)
        boards[name] = (*staying, *_known(added))
    return Rewritten(Baseline(boards=boards), kept, tuple(removed), tuple(refused), left)


def missing_boards(known: Baseline, path: Path) -> tuple[str, ...]:
    """Return the names of a baseline's boards whose files are not there any more; `path` is the baseline's."""
    return tuple(name for name in known.boards if not _is_there(path.resolve().parent, name))


def _is_there(folder: Path, name: str) -> bool:
    """Tell whether a file exists, or cannot be looked up; `name` is composed, the disk's may be decomposed."""
    for form in ("NFC", "NFD"):
        try:
            (folder / unicodedata.normalize(form, name)).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return True
        return True
    return False


def _known(findings: Iterable[Finding]) -> list[Remembered]:
    return list({f.key: Remembered.of(f) for f in findings}.values())


def _grown(finding: Finding, known: Remembered | None) -> Finding:
    """Return a finding that is new, or is worse than the one that is known: then it says so."""
    if known is None:
        return finding
    return finding.model_copy(update={"why": ". ".join((finding.why, *known.grown_by(finding)))})


def _shrunk(known: Remembered, report: Report) -> Remembered:
    """Return a known finding as it is now where it is better, and with what an older baseline does not remember."""
    found = next((f for f in report.findings if f.key == known.key), None)
    if found is None:
        return known
    now = Remembered.of(found)
    alike = [one for one in (known, now) if one.measured is not None and one.unit == now.unit]
    nearest = min(alike, key=lambda one: _off(one.measured, found), default=now)
    severities = [one for one in (known.severity, now.severity) if one is not None]
    return known.model_copy(
        update={
            "members": min(known.members or now.members, now.members or known.members),
            "severity": min(severities, key=lambda one: one.rank),
            "measured": nearest.measured,
            "unit": nearest.unit,
        }
    )


def _off(value: float | None, finding: Finding) -> float:
    """Return how far a value is from the limit of a finding; 0 where either is not known."""
    return 0.0 if value is None or finding.numbers is None else abs(value - finding.numbers[1])


def _gone(known: Iterable[Remembered], report: Report) -> list[Remembered]:
    """Return the known findings that are gone; what could not be decided this time is not gone."""
    present = {f.key for f in report.findings} | {one.finding.key for one in report.accepted}
    undecided = {v.clause.id for v in report.verdicts if v.undecided}
    return [one for one in known if one.key not in present and one.clause not in undecided]
