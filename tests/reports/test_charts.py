"""Loss over frequency and impedance in production: the judge's own numbers, drawn where they belong."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.impedance.impedance_spread import TargetSpread, impedance_spreads
from drc_rules.analysis.lines.solved_lines import LINE_TOLERANCE, Lines, production_process
from drc_rules.analysis.loss.loss_curve import LossCurve, LossPoint, loss_curves
from drc_rules.engine.check import CheckUp, check_up
from drc_rules.report.link_rows import Allowance
from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.tolerance import spread
from stackwright.commands.check.command import check_one
from stackwright.commands.check.request import CheckRequest
from stackwright.drawing import loss_chart as losses
from stackwright.drawing.axes import Scale, apart
from stackwright.drawing.charts import Charts, charts_of
from stackwright.drawing.loss_chart import loss_chart, loss_key
from stackwright.drawing.spread_chart import percent, spread_chart
from stackwright.reporters import charts as words
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from tests.support.boards import board_file
from tests.support.mini import mini_file
from tests.support.reports.charted import link, straight_curve
from tests.support.reports.pages import Page
from tests.support.stackups import FOUR_LAYERS

HOSTILE = '<script>"x"\u202e'


@pytest.fixture(scope="module")
def card() -> CheckUp:
    """A PCIe Gen5 card that is fit."""
    return check_up(board_file("inference_pcie_gen5_fit"))


@pytest.fixture(scope="module")
def card_charts(card: CheckUp) -> Charts:
    return charts_of(card)


@pytest.fixture(scope="module")
def stubs() -> tuple[LossCurve, ...]:
    """Of a baseboard whose stubs resonate below Nyquist."""
    return charts_of(check_up(board_file("training_b200_no_backdrill"))).losses


def trace(folder: Path, interface: str, declared: str = "", **keys: Any) -> LossCurve:
    """Return the curve of a board with one trace of 100 mm on its surface."""
    pad = {"number": "1", "net": "/TX0_P", "size_mm": [0.2, 0.2]}
    board: dict[str, Any] = {
        "size_mm": (130, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": FOUR_LAYERS,
        "config": f'[declared]\nfoil = "VLP"\n{declared}\n[[interface]]\nnets = ["/TX0_P"]\n{interface}\n',
        "tracks": [{"net": "/TX0_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [105, 10]]}],
        "parts": [
            {"reference": "U1", "at_mm": [5, 10], "pads": [pad]},
            {"reference": "J1", "at_mm": [105, 10], "pads": [pad]},
        ],
    }
    checked = check_up(mini_file(folder, board | keys))
    (curve,) = loss_curves(checked.context, checked.report.losses)
    return curve


def df(value: float, at_ghz: float) -> str:
    """Return lines that declare a Df for every dielectric."""
    return "\n".join(f'[declared.dielectric."dielectric {k}"]\ndf = {value}\nat_ghz = {at_ghz:g}' for k in (1, 2, 3))


def at(curve: LossCurve, ghz: float) -> LossPoint:
    point = curve.at(ghz)
    assert point is not None
    return point


# --- loss over frequency: the numbers --------------------------------------------------------------------------------


@pytest.mark.slow
def test_at_nyquist_the_curve_is_the_table(card_charts: Charts, stubs: tuple[LossCurve, ...]) -> None:
    """Total with its range and every part, to the last digit, also where a stub resonates and nothing bounds it."""
    for curve in (*card_charts.losses, *stubs):
        row, point = curve.row, at(curve, curve.row.nyquist_ghz)
        assert point.total_db == row.total_db
        parts = (point.dielectric_db, point.copper_db, point.roughness_db, point.holes_db)
        assert parts == (row.dielectric_db, row.copper_db, row.roughness_db, row.holes_db)
    assert len(card_charts.losses) == 1
    assert len(stubs) == 2


@pytest.mark.slow
def test_below_nyquist_the_curve_is_what_a_slower_interface_of_the_same_copper_is_judged_by(tmp_path: Path) -> None:
    """PCIe Gen5 at 8 GHz loses what the table says of the same board at PCIe Gen4, whose Nyquist frequency that is.

    The field of vias has the Dk at Nyquist, from which a causal laminate takes it to 8 GHz.
    """
    vias = [{"net": "/TX0_P", "at_mm": [x, 10], "drill_mm": 0.3, "size_mm": 0.6} for x in (40, 70)]
    tracks = [
        {"net": "/TX0_P", "layer": layer, "width_mm": 0.2, "path_mm": [[a, 10], [b, 10]]}
        for layer, a, b in (("F.Cu", 5, 40), ("B.Cu", 40, 70), ("F.Cu", 70, 105))
    ]
    fast, slow = (
        trace(tmp_path / name, f'is = "{name}"\nboard_loss_db = 6', vias=vias, tracks=tracks)
        for name in ("pcie5", "pcie4")
    )

    point, row = at(fast, 8.0), slow.row
    assert row.nyquist_ghz == 8.0
    assert row.holes_db is not None
    assert row.holes_db > 0
    assert point.copper_db == row.copper_db
    assert point.holes_db == pytest.approx(row.holes_db, abs=0.005)
    assert row.total_db is not None
    ends = [(one.low, one.nominal, one.high) for one in (point.total_db, row.total_db)]
    assert ends[0] == pytest.approx(ends[1], abs=0.03)


def test_parts_add_up_at_every_frequency_and_lines_lose_more_the_faster(card_charts: Charts) -> None:
    """The range holds the nominal loss, and no point is drawn twice."""
    (curve,) = card_charts.losses
    for point in curve.points:
        total = point.total_db
        assert total.low is not None and total.nominal is not None and total.high is not None
        assert point.holes_db is not None
        parts = point.dielectric_db + point.copper_db + point.roughness_db + point.holes_db
        assert parts == pytest.approx(total.nominal, rel=1e-9)
        assert total.low <= total.nominal <= total.high
    for before, after in pairwise(curve.points):
        assert before.frequency_ghz < after.frequency_ghz
        assert before.copper_db < after.copper_db
        assert before.dielectric_db < after.dielectric_db


def test_copper_rises_as_the_root_of_frequency_and_dielectric_loss_in_proportion(tmp_path: Path) -> None:
    """Skin effect: twice the loss at four times the frequency; a Df that is the same makes the rest proportional."""
    stackup = re.sub(r'"R-5[^"]*"', '"unheard-of"', FOUR_LAYERS)  # without a data sheet its Df is the same everywhere
    curve = trace(tmp_path, 'is = "pcie5"\nboard_loss_db = 6', df(0.004, 30), stackup=stackup)

    assert at(curve, 16).copper_db / at(curve, 4).copper_db == pytest.approx(2.0, rel=0.03)
    assert at(curve, 16).dielectric_db / at(curve, 8).dielectric_db == pytest.approx(2.0, rel=0.03)


def test_a_curve_ends_where_a_declared_df_no_longer_holds_and_says_so(tmp_path: Path) -> None:
    """A Df at 16 GHz is good up to 20 GHz; what is beyond is not drawn as if it were known."""
    stackup = re.sub(r'"R-5[^"]*"', '"unheard-of"', FOUR_LAYERS)
    curve = trace(tmp_path, 'is = "pcie5"\nboard_loss_db = 6', df(0.004, 16), stackup=stackup)

    assert curve.points[-1].frequency_ghz == pytest.approx(20.0)
    assert curve.begins_for == ""
    assert curve.ends_for.startswith("Df of dielectric")
    (note,) = words.loss_notes(curve)
    assert re.fullmatch(r"Ends at 20 GHz: beyond, Df of dielectric \d is not known", note)


def test_no_total_is_told_from_the_resonance_of_a_stub_on(stubs: tuple[LossCurve, ...]) -> None:
    """Lines go on; the total ends between two points near each other, and never comes back."""
    for curve in stubs:
        known = [point.total_db.nominal is not None for point in curve.points]
        first = known.index(False)
        assert not any(known[first:])
        assert curve.points[first].frequency_ghz < curve.row.nyquist_ghz
        assert all(point.copper_db > 0 for point in curve.points[first:])
        assert any("stub resonates" in note for note in words.loss_notes(curve))


def test_links_of_unknown_loss_have_no_curve(card: CheckUp) -> None:
    """An empty drawing would read as no loss."""
    row = card.report.losses[0].model_copy(update={"total_db": None})
    assert loss_curves(card.context, [row]) == ()


# --- loss over frequency: the drawing --------------------------------------------------------------------------------


def found(pattern: str, svg: str) -> tuple[float, ...]:
    match = re.search(pattern, svg)
    assert match, pattern
    return tuple(map(float, match.groups()))


def test_loss_and_what_may_be_lost_stand_at_nyquist_on_one_scale() -> None:
    """4 dB at 16 GHz, two thirds of the way to 24 GHz; 9.5 dB less 3 dB of the package may be lost."""
    svg = loss_chart(straight_curve(), "c-", "p-")
    floor, left, right = losses.HEIGHT - losses.BOTTOM, losses.LEFT, losses.WIDTH - losses.RIGHT

    x, y = found(r'class="dot" cx="([\d.]+)" cy="([\d.]+)"', svg)
    start, limit = found(r'class="limit" d="M([\d.]+) ([\d.]+)h36"', svg)
    assert (x - left) / (right - left) == pytest.approx(2 / 3, abs=1e-3)
    assert start + 18 == pytest.approx(x, abs=0.2)
    assert (floor - limit) / (floor - y) == pytest.approx(6.5 / 4, rel=5e-3)
    for said in ("may lose 6.5 dB", "Nyquist 16 GHz", "6.0 nominal", "9.0 worst", "4.8 best"):
        assert f">{said}</text>" in svg
    assert "16 GHz: 4.0 dB, 3.2 to 6.0" in svg
    assert "The board may lose 6.5 dB at 16 GHz." in svg


def test_parts_are_stacked_up_to_the_total() -> None:
    """The top of the last area is the line of the total."""
    svg = loss_chart(straight_curve(), "c-", "p-")
    areas = re.findall(r'fill="url\(#p-(\w+)\)" d="M([^z]+)z"', svg)
    (total,) = re.findall(r'class="total" d="M([^"]+)"', svg)

    assert [name for name, _ in areas] == ["dielectric", "copper", "roughness", "vias"]
    outline = areas[-1][1].split("L")
    assert outline[: -len(outline) // 2 - 1 : -1] == total.split("L")


def test_without_a_share_nothing_may_be_lost_nor_is_it_said() -> None:
    """No unstated number is drawn."""
    svg = loss_chart(straight_curve(row=link(share_db=None, allowances=())), "c-", "p-")
    assert 'class="limit"' not in svg
    assert "may lose" not in svg


def test_what_package_and_connector_may_take_widens_what_the_board_may_lose() -> None:
    """2 to 4 dB of 9.5 dB: the board may lose 5.5 to 7.5 dB, drawn around the 6.5 dB that are usual."""
    package = Allowance(part="package", db=Interval(low=2.0, nominal=3.0, high=4.0), is_assumed=True)
    svg = loss_chart(straight_curve(row=link(allowances=(package,))), "c-", "p-")
    (limit,) = found(r'class="limit" d="M[\d.]+ ([\d.]+)h36"', svg)
    low, high = found(r'class="limit fine" d="M[\d.]+ ([\d.]+)V([\d.]+)M', svg)
    floor = losses.HEIGHT - losses.BOTTOM
    assert [(floor - y) / (floor - limit) for y in (low, high)] == pytest.approx([5.5 / 6.5, 7.5 / 6.5], rel=5e-3)
    assert "may lose 6.5 dB (5.5 to 7.5) at 16 GHz" in svg
    assert 'class="limit fine"' not in loss_chart(straight_curve(), "c-", "p-")


def test_a_worst_case_without_bound_leaves_the_drawing_and_says_so() -> None:
    """It does not squeeze what is known."""
    points = [
        p.model_copy(update={"total_db": p.total_db.model_copy(update={"high": None})}) for p in straight_curve().points
    ]
    svg = loss_chart(straight_curve(points=tuple(points)), "c-", "p-")
    assert "\u2191 worst" in svg
    assert "3.2 to far more" in svg
    assert found(r'class="limit" d="M[\d.]+ ([\d.]+)h', svg)[0] > losses.TOP


def test_a_resonance_is_hatched_and_named(stubs: tuple[LossCurve, ...]) -> None:
    """No value of the total stands beyond it."""
    svg = loss_chart(stubs[0], "c-", "p-")
    assert ">a stub resonates</text>" in svg
    assert 'class="unbound"' in svg
    assert 'class="dot"' not in svg
    assert "no bound, a stub resonates" in svg


def test_names_of_a_board_stay_text_in_charts() -> None:
    """A net and a layer may be called anything."""
    svg = loss_chart(straight_curve(row=link(name=HOSTILE)), "c-", "p-")
    assert "<script" not in svg
    assert "\u202e" not in svg
    assert "&lt;script&gt;" in svg


def test_the_key_shows_every_pattern_that_charts_refer_to() -> None:
    """What has no pattern would be drawn black or not at all."""
    used = set(re.findall(r"url\(#(p-\w+)\)", loss_chart(straight_curve(), "c-", "p-")))
    assert used == set(re.findall(r'<pattern id="([^"]+)"', loss_key("p-")))


# --- impedance in production -----------------------------------------------------------------------------------------


def only(charts: Charts) -> TargetSpread:
    (target,) = charts.spreads
    return target


def test_the_share_inside_is_that_of_the_exact_distribution(card: CheckUp, card_charts: Charts) -> None:
    """As `impedance` gives it for the same line, target and process."""
    line = only(card_charts).lines[0]
    site = Lines(card.context).site(2, (1, 3)).site
    other = spread(
        site,
        line.width_mm,
        line.gap_mm,
        production_process(),
        target_ohm=85.0,
        within_pct=(5.0,),
        tolerance=LINE_TOLERANCE,
    )

    assert line.layers == ("In2.Cu", "In13.Cu")
    assert line.inside.nominal == pytest.approx(other.inside(5.0).share, abs=1e-3)
    assert line.sigma_pct == pytest.approx(other.sigma_pct, rel=1e-3)
    assert line.interval_ohm.high == pytest.approx(other.interval_ohm.high, rel=1e-3)


def test_the_nominal_impedance_is_the_one_of_the_table(card: CheckUp, card_charts: Charts) -> None:
    """What is judged is what is drawn."""
    worst = card.report.impedances[0].worst
    assert worst is not None
    line = only(card_charts).lines[0]
    assert line.nominal_ohm == worst.impedance_ohm
    mean = card.report.impedances[0].mean_ohm
    assert mean is not None
    assert mean.nominal * (1 + line.model_pct / 100) == pytest.approx(mean.high)


def test_the_curve_holds_all_of_the_production_and_the_band_its_share(card_charts: Charts) -> None:
    """The area under the curve is one; between the bounds, summed up by hand, it is the share that is reported."""
    target = only(card_charts)
    low, high = target.band_ohm
    assert (low, high) == pytest.approx((80.75, 89.25))
    for line in target.lines:
        ends = list(pairwise(line.density))
        steps = [((a + b) / 2, (p + q) / 2 * (b - a)) for (a, p), (b, q) in ends]
        assert sum(area for _, area in steps) == pytest.approx(1.0, abs=2e-3)
        assert sum(area for ohm, area in steps if low < ohm < high) == pytest.approx(line.inside.nominal, abs=0.03)
        assert sum(cause.share for cause in line.causes) == pytest.approx(1.0)
        assert line.causes[0].name == "width"
        assert line.inside.low < line.inside.nominal < line.inside.high


def area(svg: str, fill: str) -> float:
    """Return the area of the shapes of one fill, by their corners."""
    total = 0.0
    for drawn in re.findall(rf'{re.escape(fill)} d="M([^"]+)z"', svg):
        corners = [tuple(map(float, word.split())) for word in drawn.split("L")]
        ring = pairwise([*corners, corners[0]])
        total += abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in ring)) / 2
    return total


def test_the_hatched_area_is_the_share_outside(card_charts: Charts) -> None:
    """Equal areas are equal shares of the production."""
    svg = spread_chart(only(card_charts), "s-")
    good, bad = area(svg, 'class="inside"'), area(svg, 'fill="url(#s-outside)"')
    line = only(card_charts).lines[0]
    assert good / (good + bad) == pytest.approx(line.inside.nominal, abs=0.01)
    assert f">{percent(line.inside.nominal)}</text>" in svg
    assert "85 ohm +-5 %, differential" in svg


def test_a_line_that_is_never_inside_is_hatched_all_over_and_its_range_not_said_twice(card_charts: Charts) -> None:
    """20 ohm off, and no doubt of the model fixes that."""
    line = only(card_charts).lines[0].model_copy(update={"inside": Interval(low=0.0, nominal=0.001, high=0.002)})
    target = only(card_charts).model_copy(update={"lines": (line,), "target_ohm": 120.0})
    svg = spread_chart(target, "s-")
    assert svg.count(">under 1 %</text>") == 1
    assert area(svg, 'class="inside"') < 0.01 * area(svg, 'fill="url(#s-outside)"')
    assert words.spread_cells(line)[5:7] == ("under 1 %", "under 1 %")


def test_lines_of_unknown_materials_are_told_and_not_drawn() -> None:
    """No stackup, no impedance: nothing stands in for it."""
    context = check_up(board_file("no_stackup")).context
    targets = impedance_spreads(context)
    assert targets
    for target in targets:
        assert not target.lines
        assert any("is not known" in problem for problem in target.problems)
        assert spread_chart(target, "s-") == ""


@pytest.mark.parametrize(
    ("share", "said"), [(1.0, "over 99 %"), (0.996, "over 99 %"), (0.631, "63 %"), (0.001, "under 1 %")]
)
def test_all_and_nothing_are_said_of_nothing_less(share: float, said: str) -> None:
    """A share that rounds to all of it is not all of it."""
    assert percent(share) == said


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_charts_are_computed_for_pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check without a page costs nothing more."""
    calls: list[str] = []

    def asked(_: CheckUp) -> Charts:
        calls.append("asked")
        return Charts()

    monkeypatch.setattr("stackwright.drawing.charts.charts_of", asked)

    checked, _ = check_one(board_file("inference_pcie_gen5_fit"), CheckRequest())
    assert (checked.charts, calls) == (None, [])
    checked, _ = check_one(board_file("inference_pcie_gen5_fit"), CheckRequest(), draw=True)
    assert (checked.charts, calls) == (Charts(), ["asked"])


