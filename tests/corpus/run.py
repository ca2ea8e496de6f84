"""Checks every board of the corpus and writes one table.

Run: `python -m tests.corpus.run [--output FOLDER]`. It needs git and the network: boards are fetched from their public
repositories into a cache outside this one; `--mirrors FOLDER` takes git repositories that are there as `OWNER+NAME`.
Every file is held against the manifest's hash.

`--profile fitting` takes the data-centre card for boards with a PCIe edge, and the edge workload for all others.

Written are `boards.csv` (a line per board), `findings.jsonl` (a line per finding) and `summary.md`; with `--against
FINDINGS` also `movement.md`: the findings that are new, gone or of another severity than in another version's run. With
`--budget` more movement than a pull request states in its line `Findings that move: N` is a failure.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from stackup_lib.core.errors import StackwrightError
from tests.corpus.manifest import Entry, read_manifest
from tests.corpus.sources import add_source_options, git, names_in, repository_with, sha256_of

SECONDS = 300
"""A check that takes longer counts as a failure of ours."""

COMPANIONS = (".kicad_pro", ".kicad_dru", ".pro")
"""Files of a board's name that are read with it."""

SEVERITIES = ("error", "warning", "info")
MANY_LAYERS = 6
BUDGET = re.compile(r"^\W*findings that move:\W*(\d+)", re.IGNORECASE | re.MULTILINE)
KEPT = ("code", "name", "clause", "severity", "confidence", "key", "title", "why", "measured", "limit")
"""What `findings.jsonl` has of a finding, with its first place and how many places there are."""

FITTING = "fitting"
PCIE_EDGE = re.compile(
    r'\((?:footprint|module) "?(?:[^"\s]*:)?(?:BUS_)?PCI[-_ ]?E(?:xpress)?[-_ ]?x(?:1|4|8|16)\b', re.I
)
"""The footprint of a card's edge as KiCad's library names it: `BUS_PCIexpress_x4`."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one board; `failure` is what a user would have seen in place of a report."""

    entry: Entry
    seconds: float = 0.0
    headline: str = ""
    findings: Sequence[dict[str, Any]] = ()
    failure: str = ""
    counts: Counter[str] = field(default_factory=Counter)


def source_of(entry: Entry, cache: Path, mirrors: Path | None) -> Path:
    """Return a git directory that holds the entry's commit; without mirrors it is fetched, files as they are read.

    Raises:
        StackwrightError: it cannot be had.
    """
    return repository_with(entry.repository, entry.commit, cache, mirrors)


def laid_out(entry: Entry, cache: Path, mirrors: Path | None) -> Path:
    """Return the board's file in the cache, with project and design rules next to it.

    Raises:
        StackwrightError: it cannot be had, or it is not the file that the manifest means.
    """
    board = cache / "boards" / entry.repository.replace("/", "+") / entry.commit[:12] / entry.path
    if not board.is_file():
        source, path = source_of(entry, cache, mirrors), PurePosixPath(entry.path)
        there = names_in(source, entry.commit, path.parent)
        names = [path.stem + suffix for suffix in COMPANIONS if path.stem + suffix in there]
        board.parent.mkdir(parents=True, exist_ok=True)
        for name in (*names, path.name):
            part = board.with_name(f"{name}.part")
            part.write_bytes(git(source, "show", f"{entry.commit}:{path.with_name(name)}"))
            part.replace(board.with_name(name))
    if sha256_of(board.read_bytes()) != entry.sha256:
        raise StackwrightError(entry.name, "is not the file that the manifest means", f"remove {board}")
    return board


def fitting_profile(board: str) -> str:
    """Return the workload that fits best what a board's text says it is: a card for a PCIe slot, or not."""
    return "inference-pcie" if PCIE_EDGE.search(board) else "edge"


def check(entry: Entry, board: Path, profile: str | None) -> Checked:
    """Check one board in a process of its own, as a user would."""
    words = [sys.executable, "-m", "stackwright", "check", str(board), "--format", "json"]
    if profile == FITTING:
        profile = fitting_profile(board.read_text(encoding="utf-8", errors="replace"))
    words += ["--profile", profile] if profile else []
    begin = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Checked(entry, SECONDS, failure=f"took longer than {SECONDS} s")
    seconds = time.monotonic() - begin
    try:
        (report,) = json.loads(done.stdout)["reports"]
    except (ValueError, KeyError):
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        return Checked(entry, seconds, failure=said[-1] if said else f"exit code {done.returncode}")
    crashes = "; ".join(f"{crash['code']}: {crash['error']}" for crash in report["crashes"])
    counts = Counter(finding["severity"] for finding in report["findings"])
    return Checked(entry, seconds, report["headline"], report["findings"], crashes, counts)


