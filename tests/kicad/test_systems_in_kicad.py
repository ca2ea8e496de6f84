"""A real KiCad opens the boards of every system and finds no violation in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from fixtures.systems import make_fit, make_twin, system_names

pytestmark = pytest.mark.kicad


class Cli(Protocol):
    """The `kicad_cli` fixture."""

    def __call__(self, *arguments: str | Path) -> object: ...


@pytest.mark.parametrize("make", [make_fit, make_twin])
@pytest.mark.parametrize("name", system_names())
def test_kicads_design_rule_check_finds_nothing_on_a_system(
    name: str, make: Callable[[str, Path], Path], kicad_cli: Cli, tmp_path: Path
) -> None:
    """No short, clearance, dangling track or unconnected pad, warnings included."""
    board, report = make(name, tmp_path), tmp_path / "report.json"
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "--output", report, board)
    said = json.loads(report.read_text(encoding="utf-8"))
    assert {item["type"] for key in ("violations", "unconnected_items") for item in said[key]} == set()
