"""A common-mode choke in series: both halves are one link, and its own loss is that of its file, or not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.settings.config import load_config
from fixtures.miniboard import MiniBoard, write
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from tests.support.cli.touchstone_files import read
from tests.support.small_boards.paired import OUT_N, OUT_P, N, P, pads, paired, write_s

GHZ = np.linspace(0, 20, 401)
PASSES = 0.8
"""Of the voltage of either line: 1.94 dB."""


def choked(config: str = "", share_db: float | None = None) -> dict[str, Any]:
    """The board of `paired`, with L1 of four pads in place of both capacitors."""
    board = paired(config=config)
    parts = [part for part in board["parts"] if part["reference"] in ("U1", "J1")]
    on = pads(("1", P, 0, 0), ("2", N, 0, 0.3), ("4", OUT_P, 1, 0), ("3", OUT_N, 1, 0.3))
    share = "" if share_db is None else f"board_loss_db = {share_db}\n"
    settings = board["config"].replace('is = "pcie4"\n', f'is = "pcie4"\n{share}')
    return {**board, "config": settings, "parts": [*parts, {"reference": "L1", "at_mm": [25, 10], "pads": on}]}


def with_file(folder: Path) -> str:
    """A choke whose lines pass 0.8 each, with nothing between them: so much of a differential voltage as well."""
    s = np.zeros((len(GHZ), 4, 4), dtype=np.complex128)
    for near, far in ((0, 1), (2, 3)):
        s[:, near, far] = s[:, far, near] = PASSES
    write_s(folder / "choke.s4p", GHZ, s)
    return '[[part_model]]\nparts = ["L1"]\nfile = "choke.s4p"\n'


def loss_of(folder: Path, board: dict[str, Any]) -> LinkLoss:
    path = write(MiniBoard.model_validate(board), folder, "card")
    ctx = prepare(read_board(path), load_config(folder / "stackwright.toml"), Overrides())[0]
    (link,) = LinkLosses(ctx).of("pcie4", declared=True).known
    return link


def judged(folder: Path, **changes: Any) -> Report:
    return check_board(write(MiniBoard.model_validate(choked(**changes)), folder, "card"))


def verdict(report: Report) -> str:
    return next(one.words for one in report.verdicts if one.code == "LOS001" and one.words != "not applicable")


def test_both_halves_are_one_link(tmp_path: Path) -> None:
    """20 mm and 19 mm on the same lines lose as 39 of the 40 mm of a pair without a part."""
    bare = loss_of(tmp_path / "bare", paired(capacitors=False))
    link = loss_of(tmp_path / "choke", choked())

    assert link.length_mm == pytest.approx(39)
    assert link.total_db.nominal == pytest.approx(bare.total_db.nominal * 39 / 40, rel=1e-6)
    assert link.chokes.unknown == ("L1",)
    assert any("L1" in note for note in link.notes)


def test_a_file_adds_what_it_says(tmp_path: Path) -> None:
    """-20 log10(0.8) = 1.94 dB."""
    without = loss_of(tmp_path / "without", choked())
    link = loss_of(tmp_path, choked(with_file(tmp_path)))

    assert link.total_db.nominal - without.total_db.nominal == pytest.approx(1.9382, abs=1e-4)
    assert link.chokes.unknown == ()


@pytest.mark.parametrize(("share_db", "words"), [(0.2, "failed"), (2.0, "not verifiable"), (9.0, "met")])
def test_a_link_passes_with_three_decibels_for_its_choke(tmp_path: Path, share_db: float, words: str) -> None:
    """39 mm lose about 1 dB at 8 GHz: more than 0.2, less than 2 dB without the choke, and 9 are enough with it."""
    report = judged(tmp_path, share_db=share_db)

    assert verdict(report) == words
    missing = [fact.fact for one in report.verdicts if one.code == "LOS001" for fact in one.missing]
    assert any("dB without L1, budget 2 dB" in fact for fact in missing) is (words == "not verifiable")


def test_with_the_file_of_its_choke_a_link_is_judged(tmp_path: Path) -> None:
    """About 1 dB and 1.94 dB are less than 4 dB, and more than 2."""
    for folder, share_db, words in (("a", 4.0, "met"), ("b", 2.0, "failed")):
        (tmp_path / folder).mkdir()
        assert verdict(judged(tmp_path / folder, config=with_file(tmp_path / folder), share_db=share_db)) == words


def test_the_s_parameters_have_the_choke_as_its_file_has_it(tmp_path: Path) -> None:
    """In series with the lines it passes 0.8; without its file the comments say that it is not in it."""
    found = {}
    for name in ("bare", "choke"):
        folder = tmp_path / name
        folder.mkdir()
        board = write(MiniBoard.model_validate(choked(with_file(folder) if name == "choke" else "")), folder, "card")
        assert run(["touchstone", str(board), "--output", str(folder / "links")]) == 0
        found[name] = read(folder / "links" / "PCIE_TX0_P.s4p")

    assert any("the loss and delay of L1 are not in it" in line for line in found["bare"][0])
    assert "element: L1 as in choke.s4p" in found["choke"][0]
    ratio = np.abs(found["choke"][2][1:200, 1, 0]) / np.abs(found["bare"][2][1:200, 1, 0])
    assert ratio == pytest.approx(PASSES, abs=0.03)  # the lines are not exactly 50 ohm
