"""Cross sections of reference cases: a geometry's name and its parameters, as tables of line impedances give them.

Lengths in mm. Keys: `w`, or `w1` (base) and `w2` (top); `t` thickness; `s` gap of a pair at the base (broadside:
between facing surfaces); `h` substrate under a microstrip; `b` plane to plane with the strip centred, or `h1` plane to
base and `h2` strip top to plane; `er`, or `er1` under the base and `er2` above (`er_below`, `er_above`); `g` gap to
coplanar ground; `c1` mask on the laminate, `c2` on the trace, `c3` between a pair, `c_side` next to the wall,
`er_mask`; `h_cover`, `er_cover` cover, from the trace's base; `h_outer`, `er_core`, `er_outer` broadside in two
dielectrics.

Tables of other programs say the same in other words: `w_base`, `w_top`, `s_base`, `gap_to_coplanar_ground_base`,
`mask_on_laminate`, `mask_on_trace`, `mask_between`, `mask` (all three), `cover`. `h2_incl_copper` reaches from the
base of the trace to the plane above it (Polar's H2), `h2_excl_copper` from its top (Sierra's H2): mixing the two costs
3 to 7 % of the impedance on a thin dielectric, so that neither is called h2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stackup_lib.core.errors import did_you_mean
from stackup_lib.field_solver import shapes
from stackup_lib.field_solver.sections import GeometryError, Mask, Section
from stackup_lib.field_solver.solution import LineSolution

Parameters = Mapping[str, float | None]

NOT_BOARD_LINES = frozenset(
    (
        "coax_round",
        "coax_eccentric",
        "coax_half_filled",
        "coax_square_in_square",
        "two_wire",
        "wire_over_plane",
    )
)
"""Geometries of reference tables that check an engine for round or closed conductors, of which boards have none."""

_KEYS = frozenset(
    (
        *("w", "w1", "w2", "t", "s", "h", "b", "h1", "h2", "er", "er1", "er2", "er_below", "er_above", "g"),
        *("c1", "c2", "c3", "c_side", "er_mask", "h_cover", "er_cover", "h_outer", "er_core", "er_outer"),
        "h2_incl_copper",
    )
)
_OTHER_WORDS = {
    "w_base": "w1",
    "w_top": "w2",
    "s_base": "s",
    "gap_to_coplanar_ground_base": "g",
    "mask_on_laminate": "c1",
    "mask_on_trace": "c2",
    "mask_between": "c3",
    "h2_excl_copper": "h2",
    "cover": "h_cover",
}
REMARKS = frozenset(("note", "material"))
"""Words among the parameters."""

_NO_DIMENSIONS = frozenset(("tand", "sigma", "spec_freq_GHz", "rms_um_bottom", "rms_um_top"))
"""Columns of loss tables other than the dimensions."""

QUANTITIES = {
    "Z0": "z0_ohm",
    "Zeven": "z_even_ohm",
    "Zodd": "z_odd_ohm",
    "Zdiff": "z_diff_ohm",
    "Zcommon": "z_common_ohm",
    "eps_eff": "eps_eff",
    "eps_eff_odd": "eps_eff_odd",
    "eps_eff_even": "eps_eff_even",
}
"""Names of quantities in reference tables, and of the solution's attributes."""


def section_of_case(geometry: str, parameters: Parameters) -> Section:
    """The cross section of a reference case.

    Raises:
        GeometryError: unknown geometry, a missing parameter, or a section that cannot exist.
    """
    builder = _BUILDERS.get(_plain_name(geometry))
    if builder is None:
        raise GeometryError(f'unknown geometry "{geometry}"', did_you_mean(geometry, _BUILDERS))
    return builder(_own_words(parameters))


def is_known_geometry(geometry: str) -> bool:
    """Return whether `section_of_case` can draw it."""
    return _plain_name(geometry) in _BUILDERS


def value_of_quantity(solution: LineSolution, quantity: str) -> float:
    """Return a solution's value of a quantity as reference tables call it.

    Raises:
        GeometryError: an unknown quantity, or one that this kind of line does not have.
    """
    name = QUANTITIES.get(quantity)
    if name is None:
        raise GeometryError(f'unknown quantity "{quantity}"', did_you_mean(quantity, QUANTITIES))
    return float(getattr(solution, name))


def _plain_name(geometry: str) -> str:
    return geometry.removesuffix("_t0").removesuffix("_rect").removesuffix("_trapezoid")


def _own_words(given: Parameters) -> dict[str, float]:
    """Return the parameters by the keys of this module, without empty ones."""
    out: dict[str, float] = {}
    for key, value in given.items():
        name = _OTHER_WORDS.get(key, key)
        if value is None or name in _NO_DIMENSIONS | REMARKS:
            continue
        if name == "mask":
            out |= {"c1": value, "c2": value, "c3": value}
        elif name not in _KEYS:
            raise GeometryError(f'unknown parameter "{key}"', did_you_mean(key, _KEYS | set(_OTHER_WORDS)))
        else:
            out[name] = value
    return out


def _between_planes(p: Parameters, t: float) -> tuple[float, float]:
    """From the plane below to the trace, and from the top of the trace to the plane above."""
    if p.get("b") is not None:
        return ((_need(p, "b") - t) / 2,) * 2
    with_copper = p.get("h2_incl_copper")
    return _need(p, "h1"), _need(p, "h2") if with_copper is None else with_copper - t


