"""Lets several writers go for the same files at the same moment, many times, and looks at what they leave behind.

Run as a program with a scenario's name, a number of writers and of rounds; prints what was wrong as JSON. Scenarios are
functions that write, and whole commands, which read and work for longer:
`python tests/support/robustness/rival_writers.py init 4 200`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from drc_rules.engine.baseline import Baseline
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad.write.file_edit import FileEdit, apply_edit, apply_together, digest
from stackwright.cli.app import run
from stackwright.commands.apply import apply as apply_command
from stackwright.commands.check import baseline as baseline_command
from stackwright.commands.setup import init as init_command
from stackwright.commands.suggest import command as suggest_command
from stackwright.text.output import write_over
from tests.support.kicad.kicad_boards import HEAD_V10, STACKUP, board_text

OLD = b"old " * 4000
BOARD = board_text(head=HEAD_V10, setup=STACKUP.replace("(epsilon_r 3.5) (loss_tangent 0)", ""))
WON, LOST, BROKE, READY = 0, 1, 2, 3


def new_of(writer: int) -> bytes:
    """What a writer wants."""
    return b"new %d " % writer * 4000


def apply(folder: Path, writer: int) -> None:
    """Replace a file, with a backup."""
    apply_edit(folder / "a.kicad_dru", new_of(writer), expected_digest=digest(OLD))


def both(folder: Path, writer: int) -> None:
    """Replace two files together; half of the writers name them the other way round."""
    names = "ab" if writer % 2 else "ba"
    apply_together([FileEdit(folder / f"{n}.kicad_dru", new_of(writer), digest(OLD)) for n in names])


def new(folder: Path, writer: int) -> None:
    """Make two files that were not there, as `new` does."""
    apply_together([FileEdit(folder / f"{n}.kicad_dru", new_of(writer), None) for n in "xy"], backup=False)


def over(folder: Path, writer: int) -> None:
    """Write over a file that was read before."""
    write_over(folder / "a.kicad_dru", new_of(writer).decode(), former=OLD, keep=True)


class Typed(NamedTuple):
    """A command line that reads a file, works, and writes over it.

    Attributes:
        words: `{writer}` is the writer's number, `{layers}` another even number for each.
        module, writes: where the command calls what writes: there the writers wait for each other, all of them having
            read the old content.
        target: the file that is written.
        old: what it holds before.
        keeps: a backup is kept.
    """

    words: str
    module: ModuleType
    writes: str
    target: str
    old: bytes = OLD
    keeps: bool = False

    def argv(self, writer: int) -> list[str]:
        return self.words.format(writer=writer, layers=4 + 2 * writer).split()


SCENARIOS: dict[str, tuple[Callable[[Path, int], None], str, bool]] = {
    "apply": (apply, "a", True),
    "both": (both, "ab", True),
    "new": (new, "xy", False),
    "over": (over, "a", True),
}
"""What a writer does, which files it writes, and whether these were there before."""

COMMANDS = {
    "init": Typed("init {writer}.kicad_pcb --force", init_command, "write_over", "stackwright.toml", keeps=True),
    "suggest": Typed(
        "suggest --profile edge --limit 1 --layers {layers} --plan p.toml", suggest_command, "write_over", "p.toml"
    ),
    "stackup": Typed("stackup {writer}.kicad_pcb --plan --output p.toml", apply_command, "write_over", "p.toml"),
    "baseline": Typed(
        "baseline {writer}.kicad_pcb --output k.json --grow",
        baseline_command,
        "write_over",
        "k.json",
        Baseline().text().encode(),
    ),
    "apply-write": Typed(
        "apply {writer}.plan.toml b.kicad_pcb --write --change-stackup",
        apply_command,
        "apply_together",
        "b.kicad_pcb",
        BOARD.encode(),
        keeps=True,
    ),
}


def lay_out(folder: Path, typed: Typed | None = None, writers: int = 0) -> None:
    """The folder as every round finds it."""
    for file in folder.iterdir():
        file.unlink()
    for name in "ab" if typed is None else "":
        (folder / f"{name}.kicad_dru").write_bytes(OLD)
    for writer in range(writers if typed else 0):
        (folder / f"{writer}.kicad_pcb").write_text(BOARD, encoding="utf-8")
        (folder / f"{writer}.plan.toml").write_text(plan_of(writer), encoding="utf-8")
    if typed is not None:
        (folder / typed.target).write_bytes(typed.old)


def plan_of(writer: int) -> str:
    """The board's own plan with a core of another thickness for each writer."""
    if not _plan:
        with tempfile.TemporaryDirectory() as made:
            board, plan = Path(made) / "b.kicad_pcb", Path(made) / "p.toml"
            board.write_text(BOARD, encoding="utf-8")
            quietly(["stackup", str(board), "--plan", "--output", str(plan)])
            _plan.append(plan.read_text(encoding="utf-8"))
    changed = _plan[0].replace("thickness_mm = 1.2,", f"thickness_mm = {1.3 + writer / 10:.1f},")
    assert changed != _plan[0]
    return changed


