"""`stackwright release`: the files for the fab compared with the board that was checked."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.release.compare import compare_release
from drc_rules.release.corrections import corrected_file
from drc_rules.release.model import ReleaseFile, ReleaseFinding
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
from stackwright.text.output import check_target, show, write_file
from stackwright.text.page import Page, styled, terminal_console

AGREES, DIFFERS = 0, 1


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
        fix: write a corrected IPC-2581 next to each that is named.
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
        text = request.laid_out(release_page(board_path.name, comparison, verbose=request.verbose))
    request.deliver(text, "comparison")
    return AGREES if comparison.agrees else DIFFERS


def _fix(context: Context, files: Sequence[Path]) -> int:
    """Write a corrected file next to each IPC-2581, and compare what was written; 1 where that still differs."""
    written: list[Path] = []
    for path in files:
        content = _content(path)
        if not is_ipc2581(content[:HEAD]):
            continue
        target = path.with_name(f"{path.stem}-corrected{path.suffix}")
        check_target(target, list(files))
        write_file(target, _text(corrected_file(context, content, path.name), path))
        written.append(target)
    if not written:
        step = "name one: kicad-cli pcb export ipc2581 --version C --output card.xml card.kicad_pcb"
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
