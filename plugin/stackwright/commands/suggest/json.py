"""The answers of `stackwright suggest` for machines; their schema: `fixtures/schemas/suggestion-v1.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from drc_rules.cam.item import CamItem
from drc_rules.cam.report import cam_report
from stackup_lib.core.interval import Interval
from stackup_lib.synthesis import CandidateRow, Evaluated, LineResult
from stackup_lib.synthesis.cost import cost_word, more_pct
from stackwright.commands.suggest.compare import cheapest
from stackwright.commands.suggest.layers import layer_words

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested

FORMAT, VERSION = "stackwright-suggestion", 1


def json_text(result: Suggested) -> str:
    """Return the answers as JSON; equal inputs give equal text."""
    profile, form, answers = result.selection.profile, result.selection.form, result.answers
    changes = [
        {"words": list(one.words), "check_then": {"failed": list(one.then.failed), "passed": one.then.passed}}
        for one in result.changes
    ]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "profile": profile.name if profile else None,
        "form": form.name if form else None,
        "interfaces": list(result.selection.interfaces),
        "board": result.board.as_posix() if result.board else None,
        "goals": [
            {"goal": r.goal, "value": r.value, "origin": r.origin.value, "source": r.source}
            for r in result.found.reasons
        ],
        "changes": changes,
        "why_no_change": str(result.least.why_none or ""),
        "partial_change": _partial(result),
        "other_ways": list(result.least.other_ways),
        "keeps_layers": answers.keeps_layers,
        "layers": layer_words(result),
        "answers": [_answer(one, result) for one in result.entries],
        "lost": [{"reason": group.reason, "names": list(group.names)} for group in answers.lost_groups],
        "unreachable": list(answers.unreachable),
        "fighting": list(answers.fighting),
        "relaxations": [
            {"goal": one.goal, "words": one.words, "result": _answer(one.result, result)} for one in answers.relaxations
        ],
        "nearest": _answer(answers.nearest, result) if answers.nearest else None,
    }
    return json.dumps(content, indent=2) + "\n"


def _partial(result: Suggested) -> dict[str, object] | None:
    one = result.least.partial
    if one is None:
        return None
    then = {"failed": list(one.then.failed), "passed": one.then.passed}
    return {"words": list(one.words), "check_then": then, "still_open": list(one.still_open)}


def _answer(one: Evaluated, result: Suggested) -> dict[str, object]:
    candidate, least = one.candidate, cheapest(result)
    return {
        "name": candidate.name,
        "laminates": list(candidate.laminates),
        "layers": len(candidate.copper),
        "hdi_class": candidate.hdi_class,
        "thickness_mm": candidate.thickness_mm,
        "loss_db_per_inch": round(one.worst_loss_db_per_inch, 4) or None,
        "margin_db": one.least_margin_db,
        "cost": {
            "index": one.cost.index,
            "tier": cost_word(one.cost.index, least),
            "more_pct": more_pct(one.cost.index, least),
            "drivers": list(one.cost.drivers),
        },
        "laminations": one.laminations,
        "aspect_ratio": one.aspect_ratio,
        "routed_sizes_out": one.rerouted,
        "backdrilled": list(one.backdrilled),
        "faults": list(one.faults),
        "rows": [_row(row) for row in candidate.rows],
        "lines": [_line(line, result) for line in one.lines],
        "clauses": [{"id": clause, "met": met, "words": words} for clause, met, words in one.clauses],
        "cam": [_cam(item) for item in cam_report(one, result.found.goals, result.selection.form, result.found.fab)],
    }


def _cam(item: CamItem) -> dict[str, object]:
    return {
        "topic": item.topic,
        "where": list(item.where),
        "figure": item.figure,
        "limit": item.limit or None,
        "answer": item.answer,
        "source": item.source or None,
    }


def _row(row: CandidateRow) -> dict[str, object]:
    return {
        "kind": row.kind.value,
        "name": row.name,
        "use": row.use,
        "thickness_mm": row.thickness_mm,
        "material": row.construction or None,
        "laminate": row.laminate or None,
        "plies": row.plies,
        "dk": row.dk,
        "dk_ghz": row.dk_ghz if row.dk is not None else None,
        "df": row.df,
        "df_ghz": row.df_ghz if row.df is not None else None,
        "copper_oz": row.copper_oz,
        "foil": row.foil or None,
        "source": row.source or None,
    }


def _line(line: LineResult, result: Suggested) -> dict[str, object]:
    return {
        "goal": line.goal,
        "interface": result.found.interfaces.get(line.goal),
        "layer": line.layer,
        "width_mm": line.width_mm,
        "gap_mm": line.gap_mm,
        "impedance_ohm": _span(line.impedance_ohm),
        "loss_db_per_inch": _span(line.loss_db_per_inch) if line.loss_db_per_inch else None,
        "longest_legal_mm": round(line.longest_legal_mm, 1) if line.longest_legal_mm else None,
    }


def _span(interval: Interval) -> dict[str, float]:
    return {
        "low": round(interval.low, 4),
        "nominal": round(interval.nominal, 4),
        "high": round(interval.high, 4),
    }
