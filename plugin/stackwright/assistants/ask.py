"""One question to a command: run in a process of its own behind the fence, its answer bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio

from stackup_lib.core.errors import StackwrightError
from stackwright.assistants.bounded import Json, bounded
from stackwright.assistants.folders import board_in, boards_in
from stackwright.assistants.questions import BoardsQuestion, ToolQuestion

LONGEST_S = 600
NO_ANSWER = 2
"""Exit code of a command that could not answer."""


class UnansweredError(StackwrightError):
    """A command gave no answer; its own words say why."""

    def __str__(self) -> str:
        """Return the command's line as it is."""
        return self.what


async def answer_to(question: ToolQuestion, folders: tuple[Path, ...]) -> str:
    """Return the answer to a question as JSON: `answer`, and `cut` where something was left out.

    Raises:
        StackwrightError: the board is not in the folders, or the command could not answer; one line says why.
    """
    if isinstance(question, BoardsQuestion):
        return _text(bounded(boards_in(folders), question.at, question.first))
    typed: str | None = getattr(question, "board", None)
    folder, path = folders[0], ""
    if typed is not None:
        found = board_in(typed, folders)
        folder, path = found.folder, os.path.join(os.curdir, found.path)  # noqa: PTH118 - keeps the `./`
    code, out, said = await _run(question.words(path), folder, folders)
    if code == NO_ANSWER and not out.strip():
        raise UnansweredError("", said or "error: no answer", "")
    document: Json = question.parts(json.loads(out)) if question.is_json else out.splitlines()
    if code == NO_ANSWER and "headline" not in document:
        raise UnansweredError("", said, "")
    answer = bounded(document if question.at else question.shown(document), question.at, question.first)
    return _text(answer | {"remarks": said.splitlines()} if said else answer)


def _text(answer: dict[str, Json]) -> str:
    return json.dumps(answer, ensure_ascii=False)


async def _run(words: list[str], folder: Path, folders: tuple[Path, ...]) -> tuple[int, str, str]:
    """Run a command in a folder; return its exit code, its output, and what it says on the error stream."""
    command = [sys.executable, "-P", "-m", "stackwright.cli.fenced", *map(str, folders), "--", *words]
    with anyio.move_on_after(LONGEST_S):  # nothing is written to its input, which closes when this process ends
        done = await anyio.run_process(
            command, stdin=subprocess.PIPE, cwd=folder, check=False, env={**os.environ, "PYTHONUTF8": "1"}
        )
        out, said = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        return done.returncode, out, said.strip()
    raise StackwrightError(words[0], f"takes longer than {LONGEST_S} s", "run it on the command line")
