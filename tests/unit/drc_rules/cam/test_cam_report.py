"""CAM report: each value against the limit that fabs build to, a question just outside of it and not just inside."""

from __future__ import annotations

from functools import cache

import pytest

from drc_rules.cam.item import CamItem
from drc_rules.cam.report import cam_report
from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.requirements.fabs.cam import CamLimits, cam_limits
from drc_rules.requirements.fabs.stackups.load import named_stackups
from drc_rules.requirements.forms import Form
from stackup_lib.board.stackup import LayerKind
from stackup_lib.synthesis import CandidateRow, CandidateStackup, Evaluated, Goals, LineGoal
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.evaluate import COARSE, Evaluator
from stackup_lib.transmission_lines.width_request import Target

LINE = LineGoal(name="85 ohm", target=Target(ohm=85, kind="differential"), nyquist_ghz=8)
GOALS = Goals(lines=(LINE,), drill_mm=0.25, thickness_mm=0.95, thickness_tolerance=0.2)
PLAIN = Goals(drill_mm=0.25)


def copper(name: str, use: str, oz: float = 0.5, foil: str = "") -> CandidateRow:
    """A layer: outer copper plated, inner copper as JLCPCB's templates have it."""
    thickness = 0.035 if use == "outer" else {0.5: 0.0152, 1.0: 0.03, 2.0: 0.061, 3.0: 0.0916}[oz]
    row = {"kind": LayerKind.COPPER, "name": name, "use": use, "thickness_mm": thickness, "copper_oz": oz, "foil": foil}
    return CandidateRow.model_validate(row)


def prepreg(name: str, sheet: str, thickness_mm: float, plies: int = 1, laminate: str = "370HR") -> CandidateRow:
    """Sheets of a prepreg, pressed."""
    return CandidateRow(
        kind=LayerKind.PREPREG,
        name=name,
        thickness_mm=thickness_mm,
        laminate=laminate,
        construction=sheet and f"{laminate} {sheet}",
        plies=plies,
        dk=4.0,
        df=0.02,
    )


def core(name: str, thickness_mm: float, laminate: str = "370HR") -> CandidateRow:
    """A core."""
    return CandidateRow(
        kind=LayerKind.CORE,
        name=name,
        thickness_mm=thickness_mm,
        laminate=laminate,
        construction=laminate,
        dk=4,
        df=0.02,
    )


INSIDE, ALL = ("In1.Cu", "In4.Cu"), ("F.Cu", "B.Cu", "In1.Cu", "In4.Cu")
OUTER = prepreg("dielectric 1", "1080 RC71%", 0.0882), prepreg("dielectric 5", "1080 RC71%", 0.0882)
MIDDLE = prepreg("dielectric 3", "2116 RC56%", 0.1239)


def stackup(
    *,
    first: CandidateRow = OUTER[0],
    cores: tuple[CandidateRow, CandidateRow] | None = None,
    middle: CandidateRow = MIDDLE,
    planes_oz: tuple[float, float] = (0.5, 0.5),
    foil: str = "",
    build_ups: int = 0,
) -> CandidateStackup:
    """Six layers, outer to outer: ground, high-speed, ground or power in the middle; foil build."""
    upper, lower = cores or (core("dielectric 2", 0.127), core("dielectric 4", 0.127))
    rows = (
        copper("F.Cu", "outer"),
        first,
        copper("In1.Cu", "ground", planes_oz[0], foil),
        upper,
        copper("In2.Cu", "power", planes_oz[1], foil),
        middle,
        copper("In3.Cu", "power", planes_oz[1], foil),
        lower,
        copper("In4.Cu", "ground", planes_oz[0], foil),
        OUTER[1],
        copper("B.Cu", "outer"),
    )
    return CandidateStackup(rows=rows, order=Order(layers="OGPPGO", gaps="pcpcp", pattern="", build_ups=build_ups))


def evaluated(candidate: CandidateStackup, goals: Goals = PLAIN) -> Evaluated:
    """What it does, without lines."""
    return Evaluator(goals.model_copy(update={"lines": ()}), COARSE).evaluate(candidate)