_plan: list[str] = []


def quietly(argv: list[str]) -> str:
    """Run a command that must end well; returns what it says."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(argv)
    assert code == 0, (argv, code, said.getvalue())
    return said.getvalue()


def alone(folder: Path, typed: Typed, writers: int) -> list[bytes]:
    """What each writer writes where there is no other; no two of them the same."""
    found = []
    for writer in range(writers):
        lay_out(folder, typed, writers)
        quietly(typed.argv(writer))
        found.append((folder / typed.target).read_bytes())
    assert len({typed.old, *found}) == writers + 1, "writers that want the same"
    return found


class Rival:
    """A writer in a process of its own, which waits for the word to go."""

    def __init__(self, work: Callable[[Path, int], None] | Typed, folder: Path, writer: int) -> None:
        self.number = writer
        self.go, self.gate = os.pipe()
        self.answer, self.said = os.pipe()
        self.child = os.fork()
        if self.child:
            return
        try:
            if isinstance(work, Typed):
                work = self.command(work)
            while os.read(self.go, 1):
                os.write(self.said, bytes([self.end_of(work, folder)]))
        finally:
            os._exit(0)

    def command(self, typed: Typed) -> Callable[[Path, int], None]:
        """The command, which waits for the others before it writes."""
        writes = getattr(typed.module, typed.writes)

        def waiting(*given: object, **more: object) -> object:
            os.write(self.said, bytes([READY]))
            os.read(self.go, 1)
            return writes(*given, **more)

        setattr(typed.module, typed.writes, waiting)
        return lambda _folder, writer: void(quietly(typed.argv(writer)))

    def end_of(self, work: Callable[[Path, int], None], folder: Path) -> int:
        try:
            work(folder, self.number)
        except StackwrightError:
            return LOST
        except BaseException:
            return BROKE
        return WON

    def stop(self) -> None:
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def void(_: object) -> None:
    """Forget what a command says."""


def wrong(folder: Path, ends: list[int], written: str, *, replaced: bool) -> list[str]:
    """What must not be: two winners or none, a mixture, a backup of anything but the old content, an unknown file."""
    if sorted(ends) != [WON] + [LOST] * (len(ends) - 1):
        return [f"the writers ended with {ends}"]
    files = {f"{name}.kicad_dru" for name in written}
    wanted = dict.fromkeys(sorted(files), new_of(ends.index(WON)))
    known = {f"{name}.kicad_dru" for name in "ab"} | files
    return left_wrong(folder, wanted, known, OLD, len(files) if replaced else 0)


def left_wrong(folder: Path, wanted: dict[str, bytes], known: set[str], old: bytes, backups: int) -> list[str]:
    """What is wrong with the files of a folder after a round."""
    found = [f"{name} is not the winner's" for name, data in wanted.items() if (folder / name).read_bytes() != data]
    kept = sorted(file for file in folder.iterdir() if file.name.endswith("-bak"))
    if len(kept) != backups:
        found.append(f"{len(kept)} backups")
    found += [f"{file.name} is no backup" for file in kept if file.read_bytes() != old]
    names = known | {file.name for file in kept}
    return found + [f"{file.name} is a stranger" for file in folder.iterdir() if file.name not in names]


def command_round(folder: Path, typed: Typed, rivals: list[Rival], wants: list[bytes]) -> list[str]:
    """Let every command read, then all of them write."""
    lay_out(folder, typed, len(rivals))
    known = {file.name for file in folder.iterdir()}
    ends = race(rivals)
    if ends != [READY] * len(rivals):
        return [f"before anything was written the commands were at {ends}"]
    ends = race(rivals)
    if sorted(ends) != [WON] + [LOST] * (len(ends) - 1):
        return [f"the writers ended with {ends}"]
    return left_wrong(folder, {typed.target: wants[ends.index(WON)]}, known, typed.old, int(typed.keeps))


def race(rivals: list[Rival]) -> list[int]:
    """Say go to all, and wait for all."""
    for competitor in rivals:
        os.write(competitor.gate, b"g")
    return [os.read(competitor.answer, 1)[0] for competitor in rivals]


def main(name: str, writers: int, rounds: int) -> None:
    """Let a number of writers meet a number of times."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "project"
        folder.mkdir()
        os.chdir(folder)
        typed = COMMANDS.get(name)
        wants = alone(folder, typed, writers) if typed else []
        rivals = [Rival(typed or SCENARIOS[name][0], folder, writer) for writer in range(writers)]
        for number in range(rounds):
            if typed is not None:
                found = command_round(folder, typed, rivals, wants)
            else:
                _, written, replaced = SCENARIOS[name]
                lay_out(folder)
                found = wrong(folder, race(rivals), written, replaced=replaced)
            problems += [f"round {number}: {what}" for what in found]
        for competitor in rivals:
            competitor.stop()
        os.chdir("/")
    sys.stdout.write(json.dumps({"rounds": rounds, "problems": problems}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
