"""A rail's impedance over frequency from a board: each element by hand, the whole by another sum, what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drc_rules.analysis.power.over_frequency.decoupling import NO_VIA
from drc_rules.analysis.power.over_frequency.left_of_capacitance import left_of
from drc_rules.analysis.power.over_frequency.part_data import declared_data
from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from drc_rules.analysis.power.power_rails import PowerRails
from drc_rules.report.pdn_rows import PdnRow
from drc_rules.settings.config import parse_config
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.nets.capacitor_text import read_capacitor
from tests.support.physics.power_frequency import rebuilt_off
from tests.support.small_boards.decoupled import (
    NET,
    RAIL,
    REGULATOR,
    capacitor,
    context_of,
    decoupled,
    its_vias,
    with_more,
)

SURE = 'pdn.capacitor = [{ parts = ["C*"], uf = 10, esr_mohm = 5, esl_ph = 200 }]\n'
EPS0 = 8.8541878e-12


def at(row: PdnRow, hz: float) -> float:
    """The nominal |Z| in mOhm next to a frequency."""
    return min(row.points, key=lambda point: abs(math.log(point.hz / hz))).mohm.nominal


def test_planes_are_those_of_the_board(tmp_path: Path) -> None:
    """59 by 39 mm of In2 over In1, 0.1 mm of Dk 4.2: 856 pF less a few antipads."""
    row = pdn_of(context_of(tmp_path), NET)
    (pair,) = row.pairs
    assert (pair.rail_layer, pair.ground_layer) == ("In2.Cu", "In1.Cu")
    assert pair.spacing_mm == pytest.approx(0.1)
    assert row.planes_nf == pytest.approx(EPS0 * 4.2 * 0.059 * 0.039 / 1e-4 * 1e9, rel=0.03)


def test_mounting_by_hand(tmp_path: Path) -> None:
    """Two vias 2.2 mm apart, 0.25 mm wide, 0.2 mm deep; twice 0.6 mm of copper 0.5 mm wide, 0.2 mm over In1."""
    row = pdn_of(context_of(tmp_path), NET)
    by_hand = 0.4 * 0.2 * math.acosh(2.2 / 0.25) + 2 * 0.4 * math.pi * 0.2 * 0.6 / (0.5 + 1.4 * 0.2)
    found = {one.reference: one.mounting_nh for one in row.capacitors}
    assert sorted(found) == ["C1", "C2"]
    assert found["C1"].nominal == pytest.approx(by_hand, rel=1e-3)
    assert found["C1"].low < 0.8 * by_hand < 1.2 * by_hand < found["C1"].high


def far_vias(away: float) -> list[dict[str, Any]]:
    """Vias of C1 so far outward of its pads, and the others of the board."""
    return [
        {"net": NET, "at_mm": [29.5 - away, 20]},
        {"net": "GND", "at_mm": [30.5 + away, 20]},
        *decoupled()["vias"][2:],
    ]


def far_tracks(away: float, width: float) -> list[dict[str, Any]]:
    """Tracks from C1 to these."""
    ends = ((NET, 29.5, 29.5 - away), ("GND", 30.5, 30.5 + away))
    paths = [
        {"net": net, "layer": "F.Cu", "width_mm": width, "path_mm": [[pad, 20], [via, 20]]} for net, pad, via in ends
    ]
    return [*paths, *decoupled()["tracks"][2:]]


def air_line_nh_per_mm(width: float, height: float) -> float:
    """Inductance of a microstrip, Z0 in air over the speed of light (E. Hammerstad, EuMC 1975)."""
    u = width / height
    ohm = 60 * math.log(8 / u + u / 4) if u <= 1 else 120 * math.pi / (u + 1.393 + 0.667 * math.log(u + 1.444))
    return ohm / 299.792458


@pytest.mark.parametrize(("away", "width"), [(1.5, 0.15), (1.5, 0.5), (8.0, 0.15)])
def test_mounting_over_tracks_by_another_formula(tmp_path: Path, away: float, width: float) -> None:
    """0.25 mm in each pad, the rest over the track, 0.2 mm over In1; vias 0.2 mm deep by arccosh."""
    row = pdn_of(context_of(tmp_path, vias=far_vias(away), tracks=far_tracks(away, width)), NET)
    mounting = next(one.mounting_nh for one in row.capacitors if one.reference == "C1")
    copper = 0.25 * air_line_nh_per_mm(0.5, 0.2) + (away - 0.25) * air_line_nh_per_mm(width, 0.2)
    by_line = 2 * copper + 0.4 * 0.2 * math.acosh((1 + 2 * away) / 0.25)
    assert mounting.low < by_line < mounting.high
    assert mounting.nominal == pytest.approx(by_line, rel=0.25)
    sides = 0.25 / (0.5 + 0.28) + (away - 0.25) / (width + 0.28)
    by_hand = 2 * 0.4 * math.pi * 0.2 * sides + 0.4 * 0.2 * math.acosh((1 + 2 * away) / 0.25)
    assert mounting.nominal == pytest.approx(by_hand, rel=1e-3)


def test_a_via_of_the_net_beside_a_pad_changes_nothing_unless_copper_joins_it(tmp_path: Path) -> None:
    beside = [{"net": net, "at_mm": [x, 20.7]} for net, x in ((NET, 29.5), ("GND", 30.5))]
    tracks, vias = far_tracks(8, 0.15), far_vias(8)
    own = pdn_of(context_of(tmp_path / "own", vias=vias, tracks=tracks), NET)
    more = pdn_of(context_of(tmp_path / "more", vias=[*vias, *beside], tracks=tracks), NET)
    assert {one.reference: one.mounting_nh for one in more.capacitors} == {
        one.reference: one.mounting_nh for one in own.capacitors
    }
    bare = pdn_of(context_of(tmp_path / "bare", vias=[*vias, *beside], tracks=tracks[2:]), NET)
    assert bare.left_out == {NO_VIA: ("C1",)}
    assert any("how C1 reach" in one.what for one in bare.missing)


@pytest.mark.parametrize("pitch", [0.93, 0.91, 0.6])
def test_a_row_of_capacitors_on_the_back_by_hand(tmp_path: Path, pitch: float) -> None:
    """Each has its own vias, however near the neighbours' are: 1.2 mm deep, 2.2 mm apart."""
    places = [(30, 10 + pitch * k) for k in range(5)]
    keys = with_more([capacitor(f"C{10 + k}", x, y) | {"side": "back"} for k, (x, y) in enumerate(places)])
    tracks = [track | {"layer": "B.Cu"} if track["path_mm"][0][1] < 19 else track for track in keys["tracks"]]
    row = pdn_of(context_of(tmp_path, **keys | {"tracks": tracks}), NET)
    found = [
        one.mounting_nh.nominal for one in row.capacitors if one.reference.startswith("C1") and one.reference != "C1"
    ]
    by_hand = 0.4 * 1.2 * math.acosh(2.2 / 0.25) + 2 * 0.4 * math.pi * 1.2 * 0.6 / (0.5 + 1.4 * 1.2)
    assert found == [pytest.approx(by_hand, rel=1e-3)] * 5


