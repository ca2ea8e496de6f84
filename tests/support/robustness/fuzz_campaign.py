"""Fuzzes for as long as wanted: `python -m tests.support.robustness.fuzz_campaign --inputs 1000000 --folder findings`.

Inputs of all targets by turns, in one process, each with a time limit, under a limit of memory. What breaks is kept
once per place: the bytes, the target, the seed that gives them, and the traceback. The folder's `record.json` is made
anew now and then; `--table FOLDER ...` sums up what several campaigns recorded, for `fixtures/reference/fuzzing.md`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import FrameType

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: on small matrices threads only wait

from tests.support.robustness.fuzz_targets import Target
from tests.support.robustness.fuzz_whole import TARGETS

TIMEOUT_S = 20
MEMORY_BYTES = 3_000_000_000
GREW_KB = 100_000
"""What an input may add to the most memory that the process ever held; more is kept as a finding."""
GREW_KB_PER_BYTE = 0.4
LONG = 20_000
SHARES = {"board": 60, "check": 1, "check_nodes": 1, "whole": 1, "whole_nodes": 24, "stackup_writer": 8, "fab": 20}
"""Inputs of a target per turn, where it is not 120: a report takes as long as a thousand projects."""


class Hang(BaseException):
    """An input took more of the processor than the limit; not to be caught by what catches exceptions."""


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hang


class Campaign:
    """Counts, and what was found."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self.folder, self.timeout_s = folder, timeout_s
        self.tried: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.peak_kb = 300_000
        self.found: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    def one(self, target: Target, seed: str, room: Path) -> None:
        """Make the input of a seed and try it."""
        chance = Random(seed)  # noqa: S311 - repeatable
        data = target.damaged(chance)
        self.tried[target.name] += 1
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, self.timeout_s)
        try:
            self.taken[target.name] += target.try_one(data, room, chance)
        except KeyboardInterrupt:
            raise
        except BaseException as broken:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.keep(target, seed, data, room, broken)
        took = time.perf_counter() - began
        if len(data) > LONG or self.tried[target.name] % 50 == 0:
            self.weigh(target, seed, data, room)
        self.seconds[target.name] += took  # type: ignore[assignment]
        self.slowest[target.name] = max(took, self.slowest.get(target.name, 0.0))

    def weigh(self, target: Target, seed: str, data: bytes, room: Path) -> None:
        """Look at the memory: after each long input, and now and then, for asking takes longer than many an input."""
        peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if peak_kb > self.peak_kb + GREW_KB + GREW_KB_PER_BYTE * len(data):
            self.keep(target, f"{seed} grew by {peak_kb - self.peak_kb} kB", data, room, MemoryError(len(data)))
        self.peak_kb = max(self.peak_kb, peak_kb)

    def keep(self, target: Target, seed: str, data: bytes, room: Path, broken: BaseException) -> None:
        """Keep what crashed, once per place."""
        ours = [f for f in traceback.extract_tb(broken.__traceback__) if "/site-packages/" not in f.filename]
        place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""
        what = f"{target.name}-{type(broken).__name__}-{place.replace(':', '-').replace('.py', '')}"
        if type(broken).__name__ == "Broken":
            what += "-" + "".join(c if c.isalnum() else "_" for c in str(broken)[:48])
        self.found[what] += 1
        if self.found[what] == 1:
            kept = self.folder / what
            kept.mkdir(exist_ok=True)
            (kept / "input").write_bytes(data)
            for path in room.iterdir():
                if path.is_file():
                    (kept / path.name).write_bytes(path.read_bytes())
            (kept / "traceback.txt").write_text(f"{seed}\n" + "".join(traceback.format_exception(broken)))

    def record(self, args: argparse.Namespace, began: float) -> None:
        """Write the record so far."""
        names = list(self.tried)
        found = {
            "seed": args.seed,
            "seconds": round(time.time() - began),
            "processor_seconds": round(time.process_time()),
            "inputs": sum(self.tried.values()),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "targets": {
                name: {
                    "inputs": self.tried[name],
                    "taken": self.taken[name],
                    "seconds": round(self.seconds[name], 1),
                    "slowest_s": round(self.slowest[name], 2),
                }
                for name in names
            },
            "found": dict(self.found.most_common()),
        }
        (self.folder / "record.json").write_text(json.dumps(found, indent=1) + "\n")


def table(folders: Sequence[Path]) -> str:
    """Return what the campaigns in these folders tried, as rows of Markdown."""
    tried: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for folder in folders:
        for name, counts in json.loads((folder / "record.json").read_text(encoding="utf-8"))["targets"].items():
            tried[name] += counts["inputs"]
            taken[name] += counts["taken"]
    rows = [f"| {name} | {tried[name]} | {100 * taken[name] / tried[name]:.0f} |" for name in sorted(tried)]
    return "\n".join([*rows, f"| all | {tried.total()} | {100 * taken.total() / tried.total():.0f} |"])


def main() -> None:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--folder", type=Path, default=Path("findings"))
    parser.add_argument("--table", type=Path, nargs="+")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--minutes", type=float, default=1e6, help="ends after so many, whatever --inputs says")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S)
    args = parser.parse_args()
    if args.table:
        print(table(args.table))  # noqa: T201 - what was requested
        return
    signal.signal(signal.SIGPROF, _hang)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("error")
    campaign, began, turn = Campaign(args.folder, args.timeout), time.time(), 0
    chosen = [TARGETS[name] for name in args.target or sorted(TARGETS)]
    with tempfile.TemporaryDirectory() as rooms:
        for target in chosen:
            (Path(rooms) / target.name).mkdir()
        while sum(campaign.tried.values()) < args.inputs and time.time() - began < 60 * args.minutes:
            for target in chosen:
                for number in range(SHARES.get(target.name, 120)):
                    campaign.one(target, f"{args.seed}-{target.name}-{turn}-{number}", Path(rooms) / target.name)
            if turn == 0:
                gc.set_threshold(50_000, 20, 20)
                gc.freeze()  # the rules, the materials, the seeds are there for good: not to be looked through again
            turn += 1
            if turn % 20 == 0:
                campaign.record(args, began)
    campaign.record(args, began)


if __name__ == "__main__":
    main()
