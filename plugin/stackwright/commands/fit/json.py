"""What `stackwright fit` finds, as JSON; its schema is published as `fixtures/schemas/fitness-v1.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from drc_rules.stackup_design.fitness import Fitness, FitnessReport
from stackwright import __version__
from stackwright.commands.fit.changes import Way
from stackwright.commands.fit.words import step
from stackwright.run.data_digest import data_digest

FORMAT, VERSION = "stackwright-fitness", 1


def json_text(report: FitnessReport, ways: Mapping[str, Way]) -> str:
    """Return the JSON text; same board and settings give the same bytes."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "board": report.board.model_dump(mode="json", exclude={"lines", "sha256"}),
        "workloads": [_row(row, ways.get(row.profile)) for row in report.rows],
        "forms": [{"name": form.name, "title": form.title, "not_met": list(form.failed)} for form in report.forms],
        "notes": list(report.notes),
        "crashes": [crash.model_dump(mode="json") for crash in report.crashes],
        "provenance": {
            "stackwright": __version__,
            "board_sha256": report.board.sha256,
            "data_sha256": data_digest(),
        },
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _row(row: Fitness, way: Way | None) -> dict[str, object]:
    return {
        "profile": row.profile,
        "title": row.title,
        "declared": row.is_declared,
        "form": row.form,
        "form_origin": row.form_origin.value,
        "headline": row.headline.value,
        "why": row.why,
        "short": [{"step": step(one), **one.model_dump(mode="json")} for one in row.short],
        "unproven": list(row.unproven),
        "open": [one.model_dump(mode="json") for one in row.open],
        "passed": row.passed,
        "without_rule": row.without_rule,
        "coverage": {**row.coverage.model_dump(mode="json"), "percent": round(row.coverage.percent, 2)},
        "taken_as": [one.model_dump(mode="json") for one in row.taken_as],
        "way": way.model_dump(mode="json", exclude={"still_fails"}) if way else None,
    }
