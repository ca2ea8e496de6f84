"""A wrong netlist shorts thousands of nets: fifty have a finding each, the rest one, and jumpers stay jumpers."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.findings import Finding
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.fabrication.shorts.joined import MOST_FINDINGS
from tests.support.mini import mini_file

STACKUP = 'F.Cu 0.035\ncore 1.5 "370HR" dk=4.0\nB.Cu 0.035\n'


def place(k: int) -> list[float]:
    return [10.0 + 12 * (k % 10), 10.0 + 5 * (k // 10)]


def pads(k: int, reference: str, apart_mm: float) -> dict[str, object]:
    one, other = ({"number": str(n), "net": f"/{reference}{k}_{n}", "size_mm": [1, 1], "shape": "rect"} for n in (1, 2))
    return {"reference": f"{reference}{k}", "at_mm": place(k), "pads": [one, {**other, "at_mm": [apart_mm, 0]}]}


def joined(reference: str, first: int, count: int) -> list[dict[str, object]]:
    """Parts whose two pads overlap."""
    return [pads(k, reference, 0.9) for k in range(first, first + count)]


def drawn(first: int, count: int) -> list[dict[str, object]]:
    """Lines that join the two pads of parts whose pads are apart."""
    ends = [(place(k)[0], place(k)[1]) for k in range(first, first + count)]
    return [{"layer": "F.Cu", "path_mm": [[x, y], [x + 3, y]]} for x, y in ends]


def shorts(folder: Path, parts: list[dict[str, object]], graphics: list[dict[str, object]]) -> list[Finding]:
    data = {"size_mm": [140, 100], "stackup": STACKUP, "parts": parts, "graphics": graphics}
    return [one for one in check_board(mini_file(folder, data)).findings if one.code == "FAB015"]


@pytest.mark.parametrize("more", [0, 1, 12])
def test_drawn_shorts_beyond_fifty_share_one_finding(more: int, tmp_path: Path) -> None:
    count = MOST_FINDINGS + more
    found = shorts(tmp_path, [pads(k, "U", 3) for k in range(count)], drawn(0, count))

    rest = [one for one in found if "more pair" in one.title]
    assert len(found) == MOST_FINDINGS + bool(more)
    words = f"short: {more} more pair{'s' if more > 1 else ''} of nets joined by drawn copper"
    assert [one.title for one in rest] == ([words] if more else [])
    assert {one.severity for one in found} == {Severity.ERROR}


def test_closed_jumpers_beyond_fifty_are_no_short(tmp_path: Path) -> None:
    """The rest of sixty is as harmless as each."""
    found = shorts(tmp_path, joined("JP", 0, 60), [])

    assert {one.severity for one in found} == {Severity.INFO}
    assert "10 more pairs of nets overlap, by the parts' own copper" in [one.title for one in found]


def test_shorts_come_before_jumpers(tmp_path: Path) -> None:
    """Of 55 closed jumpers and one short the short has a finding of its own."""
    found = shorts(tmp_path, [*joined("JP", 0, 55), *joined("U", 60, 1)], [])

    assert [one.title.startswith("short: pad 2 of U60") for one in found if one.severity is Severity.ERROR] == [True]


def test_the_rest_comes_after_the_shorts_that_are_named(tmp_path: Path) -> None:
    """Its title begins with a number, those of the others with what overlaps."""
    errors = shorts(tmp_path, joined("U", 0, 85), [])
    assert [k for k, one in enumerate(errors) if "35 more pairs" in one.title] == [MOST_FINDINGS]
