"""The auditor of stackups: what fires, what is just inside, and that it passes what a fab really builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from stackup_lib.board.stackup import LayerKind
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup, Use
from tests.support.stackup_audit import RULES, BuiltCore, BuiltGap, Fault, audit, limits

NP = "NP-155F"
COPPER_MM = {0.5: 0.0152, 1: 0.030, 2: 0.061, 3: 0.0915}


@dataclass(frozen=True)
class Line:
    layer: str
    width_mm: float
    gap_mm: float | None = None


def copper(oz: float, use: Use = "ground", foil: str = "") -> CandidateRow:
    return CandidateRow(kind=LayerKind.COPPER, use=use, thickness_mm=COPPER_MM[oz], copper_oz=oz, foil=foil)


def core(mm: float, laminate: str = NP, df: float = 0.02) -> CandidateRow:
    return CandidateRow(kind=LayerKind.CORE, thickness_mm=mm, laminate=laminate, construction=laminate, df=df)


def prepreg(
    style: str, resin: float, mm: float, plies: int = 1, *, laminate: str = NP, df: float = 0.02
) -> CandidateRow:
    text = f"{laminate} {style} RC{resin:g}%"
    return CandidateRow(
        kind=LayerKind.PREPREG, thickness_mm=mm, laminate=laminate, construction=text, plies=plies, df=df
    )


def stackup(*rows: CandidateRow) -> CandidateStackup:
    """Name the rows; the order only has to have as many layers."""
    layers = sum(row.kind is LayerKind.COPPER for row in rows)
    coppers = iter(["F.Cu", *(f"In{k}.Cu" for k in range(1, layers - 1)), "B.Cu"])
    others = iter(range(1, len(rows)))
    named = [
        row.model_copy(update={"name": next(coppers) if row.kind is LayerKind.COPPER else f"dielectric {next(others)}"})
        for row in rows
    ]
    return CandidateStackup(rows=tuple(named), order=Order(layers="G" * layers, gaps="p" * (layers - 1), pattern=""))


OUTER = (prepreg("1080", 67, 0.0764),)
MIDDLE = (prepreg("2116", 54, 0.1164),)
HEAVY_OUTER = (prepreg("1080", 67, 0.084), prepreg("1080", 67, 0.0535))
HEAVY_MIDDLE = (prepreg("1080", 67, 0.191, plies=3),)


def six(
    oz: float = 0.5,
    *,
    core_mm: float = 0.1,
    laminate: str = NP,
    outer: Sequence[CandidateRow] = OUTER,
    middle: Sequence[CandidateRow] = MIDDLE,
    foil: str = "",
    inner_oz: float | None = None,
    use: Use = "ground",
) -> CandidateStackup:
    """Foil, two cores with a prepreg between, foil; `inner_oz` is of the two layers in the middle."""
    outside, inside = copper(oz, "ground", foil), copper(oz if inner_oz is None else inner_oz, use, foil)
    clad = core(core_mm, laminate)
    return stackup(
        copper(1, "outer"), *outer, outside, clad, inside, *middle,
        inside, clad, outside, *reversed(outer), copper(1, "outer"),
    )  # fmt: skip


def heavy(core_mm: float = 0.1, oz: float = 2, **changes: Any) -> CandidateStackup:
    """Two ounces everywhere, as the templates build it."""
    rows: dict[str, Any] = {"outer": HEAVY_OUTER, "middle": HEAVY_MIDDLE, **changes}
    return six(oz, core_mm=core_mm, **rows)


def hybrid(laminate: str, df: float = 0.004) -> CandidateStackup:
    """Cores of one family, NP-155F prepregs."""
    outer, inner, clad = copper(0.5), copper(0.5, "fast"), core(0.1, laminate, df)
    return stackup(
        copper(1, "outer"), *OUTER, outer, clad, inner, prepreg("1035", 70, 0.05, laminate=laminate, df=df),
        inner, clad, outer, *OUTER, copper(1, "outer"),
    )  # fmt: skip


def skewed(mm: float) -> CandidateStackup:
    """One core thicker than the other by `mm`."""
    rows = list(six().rows)
    rows[3] = rows[3].model_copy(update={"thickness_mm": rows[3].thickness_mm + mm})
    return stackup(*rows)


def found(candidate: CandidateStackup, **board: Any) -> dict[str, Fault]:
    return {fault.rule: fault for fault in audit(candidate, **board)}


def test_a_usual_stackup_raises_no_question() -> None:
    assert audit(six(), outline_mm=(100, 80), volts=12, bga_pitch_mm=1.0, drill_mm=0.2) == []
    assert audit(heavy()) == []


PAIR, WIDE_PAIR = Line("In2.Cu", 0.1, 0.15), Line("In2.Cu", 0.11, 0.15)
TWO_1080 = (prepreg("1080", 67, 0.138, 2),)
SINGLE_7628 = (prepreg("7628", 49, 0.203),)

FIRES: list[tuple[str, str, Callable[[], CandidateStackup], Callable[[], CandidateStackup], dict[str, Any]]] = [
    ("CORE-05", "fault", lambda: six(core_mm=0.045), lambda: six(core_mm=0.05), {}),
    ("CORE-02", "fault", lambda: six(1, core_mm=0.07), lambda: six(1, core_mm=0.075), {}),
    ("CORE-03", "fault", lambda: heavy(0.05), lambda: heavy(0.1), {}),
    ("CORE-04", "caution", lambda: heavy(0.14, oz=3), lambda: heavy(0.15, oz=3), {}),
    ("CORE-11", "fault", lambda: six(0.5, inner_oz=1), lambda: six(1, inner_oz=1), {}),
    (
        "GLASS-MIN",
        "fault",
        lambda: six(middle=(prepreg("2116", 54, 0.093),)),
        lambda: six(middle=(prepreg("2116", 54, 0.095),)),
        {},
    ),
    (
        "GLASS-MIN",
        "fault",
        lambda: heavy(middle=(prepreg("106", 72, 0.087, plies=3),)),
        lambda: heavy(middle=(prepreg("106", 72, 0.089, plies=3),)),
        {"coverage": 0.5},
    ),
    (  # recalled cloth, within its 10 %
        "GLASS-MIN",
        "caution",
        lambda: six(middle=(prepreg("1506", 45, 0.135, laminate="S1000-2M"),)),
        lambda: six(middle=(prepreg("1506", 45, 0.141, laminate="S1000-2M"),)),
        {},
    ),
    (
        "GLASS-MIN",
        "caution",
        lambda: six(middle=(prepreg("1086", 60, 0.08),)),
        lambda: six(middle=(prepreg("1078", 60, 0.08),)),
        {},
    ),
    (
        "FILL-05",
        "fault",
        lambda: six(1, outer=(prepreg("106", 72, 0.05),), middle=TWO_1080),
        lambda: six(1, middle=TWO_1080),
        {"coverage": 0.4},
    ),
    ("FILL-05", "fault", lambda: six(1, use="signal"), lambda: six(1, use="power"), {}),
    ("PLY-02", "fault", lambda: six(1, middle=OUTER), lambda: six(1, middle=TWO_1080), {}),
    ("PLY-02", "caution", lambda: six(1, middle=SINGLE_7628), lambda: six(0.5, middle=SINGLE_7628), {}),
    (
        "PLY-03",
        "fault",
        lambda: heavy(middle=(prepreg("1080", 67, 0.107, 2),)),
        lambda: heavy(middle=HEAVY_MIDDLE),
        {},
    ),
    (
        "PLY-03",
        "fault",
        lambda: heavy(0.15, oz=3, middle=(prepreg("7628", 49, 0.341, 2),)),
        lambda: heavy(0.15, oz=3, middle=(prepreg("7628", 49, 0.558, 3),)),
        {},
    ),
    ("PLY-05", "fault", lambda: heavy(outer=SINGLE_7628), lambda: heavy(outer=HEAVY_OUTER), {}),
    (
        "PLY-16",
        "fault",
        lambda: six(middle=(prepreg("1080", 67, 0.4, 5),)),
        lambda: six(middle=(prepreg("1080", 67, 0.32, 4),)),
        {},
    ),
    ("FILL-08", "fault", lambda: heavy(outer=SINGLE_7628), lambda: six(1, outer=SINGLE_7628), {}),
    ("FOIL-01", "fault", lambda: six(laminate="370HR", foil="VLP"), lambda: six(laminate="370HR", foil="RTF"), {}),
    (
        "FOIL-13",
        "caution",
        lambda: six(laminate="S1000-2M", foil="HVLP"),
        lambda: six(laminate="S1000-2M", foil="LP"),
        {},
    ),
    (
        "FOIL-09",
        "caution",
        lambda: six(laminate="Tachyon 100G", foil="RTF"),
        lambda: six(laminate="Tachyon 100G", foil="HVLP"),
        {},
    ),
    (
        "FOIL-31",
        "fault",
        lambda: heavy(laminate="FR408HR", foil="VLP"),
        lambda: six(1, laminate="FR408HR", foil="VLP"),
        {},
    ),
    (
        "FOIL-31",
        "caution",
        lambda: heavy(laminate="Megtron 6", foil="HVLP"),
        lambda: heavy(laminate="Megtron 6", foil="RTF"),
        {},
    ),
    (
        "HYB-06",
        "fault",
        lambda: six(middle=(prepreg("1080", 67, 0.08), prepreg("1080", 67, 0.08, laminate="Megtron 6"))),
        lambda: six(middle=(prepreg("1080", 67, 0.08), prepreg("1080", 67, 0.08))),
        {},
    ),
    (  # two FR-4 epoxies in one gap are built
        "HYB-06",
        "caution",
        lambda: six(middle=(prepreg("1080", 67, 0.08), prepreg("1080", 67, 0.08, laminate="S1000-2M"))),
        lambda: six(middle=(prepreg("1080", 67, 0.08), prepreg("1080", 67, 0.08))),
        {},
    ),
    ("HYB-07 to -09", "caution", lambda: hybrid("Megtron 6"), lambda: hybrid("370HR"), {}),
    ("HYB-10", "caution", lambda: hybrid("S1000-2M"), lambda: hybrid("KB-6167F"), {}),
    ("HYB-13", "caution", lambda: hybrid("Megtron 6"), lambda: hybrid(NP), {"lines": [Line("F.Cu", 0.1)]}),
    (
        "DIEL-03",
        "caution",
        lambda: six(1, use="power", core_mm=0.095),
        lambda: six(1, use="power", core_mm=0.1),
        {"volts": 54},
    ),
    (
        "DIEL-08",
        "fault",
        lambda: heavy(middle=(prepreg("106", 72, 0.0885, 3),)),
        lambda: heavy(middle=(prepreg("106", 72, 0.089, 3),)),
        {},
    ),
    ("symmetry", "fault", lambda: skewed(0.006), lambda: skewed(0.002), {}),
    ("THK-08", "caution", lambda: six(core_mm=1.2), lambda: six(core_mm=1.4), {"outline_mm": (417, 585)}),
    ("THK-09", "caution", lambda: six(core_mm=0.7), lambda: six(core_mm=0.9), {"outline_mm": (165, 102)}),
    ("AR-03", "fault", lambda: six(core_mm=1.4), lambda: six(core_mm=1.3), {"drill_mm": 0.195}),
]


@pytest.mark.parametrize(("rule", "level", "fires", "quiet", "board"), FIRES, ids=[f"{r[0]} {r[1]}" for r in FIRES])
def test_a_rule_fires_beyond_its_limit_and_not_inside(
    rule: str,
    level: str,
    fires: Callable[[], CandidateStackup],
    quiet: Callable[[], CandidateStackup],
    board: dict[str, Any],
) -> None:
    fault = found(fires(), **board)[rule]
    assert fault.level == level, fault.words
    assert rule not in found(quiet(), **board)


@pytest.mark.parametrize(
    ("rule", "fires", "quiet", "pitch_mm"),
    [
        ("BGA-06", WIDE_PAIR, PAIR, 1.0),
        ("BGA-02", Line("In2.Cu", 0.41), Line("In2.Cu", 0.39), 1.0),
        ("BGA-04", Line("In2.Cu", 0.26), Line("In2.Cu", 0.24), 0.8),
        ("BGA-05", Line("In2.Cu", 0.16), Line("In2.Cu", 0.14), 0.65),
    ],
)
def test_lines_have_to_pass_between_the_vias_of_a_bga(rule: str, fires: Line, quiet: Line, pitch_mm: float) -> None:
    assert found(six(), bga_pitch_mm=pitch_mm, lines=[fires])[rule].level == "caution"
    assert audit(six(), bga_pitch_mm=pitch_mm, lines=[quiet]) == []
    assert audit(six(), bga_pitch_mm=1.27, lines=[fires]) == []


@pytest.mark.parametrize(
    ("rule", "light", "heavy_oz", "middle", "enough"),
    [
        ("PLY-02 mixed", 0.5, 1, MIDDLE, (prepreg("2116", 54, 0.23, 2),)),
        ("PLY-03 mixed", 0.5, 2, (prepreg("2116", 54, 0.21, 2),), (prepreg("2116", 54, 0.33, 3),)),
    ],
)
def test_copper_of_two_weights_about_a_gap_is_judged_by_practice(
    rule: str,
    light: float,
    heavy_oz: float,
    middle: Sequence[CandidateRow],
    enough: Sequence[CandidateRow],
) -> None:
    def mixed(gap: Sequence[CandidateRow]) -> CandidateStackup:
        return stackup(copper(1), core(0.2), copper(light), *gap, copper(heavy_oz), core(0.2), copper(1))

    assert found(mixed(middle))[rule].level == "caution"
    assert rule not in found(mixed(enough))


def test_words_say_value_limit_and_source() -> None:
    fault = next(fault for fault in audit(heavy(0.05)) if fault.rule == "CORE-03")
    assert fault.words == (
        "dielectric 3: 2 oz copper on 0.050 mm, minimum 0.100 mm "
        "(JLCPCB impedance templates of 2025-05-09, 577 stackups, counted)"
    )
    assert (fault.layer_or_row, fault.grade) == ("dielectric 3", "primary")


@pytest.mark.parametrize(("volts", "limit_mm"), [(30, 0.05), (31, 0.1), (101, 0.2), (400, 0.25)])
def test_the_least_dielectric_follows_the_voltage(volts: float, limit_mm: float) -> None:
    def questions(mm: float) -> list[str]:
        middle = (prepreg("1067", 70, mm, 1),)
        faults = audit(six(use="power", core_mm=0.3, middle=middle), volts=volts)
        return [fault.layer_or_row for fault in faults if fault.rule.startswith("DIEL")]

    assert questions(limit_mm - 0.002) == ["dielectric 3"]
    assert questions(limit_mm) == []


def test_a_foil_pressed_on_prepreg_is_filled_by_the_next_prepreg_outward_only() -> None:
    """A build-up: the copper under it fills the outer ply, not the ply that it was pressed on."""
    heavy_inside = copper(2)
    build_up = stackup(
        copper(1, "outer"), *HEAVY_OUTER, heavy_inside, *OUTER, copper(0.5), core(0.5), copper(0.5),
        *OUTER, heavy_inside, *reversed(HEAVY_OUTER), copper(1, "outer"),
    )  # fmt: skip
    assert not {"PLY-05", "PLY-03 mixed"} & set(found(build_up))
    single = stackup(
        copper(1, "outer"), *OUTER, heavy_inside, *OUTER, copper(0.5), core(0.5), copper(0.5),
        *OUTER, heavy_inside, *OUTER, copper(1, "outer"),
    )  # fmt: skip
    assert {fault.layer_or_row for fault in audit(single) if fault.rule == "PLY-05"} == {"dielectric 1", "dielectric 5"}


def built_ply(gap: BuiltGap) -> tuple[CandidateRow, ...]:
    return tuple(prepreg(ply.style, ply.resin_content_pct, ply.mm, laminate=gap.laminate) for ply in gap.plies)


def usual(oz: float) -> dict[str, Sequence[CandidateRow]]:
    """Gaps that the templates have most often with that copper."""
    if oz >= 2:
        return {"outer": HEAVY_OUTER, "middle": HEAVY_MIDDLE}
    middle = MIDDLE if oz < 1 else TWO_1080
    return {"outer": OUTER, "middle": middle}


@pytest.mark.parametrize("gap", limits().built.gap, ids=lambda gap: f"{gap.template}, {gap.oz:g} oz")
def test_a_gap_that_a_fab_builds_has_no_fault(gap: BuiltGap) -> None:
    rows = usual(gap.oz) | {"outer" if gap.outer else "middle": built_ply(gap)}
    faults = audit(six(gap.oz, core_mm=0.2, **rows), coverage=0.5)  # type: ignore[arg-type]
    assert [fault for fault in faults if fault.level == "fault"] == []


@pytest.mark.parametrize("clad", limits().built.core, ids=lambda clad: f"{clad.template}, {clad.oz:g} oz")
def test_a_core_that_a_fab_builds_has_no_fault(clad: BuiltCore) -> None:
    rows = usual(clad.oz)
    faults = audit(six(clad.oz, core_mm=clad.mm, laminate=clad.laminate, **rows), coverage=0.5)  # type: ignore[arg-type]
    assert [fault for fault in faults if fault.level == "fault"] == []


def test_every_limit_names_a_source_that_is_listed() -> None:
    data = limits().model_dump()
    tables = [one for value in data.values() for one in (value if isinstance(value, tuple) else [value])]
    named = {one["source"] for one in tables if isinstance(one, dict) and isinstance(one.get("source"), str)}
    assert named <= set(limits().source)
    assert set(limits().cloth_um) <= set(limits().source)
    assert len(RULES) == len(set(RULES))
