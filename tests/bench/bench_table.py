"""What commands take, next to what they are held against, as one table: `python tests/bench/bench_table.py`.

Ours and the other program take turns, RUNS times each; the table shows the minimum and the median of the processor
seconds of whole processes with their children, which other work on the machine disturbs less than seconds of the clock.
`--drc` adds the largest of KiCad's demo boards against `kicad-cli pcb drc`, some minutes. `--runs N`, `--only WORD`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from stackwright.run.limits import SINGLE_THREAD
from tests.bench.bench_check import compile_packages, peak_mb, settings
from tests.bench.bench_reader import ROOT, largest_demo
from tests.conftest import demo_folder

RUNS = 5
OURS = (sys.executable, "-m", "stackwright")
IMPORTS = (sys.executable, "-c", "import numpy, shapely")
IMPORTS_ALONE = (sys.executable, "-c", "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; import numpy, shapely")
"""Without the threads that OpenBLAS starts: a check starts none."""
SMALL = "tiny_tapeout/*.kicad_pcb"
SIXTEEN_LAYERS = "inference_hdi_2n2_fit"
TWENTY_EIGHT_LAYERS = "training_b200_fit"
BOARDS = 100
NO_CACHE = "STACKWRIGHT_NO_CACHE"
LINKS = ("--interface", "nvlink5", "--interface", "pcie6")


Command = tuple[str | Path, ...]


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        what: in words.
        ours: the command.
        other: what it is held against, None where it has a bound in seconds.
        goal: seconds, or times the other's seconds.
        is_cached: whether an earlier run has solved its cross sections; else no cache is used.
    """

    what: str
    ours: Command
    other: Command | None
    goal: float
    is_cached: bool = False


def rows(folder: Path, *, drc: bool) -> Iterator[Row]:
    """Yield the lines that can be measured here; `folder` takes boards and pages."""
    demos = demo_folder()
    small = next(iter(demos.glob(SMALL)), None) if demos else None
    if small:
        yield Row("check, 4.5 MB, against import numpy, shapely", (*OURS, "check", small), IMPORTS, 3.5)
        yield Row("the same, the import with one thread", (*OURS, "check", small), IMPORTS_ALONE, 3.5)
    for option in ("--help", "--version"):
        yield Row(option, (*OURS, option), None, 0.12)
    yield Row("impedance, 16 layers", (*OURS, "impedance", fixture(SIXTEEN_LAYERS)), None, 1.5)
    page = (*OURS, "check", fixture(TWENTY_EIGHT_LAYERS), "--format", "html", "--full", "-o", folder / "page.html")
    yield Row("check --format html --full, 28 layers", page, None, 6.0)
    suggested = (*OURS, "suggest", "--profile", "training-b200", *LINKS, "--layers", "32")
    yield Row("suggest, 32 layers, five answers", suggested, None, 2.0)
    yield Row("the same again, lines from the cache", suggested, None, 2.0, is_cached=True)
    one, many = copies(folder / "one", 1), copies(folder / "many", BOARDS)
    yield Row(f"check, {BOARDS} boards, against one", (*OURS, "check", many, "-q"), (*OURS, "check", one, "-q"), BOARDS)
    if drc and (cli := shutil.which("kicad-cli")):
        large = beside_project(largest_demo(), folder)
        rival = (cli, "pcb", "drc", "-o", folder / "drc.rpt", large)
        ours = (*OURS, "check", large, "--jobs", "1")
        yield Row("check, 85 MB, one process, against kicad-cli", ours, rival, 1 / 20)
        yield Row("the same again, lines from the cache", ours, rival, 1 / 20, is_cached=True)
        declared = folder / "declared.toml"
        declared.write_text(settings(largest_demo()), encoding="utf-8")
        options = ("--config", declared, "--profile", "training", "--fail-on", "never")
        yield Row("the same, everything declared", (*ours, *options), rival, 1 / 18)


