"""What a real KiCad exports of a board, and changes to it that a release check has to find."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.release.compare import compare_release
from drc_rules.release.model import ReleaseFinding, ReleaseOutcome
from stackup_lib.fab_files.read import read_fab_files
from stackup_lib.kicad import read_board
from tests.conftest import KicadCli

FIXTURES = Path(__file__).parents[3] / "fixtures" / "boards"
DIFFERS, NOT_STATED, NOTE = ReleaseOutcome.DIFFERS, ReleaseOutcome.NOT_STATED, ReleaseOutcome.NOTE
NOT_COMPARED = ReleaseOutcome.NOT_COMPARED


@dataclass(frozen=True)
class Exported:
    """A board and what KiCad made of it."""

    context: Context
    folder: Path

    def findings(self, *names: str) -> list[ReleaseFinding]:
        files, _ = read_fab_files([self.folder / name for name in names])
        return list(compare_release(self.context, files).findings)


def context_of(board: Path) -> Context:
    return prepare(read_board(board), find_config(board, None), Overrides())[0]


COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "gerber": (("gerbers", "-o", "gerber/"), ("drill", "--excellon-separate-th", "-o", "gerber/")),
    "c.xml": (("ipc2581", "--version", "C", "-o", "c.xml"),),
    "b.xml": (("ipc2581", "--version", "B", "-o", "b.xml"),),
    "odb.zip": (("odb", "-o", "odb.zip"),),
    "odb4.zip": (("odb", "--precision", "4", "-o", "odb4.zip"),),
    "odb4.tgz": (("odb", "--precision", "4", "--compression", "tgz", "-o", "odb4.tgz"),),
    "net.d356": (("ipcd356", "-o", "net.d356"),),
}
"""What makes each file: the words after `kicad-cli pcb export`, the last one in the folder of the files."""


def export(kicad_cli: KicadCli, source: Path, folder: Path, names: Iterable[str] = tuple(COMMANDS)) -> Exported:
    """Export a copy of the board."""
    copy = folder / source.parent.name
    shutil.copytree(source.parent, copy)
    board = copy / source.name
    out = folder / "out"
    for name in names:
        for *words, to in COMMANDS[name]:
            kicad_cli("pcb", "export", *words, f"{out}/{to}", board)
    return Exported(context_of(board), out)


def told(findings: list[ReleaseFinding]) -> set[tuple[ReleaseOutcome, str]]:
    return {(finding.outcome, finding.topic) for finding in findings}


Change = Callable[[Path], object]


def key_of(finding: ReleaseFinding) -> tuple[object, ...]:
    """What makes two findings the same, wherever in the file they are."""
    return finding.outcome, finding.topic, finding.what, finding.board, finding.sent


def new_after(
    exported: Exported, name: str, change: Change, known: set[tuple[object, ...]], folder: Path
) -> list[ReleaseFinding]:
    """Change a copy of an exported file or folder, and return the findings that were not there before."""
    source = exported.folder / name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    change(folder)
    return [one for one in Exported(exported.context, folder).findings(name) if key_of(one) not in known]


def replaced(name: str, pattern: str, new: str | Callable[[re.Match[str]], str], count: int = 1) -> Change:
    """Change the first match in a text file of the export."""

    def change(folder: Path) -> None:
        path = next(iter(sorted(folder.glob(name))))
        text, number = re.subn(pattern, new, path.read_text(), count=count, flags=re.DOTALL)
        assert number, f"{pattern} is not in {name}"
        path.write_text(text)

    return change


def without(name: str) -> Change:
    def change(folder: Path) -> None:
        paths = sorted(folder.glob(name))
        assert paths
        for path in paths:
            path.unlink()

    return change


def copied(name: str, to: str) -> Change:
    return lambda folder: shutil.copy(next(iter(folder.glob(name))), folder / to)


def swapped(one: str, other: str) -> Change:
    """Exchange the layer numbers of two copper files."""

    def change(folder: Path) -> None:
        paths = [next(iter(folder.glob(name))) for name in (one, other)]
        words = [re.search(r"Copper,L\d+", path.read_text()) for path in paths]
        assert all(words)
        for path, mine, theirs in zip(paths, words, reversed(words), strict=True):
            assert mine and theirs
            path.write_text(path.read_text().replace(mine[0], theirs[0]))

    return change


def in_zip(member: str, pattern: str, new: str) -> Change:
    """Change a member of the ODB++ archive."""

    def change(folder: Path) -> None:
        path = folder / "odb4.zip"
        out = io.BytesIO()
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as made:
            assert member in old.namelist()
            for name in old.namelist():
                text = old.read(name)
                if name == member:
                    text, number = re.subn(pattern.encode(), new.encode(), text, count=1, flags=re.DOTALL)
                    assert number
                made.writestr(name, text)
        path.write_bytes(out.getvalue())

    return change


def job(change_of: Callable[[dict[str, Any]], object]) -> Change:
    """Change the Gerber job file."""

    def change(folder: Path) -> None:
        path = next(iter(folder.glob("gerber/*.gbrjob")))
        data = json.loads(path.read_text())
        change_of(data)
        path.write_text(json.dumps(data, indent=2))

    return change
