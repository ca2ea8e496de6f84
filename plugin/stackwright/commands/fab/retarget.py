"""`stackwright retarget`: a fab's stackup into a board, with the widths and gaps that its lines need there."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.analysis.impedance.line_effects import LineEffect, line_effects
from drc_rules.report.numbers import size_text
from drc_rules.requirements.fabs.stackups.load import find, stackups_of
from drc_rules.requirements.fabs.stackups.model import NamedStackup
from drc_rules.stackup_design.plan_changes import PlanChange
from drc_rules.stackup_design.plan_file import Plan, write_plan
from drc_rules.stackup_design.retarget import Reroute, RetargetedLines, retargeted_lines, stackup_plan
from stackup_lib.board.planned import PlannedClass, PlannedRule, PlannedTuning
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.file_edit import Written
from stackwright.commands.apply.apply import (
    PROJECT_SUFFIX,
    PlanParts,
    Proposal,
    changes_block,
    contexts,
    propose,
    remarks_block,
    write_files,
)
from stackwright.commands.apply.effects_page import effects_block
from stackwright.commands.apply.files import read_bytes, written_block
from stackwright.commands.fab.fabs import copper_weights_of, is_thickness
from stackwright.commands.inspect.impedance import signal_layers
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import command_line
from stackwright.text.output import check_target, former_of, write_over
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count


@dataclass(frozen=True, kw_only=True)
class RetargetRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        name: of the stackup.
        thickness_mm, copper: which of several stackups of that name.
        plan: file for the plan.
        write: change the board's files.
        backup: keep the former content next to each file.
    """

    name: str
    fab: str | None = None
    thickness_mm: float | None = None
    copper: str | None = None
    plan: Path | None = None
    write: bool = False
    backup: bool = True
    verbose: bool = False


class RetargetDocument(Frozen):
    """What `stackwright retarget --format json` writes; lengths in mm, loss in dB/mm.

    Attributes:
        written: True where the board's files were changed.
        changes: of the stackup.
        lines: the routed lines before and after.
        net_class, rule, tuning: what the project, the design rules and the tuning profiles get.
        reroute: copper that is off its target in the new stackup.
        without_class: by target, how many of its nets are in no net class, for which there is no rule.
    """

    model_config = ConfigDict(title="Stackwright retarget, version 1")

    format: Literal["stackwright-retarget"] = "stackwright-retarget"
    version: Literal[1] = 1
    board: dict[str, str]
    fab: str
    date: date
    stackup: str
    written: bool
    changes: tuple[PlanChange, ...]
    lines: tuple[LineEffect, ...]
    net_class: tuple[PlannedClass, ...]
    rule: tuple[PlannedRule, ...]
    tuning: tuple[PlannedTuning, ...]
    reroute: tuple[Reroute, ...]
    without_class: tuple[str, ...]


@record
class _Work:
    """A worked-out retargeting."""

    board_path: Path
    stackup: NamedStackup
    proposal: Proposal
    lines: RetargetedLines
    effects: tuple[LineEffect, ...]


