"""What a board tells of a line's surroundings: foils of its planes, its Dk, a lone trace of a pair, its limit."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

import pytest

from drc_rules.analysis.lines.routed import RoutedLine
from drc_rules.analysis.lines.routed_impedance import routed_impedance_ohm
from drc_rules.analysis.lines.solved_lines import LineKey, Lines
from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.analysis.power.rail_copper import copper_as_declared
from drc_rules.analysis.return_path.return_paths import USUAL_DK, ReturnPaths
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.power.rail_drop.spread import finished_range_mm
from stackup_lib.transmission_lines.lossy import LineMaterials, loss_of
from stackup_lib.transmission_lines.materials.conductor_models import COPPER_S_PER_M
from tests.support.mini import mini_board
from tests.support.physics.closed_forms import ConstantDielectric
from tests.support.small_boards.six_layers import GROUNDS, SIX, mini

FOIL = '[declared.copper."{layer}"]\nfoil = "{foil}"\n'
DF = "[declared]\n" + "".join(f'[declared.dielectric."dielectric {k}"]\ndf = 0.02\nat_ghz = 16\n' for k in range(1, 6))


@pytest.mark.parametrize("layer,index,plane", [("F.Cu", 0, "In1.Cu"), ("B.Cu", 5, "In4.Cu")])
def test_the_foil_of_the_plane_beside_a_microstrip_counts(layer: str, index: int, plane: str, tmp_path: Path) -> None:
    """Above or below the trace: a rougher plane loses more; that of the other side's plane changes nothing."""
    other = {"In1.Cu": "In4.Cu", "In4.Cu": "In1.Cu"}[plane]

    def loss(number: int, adjacent: str, beyond: str) -> float:
        folder = tmp_path / f"{number}"
        folder.mkdir()
        foils = ((layer, "HVLP"), (plane, adjacent), (other, beyond))
        config = DF + "".join(FOIL.format(layer=name, foil=foil) for name, foil in foils)
        return Lines(mini(folder, config=config)).loss(LineKey(index, 0.18, None), 16.0).total_db_per_mm.nominal

    smooth = loss(1, "HVLP", "HVLP")
    assert loss(2, "STD", "HVLP") > 1.005 * smooth
    assert loss(3, "HVLP", "STD") == pytest.approx(smooth, rel=1e-9)


def test_an_undeclared_foil_is_told_and_a_declared_one_is_not(tmp_path: Path) -> None:
    """The loss of a trace on In2, whose foil is not stated, then HVLP."""
    (tmp_path / "stated").mkdir()
    foil = FOIL.format(layer="In2.Cu", foil="HVLP")

    unknown = Lines(mini(tmp_path, config=DF)).loss(LineKey(2, 0.1, None), 16.0).assumptions
    stated = Lines(mini(tmp_path / "stated", config=DF + foil)).loss(LineKey(2, 0.1, None), 16.0).assumptions

    assert unknown == ("foil not declared: from HVLP to standard",)
    assert stated == ()


def line(width_mm: float, gap_mm: float | None, *, is_pair: bool) -> RoutedLine:
    return RoutedLine(
        layer=2,
        width_mm=width_mm,
        gap_mm=gap_mm,
        is_pair=is_pair,
        references=(1, 3),
        length_mm=10.0,
        longest_mm=10.0,
        nets=(0,),
        net_lengths_mm=(10.0,),
    )


def test_a_trace_of_a_pair_that_runs_alone_has_twice_its_z0(tmp_path: Path) -> None:
    """Half of Zdiff without coupling; a pair with a gap has the Zdiff that was solved, below that of two alone."""
    lines = Lines(mini(tmp_path))
    z0 = lines.solved(2, 0.1, None, (1, 3)).impedance_ohm

    assert routed_impedance_ohm(lines, line(0.1, None, is_pair=False)) == z0
    assert routed_impedance_ohm(lines, line(0.1, None, is_pair=True)) == pytest.approx(2 * z0)
    assert 1.5 * z0 < routed_impedance_ohm(lines, line(0.1, 0.12, is_pair=True)) < 2 * z0


