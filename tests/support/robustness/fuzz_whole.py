"""The whole check fuzzed: `stackwright check` as it is typed, in process, with options and reports by chance.

`whole`: boards of the rules' cases and the fixture boards, one or two of their files damaged: the board, its project,
its rules, its settings; settings from elsewhere, a baseline, every option that judges, every format. `whole_nodes` and
`check_nodes`: the same boards mutated by `fuzz_nodes`, so that nearly all of them are checked; what is typed
makes sense, and settings and project now and then are those of another board.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
from pathlib import Path
from random import Random

from stackwright.cli.app import run
from tests.support.robustness import fuzz_targets
from tests.support.robustness.fuzz_nodes import Lexicon, lexicon, mutated
from tests.support.robustness.fuzz_targets import (
    FIXTURES,
    FORMATS,
    LONGEST_ERROR,
    NAMES,
    Target,
    baseline_seeds,
    board_seeds,
    check_files,
    harmless,
    mini_boards,
    promise,
)
from tests.support.robustness.fuzzing import damaged

PROFILES = ("inference-pcie", "training-b200", "edge", "no-such-workload", "")
FORMS = ("pcie-fhhl", "ocp-oam", "no-such-form")
SELECTED = ("STK", "IMP,LOS", "VIA001", "MAT", "X", "")
TARGET_OHMS = ("/PCIE*=85 diff", "*=50", "[", "a=b", "?=1e308 diff", "/*=0")
REPORTS = ("text", *FORMATS)
LEVELS = ("error", "warning", "info", "never")
FOUND, BROKEN = 1, 2
WORKLOADS = ("inference-pcie", "training-b200", "edge", "training-h100", "inference-sxm-oam", "inference-rack")
FEWER_SLOW = tuple(1 if name in ("text", "html") else 5 for name in REPORTS)
FIXTURE_SHARE = 0.015
"""A fixture board takes as long as ten boards of cases."""
FIXTURE_SHARE_OF_NODES = 0.002


@functools.cache
def fixture_boards() -> tuple[dict[str, bytes], ...]:
    """The files of the fixture boards, the largest left out."""
    boards = []
    for path in sorted(FIXTURES.glob("boards/*/*.kicad_pcb")):
        files = {NAMES[suffix]: path.with_suffix(f".kicad_{suffix}") for suffix in ("pcb", "pro", "dru")}
        files[NAMES["toml"]] = path.with_name(NAMES["toml"])
        boards.append({name: file.read_bytes() for name, file in files.items() if file.exists()})
    return tuple(files for files in boards if len(files[NAMES["pcb"]]) < 120_000)


def whole_check(_: bytes, folder: Path, chance: Random) -> bool:
    """Take a board, damage it or what lies next to it, and check it; returns whether it could be."""
    for path in folder.iterdir():
        path.unlink()
    files = dict(chance.choice(fixture_boards() if chance.random() < FIXTURE_SHARE else mini_boards()))
    for _again in range(chance.choice((1, 1, 1, 1, 1, 2))):
        which = chance.choice(sorted(files)) if chance.random() < 0.4 else NAMES["pcb"]
        files[which] = damaged(chance, files[which], (chance.choice(mini_boards())[NAMES["pcb"]], files[NAMES["pcb"]]))
    if chance.random() < 0.2:
        files[NAMES["dru"]] = damaged(chance, fuzz_targets.RULES.encode())
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return run_check(folder, options(folder, chance), reports(chance))


@functools.cache
def known() -> Lexicon:
    """Return what the boards of the cases, the fixture boards, and small boards of KiCad 4 to 10 hold where."""
    boards = (files[NAMES["pcb"]] for files in (*mini_boards(), *fixture_boards()))
    return lexicon((*boards, *board_seeds()))


def mutated_files(chance: Random) -> dict[str, bytes]:
    """Take a board, mutate its tree, and now and then lay another board's settings or project next to it."""
    if chance.random() < FIXTURE_SHARE_OF_NODES:
        files = dict(chance.choice(fixture_boards()))
    else:  # sorted by size: small ones more often
        files = dict(mini_boards()[int(len(mini_boards()) * min(chance.random() for _ in range(3)))])
    files[NAMES["pcb"]] = mutated(chance, files[NAMES["pcb"]], known())
    if chance.random() < 0.2:
        other = chance.choice(mini_boards())
        files |= {name: data for name, data in other.items() if name != NAMES["pcb"]}
    return files


def whole_mutated_check(_: bytes, folder: Path, chance: Random) -> bool:
    """Check a mutated board by the command line; returns whether it could be checked."""
    for path in folder.iterdir():
        path.unlink()
    for name, data in mutated_files(chance).items():
        (folder / name).write_bytes(data)
    formats = REPORTS if chance.random() < 0.005 else tuple(chance.choices(REPORTS, FEWER_SLOW))
    return run_check(folder, sound_options(chance), formats)


