"""What is not known of an impedance: each cause as large as the solver says, gone where it is declared."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import Cause, LineUncertainty
from drc_rules.engine.check import find_config, prepare
from drc_rules.engine.missing_inputs import paste_lines
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.rules.impedance._model import line_numbers
from drc_rules.settings.config import parse_config
from stackup_lib.kicad import read_board
from stackup_lib.transmission_lines.tolerance import sensitivities
from tests.support.mini import mini_file

COPPER = """F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0
In1.Cu 0.015
core 0.13 "370HR" dk=4.0
In2.Cu 0.015
prepreg 0.25 "370HR 2116" dk=4.0
In3.Cu 0.015
core 0.5 "370HR" dk=4.0
B.Cu 0.035
"""
MASKED = f"mask 0.015 dk=3.5\n{COPPER}mask 0.015 dk=3.5\n"
OUTER, INNER = 0, 2
SIZES: dict[int, tuple[float, float | None]] = {OUTER: (0.16, 0.15), INNER: (0.12, None)}

ALL_OUTER = """[process]
outer_etch_taper_um = 17.5
outer_copper_um = 35
mask_over_copper_um = 15
mask_over_laminate_um = 30
mask_dk = 3.5
[declared.dielectric."dielectric 1"]
dk = 4.0
at_ghz = 2
"""


def context_of(stackup: str, folder: Path, config: str = "") -> Context:
    """A board with ground on In1 and In3."""
    board = {"size_mm": [60, 40], "stackup": stackup, "planes": {"In1.Cu": "GND", "In3.Cu": "GND"}, "config": config}
    path = mini_file(folder, board)
    return prepare(read_board(path), find_config(path, None), Overrides())[0]


def found_on(layer: int, stackup: str, folder: Path, config: str = "") -> LineUncertainty:
    return Lines(context_of(stackup, folder, config)).uncertainty(layer, *SIZES[layer])


def ohm_on(layer: int, stackup: str, folder: Path, config: str = "") -> float:
    return Lines(context_of(stackup, folder, config)).solved(layer, *SIZES[layer]).impedance_ohm


def causes(found: LineUncertainty) -> set[Cause]:
    return {one.cause for one in found.contributions} - {Cause.SOLVER}


@pytest.mark.parametrize(
    ("stackup", "layer", "expected"),
    [
        (
            MASKED,
            OUTER,
            {Cause.DK, Cause.TAPER, Cause.OUTER_COPPER, Cause.MASK, Cause.MASK_OUTLINE},
        ),
        (MASKED, INNER, {Cause.DK, Cause.TAPER}),
        (COPPER, OUTER, {Cause.DK, Cause.TAPER, Cause.OUTER_COPPER, Cause.MASK}),
        (
            MASKED.replace("dk=3.5", "dk=3.3"),
            OUTER,
            {Cause.DK, Cause.TAPER, Cause.OUTER_COPPER, Cause.MASK, Cause.MASK_DK, Cause.MASK_OUTLINE},
        ),
        (MASKED.replace("F.Cu 0.035", "F.Cu 0.045"), OUTER, {Cause.DK, Cause.TAPER, Cause.MASK, Cause.MASK_OUTLINE}),
    ],
    ids=["under its mask", "inside", "no mask row", "KiCad's Dk of mask", "copper beyond what 1 oz is plated to"],
)
def test_causes_are_those_that_are_not_declared(stackup: str, layer: int, expected: set[Cause], tmp_path: Path) -> None:
    """Mask and plating matter outside alone; a stated mask leaves open how thick it is on the laminate."""
    assert causes(found_on(layer, stackup, tmp_path)) == expected


def test_dk_counts_with_its_share_of_the_field(tmp_path: Path) -> None:
    """A stripline in one dielectric goes as Dk^-1/2: 2 % of Dk are 1 %; less where half of the field is in air."""
    assert found_on(INNER, MASKED, tmp_path).of(Cause.DK) == pytest.approx(1.0, rel=0.02)
    assert 0.4 < found_on(OUTER, MASKED, tmp_path).of(Cause.DK) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("layer", [OUTER, INNER])
def test_taper_and_copper_are_what_the_sensitivities_of_the_solver_say(layer: int, tmp_path: Path) -> None:
    """Another code path, another rung: d ln Z by central differences, times the range."""
    ctx = context_of(MASKED, tmp_path)
    found = Lines(ctx).uncertainty(layer, *SIZES[layer])
    by_name = sensitivities(Lines(ctx).site(layer).site, *SIZES[layer])

    # the impedance falls less and less fast with taper: a half of it against a local slope, within a quarter
    assert found.of(Cause.TAPER) == pytest.approx(50 * by_name["taper"], rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "cause", "declared", "end"),
    [
        (OUTER, Cause.OUTER_COPPER, "outer_copper_um = 43.2\nouter_etch_taper_um = 17.5", "low"),
        (OUTER, Cause.TAPER, "outer_etch_taper_um = 8.75", "either"),
        (INNER, Cause.TAPER, "inner_etch_taper_um = 7.5", "either"),
        (OUTER, Cause.MASK, "mask_over_laminate_um = 15", "high"),
        (OUTER, Cause.MASK, "mask_over_laminate_um = 30.5", "low"),
    ],
    ids=["copper", "outer taper", "inner taper", "thin mask", "thick mask"],
)
def test_a_declared_end_moves_the_impedance_by_what_was_not_known(
    layer: int, cause: Cause, declared: str, end: str, tmp_path: Path
) -> None:
    """What `[process]` declares goes into the solver: at the end of a range it makes what the range said."""
    before = ohm_on(layer, MASKED, tmp_path)
    one = next(part for part in found_on(layer, MASKED, tmp_path).contributions if part.cause is cause)
    after = ohm_on(layer, MASKED, tmp_path, f"[process]\n{declared}\n")

    moved = 100 * (after / before - 1)
    expected = {"low": one.low_pct, "high": one.high_pct, "either": math.copysign(one.pct, moved)}[end]
    assert moved == pytest.approx(expected, abs=0.06)


def test_a_declared_mask_dk_moves_the_impedance_within_its_range(tmp_path: Path) -> None:
    """3.3 to 3.9 about KiCad's 3.3: one side only, and as large as a mask of 3.9 makes it."""
    masked = MASKED.replace("dk=3.5", "dk=3.3")
    one = next(part for part in found_on(OUTER, masked, tmp_path).contributions if part.cause is Cause.MASK_DK)
    moved = 100 * (ohm_on(OUTER, masked, tmp_path, "[process]\nmask_dk = 3.9\n") / ohm_on(OUTER, masked, tmp_path) - 1)

    assert one.high_pct == 0
    assert moved == pytest.approx(one.low_pct, abs=0.06)
    assert moved < -0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gone", "line"),
    [
        (Cause.TAPER, "outer_etch_taper_um = 17.5"),
        (Cause.OUTER_COPPER, "outer_copper_um = 35"),
        (Cause.MASK, "mask_over_laminate_um = 30"),
        (Cause.MASK_DK, "mask_dk = 3.3"),
    ],
)
def test_what_is_declared_drops_out_and_nothing_else(gone: Cause, line: str, tmp_path: Path) -> None:
    """Declared as it was assumed it moves nothing but the uncertainty, each cause by itself."""
    masked = MASKED.replace("dk=3.5", "dk=3.3")
    config = f"[process]\n{line}\n"

    assert causes(found_on(OUTER, masked, tmp_path)) - causes(found_on(OUTER, masked, tmp_path, config)) == {gone}
    assert ohm_on(OUTER, masked, tmp_path, config) == pytest.approx(ohm_on(OUTER, masked, tmp_path), rel=1e-9)


