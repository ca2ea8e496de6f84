"""How many nets of labelled boards are read right: with their names, and with every name and class hidden.

`python -m tests.boards.test_labelled_nets DEMOS` prints recall and precision by family, with 95 % intervals.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.requirements.interfaces.names import ASIDE
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.nets.diff_pairs import find_pairs

LABELS = Path(__file__).parents[2] / "fixtures" / "expected" / "net_labels.toml"


@dataclass
class Tally:
    """Counts of nets by family: labelled, assigned, and assigned as labelled."""

    labelled: Counter[str] = field(default_factory=Counter)
    assigned: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def recall(self) -> float:
        return self.right.total() / self.labelled.total()

    def precision(self) -> float:
        return self.right.total() / self.assigned.total()


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
        roles = assign_nets(hidden(board) if blind else board, Config(), {}).roles
        for name, role in zip(board.nets, roles, strict=True):
            label = next((f for f, globs in families.items() if any(fnmatch.fnmatchcase(name, g) for g in globs)), "")
            got = role.family if role and role.family not in ASIDE else ""
            found.labelled[label] += bool(label)
            found.assigned[got] += bool(got)
            found.right[got] += bool(got) and got == label
    return found


def interval_pct(right: int, total: int) -> str:
    """Wilson's 95 % interval of a share, in percent."""
    if not total:
        return "-"
    share, z = right / total, 1.96
    middle, width = share + z * z / (2 * total), z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    low, high = ((middle + sign * width) / (1 + z * z / total) * 100 for sign in (-1, 1))
    return f"{100 * share:.1f} ({low:.1f} to {high:.1f})"


@pytest.mark.demo
@pytest.mark.parametrize(("blind", "recall", "precision"), [(False, 0.98, 0.99), (True, 0.7, 0.99)])
def test_labelled_nets_are_read(demo_boards: Path, *, blind: bool, recall: float, precision: float) -> None:
    """By names and pins nearly all; by pins alone, with every name hidden, more than half; seldom a wrong one."""
    found = tally(demo_boards, blind=blind)

    assert found.recall() >= recall
    assert found.precision() >= precision


def table(demos: Path, *, blind: bool) -> list[str]:
    """The lines of one table."""
    found = tally(demos, blind=blind)
    lines = ["pins alone, names and classes hidden" if blind else "classes, names and pins"]
    lines.append(f"{'family':16} {'nets':>5}  {'recall %':24} precision %")
    sums = [(one, found.right[one], found.labelled[one], found.assigned[one]) for one in sorted(found.labelled)]
    sums.append(("all", found.right.total(), found.labelled.total(), found.assigned.total()))
    for name, right, nets, assigned in sums:
        if nets or assigned:
            lines.append(f"{name:16} {nets:5}  {interval_pct(right, nets):24} {interval_pct(right, assigned)}")
    return lines


if __name__ == "__main__":
    for hides in (False, True):
        sys.stdout.write("\n".join(table(Path(sys.argv[1]), blind=hides)) + "\n\n")