def items(candidate: CandidateStackup, topic: str, goals: Goals = PLAIN, form: Form | None = None) -> list[CamItem]:
    """The report's lines about a topic."""
    return [one for one in cam_report(evaluated(candidate, goals), goals, form) if one.topic == topic]


def asked(candidate: CandidateStackup, topic: str, goals: Goals = PLAIN, form: Form | None = None) -> list[CamItem]:
    """Those that the fab has to confirm."""
    return [one for one in items(candidate, topic, goals, form) if one.asks]


# --- the press -------------------------------------------------------------------------------------------------------


def test_what_the_copper_takes_is_read_by_hand() -> None:
    """Two half-ounce power planes at 80 %: 2 x 15.2 um x 0.2 = 6.1 um; one half-ounce ground: 3.0 um.

    Fabs leave 5 % of the cloth besides: 4.7 um of 2116, 2.7 um of 1080.
    """
    found = {one.where: one for one in items(stackup(), "prepreg")}
    assert found[("dielectric 3",)].limit.startswith("0.011 mm or more")
    outer = found[("dielectric 1", "dielectric 5")]
    assert outer.limit.startswith("0.006 mm or more")
    assert "1 x 370HR 1080 RC71%, 0.088 mm pressed over 0.053 mm of glass, 0.038 mm of free resin" in outer.figure
    assert "80 % of a plane" in outer.limit
    assert not outer.asks


def test_resin_that_does_not_fill_two_ounces_is_asked() -> None:
    """2 x 61 um at 80 % take 24.4 um: a 1080 of RC 66 % has 23 um of free resin, one of RC 71 % has 38 um.

    A 1086 of RC 63 % has 25 um over 54 um of cloth: copper would press on the glass.
    """
    cores = core("dielectric 2", 0.102), core("dielectric 4", 0.102)
    starved, pressed, filled = (
        stackup(middle=prepreg("dielectric 3", sheet, 0.06), planes_oz=(2.0, 2.0), cores=cores)
        for sheet in ("1080 RC66%", "1086 RC63%", "1080 RC71%")
    )
    assert [one.where for one in asked(starved, "prepreg")] == [("dielectric 3",)]
    assert [one.where for one in asked(pressed, "prepreg")] == [("dielectric 3",)]
    assert asked(filled, "prepreg") == []


def test_a_sheet_that_is_not_in_the_catalogue_is_asked() -> None:
    """Without glass style and resin content the fab chooses the sheets."""
    assert "no sheet with this glass" in asked(stackup(middle=prepreg("dielectric 3", "", 0.1)), "prepreg")[0].figure


@pytest.mark.parametrize(("thickness_mm", "is_asked"), [(0.096, False), (0.105, True)])
def test_a_stated_thickness_that_the_sheets_do_not_press_to_is_asked(thickness_mm: float, is_asked: bool) -> None:
    """One 1080 RC71% presses to 0.0884 mm there; ten per cent to either side are usual."""
    row = prepreg("dielectric 1", "1080 RC71%", thickness_mm)
    assert bool(asked(stackup(first=row), "pressed thickness")) is is_asked


@pytest.mark.parametrize(("thickness_mm", "is_asked"), [(0.069, False), (0.068, True)])
def test_a_thin_prepreg_is_asked(thickness_mm: float, is_asked: bool) -> None:
    """0.069 mm is the thinnest sheet of 1080 in the templates."""
    assert bool(asked(stackup(first=prepreg("dielectric 1", "1080 RC71%", thickness_mm)), "thin prepreg")) is is_asked


@pytest.mark.parametrize(
    ("oz", "thickness_mm", "is_asked"),
    [(0.5, 0.075, False), (0.5, 0.051, True), (1, 0.075, False), (2, 0.1, False), (2, 0.075, True), (3, 0.127, True)],
)
def test_a_core_too_thin_for_its_copper_is_asked(oz: float, thickness_mm: float, is_asked: bool) -> None:
    """Half-ounce and 1 oz from 0.075 mm, 2 oz from 0.1 mm, 3 oz from 0.15 mm."""
    both = core("dielectric 2", thickness_mm), core("dielectric 4", thickness_mm)
    found = items(stackup(cores=both, planes_oz=(oz, oz)), "core")
    assert [one.asks for one in found] == [is_asked]
    assert found[0].where == ("dielectric 2", "dielectric 4")
    assert ("extrapolated" in found[0].source) is (oz > 2)


