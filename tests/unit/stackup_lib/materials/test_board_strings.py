"""Material texts that people write into boards: each is recognised as labelled, or said to be unknown."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from stackup_lib.materials import Match, catalogue

STRINGS = Path(__file__).parents[4] / "fixtures" / "materials" / "board_strings.csv"
RIGHT_OR_UNKNOWN, RIGHT = 0.98, 0.95


@dataclass(frozen=True)
class Labelled:
    """A text, and what an engineer reads in it: a family, `generic:` and a kind, or a status."""

    text: str
    means: str
    style: str | None
    plies: int | None
    resin_content_pct: float | None


def labelled() -> list[Labelled]:
    with STRINGS.open(encoding="utf-8", newline="") as file:
        return [
            Labelled(
                row["text"],
                row["means"],
                row["style"] or None,
                int(row["plies"]) if row["plies"] else None,
                float(row["resin_content_pct"]) if row["resin_content_pct"] else None,
            )
            for row in csv.DictReader(file)
        ]


def meaning(match: Match) -> str:
    if match.laminate is not None:
        return f"generic:{match.laminate.family}" if match.laminate.generic else match.laminate.family
    return "style" if match.status == "style only" else match.status


def is_right(line: Labelled, match: Match) -> bool:
    read = (meaning(match), match.style, match.plies, match.resin_content_pct)
    return read == (line.means, line.style, line.plies, line.resin_content_pct)


def is_unknown(match: Match) -> bool:
    return match.status in ("unknown", "ambiguous")


def described(line: Labelled, match: Match) -> str:
    found = (meaning(match), match.style, match.plies, match.resin_content_pct)
    return f"{line.text!r} is {line.means}, {line.style}, {line.plies}, {line.resin_content_pct}; read as {found}"


def test_material_texts_of_boards_are_right_or_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 98 % are right or said to be unknown, 95 % right; the rate and all misses are printed."""
    lines = labelled()
    read = [(line, catalogue().find(line.text)) for line in lines]
    missed = [(line, match) for line, match in read if not is_right(line, match)]
    wrong = [(line, match) for line, match in missed if not is_unknown(match)]
    right, unknown = len(lines) - len(missed), len(missed) - len(wrong)
    with capsys.disabled():
        sys.stdout.write(f"\n{len(lines)} texts: {right} right, {unknown} unknown, {len(wrong)} wrong\n")
        sys.stdout.writelines(f"  {described(line, match)}\n" for line, match in missed)

    assert len(lines) >= 200
    assert len({line.text for line in lines}) == len(lines)
    assert len(wrong) <= (1 - RIGHT_OR_UNKNOWN) * len(lines), wrong
    assert len(missed) <= (1 - RIGHT) * len(lines), missed
