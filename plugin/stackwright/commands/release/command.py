"""`stackwright release`: the files for the fab compared with the board that was checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from drc_rules.engine.check import prepare
from drc_rules.release.compare import compare_release
from drc_rules.release.model import ReleaseFile, ReleaseFinding
from stackup_lib.core.frozen import Frozen
from stackup_lib.fab_files.read import read_fab_files
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.release.page import release_page
from stackwright.commands.request import JSON, BoardRequest
from stackwright.run.paths import find_board

AGREES, DIFFERS = 0, 1


class ReleaseDocument(Frozen):
    """What `stackwright release --json` writes; values are in words, as the files and the board state them."""

    model_config = ConfigDict(title="Stackwright release comparison, version 1")

    format: Literal["stackwright-release"] = "stackwright-release"
    version: Literal[1] = 1
    board: dict[str, str]
    agrees: bool
    files: tuple[ReleaseFile, ...]
    findings: tuple[ReleaseFinding, ...]
    other_files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest(BoardRequest):
    """What is asked.

    Attributes:
        fix: write a corrected IPC-2581 beside each that is named.
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
        text = json.dumps(document.model_dump(mode="json"), indent=2, ensure_ascii=True) + "\n"
    else:
        text = request.laid_out(release_page(board_path.name, comparison, verbose=request.verbose))
    request.deliver(text, "comparison")
    return AGREES if comparison.agrees else DIFFERS