def test_capacitors_on_one_pair_of_vias_have_half_of_it_each(tmp_path: Path) -> None:
    """Two at 0.5 mm from it, above and below: the vias of each count twice."""
    ends = ((NET, 29.5), ("GND", 30.5))
    vias = [{"net": net, "at_mm": [x, 20.5]} for net, x in ends]
    tracks = [{"net": net, "layer": "F.Cu", "width_mm": 0.5, "path_mm": [[x, 20.0], [x, 21.0]]} for net, x in ends]
    parts = [capacitor("C1", 30, 20), capacitor("C2", 30, 21), *decoupled()["parts"][2:]]
    row = pdn_of(context_of(tmp_path, vias=[*vias, *decoupled()["vias"][4:]], tracks=tracks, parts=parts), NET)
    copper = 2 * 0.4 * math.pi * 0.2 * 0.5 / (0.5 + 1.4 * 0.2)
    by_hand = 2 * 0.4 * 0.2 * math.acosh(1 / 0.25) + copper
    assert [one.mounting_nh.nominal for one in row.capacitors] == [pytest.approx(by_hand, rel=1e-3)] * 2


@pytest.mark.parametrize(
    ("net", "planes"), [(NET, {"In1.Cu": "GND", "In2.Cu": NET}), ("GND", {"In1.Cu": NET, "In2.Cu": "GND"})]
)
def test_a_microvia_that_ends_above_the_plane_of_its_net_leaves_the_part_out(
    tmp_path: Path, net: str, planes: dict[str, str]
) -> None:
    vias = decoupled()["vias"]
    micro = {"kind": "micro", "span": ["F.Cu", "In1.Cu"], "size_mm": 0.25, "drill_mm": 0.1}
    short = [one | micro if k < 2 and one["net"] == net else one for k, one in enumerate(vias)]
    row = pdn_of(context_of(tmp_path, vias=short, planes=planes), NET)
    assert row.left_out == {NO_VIA: ("C1",)}


