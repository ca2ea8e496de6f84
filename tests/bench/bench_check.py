"""How fast the whole command is, side by side in one run: `stackwright check`, `kicad-cli pcb drc`, `sexpdata.load`.

Run by hand or by CI: `python tests/bench/bench_check.py [BOARD] [--skip-drc] [--skip-sexpdata]`. BOARD is by default
the largest demo board that KiCad brings. Times are of whole processes, the best of three. The exit code is 1 when a
bound is missed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_reader import (
    PEAK_MB,
    RATIO_DRC,
    RATIO_SEXPDATA,
    SEXPDATA,
    SLOWER_THAN_LINEAR,
    largest_demo,
    run_python,
    tile,
    time_drc,
)

HELP_S = 0.25
RUNS = 3

_RUN = """
import resource, subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(seconds, peak / (1024 * 1024 if sys.platform == "darwin" else 1024), code)
"""


def command(*arguments: str | Path) -> tuple[float, float]:
    """Return seconds (best of three) and peak megabytes of a `stackwright` process; it must not fail with code 2."""
    runs = [run_python(_RUN, sys.executable, "-m", "stackwright", *arguments) for _ in range(RUNS)]
    if any(code >= 2 for _, _, code in runs):
        sys.exit(f"stackwright {' '.join(map(str, arguments))} failed")
    return min(seconds for seconds, _, _ in runs), max(peak for _, peak, _ in runs)


def measure(board: Path, *, drc: bool, sexpdata: bool) -> dict[str, float]:
    """Return seconds and megabytes by name."""
    found: dict[str, float] = {"board_mb": board.stat().st_size / 1e6}
    found["help_s"], _ = command("--help")
    found["check_s"], found["check_peak_mb"] = command("check", board, "--profile", "training", "--fail-on", "never")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for times in (2, 4):
            tiled = folder / f"tiled{times}.kicad_pcb"
            tile(board, times, tiled)
            project = board.with_suffix(".kicad_pro")
            if project.exists():
                shutil.copyfile(project, tiled.with_suffix(".kicad_pro"))
            found[f"check_x{times}_s"], _ = command("check", tiled, "--profile", "training", "--fail-on", "never")
            growth = (found[f"check_x{times}_s"] / tiled.stat().st_size) / (found["check_s"] / board.stat().st_size)
            found[f"time_per_byte_x{times}"] = growth
            tiled.unlink()
        if sexpdata:
            found["sexpdata_s"] = run_python(SEXPDATA, board)[0]
        if drc and (drc_s := time_drc(board, folder)) is not None:
            found["drc_s"] = drc_s
    return found


def missed(found: dict[str, float]) -> list[str]:
    """Return the bounds that a measurement misses, in words."""
    rivals = [("drc_s", RATIO_DRC, "kicad-cli pcb drc"), ("sexpdata_s", RATIO_SEXPDATA, "sexpdata.load")]
    out = [
        f"check takes 1/{found[key] / found['check_s']:.1f} of {name}'s time, not 1/{ratio:g}"
        for key, ratio, name in rivals
        if key in found and found[key] < ratio * found["check_s"]
    ]
    if found["check_peak_mb"] > PEAK_MB:
        out.append(f"peak memory {found['check_peak_mb']:.0f} MB is above {PEAK_MB:g} MB")
    if found["time_per_byte_x4"] > SLOWER_THAN_LINEAR:
        out.append(f"time per byte grows {found['time_per_byte_x4']:.2f}-fold when the board is tiled four times")
    if found["help_s"] > HELP_S:
        out.append(f"--help takes {found['help_s']:.2f} s, more than {HELP_S:g} s")
    return out


def main() -> int:
    """Measure, print, and compare with the bounds."""
    parser = argparse.ArgumentParser(description="Measure the whole command.")
    parser.add_argument("board", type=Path, nargs="?", default=None)
    parser.add_argument("--skip-drc", action="store_true", help="do not run kicad-cli pcb drc (a minute)")
    parser.add_argument("--skip-sexpdata", action="store_true", help="do not run sexpdata.load (half a minute)")
    options = parser.parse_args()
    board = options.board or largest_demo()
    found = measure(board, drc=not options.skip_drc, sexpdata=not options.skip_sexpdata)
    lines = [f"{key:>18} {value:12.3f}" for key, value in found.items()]
    for key, name in (("sexpdata_s", "sexpdata.load"), ("drc_s", "kicad-cli pcb drc")):
        if key in found:
            lines.append(f"check takes 1/{found[key] / found['check_s']:.0f} of {name}'s time")
    problems = missed(found)
    sys.stdout.write("\n".join([board.name, *lines, *(f"MISSED: {p}" for p in problems)]) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
