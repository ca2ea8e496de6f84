"""The report for GitLab's Code Quality: shown in a merge request where it differs from the target branch.

The fields are those GitLab documents under "Code Quality report format"; it tells findings apart by `fingerprint`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from stackwright.reporters.entries import Entry, Level, entries
from stackwright.results.checked import Checked, Unchecked
from stackwright.text.words import clean

SEVERITIES = {
    Level.BROKEN: "blocker",
    Level.ERROR: "critical",
    Level.WARNING: "major",
    Level.NOT_PROVEN: "minor",
    Level.INFO: "info",
}


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return the JSON text; same boards and settings give the same bytes."""
    return json.dumps([_issue(entry) for entry in entries(outcomes)], indent=2) + "\n"


def _issue(entry: Entry) -> dict[str, object]:
    return {
        "description": clean(f"{entry.title}. {entry.text}"),
        "check_name": entry.code or "stackwright",
        "fingerprint": _digest(f"{entry.path}\0{entry.key}"),
        "severity": SEVERITIES[entry.level],
        "location": {"path": clean(entry.path), "lines": {"begin": entry.line}},
    }


def _digest(text: str) -> str:
    """A name on the disk may be no text in any encoding."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
