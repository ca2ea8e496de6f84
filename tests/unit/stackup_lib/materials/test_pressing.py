"""Pressed thickness of prepreg."""

from __future__ import annotations

import pytest

from stackup_lib.core.facts import Confidence, Fact
from stackup_lib.materials import Construction, ConstructionKind, Grade, MaterialSource, catalogue
from stackup_lib.materials.pressing import (
    FacingCopper,
    PressedPrepreg,
    copper_fill_mm,
    glass_areal_weight_g_per_m2,
    glass_thickness_mm,
    pressed_prepreg,
    resin_thickness_mm,
)


def row(style: str, resin_pct: float, thickness_mm: float, plies: int = 1) -> Construction:
    return Construction(
        kind=ConstructionKind.PREPREG,
        style=style,
        plies=plies,
        resin_content_pct=resin_pct,
        thickness_mm=thickness_mm,
        source=MaterialSource(text="a fab's table", grade=Grade.VENDOR),
    )


def press(style: str, resin_pct: float, thickness_mm: float, *copper: tuple[float, float]) -> Fact[PressedPrepreg]:
    faces = [FacingCopper(thickness_mm=t, coverage=c) for t, c in copper]
    table = row(style, resin_pct, thickness_mm)
    return pressed_prepreg("prepreg 1", style=style, resin_content_pct=resin_pct, faces=faces, table=table)


@pytest.mark.parametrize(
    "style,resin,nominal,copper,listed",
    [
        ("7628", 49, 0.218, 0.0152, 0.2104),
        ("7628", 49, 0.218, 0.030, 0.203),
        ("1080", 67, 0.084, 0.0152, 0.0764),
        ("1080", 67, 0.084, 0.030, 0.069),
        ("1080", 67, 0.084, 0.061, 0.0535),
        ("2313", 58, 0.104, 0.061, 0.0735),
        ("106", 72, 0.050, 0.030, 0.035),
    ],
)
def test_a_fabs_own_pressed_values(style: str, resin: float, nominal: float, copper: float, listed: float) -> None:
    """JLCPCB's impedance templates list nominal and pressed thickness: half-covered inner copper on one side."""
    got = press(style, resin, nominal, (copper, 0.5), (0.035, 1.0)).need()
    assert got.thickness_mm == pytest.approx(listed, abs=2e-4)
    assert got.cured_mm == nominal
    assert got.low_mm <= got.thickness_mm <= got.high_mm


def test_coverage_steps_of_another_fab() -> None:
    """PCBWay lists one ply of 7628 as 0.1855, 0.1785 and 0.1715 mm over 70, 50 and 30 % of 1 oz copper."""
    got = [press("7628", 45, 0.1956, (0.035, c)).need().thickness_mm for c in (0.7, 0.5, 0.3)]
    assert got == pytest.approx([0.1855, 0.1785, 0.1715], abs=6e-4)


def test_both_sides_fill() -> None:
    """Each face takes its own thickness times what it does not cover."""
    assert copper_fill_mm([(0.0152, 0.5), (0.030, 0.8)]) == pytest.approx(0.0136)
    assert copper_fill_mm([(0.035, 1.0)]) == 0


def test_ply_from_weight_and_resin_content() -> None:
    """By hand: 2116 is 103.8 g/m2; at RC 50 % it holds as much resin: 40.4 um of glass, 67.4 um of resin at 1.54."""
    assert glass_areal_weight_g_per_m2("2116") == 103.8
    assert glass_thickness_mm(103.8, 2.57) == pytest.approx(0.04039, rel=1e-3)
    assert resin_thickness_mm(103.8, 50, 1.54) == pytest.approx(0.0674, rel=1e-3)
    assert resin_thickness_mm(103.8, 60, 1.54) == pytest.approx(0.0674 * 1.5, rel=1e-3)


def test_agrees_with_makers_tables() -> None:
    """Over all single plies in makers' tables, 95 % lie inside the interval from weight, resin content and density.

    The range of resin density was taken from these rows: this tests formula, fabric weights and that one range serves.
    """
    inside = off = 0
    for laminate in catalogue().laminates:
        for c in laminate.constructions:
            if c.kind is not ConstructionKind.PREPREG or c.plies != 1 or not c.resin_content_pct:
                continue
            fact: Fact[PressedPrepreg] = pressed_prepreg(
                str(c), style=c.style, resin_content_pct=c.resin_content_pct, faces=[]
            )
            if fact.known:
                within = fact.need().low_mm <= c.thickness_mm <= fact.need().high_mm
                inside, off = inside + within, off + (not within)
    assert inside + off > 150
    assert inside / (inside + off) >= 0.95


def test_figures_alone_have_low_confidence() -> None:
    """Without a maker's row the value rests on nominal weights and says so; a row is better by its own source."""
    fact = pressed_prepreg("prepreg 1", style="2116", resin_content_pct=55, faces=[], plies=2)
    one = pressed_prepreg("prepreg 1", style="2116", resin_content_pct=55, faces=[])
    assert fact.need().thickness_mm == pytest.approx(2 * one.need().thickness_mm)
    assert fact.confidence is Confidence.LOW
    assert press("2116", 55, 0.12).confidence is Confidence.MEDIUM


def test_a_row_of_two_plies() -> None:
    """A maker's row for two plies serves for four."""
    fact = pressed_prepreg(
        "prepreg 1", style="1080", resin_content_pct=62, faces=[], plies=4, table=row("1080", 62, 0.15, plies=2)
    )
    assert fact.need().cured_mm == pytest.approx(0.30)


@pytest.mark.parametrize(
    "style,resin,coverage,says",
    [
        (None, 55, 0.5, "glass style"),
        ("9999", 55, 0.5, "glass style"),
        ("2116", None, 0.5, "resin content"),
        ("2116", 55, None, "coverage"),
        ("2116", 55, 1.4, "coverage"),
        ("2116", 100, 0.5, "resin content"),
    ],
)
def test_missing_figures_are_unknown(style: str | None, resin: float | None, coverage: float | None, says: str) -> None:
    """Nothing is guessed: what is missing is named."""
    faces = [FacingCopper(thickness_mm=0.03, coverage=coverage)]
    fact = pressed_prepreg("prepreg 1", style=style, resin_content_pct=resin, faces=faces)
    assert not fact.known
    assert says in fact.how_to_give


def test_starved_prepreg_has_no_thickness() -> None:
    """Two faces of 2 oz copper need more resin than a ply of 7628 holds: no thickness, but the reason."""
    fact = press("7628", 43, 0.185, (0.07, 0.2), (0.07, 0.2))
    assert not fact.known
    assert "0.112 mm of resin" in fact.how_to_give