def fixture(name: str) -> Path:
    """Return a board of the fixtures."""
    return ROOT / "fixtures" / "boards" / name / f"{name}.kicad_pcb"


def copies(folder: Path, count: int) -> Path:
    """Write a board of six layers some times over, with its project; return the folder."""
    board = fixture("edge_jetson_carrier_fit")
    folder.mkdir()
    for k in range(count):
        for suffix in (".kicad_pcb", ".kicad_pro"):
            if board.with_suffix(suffix).exists():
                shutil.copyfile(board.with_suffix(suffix), folder / f"board{k}{suffix}")
    return folder


def beside_project(board: Path, folder: Path) -> Path:
    """Copy a board with its project and rules into a folder: KiCad writes next to a board. Return the copy."""
    for suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
        if board.with_suffix(suffix).exists():
            shutil.copyfile(board.with_suffix(suffix), folder / f"large{suffix}")
    return folder / "large.kicad_pcb"


def cpu_s(command: Command, cache: Path | None = None) -> float:
    """Return processor seconds of a process and those that it starts; a check may find something, and no more."""
    before = getrusage(RUSAGE_CHILDREN)
    environment = environment_of(cache)
    code = subprocess.run([*map(str, command)], check=False, stdout=subprocess.DEVNULL, env=environment).returncode
    after = getrusage(RUSAGE_CHILDREN)
    if code > 1:
        sys.exit(f"exit code {code}: {' '.join(map(str, command))}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment_of(cache: Path | None) -> dict[str, str]:
    """Return the environment in which this checkout is run: as a user's, with a cache of its own or none."""
    set_by_tests = (*SINGLE_THREAD, NO_CACHE)
    unset = {name: value for name, value in os.environ.items() if name not in set_by_tests}
    use = {"XDG_CACHE_HOME": str(cache)} if cache else {NO_CACHE: "1"}
    return {**unset, **use, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}


def measured(row: Row, runs: int, folder: Path) -> tuple[list[float], list[float]]:
    """Return seconds of ours and of the other, taking turns; `folder` takes a cache."""
    ours, others = [], []
    cache = folder if row.is_cached else None
    if cache:
        cpu_s(row.ours, cache)
    for _ in range(runs):
        if row.other:
            others.append(cpu_s(row.other))
        ours.append(cpu_s(row.ours, cache))
    return ours, others


def line(row: Row, ours: Sequence[float], others: Sequence[float]) -> str:
    """Return one line of the table: minimum and median, those of the other, their ratio, the goal."""
    cells = [row.what, f"{min(ours):.2f}", f"{median(ours):.2f}"]
    if not others:
        return "| " + " | ".join([*cells, "", "", "", f"{row.goal:g} s"]) + " |"
    ratio = min(ours) / max(min(others), 0.01)
    goal = f"{row.goal:g} x" if row.goal >= 1 else f"1/{1 / row.goal:g}"
    found = f"{ratio:.1f} x" if row.goal >= 1 else f"1/{1 / ratio:.1f}"
    return "| " + " | ".join([*cells, f"{min(others):.2f}", f"{median(others):.2f}", found, goal]) + " |"


def main() -> int:
    """Print the table, and the peak of memory of the small and, with `--drc`, of the largest board."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drc", action="store_true")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    compile_packages()
    sys.stdout.write(
        "| work | CPU s, min | median | other, min | median | ratio | goal |\n|---|---|---|---|---|---|---|\n"
    )
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        for row in rows(Path(name), drc=options.drc):
            if options.only in row.what:
                sys.stdout.write(line(row, *measured(row, options.runs, Path(name) / "cache")) + "\n")
                sys.stdout.flush()
    if options.drc and not options.only:
        sys.stdout.write(f"peak memory, 85 MB: {peak_mb('check', largest_demo(), '--jobs', '1'):.0f} MB\n")
    sys.stdout.write(f"{options.runs} runs each, {time.perf_counter() - begin:.0f} s, load {os.getloadavg()[0]:.1f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