def test_one_resonance_of_the_whole_by_hand(tmp_path: Path) -> None:
    """Low: 1/(2 pi f C) of both. Above the resonance: the inductance of both and of the way to the load."""
    row = pdn_of(context_of(tmp_path, config=RAIL + "pdn.regulator_mohm = 1000\npdn.regulator_nh = 1000\n" + SURE), NET)
    assert at(row, 1e5) == pytest.approx(1e3 / (2 * math.pi * 1e5 * 20e-6), rel=0.05)
    mounted = (row.capacitors[0].mounting_nh.nominal + 0.2) / 2
    own = at(row, 2e7) / 1e3 / (2 * math.pi * 2e7) * 1e9
    assert own == pytest.approx(mounted + row.spreading_ph / 1e3, rel=0.1)


def test_at_low_frequencies_regulator_and_copper_are_left(tmp_path: Path) -> None:
    """0.5 mOhm and what finite elements find for the plane at DC, twice: ground is an equal one."""
    ctx = context_of(tmp_path, config=RAIL + "current_a = 10\n" + REGULATOR)
    row = pdn_of(ctx, NET)
    dc = PowerRails(ctx).solved(PowerRails(ctx).declared[0])
    planes = 1e3 * dc.resistance_ohm.nominal * (1 - dc.drop.barrel_power_w / dc.drop.power_w.nominal)
    assert at(row, 1e3) == pytest.approx(0.5 + 2 * planes, rel=0.2)
    assert "0.796 nH, declared" in row.regulator
    assert not any("regulator" in one.what for one in row.missing)
    assert "buck" in pdn_of(context_of(tmp_path), NET).regulator


@pytest.mark.parametrize("number", [2, 3, 4])
def test_published_cavities_rebuilt_as_boards(tmp_path: Path, number: int) -> None:
    """PDN-CAV-2 to 4 drawn as boards and read back: self impedance at the centre within 4 % below half the first mode.

    The rectangle comes from the fills by sampling, which is right to a per cent or two of the area, and the copper is
    35 um and not thick; next to a null a per cent of the capacitance moves |Z| by much more.
    """
    off = rebuilt_off(f"PDN-CAV-{number}", tmp_path)
    assert len(off) >= 3
    assert max(off) < 0.04


def test_peaks_name_the_parts(tmp_path: Path) -> None:
    """Ten small capacitors against two large ones: the peak between their resonances is theirs."""
    small = [capacitor(f"C{10 + k}", 34, 8 + 2 * k, "10nF 0402 X7R 50V") for k in range(10)]
    row = pdn_of(context_of(tmp_path, **with_more(small)), NET)
    causes = [peak.cause for peak in row.peaks]
    assert any("inductance of 10 uF 0402" in one and "capacitance of 10 nF 0402" in one for one in causes), causes
    assert [(one.count, one.group) for one in row.groups] == [(2, "10 uF 0402"), (10, "10 nF 0402")]


