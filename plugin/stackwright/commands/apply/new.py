"""`stackwright new`: an empty board with its project, rules and settings, begun from a stackup that meets the goals."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.engine.headline import NOTHING_PLACED
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.config import Config, load_config
from drc_rules.stackup_design.goals import From, GoalChoices, Reason, Selection, answers_for, goals_for, selection_for
from drc_rules.stackup_design.goals_lines import NOT_SOUGHT
from drc_rules.stackup_design.new_plan import plan_of_answer
from drc_rules.stackup_design.plan_file import Plan, read_plan
from stackup_lib.core.errors import ConfigError, NotWrittenError
from stackup_lib.core.record import record
from stackup_lib.kicad.write.file_edit import FileEdit, apply_together
from stackwright.commands.apply.new_files import BOARD, NewBoardPurpose, files_of, paths_of
from stackwright.commands.suggest.options import choices_of
from stackwright.tables.counts import tally
from stackwright.text.command_line import command_line
from stackwright.text.output import make_folder, show
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import count, number


@record
class NewRequest:
    """What the command line says; None or empty leaves it to profile and form.

    Attributes:
        interfaces: each in place of the profile's of its family.
        plan: a plan to begin from; None for a suggestion.
        pick: which suggestion, the best being 1.
        laminates: families to build of.
        lengths: longest lines, each as `pcie5=150` in mm.
        finish: KiCad's copper finish, e.g. `ENIG`; None leaves the plan's.
        config: settings whose form, `[goals]`, `[fab]` and `[process]` count; the latter two become the board's own.
    """

    profile: str
    form: str | None = None
    interfaces: tuple[str, ...] = ()
    plan: Path | None = None
    pick: int = 1
    layers: int | None = None
    thickness_mm: float | None = None
    laminates: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()
    finish: str | None = None
    config: Path | None = None


@record
class Begun:
    """What the board begins from: a plan, and where its goals come from; nothing of a plan that was given."""

    plan: Plan
    reasons: tuple[Reason, ...] = ()


def new_board(target: Path, wanted: NewRequest) -> int:
    """Write the files of a new board, all of them or none, check it, and say what comes next.

    Raises:
        StackwrightError: something is there already, no stackup can be had, or nothing may be written.
    """
    _refuse_target(target)
    settings = load_config(wanted.config) if wanted.config is not None else Config()
    choices = _choices(wanted).over(settings.goals)
    wanted = replace(wanted, form=wanted.form or settings.form)
    selection = selection_for(wanted.profile, wanted.form, choices)
    purpose = _purpose(selection, wanted, settings)
    given = Begun(read_plan(wanted.plan)) if wanted.plan is not None else None
    begun = given or _suggested(selection, choices, settings, wanted.pick)
    plan = begun.plan
    if wanted.finish is not None:
        plan = plan.model_copy(update={"copper_finish": wanted.finish})
    if plan.edge_connector is None and purpose.form_found is not None and purpose.form_found.has_card_edge:
        plan = plan.model_copy(update={"edge_connector": "yes"})
    files = files_of(plan, target, purpose)
    make_folder(target.parent)
    apply_together([FileEdit(path, content, None) for path, content in files.items()], backup=False)
    page = _page(Begun(plan, begun.reasons), target, purpose, tuple(files), check_board(target, tables=False))
    _assumptions(page, begun)
    page.gap()
    page.line("next:")
    project = shlex.quote(str(target.with_suffix(".kicad_pro")))
    page.verbatim([f"kicad {project}", command_line("check", str(target))])
    show(page.text(terminal_console()))
    return 0


def _choices(wanted: NewRequest) -> GoalChoices:
    return choices_of(
        interfaces=wanted.interfaces,
        lengths=wanted.lengths,
        layers=wanted.layers,
        thickness_mm=wanted.thickness_mm,
        laminates=wanted.laminates or None,
    )


def _purpose(selection: Selection, wanted: NewRequest, settings: Config) -> NewBoardPurpose:
    """What the board is for; families that its profile only may carry are named in its settings too."""
    profile = selection.profile or load_profile(wanted.profile)
    carried = {interface(one).family: one for one in selection.interfaces}
    return NewBoardPurpose(profile, wanted.form, {**profile.interfaces, **carried}, settings)


def _suggested(selection: Selection, choices: GoalChoices, settings: Config, pick: int) -> Begun:
    found = goals_for(selection, choices=choices, settings=settings)
    with _told("looking for stackups"):
        answers, found = answers_for(found, pick)
    if not answers.ranked:
        why = "; ".join(answers.fighting or answers.unreachable[:3])
        step = "`stackwright suggest` with the same options says what would help, or give --plan"
        raise ConfigError("goals", f"no stackup meets them: {why}", step)
    if pick > len(answers.ranked):
        step = f"give --pick 1 to {len(answers.ranked)}" if len(answers.ranked) > 1 else "leave --pick out"
        raise ConfigError("--pick", f"there is no suggestion {pick}", step)
    plan = plan_of_answer(answers.ranked[pick - 1], found.goals, found.interfaces)
    return Begun(plan, found.reasons)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """On a terminal, say what takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield


def _refuse_target(target: Path) -> None:
    """Nothing that is there is replaced."""
    if target.suffix != BOARD:
        named = target.with_suffix(BOARD) if target.suffix in ("", ".kicad_pro") else f"NAME{BOARD}"
        raise NotWrittenError(str(target), f"is no name for a board: it ends with {BOARD}", f"give {named}")
    there = [path for path in paths_of(target) if path.exists() or path.is_symlink()]
    if there:
        step = "begin in a folder of its own, or change that board with `stackwright suggest` and `apply`"
        raise NotWrittenError(str(there[0]), "is there already, and is not replaced", step)


def _page(begun: Begun, target: Path, purpose: NewBoardPurpose, written: tuple[Path, ...], report: Report) -> Page:
    page = Page()
    plan, planned = begun.plan, begun.plan.planned
    layers, thickness = len(planned.copper_names), number(planned.thickness_mm, "mm")
    page.line(styled("New board", "bold"), f"  {target.name}: {layers} copper layers, {thickness}")
    laminates = dict.fromkeys(p.laminate or p.material or "" for row in plan.rows for p in row.sheets if p.material)
    form = purpose.form_found
    stated = (r for r in begun.reasons if r.goal == "layers" and r.origin is not From.ASSUMPTION)
    page.rows(
        [Column(), Column(wraps=True)],
        [
            ("for", f"{purpose.profile.name} ({purpose.profile.title})"),
            ("form", f"{form.name} ({form.title})" if form else "none stated"),
            ("outline", purpose.outline.words),
            *(("layers", f"{reason.value}: {reason.source}") for reason in stated),
            ("laminate", ", ".join(laminates)),
            ("finish", plan.copper_finish or "none chosen: KiCad's Board Setup > Board Finish"),
        ],
    )
    _classes(page, plan, begun)
    page.heading("written")
    page.verbatim([str(path) for path in written])
    _verdict(page, report)
    return page


def _assumptions(page: Page, begun: Begun) -> None:
    assumed = [(r.goal, r.value, r.source) for r in begun.reasons if r.origin is From.ASSUMPTION]
    if assumed:
        page.heading("assumed", "not specified")
        page.rows([Column(max_width=22), Column(max_width=34), Column(wraps=True)], assumed)


def _classes(page: Page, plan: Plan, begun: Begun) -> None:
    if not plan.net_class:
        why = "no high-speed interface is known; name what it carries, e.g. --interface pcie5"
        if any(reason.value.startswith(NOT_SOUGHT) for reason in begun.reasons):
            why = "widths of the interfaces that are named are not sought; the commands below find them"
        page.heading("net classes", f"none: {why}")
        return
    necks = [rule.neck_mm for rule in plan.rule if rule.neck_mm is not None]
    down = f"; neck-downs to {number(min(necks), 'mm')} pass KiCad's check" if necks else ""
    page.heading("net classes", f"width/gap in mm; the rules hold each layer's own{down}")
    rows = []
    for one in plan.net_class:
        width, gap = one.diff_pair_width_mm or one.track_width_mm, one.diff_pair_gap_mm
        size = "/".join(number(value) for value in (width, gap) if value is not None)
        layers = dict.fromkeys(rule.layer for rule in plan.rule if rule.net_class == one.name)
        rows.append((one.name, size, ", ".join(layers)))
    page.rows([Column(), Column(), Column(wraps=True)], rows)


def _verdict(page: Page, report: Report) -> None:
    """What our own check says of the board as it stands, and what the open clauses wait for."""
    judged = [one for one in report.verdicts if one.has_rule]
    waiting = [one for one in judged if one.verdict is Verdict.NOT_VERIFIABLE]
    open_facts = dict.fromkeys(m.fact for one in judged for m in one.missing)
    is_open = report.headline is Headline.NOT_PROVEN
    page.heading("check", report.headline.value + (f": {NOTHING_PLACED}" if is_open else ""))
    page.line(f"requirements: {tally(report.verdicts)}", indent=2)
    for finding in report.findings:
        page.line(styled(f"{finding.code} {finding.title}", "yellow"), indent=2)
    if open_facts:
        words = count(len(waiting), "requirement waits", "requirements wait")
        page.line(f"{words} for what an empty board has not: {'; '.join(open_facts)}", indent=2)
