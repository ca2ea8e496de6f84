"""Nets with a label against what they were taken for: counts by family, shares with intervals, a table."""

from __future__ import annotations

import fnmatch
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.requirements.interfaces.names import ASIDE
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board


@dataclass
class Tally:
    """Counts of nets by family: labelled, assigned, and assigned as labelled; `misses` tells what was not right.

    A miss is board, net, label and what the net was taken for, either empty.
    """

    labelled: Counter[str] = field(default_factory=Counter)
    assigned: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    misses: list[tuple[str, str, str, str]] = field(default_factory=list)

    def recall(self) -> float:
        return self.right.total() / self.labelled.total()

    def precision(self) -> float:
        return self.right.total() / self.assigned.total()

    def add(
        self,
        name: str,
        board: Board,
        families: Mapping[str, Sequence[str]],
        left_open: Sequence[str] = (),
        *,
        shown: Board | None = None,
        only: Sequence[str] = (),
    ) -> None:
        """Count the nets of one board; those that match a wildcard of `left_open` count for nothing.

        Labels go by the names of `board`; where `shown` is given, the nets are read from that. Where `only` is given,
        these families alone were labelled, and what is taken for another counts as not assigned.
        """
        for net, role in zip(board.nets, assign_nets(shown or board, Config(), {}).roles, strict=True):
            label = next((family for family, globs in families.items() if _any(net, globs)), "")
            got = role.family if role and role.family not in ASIDE else ""
            got = got if not only or got in only else ""
            if not net or (not label and _any(net, left_open)):
                continue
            self.labelled[label] += bool(label)
            self.assigned[got] += bool(got)
            self.right[got] += bool(got) and got == label
            if got != label:
                self.misses.append((name, net, label, got))

    def lines(self) -> list[str]:
        """Return a table of nets, recall and precision by family, with the sums last."""
        lines = [f"{'family':16} {'nets':>5}  {'recall %':24} precision %"]
        names = sorted({*self.labelled, *self.assigned} - {""})
        sums = [(one, self.right[one], self.labelled[one], self.assigned[one]) for one in names]
        sums.append(("all", self.right.total(), self.labelled.total(), self.assigned.total()))
        for name, right, nets, assigned in sums:
            if nets or assigned:
                lines.append(f"{name:16} {nets:5}  {interval_pct(right, nets):24} {interval_pct(right, assigned)}")
        return lines


def _any(net: str, globs: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(net, glob) for glob in globs)


def interval_pct(right: int, total: int) -> str:
    """Wilson's 95 % interval of a share, in percent."""
    if not total:
        return "-"
    share, z = right / total, 1.96
    middle, width = share + z * z / (2 * total), z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    low, high = ((middle + sign * width) / (1 + z * z / total) * 100 for sign in (-1, 1))
    return f"{100 * share:.1f} ({low:.1f} to {high:.1f})"
