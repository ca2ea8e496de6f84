"""What rules apply to: plies next to high-speed layers, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.nets.high_speed_layers import HighSpeedLayer
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.interfaces import interface
from drc_rules.rules.scopes import HighSpeedPly, every_ply, fast_plies
from drc_rules.settings.config import parse_config
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file

SIX = """
F.Cu 0.035
prepreg 0.1 "370HR"
In1.Cu 0.035
core 0.2 "370HR"
In2.Cu 0.035
prepreg 0.3 "370HR"
In3.Cu 0.035
core 0.2 "370HR"
In4.Cu 0.035
prepreg 0.1 "370HR"
B.Cu 0.035
"""
ANY = Clause(
    id="t.any",
    kind="laminate_class",
    title="mid-loss beside fast lines",
    severity=Severity.ERROR,
    source=Source(document="engineering", row="test"),
)


def context(folder: Path, **board: object) -> Context:
    path = mini_file(folder, {"size_mm": [60, 40], **board})
    config = 'nets = ["/PCIE_TX0_P", "/PCIE_TX0_N"]' if "tracks" in board else ""
    return prepare(read_board(path), parse_config(config and f'[[interface]]\nis = "pcie5"\n{config}'), Overrides())[0]


def pair(layer: str) -> list[dict[str, object]]:
    return [
        {"net": f"/PCIE_TX0_{side}", "layer": layer, "path_mm": [[5, y], [50, y]], "width_mm": 0.15}
        for side, y in (("P", 10), ("N", 10.3))
    ]


def test_a_hybrid_build_is_judged_only_where_a_high_speed_layer_touches_it(tmp_path: Path) -> None:
    """Lines on In2 have the core above and the prepreg below them; the other three plies do not matter."""
    found = list(fast_plies(context(tmp_path, stackup=SIX, tracks=pair("In2.Cu")), ANY))

    assert [(one.ply.thickness.value, one.touching, one.inferred) for one in found] == [
        (0.2, "In2.Cu", False),
        (0.3, "In2.Cu", False),
    ]


def test_without_a_high_speed_layer_no_ply_is_judged(tmp_path: Path) -> None:
    """A slow board without a stackup: nothing applies, so nothing is missing; all plies are."""
    slow = context(tmp_path, stackup="default", copper_layers=4)

    assert list(fast_plies(slow, ANY)) == []
    with pytest.raises(MissingFact, match="stackup"):
        every_ply(slow, ANY)


def test_a_ply_is_known_to_be_fast_once_one_layer_beside_it_is(tmp_path: Path) -> None:
    """Declared nets above and inferred ones below: declared; inferred on both sides: inferred."""
    ply = every_ply(context(tmp_path, stackup=SIX), ANY)[2]
    declared, guessed = (
        HighSpeedLayer(index, f"In{index}.Cu", interface("pcie5"), (0,), 40.0, inferred=inferred)
        for index, inferred in ((2, False), (3, True))
    )

    assert not HighSpeedPly(ply, (declared, guessed)).inferred
    assert HighSpeedPly(ply, (guessed,)).inferred
    assert HighSpeedPly(ply, (declared, guessed)).touching == "In2.Cu, In3.Cu"