def test_a_pair_between_planes_holds_up_to_half_the_cut_off_of_its_whole_width(tmp_path: Path) -> None:
    """Traces of 0.1 mm with 0.12 mm between them are a strip of 0.32 mm: half of c / sqrt(Dk) / (2 w + pi b / 2)."""
    found = Lines(mini(tmp_path, config=DF)).loss(LineKey(2, 0.1, 0.12), 16.0)

    half_cutoff_ghz = 0.5 * 299.792458 / math.sqrt(4.4) / (2 * 0.32 + math.pi / 2 * 0.415)
    assert found.limit_ghz == pytest.approx(half_cutoff_ghz, rel=0.02)


def test_the_dk_to_a_plane_is_the_mean_of_the_plies_between_by_thickness(tmp_path: Path) -> None:
    """F.Cu to In2: 0.10 mm of 4.1 and 0.20 mm of 4.4 are 4.3; In3 up to In2: 0.08 of 3.8 and 0.12 of 4.0 are 3.92."""
    paths = ReturnPaths(mini(tmp_path))

    assert paths.dk(0, 2) == pytest.approx(4.3)
    assert paths.dk(3, 2) == pytest.approx(3.92)


def test_one_ply_of_unknown_thickness_or_dk_leaves_the_usual_dk(tmp_path: Path) -> None:
    """Nothing is known of dielectric 2: from F.Cu to In2 the usual Dk stands in, to In1 the stated one counts."""
    text = SIX.replace('core 0.20 "370HR" dk=4.4', 'core 0.20 "Unobtainium"')
    board = mini_board(tmp_path, tomllib.loads(text + GROUNDS))
    paths = ReturnPaths(prepare(board, parse_config(""), Overrides())[0])

    assert paths.dk(0, 2) == USUAL_DK
    assert paths.dk(0, 1) == pytest.approx(4.1)


def test_both_outer_layers_may_be_plated_thicker_and_inner_ones_not(tmp_path: Path) -> None:
    """F.Cu and B.Cu of 35 um: from 10 % less up to plating on top; In1 to In4 of 15 um have their own class."""
    config = '[[rail]]\nnet = "+3V3"\nvoltage_v = 3.3\n'
    ctx = mini(tmp_path, config=config)

    ranges = copper_as_declared(ctx, PowerRails(ctx).declared[0])[1]

    outer, inner = finished_range_mm(0.035, outer=True), finished_range_mm(0.015, outer=False)
    assert outer[1] > 0.035 and outer != finished_range_mm(0.035, outer=False)
    assert [ranges[k] for k in (0, 5)] == [(outer[0], 0.035, outer[1])] * 2
    assert [ranges[k] for k in (1, 2, 3, 4)] == [(inner[0], 0.015, inner[1])] * 4


def test_a_pair_tells_the_dk_of_its_odd_mode(tmp_path: Path) -> None:
    """In one dielectric that is its Dk, with c / sqrt(Dk) of delay; on the surface more of the field runs in air."""
    text = re.sub(r"dk=[0-9.]+", "dk=4.0", SIX.replace("mask 0.015\n", "").replace("mask 0.015 dk=3.3\n", ""))
    board = mini_board(tmp_path, tomllib.loads(text + GROUNDS))
    lines = Lines(prepare(board, parse_config(""), Overrides())[0])

    inner, outer, alone = lines.solved(2, 0.1, 0.12), lines.solved(0, 0.18, 0.15), lines.solved(0, 0.18)

    assert inner.eps_eff == pytest.approx(4.0, rel=1e-3)
    assert inner.delay_ps_per_mm == pytest.approx(2 / 0.299792458, rel=1e-3)
    assert 1 < outer.eps_eff < alone.eps_eff < 4


@pytest.mark.parametrize("index,gap_mm", [(0, None), (2, None), (2, 0.12)])
def test_at_rest_a_trace_has_the_resistance_of_its_copper(index: int, gap_mm: float | None, tmp_path: Path) -> None:
    """1 / (sigma A) of the trapezoid, however its current crowds at high frequency; planes without end add nothing."""
    line = Lines(mini(tmp_path)).solved(index, 0.15, gap_mm)
    strip = line.section.strips[0]
    area_m2 = (strip.base_width_mm + strip.top_width_mm) / 2 * strip.thickness_mm * 1e-6
    sheets = tuple(ConstantDielectric(sheet.dk, 0.0) for sheet in line.site.sheets)

    found = loss_of(line, LineMaterials(sheets=sheets, plane_copper_mm=(1e9, 1e9)), 0.0)

    assert float(found.resistance_ohm_per_m) == pytest.approx(1 / (COPPER_S_PER_M * area_m2), rel=1e-6)
