"""The least change of a board's stackup: worked out on a copy, shown as a diff, then brought into KiCad's board.

KiCad's API cannot write a stackup. What works: save, put the new file in its place, let KiCad read it again. Net
classes are KiCad's own while it has the project open, so those are left for the command line.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from drc_rules.settings import FILE_NAME
from drc_rules.settings.named_files import named_by_settings
from stackup_lib.core.errors import NotWrittenError, StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes, read_plain
from stackup_lib.core.files.sole_writer import sole_writer
from stackup_lib.core.files.whole_file import real_path
from stackup_lib.core.record import record
from stackup_lib.kicad.write.file_edit import (
    FileEdit,
    Written,
    apply_edit,
    apply_together,
    diff_text,
    digest,
    refuse_unwritable,
)
from stackwright.kicad.errors import KicadError
from stackwright.kicad.open_board import Reloading
from stackwright.run.programs import command_line, program
from stackwright.tables import deltas
from stackwright.text.output import write_file

if TYPE_CHECKING:
    from drc_rules.facts.context import Context
    from drc_rules.stackup_design.goals import BoardProject
    from drc_rules.stackup_design.plan_file import Plan
    from stackup_lib.board.planned import PlannedClass
    from stackwright.commands.apply.apply import PlanParts, Proposal
    from stackwright.commands.suggest.model import Suggested

NEXT_TO = (".kicad_pro", ".kicad_dru")
UNSAFE = "changes what is built"
CONSENT = 'tick "It changes what is built, and I want that", then press Apply'
PREVIEW_AGAIN = 'press "Least change that fits" again'
NOT_WRITTEN = "the change was not written"
NOT_READ = "the change is written, but KiCad has not read it; the former files are next to the new ones (*-bak)"
UNNEEDED = "The stackup needs no change: the findings say what else has to."
READING_S = 120
"""How long kicad-cli may take to read the new board."""


def preview(board: Path, live: Path, profile: str | None, plan_path: Path) -> dict[str, object]:
    """Return the least change that would fit, as words and diffs, and write its plan; nothing of the board changes.

    Where the stackup needs no change, only words that say so.

    Args:
        board: the board's own file; project, rules and settings next to it are copied, and what the settings name.
        live: the board as it is in the editor.
        profile: the workload, where it was chosen.
        plan_path: where the plan goes.

    Raises:
        StackwrightError: nothing can be suggested; says why.
    """
    from drc_rules.stackup_design.plan_file import write_plan
    from stackwright.commands.apply.apply import propose

    with for_the_page(), _copied(board, read_board_bytes(live)) as copy:
        project, found = _suggested(copy, profile)
        change = found.changes[0]
        if not change.moves_rows:
            return {"unneeded": UNNEEDED}
        plan = change.plan
        proposal = propose(plan, copy, _parts(plan, consent=True))
        plan_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(plan_path, write_plan(plan, title=board.name))
        command = command_line(["stackwright", "apply", str(plan_path), str(board), "--write", "--classes"])
        return {
            "words": list(change.words),
            **_tables(project.context, found, copy),
            "now": found.least.now.describe if found.least.now else "",
            "then": change.then.describe,
            "unsafe": proposal.is_unsafe,
            "remarks": list(proposal.remarks),
            "files": [
                {"name": f.path.name, "diff": diff_text(f.old or b"", f.new, name=f.path.name)}
                for f in proposal.files
                if f.differs
            ],
            "plan": str(plan_path),
            "board_digest": digest(read_board_bytes(live)),
            "file_digest": _digest_of(board),
            "later": _left_for_later(plan.net_class, proposal.left_out, command),
        }


@contextmanager
def _copied(board: Path, content: bytes) -> Iterator[Path]:
    """Copy what a check reads, the live board in place of the file, and what the settings name as far from it as it is.

    Errors within this block name the user's files, not the copies.
    """
    home = Path(os.path.abspath(board.parent))  # noqa: PTH100 - takes `..` out and follows no link
    settings = home / FILE_NAME
    files = {file: file for file in (*(home / board.with_suffix(one).name for one in NEXT_TO), settings)}
    named = [file for file in named_by_settings(settings) if file.place.anchor == home.anchor]
    files |= {file.place: file.real for file in named}
    top = Path(os.path.commonpath([home, *(file.place.parent for file in named)]))
    with tempfile.TemporaryDirectory(prefix="stackwright-") as temporary:
        folder = Path(temporary).resolve()
        copy = folder / home.relative_to(top) / board.name
        for file, real in files.items():
            target = folder / file.relative_to(top)
            if real.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read_plain(real))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        try:
            yield copy
        except StackwrightError as error:
            where, what = (words.replace(str(folder), str(top).rstrip(os.sep)) for words in (error.where, error.what))
            raise type(error)(where, what, error.next_step) from error


def _left_for_later(planned: Sequence[PlannedClass], left_out: Sequence[str], command: str) -> dict[str, object]:
    """Return what of the project has to change besides, as words, and the command for it; empty where nothing has."""
    if not left_out:
        return {}
    what = "; ".join(one.partition(":")[0] for one in left_out)
    return {"what": what, "classes": [_class_words(one) for one in planned], "command": command}


def _class_words(one: PlannedClass) -> str:
    sizes = {
        "clearance": one.clearance_mm,
        "track width": one.track_width_mm,
        "pair width": one.diff_pair_width_mm,
        "pair gap": one.diff_pair_gap_mm,
    }
    return f"{one.name}: " + ", ".join(f"{what} {mm:g} mm" for what, mm in sizes.items() if mm is not None)


def _parts(plan: Plan, *, consent: bool) -> PlanParts:
    """What is written while KiCad has the project open: all but the net classes."""
    from stackwright.commands.apply.apply import PlanParts

    return PlanParts(write=True, change_stackup=consent, rules=bool(plan.rule))


def _tables(before: Context, found: Suggested, copy: Path) -> dict[str, object]:
    """Return what changes in the rows of the stackup, and in ohm and dB on the routed lines, as cells of tables."""
    from drc_rules.analysis.impedance.line_effects import changed, line_effects
    from drc_rules.analysis.stackup.stackup_of_board import stackup_view
    from drc_rules.engine.board_diff import row_changes
    from stackwright.commands.suggest.least import with_plan

    after = with_plan(found.selection, found.changes[0].plan, copy, found.settings_path)
    return {
        "rows": [
            [row.layer, figure.what, figure.before or "not stated", figure.after or "not stated"]
            for row in row_changes(stackup_view(before), stackup_view(after))
            for figure in row.figures
        ],
        "lines": [
            [
                one.layer,
                one.target.title,
                deltas.size(one),
                *(_known(deltas.ohm(state)) for state in (one.before, one.after)),
                *(_known(deltas.db_per_inch(state)) for state in (one.before, one.after)),
            ]
            for one in changed(line_effects(before, after))
        ],
    }


def _known(figure: str) -> str:
    return "not known" if figure == deltas.UNKNOWN else figure


def _suggested(copy: Path, profile: str | None) -> tuple[BoardProject, Suggested]:
    from drc_rules.engine.check import find_config
    from drc_rules.facts.declared import Overrides
    from drc_rules.stackup_design.goals import project_of
    from stackup_lib.kicad import read_board
    from stackwright.commands.suggest.model import suggestion_for

    where = "the stackup"
    project = project_of(read_board(copy), find_config(copy, None), Overrides(profile=profile))
    profile, form = project.context.profile, project.context.form
    if profile is None:
        raise StackwrightError(where, "cannot be judged without a workload", "choose one first")
    found = suggestion_for(copy, project, profile, form, new=False)
    if no_base := found.least.why_none:
        raise StackwrightError(
            where, f"cannot be the base of a change: {no_base.what}", no_base.how or "see the report"
        )
    if not found.changes:
        why = found.least.why_not[0] if found.least.why_not else "no change was found"
        step = "choose another stackup in Board Setup; on the command line `stackwright suggest` looks for one"
        raise StackwrightError(where, f"cannot be changed so that it fits ({why})", step)
    return project, found


def apply(live: Reloading, shown: Mapping[str, str], *, consent: bool) -> Applied:
    """Bring a previewed plan into the board that is open: save, replace the files, let KiCad read them, look at it.

    All of it is tried on a copy first: nothing is saved, and nothing is written, before every condition holds.

    The former files are kept next to the new ones, even one that differs from the board in the editor:
    KiCad saves over a file without a look at it. One that another program has changed since the preview is left alone.

    Raises:
        StackwrightError: says whether anything was changed.
    """
    from drc_rules.stackup_design.plan_file import read_plan
    from stackwright.commands.apply.apply import propose

    with for_the_page(), sole_writer([real_path(live.path).parent]):
        with _adding(NOT_WRITTEN):
            content = live.content()
            _refuse_changed(live.path, content, shown)
            plan = read_plan(Path(shown["plan"]))
            parts = _parts(plan, consent=consent)
            tried = _rehearsed(live, content, plan, parts)
            kept = _kept(live.path, content)
            live.save()
        proposal = propose(plan, live.path, parts)
        pending = [file for file in proposal.files if file.differs]
        new = next((file.new for file in pending if file.path == live.path), None)
        edits = [FileEdit(f.path, f.new, None if f.old is None else digest(f.old)) for f in pending]
        written = apply_together(edits, even_if_open=True)
        if new is not None:
            with _adding(NOT_READ):
                live.reload()
                content = live.content()
            _refuse_other_stackup(live.path, content, proposal)
    return {
        "undo": Undo(digest(content), tuple((one, _digest_of(one.path)) for one in written if one.changed)),
        "files": [one.path.name for one in written if one.changed],
        "backups": [one.backup.name for one in (*kept, *written) if one.backup],
        "tried": tried,
    }


@record
class Undo:
    """What takes an applied change back.

    Attributes:
        board_digest: of the board in the editor with the change.
        written: files that the change wrote, each with the digest of what it wrote.
    """

    board_digest: str
    written: tuple[tuple[Written, str], ...]


class Applied(TypedDict):
    """What was written, what it was before, whether kicad-cli has read it, and how to take it back."""

    files: list[str]
    backups: list[str]
    tried: bool
    undo: Undo


def undo(live: Reloading, done: Undo) -> dict[str, object]:
    """Put the files from before a change back and let KiCad read them; what the change wrote becomes their backup.

    Raises:
        StackwrightError: the board or a file was changed since; nothing was touched.
    """
    with for_the_page(), sole_writer([real_path(live.path).parent]):
        with _adding("nothing was undone"):
            content = live.content()
        if digest(content) != done.board_digest:
            what = "was changed since the change was applied; nothing was undone"
            raise NotWrittenError(str(live.path), what, "the former file is next to the board (*-bak)")
        edits = []
        for one, left in done.written:
            if _digest_of(one.path) != left:
                what = "was changed by another program since; nothing was undone"
                raise NotWrittenError(str(one.path), what, "the former file is next to it (*-bak)")
            if one.backup is not None:
                edits.append(FileEdit(one.path, read_board_bytes(one.backup), left))
        apply_together(edits, even_if_open=True)
        for one, _ in done.written:
            if one.backup is None:  # there was no such file before
                one.path.unlink()
        with _adding("the former files are back, but KiCad has not read them"):
            live.reload()
    return {"files": [one.path.name for one, _ in done.written]}


@contextmanager
def _adding(to_the_files: str) -> Iterator[None]:
    """Within this block, what KiCad does not do is said with what that means for the files."""
    try:
        yield
    except KicadError as error:
        raise type(error)(error.where, f"{error.what}; {to_the_files}", error.next_step) from error


@contextmanager
def for_the_page() -> Iterator[None]:
    """Within this block, what is said of options of the command line becomes what the page has: buttons and a box."""
    try:
        yield
    except StackwrightError as error:
        if "--" not in f"{error.what} {error.next_step}":
            raise
        what = error.what.partition(" --")[0]
        raise type(error)(error.where, what, CONSENT if UNSAFE in what else PREVIEW_AGAIN) from error


def _refuse_changed(board: Path, content: bytes, shown: Mapping[str, str]) -> None:
    """Refuse a board or a file that is not the one of the preview."""
    if digest(content) != shown["board_digest"]:
        raise NotWrittenError(str(board), "was changed since the preview; nothing was written", PREVIEW_AGAIN)
    if _digest_of(board) not in (shown["file_digest"], shown["board_digest"]):
        what = "was changed on the disk by another program; nothing was written"
        raise NotWrittenError(str(board), what, f"decide in KiCad: save, or File > Revert; then {PREVIEW_AGAIN}")


def _rehearsed(live: Reloading, content: bytes, plan: Plan, parts: PlanParts) -> bool:
    """Apply the plan to a copy of the board as it is in the editor, and see that its files can be written.

    Returns:
        Whether kicad-cli has read the new board; False where there is none.

    Raises:
        StackwrightError: it does not work, the user has not agreed, or a file cannot be written.
    """
    from stackwright.commands.apply.apply import propose, refuse_silent

    with _copied(live.path, content) as copy:
        proposal = propose(plan, copy, parts)
        refuse_silent(proposal, live.path, parts)
        pending = [file for file in proposal.files if file.differs]
        new = next((file.new for file in pending if file.path == copy), None)
    for path in (live.path, *(live.path.with_name(file.path.name) for file in pending)):
        refuse_unwritable(path)
    return new is None or _refuse_unreadable(new, live)


def _kept(file: Path, content: bytes) -> tuple[Written, ...]:
    """Keep a file that says something else than what KiCad is about to save over it."""
    former = _digest_of(file)
    if former in ("", digest(content)):
        return ()
    return (apply_edit(file, content, expected_digest=former, even_if_open=True),)


def _digest_of(file: Path) -> str:
    return digest(read_board_bytes(file)) if file.exists() else ""


def _refuse_unreadable(new: bytes, live: Reloading) -> bool:
    """Let kicad-cli read the new board; a board that KiCad cannot read would leave its editor empty.

    Returns:
        False where there is no kicad-cli.
    """
    command = live.program("kicad-cli")
    found = str(command) if command.exists() else program("kicad-cli")
    if found is None:
        return False
    with tempfile.TemporaryDirectory(prefix="stackwright-") as folder:
        copy = Path(folder) / live.path.name
        copy.write_bytes(new)
        run = subprocess.run(  # noqa: S603 - KiCad's own program, no shell
            [found, "pcb", "export", "pos", "--output", str(copy.with_suffix(".pos")), str(copy)],
            capture_output=True,
            timeout=READING_S,
            check=False,
        )
    if run.returncode:
        raise NotWrittenError(str(live.path), "was not changed: kicad-cli cannot read the new file", "please report it")
    return True


def _refuse_other_stackup(path: Path, content: bytes, proposal: Proposal) -> None:
    """See that the board in the editor has the stackup that was written."""
    from stackup_lib.kicad import read_board

    now = read_board(path, text=content).stackup
    wanted = proposal.after.stackup
    if now is None or wanted is None or now.digest != wanted.digest:
        what = "shows another stackup than the one that was written"
        raise KicadError("KiCad", what, "look at Board Setup; the former file is next to the board (*-bak)")
