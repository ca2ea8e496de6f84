"""Draws findings of a corpus run for judging: evenly over rules, and over boards within a rule, by a fixed seed.

Run: `python -m tests.corpus.sample FINDINGS... --output sample.csv [--boards FOLDER]`. The inputs are `findings.jsonl`
of runs; a finding that several runs have is drawn once, as the first has it. With `--boards`, the folder of boards in
the cache of the run, each row says where its board's file is. Severities, rules and boards take turns down the table,
so that its beginning is a smaller sample of the same kind.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.corpus.manifest import Entry, read_manifest, write_rows

SEED = 28
WANTED = {"error": 300, "warning": 600}
"""How many findings of a severity are drawn where there are so many."""

COLUMNS = (
    "number", "severity", "rule", "name", "clause", "board", "layers", "kicad", "profile", "message", "why", "measured",
    "limit", "source", "layer", "net", "x_mm", "y_mm", "line", "places", "key", "file",
)  # fmt: skip

Row = dict[str, Any]


def read_findings(files: Iterable[Path]) -> list[Row]:
    """Return the findings of all runs, each board's finding once; `run` is the name of the run's folder."""
    found: dict[tuple[str, str, str, str], Row] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = {**json.loads(line), "run": file.parent.name}
            found.setdefault((row["board"], row["code"], row["clause"], row["key"]), row)
    return list(found.values())


def draw(findings: Sequence[Row], wanted: int, seed: int = SEED) -> list[Row]:
    """Return `wanted` findings, or all where there are fewer.

    Rules take turns, and within a rule boards take turns, so that neither a rule nor a board with many findings crowds
    out the others. The order of the input does not matter.
    """
    chance = random.Random(seed)  # noqa: S311 - to repeat, not to keep secret
    waiting: dict[str, list[Row]] = {}
    for rule, of_rule in sorted(_grouped(findings, "code").items()):
        boards = [rows for _, rows in sorted(_grouped(of_rule, "board").items())]
        for rows in boards:
            rows.sort(key=lambda row: (row["clause"], row["key"]))
            chance.shuffle(rows)
        chance.shuffle(boards)
        waiting[rule] = _in_turns(boards)
    return _in_turns(list(waiting.values()))[:wanted]


def _grouped(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _in_turns(groups: Sequence[Sequence[Row]]) -> list[Row]:
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]


def as_row(number: int, finding: Row, entry: Entry | None, boards: Path | None) -> dict[str, object]:
    """Return a line of the table of what a judge needs."""
    place, limit = finding.get("place") or {}, finding.get("limit") or {}
    file = "" if entry is None or boards is None else _file_of(entry, boards)
    return {
        "number": number,
        "severity": finding["severity"],
        "rule": finding["code"],
        "name": finding["name"],
        "clause": finding["clause"],
        "board": finding["board"],
        "layers": entry.layers if entry else "",
        "kicad": entry.kicad if entry else "",
        "profile": finding["run"],
        "message": finding["title"],
        "why": finding.get("why") or "",
        "measured": json.dumps(finding["measured"]) if finding.get("measured") else "",
        "limit": "" if limit.get("value") is None else f"{limit['value']} {limit.get('unit') or ''}".strip(),
        "source": limit.get("source") or "",
        **{column: place.get(column) or "" for column in ("layer", "net", "x_mm", "y_mm", "line")},
        "places": finding.get("places", ""),
        "key": finding["key"],
        "file": file,
    }


def _file_of(entry: Entry, boards: Path) -> str:
    return str(boards / entry.repository.replace("/", "+") / entry.commit[:12] / entry.path)


def main(words: Sequence[str] | None = None) -> int:
    """Draw, write, and say how many there were and how many were drawn."""
    parser = argparse.ArgumentParser(prog="tests.corpus.sample", description=__doc__)
    parser.add_argument("findings", nargs="+", type=Path, help="findings.jsonl of a run")
    parser.add_argument("--output", type=Path, required=True, metavar="CSV")
    parser.add_argument("--boards", type=Path, metavar="FOLDER", help="the run's CACHE/boards")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args(words)
    findings, entries = read_findings(asked.findings), {entry.name: entry for entry in read_manifest()}
    samples: list[list[Row]] = []
    for severity, wanted in WANTED.items():
        all_of_it = [one for one in findings if one["severity"] == severity]
        drawn = draw(all_of_it, wanted, asked.seed)
        rules, boards = {one["code"] for one in drawn}, {one["board"] for one in drawn}
        sys.stdout.write(
            f"{severity}: {len(drawn)} of {len(all_of_it)} drawn, {len(rules)} rules, {len(boards)} boards\n"
        )
        samples.append(drawn)
    rows = [
        as_row(number, one, entries.get(one["board"]), asked.boards)
        for number, one in enumerate(_in_turns(samples), start=1)
    ]
    write_rows(asked.output, list(COLUMNS), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
