"""`stackwright apply`: a plan into a board's files; shows what would change, and writes only with `--write`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from drc_rules.analysis.impedance.line_effects import line_effects, planned_lines
from drc_rules.engine.check import config_file, find_config, prepare, with_own_profile
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config, parse_config
from drc_rules.stackup_design.plan_changes import (
    PlanChange,
    declared_facts,
    prove_laminates,
    rules_that_win,
    stackup_changes,
)
from drc_rules.stackup_design.plan_file import Plan, plan_of, read_plan, write_plan
from drc_rules.stackup_design.settings_edit import edit_settings
from stackup_lib.board.board import Board
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.record import record
from stackup_lib.core.words import listed
from stackup_lib.kicad import read_board
from stackup_lib.kicad.read.patterns import matcher
from stackup_lib.kicad.read.project import DEFAULT
from stackup_lib.kicad.write.file_edit import FileEdit, Written, apply_together, diff_text, digest, lock_of
from stackup_lib.kicad.write.project_writer import least_width_mm, set_net_classes
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.kicad.write.stackup_writer import refuse_old_version, replace_stackup
from stackup_lib.kicad.write.tuning_writer import set_tuning
from stackwright.commands.apply.effects_page import effects_block, planned_block
from stackwright.commands.apply.files import read_bytes, written_block
from stackwright.commands.request import BoardRequest
from stackwright.run.paths import find_board
from stackwright.text.command_line import command_line
from stackwright.text.output import check_target, former_of, show, write_over
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import count

PROJECT_SUFFIX, RULES_SUFFIX = ".kicad_pro", ".kicad_dru"


@record
class PlanParts:
    """What the command line allows.

    Attributes:
        write: change the files; otherwise only show.
        change_stackup: the board's stackup may change in more than in how a material is written.
        layers: copper layers may be added or removed.
        classes, rules: net classes and design rules of the plan are written too.
        backup: keep the former content next to each file.
    """

    write: bool = False
    change_stackup: bool = False
    layers: bool = False
    classes: bool = False
    rules: bool = False
    backup: bool = True


@record
class FileChange:
    """One file's old and new content; `old` is None for a file that is new."""

    path: Path
    old: bytes | None
    new: bytes

    @property
    def differs(self) -> bool:
        """True when the file is to be written."""
        return (self.old or b"") != self.new


@record
class Proposal:
    """All that a plan would do to a board's files; `left_out` is what the command line has not requested."""

    plan: Plan
    before: Board
    after: Board
    changes: tuple[PlanChange, ...]
    files: tuple[FileChange, ...]
    remarks: tuple[str, ...]
    left_out: tuple[str, ...]
    settings_before: Config
    settings_after: Config

    @property
    def is_unsafe(self) -> bool:
        """True when copper, dielectrics or the fab's instructions change."""
        return any(not change.is_safe for change in self.changes)


def apply_plan(plan_path: Path, typed: Path, parts: PlanParts) -> int:
    """Show what a plan changes in a board and what that does to its lines; write it on request.

    Raises:
        StackwrightError: the plan or the board cannot be read, the plan does not fit, or nothing may be written.
    """
    plan = read_plan(plan_path)
    board_path = find_board(typed)
    proposal = propose(plan, board_path, parts)
    pending = [file for file in proposal.files if file.differs]
    if parts.write and pending:
        refuse_silent(proposal, board_path, parts)
        written = write_files(pending, parts)
        show(_written_page(typed, proposal, written).text(terminal_console()))
        return 0
    show(_page(proposal, pending, plan_path, typed, parts).text(terminal_console()))
    return 0


