"""Stackups to choose from, as columns next to the present one: what changes, what it costs, what it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.analysis.impedance.line_effects import changed, line_effects
from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.engine.board_diff import row_changes, row_pairs
from drc_rules.report.stackup_rows import Figure, RowFoil, StackupRow, StackupView
from drc_rules.stackup_design.goals import BoardProject
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.facts import Confidence, MissingFact, Origin
from stackup_lib.synthesis import CandidateRow, Evaluated
from stackup_lib.synthesis.candidates import Use
from stackup_lib.synthesis.evaluate import Evaluator
from stackwright.commands.suggest.compare import cost_words, fast_foil, foil_words, rank_words
from stackwright.commands.suggest.layers import layer_words, low_impedance_words, rerouted_words
from stackwright.commands.suggest.least import with_plan
from stackwright.commands.suggest.lines import line_words
from stackwright.commands.suggest.model import Suggested
from stackwright.commands.suggest.verdicts import count_of
from stackwright.commands.suggest.words import what_changes, what_stays
from stackwright.drawing import columns
from stackwright.results.stackup_choices import Count, SideBySide, StackupChoice
from stackwright.text.words import count

MOST = 4
"""Columns, the one that stands among them: more do not fit a page."""
MOST_CHANGES = 2
ROLES: dict[Use, LayerRole] = {
    "outer": LayerRole.SIGNAL,
    "ground": LayerRole.GROUND,
    "fast": LayerRole.SIGNAL,
    "signal": LayerRole.SIGNAL,
    "power": LayerRole.POWER,
}


def side_by_side(result: Suggested, project: BoardProject | None) -> SideBySide:
    """Lay answers out next to the board's own stackup, where there is a board.

    Args:
        result: the answers.
        project: the board that they are for.

    Raises:
        StackwrightError: the board cannot be read again.
    """
    profile, form = result.selection.profile, result.selection.form
    asked = (profile.title if profile else "any board") + (f", {form.title}" if form else "")
    choices: list[StackupChoice] = []
    if project is not None:
        view = stackup_view(project.context)
        choices.append(_now(result, project, view))
        choices += _changes(result, project, view)
    new = result.answers.ranked[: MOST - len(choices)]
    several = len(new) > 1
    for index, one in enumerate(new, start=1):
        title = f"New stackup {index}" if several else "New stackup"
        choices.append(replace(_new(one, result, title), pick=len(result.changes) + index))
    basis = next((one.cost.basis for one in result.entries), "")
    to_state = result.least.why_none.how if result.least.why_none else ""
    return SideBySide(asked, tuple(choices), tuple(_remarks(result)), to_state, basis)


def _now(result: Suggested, project: BoardProject, view: StackupView) -> StackupChoice:
    figures: tuple[tuple[str, str], ...] = (("thickness", _mm(view.thickness_mm)),)
    why: tuple[str, ...] = ()
    try:
        evaluated = Evaluator(result.found.goals).evaluate(candidate_of(project.context))
    except MissingFact:
        pass
    else:
        figures, why = tuple(_figures(evaluated, "")), evaluated.cost.drivers
    now = result.least.now
    return StackupChoice(
        "As it is",
        columns.plain(view.rows, now.faulty if now else frozenset()),
        says=tuple(_misses(result, now)) if now else (),
        figures=figures,
        checked=now,
        why=why,
    )


def _misses(result: Suggested, now: Count) -> Iterator[str]:
    for clause, title in zip(now.failed, result.selection.titles(now.failed), strict=True):
        yield f"{now.misses(clause)}: {title}"


def _changes(result: Suggested, project: BoardProject, view: StackupView) -> Iterator[StackupChoice]:
    before, board = project.context, result.board
    if board is None:
        return
    for index, one in enumerate(result.changes[:MOST_CHANGES]):
        after = with_plan(result.selection, one.plan, board, result.settings_path)
        then = stackup_view(after)
        different = frozenset(row.layer for row in row_changes(view, then) if row.kind == "changed")
        effects = line_effects(before, after)
        yield StackupChoice(
            "Least change" if index == 0 else "Another change",
            columns.paired(tuple(row_pairs(view, then)), different)[1],
            pick=index + 1,
            says=what_changes(one.words) or one.words,
            stays=what_stays(one.words),
            figures=tuple(_figures(one.result, cost_words(one.result, result))),
            checked=one.then,
            moved=changed(effects),
            solved=len(effects),
            why=one.result.cost.drivers,
        )


def _new(one: Evaluated, result: Suggested, title: str) -> StackupChoice:
    candidate = one.candidate
    layers = count(len(candidate.copper), "layer")
    kept = result.answers.keeps_layers
    laid_out = "" if result.board is None else " The layers stay." if kept else " The board is laid out anew."
    return StackupChoice(
        title,
        columns.plain([_row(row) for row in candidate.rows]),
        says=(
            f"{layers} of {' and '.join(candidate.laminates)}, {candidate.hdi_class}.{laid_out}",
            *filter(None, [rerouted_words(one), low_impedance_words(candidate, result.found.goals.least_width_mm)]),
        ),
        figures=tuple(_figures(one, cost_words(one, result))),
        checked=count_of(one, result),
        lines=tuple(line_words(one, result.found)),
        why=one.cost.drivers,
    )


def _row(row: CandidateRow) -> StackupRow:
    sheets = f"{row.plies} x " if row.plies > 1 else ""
    trusted = {"origin": Origin.CATALOGUE, "source": row.source, "confidence": Confidence.MEDIUM}
    return StackupRow(
        name=row.name,
        kind=row.kind,
        thickness_mm=row.thickness_mm,
        material=f"{sheets}{row.construction}",
        laminate=row.laminate or None,
        df_10ghz=None if row.df is None else Figure.model_validate({"value": row.df, **trusted}),
        copper_oz=None if row.copper_oz is None else Figure.model_validate({"value": row.copper_oz, **trusted}),
        foil=RowFoil(grade=row.foil, origin=Origin.INFERRED, source="as suggested") if row.foil else None,
        role=ROLES[row.use] if row.use else None,
    )


def _figures(one: Evaluated, cost: str) -> Iterator[tuple[str, str]]:
    yield "cost", f"{one.cost.index:.0f}" + (f", {cost}" if cost else "")
    loss = one.worst_loss_db_per_inch
    if loss:
        foil = fast_foil(one)
        yield "loss", f"{loss:.2f} dB/inch, typical" + (f", {foil} foil" if foil else "")
    yield "thickness", _mm(one.candidate.thickness_mm)
    yield "pressed", {0: "not", 1: "once"}.get(one.laminations, f"{one.laminations} times")
    yield "aspect", f"{one.aspect_ratio:.1f}:1"
    yield "backdrill", count(len(one.backdrilled), "layer") if one.backdrilled else "none"


def _mm(thickness_mm: float | None) -> str:
    return "not stated" if thickness_mm is None else f"{thickness_mm:.3f} mm"


def _remarks(result: Suggested) -> Iterator[str]:
    least = result.least
    if least.why_none:
        yield f"A change of the board's own stackup cannot be worked out: {least.why_none.what}."
    elif result.board and not least.changes:
        reasons = (*least.faults_now, *least.why_not)
        proven = "is proven to do while the copper foil is not declared" if least.undeclared else "will do"
        yield f"No small change of the board's own stackup {proven}" + (f": {reasons[0]}" if reasons else "")
    if least.partial:
        still_open = result.selection.titles(least.partial.still_open)
        then = f", still open: {'; '.join(still_open)}" if still_open else ""
        yield f"This helps and makes nothing worse: {'; '.join(least.partial.words)}{then}."
    if words := layer_words(result):
        yield f"{words[0].upper()}{words[1:]}"
    if ranked := rank_words(result):
        yield f"New stackups are {ranked}"
    if why_foil := foil_words(result):
        yield f"{why_foil[0].upper()}{why_foil[1:]}"
    answers = result.answers
    if not answers.ranked and answers.unreachable:
        yield f"No new stackup meets all goals: {answers.unreachable[0]}"
    if answers.fighting:
        these = "These goals cannot be met together" if len(answers.fighting) > 1 else "This goal cannot be met"
        yield f"{these}: {'; '.join(answers.fighting)}"
    yield from (f"It would help to ease {one.words}" for one in answers.relaxations)