def retarget_board(typed: Path, request: RetargetRequest) -> int:
    """Show how a fab's stackup changes a board; write it, or its plan, on request.

    Raises:
        StackwrightError: the board or the stackup cannot be used, or nothing may be written.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    former = None
    if request.plan is not None:
        check_target(request.plan, [typed, board_path])
        former = former_of(request.plan)
    with watched(board_path.name):
        layers = len(read_board(board_path).copper_layers)
        stackup = chosen_stackup(request, layers)
        content = read_bytes(board_path)
        parts = _parts(board_path, request)
        rows_only = stackup_plan(read_board(board_path, text=content), stackup)
        lines = _lines(rows_only, board_path, parts, request)
        plan = rows_only.model_copy(update={"net_class": lines.net_class, "rule": lines.rule, "tuning": lines.tuning})
        proposal = propose(plan, board_path, parts, request.config)
        work = _Work(board_path, stackup, proposal, lines, line_effects(*contexts(proposal)))
    pending = [file for file in proposal.files if file.differs]
    if request.plan is not None:
        write_over(request.plan, write_plan(plan, title=board_path.name), former=former)
    written = write_files(pending, parts) if request.write and pending else ()
    if request.format == JSON:
        text = _json(work, content, written=request.write)
    else:
        text = request.laid_out(_page(work, typed, request, written))
    request.deliver(text, "retargeting")
    return 0


def chosen_stackup(request: RetargetRequest, layers: int) -> NamedStackup:
    """Return the one stackup that a request means.

    Raises:
        ConfigError: none or several have the name, the thickness and the copper, or none has the board's layers.
    """
    outer_oz, inner_oz = copper_weights_of(request.copper)
    named = find(request.name, stackups_of(request.fab))
    found = [
        one
        for one in named
        if is_thickness(request.thickness_mm, one)
        and outer_oz in (None, one.outer_oz)
        and inner_oz in (None, one.inner_oz)
        and (len(named) == 1 or one.copper_layers == layers)
    ]
    if len(found) == 1:
        return found[0]
    if named and not any(one.copper_layers == layers for one in named):
        what = f"no stackup of this name has {count(layers, 'layer')}"
        raise ConfigError(f"--to {request.name}", what, f"list what fits: stackwright fabs --layers {layers}")
    how = f"`stackwright fabs show {request.name} --layers {layers}` lists them; add --thickness-mm and --copper"
    what = f"{len(found)} stackups of {layers} layers have this name" if found else "no stackup of this name fits"
    raise ConfigError(f"--to {request.name}", what, how)


def _parts(board_path: Path, request: RetargetRequest) -> PlanParts:
    has_project = board_path.with_suffix(PROJECT_SUFFIX).exists()
    return PlanParts(write=request.write, change_stackup=True, classes=has_project, rules=True, backup=request.backup)


def _lines(plan: Plan, board_path: Path, parts: PlanParts, request: RetargetRequest) -> RetargetedLines:
    """Solve the lines of the board as the rows of the plan make it."""
    after = contexts(propose(plan, board_path, parts, request.config))[1]
    try:
        return retargeted_lines(after, signal_layers(after))
    except MissingFact as missing:
        raise ConfigError(str(board_path), f"{missing.what} is not known", missing.next_step) from None


def _json(work: _Work, content: bytes, *, written: bool) -> str:
    lines, stackup = work.lines, work.stackup
    document = RetargetDocument(
        board={"path": work.board_path.as_posix(), "sha256": hashlib.sha256(content).hexdigest()},
        fab=stackup.edition.fab,
        date=stackup.edition.date,
        stackup=stackup.order,
        written=written,
        changes=work.proposal.changes,
        lines=work.effects,
        net_class=lines.net_class,
        rule=lines.rule,
        tuning=lines.tuning,
        reroute=lines.reroute,
        without_class=lines.without_class,
    )
    return document_text(document)


def _page(work: _Work, typed: Path, request: RetargetRequest, written: Sequence[Written]) -> Page:
    page, edition = Page(), work.stackup.edition
    page.line(
        styled(work.stackup.name, "bold"),
        f"  {edition.title}, {edition.date.isoformat()}, for {work.board_path.name}",
    )
    page.line("fabs change their stackups: ask whether this one is still offered", indent=2)
    for misfit in work.stackup.misfits:
        page.line(styled(f"{misfit.what}: {misfit.reason}", "yellow"), indent=2)
    for remark in edition.remarks:
        page.line(styled(remark, "dim"), indent=2)
    _stackup_block(page, work.proposal, verbose=request.verbose)
    effects_block(page, work.effects, ("now", work.stackup.name))
    _sizes(page, work.lines)
    _reroute(page, work.lines)
    remarks_block(page, work.proposal)
    page.gap()
    if request.plan is not None:
        page.line(f"plan written to {request.plan}")
    if request.write:
        written_block(page, written)
        page.line("tracks keep their widths until they are rerouted")
        page.verbatim([f"next: {command_line('check', str(typed))}"], indent=0)
        return page
    page.line("the board was not changed; next:")
    to = [command_line("retarget", str(typed), "--to", work.stackup.name), *_options(request)]
    page.verbatim([" ".join([*to, "--write"])])
    if request.plan is not None:
        flags = ("--write", "--change-stackup", "--classes", "--rules")
        page.verbatim([command_line("apply", str(request.plan), str(typed), *flags)])
    return page


def _options(request: RetargetRequest) -> list[str]:
    said = (("--fab", request.fab), ("--copper", request.copper), ("--config", request.config))
    thickness = () if request.thickness_mm is None else (f"--thickness-mm {request.thickness_mm:g}",)
    return [*(f"{option} {value}" for option, value in said if value is not None), *thickness]


def _stackup_block(page: Page, proposal: Proposal, *, verbose: bool) -> None:
    if verbose or not proposal.changes:
        changes_block(page, proposal)
        return
    rows = len({change.row.partition(",")[0] for change in proposal.changes})
    preset = proposal.plan.process
    process = f"; [process] preset = {preset}" if preset else "; no process of this fab is known"
    page.heading("stackup", f"{count(rows, 'row')} changed, -v lists them{process}")


def _sizes(page: Page, lines: RetargetedLines) -> None:
    page.heading("widths and gaps", "for net classes, design rules and tuning profiles")
    head = ("target", "layer", "width/gap mm", "ohm", "known to")
    rows: list[tuple[str | Text, ...]] = []
    for row in lines.rows:
        if row.width_mm is None or row.impedance_ohm is None:
            rows.append((row.target.title, row.layer, styled("none", "yellow"), "", ""))
            continue
        known = "" if row.model_pct is None else f"+-{row.model_pct:.1f} %"
        size = size_text(row.width_mm, row.gap_mm)
        rows.append((row.target.title, row.layer, size, f"{row.impedance_ohm:.1f}", known))
    page.rows([Column(max_width=30), *[Column()] * 4], rows, head=head)
    if not rows:
        page.line("no net with a target impedance is routed long enough to count", indent=2)
    problems = dict.fromkeys(f"{row.layer}: {row.problem}" for row in lines.rows if row.problem)
    for problem in problems:
        page.line(styled(problem, "yellow"), indent=2)
    for nets in lines.without_class:
        page.line(styled(f"{nets} are in no net class: no rule is written for them", "yellow"), indent=2)


def _reroute(page: Page, lines: RetargetedLines) -> None:
    if not lines.reroute:
        if lines.rows:
            page.heading("reroute", "nothing: every line routed long enough to count stays within its tolerance")
            page.line("KiCad's check names shorter ones that are wider than the rules allow", indent=2)
        return
    total = sum(one.length_mm for one in lines.reroute)
    page.heading("reroute", f"{total:.0f} mm of copper off its target in the new stackup")
    head = ("target", "layer", "mm", "is", "ohm", "becomes")
    rows = [_rerouted(one) for one in lines.reroute]
    page.rows([Column(max_width=26), Column(), Column(right=True), *[Column()] * 3], rows, head=head)


def _rerouted(one: Reroute) -> Sequence[str]:
    ohm = "?" if one.impedance_ohm is None else f"{one.impedance_ohm:.1f}"
    becomes = "?" if one.new_width_mm is None else size_text(one.new_width_mm, one.new_gap_mm)
    return one.title, one.layer, f"{one.length_mm:.1f}", size_text(one.width_mm, one.gap_mm), ohm, becomes
