"""`stackwright new`: an empty board with its project, rules and settings, begun from a stackup that meets the goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from drc_rules.check import check_board
from drc_rules.interfaces import interface
from drc_rules.plan_file import Plan, read_plan
from drc_rules.report import Report, Verdict
from drc_rules.requirements import Profile, load_form, load_profile
from stackup_lib.errors import ConfigError, NotWrittenError
from stackup_lib.kicad.file_edit import FileEdit, apply_together
from stackwright.commands.new_files import BOARD, Purpose, files_of, outline_mm, paths_of
from stackwright.output import show
from stackwright.page import Column, Page, styled, terminal_console
from stackwright.words import count, number


@dataclass(frozen=True)
class Wanted:
    """What the command line says.

    Attributes:
        plan: a plan to begin from; None asks for a suggestion.
        finish: KiCad's copper finish, e.g. `ENIG`; None leaves the plan's.
    """

    profile: str
    form: str | None = None
    interfaces: tuple[str, ...] = ()
    plan: Path | None = None
    finish: str | None = None


def new_board(target: Path, wanted: Wanted) -> int:
    """Write the files of a new board, all of them or none, check it, and say what comes next.

    Raises:
        StackwrightError: something is there already, the plan cannot be used, or nothing may be written.
    """
    _refuse_target(target)
    profile = load_profile(wanted.profile)
    if wanted.form is not None:
        load_form(wanted.form)
    purpose = Purpose(profile, wanted.form, _generations(profile, wanted.interfaces))
    plan = _plan(wanted)
    if wanted.finish is not None:
        plan = plan.model_copy(update={"copper_finish": wanted.finish})
    files = files_of(plan, target, purpose)
    apply_together([FileEdit(path, content, None) for path, content in files.items()], backup=False)
    page = _page(plan, target, purpose, tuple(files), check_board(target))
    show(page.text(terminal_console()))
    return 0


def _refuse_target(target: Path) -> None:
    """Nothing that is there is replaced, and no folder is made up."""
    if target.suffix != BOARD:
        named = target.with_suffix(BOARD) if target.suffix in ("", ".kicad_pro") else f"NAME{BOARD}"
        raise NotWrittenError(str(target), f"is no name for a board: it ends with {BOARD}", f"give {named}")
    if not target.parent.is_dir():
        raise NotWrittenError(str(target.parent), "there is no such folder", "make it first")
    there = [path for path in paths_of(target) if path.exists() or path.is_symlink()]
    if there:
        step = "begin in a folder of its own, or change that board with `stackwright suggest` and `apply`"
        raise NotWrittenError(str(there[0]), "is there already, and is not replaced", step)


def _generations(profile: Profile, said: tuple[str, ...]) -> Mapping[str, str]:
    """Interface by family: what the user says before what the profile carries."""
    own = {interface(one).family: one for one in said}
    return {**profile.interfaces, **own}


def _plan(wanted: Wanted) -> Plan:
    if wanted.plan is None:
        raise ConfigError("--plan", "names no plan", "write one with `stackwright stackup --plan`")
    return read_plan(wanted.plan)


def _page(plan: Plan, target: Path, purpose: Purpose, written: tuple[Path, ...], report: Report) -> Page:
    page = Page()
    planned = plan.planned
    layers, thickness = len(planned.copper_names), number(planned.thickness_mm, "mm")
    page.line(styled("New board", "bold"), f"  {target.name}: {layers} copper layers, {thickness}")
    laminates = dict.fromkeys(p.laminate or p.material or "" for row in plan.rows for p in row.sheets if p.material)
    form = purpose.form_found
    size = outline_mm(form)
    outline = f"{size[0]:g} x {size[1]:g} mm, a rectangle" if size else "none: draw it on Edge.Cuts"
    page.rows(
        [Column(), Column(wraps=True)],
        [
            ("for", f"{purpose.profile.name} ({purpose.profile.title})"),
            ("form", f"{form.name} ({form.title})" if form else "none stated"),
            ("outline", outline),
            ("laminate", ", ".join(laminates)),
            ("finish", plan.copper_finish or "none chosen: KiCad's Board Setup > Board Finish"),
        ],
    )
    _classes(page, plan)
    page.heading("written")
    page.verbatim([str(path) for path in written])
    _verdict(page, report)
    page.gap()
    page.line("next:")
    page.verbatim([f"kicad {written[1]}", f"stackwright check {target}"])
    return page


def _classes(page: Page, plan: Plan) -> None:
    if not plan.net_class:
        return
    page.heading("net classes", "width/gap in mm; the rules hold each layer's own")
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
    counts = {v: sum(one.verdict is v for one in judged) for v in Verdict}
    open_facts = dict.fromkeys(m.fact for one in judged for m in one.missing)
    page.heading("check", report.headline.value)
    page.line(f"{count(counts[Verdict.PASSED], 'clause')} passed, {counts[Verdict.FAILED]} failed", indent=2)
    for finding in report.findings:
        page.line(styled(f"{finding.code} {finding.title}", "yellow"), indent=2)
    if open_facts:
        waiting = count(counts[Verdict.NOT_VERIFIABLE], "clause waits", "clauses wait")
        page.line(f"{waiting} for what an empty board has not: {', '.join(open_facts)}", indent=2)
