"""A check or a preview in a process of its own: it can be stopped, and its memory is given back.

Reads a job, a line of JSON, from standard input, whose end ends it. Writes lines of JSON to standard output: `doing`
while it works, then `done` with the result or `error`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from drc_rules.report.findings import Finding
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes
from stackup_lib.core.orphans import end_with_pipe
from stackup_lib.core.stopwatch import Stopwatch, measuring
from stackwright.run.limits import GARBAGE_EVERY
from stackwright.run.line_cache import using_line_cache
from stackwright.tables.grouping import groups
from stackwright.text.words import clean

MOST_MEMBERS = 100
"""As many as the page lists one by one."""


def main() -> int:
    """Do the job."""
    gc.set_threshold(*GARBAGE_EVERY)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    _load()
    line = sys.stdin.readline()
    if not line:  # there is no job any more
        return 0
    end_with_pipe(sys.stdin.fileno())
    job = json.loads(line)
    try:
        with using_line_cache(), measuring(Stopwatch(tell=lambda name: _say("doing", name))):
            _say("done", {"fix": _fix, "try": _try, "check": _check}[job["kind"]](job))
    except StackwrightError as error:
        _say("error", {"where": error.where, "what": error.what, "next_step": error.next_step})
        return 2
    return 0


def _load() -> None:
    """Import what every job needs, before there is one."""
    import shapely  # noqa: F401

    from drc_rules.rules.rule import all_rules
    from stackwright.commands.check.command import check_in_context  # noqa: F401

    all_rules()


def _say(kind: str, value: object) -> None:
    sys.stdout.write(json.dumps({kind: value}) + "\n")
    sys.stdout.flush()


def _check(job: Mapping[str, str]) -> dict[str, object]:
    from drc_rules.facts.declared import Overrides, stated_in, stated_workload
    from stackwright.commands.check.command import check_in_context
    from stackwright.commands.check.request import CheckRequest
    from stackwright.drawing.charts import delays_of
    from stackwright.kicad.form.checked import form_of
    from stackwright.kicad.link_items import link_items
    from stackwright.kicad.markers import markers_of
    from stackwright.kicad.report_file import write_report

    request = CheckRequest(Overrides(profile=job.get("profile") or None))
    outcome, _, checked = check_in_context(Path(job["board"]), request, live=read_board_bytes(Path(job["live"])))
    _say("doing", "report")
    charts = delays_of(checked)
    page = write_report(replace(outcome, charts=charts))
    report = outcome.report
    stated = stated_workload(checked.context.board, checked.context.declarations.config)
    return {
        "page": str(page),
        "headline": report.headline.value,
        "why": report.headline_why,
        "profile": report.profile,
        "stated": {"profile": stated.value or "", "source": stated_in(stated)},
        "findings": shown(report.findings),
        "links": link_items(checked.context.board, charts),
        "markers": [
            {"message": m.message, "is_warning": m.is_warning, "at_mm": m.at_mm, "items": m.items}
            for m in markers_of(report.findings)
        ],
        "form": form_of(checked),
    }


def shown(findings: Iterable[Finding]) -> dict[str, object]:
    """Return by its id in the page what each entry is about: a key that outlives edits, and items by member."""
    from stackwright.reporters.cards import card_id

    found: dict[str, object] = {}
    for group in groups(findings):
        members = [_about(finding) for finding in group.findings[:MOST_MEMBERS]]
        found[card_id(group)] = {"key": group.first.key, "members": members}
    return found


def _about(finding: Finding) -> dict[str, object]:
    places = finding.places
    layers = dict.fromkeys(place.layer for place in places if place.layer)
    items = list(dict.fromkeys(place.uuid for place in places if place.uuid))
    every = finding.every
    count = len(every.vias) + len(every.pads) + len(every.tracks) if every else 0
    return {
        "items": items,
        "more": max(0, count - len(items)),
        "layer": next(iter(layers)) if len(layers) == 1 else None,
        "title": clean(finding.title),
    }


def _try(job: Mapping[str, str]) -> dict[str, object]:
    from stackwright.kicad.form.checked import try_settings

    live = read_board_bytes(Path(job["live"]))
    return try_settings(Path(job["board"]), live, job["settings"], job.get("profile") or None)


def _fix(job: Mapping[str, str]) -> dict[str, object]:
    from stackwright.kicad.fixing import preview

    return preview(Path(job["board"]), Path(job["live"]), job.get("profile") or None, Path(job["plan"]))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the page is written and said: taking the board apart first would only keep the reader waiting