def test_the_page_has_every_chart_with_its_figures_and_what_is_assumed(card: CheckUp, card_charts: Charts) -> None:
    """Ids are its own, every reference leads somewhere, and the values stand next to the drawing."""
    page = Page(render([Checked(card.report, None, "0", charts=card_charts)] * 2))

    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for key in ("aria-labelledby", "aria-describedby"):
            assert set(attributes.get(key, "").split()) <= set(ids)
        for ident in re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values())):
            assert ident in ids
    drawings = [a for a in page.all("svg") if a.get("class", "").split()[:1] == ["chart"]]
    assert [a["class"] for a in drawings] == ["chart spread", "chart", "chart pdn"] * 2
    assert all(a["role"] == "img" for a in drawings)
    line, point = only(card_charts).lines[0], at(card_charts.losses[0], 16.0)
    for cell in (*words.spread_cells(line), *words.loss_cells(point)):
        assert " ".join(cell.split()) in page.text
    assert "no fab has stated its own: etched width +-20 %" in page.text
    assert "knowledge of the trade; no document was found" in page.text


def test_targets_of_which_no_line_is_known_are_left_to_the_impedance_table() -> None:
    """It says already which fact is missing."""
    checked, _ = check_one(board_file("no_stackup"), CheckRequest(), draw=True)
    assert checked.charts is not None
    assert checked.charts.spreads
    text = Page(render([checked])).text
    assert "Impedance as routed" in text
    assert "In production" not in text


def test_a_page_without_charts_says_nothing_of_them(card: CheckUp) -> None:
    """The page in KiCad draws none."""
    text = Page(render([Checked(card.report, None, "0")])).text
    assert "Loss over frequency" not in text
    assert "In production" not in text


# --- scales ----------------------------------------------------------------------------------------------------------


def test_ticks_are_round_and_inside() -> None:
    """As people would label an axis."""
    assert Scale(0.0, 24.0, 0, 1).ticks(6) == pytest.approx([0, 5, 10, 15, 20])
    assert Scale(0.0, 8.0, 0, 1).ticks(5) == pytest.approx([0, 2, 4, 6, 8])
    assert Scale(73.0, 101.0, 0, 1).ticks(8) == pytest.approx([75, 80, 85, 90, 95, 100])
    assert Scale(0.0, 0.31, 0, 1).ticks(5) == pytest.approx([0, 0.1, 0.2, 0.3])


def test_labels_keep_apart_and_move_no_more_than_that() -> None:
    """Only what would overlap is pushed."""
    assert apart([10, 14, 40], 13) == [10, 23, 40]
