"""What the worker behind KiCad's button makes of a board, without KiCad."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackwright.kicad.worker import _check

BOARD = Path(__file__).parents[2] / "fixtures/boards/inference_pcie_gen5_fit/inference_pcie_gen5_fit.kicad_pcb"


def test_the_page_in_kicad_has_the_delay_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every link with its delay and KiCad's length; without the board from above nothing is there to click."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = _check({"board": str(BOARD), "live": str(BOARD)})
    page = Path(str(done["page"])).read_text(encoding="utf-8")
    assert Path(str(done["page"])).is_relative_to(tmp_path)
    assert '<table class="delays">' in page
    assert page.count("/PCIE_TX0") >= 1
    assert "KiCad mm</th>" in page
