"""Tells what the check says of defects that public boards once had: before and after they were corrected.

Run: `python -m tests.corpus.history [--only TEXT] [--write]`. It needs git and the network: boards are fetched from
their public repositories into a cache outside this one; `--mirrors FOLDER` takes git repositories that are there as
`OWNER+NAME`. Nothing is declared but the generations of interfaces that names leave open, as in `recall.toml`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from stackup_lib.core.errors import StackwrightError
from tests.corpus.manifest import write_rows
from tests.corpus.nets import entry_of
from tests.corpus.recall import BOARDS, ground_of
from tests.corpus.run import laid_out
from tests.corpus.sources import add_source_options

DEFECTS = Path(__file__).with_name("history.toml")
TOLD = Path(__file__).with_name("history.csv")
CAUGHT, CHANGED, SAME, OPEN, UNJUDGED, PASSED, NO_RULE = (
    "caught", "changed", "the same", "not verifiable", "not judged", "passed", "no rule",
)  # fmt: skip
"""Changed: found before and after, with other numbers. Not judged: the rules apply to nothing on the board."""


@dataclass(frozen=True)
class Row:
    """What is said of one defect; `before` and `after` are titles of findings, or what is missing."""

    board: str
    date: str
    what: str
    told: str
    rules: str
    outcome: str
    before: str
    after: str
    checked: str


def said(defect: Mapping[str, Any], when: str, generation: dict[str, str], where: tuple[Path, Path | None]) -> Report:
    """Check the board as it was before or after."""
    entry = entry_of({**defect, **defect[when]})
    return ground_of(entry, laid_out(entry, *where), generation)[0].report


def judged(defect: Mapping[str, Any], before: Report, after: Report | None) -> Row:
    """Compare what the rules in question say; a defect that was never corrected is caught where they find anything."""
    rules = set(defect["rules"])
    old, new = (
        {one.key: one.title for one in of.findings if one.code in rules} if of else {} for of in (before, after)
    )
    gone = [title for key, title in old.items() if key not in new]
    moved = [key for key, title in old.items() if new.get(key, title) != title]
    verdicts = [one for one in before.verdicts if one.code in rules]
    missing = [fact.fact for one in verdicts for fact in one.missing]
    first, second = "; ".join(gone), "; ".join(new.values())
    if not rules:
        outcome = NO_RULE
    elif gone:
        outcome = CAUGHT
    elif old:
        key = (moved or list(old))[0]
        outcome, first, second = CHANGED if moved else SAME, old[key], new[key]
    elif missing:
        outcome, first = OPEN, missing[0]
    else:
        outcome = PASSED if any(one.verdict is Verdict.PASSED for one in verdicts) else UNJUDGED
    today = datetime.now(UTC).date().isoformat()
    name = f"{defect['repository']}/{Path(defect['path']).name}"
    return Row(
        name,
        str(defect["date"]),
        defect["what"],
        defect["told"],
        " ".join(sorted(rules)),
        outcome,
        first,
        second,
        today,
    )


def read_rows(file: Path = TOLD) -> list[Row]:
    """Return the rows of the last run."""
    with file.open(encoding="utf-8", newline="") as text:
        return [Row(**row) for row in csv.DictReader(text)]


def main(words: Sequence[str] | None = None) -> int:
    """Fetch, check and print; exit code 1 where a board could not be had."""
    parser = argparse.ArgumentParser(prog="tests.corpus.history", description=__doc__)
    add_source_options(parser)
    parser.add_argument("--only", default="", metavar="TEXT", help="defects whose board or description contains this")
    parser.add_argument("--write", action="store_true", help=f"put the rows in place of {TOLD.name}")
    asked = parser.parse_args(words)
    generation, where = tomllib.loads(BOARDS.read_text(encoding="utf-8"))["generation"], (asked.cache, asked.mirrors)
    rows: list[Row] = []
    bad = 0
    for defect in tomllib.loads(DEFECTS.read_text(encoding="utf-8"))["defect"]:
        if asked.only not in f"{defect['repository']}/{defect['path']} {defect['what']}":
            continue
        try:
            before = said(defect, "before", generation, where)
            after = said(defect, "after", generation, where) if "after" in defect else None
        except StackwrightError as error:
            sys.stderr.write(f"{defect['repository']}: {error}\n")
            bad = 1
            continue
        row = judged(defect, before, after)
        rows.append(row)
        sys.stdout.write(f"{row.outcome:15} {row.rules or '-'}  {row.board}: {row.what}\n")
        for word, text in (("before", row.before), ("after", row.after)):
            sys.stdout.write(f"    {word}: {text}\n" if text else "")
    if asked.write:
        write_rows(TOLD, list(Row.__annotations__), [vars(row) for row in rows])
    return bad


if __name__ == "__main__":
    sys.exit(main())
