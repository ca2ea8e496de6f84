"""`stackwright release`: the files for the fab compared with the board that was checked."""

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.release.compare import compare_release
from drc_rules.release.corrections import corrected_file
from drc_rules.release.model import ReleaseComparison, ReleaseFile, ReleaseFinding, ReleaseOutcome
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_plain
from stackup_lib.core.frozen import Frozen
from stackup_lib.fab_files.archive import MOST_FILE_BYTES
from stackup_lib.fab_files.ipc2581 import is_ipc2581
from stackup_lib.fab_files.read import HEAD, read_fab_files
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.release.page import findings_block, release_page, verdict
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import command_line
from stackwright.text.output import check_target, show, write_file
from stackwright.text.page import Page, styled, terminal_console

AGREES, DIFFERS = 0, 1
IPC2581 = "IPC-2581"
CORRECTED = "-corrected"
"""What the name of a corrected file ends with, before its suffix."""
REVISION_C = re.compile(rb"""<IPC-2581[^>]*\brevision\s*=\s*["']C""")
EXPORT = "kicad-cli pcb export ipc2581 --version C"


class ReleaseDocument(Frozen):
    """What `stackwright release --json` writes; values are text, as the files and the board state them."""

    model_config = ConfigDict(title="Stackwright release, version 1")

    format: Literal["stackwright-release"] = "stackwright-release"
    version: Literal[1] = 1
    board: dict[str, str]
    agrees: bool
    files: tuple[ReleaseFile, ...]
    findings: tuple[ReleaseFinding, ...]
    other_files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest(BoardRequest):
    """The arguments.

    Attributes:
        fix: write a corrected IPC-2581 next to each that is named, or that lies alone in a folder that is.
        verbose: show every difference and every file.
    """

    fix: bool = False
    verbose: bool = False


def check_release(typed: Path, files: Sequence[Path], request: ReleaseRequest) -> int:
    """Compare files with a board; exit code 1 when something differs or is stated by no file.

    Raises:
        StackwrightError: the board or a file cannot be read.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path, *files)
    content = read_bytes(board_path)
    context, _, _ = prepare(read_board(board_path, text=content), request.config_of(board_path), request.overrides)
    if request.fix:
        return _fix(context, files)
    with watched(board_path.name):
        sent, others = read_fab_files(files)
        comparison = compare_release(context, sent, others)
        comparison = comparison.model_copy(update={"findings": (*comparison.findings, *_superseded(comparison))})
    if request.format == JSON:
        document = ReleaseDocument(
            board={"path": board_path.as_posix(), "sha256": hashlib.sha256(content).hexdigest()},
            agrees=comparison.agrees,
            files=comparison.files,
            findings=comparison.findings,
            other_files=comparison.others,
        )
        text = document_text(document)
    else:
        page = release_page(board_path.name, comparison, verbose=request.verbose)
        _end(page, comparison, typed, files)
        text = request.laid_out(page)
    request.deliver(text, "comparison")
    return AGREES if comparison.agrees else DIFFERS


def _superseded(comparison: ReleaseComparison) -> Iterator[ReleaseFinding]:
    """Yield a note for each file of which the corrected one is among the files too."""
    paths = {file.path for file in comparison.files if file.format == IPC2581}
    for path in sorted(paths):
        stem, dot, suffix = path.rpartition(".")
        if f"{stem}{CORRECTED}{dot}{suffix}" in paths:
            yield ReleaseFinding(
                outcome=ReleaseOutcome.NOTE,
                topic="corrected file",
                what=f"{path} is here, too",
                place=path,
                consequence="The fab may take the file that lacks the corrections.",
                fix=f"send only the corrected one: remove {path}",
            )


def _end(page: Page, comparison: ReleaseComparison, typed: Path, files: Sequence[Path]) -> None:
    """The whole command that findings speak of, and what it needs first."""
    if comparison.other_board:
        page.gap()
        page.line("next: name the files of this board, not of a panel, or export them again from it")
        return
    if not any("release --fix" in finding.fix for finding in comparison.findings):
        return
    page.gap()
    page.line("next:")
    if _can_be_corrected(files):
        page.verbatim([command_line("release", str(typed), *map(str, files), "--fix")])
        return
    folder = next((path for path in files if path.is_dir()), files[0].parent)
    made = folder / f"{typed.stem}.xml"
    board = shlex.quote(str(find_board(typed)))
    page.verbatim([f"{EXPORT} --output {shlex.quote(str(made))} {board}"])
    page.verbatim([command_line("release", str(typed), str(made), "--fix")])


def _can_be_corrected(files: Sequence[Path]) -> bool:
    """Tell whether `--fix` takes these files as they are: of an older revision, several or packed ones it does not."""
    try:
        heads = [content[:HEAD] for _, content in _ipc2581_of(files)]
    except StackwrightError:
        return False
    return bool(heads) and all(REVISION_C.search(head) for head in heads)


def _ipc2581_of(files: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    """Yield the IPC-2581 files that are named, and the one of each folder that is not corrected yet.

    Raises:
        StackwrightError: a folder has several.
    """
    for path in files:
        inside = sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else [path]
        found = [(one, content) for one in inside if is_ipc2581((content := _content(one))[:HEAD])]
        if path.is_dir():
            found = [(one, content) for one, content in found if not one.stem.endswith(CORRECTED)]
            if len(found) > 1:
                names = ", ".join(one.name for one, _ in found)
                raise StackwrightError(
                    "--fix", f"{path} has several IPC-2581 files: {names}", "name the one to correct"
                )
        yield from found


def _fix(context: Context, files: Sequence[Path]) -> int:
    """Write a corrected file next to each IPC-2581, and compare what was written; 1 where that still differs."""
    written: list[Path] = []
    for path, content in _ipc2581_of(files):
        if words := compare_release(context, read_fab_files([path])[0]).other_board:
            raise StackwrightError(str(path), f"is of another board: {words}", "name the file of this board")
        target = path.with_name(f"{path.stem}{CORRECTED}{path.suffix}")
        check_target(target, list(files))
        write_file(target, _text(corrected_file(context, content, path.name), path))
        written.append(target)
    if not written:
        step = f"name one: {EXPORT} --output card.xml card.kicad_pcb"
        raise StackwrightError("--fix", "no IPC-2581 file is named", step)
    sent, others = read_fab_files(written)
    comparison = compare_release(context, sent, others)
    page = Page()
    for target in written:
        page.line(styled("Written", "bold"), f"  {target}")
    page.line(*verdict(comparison))
    findings_block(page, comparison, verbose=False)
    show(page.text(terminal_console()))
    return AGREES if comparison.agrees else DIFFERS


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StackwrightError(str(path), "is no UTF-8 text", "export it again with KiCad") from error


def _content(path: Path) -> bytes:
    try:
        return b"" if path.is_dir() else read_plain(path, MOST_FILE_BYTES)
    except OSError as error:
        step = "name the IPC-2581 file that KiCad wrote"
        raise StackwrightError(str(path), f"cannot be read ({error.strerror})", step) from error