def mutated_check(_: bytes, folder: Path, chance: Random) -> None:
    """Check a mutated board and render every report, or one by chance besides the text."""
    check_files(mutated_files(chance), folder, chance)


def sound_options(chance: Random) -> list[str]:
    """Return options that make sense, for what is to be tried is the board."""
    typed: list[str] = []
    for rare, name, values in (
        (0.5, "--profile", WORKLOADS),
        (0.1, "--ignore", ("STK", "FAB", "VIA001")),
        (0.1, "--impedance", ("/PCIE*=85 diff", "*=50")),
        (0.2, "--fail-on", LEVELS),
    ):
        if chance.random() < rare:
            typed += [name, chance.choice(values)]
    return [*typed, *(name for name in ("--all", "--no-suppressions", "--timing") if chance.random() < 0.1)]


def options(folder: Path, chance: Random) -> list[str]:
    """Return what else is typed; each option is there now and then, and mostly makes sense."""
    typed: list[str] = []
    for rare, name, values in (
        (0.4, "--profile", PROFILES),
        (0.1, "--form", FORMS),
        (0.1, "--select", SELECTED),
        (0.1, "--ignore", SELECTED),
        (0.1, "--impedance", TARGET_OHMS),
        (0.3, "--fail-on", LEVELS),
        (0.1, "--min-coverage", ("0", "50", "100", "nan", "-1")),
    ):
        if chance.random() < rare:
            at = 0 if chance.random() < 0.7 else chance.randrange(len(values))
            typed += [name, values[at]]
    typed += [name for name in ("--all", "--no-suppressions", "--timing") if chance.random() < 0.1]
    for rare, name, seeds in ((0.15, "--config", fuzz_targets.settings_seeds), (0.05, "--baseline", baseline_seeds)):
        if chance.random() < rare:
            seed = chance.choice(seeds())
            file = folder / f"typed{name}"
            file.write_bytes(seed if chance.random() < 0.6 else damaged(chance, seed, seeds()))
            typed += [name, str(file)]
    return typed


def reports(chance: Random) -> tuple[str, ...]:
    """Return formats: mostly two, now and then all."""
    return REPORTS if chance.random() < 0.02 else (*chance.sample(REPORTS, 2),)


def run_check(folder: Path, typed: list[str], formats: tuple[str, ...]) -> bool:
    """Type the command; returns whether the board was checked, False where it was refused in one line."""
    argv = ["check", str(folder / NAMES["pcb"]), *typed]
    for name in formats:
        argv += ["--format", name, "--output", str(folder / f"report.{name}")]
    shown, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
        code = run(argv)
    errors = [line for line in said.getvalue().splitlines() if not line.startswith(("timing: ", "  "))]
    _one_reason(errors, code)
    harmless("text", shown.getvalue())
    written = {name: folder / f"report.{name}" for name in formats}
    if not all(path.exists() for path in written.values()):
        promise(kept=code == BROKEN, what=f"exit code {code} without a report")
        return False
    for name, path in written.items():
        harmless(name, path.read_bytes().decode("utf-8"))
    if "json" in written:
        _agrees(json.loads(written["json"].read_bytes()), code, typed)
    return code != BROKEN


def _one_reason(errors: list[str], code: int) -> None:
    """Fail unless the error stream is one line of reason for exit code 2, and no rule crashed."""
    said = "\n".join(errors)
    promise(
        kept=not any(word in said for word in (" broke (", "internal error", "Traceback")),
        what=said[said.find("rule ") :][:300],
    )
    promise(kept=code in (0, FOUND, BROKEN), what=f"exit code {code}")
    promise(kept=code != BROKEN or said.startswith("error: "), what="exit code 2 without a reason")
    promise(
        kept=len(errors) <= 1 and len(said) <= LONGEST_ERROR,
        what=f"an error of {len(errors)} lines and {len(said)} characters: {said[:200]!r}",
    )


def _agrees(found: dict[str, list[dict[str, list[dict[str, str]]]]], code: int, typed: list[str]) -> None:
    """Fail where the report says one thing and the exit code another; what is not typed may stand in settings."""
    promise(kept=len(found["reports"]) + len(found["errors"]) == 1, what="a board is in no report, or in two")
    promise(kept=not found["errors"] or code == BROKEN, what=f"exit code {code}, but the report says: not checked")
    if found["reports"] and "--fail-on" in typed and code != BROKEN:
        level = typed[typed.index("--fail-on") + 1]
        failing = () if level == "never" else LEVELS[: LEVELS.index(level) + 1]
        fails = [one["severity"] for one in found["reports"][0]["findings"] if one["severity"] in failing]
        promise(kept=code == FOUND or not fails, what=f"exit code 0 with a finding of {fails[:1]}")


def _none() -> tuple[bytes, ...]:
    return (b"",)


WHOLE = (
    Target("whole", _none, whole_check),
    Target("whole_nodes", _none, whole_mutated_check),
    Target("check_nodes", _none, mutated_check),
)
TARGETS = {**fuzz_targets.TARGETS, **{target.name: target for target in WHOLE}}