def propose(plan: Plan, board_path: Path, parts: PlanParts, settings_path: Path | None = None) -> Proposal:
    """Work out every file's new content; nothing is written.

    `settings_path` is the settings file where it is not the one next to the board.

    Raises:
        StackwrightError: see `apply_plan`.
    """
    content = read_bytes(board_path)
    before = read_board(board_path, text=content)
    refuse_old_version(before.format_version, str(board_path))
    _refuse_other_layers(plan, before, parts)
    new = replace_stackup(content, plan.planned, label=str(board_path), change_layers=parts.layers)
    after = before if new == content else read_board(board_path, text=new)
    prove_laminates(plan, after, str(board_path))
    settings, config, retired = planned_settings(plan, before, after, board_path, settings_path)
    files, remarks = (
        [FileChange(board_path, content, new)],
        [*_of_another_board(plan, board_path), *_retired(retired)],
    )
    left_out = []
    if (plan.net_class or plan.tuning) and (parts.classes or board_path.with_suffix(PROJECT_SUFFIX).exists()):
        project = _project(plan, board_path)
        if parts.classes:
            files.append(project)
            remarks += [*_too_narrow(plan, project), *_without_nets(plan, before)]
        elif project.differs:
            left_out.append(f"{_of_project(plan, before)}: --classes")
    if plan.rule and parts.rules:
        rules, winners = _rules(plan, after, board_path)
        files.append(rules)
        remarks += winners
    elif plan.rule and not _has_rules(plan, after, board_path):
        left_out.append(f"{count(len(plan.rule), 'design rule')}: --rules")
    return Proposal(
        plan=plan,
        before=before,
        after=after,
        changes=stackup_changes(before, after),
        files=(*files, settings),
        remarks=tuple(remarks),
        left_out=tuple(left_out),
        settings_before=find_config(board_path, settings_path),
        settings_after=config,
    )


def _of_another_board(plan: Plan, board_path: Path) -> list[str]:
    """Return the remark about a plan whose lines were solved for the layers of another board."""
    if plan.board in ("", board_path.name):
        return []
    return [f"the plan was made for {plan.board}, not for {board_path.name}: its layers may carry something else there"]


def _retired(facts: Sequence[str]) -> list[str]:
    """Return the remark about facts of the settings that were declared for the former stackup."""
    is_one = len(facts) == 1
    what = "is a comment now: it was" if is_one else "are comments now: they were"
    return [f"{listed(facts)} {what} declared for the former stackup"] if facts else []


def _refuse_other_layers(plan: Plan, board: Board, parts: PlanParts) -> None:
    names, there = plan.planned.copper_names, tuple(layer.name for layer in board.copper_layers)
    stated = tuple(row.name for row in board.stackup.copper) if board.stackup else there
    if names in (there, stated) or parts.layers:
        return
    what = f"the plan has {len(names)} copper layers, the board {len(there)}"
    if len(names) == len(there):
        what = f"the plan's copper layers are {', '.join(names)}, the board's {', '.join(there)}"
    step = "plan for the board's layers, or give --layers to change them (only while inner layers are empty)"
    raise NotWrittenError(str(board.path), what, step)


def planned_settings(
    plan: Plan, before: Board, after: Board, board_path: Path, given: Path | None
) -> tuple[FileChange, Config, tuple[str, ...]]:
    """Return the settings file with what a plan declares, what it says then, and the facts that no longer hold."""
    path = config_file(board_path, given)
    config = find_config(board_path, given)
    old = read_bytes(path) if path.exists() else None
    facts, retire = declared_facts(plan, before, after, config)
    text = (old or b"").decode("utf-8")
    edit = edit_settings(text.replace("\r\n", "\n"), facts, retire, label=str(path))
    if not edit.set and not edit.retired:
        return FileChange(path, old, old or b""), config, ()
    new = edit.text.replace("\n", "\r\n") if "\r\n" in text else edit.text
    planned = with_own_profile(parse_config(edit.text, where=str(path), path=path), path.parent)
    return FileChange(path, old, new.encode()), planned, edit.retired


def _project(plan: Plan, board_path: Path) -> FileChange:
    path = board_path.with_suffix(PROJECT_SUFFIX)
    if not path.exists():
        raise NotWrittenError(str(path), "there is no project for the net classes", "leave --classes out")
    old = read_bytes(path)
    classed = set_net_classes(old, plan.net_class, label=str(path)).content
    return FileChange(path, old, set_tuning(classed, plan.tuning, label=str(path)))


