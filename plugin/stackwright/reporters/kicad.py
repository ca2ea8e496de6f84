"""The report in the form of `kicad-cli pcb drc --format json`, for what already reads KiCad's own.

KiCad's schema (drc.v1.json) knows errors and warnings, and `ignore` for what is to be left alone: information. A demand
of severity error that could not be decided is a warning, so that the file never looks like a clean one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from drc_rules.report.findings import Finding, Location
from stackup_lib.core.errors import StackwrightError
from stackwright.reporters.entries import Entry, Level, entries
from stackwright.results.checked import Checked, Unchecked
from stackwright.run.run_date import run_date
from stackwright.text.words import clean

KICAD_VERSION = "10.0"
"""The KiCad whose report this follows; none was run."""
SEVERITIES = {
    Level.BROKEN: "error",
    Level.ERROR: "error",
    Level.WARNING: "warning",
    Level.NOT_PROVEN: "warning",
    Level.INFO: "ignore",
}
NO_UUID = "00000000-0000-0000-0000-000000000000"
"""What KiCad itself writes for an item that is none."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return the JSON text of one board; the date in it is that of the run, or `SOURCE_DATE_EPOCH`.

    Raises:
        StackwrightError: the format holds one board that was checked, and this is none.
    """
    if len(outcomes) != 1 or not isinstance(outcomes[0], Checked):
        step = "check the boards one by one, or use --format json"
        raise StackwrightError("--format kicad", "holds one board that was checked", step)
    report = outcomes[0].report
    by_key = {finding.key: finding for finding in report.findings}
    data = {
        "source": clean(report.board.path),
        "date": run_date().isoformat(),
        "kicad_version": KICAD_VERSION,
        "coordinate_units": "mm",
        "violations": [_violation(entry, by_key.get(entry.key)) for entry in entries(outcomes)],
        "unconnected_items": [],
        "schematic_parity": [],
    }
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _violation(entry: Entry, finding: Finding | None) -> dict[str, object]:
    return {
        "type": f"stackwright_{entry.code or 'check'}",
        "description": clean(f"{entry.title}. {entry.text}"),
        "severity": SEVERITIES[entry.level],
        "items": [_item(place) for place in (finding.places if finding else ())],
    }


def _item(place: Location) -> dict[str, object]:
    words = [f"{kind} {name}" for kind, name in (("net", place.net), ("layer", place.layer)) if name]
    return {
        "uuid": place.uuid if place.uuid and _UUID.fullmatch(place.uuid) else NO_UUID,
        "description": clean(" on ".join(words) or "the board"),
        "pos": {"x": place.x_mm or 0.0, "y": place.y_mm or 0.0},
    }
