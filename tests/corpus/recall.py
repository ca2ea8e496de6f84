"""Seeds defects in public boards and counts how many the check catches, by kind and rule.

Run: `python -m tests.corpus.recall [--only TEXT] [--write]`. It needs git, the network and KiCad's `kicad-cli`: boards
are fetched from their public repositories into a cache outside this one; `--mirrors FOLDER` takes git repositories that
are there as `OWNER+NAME`. Each seed is a change of the text of the board's files in a temporary folder; KiCad has to
open it. One place of each kind on each board is drawn among those where the rule finds nothing yet, and none is drawn
again.

A seed is caught where a finding of its rule is new (its key was not there before), names the object and lies within
2 mm of the place. Where the board had a finding of that key, which now lists the place too, the seed has only joined
it. It is undecided where the rule says on this board that it cannot judge, because the stackup contradicts itself.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from drc_rules.analysis.return_path.return_paths import ReturnPaths
from drc_rules.engine.check import check_up, prepare
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import FILLS_UP_TO_DATE
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import Config, parse_config
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from tests.corpus.manifest import Entry, write_rows
from tests.corpus.nets import entry_of
from tests.corpus.run import laid_out
from tests.corpus.seeds import copper, harmless, project, signals, stackup, vias
from tests.corpus.seeds.ground import Ground, Kind, Seed
from tests.corpus.sources import add_source_options
from tests.support.accuracy.labelled_nets import interval_pct

BOARDS = Path(__file__).with_name("recall.toml")
SEEDS = Path(__file__).with_name("recall.csv")
KINDS: tuple[Kind, ...] = (
    *vias.KINDS, *copper.KINDS, *stackup.KINDS, *signals.KINDS, *project.KINDS, *harmless.KINDS,
)  # fmt: skip
NEAR_MM = 2.0
BOARDS_OF_A_KIND = 9
SHORTEST_NAME = 3
NEW, JOINED, UNDECIDED, MISSED = "caught", "joined", "undecided", "missed"
QUIET, FALSE = "quiet", "finding added"


@dataclass(frozen=True)
class Row:
    """What came of one seed."""

    board: str
    kind: str
    rule: str
    outcome: str
    off_mm: str
    said: str
    """The finding that caught it; for what was missed, the codes of the new findings."""
    opens: str
    """Whether KiCad opens it."""
    checked: str
    """On which day."""


@dataclass(frozen=True)
class Said:
    """What a check says of a board."""

    context: Context
    findings: Sequence[Finding]
    verdicts: Sequence[ClauseVerdict] = ()


def ground_of(entry: Entry, board: Path, generation: dict[str, str]) -> tuple[Ground, Config]:
    """Check a board with the generations declared that its names leave open."""
    config = parse_config("")
    before = check_up(board, config=config)
    lines = []
    for group in ReturnPaths(before.context).groups:
        if len(group.choices) > 1 and group.family in generation:
            nets = ", ".join(f"'{before.context.board.nets[net]}'" for net in group.nets)
            lines.append(f'[[interface]]\nis = "{generation[group.family]}"\nnets = [{nets}]\n')
    config = parse_config("".join(lines))
    up = check_up(board, config=config)
    settings = board.with_suffix(".kicad_pro")
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    return Ground(entry.name, board.read_bytes(), text, up.context, up.report), config


def rows_of(ground: Ground, config: Config, board: Path, kinds: Sequence[Kind], *, opened: bool) -> Iterator[Row]:
    """Make one seed of each kind that the board has room for, and check it."""
    for kind in kinds:
        if kind.needs_stackup and not ground.has_stackup:
            continue
        sound = (seed for seed in kind.make(ground) if not is_there(ground, kind, seed))
        for seed in islice(sound, 1):
            with tempfile.TemporaryDirectory() as folder:
                path = written(ground, seed, board, Path(folder))
                opens = opens_in_kicad(path) if opened else "not tried"
                yield judged(ground, kind, seed, said_of(path, config, kind), opens)


def said_of(board: Path, config: Config, kind: Kind) -> Said:
    """Run the rules that a seed is for, and that of the fills, on which others wait; all for a harmless edit."""
    context, requirements, _ = prepare(read_board(board), config, Overrides())
    chosen = [one for one in all_rules() if not kind.rules or one.code in kind.rules or FILLS_UP_TO_DATE in one.kinds]
    outcome = run(context, requirements.clauses, all_rules(), chosen)
    return Said(context, outcome.findings, [one for one in outcome.verdicts if one.code in kind.rules])


def drawn(kind: Kind, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The boards that a kind is tried on: all for what few boards have room for, else some of them by lot."""
    few = kind in signals.KINDS
    return entries if few else random.Random(kind.name).sample(entries, BOARDS_OF_A_KIND)  # noqa: S311 - no secret