def _too_narrow(plan: Plan, project: FileChange) -> list[str]:
    """Net classes that KiCad's own constraints forbid: Board Setup is the user's, so they are named, not changed."""
    limit = least_width_mm(project.new, label=str(project.path))
    found = []
    for one in plan.net_class:
        width = min((w for w in (one.track_width_mm, one.diff_pair_width_mm) if w is not None), default=None)
        if limit is not None and width is not None and width < limit:
            found.append(
                f"{project.path.name} allows no track below {limit:g} mm: lower it in Board Setup > Constraints, "
                f"or KiCad reports {one.name} with its {width:g} mm"
            )
    return found


def _without_nets(plan: Plan, board: Board) -> list[str]:
    """Net classes that no net of a board is in: their sizes and rules hold for nothing yet."""
    if not any(board.nets):
        return []
    project = board.project
    used = {name for names in (*project.net_classes_of.values(), *project.assignments.values()) for name in names}
    found = []
    for one in plan.net_class:
        patterns = [*one.patterns, *(pattern for pattern, name in project.patterns if name == one.name)]
        if one.name not in {*used, DEFAULT} and not _matches_any(patterns, board.nets):
            found.append(
                f"no net is in the net class {one.name}, so its sizes and rules hold for nothing yet: "
                "put nets into it in Board Setup > Net Classes"
            )
    return found


def _matches_any(patterns: Sequence[str], nets: Sequence[str]) -> bool:
    return any(matcher(pattern)[0](net) for pattern in patterns for net in nets if net)


def _rules(plan: Plan, board: Board, board_path: Path) -> tuple[FileChange, tuple[str, ...]]:
    path = board_path.with_suffix(RULES_SUFFIX)
    old = read_bytes(path) if path.exists() else None
    layers = [layer.name for layer in board.copper_layers]
    new = replace_rules(old, plan.rule, label=str(path), format_version=board.format_version, layers=layers)
    winners = tuple(f"{path.name}, {one}" for one in rules_that_win(new.decode("utf-8"), plan.rule))
    return FileChange(path, old, new), winners


def _of_project(plan: Plan, board: Board) -> str:
    """Return how many net classes and tuning profile rows a project lacks, or has with other values."""
    tuned = f" and {count(len(plan.tuning), 'tuning profile row')}" if plan.tuning else ""
    has_all = all(one.name in board.project.classes for one in plan.net_class)
    how = "with other values" if has_all and plan.net_class else "not"
    return f"{count(len(plan.net_class), 'net class', 'net classes')}{tuned} that the project has {how}"


def _has_rules(plan: Plan, board: Board, board_path: Path) -> bool:
    """Tell whether a board's rule file holds what a plan writes into it."""
    try:
        return not _rules(plan, board, board_path)[0].differs
    except NotWrittenError:
        return False


def refuse_silent(proposal: Proposal, board_path: Path, parts: PlanParts) -> None:
    """Raise `NotWrittenError` where a plan changes what is built without the user's consent."""
    if not proposal.is_unsafe or parts.change_stackup:
        return
    unsafe = [change for change in proposal.changes if not change.is_safe]
    first = unsafe[0]
    what = (
        f"the plan changes what is built: {first.row} {first.what} {first.before} -> {first.after}"
        f"{f' and {len(unsafe) - 1} more' if len(unsafe) > 1 else ''}"
    )
    raise NotWrittenError(str(board_path), what, "look at it without --write, then add --change-stackup")


def write_files(pending: list[FileChange], parts: PlanParts) -> tuple[Written, ...]:
    """Write files together or none of them; raises `NotWrittenError` where one has changed in the meantime."""
    edits = [FileEdit(f.path, f.new, None if f.old is None else digest(f.old)) for f in pending]
    return apply_together(edits, backup=parts.backup)


def contexts(proposal: Proposal) -> tuple[Context, Context]:
    """Return the board with its settings before and after a plan."""
    before, _, _ = prepare(proposal.before, proposal.settings_before, Overrides())
    after, _, _ = prepare(proposal.after, proposal.settings_after, Overrides())
    return before, after