def _need(p: Parameters, *names: str) -> float:
    for name in names:
        value = p.get(name)
        if value is not None:
            return float(value)
    raise GeometryError(f"no parameter {' or '.join(names)}", "give it in mm (permittivities without unit)")


def _width(p: Parameters) -> float:
    return _need(p, "w", "w1")


def _mask(p: Parameters) -> Mask | None:
    if p.get("c1") is None:
        return None
    return Mask(
        er=_need(p, "er_mask"),
        on_laminate_mm=_need(p, "c1"),
        on_trace_mm=_need(p, "c2"),
        between_mm=p.get("c3"),
        side_mm=p.get("c_side"),
    )


def _microstrip(p: Parameters) -> Section:
    return shapes.microstrip(
        width_mm=_width(p),
        top_width_mm=p.get("w2"),
        gap_mm=p.get("s"),
        height_mm=_need(p, "h", "h1"),
        thickness_mm=_need(p, "t"),
        er=_need(p, "er", "er1"),
        mask=_mask(p),
    )


def _embedded(p: Parameters) -> Section:
    return shapes.embedded_microstrip(
        width_mm=_width(p),
        top_width_mm=p.get("w2"),
        gap_mm=p.get("s"),
        thickness_mm=_need(p, "t"),
        layers_below=[(_need(p, "h"), _need(p, "er"))],
        layers_above=[(_need(p, "h_cover"), _need(p, "er_cover"))],
    )


def _stripline(p: Parameters) -> Section:
    t = _need(p, "t")
    below, above = _between_planes(p, t)
    return shapes.stripline(
        width_mm=_width(p),
        top_width_mm=p.get("w2"),
        gap_mm=p.get("s"),
        thickness_mm=t,
        layers_below=[(below, _need(p, "er", "er1", "er_below"))],
        layers_above=[(above + t, _need(p, "er", "er2", "er_above"))],
    )


def _broadside(p: Parameters) -> Section:
    s, t = _need(p, "s"), _need(p, "t")
    outer = (_need(p, "b") - s) / 2 if p.get("b") is not None else _need(p, "h_outer") + t
    er_outer = _need(p, "er", "er_outer")
    return shapes.broadside_stripline(
        width_mm=_width(p),
        gap_mm=s,
        thickness_mm=t,
        layers_below=[(outer, er_outer)],
        er_between=_need(p, "er", "er_core"),
        layers_above=[(outer, er_outer)],
    )


def _cpw_open(p: Parameters) -> Section:
    return shapes.coplanar(
        width_mm=_width(p),
        ground_gap_mm=_need(p, "g"),
        thickness_mm=_need(p, "t"),
        layers_below=[],
        er_below=_need(p, "er"),
        plane_below=False,
    )


def _cpw_grounded(p: Parameters) -> Section:
    return shapes.coplanar(
        width_mm=_width(p),
        top_width_mm=p.get("w2"),
        gap_mm=p.get("s"),
        ground_gap_mm=_need(p, "g"),
        thickness_mm=_need(p, "t"),
        layers_below=[(_need(p, "h", "h1"), _need(p, "er", "er1"))],
        mask=_mask(p),
    )


def _cpw_stripline(p: Parameters) -> Section:
    t = _need(p, "t")
    below, above = _between_planes(p, t)
    return shapes.coplanar(
        width_mm=_width(p),
        top_width_mm=p.get("w2"),
        gap_mm=p.get("s"),
        ground_gap_mm=_need(p, "g"),
        thickness_mm=t,
        layers_below=[(below, _need(p, "er", "er1"))],
        layers_above=[(above + t, _need(p, "er", "er2"))],
        plane_above=True,
    )


_GEOMETRIES: dict[Callable[[Parameters], Section], str] = {
    _microstrip: """
        microstrip microstrip_air coated_microstrip edge_coupled_microstrip coated_edge_coupled_microstrip
        SurfaceMicrostrip1B CoatedMicrostrip1B DiffEdgeCoupledSurfaceMicrostrip1B DiffEdgeCoupledCoatedMicrostrip1B
    """,
    _embedded: "embedded_microstrip",
    _stripline: """
        stripline stripline_sym stripline_t0_two_dielectrics offset_stripline offset_stripline_two_dielectrics
        edge_coupled_stripline edge_coupled_stripline_t0_two_dielectrics edge_coupled_offset_stripline_two_dielectrics
        edge_coupled_offset_stripline OffsetStripline1B1A DiffOffsetStripline1B1A
    """,
    _broadside: "broadside_coupled_stripline broadside_coupled_two_dielectrics",
    _cpw_open: "cpw_halfspace cpw_air",
    _cpw_grounded: """
        cpw_grounded cpw_grounded_coated edge_coupled_cpw_grounded coated_cpw_grounded
        coated_edge_coupled_cpw_grounded SurfaceCoplanarWaveguideWithLowerGnd1B CoatedCoplanarWaveguideWithLowerGnd1B
        DiffSurfaceCoplanarWaveguideWithLowerGnd1B DiffCoatedCoplanarWaveguideWithLowerGnd1B
    """,
    _cpw_stripline: "coplanar_stripline OffsetCoplanarWaveguide1B1A DiffOffsetCoplanarWaveguide1B1A",
}
"""Builders and the names that tables call their sections by; of Polar's, 1B and 1A are dielectrics below and above."""

_BUILDERS = {name: builder for builder, names in _GEOMETRIES.items() for name in names.split()}