@pytest.mark.parametrize(
    ("foils", "figures"),
    [
        (("HVLP", "VLP"), ["HVLP on In1.Cu, VLP on In2.Cu"]),
        (("VLP", "VLP"), []),
        (("VLP", ""), []),
    ],
)
def test_a_core_with_two_foils_is_asked(foils: tuple[str, str], figures: list[str]) -> None:
    """A maker clads both faces alike; a foil that is not stated contradicts none."""
    before = stackup()
    named = dict(zip(("In1.Cu", "In2.Cu"), foils, strict=True))
    rows = tuple(row.model_copy(update={"foil": named.get(row.name, row.foil)}) for row in before.rows)
    assert [one.figure for one in asked(before.model_copy(update={"rows": rows}), "core foil")] == figures


def test_a_core_with_two_copper_weights_is_asked() -> None:
    """None of 2056 cores of the templates has two weights."""
    assert asked(stackup(planes_oz=(0.5, 0.5)), "core cladding") == []
    assert [one.figure for one in asked(stackup(planes_oz=(0.5, 1)), "core cladding")] == ["0.5/1 oz"]


@pytest.mark.parametrize(
    ("oz", "plies", "is_asked"),
    [(1, 1, True), (1, 2, False), (1, 4, True), (2, 2, True), (2, 3, False), (2, 4, True), (2, 5, True)],
)
def test_too_few_and_too_many_sheets_are_asked(oz: float, plies: int, is_asked: bool) -> None:
    """Two between 1 oz, three between 2 oz, three at most as usual: four are built, and asked about."""
    found = stackup(middle=prepreg("dielectric 3", "1080 RC71%", 0.09 * plies, plies), planes_oz=(oz, oz))
    assert any(one.where == ("dielectric 3",) for one in asked(found, "prepreg count")) is is_asked


def test_the_usual_number_of_sheets_is_that_of_the_templates() -> None:
    """Counted in the fab's own stackups: hardly one gap in two hundred has more, and the rules build as many."""
    counted = [
        len(gap)
        for one in named_stackups()
        if one.edition.fab == "jlcpcb" and not one.edition.is_superseded
        for gap in one.gaps
        if all(sheet.kind == "prepreg" for sheet in gap)
    ]
    usual = cam_limits().prepreg_sheets.usual
    assert (len(counted), sum(number <= usual for number in counted)) == (2612, 2599)
    assert max(counted) == build_rules().most_plies


@pytest.mark.parametrize(("oz", "sheet", "is_asked"), [(2, "RC45%", True), (2, "RC50%", False), (1, "RC45%", False)])
def test_lean_prepreg_next_to_two_ounces_is_asked(oz: float, sheet: str, is_asked: bool) -> None:
    """The leanest of 444 prepregs next to 2 oz in the templates is 7628 with 49 % resin; next to 1 oz none is asked."""
    found = stackup(middle=prepreg("dielectric 3", f"7628 {sheet}", 0.37, 2), planes_oz=(oz, oz))
    assert bool(asked(found, "resin content")) is is_asked
    assert bool(items(found, "resin content")) is (oz == 2)


def test_the_weight_of_an_outer_foil_takes_no_second_sheet() -> None:
    """Heavy outer copper is pressed on from outside; a heavy inner plane takes two sheets."""
    rows = [row.model_copy(update={"copper_oz": 2.0}) if row.use == "outer" else row for row in stackup().rows]
    assert asked(stackup().model_copy(update={"rows": tuple(rows)}), "prepreg count") == []
    assert {place for one in asked(stackup(planes_oz=(2, 2)), "prepreg count") for place in one.where} == {
        "dielectric 1",
        "dielectric 3",
        "dielectric 5",
    }


@pytest.mark.parametrize(
    ("laminate", "foil", "is_asked"),
    [("370HR", "RTF", False), ("370HR", "VLP", True), ("Tachyon 100G", "HVLP", False), ("IT-988G", "HVLP", True)],
)
def test_a_foil_that_the_maker_does_not_list_is_asked(laminate: str, foil: str, is_asked: bool) -> None:
    """A core comes clad: 370HR with HTE or RTF; of a laminate without a list it is not known."""
    cores = core("dielectric 2", 0.127, laminate), core("dielectric 4", 0.127, laminate)
    found = items(stackup(cores=cores, foil=foil), "foil")
    assert [one.asks for one in found] == [is_asked]
    assert found[0].where == ("In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu")