def _page(proposal: Proposal, pending: list[FileChange], plan_path: Path, typed: Path, parts: PlanParts) -> Page:
    page = Page()
    name = proposal.before.path.name if proposal.before.path else "board"
    page.line(styled("Plan", "bold"), f"  {plan_path.name} for {name}")
    if not pending:
        page.line("the files hold all of it already: nothing to do")
        _left_out(page, proposal)
        return page
    changes_block(page, proposal, needs_consent=True)
    if proposal.changes or proposal.settings_before != proposal.settings_after:
        effects_block(page, line_effects(*contexts(proposal)), ("now", "planned"))
    if proposal.plan.rule:
        planned_block(page, planned_lines(*contexts(proposal), proposal.plan.rule))
    for file in pending:
        page.heading(file.path.name, "new file" if file.old is None else "")
        page.verbatim(diff_text(file.old or b"", file.new, name=file.path.name).splitlines())
    remarks_block(page, proposal)
    _left_out(page, proposal)
    for file in pending:
        if lock := lock_of(file.path):
            page.line(styled(f"{file.path.name} is open in KiCad ({lock.name}): close it before --write", "yellow"))
    page.gap()
    flags = "".join(f" --{flag}" for flag in ("layers", "classes", "rules") if getattr(parts, flag))
    consent = " --change-stackup" if proposal.is_unsafe else ""
    page.line("nothing was written; next:")
    page.verbatim([f"{command_line('apply', str(plan_path), str(typed), '--write')}{consent}{flags}"])
    return page


def changes_block(page: Page, proposal: Proposal, *, needs_consent: bool = False) -> None:
    """Add what a plan changes in the stackup, row by row, and the option that a change of the build may need."""
    if not proposal.changes:
        page.heading("stackup", "stays as it is")
        return
    built = "changes what is built: --write needs --change-stackup" if needs_consent else "changes what is built"
    page.heading("stackup", built if proposal.is_unsafe else "the same materials, written otherwise")
    rows = [(c.row, c.what, c.before, f"-> {c.after}") for c in proposal.changes]
    page.rows([Column(), Column(), Column(max_width=30), Column(wraps=True)], rows)


def remarks_block(page: Page, proposal: Proposal) -> None:
    """Add what the user has to know of a plan."""
    if proposal.remarks:
        page.heading("mind")
        for remark in proposal.remarks:
            page.line(styled(remark, "yellow"), indent=2)


def _left_out(page: Page, proposal: Proposal) -> None:
    for what in proposal.left_out:
        page.line(f"left out: {what} writes them")


def _written_page(typed: Path, proposal: Proposal, written: tuple[Written, ...]) -> Page:
    page = Page()
    for change in proposal.changes:
        page.line(f"{change.row}: {change.what} {change.before} -> {change.after}".replace("  ", " "))
    written_block(page, [one for one in written if one.changed])
    remarks_block(page, proposal)
    if any(file.path.suffix == PROJECT_SUFFIX for file in proposal.files if file.differs):
        page.line(
            "tracks keep their widths: net classes and rules hold for what is routed from now on, and for the DRC"
        )
    if any(one.changed for one in written):
        page.verbatim([f"next: {command_line('check', str(typed))}"], indent=0)
    return page


def write_plan_of_board(typed: Path, request: BoardRequest) -> int:
    """Write the plan that a board's files state already, to be edited.

    Raises:
        StackwrightError: the board cannot be read or states no stackup, or the file cannot be written.
    """
    board_path = find_board(typed)
    output = request.file()
    former = former_of(output) if output else None
    board = read_board(board_path)
    config = request.config_of(board_path)
    context, _, _ = prepare(board, config, request.overrides)
    text = write_plan(plan_of(board, config), title=board_path.name)
    if context.is_default_stackup:
        text = "".join(f"# {line}\n" for line in _default_warning()) + text
    if output is None:
        show(text)
        return 0
    check_target(output, [typed, board_path])
    write_over(output, text, former=former)
    show(f"plan written to {output}\nnext: edit it, then {command_line('apply', str(output), str(typed))}\n")
    return 0


def _default_warning() -> Iterator[str]:
    yield "The board holds KiCad's untouched default stackup, which declares nothing:"
    yield "every figure below is KiCad's, not your fab's. Replace all of them."
