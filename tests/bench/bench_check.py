"""How fast the whole command is, side by side in one run: `stackwright check`, `kicad-cli pcb drc`, `sexpdata.load`.

Run by hand or by CI: `python tests/bench/bench_check.py [BOARD] [--skip-drc] [--skip-sexpdata]`. BOARD is by default
the largest demo board that KiCad brings. Times are of whole processes, the best of three. The exit code is 1 when a
bound is missed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_reader import SEXPDATA, main, run_python, tile, time_drc

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


if __name__ == "__main__":
    sys.exit(main(measure, "check"))