@pytest.mark.parametrize(("oz", "is_asked"), [(2.0, False), (3.0, True)])
def test_inner_copper_heavier_than_any_that_was_counted_is_asked(oz: float, is_asked: bool) -> None:
    """None of the fab's stackups has 3 oz inside."""
    found = asked(stackup(planes_oz=(0.5, oz)), "inner copper")
    assert [one.where for one in found] == [("In2.Cu", "In3.Cu")] * is_asked


def test_smooth_foil_on_heavy_copper_is_asked() -> None:
    """VLP-2 is listed up to 1 oz."""
    assert asked(stackup(foil="VLP", planes_oz=(1, 1)), "foil weight") == []
    assert len(asked(stackup(foil="VLP", planes_oz=(2, 2)), "foil weight")) == 1
    assert asked(stackup(foil="RTF", planes_oz=(2, 2)), "foil weight") == []


@pytest.mark.parametrize(
    ("laminate", "is_asked"), [("FR408HR", False), ("S1000-2M", True), ("Tachyon 100G", True), ("370HR", None)]
)
def test_two_makers_or_two_tg_in_one_press_are_asked(laminate: str, is_asked: bool | None) -> None:
    """FR408HR is of the maker of 370HR and of its Tg; Tachyon's is 35 C higher; one laminate is no hybrid."""
    middle = prepreg("dielectric 3", "", 0.13, laminate=laminate)
    assert [one.asks for one in items(stackup(middle=middle), "hybrid")] == ([] if is_asked is None else [is_asked])


# --- the whole board -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic", "goals", "is_asked"),
    [
        ("aspect ratio", Goals(drill_mm=0.08), False),
        ("aspect ratio", Goals(drill_mm=0.06), True),
        ("drill", Goals(drill_mm=0.2), False),
        ("drill", Goals(drill_mm=0.15), True),
        ("thickness", Goals(thickness_mm=0.7, thickness_tolerance=0.1 - 1e-6), False),
        ("thickness", Goals(thickness_mm=0.7, thickness_tolerance=0.08), True),
        ("thickness", Goals(thickness_mm=0.66, thickness_tolerance=0.1), False),
        ("thickness", Goals(thickness_mm=0.65, thickness_tolerance=0.1), True),
        ("thickness", Goals(thickness_mm=0.74, thickness_tolerance=0.1), True),
        ("voltage", Goals(power_gap_mm=0.1), False),
        ("voltage", Goals(power_gap_mm=0.128), True),
    ],
)
def test_the_whole_board_is_asked_just_outside_of_what_is_usual(topic: str, goals: Goals, is_asked: bool) -> None:
    """Ratio of 10, drill of 0.2 mm, +-10 %, the gap of the goals."""
    found = items(stackup(), topic, goals)
    assert found
    assert any(one.asks for one in found) is is_asked


def test_only_what_applies_is_in_the_report() -> None:
    """No voltage, microvia, backdrill, foil or hybrid without one; each line is said once."""
    found = cam_report(evaluated(stackup()), PLAIN)
    absent = {
        "voltage",
        "stiffness",
        "microvia ratio",
        "microvia fill",
        "backdrill",
        "backdrill stub",
        "foil",
        "hybrid",
    }
    assert not absent & {one.topic for one in found}
    assert len(set(found)) == len(found)
    assert [one.asks for one in found] == sorted((one.asks for one in found), reverse=True)


def test_a_long_form_is_asked_for_its_thickness() -> None:
    """A board of 420 mm that is 0.7 mm thick sags."""
    assert asked(stackup(), "stiffness", form=Form(title="long", size_mm=(420, 100)))
    assert asked(stackup(), "stiffness", form=Form(title="large", is_large=True))
    assert items(stackup(), "stiffness", form=Form(title="short", size_mm=(390, 100))) == []