def test_more_capacitors_bring_it_below_the_target(tmp_path: Path) -> None:
    """The number that the row states, drawn around the nearest, leaves nothing above the target, elsewhere either."""
    config = RAIL + REGULATOR + SURE + "ripple_pct = 5\nstep_a = 10\n"
    row = pdn_of(context_of(tmp_path, config=config), NET)
    assert row.target is not None
    assert row.target.mohm == pytest.approx(4.0)
    assert "5 % of 0.8 V over a step of 10 A" in row.target.source
    excess = row.excess[-1]
    assert excess.remedy == "10 uF 0402"
    assert 0 < excess.count < 48
    rows = [8 + 1.2 * k for k in range(8)] + [26 + 1.2 * k for k in range(8)]
    near = [capacitor(f"C{50 + k}", 30 + (-3.5, 0, 3.5)[k % 3], rows[k // 3]) for k in range(excess.count)]
    after = pdn_of(context_of(tmp_path / "more", **with_more(near), config=config), NET)
    assert after.worst_mohm is not None
    assert after.worst_mohm.nominal <= 4.0
    assert not after.excess


def test_the_range_holds_every_corner_and_shrinks_with_data(tmp_path: Path) -> None:
    """Declared parts have a narrower range, and it contains the nominal curve."""
    loose = pdn_of(context_of(tmp_path, config=RAIL), NET)
    tight = pdn_of(context_of(tmp_path, config=RAIL + REGULATOR + SURE), NET)

    def width(row: PdnRow) -> float:
        return float(np.mean([math.log(point.mohm.high / point.mohm.low) for point in row.points]))

    assert all(point.mohm.low <= point.mohm.nominal <= point.mohm.high for point in loose.points)
    assert width(tight) < 0.8 * width(loose)
    assert tight.missing == ()


def test_package_and_die_only_where_declared(tmp_path: Path) -> None:
    """A die of 1 uF behind 10 pH: its peak with the package is there, and it is small at 1 GHz."""
    die = "pdn.package_ph = 10\npdn.package_mohm = 0.1\npdn.die_nf = 1000\npdn.die_mohm = 0.2\n"
    row = pdn_of(context_of(tmp_path, config=RAIL + REGULATOR + die), NET)
    assert row.at_die
    assert at(row, 1e9) < 1.0
    assert any("capacitance of die" in peak.cause for peak in row.peaks)
    assert not pdn_of(context_of(tmp_path, config=RAIL), NET).at_die


@pytest.mark.parametrize(
    ("changes", "net", "says"),
    [
        ({}, "+0V9", "a net called"),
        ({"planes": {"In1.Cu": "GND"}}, NET, "planes of"),
        ({"stackup": None, "copper_layers": 4}, NET, "stackup"),
        ({"config": ""}, "/SW", "planes of /SW"),
        ({"config": RAIL.replace("U1", "U9")}, NET, "pads of U9"),
    ],
)
def test_without_net_planes_stackup_or_load_there_is_no_figure(
    tmp_path: Path, changes: dict[str, Any], net: str, says: str
) -> None:
    with pytest.raises(MissingFact, match=says.replace("+", r"\+")):
        pdn_of(context_of(tmp_path, **changes), net)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("C_0402", "states no capacitance"),
        ("100nF", "states no size"),
        ("100nF 1812", "no ESR and ESL for size 1812"),
        ("100nF 0402 DNP", "not fitted"),
    ],
)
def test_a_capacitor_without_data_is_left_out_by_name(tmp_path: Path, value: str, says: str) -> None:
    keys = decoupled()
    keys["parts"][1] = capacitor("C2", 30, 24, value)
    row = pdn_of(context_of(tmp_path, parts=keys["parts"]), NET)
    assert [one.reference for one in row.capacitors] == ["C1"]
    ((reason, names),) = row.left_out.items()
    assert says in reason
    assert names == ("C2",)
    named = any("C2" in one.what for one in row.missing)
    assert named is (says != "not fitted")


def test_a_capacitor_marked_do_not_populate_is_left_out(tmp_path: Path) -> None:
    keys = decoupled()
    keys["parts"][1] = capacitor("C2", 30, 24) | {"unfitted": True}
    row = pdn_of(context_of(tmp_path, parts=keys["parts"]), NET)
    assert [one.reference for one in row.capacitors] == ["C1"]
    assert row.left_out == {"not fitted": ("C2",)}


@pytest.mark.parametrize(("left_out", "says"), [("L1", "is fed: L1"), ("U1", "0V8: U1")])
def test_a_source_or_load_marked_do_not_populate_has_no_impedance(tmp_path: Path, left_out: str, says: str) -> None:
    parts = [one | {"unfitted": one["reference"] == left_out} for one in decoupled()["parts"]]
    with pytest.raises(MissingFact, match=says) as missing:
        pdn_of(context_of(tmp_path, parts=parts), NET)
    assert missing.value.name.endswith(f"{left_out} is not fitted (DNP)")


def test_an_inductor_that_is_not_fitted_speaks_for_no_regulator(tmp_path: Path) -> None:
    bare = RAIL.replace('from = ["L1"]\n', "")
    assert "assumed from L1" in pdn_of(context_of(tmp_path, config=bare), NET).regulator
    parts = [one | {"unfitted": one["reference"] == "L1"} for one in decoupled()["parts"]]
    assert "nothing on the rail shows its kind" in pdn_of(context_of(tmp_path, parts=parts, config=bare), NET).regulator


def test_a_capacitor_without_vias_or_off_the_planes_is_left_out(tmp_path: Path) -> None:
    keys = decoupled()
    vias = [via for via in keys["vias"] if via not in its_vias(30, 24)[:1]]
    far = capacitor("C3", 30, 34)
    keys["zones"] = []
    row = pdn_of(context_of(tmp_path, parts=[*keys["parts"], far], vias=vias), NET)
    assert "C3" in row.left_out[NO_VIA]


def test_no_capacitor_at_all_is_said(tmp_path: Path) -> None:
    keys = decoupled()
    parts = [part for part in keys["parts"] if not part["reference"].startswith("C")]
    row = pdn_of(context_of(tmp_path, parts=parts, config=RAIL + REGULATOR), NET)
    assert row.capacitors == ()
    alone = 2 * math.pi * 1e6 * 0.796e-9 * 1e3
    assert alone < at(row, 1e6) < 2 * alone


def test_above_the_reach_of_board_parts_nothing_is_judged(tmp_path: Path) -> None:
    """Up to where planes and vias alone have half of the target, or as the maker of the load states.

    Up to all of it real capacitors could not meet it: their mounting and ESL come on top.
    """
    row = pdn_of(context_of(tmp_path), NET, (), 0.5)
    assert row.target is not None
    assert row.target.up_to_hz == pytest.approx(0.5 * 0.5e-3 / (2 * math.pi * row.spreading_ph * 1e-12))
    high = pdn_of(context_of(tmp_path), NET, (), 1000.0)
    assert high.target is not None
    assert high.target.up_to_hz == 80e6
    stated = pdn_of(context_of(tmp_path, config=RAIL + "pdn.up_to_mhz = 20\n"), NET, (), 0.5)
    assert stated.target is not None
    assert (stated.target.up_to_hz, stated.target.up_to_source) == (20e6, "as declared")


def test_the_profile_gives_the_target_of_a_core_rail_only(tmp_path: Path) -> None:
    core = pdn_of(context_of(tmp_path, config='profile = "training"\n' + RAIL + "core = true\n"), NET)
    assert core.target is not None
    assert core.target.mohm == 0.15
    assert "training.pdn" in core.target.source
    assert pdn_of(context_of(tmp_path, config='profile = "training"\n' + RAIL), NET).target is None


def test_what_is_left_of_a_capacitance() -> None:
    """At a fifth of the rating 85 to 100 % of the 49 to 120 % at 0 V; at the rating 20 to 80 %; C0G nearly all."""
    low, _ = left_of(read_capacitor("10uF 4V X5R"), 0.8)
    full, words = left_of(read_capacitor("10uF 6.3V X5R"), 6.3)
    assert (low.low, low.high) == pytest.approx((0.486 * 0.85, 1.2))
    assert (full.low, full.high) == pytest.approx((0.486 * 0.2, 1.2 * 0.8))
    assert "6.3 V of 6.3 V" in words
    assert left_of(read_capacitor("1uF C0G"), 50.0)[0].low == 0.95
    unknown, words = left_of(read_capacitor("10uF"), None)
    assert unknown.low < 0.1
    assert "not known" in words


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("pdn.regulator_nh = 1\npdn.regulator_khz = 1", "not both"),
        ("pdn.regulator_khz = 1", "needs regulator_mohm"),
        ("pdn.die_nf = 1", "need package_ph"),
        ("pdn.capacitor = [{ parts = [], uf = 1, esr_mohm = 1, esl_ph = 1 }]", "parts"),
        ("pdn.regulator_mhom = 1", "regulator_mohm"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(lines: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_config(RAIL + lines)


def test_capacitors_that_are_not_filled_in_declare_nothing() -> None:
    """As the output prints them."""
    lines = 'pdn.regulator_mohm = 1\npdn.capacitor = [{ parts = ["C1"], uf = "?", esr_mohm = "?", esl_ph = "?" }]\n'
    (rail,) = parse_config(RAIL + lines).rail
    assert (rail.pdn.regulator_mohm, rail.pdn.capacitor) == (1.0, ())


def test_a_part_on_a_pour_that_is_a_plane_needs_no_via(tmp_path: Path) -> None:
    """The rail on F.Cu over ground: no via on its side, nothing but copper to the ground via."""
    keys = decoupled()
    vias = [via for via in keys["vias"] if via["net"] == "GND"]
    row = pdn_of(context_of(tmp_path, planes={"F.Cu": NET, "In1.Cu": "GND"}, vias=vias), NET)
    assert [one.reference for one in row.capacitors] == ["C1", "C2"]
    assert row.left_out == {}
    to_ground = 0.4 * math.pi * 0.2 * 0.6 / (0.5 + 1.4 * 0.2)
    assert row.capacitors[0].mounting_nh.nominal == pytest.approx(to_ground, rel=0.01)


def test_declared_parts_keep_how_r_and_l_change(tmp_path: Path) -> None:
    """A declared part has its own ESR and ESL, and the skin effect of measured ones of its size."""
    ctx = context_of(tmp_path, config=RAIL + REGULATOR + SURE)
    row = pdn_of(ctx, NET)
    assert {(one.source, one.esr_mohm.low, one.esr_mohm.high) for one in row.capacitors} == {("declared", 5.0, 5.0)}
    stated = read_capacitor("10uF 0402")
    own = parse_config(RAIL + SURE).rail[0].pdn.capacitor[0]
    assert declared_data(own, stated).skin_ohm.nominal == pytest.approx(0.036, rel=0.2)
    assert declared_data(own, read_capacitor("10uF")).skin_ohm.nominal == 0.0


def test_parts_at_one_place_and_off_the_planes_are_solved(tmp_path: Path) -> None:
    """Regulator and load on one spot, capacitors that the box of the planes does not reach: finite all the same."""
    zones = [
        {"net": NET, "layer": "In2.Cu", "rect_mm": [28, 10, 52, 30]},
        {"net": "GND", "layer": "In1.Cu", "rect_mm": [1, 1, 59, 39]},
    ]
    config = RAIL.replace('"L1"', '"U1"') + REGULATOR
    row = pdn_of(context_of(tmp_path, planes={}, zones=zones, config=config), NET)
    values = [end for point in row.points for end in (point.mohm.low, point.mohm.nominal, point.mohm.high)]
    assert all(math.isfinite(value) and value > 0 for value in values)
    assert at(row, 1e3) == pytest.approx(0.5, rel=0.3)


def test_no_capacitor_is_offered_against_a_resistance(tmp_path: Path) -> None:
    """Regulator and copper are above 1.1 mOhm from 1 kHz on: capacitors in quadrature would move |Z|, not the drop."""
    config = RAIL + "pdn.regulator_mohm = 1\npdn.regulator_khz = 100\n" + SURE + "ripple_pct = 5\nstep_a = 38\n"
    first = pdn_of(context_of(tmp_path, config=config), NET).excess[0]
    assert (first.count, first.remedy) == (0, "")
    assert "of resistance, which no capacitor lowers" in first.note


@pytest.mark.parametrize("share", [2.0, 5.0])
def test_a_remedy_leaves_no_peak_that_only_moved(tmp_path: Path, share: float) -> None:
    """Without data of the regulator its range is wide, and its peak moves down as capacitors are added."""
    row = pdn_of(context_of(tmp_path), NET, (), 10 * share)
    counts = [one.count for one in row.excess if one.count]
    if not counts:
        assert all(one.note for one in row.excess)
        return
    near = [capacitor(f"C{50 + k}", 30 + (-3.5, 0, 3.5)[k % 3], 8 + k // 3 * 1.2) for k in range(max(counts))]
    after = pdn_of(context_of(tmp_path / "more", **with_more(near)), NET, (), 10 * share)
    assert not after.excess


def test_a_range_above_the_target_ends_where_the_curve_crosses_it(tmp_path: Path) -> None:
    """Between two frequencies of the curve, and no range has one frequency only."""
    row = pdn_of(context_of(tmp_path, config=RAIL + REGULATOR + "pdn.up_to_mhz = 30\n"), NET, (), 20.0)
    assert row.target is not None
    assert row.excess
    for one in row.excess:
        assert one.from_hz < one.to_hz <= row.target.up_to_hz
        ends = [hz for hz in (one.from_hz, one.to_hz) if row.target.from_hz < hz < row.target.up_to_hz]
        logs = np.log([(point.hz, point.mohm.nominal) for point in row.points]).T
        assert np.exp(np.interp(np.log(ends), *logs)) == pytest.approx(20, rel=0.01)


def test_the_end_of_the_judged_range_counts(tmp_path: Path) -> None:
    """|Z| rises there: the largest is that at 6 MHz, which is none of the curve's frequencies."""
    row = pdn_of(context_of(tmp_path, config=RAIL + REGULATOR + SURE + "pdn.up_to_mhz = 6\n"), NET, (), 20.0)
    assert row.worst_mohm is not None
    logs = np.log([(point.hz, point.mohm.nominal) for point in row.points]).T
    assert row.worst_mohm.nominal == pytest.approx(math.exp(np.interp(math.log(6e6), *logs)), rel=1e-3)


@pytest.mark.parametrize(
    ("value", "lines", "says"),
    [
        ("100nF 0402 X7R 16V", SURE, "which data hold for C1, C2: 10 uF is declared, the parts state 0.1 uF"),
        ("10uF 0402 X5R 0.5V", SURE, "which data hold for C1, C2: the rail has 0.8 V, the parts state 0.5 V"),
        ("10uF 0402 X5R 0.5V", "", "which data hold for C1, C2: the rail has 0.8 V, the parts state 0.5 V"),
        ("10uF 0402 X5R 6.3V", SURE, ""),
        ("100uF 1206 X5R 6.3V", SURE, ""),
    ],
)
def test_data_against_what_parts_state_are_told(tmp_path: Path, value: str, lines: str, says: str) -> None:
    """DC bias may leave a tenth of what is stated, and never more than it."""
    keys = decoupled()
    parts = [dict(part, value=value) if part["reference"] in {"C1", "C2"} else part for part in keys["parts"]]
    row = pdn_of(context_of(tmp_path, parts=parts, config=RAIL + REGULATOR + lines), NET)
    found = [one.what for one in row.missing if not one.narrows and one.what.startswith("which data hold")]
    assert found == ([says] if says else [])


@pytest.mark.parametrize(
    ("reference", "value", "is_bead"),
    [("L1", "600R@100MHz", True), ("L1", "BLM18PG601SN1", True), ("FB1", "30", True), ("L1", "1uH", False)],
)
def test_a_ferrite_bead_is_no_regulator(tmp_path: Path, reference: str, value: str, *, is_bead: bool) -> None:
    """600 ohm at 100 MHz are some 1 uH, a hundred times what a regulator has; declared with it, it is in the curve."""
    keys = decoupled()
    parts = [
        dict(part, reference=reference, value=value) if part["reference"] == "L1" else part for part in keys["parts"]
    ]
    config = RAIL.replace("L1", reference)
    if not is_bead:
        assert pdn_of(context_of(tmp_path, parts=parts, config=config), NET).points
        return
    with pytest.raises(MissingFact, match=f"the impedance of the ferrite bead {reference} that feeds"):
        pdn_of(context_of(tmp_path, parts=parts, config=config), NET)
    declared = config + "pdn.regulator_mohm = 30\npdn.regulator_nh = 1000\n"
    assert "1e+03 nH, declared" in pdn_of(context_of(tmp_path / "all", parts=parts, config=declared), NET).regulator


def test_a_source_that_is_not_on_the_rail_has_no_impedance(tmp_path: Path) -> None:
    with pytest.raises(MissingFact, match="pads of R9"):
        pdn_of(context_of(tmp_path, config=RAIL.replace("L1", "R9")), NET)