def test_a_dk_counts_as_declared_only_with_its_frequency(tmp_path: Path) -> None:
    """A bare number may hold at 1 GHz or at 10."""
    table = '[declared.dielectric."dielectric 1"]\ndk = 4.0\n'

    assert Cause.DK in causes(found_on(OUTER, MASKED, tmp_path, table))
    assert Cause.DK not in causes(found_on(OUTER, MASKED, tmp_path, f"{table}at_ghz = 2\n"))


def test_a_dk_next_to_a_declared_df_has_a_frequency_of_its_own(tmp_path: Path) -> None:
    """`at_ghz` is taken by the Df: it may not move with the Dk."""
    table = '[declared.dielectric."dielectric 1"]\ndf = 0.02\nat_ghz = 10\n'

    assert 'dk_at_ghz = "?"' in found_on(OUTER, MASKED, tmp_path, table).lines
    assert 'dk_at_ghz = "?"' not in found_on(OUTER, MASKED, tmp_path).lines
    assert Cause.DK not in causes(found_on(OUTER, MASKED, tmp_path, f"{table}dk = 4.0\ndk_at_ghz = 2\n"))


def test_with_all_declared_nothing_is_left_but_the_masks_outline(tmp_path: Path) -> None:
    """0.3 % and the solver's own error, and no line to paste."""
    found = found_on(OUTER, MASKED, tmp_path, ALL_OUTER)

    assert causes(found) == {Cause.MASK_OUTLINE}
    assert found.total_pct < 0.45
    assert found.lines == ()


