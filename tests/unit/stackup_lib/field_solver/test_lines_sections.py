"""Cross sections say exactly where copper and mask are, and refuse what cannot exist."""

from __future__ import annotations

from typing import Any

import pytest

from stackup_lib.field_solver import shapes
from stackup_lib.field_solver.boundary import is_symmetric, mask_outline, pieces
from stackup_lib.field_solver.sections import GeometryError, Layer, Mask, Section, Strip
from stackup_lib.validation.cases import section_of_case


def _coated(**change: float | None) -> Section:
    mask = {"er": 3.8, "on_laminate_mm": 0.03, "on_trace_mm": 0.015} | change
    return shapes.microstrip(
        width_mm=0.2, top_width_mm=0.16, height_mm=0.1, thickness_mm=0.04, er=4.0, mask=Mask.model_validate(mask)
    )


def test_the_mask_wraps_the_wall_at_constant_thickness_unless_told_otherwise() -> None:
    """The shoulder is parallel to the wall; measured normal to it, it is as thick as on the trace."""
    outline = mask_outline(_coated(), 10.0)
    foot, top = outline[-3], outline[-2]  # the right shoulder, from the top down
    assert [p.imag for p in outline] == pytest.approx([0.13, 0.13, 0.155, 0.155, 0.13, 0.13])
    slope = (top.real - foot.real) / (foot.imag - top.imag)
    assert slope == pytest.approx(0.02 / 0.04)
    wall_at_foot = 0.1 - 0.5 * (foot.imag - 0.1)
    assert (foot.real - wall_at_foot) / (1 + 0.5**2) ** 0.5 == pytest.approx(0.015)


def test_a_stated_distance_beside_the_wall_is_horizontal() -> None:
    """`side_mm` moves the shoulder to that distance from the wall."""
    foot = mask_outline(_coated(side_mm=0.02), 10.0)[-3]
    assert foot.real == pytest.approx(0.1 - 0.5 * (foot.imag - 0.1) + 0.02)


def test_mask_thicker_than_copper_and_coat_is_flat() -> None:
    """Where c1 reaches t + c2 nothing of the trace shows."""
    outline = mask_outline(_coated(on_laminate_mm=0.06), 10.0)
    assert [p.imag for p in outline] == pytest.approx([0.16] * len(outline))


def test_mask_between_close_traces_fills_to_a_notch_or_wholly() -> None:
    """Shoulders that meet above the floor make a notch; those that would cross above the top leave no valley."""

    def heights(gap_mm: float) -> list[float]:
        mask = Mask(er=3.8, on_laminate_mm=0.01, on_trace_mm=0.02, between_mm=0.01)
        pair = shapes.microstrip(
            width_mm=0.1, top_width_mm=0.08, gap_mm=gap_mm, height_mm=0.1, thickness_mm=0.03, er=4, mask=mask
        )
        return [round(p.imag, 6) for p in mask_outline(pair, 10.0)]

    assert len(heights(0.2)) == 10
    notch = heights(0.03)
    assert len(notch) == 9
    assert 0.11 < notch[4] < 0.15
    assert heights(0.004) == pytest.approx([0.11, 0.11, 0.15, 0.15, 0.11, 0.11])


def test_copper_between_core_and_prepreg_lies_in_the_prepreg() -> None:
    """Every copper face sees the upper dielectric, but the base, which sees the core."""
    section = shapes.stripline(
        width_mm=0.1, thickness_mm=0.02, layers_below=[(0.1, 4.5)], layers_above=[(0.12, 3.5), (0.1, 3.0)]
    )
    faces = [p for p in pieces(section) if p.conductor == 0]
    assert [f.eps_minus for f in faces] == [4.5, 3.5, 3.5, 3.5]
    interfaces = [p for p in pieces(section) if p.conductor is None]
    assert sorted(p.start.imag for p in interfaces) == pytest.approx([0.1, 0.1, 0.22])


def test_a_wall_through_two_layers_is_cut_where_they_meet() -> None:
    """Each part of the wall carries the permittivity next to it."""
    section = shapes.embedded_microstrip(
        width_mm=0.1, thickness_mm=0.04, layers_below=[(0.1, 4.5)], layers_above=[(0.02, 3.5)]
    )
    faces = [p for p in pieces(section) if p.conductor == 0]
    assert [f.eps_minus for f in faces] == [4.5, 3.5, 1.0, 1.0, 1.0, 3.5]


