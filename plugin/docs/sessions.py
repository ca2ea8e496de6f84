"""The commands that the guide shows, run as the guide tells: to compare what they print, or to renew it on the pages.

`PYTHONPATH=.:plugin python -m docs.sessions [PAGE.md ...]` renews the pages, by default all.

Each page is a session in a folder of its own, in which `fixtures` leads to those of the project:

- `<!-- board: NAME -->` puts that board of `fixtures/boards` there as `card.kicad_pcb`, with project and settings;
- `<!-- file: NAME -->` before a block of code writes the block into that file, with `:add` at its end;
- in a block of text, a line `$ COMMAND` is run, and the lines that follow are what it prints. `[...]` stands for lines
  that are left out; without any line the output is not shown.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "plugin" / "docs" / "pages" / "texts" / "guide"
BOARDS = ROOT / "fixtures" / "boards"

LEFT_OUT = "[...]"
HELPERS = ("cp", "mkdir", "ls", "cat")
"""Commands that a page may use besides `stackwright`."""
LEAST_LIKENESS = 0.5

STEP = re.compile(
    r"^<!-- board: (?P<board>\w+) -->$"
    r"|^(?:<!-- file: (?P<file>[\w.-]+)(?P<add>:add)? -->\n)?```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (?P<line>.+)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A command of a page that was run, and where in the page's text its output stands."""

    line: str
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    exit_code: int
    span: tuple[int, int]

    @property
    def is_as_shown(self) -> bool:
        """Whether the page shows what the command prints."""
        wanted = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(f"{line}\n") for line in self.shown)
        return not self.shown or re.fullmatch(wanted, _text(self.printed)) is not None

    def renewed(self) -> str:
        """Return what is to be shown: of each passage the lines between those most like its first and last one.

        Raises:
            ValueError: nothing that is printed is like a line that is shown.
        """
        lines: list[str] = []
        groups = [(out, tuple(some)) for out, some in groupby(self.shown, lambda line: line == LEFT_OUT)]
        at = 0
        for place, (out, some) in enumerate(groups):
            if out:
                lines += some
                continue
            begin = self._like(some[0], at, at) if place else 0
            is_last = place == len(groups) - 1
            at = len(self.printed) if is_last else self._like(some[-1], begin, begin + len(some) - 1) + 1
            lines += self.printed[begin:at]
        return _text(lines)

    def _like(self, line: str, least: int, expected: int) -> int:
        """Return the index of the printed line that is most like one; of equal ones, the nearest to the expected."""
        rated = [
            (SequenceMatcher(None, line, self.printed[i]).ratio(), -abs(i - expected), i)
            for i in range(least, len(self.printed))
        ]
        best = max(rated, default=(0.0, 0, 0))
        if best[0] < LEAST_LIKENESS:
            raise ValueError(f"{self.line}: prints nothing like {line!r}")
        return best[2]


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def runs(text: str, folder: Path) -> Iterator[Run]:
    """Follow a page in an empty folder, command by command."""
    (folder / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    for step in STEP.finditer(text):
        if step["board"]:
            for path in sorted((BOARDS / step["board"]).iterdir()):
                name = f"card{path.suffix}" if path.stem == step["board"] else path.name
                shutil.copy(path, folder / name)
            (folder / "board.toml").unlink(missing_ok=True)
        elif step["file"]:
            path = folder / step["file"]
            before = path.read_text(encoding="utf-8") + "\n" if step["add"] else ""
            path.write_text(before + step["body"], encoding="utf-8")
        elif step["language"] == "text":
            yield from _commands(step["body"], step.start("body"), folder)


def _commands(block: str, offset: int, folder: Path) -> Iterator[Run]:
    for found in COMMAND.finditer(block):
        exit_code, printed = _run(found["line"], folder)
        span = (offset + found.start("shown"), offset + found.end("shown"))
        yield Run(found["line"], tuple(found["shown"].splitlines()), tuple(printed), exit_code, span)


def _run(line: str, folder: Path) -> tuple[int, list[str]]:
    """Return exit code and output of one command; no shell takes part.

    Raises:
        ValueError: it is neither `stackwright` nor one of the helpers.
    """
    name, *words = shlex.split(line, comments=True)
    if name == "stackwright":
        command = [sys.executable, "-m", "stackwright", *words]
    elif name in HELPERS:
        command = [name, *words]
    else:
        raise ValueError(f"{line}: the guide runs stackwright, {', '.join(HELPERS)}")
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    environment |= {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "plugin"))), "NO_COLOR": "1"}
    done = subprocess.run(  # noqa: S603 - commands of the project's own pages
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    printed = done.stdout.decode("utf-8").replace(f"{folder.resolve()}{os.sep}", "")
    return done.returncode, [row.rstrip() for row in printed.splitlines()]


def renew(page: Path) -> None:
    """Write a page anew with what its commands print now."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        done = list(runs(text, Path(folder)))
    for run in reversed(done):
        if not run.is_as_shown:
            text = text[: run.span[0]] + run.renewed() + text[run.span[1] :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for path in [Path(name) for name in sys.argv[1:]] or sorted(GUIDE.glob("*.md")):
        renew(path)
