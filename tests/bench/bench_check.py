"""How fast the whole command is, side by side in one run: `stackwright check`, `kicad-cli pcb drc`, `sexpdata.load`.

Run by hand or by CI: `python tests/bench/bench_check.py [BOARD] [--skip-drc] [--skip-sexpdata]`. BOARD is by default
the largest demo board that KiCad brings. Times are of whole processes, the best of three. Foil, laminates and the
interface of every net class of high-speed pairs are declared, so that every link is routed, solved and judged; "plain"
is the board as it came, and "links" the rules on routed links alone. The peak is of all processes of a check together,
memory that they share counted once. The exit code is 1 when a bound is missed.
"""

from __future__ import annotations

import compileall
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_reader import RATIO_SEXPDATA, ROOT, SEXPDATA, main, run_python, tile, time_drc

RUNS = 3
ON_LINKS = "IMP,LOS,VIA,NET"
"""The families that judge routed links; the others come on top."""

RIVALS = (
    ("check_s", "drc_s", 10.0, "kicad-cli pcb drc"),
    ("check_plain_s", "drc_s", 10.0, "kicad-cli pcb drc"),
    ("check_links_s", "drc_s", 15.0, "kicad-cli pcb drc"),
    ("check_links_plain_s", "drc_s", 15.0, "kicad-cli pcb drc"),
    ("check_s", "sexpdata_s", RATIO_SEXPDATA, "sexpdata.load"),
)

INTERFACES = {
    "85Ohm-diff_PCIE": ("pcie4", "direct"),
    "85Ohm-diff_USB_SS": ("usb3.2gen2", "board_and_connector"),
    "85Ohm-diff_DP": ("dp-hbr3", "board"),
    "85Ohm-diff_SFI": ("eth10g-kr", "short"),
}
"""Net class of the default board -> interface and role; on other boards what is there is declared."""

_RUN = """
import subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(time.perf_counter() - begin, code)
"""

_PEAK = """
import pathlib, resource, subprocess, sys, time
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
peak = 0
def shared_kb(pid):
    total = 0
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        total += int(line.split()[1]) if line.startswith("Pss:") else 0
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        total += shared_kb(child)
    return total
while run.poll() is None:
    try:
        peak = max(peak, shared_kb(run.pid))
    except (OSError, ValueError):
        pass
    time.sleep(0.02)
own = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
print(max(peak, own) / 1024)
"""


def command(*arguments: str | Path) -> float:
    """Return seconds (best of three) of a `stackwright` process; it must not fail with code 2."""
    runs = [run_python(_RUN, sys.executable, "-m", "stackwright", *arguments) for _ in range(RUNS)]
    if any(code >= 2 for _, code in runs):
        sys.exit(f"stackwright {' '.join(map(str, arguments))} failed")
    return min(seconds for seconds, _ in runs)


def peak_mb(*arguments: str | Path) -> float:
    """Return the peak of a `stackwright` process and those it starts, in megabytes; in a run of its own."""
    return run_python(_PEAK, sys.executable, "-m", "stackwright", *arguments)[0]


def compile_packages() -> None:
    """Compile the packages as an installation does: no run pays for it, whatever the environment forbids."""
    for package in ("drc_rules", "stackup_lib", "plugin/stackwright"):
        compileall.compile_dir(ROOT / package, quiet=1)


def settings(board: Path) -> str:
    """Return a `stackwright.toml` that leaves nothing undeclared that the rules on links require."""
    project = board.with_suffix(".kicad_pro")
    classes = project.read_text(encoding="utf-8") if project.exists() else ""
    rows = re.findall(r'\(layer "(dielectric \d+)"', board.read_text(encoding="utf-8")[:100_000])
    lines = ['[declared]\nfoil = "RTF"']
    lines += [f'[declared.dielectric."{row}"]\nmaterial = "370HR"' for row in dict.fromkeys(rows)]
    lines += [
        f'[[interface]]\nis = "{one}"\nrole = "{role}"\nnet_classes = ["{name}"]'
        for name, (one, role) in INTERFACES.items()
        if f'"{name}"' in classes
    ]
    return "\n".join(lines) + "\n"


def measure(board: Path, *, drc: bool, sexpdata: bool) -> dict[str, float]:
    """Return seconds and megabytes by name."""
    found: dict[str, float] = {"board_mb": board.stat().st_size / 1e6}
    compile_packages()
    found["help_s"] = command("--help")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "stackwright.toml"
        config.write_text(settings(board), encoding="utf-8")
        options = ("--config", config, "--profile", "training", "--fail-on", "never")
        found["check_s"], found["check_peak_mb"] = command("check", board, *options), peak_mb("check", board, *options)
        found["check_links_s"] = command("check", board, *options, "--select", ON_LINKS)
        found["check_plain_s"] = command("check", board, "--fail-on", "never")
        found["check_links_plain_s"] = command("check", board, "--fail-on", "never", "--select", ON_LINKS)
        for times in (2, 4):
            tiled = folder / f"tiled{times}.kicad_pcb"
            tile(board, times, tiled)
            project = board.with_suffix(".kicad_pro")
            if project.exists():
                shutil.copyfile(project, tiled.with_suffix(".kicad_pro"))
            found[f"check_x{times}_s"] = command("check", tiled, *options)
            growth = (found[f"check_x{times}_s"] / tiled.stat().st_size) / (found["check_s"] / board.stat().st_size)
            found[f"time_per_byte_x{times}"] = growth
            tiled.unlink()
        if sexpdata:
            found["sexpdata_s"] = run_python(SEXPDATA, board)[0]
        if drc and (drc_s := time_drc(board, folder)) is not None:
            found["drc_s"] = drc_s
    return found


if __name__ == "__main__":
    sys.exit(main(measure, "check", RIVALS))