def test_symmetry_is_seen() -> None:
    """Pairs next to one another and strips above one another are their own mirror image; shifted ones are not."""
    pair: dict[str, Any] = {"width_mm": 0.1, "gap_mm": 0.1, "thickness_mm": 0.02}
    layers: dict[str, Any] = {"layers_below": [(0.2, 4.0)], "layers_above": [(0.2, 4.0)]}
    assert is_symmetric(shapes.stripline(**pair, **layers))
    assert is_symmetric(shapes.broadside_stripline(**pair, **layers, er_between=4))
    assert not is_symmetric(shapes.broadside_stripline(**pair, **layers, er_between=4, offset_mm=0.03))


def test_walls_may_lean_five_times_their_height_and_a_trace_without_height_has_none() -> None:
    """0.39 mm at the foot and 0.2 mm at the top of 0.02 mm: 4.75 to 1; of an infinitely thin trace no top counts."""
    steep = section_of_case("microstrip_trapezoid", {"w1": 0.39, "w2": 0.2, "h": 0.1, "t": 0.02, "er": 4})
    thin = section_of_case("microstrip_trapezoid", {"w1": 0.39, "w2": 0.0, "h": 0.1, "t": 0.0, "er": 4})

    assert (steep.strips[0].base_width_mm, steep.strips[0].top_width_mm) == (0.39, 0.2)
    assert thin.strips[0].half_width_at(0.1) == 0.195


@pytest.mark.parametrize(
    ("geometry", "parameters", "words"),
    [
        ("microstrip_rect", {"w": 0.0, "h": 0.1, "t": 0.02, "er": 4}, "trace width 0 mm"),
        ("microstrip_rect", {"w": 0.1, "h": 0.0, "t": 0.02, "er": 4}, "a dielectric of 0 mm"),
        ("microstrip_rect", {"w": 0.1, "h": 0.1, "t": -0.02, "er": 4}, "copper thickness -0.02 mm"),
        ("microstrip_rect", {"w": float("nan"), "h": 0.1, "t": 0.02, "er": 4}, "not a finite number"),
        ("microstrip_trapezoid", {"w1": 0.1, "w2": 0.12, "h": 0.1, "t": 0.02, "er": 4}, "exceeds base width"),
        ("microstrip_trapezoid", {"w1": 0.41, "w2": 0.2, "h": 0.1, "t": 0.02, "er": 4}, "walls that lean 5.2 to 1"),
        ("microstrip_trapezoid", {"w1": 0.02, "w2": 0.0, "h": 0.1, "t": 0.02, "er": 4}, "trace top width 0 mm"),
        ("microstrip_rect", {"w": 0.1, "h": 0.1, "t": 0.02, "er": 0.5}, "relative permittivity 0.5"),
        ("edge_coupled_microstrip_rect", {"w": 0.1, "s": 0.0005, "h": 0.1, "t": 0.02, "er": 4}, "under 1 um"),
        ("edge_coupled_microstrip_rect", {"w": 0.1, "s": 0, "h": 0.1, "t": 0.02, "er": 4}, "gap of the pair is 0 mm"),
        ("stripline_rect", {"w": 0.1, "h1": 0.1, "h2": -0.005, "t": 0.02, "er": 4}, "up to the plane above"),
        ("cpw_grounded", {"w": 0.1, "g": 0, "h": 0.1, "t": 0.02, "er": 4}, "coplanar gap 0.0 mm"),
        ("microstrip_rect", {"w": 0.1, "t": 0.02, "er": 4}, "no parameter h"),
        ("mircostrip", {"w": 0.1}, 'unknown geometry "mircostrip"'),
    ],
)
def test_impossible_sections_are_refused_in_one_line(
    geometry: str, parameters: dict[str, float | None], words: str
) -> None:
    """The message says what is wrong and what to do."""
    with pytest.raises(GeometryError) as error:
        section_of_case(geometry, parameters)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_line_without_a_reference_is_refused() -> None:
    """No plane, no coplanar ground: no impedance."""
    strip = Strip(base_width_mm=0.1, top_width_mm=0.1, thickness_mm=0.02, bottom_mm=0.1)
    with pytest.raises(GeometryError, match="reference plane"):
        Section(layers=(Layer(thickness_mm=0.1, er=4),), strips=(strip,), plane_below=False)


def test_mask_on_an_inner_layer_is_refused() -> None:
    """Solder mask is on the outer face only."""
    strip = Strip(base_width_mm=0.1, top_width_mm=0.1, thickness_mm=0.02, bottom_mm=0.05)
    mask = Mask(er=3.8, on_laminate_mm=0.03, on_trace_mm=0.015)
    with pytest.raises(GeometryError, match="not on the outer face"):
        Section(layers=(Layer(thickness_mm=0.1, er=4),), strips=(strip,), mask=mask)
