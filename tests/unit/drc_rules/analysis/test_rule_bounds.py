"""A custom design rule whose minimum is above its maximum is told; KiCad takes it without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from tests.support.mini import mini_file

STACKUP = 'F.Cu 0.035\ncore 1.5 "370HR" dk=4.0\nB.Cu 0.035\n'


def notes(folder: Path, rules: str) -> list[str]:
    data = {"size_mm": [40, 30], "stackup": STACKUP, "design_rules": f"(version 1)\n{rules}\n"}
    return [note for note in check_board(mini_file(folder, data)).notes if "kicad_dru" in note]


def test_a_minimum_above_the_maximum_is_told(tmp_path: Path) -> None:
    rule = '(rule "wide"\n  (constraint track_width (min 0.3mm) (opt 0.2mm) (max 0.2mm)))'

    assert notes(tmp_path, rule) == [
        'board.kicad_dru:3, rule "wide": track_width is 0.3 mm at least and 0.2 mm at most: nothing meets both, '
        "KiCad reports every item"
    ]


@pytest.mark.parametrize(
    "rule",
    [
        '(rule "fixed" (constraint track_width (min 0.2mm) (max 0.2mm)))',
        '(rule "open" (constraint diff_pair_gap (min 0.1mm)))',
        '(rule "odd" (constraint foo (min 0.3mm) (max 0.2mm)))',
    ],
    ids=["one width", "no maximum", "a file that KiCad ignores"],
)
def test_bounds_that_can_be_met_are_not(rule: str, tmp_path: Path) -> None:
    assert notes(tmp_path, rule) == []