def is_there(ground: Ground, kind: Kind, seed: Seed) -> bool:
    """Tell whether the board as published has the defect at this place already."""
    up = Said(ground.context, ground.report.findings)
    return any(
        finding.code in kind.rules and names_it(finding, seed, up) and off_mm(finding, seed, up) <= NEAR_MM
        for finding in ground.report.findings
    )


def written(ground: Ground, seed: Seed, board: Path, folder: Path) -> Path:
    """Write the files of a board with its defect."""
    path = folder / board.name
    path.write_bytes(ground.edited(seed))
    settings = ground.project if seed.project is None else seed.project
    if settings:
        path.with_suffix(".kicad_pro").write_text(settings, encoding="utf-8")
    rules = board.with_suffix(".kicad_dru")
    if seed.rules is not None:
        path.with_suffix(".kicad_dru").write_text(seed.rules, encoding="utf-8")
    elif rules.exists():
        shutil.copy(rules, path.with_suffix(".kicad_dru"))
    return path


def opens_in_kicad(board: Path) -> str:
    """Plot the outline with `kicad-cli`: it reads the whole board first."""
    words = ["kicad-cli", "pcb", "export", "svg", "--mode-single", "--layers", "Edge.Cuts"]
    done = subprocess.run([*words, "--output", str(board) + ".svg", str(board)], capture_output=True, check=False)
    return "no" if done.returncode else "yes"


def judged(ground: Ground, kind: Kind, seed: Seed, up: Said, opens: str) -> Row:
    """Tell what the check says of a seed that it did not say of the board."""
    today = datetime.now(UTC).date().isoformat()
    keys = {finding.key: finding for finding in ground.report.findings}
    new = [finding for finding in up.findings if finding.key not in keys]
    if not kind.rules:
        said = "; ".join(f"{one.code} {one.title}" for one in new)
        return Row(ground.name, kind.name, "", FALSE if new else QUIET, "", said, opens, today)
    open_ones = [one.missing for one in up.verdicts if one.missing]
    best = MISSED, "", " ".join(sorted({one.code for one in new}))
    if open_ones:
        best = UNDECIDED, "", open_ones[0][0].fact
    for finding in up.findings:
        if finding.code not in kind.rules or not names_it(finding, seed, up):
            continue
        off = off_mm(finding, seed, up)
        if off > NEAR_MM:
            continue
        before = keys.get(finding.key)
        if before is None:
            best = NEW, f"{off:.2f}" if seed.at else "", finding.title
            break
        best = JOINED, f"{off:.2f}" if seed.at else "", finding.title  # it did not name this place: see `is_there`
    return Row(ground.name, kind.name, " or ".join(kind.rules), *best, opens, today)


def names_it(finding: Finding, seed: Seed, up: Said) -> bool:
    """Tell whether a finding names the object of a seed, as id, net, layer or row, or in its title."""
    told = {*finding.objects, *_ids(finding, up)}
    for place in finding.places:
        told |= {word for word in (place.layer, place.net, place.uuid) if word}
    return bool(told & seed.names) or any(
        len(name) >= SHORTEST_NAME and name.lower() in finding.title.lower() for name in seed.names
    )


def _ids(finding: Finding, up: Said) -> set[str]:
    every, board = finding.every, up.context.board
    if every is None:
        return set()
    tables = ((every.vias, board.vias), (every.pads, board.pads), (every.tracks, board.tracks))
    return {str(table.uuid[row]) for rows, table in tables for row in rows}