def test_the_sum_is_of_all_causes_the_largest_first(tmp_path: Path) -> None:
    """Errors of all boards of a lot may all point one way."""
    found = found_on(OUTER, MASKED, tmp_path)

    sizes = [one.pct for one in found.contributions]
    assert sizes == sorted(sizes, reverse=True)
    assert found.low_pct == pytest.approx(sum(one.low_pct for one in found.contributions))
    assert found.high_pct == pytest.approx(sum(one.high_pct for one in found.contributions))
    around = found.around(100.0)
    assert (around.low, around.high) == pytest.approx((100 + found.low_pct, 100 + found.high_pct))


def test_the_lines_to_paste_are_settings_that_declare_every_cause(tmp_path: Path) -> None:
    """Each table once, also of two lines together, and filled in they leave nothing open."""
    inside, outside = found_on(INNER, COPPER, tmp_path), found_on(OUTER, COPPER, tmp_path)
    pasted = "\n".join(paste_lines(["\n".join(inside.lines), "\n".join(outside.lines)]))

    filled = pasted.replace('dk = "?"', "dk = 4.0").replace('at_ghz = "?"', "at_ghz = 2").replace('"?"', "20")
    filled = filled.replace("mask_dk = 20", "mask_dk = 3.5")
    settings = tomllib.loads(filled)
    assert set(settings["process"]) == {
        "inner_etch_taper_um",
        "outer_etch_taper_um",
        "outer_copper_um",
        "mask_over_copper_um",
        "mask_over_laminate_um",
        "mask_dk",
    }
    assert set(settings["declared"]["dielectric"]) == {"dielectric 1", "dielectric 2", "dielectric 3"}
    parse_config(filled)
    left = causes(found_on(OUTER, COPPER, tmp_path, filled)) | causes(found_on(INNER, COPPER, tmp_path, filled))
    assert left == {Cause.MASK_OUTLINE}  # of the mask that is now there


def test_bare_copper_is_declared_with_no_mask_over_it(tmp_path: Path) -> None:
    """0 um says that there is none, whatever the file has: nothing of a mask is left open."""
    config = "[process]\nmask_over_copper_um = 0\n"

    assert not causes(found_on(OUTER, MASKED, tmp_path, config)) & {Cause.MASK, Cause.MASK_DK, Cause.MASK_OUTLINE}
    bare = ohm_on(OUTER, COPPER, tmp_path)
    assert ohm_on(OUTER, MASKED, tmp_path, config) == pytest.approx(bare, rel=1e-9)


def test_heights_are_those_of_the_nearer_and_the_farther_plane(tmp_path: Path) -> None:
    """A stripline has two, a microstrip one and nothing on the other side."""
    context = context_of(COPPER, tmp_path)

    assert line_numbers(context, 2, None) == pytest.approx({"t": 0.015, "h_near": 0.13, "h_far": 0.25})
    assert line_numbers(context, 0, None) == pytest.approx({"t": 0.035, "h_near": 0.1, "h_far": math.inf})