def test_more_laminations_and_stacked_microvias_than_usual_are_asked() -> None:
    """Three of either are the border: three laminations are usual, three levels are not."""
    one = evaluated(stackup())
    asks = {
        n: {i.topic for i in cam_report(one.model_copy(update={"laminations": n}), PLAIN) if i.asks} for n in (3, 4)
    }
    assert ("laminations" in asks[3], "laminations" in asks[4]) == (False, True)
    fill = {n: items(stackup(build_ups=n), "microvia fill")[0] for n in (1, 2, 3)}
    assert [fill[n].asks for n in (1, 2, 3)] == [False, False, True]
    assert "copper-filled" in fill[2].figure
    assert "copper-filled" not in fill[1].figure


@pytest.mark.parametrize(("build_ups", "outer_mm", "where"), [(1, 0.0262, ()), (2, 0.0262, INSIDE), (2, 0.018, ALL)])
def test_plated_copper_as_thin_as_its_foil_is_asked(build_ups: int, outer_mm: float, where: tuple[str, ...]) -> None:
    """A quarter-ounce foil plated has 26.2 um by class 2; microvias plate the inner layers that they end on too."""
    given = stackup(build_ups=build_ups)
    rows = tuple(r.model_copy(update={"thickness_mm": outer_mm}) if r.use == "outer" else r for r in given.rows)
    found = asked(given.model_copy(update={"rows": rows}), "plated copper")
    assert tuple(name for one in found for name in one.where) == where


def test_the_layer_below_the_build_ups_may_be_plated() -> None:
    """Buried vias of the inner package plate its outer layers: In1.Cu and In4.Cu of 1-N-1; through boards have none."""
    assert [one.where for one in asked(stackup(build_ups=1), "buried vias")] == [("In1.Cu", "In4.Cu")]
    assert items(stackup(), "buried vias") == []


@pytest.mark.parametrize(("drill_mm", "is_asked"), [(0.125, False), (0.1, True)])
def test_a_microvia_deeper_than_wide_is_asked(drill_mm: float, is_asked: bool) -> None:
    """0.088 mm deep: a ratio of 0.71 by 0.125 mm, 0.88 by 0.1 mm; 0.8 is usual."""
    found = items(stackup(build_ups=1), "microvia ratio", Goals(microvia_drill_mm=drill_mm))
    assert [one.asks for one in found] == [is_asked]
    assert found[0].where == ("dielectric 1", "dielectric 5")


@pytest.mark.parametrize(("stub_mm", "is_asked"), [(0.25, False), (0.2, True)])
def test_a_backdrill_names_depths_and_what_it_leaves(stub_mm: float, is_asked: bool) -> None:
    """Below In2.Cu are 0.1239 + 0.0152 + 0.127 + 0.0152 + 0.0882 + 0.035 mm."""
    goals, one = Goals(max_stub_mm=stub_mm), evaluated(stackup()).model_copy(update={"backdrilled": ("In2.Cu",)})
    found = {item.topic: item for item in cam_report(one, goals)}
    assert found["backdrill"].figure == "from B.Cu; not to be cut: In2.Cu at 0.40 mm"
    assert found["backdrill stub"].asks is is_asked


# --- lines -----------------------------------------------------------------------------------------------------------


@cache
def lined() -> Evaluated:
    """An answer with solved lines."""
    rows = [row.model_copy(update={"use": "fast"}) if row.name == "In2.Cu" else row for row in stackup().rows]
    rows = [row.model_copy(update={"use": "ground"}) if row.name == "In3.Cu" else row for row in rows]
    order = Order(layers="OGFGGO", gaps="pcpcp", pattern="")
    return Evaluator(GOALS, COARSE).evaluate(CandidateStackup(rows=tuple(rows), order=order))


def test_lines_are_listed_with_target_and_size() -> None:
    """Width, gap and nominal, as solved."""
    line = lined().lines[0]
    found = [one for one in cam_report(lined(), GOALS) if one.topic == "impedance"]
    assert [(one.where, one.limit, one.asks) for one in found] == [(("In2.Cu",), "85 ohm +-10 %", False)]
    assert f"{line.width_mm:.3f}/{line.gap_mm:.3f} mm, 85.0 ohm" in found[0].figure