def write(results: Sequence[Checked], output: Path) -> None:
    """Write the tables."""
    output.mkdir(parents=True, exist_ok=True)
    with (output / "boards.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["repository", "path", "kicad", "layers", "headline", *SEVERITIES, "seconds", "failure"])
        for one in results:
            entry, counted = one.entry, [one.counts[severity] for severity in SEVERITIES]
            row = [entry.repository, entry.path, entry.kicad, entry.layers, one.headline, *counted]
            writer.writerow([*row, f"{one.seconds:.1f}", one.failure])
    with (output / "findings.jsonl").open("w", encoding="utf-8") as lines:
        for one in results:
            for finding in one.findings:
                lines.write(json.dumps({"board": one.entry.name, **kept(finding)}, ensure_ascii=True) + "\n")
    (output / "summary.md").write_text(summary(results), encoding="utf-8")


def kept(finding: dict[str, Any]) -> dict[str, Any]:
    """Return what a table needs of a finding of the JSON report."""
    places = finding.get("places") or [None]
    return {**{key: finding.get(key) for key in KEPT}, "place": places[0], "places": len(finding.get("places") or ())}


def summary(results: Sequence[Checked]) -> str:
    """Return the counts as Markdown: boards, failures, findings by rule and severity."""
    done, failed = [one for one in results if one.headline], [one for one in results if one.failure]
    by_rule: dict[str, Counter[str]] = {}
    boards: dict[str, set[str]] = {}
    for one in done:
        for finding in one.findings:
            name = f"{finding['code']} {finding['name']}"
            by_rule.setdefault(name, Counter())[finding["severity"]] += 1
            boards.setdefault(name, set()).add(one.entry.name)
    heads = ", ".join(f"{name} {count}" for name, count in Counter(one.headline for one in done).most_common())
    times = sorted(one.seconds for one in done) or [0.0]
    demanding = sum(one.entry.layers >= MANY_LAYERS or one.entry.impedance for one in results)
    without = sum(not one.counts["error"] for one in done)
    lines = [
        f"{len(results)} boards of {len({one.entry.repository for one in results})} repositories, {demanding} of them "
        f"with six or more layers or impedance control. Not checked or crashed: {len(failed)}.",
        "",
        f"Verdicts: {heads}. Boards without an error finding: {without}. Seconds per board: median "
        f"{times[len(times) // 2]:.1f}, longest {times[-1]:.1f}.",
        "",
        "| rule | boards | errors | warnings | information |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, counts in sorted(by_rule.items()):
        lines.append(f"| {name} | {len(boards[name])} | {' | '.join(str(counts[one]) for one in SEVERITIES)} |")
    lines += ["", *(f"- {one.entry.name}: {one.failure}" for one in failed)]
    return "\n".join(lines).rstrip() + "\n"


def movement(before: Path, results: Iterable[Checked]) -> tuple[int, str]:
    """Return how many findings moved against another run, and which, as Markdown; boards count that both have."""
    rows = [json.loads(line) for line in before.read_text(encoding="utf-8").splitlines()]
    found = [(one.entry.name, finding) for one in results if one.headline for finding in one.findings]
    boards = {name for name, _ in found} & {row["board"] for row in rows}
    then = {(row["board"], row["clause"], row["key"]): row for row in rows if row["board"] in boards}
    now = {(name, one["clause"], one["key"]): one for name, one in found if name in boards}
    new, gone = sorted(now.keys() - then.keys()), sorted(then.keys() - now.keys())
    other = sorted(key for key in now.keys() & then.keys() if now[key]["severity"] != then[key]["severity"])
    lines = [f"{len(new)} new, {len(gone)} gone, {len(other)} of another severity, on {len(boards)} boards", ""]
    for word, keys, said in (("new", new, now), ("gone", gone, then), ("severity", other, now)):
        lines += [f"- {word}: {key[0]}: {said[key]['code']} {said[key]['title']}" for key in keys]
    return len(new) + len(gone) + len(other), "\n".join(lines).rstrip() + "\n"


def stated_budget(text: str) -> int:
    """Return how many findings a pull request says that it moves: its line `Findings that move: N`; else 0."""
    found = BUDGET.search(text)
    return int(found[1]) if found else 0


def main(words: Sequence[str] | None = None) -> int:
    """Fetch, check and write; exit code 1 where a board was not checked."""
    parser = argparse.ArgumentParser(prog="tests.corpus.run", description=__doc__)
    add_source_options(parser)
    parser.add_argument("--output", type=Path, default=Path("build/corpus"), metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--profile", help=f"check against this workload, too; {FITTING}: see above")
    parser.add_argument("--only", default="", metavar="TEXT", help="boards whose repository or path contains this")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th board: a slice of all")
    parser.add_argument("--against", type=Path, metavar="FINDINGS", help="findings.jsonl of another version")
    parser.add_argument("--budget", metavar="TEXT", help="a pull request's text: more movement than it states fails")
    asked = parser.parse_args(words)

    def one(entry: Entry) -> Checked:
        try:
            board = laid_out(entry, asked.cache, asked.mirrors)
        except StackwrightError as error:
            return Checked(entry, failure=f"not fetched: {error}")
        found = check(entry, board, asked.profile)
        sys.stderr.write(f"{found.seconds:6.1f} s  {found.headline or found.failure}  {entry.name}\n")
        return found

    entries = [entry for entry in read_manifest() if asked.only in entry.name][:: asked.every]
    with ThreadPoolExecutor(max_workers=asked.jobs) as pool:
        results = list(pool.map(one, entries))
    write(results, asked.output)
    sys.stdout.write((asked.output / "summary.md").read_text(encoding="utf-8"))
    if asked.against:
        count, moved = movement(asked.against, results)
        (asked.output / "movement.md").write_text(moved, encoding="utf-8")
        sys.stdout.write(moved)
        if asked.budget is not None and count > stated_budget(asked.budget):
            said = f"{count} findings move, {stated_budget(asked.budget)} are stated"
            sys.stderr.write(f"error: {said}; if all are wanted, write 'Findings that move: {count}' and why\n")
            return 1
    return 1 if any(found.failure for found in results) else 0


if __name__ == "__main__":
    sys.exit(main())
