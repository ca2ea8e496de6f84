"""Kills a writer before every single line of Python that it runs, and looks at what is in the folder afterwards.

Run as a program with a scenario's name and a step; prints as JSON how often it killed and everything that was wrong.
Each trial is a fork that kills itself with SIGKILL, so nothing of it is tidied up.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from stackup_lib.core.files import sole_writer, whole_file
from stackup_lib.kicad.write import file_edit
from stackup_lib.kicad.write.file_edit import FileEdit, apply_edit, apply_together, digest
from stackwright.text import output

OLD, NEW = b"old " * 4000, b"new " * 5000
TRACED = {module.__file__ for module in (whole_file, sole_writer, file_edit, output, tempfile, shutil)}
LEFTOVER = ".stackwright-"
MOST_LINES = 3000


def one_file(folder: Path) -> None:
    """Replace a board, with a backup."""
    apply_edit(folder / "a.kicad_dru", NEW, expected_digest=digest(OLD))


def new_file(folder: Path) -> None:
    """Make a file that was not there."""
    apply_edit(folder / "n.kicad_dru", NEW, expected_digest=None)


def report(folder: Path) -> None:
    """Replace a report."""
    output.write_file(folder / "a.kicad_dru", NEW.decode())


def settings(folder: Path) -> None:
    """Make settings that must not be there yet."""
    output.write_file(folder / "n.kicad_dru", NEW.decode(), replace=False)


def together(folder: Path) -> None:
    """Replace two files and make a third."""
    old = digest(OLD)
    apply_together([FileEdit(folder / f"{n}.kicad_dru", NEW, old if n in "ab" else None) for n in "abn"])


SCENARIOS: dict[str, Callable[[Path], None]] = {
    one.__name__: one for one in (one_file, new_file, report, settings, together)
}


def lay_out(folder: Path) -> None:
    """The folder as every trial finds it."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.kicad_dru").write_bytes(OLD)


def killing(line: int) -> Callable[[FrameType, str, Any], Any]:
    """Return a trace function that kills the process before the given line of what is traced."""
    left = line

    def within(_frame: FrameType, event: str, _argument: object) -> object:
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return within

    def entered(frame: FrameType, _event: str, _argument: object) -> object:
        return within if frame.f_code.co_filename in TRACED else None

    return entered


def is_killed(scenario: Callable[[Path], None], folder: Path, line: int) -> bool:
    """Run a scenario in a fork that dies before the given line; False when it ended before that."""
    child = os.fork()
    if child == 0:
        try:
            sys.settrace(killing(line))
            scenario(folder)
            sys.settrace(None)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the scenario failed"
    return False


def wrong(folder: Path) -> list[str]:
    """What must not lie in the folder after a kill: half a file, a missing one, an unknown one."""
    found = []
    for name in "ab":
        content = (folder / f"{name}.kicad_dru").read_bytes() if (folder / f"{name}.kicad_dru").exists() else None
        if content not in (OLD, NEW):
            found.append(f"{name} is neither old nor new")
    for file in folder.iterdir():
        if file.name.endswith("-bak"):
            if file.read_bytes() != OLD:
                found.append(f"{file.name} is no backup")
        elif file.name == "n.kicad_dru":
            if file.read_bytes() != NEW:
                found.append("the new file is not whole")
        elif file.name not in ("a.kicad_dru", "b.kicad_dru") and not file.name.startswith(LEFTOVER):
            found.append(f"{file.name} is a stranger")
    return found


def recovered(folder: Path) -> list[str]:
    """What is wrong after another write, hours later: nothing of the killed one may be in the way, or stay."""
    for left in folder.glob(f"{LEFTOVER}*"):
        os.utime(left, (0, 0))
    path = folder / "a.kicad_dru"
    apply_edit(path, b"third", expected_digest=digest(path.read_bytes()), backup=False)
    names = sorted(file.name for file in folder.iterdir())
    return [f"{name} is still there" for name in names if name.startswith(LEFTOVER)]


def main(name: str, step: int) -> None:
    """Kill a scenario before each of its lines, or before each `step`-th."""
    kills = 0
    problems: list[str] = []
    contents: set[bytes] = set()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "project"
        folder.mkdir()
        for line in range(0, MOST_LINES, step):
            lay_out(folder)
            if not is_killed(SCENARIOS[name], folder, line):
                break
            kills += 1
            target = folder / ("n.kicad_dru" if name in ("new_file", "settings") else "a.kicad_dru")
            contents.add(target.read_bytes()[:3] if target.exists() else b"")
            problems += [f"line {line}: {what}" for what in (*wrong(folder), *recovered(folder))]
    sys.stdout.write(json.dumps({"kills": kills, "problems": problems, "seen": sorted(c.decode() for c in contents)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