@pytest.mark.parametrize(("nominal", "is_asked"), [(88.0, False), (89.5, True)])
def test_an_impedance_that_may_leave_ten_per_cent_is_asked(nominal: float, is_asked: bool) -> None:
    """With 5 % of its own, 88 ohm stays below 93.5, and 89.5 ohm does not."""
    line = lined().lines[0]
    moved = {"low": 0.95 * nominal, "nominal": nominal, "high": 1.05 * nominal}
    update = {"impedance_ohm": line.impedance_ohm.model_copy(update=moved)}
    one = lined().model_copy(update={"lines": (line.model_copy(update=update),)})
    assert [i.asks for i in cam_report(one, GOALS) if i.topic == "impedance"] == [is_asked]


@pytest.mark.parametrize(("width_mm", "oz", "is_asked"), [(0.0996, 0.5, False), (0.0994, 0.5, True), (0.12, 1.0, True)])
def test_a_fine_line_is_asked_by_its_copper(width_mm: float, oz: float, is_asked: bool) -> None:
    """0.1 mm in half-ounce copper, 0.127 mm in 1 oz; to the micrometre that is shown."""
    one = lined()
    rows = [row.model_copy(update={"copper_oz": oz}) if row.name == "In2.Cu" else row for row in one.candidate.rows]
    candidate = one.candidate.model_copy(update={"rows": tuple(rows)})
    lines = (one.lines[0].model_copy(update={"width_mm": width_mm, "gap_mm": 0.2}),)
    found = cam_report(one.model_copy(update={"candidate": candidate, "lines": lines}), GOALS)
    assert [i.asks for i in found if i.topic == "line and gap"] == [is_asked]


def test_every_usual_limit_is_positive_and_cited() -> None:
    """A row of the data that nothing cites would be a value of no origin."""
    for name in CamLimits.model_fields:
        limit = getattr(cam_limits(), name)
        assert limit.usual > 0
        assert limit.source.document


@pytest.mark.parametrize(
    ("copper_um", "width_mm", "is_asked"), [(35, 0.1, False), (43.2, 0.1, False), (70, 0.12, True), (70, 0.127, False)]
)
def test_a_fine_line_in_heavy_outer_copper_is_asked_by_its_foil(
    copper_um: float, width_mm: float, is_asked: bool
) -> None:
    """70 um is 1 oz, plated: 0.127 mm; the table of outer tracks is of about 35 um."""
    one = lined()
    rows = [
        row.model_copy(update={"thickness_mm": copper_um / 1000}) if row.use == "outer" else row
        for row in one.candidate.rows
    ]
    candidate = one.candidate.model_copy(update={"rows": tuple(rows)})
    lines = (one.lines[0].model_copy(update={"layer": "F.Cu", "width_mm": width_mm, "gap_mm": 0.2}),)
    found = cam_report(one.model_copy(update={"candidate": candidate, "lines": lines}), GOALS)
    assert [i.asks for i in found if i.topic == "line and gap"] == [is_asked]


@pytest.mark.parametrize(
    ("laminate", "thickness_mm", "is_asked"),
    [
        ("S1000-2M", 0.2, False),
        ("S1000-2M", 0.203, False),
        ("S1000-2M", 0.257, False),
        ("S1000-2M", 0.23, True),
        ("S1000-2M", 0.8, True),
        ("S1000-2M", 1.5, False),
        ("370HR", 0.23, False),
        ("370HR", 0.8231, False),
        ("FR408HR", 0.991, False),
        ("FR4", 1.13, False),
        ("IS400", 0.23, False),
        ("Unobtainium", 0.23, False),
    ],
    ids=lambda value: f"{value}",
)
def test_a_core_between_listed_thicknesses_is_asked(laminate: str, thickness_mm: float, is_asked: bool) -> None:
    """S1000-2M is listed from 0.05 to 1.2 mm; Isola makes 370HR of any thickness, and of others no list is known."""
    cores = core("dielectric 2", thickness_mm, laminate), core("dielectric 4", thickness_mm, laminate)
    found = items(stackup(cores=cores), "core thickness")
    assert [one.asks for one in found] == [True] * is_asked
    if (laminate, thickness_mm) == ("S1000-2M", 0.8):
        assert (found[0].figure, found[0].limit) == ("S1000-2M 0.800 mm", "listed are 0.6 and 1 mm")
