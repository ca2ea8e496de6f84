"""Fills next to a track on its own layer: found where they are, solved with the line, bounded where they are uneven."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

from drc_rules.analysis.lines.board_lines import lines_of, lines_with_fills
from drc_rules.analysis.lines.routed import FILL_HEIGHTS, NearFill, RoutedLine, joined
from drc_rules.analysis.lines.routed_impedance import routed_impedance, routed_uncertainty
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import Cause
from drc_rules.facts.context import Context
from stackup_lib.copper.coupling import pieces_of
from stackup_lib.copper.fill_distances import fill_distances
from tests.support.mini import mini_context

CORE_MM, COPPER_MM, DK = 1.45, 0.009, 4.3
STACKUP = f"""
F.Cu {COPPER_MM}
core {CORE_MM} "FR4" dk={DK}
B.Cu 0.035
"""
PAIR = {"nets": ["/USB_D_P", "/USB_D_N"], "layer": "F.Cu", "path_mm": [[5, 20], [70, 20]]}
WHOLE, UPPER = [1.0, 1.0, 79.0, 39.0], [1.0, 1.0, 79.0, 20.0]


def board(folder: Path, zones: list[tuple[list[float], float]], **parts: object) -> Context:
    """Two layers with ground on B.Cu, and ground on F.Cu as (rectangle, clearance)."""
    poured = [{"net": "GND", "layer": "F.Cu", "rect_mm": rect, "clearance_mm": gap} for rect, gap in zones]
    data = {"size_mm": [80, 40], "stackup": STACKUP, "planes": {"B.Cu": "GND"}, "zones": poured, **parts}
    return mini_context(folder, data, "[process]\nouter_etch_taper_um = 0\n")


def pair_line(
    folder: Path, zones: list[tuple[list[float], float]], width_mm: float = 0.24
) -> tuple[Context, RoutedLine]:
    """The line of the pair, which is one."""
    ctx = board(folder, zones, pairs=[{**PAIR, "width_mm": width_mm, "gap_mm": 0.15}])
    nets = [ctx.board.nets.index(name) for name in ("/USB_D_P", "/USB_D_N")]
    (line,) = lines_with_fills(ctx, nets)
    return ctx, line


def grounded_coplanar_ohm(width_mm: float, gap_mm: float, height_mm: float, dk: float) -> float:
    """A trace between grounds over a plane: Ghione and Naldi by conformal mapping, edges as Gupta widens a trace."""
    half = math.pi / (2 * height_mm)
    wider = 1.25 * COPPER_MM / math.pi * (1 + math.log(4 * math.pi * width_mm / COPPER_MM))
    inner, outer = (width_mm + wider) / 2, width_mm / 2 + gap_mm - wider / 2
    moduli = inner / outer, math.tanh(half * inner) / math.tanh(half * outer)
    air, below = (float(ellipk(k * k) / ellipk(1 - k * k)) for k in moduli)
    eps_eff = (air + dk * below) / (air + below)
    return 60 * math.pi / math.sqrt(eps_eff) / (air + below)


@pytest.mark.parametrize(("width_mm", "gap_mm"), [(0.6, 0.3), (1.2, 0.5), (2.0, 0.5)])
def test_a_trace_in_a_pour_has_the_impedance_of_the_closed_form(tmp_path: Path, width_mm: float, gap_mm: float) -> None:
    """A second source, good to 2 %: without the pour these traces have 15 to 70 % more."""
    track = {"net": "/RF", "layer": "F.Cu", "path_mm": [[5, 20], [70, 20]], "width_mm": width_mm}
    ctx = board(tmp_path, [(WHOLE, gap_mm)], tracks=[track])

    (line,) = lines_with_fills(ctx, [ctx.board.nets.index("/RF")])

    assert line.near_fill == NearFill(near_mm=gap_mm, far_mm=gap_mm)
    found = routed_impedance(Lines(ctx), line)
    assert found.fill_pct == 0
    assert Lines(ctx).solved(0, width_mm).impedance_ohm > 1.15 * found.ohm
    assert found.ohm == pytest.approx(grounded_coplanar_ohm(width_mm, gap_mm, CORE_MM, DK), rel=0.02)


def test_a_pour_on_both_sides_of_a_pair_is_at_its_clearance(tmp_path: Path) -> None:
    """Between the traces of the pair there is none, and the far side of the other trace does not count."""
    ctx, line = pair_line(tmp_path, [(WHOLE, 0.12)])

    assert line.near_fill == NearFill(near_mm=0.12, far_mm=0.12)
    assert (
        Lines(ctx).solved(0, 0.24, 0.15, line.references).impedance_ohm > 1.1 * routed_impedance(Lines(ctx), line).ohm
    )


def test_a_pour_on_one_side_bounds_the_impedance(tmp_path: Path) -> None:
    """The ends are the line without it, and with it on both sides; the middle is told with half of that."""
    ctx, line = pair_line(tmp_path, [(UPPER, 0.12)])

    assert line.near_fill is not None
    assert line.near_fill.far_mm is None
    assert line.near_fill.near_mm <= 0.12
    found = routed_impedance(Lines(ctx), line)
    alone, both = (
        Lines(ctx).solved(0, 0.24, 0.15, line.references, coplanar_mm=at) for at in (None, line.near_fill.near_mm)
    )
    assert (found.low_ohm, found.high_ohm) == (both.impedance_ohm, alone.impedance_ohm)
    assert routed_uncertainty(Lines(ctx), line).of(Cause.FILL) == pytest.approx(found.fill_pct)


def test_lines_together_have_the_nearest_and_the_farthest_copper() -> None:
    """Where one of them has none, or none on a side, they have none there together."""
    near, far = NearFill(near_mm=0.1, far_mm=None), NearFill(near_mm=0.1, far_mm=0.2)

    assert joined([near, far]) == near
    assert joined([far, NearFill(near_mm=0.3, far_mm=0.3)]) == NearFill(near_mm=0.1, far_mm=0.3)
    assert joined([far, None]) == near
    assert joined([None, None]) is None


def test_copper_beyond_three_heights_is_left_out(tmp_path: Path) -> None:
    """4.5 mm are more than three times 1.45 mm; and it is worth less than 1 % of a trace of 50 ohm there."""
    ctx, line = pair_line(tmp_path, [(WHOLE, FILL_HEIGHTS * CORE_MM + 0.1)])

    assert line.near_fill is None
    alone = Lines(ctx).solved(0, 2.7).impedance_ohm
    assert Lines(ctx).solved(0, 2.7, coplanar_mm=FILL_HEIGHTS * CORE_MM).impedance_ohm == pytest.approx(alone, rel=0.01)


def test_copper_along_a_fifth_of_the_run_is_left_out(tmp_path: Path) -> None:
    """The pair runs from 5 to 70 mm: a pour up to 16 mm is no part of the line, one up to 40 mm leaves it open."""
    assert pair_line(tmp_path / "short", [([1, 1, 16, 39], 0.12)])[1].near_fill is None
    half = pair_line(tmp_path / "half", [([1, 1, 40, 39], 0.12)])[1].near_fill
    assert half is not None
    assert (half.near_mm, half.far_mm) == (0.1, None)


def test_geometries_alone_do_not_depend_on_fills(tmp_path: Path) -> None:
    """Losses and delays take the same lines as before, one per geometry."""
    ctx, line = pair_line(tmp_path, [([1, 1, 40, 39], 0.12)])

    (plain,) = lines_of(ctx, list(line.nets))
    assert plain == line.model_copy(update={"near_fill": None})


def test_distances_are_square_to_the_track_on_either_side(tmp_path: Path) -> None:
    """A track of 0.2 mm to the right: copper from 0.5 mm above its middle and 0.3 mm below, and none out of reach."""
    zones = [([10, 10, 50, 19.5], 0.1), ([10, 20.3, 50, 30], 0.1)]
    track = {"net": "/A", "layer": "F.Cu", "path_mm": [[20, 20], [40, 20]], "width_mm": 0.2}
    ctx = board(tmp_path, zones, tracks=[track])
    pieces = pieces_of(ctx.board, np.arange(len(ctx.board.tracks)))
    none = np.full(len(pieces), -1)

    left, right = fill_distances(ctx.copper, pieces, none, np.full(len(pieces), 1.0))
    assert left == pytest.approx(0.4, abs=1e-6)
    assert right == pytest.approx(0.2, abs=1e-6)
    left, right = fill_distances(ctx.copper, pieces, none, np.full(len(pieces), 0.3))
    assert np.all(np.isinf(left))
    assert right == pytest.approx(0.2, abs=1e-6)
    left, right = fill_distances(ctx.copper, pieces, none + 1 + ctx.board.nets.index("GND"), np.full(len(pieces), 1.0))
    assert np.all(np.isinf(left)) and np.all(np.isinf(right))
