"""Keys of findings are a promise: a baseline that was written before still matches."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board

ROOT = Path(__file__).parents[2] / "fixtures"
RECORDED: dict[str, list[str]] = tomllib.loads((ROOT / "expected" / "keys.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_baseline_written_before_still_matches(name: str) -> None:
    """Messages may change, keys may not: they hash codes and ids."""
    report = check_board(ROOT / "boards" / name / f"{name}.kicad_pcb")

    assert sorted(f.key for f in report.findings) == RECORDED[name]
