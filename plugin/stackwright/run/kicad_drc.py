"""Runs `kicad-cli pcb drc` on a copy of a board and reads its report. Nothing is written next to the board.

KiCad saves a `.kicad_prl` next to what it checks, so it is given a copy of the board, its project and its custom rules.
The zones stay as they are filled: that is what would be plotted.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from drc_rules.report.kicad_drc import SHOWN_TYPES, KicadCount, KicadDrc, KicadItem, KicadViolation
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.files.plain_file import read_board_bytes, read_plain
from stackup_lib.core.stopwatch import timed
from stackwright.run.programs import program
from stackwright.text.words import clean

KICAD_CLI = "kicad-cli"
TIMEOUT_S = 600.0
"""A board of 85 MB takes KiCad 40 s on an idle machine."""
COPIED = (".kicad_pro", ".kicad_dru")
OF_LIBRARIES = ("lib_footprint_issues", "lib_footprint_mismatch")
"""Types that compare with libraries: the copy has none next to it, so what KiCad says of them is left out."""
MOST_REPORT_BYTES = 256 * 1024 * 1024
"""A violation takes some 600 bytes; what is larger is no report."""
SAID = 200
"""Characters of what KiCad says that are passed on."""
INSTALL = "install KiCad 8 or newer and add the folder of its kicad-cli to PATH, or leave out --kicad-drc"

Severe: TypeAlias = Literal["error", "warning"]
_SEVERITIES: dict[str, Severe] = {"error": "error", "warning": "warning"}
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


class _UnreadableError(Exception):
    """KiCad's report is not one."""


def require_kicad_cli() -> str:
    """Return where kicad-cli lies, found by name on PATH.

    Raises:
        ConfigError: there is none.
    """
    found = program(KICAD_CLI)
    if found is None:
        raise ConfigError("--kicad-drc", f"{KICAD_CLI} is not on PATH", INSTALL)
    return found


@timed("KiCad DRC")
def kicad_drc(board: Path, *, timeout_s: float = TIMEOUT_S) -> KicadDrc:
    """Run KiCad's check on a board as it is saved; what goes wrong is part of the answer.

    Args:
        board: the `.kicad_pcb`.
        timeout_s: how long KiCad may take.

    Raises:
        ConfigError: there is no kicad-cli.
    """
    cli = require_kicad_cli()
    try:
        with tempfile.TemporaryDirectory(prefix="stackwright-drc-", ignore_cleanup_errors=True) as folder:
            copy, report = _copied(board, Path(folder)), Path(folder) / "drc.json"
            words = ["--format", "json", "--units", "mm", "--severity-all", "--output", str(report), str(copy)]
            code, said = _run([cli, "pcb", "drc", *words], Path(folder), timeout_s)
            if code is None:
                return _failed(f"{KICAD_CLI} did not finish in {timeout_s:g} s", board)
            if code or not report.is_file():
                return _failed(f"{KICAD_CLI} failed (exit code {code}{': ' if said else ''}{said})", board)
            return read_report(_content(report))
    except OSError as error:
        return _failed(f"{KICAD_CLI} could not be run ({error.strerror or error})", board)
    except _UnreadableError as error:
        return _failed(f"{KICAD_CLI} wrote a report that cannot be read ({error})", board)


def _failed(why: str, board: Path) -> KicadDrc:
    return KicadDrc(failed=clean(why), next_step=clean(f"run `{KICAD_CLI} pcb drc {board.name}` to see what it says"))


def _copied(board: Path, folder: Path) -> Path:
    copy = folder / board.name
    copy.write_bytes(read_board_bytes(board))
    for suffix in COPIED:
        other = board.with_suffix(suffix)
        if other.is_file():
            copy.with_suffix(suffix).write_bytes(read_plain(other))
    return copy


def _run(command: list[str], folder: Path, timeout_s: float) -> tuple[int | None, str]:
    """Return the exit code, None when time ran out, and the end of what was said.

    What it says goes to a file: a pipe would be kept open by programs that a killed one leaves behind.
    """
    said = folder / "said.txt"
    with said.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - KiCad's own program by its whole path, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=sys.platform != "win32",
        )
        try:
            code: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    lines = [
        line for line in read_plain(said, MOST_REPORT_BYTES).decode("utf-8", "replace").splitlines() if line.strip()
    ]
    return code, clean(lines[-1].strip()[:SAID]) if lines else ""


def _content(report: Path) -> bytes:
    try:
        return read_plain(report, MOST_REPORT_BYTES)
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End KiCad and what it started, where it is still running."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_report(content: bytes) -> KicadDrc:
    """Return what a report of KiCad says, in an order that does not change from run to run."""
    try:
        data: Json = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise _UnreadableError("it is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise _UnreadableError("it is not JSON") from None
    if not isinstance(data, dict) or data.get("coordinate_units") != "mm":
        raise _UnreadableError("it is no report in millimetres")
    shown, others, excluded = [], Counter[tuple[str, Severe]](), 0
    wanted = {name for names in SHOWN_TYPES.values() for name in names}
    for row in (*_rows(data, "violations"), *_rows(data, "unconnected_items")):
        severity, kind = _SEVERITIES.get(_text(row, "severity")), _text(row, "type")
        if row.get("excluded") is True:
            excluded += 1
        elif severity is not None and kind in wanted:
            shown.append(_violation(row, kind, severity))
        elif severity is not None and kind not in OF_LIBRARIES:
            others[kind, severity] += 1
    return KicadDrc(
        kicad=_text(data, "kicad_version"),
        violations=tuple(sorted(shown, key=_order)),
        others=tuple(KicadCount(type=t, severity=s, count=n) for (t, s), n in sorted(others.items())),
        excluded=excluded,
    )


def _order(one: KicadViolation) -> tuple[object, ...]:
    place = next(((item.y_mm, item.x_mm) for item in one.items), (0.0, 0.0))
    return one.severity != "error", one.type, *place, one.description


def _violation(row: Mapping[str, Json], kind: str, severity: Severe) -> KicadViolation:
    items = sorted(map(_item, _rows(row, "items")), key=lambda item: (item.y_mm, item.x_mm, item.description))
    return KicadViolation(type=kind, description=_text(row, "description"), severity=severity, items=tuple(items))


def _item(row: Mapping[str, Json]) -> KicadItem:
    at = row.get("pos")
    x, y = (at.get("x"), at.get("y")) if isinstance(at, dict) else (None, None)
    return KicadItem(
        description=_text(row, "description"), uuid=_text(row, "uuid"), x_mm=_length_mm(x), y_mm=_length_mm(y)
    )


def _rows(holder: Mapping[str, Json], key: str) -> Iterator[dict[str, Json]]:
    found = holder.get(key)
    if not isinstance(found, list):
        raise _UnreadableError(f"{key} is no list")
    for row in found:
        if not isinstance(row, dict):
            raise _UnreadableError(f"{key} holds what is no violation")
        yield row


def _text(holder: Mapping[str, Json], key: str) -> str:
    found = holder.get(key)
    if not isinstance(found, str):
        raise _UnreadableError(f"{key} is no text")
    return clean(found)


def _length_mm(found: Json) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise _UnreadableError("a position is no number")
    return float(found)
