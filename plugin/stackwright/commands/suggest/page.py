"""The page of `stackwright suggest`: the answers, the first drawn as rows, what it rests on, why others lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from drc_rules.cam.report import cam_report
from drc_rules.stackup_design.goals import From
from drc_rules.stackup_design.goals_judge import NOT_VERIFIABLE
from drc_rules.stackup_design.routed_fit import unsought_words
from stackup_lib.core.words import listed
from stackup_lib.synthesis import CandidateRow, CandidateStackup, Evaluated, RejectedGroup
from stackwright.commands.suggest.compare import cost_words, differs_in_foil, fast_foil, foil_words, rank_words
from stackwright.commands.suggest.layers import layer_words, low_impedance_words
from stackwright.commands.suggest.least import PARTIAL
from stackwright.commands.suggest.lines import line_words
from stackwright.commands.suggest.verdicts import count_of, judged
from stackwright.tables.fab_questions import question_rows
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, number, some

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested, SuggestRequest
    from stackwright.results.stackup_choices import Count

PLAN = "stackup.stackwright-plan.toml"
"""The file of a plan where the user names none."""

REJECTED_SHOWN = 8
CHANGES_SHOWN = 3
REASONS = 3
"""Why nothing was reached, before the list becomes too long to read."""

CARRIES_WORDS = {
    "outer": "components",
    "ground": "ground plane",
    "fast": "high-speed signals",
    "signal": "signals",
    "power": "power",
}


def page_of(result: Suggested, request: SuggestRequest) -> Page:
    """Lay the answers out for the terminal; `-v` adds what they rest on, why others lost and what costs."""
    page, verbose = Page(), request.verbose
    _title(page, result)
    _changes(page, result, request)
    if not result.entries:
        _unreachable(page, result)
        _goals(page, result, verbose=verbose)
        return page
    _answers(page, result)
    if words := layer_words(result):
        page.line(words, indent=2)
    chosen = min(max(request.pick, 1), len(result.entries))
    one = result.entries[chosen - 1]
    _stackup(page, one, chosen, verbose=verbose)
    if words := low_impedance_words(one.candidate, result.found.goals.least_width_mm):
        page.line(styled(words, "yellow"), indent=2)
    _lines(page, one, result)
    if chosen <= len(result.changes) or result.answers.keeps_layers:
        _unsought(page, one, result, verbose=verbose)
    _requirements(page, one, result, is_told=chosen <= len(result.changes), verbose=verbose)
    _fab_questions(page, one, result, verbose=verbose)
    if verbose:
        _lost(page, result.answers.lost_groups)
    _goals(page, result, verbose=verbose)
    _next(page, result, request, chosen)
    return page


def _title(page: Page, result: Suggested) -> None:
    profile, form = result.selection.profile, result.selection.form
    what = profile.title if profile else "any board"
    where = f", {form.title}" if form else ""
    page.line(styled("Stackups", "bold"), f"  for {what}{where}")
    if not (answers := len(result.entries)):
        return
    counts = [count_of(one, result) for one in result.entries]
    met = sum(len(one.failed) == len(one.remarks) and not one.not_verifiable for one in counts)
    if answers == 1:
        order = ", a change of the board's own stackup" if result.changes else ""
        who = "it meets" if met else "it does not meet all"
    else:
        order = ", changes of the board's own stackup first" if result.changes else ", best first"
        some_meet = f"{met or 'none'} of them {'meet' if met > 1 else 'meets'} all"
        who = "all meet" if met == answers else some_meet
    short = [str(number) for number, one in enumerate(result.changes, start=1) if one.then.failed]
    with_it = "it" if answers == 1 else f"answer{'' if len(short) == 1 else 's'} {listed(short)}"
    more = f"; with {with_it} the board still misses others" if short else ""
    more += _rerouted(result)
    noted = sum(bool(one.remarks) for one in counts)
    with_remark = "" if not noted else ", with a remark" if noted == answers else f", {noted} with a remark"
    page.line(f"{count(answers, 'answer')}{order}; {who} the requirements on the stackup{with_remark}{more}", indent=2)


def _rerouted(result: Suggested) -> str:
    """Return with which answers routed lines are out of their tolerance; "" where none does."""
    moving = [str(number) for number, one in enumerate(result.entries, start=1) if one.rerouted]
    if not moving:
        return ""
    which = "it" if len(result.entries) == 1 else f"answer{'' if len(moving) == 1 else 's'} {listed(moving)}"
    return f"; with {which} routed lines are outside their tolerance"


def _changes(page: Page, result: Suggested, request: SuggestRequest) -> None:
    if result.board is None:
        return
    page.heading("least change", result.board.name)
    least = result.least
    if least.now:
        _checked(page, "stackup now", least.now, result, indent=2)
    if least.why_none:
        page.line(styled(f"cannot be worked out: {least.why_none}", "yellow"), indent=2)
        _partial(page, result, request)
        return
    for index, one in enumerate(result.changes, start=1):
        page.line(styled(f"{index}  ", "bold"), "; ".join(one.words), indent=2)
        _checked(page, "stackup then", one.then, result, indent=5)
    _partial(page, result, request)
    if not result.changes:
        if least.undeclared:
            page.line("no small change is proven to do; declare this, then ask again:", indent=2)
            page.verbatim([styled(line, "cyan") for line in least.undeclared.splitlines()], 4)
        page.line("what each change lacks:" if least.undeclared else "no small change will do:", indent=2)
        reasons = list(dict.fromkeys((*least.faults_now, *least.why_not)))
        shown = reasons if request.verbose else reasons[:CHANGES_SHOWN]
        for why in shown:
            page.line(why, indent=4)
        if len(reasons) > len(shown):
            page.line(styled(f"{len(reasons) - len(shown)} more: -v", "dim"), indent=4)


def _checked(page: Page, when: str, checked: Count, result: Suggested, indent: int) -> None:
    page.line(f"{when}: {checked.describe}", indent=indent)
    for clause, title in zip(checked.failed, result.selection.titles(checked.failed), strict=True):
        page.line(styled(f"{checked.misses(clause)}: {title}", "yellow"), indent=indent)


def _partial(page: Page, result: Suggested, request: SuggestRequest) -> None:
    """Show what helps and is not enough, and what helps where the layout follows."""
    for way in result.least.other_ways:
        page.line(f"or lay out anew: {way}", indent=2)
    partial = result.least.partial
    if partial is None:
        return
    page.line("helps, and makes nothing worse:", indent=2)
    for words in partial.words:
        page.line(words, indent=4)
    page.line(f"stackup then: {partial.then.describe}", indent=5)
    if partial.still_open:
        open_ones = result.selection.titles(partial.still_open)
        page.line(styled(f"still open: {'; '.join(open_ones)}", "yellow"), indent=5)
    if partial.plan.rows and request.plan is None:
        page.line("its plan:", indent=5)
        page.verbatim([request.again("--pick", f"{PARTIAL}", "--plan", PLAN)], 7)


def _answers(page: Page, result: Suggested) -> None:
    margins = [one.least_margin_db for one in result.entries]
    laminations = sorted({one.laminations for one in result.entries})
    alike = f"; {count(laminations[0], 'lamination')}" if len(laminations) == 1 else ""
    margin_words = "" if all(margin is None for margin in margins) else "; margin at the highest loss"
    has_loss = any(one.worst_loss_db_per_inch for one in result.entries)
    loss_words = "loss at the highest Nyquist frequency, typical" if has_loss else ""
    cost = "; cost against the cheapest" if len(result.entries) > 1 else ""
    page.heading("answers", f"{loss_words}{margin_words}{cost}{alike}".removeprefix("; "))
    right, wraps = Column(right=True), Column(wraps=True)
    columns = {
        "": right,
        "laminates": wraps,
        "foil": Column(),
        "dB/inch": right,
        "margin dB": right,
        "cost": wraps,
        "mm": right,
    }
    columns |= {"laminations": right, "aspect": right, "backdrill": Column()}
    if alike:
        del columns["laminations"]
    if not differs_in_foil(result):
        del columns["foil"]
    if not cost:
        del columns["cost"]
    if not has_loss:
        del columns["dB/inch"]
    if all(margin is None for margin in margins):
        del columns["margin dB"]
    rows: list[list[str | Text]] = []
    for index, (one, margin) in enumerate(zip(result.entries, margins, strict=True), start=1):
        loss = one.worst_loss_db_per_inch
        cells: dict[str, str | Text] = {
            "": styled(f"{index}", "bold"),
            "laminates": " + ".join(one.candidate.laminates),
            "foil": fast_foil(one) or "any",
            "dB/inch": f"{loss:.2f}" if loss else "-",
            "margin dB": "-" if margin is None else f"{margin:.2f}",
            "cost": cost_words(one, result),
            "mm": f"{one.candidate.thickness_mm:.2f}",
            "laminations": f"{one.laminations}",
            "aspect": f"{one.aspect_ratio:.1f}",
            "backdrill": count(len(one.backdrilled), "layer") if one.backdrilled else "none",
        }
        rows.append([cells[name] for name in columns])
    page.rows(list(columns.values()), rows, head=list(columns))
    for words in filter(None, (rank_words(result), foil_words(result))):
        page.line(styled(words, "dim"), indent=2)


def _stackup(page: Page, one: Evaluated, index: int, *, verbose: bool) -> None:
    page.heading(f"stackup {index}", f"{one.candidate.thickness_mm:.3f} mm, {one.candidate.hdi_class}")
    head = ("layer", "kind", "mm", "material or use", "Dk", "oz or Df", "foil")
    columns = [Column(), Column(), Column(right=True), Column(wraps=True), Column(), Column(), Column()]
    page.rows(columns, [_cells(row) for row in one.candidate.rows], head=head)
    page.line(styled(_frequencies(one.candidate), "dim"), indent=2)
    if verbose:
        page.line(f"cost {one.cost.index:.0f}: {', '.join(one.cost.drivers)}", indent=2)
        page.line(styled(f"({one.cost.basis})", "dim"), indent=2)
    if one.backdrilled:
        page.line(f"backdrill vias that end on {', '.join(one.backdrilled)}", indent=2)


def _cells(row: CandidateRow) -> tuple[str | Text, ...]:
    thickness = f"{row.thickness_mm:.4f}".rstrip("0").rstrip(".")
    if row.use is not None:
        return (
            styled(row.name, "bold"),
            "copper",
            thickness,
            CARRIES_WORDS[row.use],
            "",
            f"{row.copper_oz:g} oz" if row.copper_oz else "",
            row.foil,
        )
    if not row.is_dielectric:
        return row.name or "mask", row.kind.value, thickness, "", _dk(row), "", ""
    sheets = f"{row.plies} x " if row.plies > 1 else ""
    df = f"{row.df:.4f}" if row.df is not None else "?"
    return row.name, row.kind.value, thickness, f"{sheets}{row.construction}", _dk(row), df, ""


def _dk(row: CandidateRow) -> str:
    return "?" if row.dk is None else f"{row.dk:.2f}"


def _frequencies(candidate: CandidateStackup) -> str:
    """At what frequencies Dk and Df of the rows hold; a fab asks."""
    dk = sorted({row.dk_ghz for row in candidate.dielectrics})
    df = sorted({row.df_ghz for row in candidate.dielectrics})
    at_dk, at_df = (" and ".join(f"{ghz:g}" for ghz in found) for found in (dk, df))
    return f"Dk at {at_dk} GHz, by which widths are solved; Df at {at_df} GHz"


def _lines(page: Page, one: Evaluated, result: Suggested) -> None:
    if not one.lines:
        return
    page.heading("lines", "width/gap in mm; loss from low to high over tolerances, at Nyquist")
    for line in line_words(one, result.found):
        page.line(styled(f"{line.size}  ", "bold"), f"{line.goal} on {', '.join(line.layers)}", indent=2)
        loss = f"{line.loss} dB/inch" if line.loss else ""
        page.line(", ".join(part for part in (f"{line.ohm} ohm", loss, line.legal) if part), indent=4)


def _unsought(page: Page, one: Evaluated, result: Suggested, *, verbose: bool) -> None:
    """Say what becomes of routed lines that the search had no goal for; a layer that moves has no lines to compare."""
    found = unsought_words(one.candidate, result.unsought)
    if not found:
        return
    lost = sum(not fits for _, fits in found)
    more = "" if verbose or lost == len(found) else f"; -v lists {'the others' if lost else 'them'}"
    kept = f"{lost} of {count(len(found), 'size')} {'is' if lost == 1 else 'are'} outside the tolerance" if lost else ""
    page.heading("other routed lines", (kept or f"{count(len(found), 'size')} within the tolerance") + more)
    for words, fits in found:
        if verbose or not fits:
            page.line(words if fits else styled(words, "yellow"), indent=2)


def _requirements(page: Page, one: Evaluated, result: Suggested, *, is_told: bool, verbose: bool) -> None:
    """Count the requirements met, and name the others; `is_told` where `stackup then` has counted them."""
    clauses, counted = judged(one, result), count_of(one, result)
    if not clauses or (is_told and counted.passed == len(clauses) and not verbose):
        return
    page.heading("requirements", f"{counted.passed} of {len(clauses)} met")
    for clause, is_met, words in clauses:
        (title,) = result.selection.titles([clause])
        if not is_met:
            label = "remark, not met" if clause in counted.remarks else "not met"
            said = words if words.startswith(NOT_VERIFIABLE) else f"{label}: {words}"
            page.line(styled(f"{title}: {said}", "yellow"), indent=2)
        elif verbose:
            page.line(title, indent=2)
    page.line(styled("routing, vias, losses of real links and power are for `stackwright check`", "dim"), indent=2)


def _fab_questions(page: Page, one: Evaluated, result: Suggested, *, verbose: bool) -> None:
    items = cam_report(one, result.found.goals, result.selection.form, result.found.fab)
    asked = [item for item in items if item.asks]
    usual = f"{count(len(items) - len(asked), 'other')} within usual limits: --format html or json lists them"
    page.heading("fab questions", usual if verbose or not asked else f"{len(asked)}; -v adds what is usual")
    page.rows(*question_rows(asked, verbose=verbose))
    if not asked:
        page.line("none: all values are within what fabs build as usual", indent=2)


def _lost(page: Page, groups: tuple[RejectedGroup, ...]) -> None:
    if not groups:
        return
    page.heading("why others lost")
    for group in groups[:REJECTED_SHOWN]:
        names = dict.fromkeys(laminates_of(name) for name in group.names)
        page.line(f"{group.reason}: {some(names, 4)}", indent=2)
    if len(groups) > REJECTED_SHOWN:
        page.line(styled(f"and {len(groups) - REJECTED_SHOWN} more reasons: --format json has all", "dim"), indent=2)


def laminates_of(name: str) -> str:
    """Return the laminates of a candidate's name; a laminate's own name stays."""
    found = re.fullmatch(r"\d+ layers \S+?(?:,| of) (.+)", name)
    return found[1] if found else name


def _goals(page: Page, result: Suggested, *, verbose: bool) -> None:
    stated = [reason for reason in result.found.reasons if reason.origin is not From.ASSUMPTION]
    assumed = [reason for reason in result.found.reasons if reason.origin is From.ASSUMPTION]
    if not verbose:
        page.heading("goals", f"{len(stated)} stated, {len(assumed)} assumed; -v lists them with their sources")
        if assumed:
            page.line(f"assumed: {'; '.join(f'{reason.goal} {reason.value}' for reason in assumed)}", indent=2)
        return
    for title, about, reasons in (
        ("goals and where they come from", "", stated),
        ("assumed", "no document, board or option states these", assumed),
    ):
        if reasons:
            page.heading(title, about)
            rows = [(reason.goal, reason.value, styled(reason.source, "dim")) for reason in reasons]
            page.rows([Column(max_width=22), Column(max_width=34), Column(wraps=True)], rows)


def _unreachable(page: Page, result: Suggested) -> None:
    answers = result.answers
    page.heading("no stackup meets these goals")
    for why in answers.unreachable[:REASONS]:
        page.line(styled(why, "yellow"), indent=2)
    if len(answers.unreachable) > REASONS:
        page.line(f"and {len(answers.unreachable) - REASONS} similar; --format json lists them", indent=2)
    if answers.fighting:
        page.heading(*conflict_words(answers.fighting))
        for goal in answers.fighting:
            page.line(goal, indent=2)
    if answers.relaxations:
        page.heading("what would help", "one at a time")
        rows = [(one.words, _short(one.result)) for one in answers.relaxations]
        page.rows([Column(wraps=True), Column(wraps=True)], rows)
    if answers.no_use:
        page.line(styled(f"easing one of these alone does not help: {', '.join(answers.no_use)}", "dim"), indent=2)
    if answers.nearest is not None:
        page.heading("nearest", _short(answers.nearest))
        for fault in answers.nearest.faults:
            page.line(fault, indent=2)


def conflict_words(fighting: Sequence[str]) -> tuple[str, str]:
    """Return the title of conflicting goals, and what is wrong with them; one alone conflicts with no other."""
    if len(fighting) == 1:
        return "goal that cannot be met", "however far the others are eased"
    return "conflicting goals", "they cannot be met together"


def _short(one: Evaluated) -> str:
    laminates = " + ".join(one.candidate.laminates)
    return f"{len(one.candidate.copper)} layers, {number(one.candidate.thickness_mm, 'mm')}, {laminates}"


def _next(page: Page, result: Suggested, request: SuggestRequest, chosen: int) -> None:
    page.gap()
    if request.plan is None and not _moves_nothing(result, chosen):
        other = "; --pick N takes another" if len(result.entries) > 1 else ""
        page.line(f"next, for the plan of answer {chosen}{other}:")
        page.verbatim([request.again(*([] if request.pick else ["--pick", f"{chosen}"]), "--plan", PLAN)])
        return
    page.line("next:")
    page.verbatim(_commands(result, request, request.pick))


def _moves_nothing(result: Suggested, pick: int) -> bool:
    return 0 < pick <= len(result.changes) and result.changes[pick - 1].moves_nothing


def _commands(result: Suggested, request: SuggestRequest, pick: int) -> Iterator[str]:
    profile, form = result.selection.profile, result.selection.form
    own = form is not None and (profile is None or form.name != profile.form)
    of_form = ["--form", form.name] if form and own else []
    plan, typed = request.plan, request.board
    if typed is not None and _moves_nothing(result, pick or 1 if plan is None else pick):
        words = [*(["--profile", profile.name] if profile else []), *of_form]
        yield command_line("check", str(typed), *words, "-v")
        if plan is not None and result.answers.ranked:
            yield request.again("--pick", f"{len(result.changes) + 1}")
    elif plan is not None and typed is not None:
        is_new = pick > len(result.changes)
        if result.is_too_old:
            yield f"in KiCad, open {typed.name} and save it: apply changes files of KiCad 6 and later"
        layers = len(result.entries[pick - 1].candidate.copper) if is_new else result.board_layers
        other_layers = layers != result.board_layers
        if other_layers and result.is_routed_inside:
            yield f"in KiCad, set {layers} copper layers in Board Setup and move what lies inside; save it"
            other_layers = False  # apply changes them only while inner layers are empty
        yield command_line("apply", str(plan), str(typed), *(["--layers"] if other_layers else []))
    elif plan is not None:
        words = ["--profile", profile.name if profile else "PROFILE", *of_form]
        yield command_line("new", *words, "--plan", str(plan), "board.kicad_pcb")