def off_mm(finding: Finding, seed: Seed, up: Said) -> float:
    """How far from the defect a finding points: 0 where it names the very object, or where the defect has no place."""
    if seed.at is None or seed.names & ({one.uuid or "" for one in finding.places} | _ids(finding, up)):
        return 0.0
    places = [(one.x_mm, one.y_mm) for one in finding.places if one.x_mm is not None and one.y_mm is not None]
    if not places:
        return float("inf")
    x, y = np.array(places).T
    return float(np.min(np.hypot(x - seed.at[0], y - seed.at[1])))


def table(rows: Sequence[Row]) -> list[str]:
    """Return the counts by kind as lines of Markdown, the lowest recall first, and of all."""
    kinds = sorted({(row.kind, row.rule) for row in rows if row.rule})
    counted = [(kind, rule, [row.outcome for row in rows if row.kind == kind]) for kind, rule in kinds]
    counted.sort(key=lambda one: (one[2].count(NEW) / len(one[2]), one[0]))
    counted.append(("all", "", [row.outcome for row in rows if row.rule]))
    lines = [
        "| defect | rule | seeds | joined | undecided | missed | caught % |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, rule, outcomes in counted:
        caught = interval_pct(outcomes.count(NEW), len(outcomes))
        numbers = " | ".join(map(str, (len(outcomes), *(outcomes.count(one) for one in (JOINED, UNDECIDED, MISSED)))))
        lines.append(f"| {kind} | {rule} | {numbers} | {caught} |")
    return lines


def read_rows(file: Path = SEEDS) -> list[Row]:
    """Return the rows of the last measurement."""
    with file.open(encoding="utf-8", newline="") as text:
        return [Row(**row) for row in csv.DictReader(text)]


def why_missed(row: Row) -> str:
    """Why a seed was missed, as far as `recall.toml` tells."""
    told = tomllib.loads(BOARDS.read_text(encoding="utf-8")).get("miss", ())
    return next((one["why"] for one in told if (one["board"], one["rule"]) == (row.board, row.rule)), "")


def main(words: Sequence[str] | None = None) -> int:
    """Seed, check and print; exit code 1 where a board could not be had or KiCad does not open a seed."""
    parser = argparse.ArgumentParser(prog="tests.corpus.recall", description=__doc__)
    add_source_options(parser)
    parser.add_argument("--only", default="", metavar="TEXT", help="boards whose repository or path contains this")
    parser.add_argument("--kind", default="", metavar="TEXT", help="kinds whose name or rule contains this")
    parser.add_argument("--without-kicad", action="store_true", help="do not try whether KiCad opens the seeds")
    parser.add_argument("--write", action="store_true", help=f"put the rows in place of {SEEDS.name}")
    asked = parser.parse_args(words)
    settings: dict[str, Any] = tomllib.loads(BOARDS.read_text(encoding="utf-8"))
    entries = [entry_of(row) for row in settings["board"]]
    rows: list[Row] = []
    bad = 0
    for entry in entries:
        kinds = [kind for kind in KINDS if asked.kind in f"{kind.name} {kind.rules}" and entry in drawn(kind, entries)]
        if asked.only not in entry.name or not kinds:
            continue
        try:
            board = laid_out(entry, asked.cache, asked.mirrors)
            ground, config = ground_of(entry, board, settings["generation"])
        except StackwrightError as error:
            sys.stderr.write(f"{entry.name}: {error}\n")
            bad = 1
            continue
        for row in rows_of(ground, config, board, kinds, opened=not asked.without_kicad):
            rows.append(row)
            sys.stderr.write(f"{row.outcome:8} {row.kind}: {row.said[:100]} [{entry.repository}]\n")
    if asked.write:
        write_rows(SEEDS, list(Row.__annotations__), [vars(row) for row in rows])
    harmed = [row for row in rows if row.outcome == FALSE]
    quiet = sum(row.outcome == QUIET for row in rows)
    lines = [*table(rows), "", f"Harmless edits: {quiet} without a new finding, {len(harmed)} with one."]
    lines += [f"- {row.board}: {row.kind}: {row.said}" for row in harmed]
    closed = [f"- KiCad does not open it: {row.board}: {row.kind}" for row in rows if row.opens == "no"]
    sys.stdout.write("\n".join([*lines, *closed]) + "\n")
    return 1 if bad or closed else 0


if __name__ == "__main__":
    sys.exit(main())
