"""Compares what the nets of labelled public boards are taken for with their labels, `net_labels.toml`.

Run: `python -m tests.corpus.nets [--half blind]`. It needs git and the network: boards are fetched from their public
repositories into a cache outside this one; `--mirrors FOLDER` takes git repositories that are there as `OWNER+NAME`.
Written are recall and precision by family with Wilson's 95 % intervals, and every net that was not read as labelled.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from tests.corpus.manifest import Entry
from tests.corpus.run import laid_out
from tests.corpus.sources import add_source_options
from tests.support.accuracy.labelled_nets import Tally

LABELS = Path(__file__).with_name("net_labels.toml")
HALVES = ("blind", "working", "blind-2", "working-2")


def read_labels() -> list[dict[str, Any]]:
    """Return the labelled boards, as they stand in the file."""
    boards: list[dict[str, Any]] = tomllib.loads(LABELS.read_text(encoding="utf-8"))["board"]
    return boards


def entry_of(row: Mapping[str, Any]) -> Entry:
    """Return a labelled board as an entry of the manifest."""
    return Entry(
        repository=row["repository"], path=row["path"], commit=row["commit"], sha256=row["sha256"], project_sha256="",
        licence="", kicad="", layers=0, size_bytes=0, stackup=False, impedance=False, about="",
    )  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Fetch, compare and print; exit code 1 where a board could not be had."""
    parser = argparse.ArgumentParser(prog="tests.corpus.nets", description=__doc__)
    add_source_options(parser)
    parser.add_argument("--half", choices=HALVES, help="only these boards")
    asked = parser.parse_args(words)
    failed = False
    for half in (asked.half,) if asked.half else HALVES:
        found, boards = Tally(), 0
        for row in (one for one in read_labels() if one["half"] == half):
            entry = entry_of(row)
            try:
                board = read_board(laid_out(entry, asked.cache, asked.mirrors))
            except StackwrightError as error:
                sys.stderr.write(f"{entry.name}: {error}\n")
                failed = True
                continue
            found.add(entry.name, board, row.get("nets", {}), row.get("open", ()), only=row.get("families", ()))
            boards += 1
        misses = [
            f"{board}: {net}: {label or 'none'}, read as {got or 'none'}" for board, net, label, got in found.misses
        ]
        sys.stdout.write("\n".join([f"{half} half, {boards} boards", *found.lines(), "", *misses]) + "\n\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
