"""How many nets of labelled boards are read right: with their names, and with every name and class hidden.

`python -m tests.boards.test_labelled_nets DEMOS` prints recall and precision by family, with 95 % intervals.
"""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from pathlib import Path

import pytest

from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.nets.diff_pairs import find_pairs
from tests.support.accuracy.labelled_nets import Tally

LABELS = Path(__file__).parents[2] / "fixtures" / "expected" / "net_labels.toml"


def hidden(board: Board) -> Board:
    """The board without a telling name or class: pairs stay pairs, ground and generated names stay."""
    pairs = find_pairs(board)
    names = [name if name.startswith(("GND", "+", "Net-(", "unconnected-(")) or not name else f"/N{k}"
             for k, name in enumerate(board.nets)]  # fmt: skip
    for row, (one, other) in enumerate(zip(pairs.positive.tolist(), pairs.negative.tolist(), strict=True)):
        names[one], names[other] = f"/X{row}_P", f"/X{row}_N"
    project = dataclasses.replace(board.project, net_classes_of={})
    return dataclasses.replace(board, nets=tuple(names), project=project)


def tally(demos: Path, *, blind: bool) -> Tally:
    """Compare what every net of the labelled boards is assigned to with its label."""
    found = Tally()
    for path, families in tomllib.loads(LABELS.read_text(encoding="utf-8")).items():
        board = read_board(demos / path)
        found.add(path, board, families, shown=hidden(board) if blind else None)
    return found


@pytest.mark.demo
@pytest.mark.parametrize(("blind", "recall", "precision"), [(False, 0.98, 0.99), (True, 0.7, 0.99)])
def test_labelled_nets_are_read(demo_boards: Path, *, blind: bool, recall: float, precision: float) -> None:
    """By names and pins nearly all; by pins alone, with every name hidden, more than half; seldom a wrong one."""
    found = tally(demo_boards, blind=blind)

    assert found.recall() >= recall
    assert found.precision() >= precision


def table(demos: Path, *, blind: bool) -> list[str]:
    """The lines of one table."""
    title = "pins alone, names and classes hidden" if blind else "classes, names and pins"
    return [title, *tally(demos, blind=blind).lines()]


if __name__ == "__main__":
    for hides in (False, True):
        sys.stdout.write("\n".join(table(Path(sys.argv[1]), blind=hides)) + "\n\n")
