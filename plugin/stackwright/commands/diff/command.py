"""`stackwright diff`: two states of a board, and what lies between them in ohms, decibels and findings."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from drc_rules.engine.board_diff import BoardDiff, board_diff, new_board
from drc_rules.engine.check import CheckUp, check_up
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackwright.commands.diff.page import page
from stackwright.commands.request import HTML, JSON, MARKDOWN, TEXT, BoardRequest, document_text
from stackwright.reporters import pull_request
from stackwright.results.exit_reason import BROKEN, CLEAN, FOUND
from stackwright.run.git import GitError
from stackwright.run.paths import boards_of, find_board, is_board_below
from stackwright.run.revisions import board_at, files_below, has_board, is_revision, refusal
from stackwright.run.watched import watched
from stackwright.text.markup import escape
from stackwright.text.output import complain, show
from stackwright.text.words import clean, count

MOST_ALIKE = 5
"""Boards of a folder that are named though nothing changed; others are counted."""


class DiffError(StackwrightError):
    """What is to be compared is not clear."""


@record
class State:
    """One side: a board file, and the commit it is read from; None for the file as it lies there."""

    board: Path
    revision: str | None = None

    @property
    def title(self) -> str:
        """How the page calls it."""
        return f"{self.revision}:{self.board.as_posix()}" if self.revision else self.board.as_posix()


@dataclass(frozen=True)
class DiffRequest(BoardRequest):
    """Arguments of the command line besides the two states; `config` is for both.

    Attributes:
        fail_on: lowest severity of a new finding that makes the exit code 1; None for that of `[check]`.
    """

    fail_on: str | None = None


class DiffDocument(Frozen):
    """What `stackwright diff --json` writes; lengths in mm, loss in dB/mm."""

    model_config = ConfigDict(title="Stackwright diff, version 1")

    format: Literal["stackwright-diff"] = "stackwright-diff"
    version: Literal[1] = 1
    diff: BoardDiff


def diff_boards(old: str, new: str | None, typed: Path | None, request: DiffRequest) -> int:
    """Show what lies between two states; exit code 1 when a finding is new that fails the check.

    Of a folder with several boards, text and Markdown hold all of them, those that are as before or gone in one line.

    Raises:
        StackwrightError: a board cannot be checked, or it is not clear which one is meant.
    """
    if new is None and typed is None and Path(old).exists():
        raise DiffError(
            old, "is one state, and a difference needs two", f"name the older one first, such as HEAD {old}"
        )
    if request.format in (TEXT, MARKDOWN):
        several, gone = states_below(old, new, typed), deleted_below(old, new, typed)
        if several and len(several) + len(gone) > 1:
            return _diff_several(several, gone, request)
    before, after = states(old, new, typed)
    request.check_file(before.board, after.board, board=after.board)
    with watched(after.board.name):
        found, was, now = _compare(before, after, request)
    if request.file(after.board):
        show(f"{_in_short(found)}\n")
    request.deliver(_written(found, was, now, request), "report", board=after.board)
    return _exit_code(found, after, request)


def _diff_several(pairs: Sequence[tuple[State, State]], gone: Sequence[State], request: DiffRequest) -> int:
    """Show the boards that differ, and name the others; one that cannot be compared is told, and the rest goes on."""
    request.check_file(*(after.board for _, after in pairs))
    parts: list[str] = []
    lines = [f"Deleted: {one.title}" for one in gone]
    alike: list[str] = []
    code = CLEAN
    for before, after in pairs:
        try:
            with watched(after.board.name):
                found, was, now = _compare(before, after, request)
            if request.file():
                show(f"{after.title}: {_in_short(found)}\n")
            if found.is_unchanged:
                alike.append(f"As before: {after.title}")
            else:
                parts.append(_written(found, was, now, request))
            code = max(code, _exit_code(found, after, request))
        except StackwrightError as error:
            complain(error)
            lines.append(f"Not compared: {error}")
            code = BROKEN
    lines += alike[:MOST_ALIKE]
    if more := len(alike) - MOST_ALIKE:
        lines += [f"As before: {count(more, 'more board')}"] if more > 0 else []
    if lines:
        parts.append(
            "".join(f"- {escape(line)}\n" if request.format == MARKDOWN else f"{clean(line)}\n" for line in lines)
        )
    request.deliver("\n".join(parts), "report")
    return code


def _in_short(found: BoardDiff) -> str:
    return f"{' -> '.join(found.headlines)}: {found.came_and_went}"


def _exit_code(found: BoardDiff, after: State, request: DiffRequest) -> int:
    wanted = request.fail_on or request.config_of(after.board).check.fail_on or "error"
    failing = wanted != "never" and any(f.severity.rank >= Severity(wanted).rank for f in found.new)
    return FOUND if failing else CLEAN


def states(old: str, new: str | None, typed: Path | None) -> tuple[State, State]:
    """Return what the two words mean: a path, or a commit of the board that the other word or the third one names.

    Without a second word the new state is the file as it lies there.

    Raises:
        StackwrightError: a word is neither, or no board is named.
    """
    named = find_board(_place(old, new, typed))
    return _state(old, named), (State(named) if new is None else _state(new, named))


def states_below(old: str, new: str | None, typed: Path | None) -> Sequence[tuple[State, State]]:
    """Return the states of every board of a folder, where the old one is a commit; a new commit may lack some of them.

    Raises:
        StackwrightError: a word is neither a path nor a commit.
    """
    place = _place(old, new, typed)
    if Path(old).exists() or not place.is_dir():
        return ()
    commit = _commit_of(new)
    for word in (old, *((commit,) if commit else ())):
        _state(word, place / place.name)
    return [(State(one, old), State(one, commit)) for one in boards_of([place]) if _may_be_in(commit, one)]


def _may_be_in(commit: str | None, board: Path) -> bool:
    """Tell whether the new state has a board; one of another repository, a submodule, is told with the others."""
    try:
        return commit is None or has_board(commit, board)
    except GitError:
        return True


def deleted_below(old: str, new: str | None, typed: Path | None) -> Sequence[State]:
    """Return the boards of a folder that the old commit has and the new state has not."""
    place = _place(old, new, typed)
    if Path(old).exists() or not place.is_dir():
        return ()
    commit = _commit_of(new)
    has = set(files_below(commit, place)) if commit else None
    had = [one for one in files_below(old, place) if is_board_below(one)]
    return [State(place / one, old) for one in had if not ((place / one).exists() if has is None else one in has)]


def _commit_of(word: str | None) -> str | None:
    """Return a word that names a commit, None for one that names a file or folder."""
    return word if word is not None and not Path(word).exists() else None


def _place(old: str, new: str | None, typed: Path | None) -> Path:
    """Return the board, project or folder that is meant."""
    paths = [Path(word) for word in (old, new) if word is not None and Path(word).exists()]
    missing = [
        word for word in (old, new) if word is not None and word.endswith(".kicad_pcb") and Path(word) not in paths
    ]
    if missing:
        raise DiffError(missing[0], "no such file", "give two boards, or OLD NEW BOARD")
    return typed or (paths[-1] if paths else Path())


def _state(word: str, board: Path) -> State:
    if Path(word).exists():
        return State(find_board(Path(word)))
    folder = board.parent.resolve()
    if is_revision(word, folder):
        return State(board, word)
    why = f" ({said})" if (said := refusal(folder)) else ""
    what = f"is neither a file nor a commit that git knows here{why}"
    raise DiffError(word, what, "give two boards, or OLD NEW BOARD")


def _compare(before: State, after: State, request: DiffRequest) -> tuple[BoardDiff, CheckUp | None, CheckUp]:
    """Compare two states; a board that the old commit lacks is new as a whole, and has no former state."""
    with ExitStack() as stack:
        is_new = before.revision is not None and not has_board(before.revision, before.board)
        was = None if is_new else _checked(stack.enter_context(_laid_out(before)), before, request)
        now = _checked(stack.enter_context(_laid_out(after)), after, request)
        return new_board(before.title, now) if was is None else board_diff(was, now), was, now


@contextmanager
def _laid_out(state: State) -> Iterator[Path]:
    if state.revision is None:
        yield state.board
    else:
        with board_at(state.revision, state.board) as path:
            yield path


def _checked(path: Path, state: State, request: DiffRequest) -> CheckUp:
    tables = request.format in (HTML, MARKDOWN)  # the others show none
    checked = check_up(path, config=request.config_of(path), overrides=request.overrides, tables=tables)
    facts = checked.report.board.model_copy(update={"path": state.title})
    return CheckUp(checked.context, checked.report.model_copy(update={"board": facts}))


def _written(found: BoardDiff, was: CheckUp | None, now: CheckUp, request: DiffRequest) -> str:
    if request.format == JSON:
        return document_text(DiffDocument(diff=found))
    if request.format == MARKDOWN:
        return pull_request.render(found, now.report)
    if request.format == HTML:
        if was is None:
            raise DiffError(found.before, "is not in that commit", "give --format markdown, or check the board alone")
        from stackwright.commands.diff.html import html_of

        return html_of(found, was, now)
    return request.laid_out(page(found))
