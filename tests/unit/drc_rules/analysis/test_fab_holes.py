"""Holes, rings and sides of a board as a fab counts them, and laminates swapped for one with a higher Tg."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drc_rules.analysis.fabrication.fab_holes import PLACES_SHOWN, hole_sets
from drc_rules.analysis.fabrication.fab_size import describe, sides_mm
from drc_rules.fab_exchange.pack.holes import holes_table
from drc_rules.stackup_design.stackup_fixes import tg_steps
from stackup_lib.board.board import Board
from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.materials import TgMethod, catalogue
from stackup_lib.synthesis import CandidateStackup, Goals, TgLimit
from tests.support.mini import mini_file
from tests.support.small_boards.drilled import context, via
from tests.support.synthesis_goals import candidate

FIRST = ["F.Cu", "In1.Cu"]


def test_lasered_holes_are_counted_apart_where_the_caller_asks_for_the_laser(tmp_path: Path) -> None:
    """A through via, KiCad's microvia, blind vias of 0.15 and 0.2 mm over one dielectric, and one of 0.15 over two."""
    board = context(
        tmp_path,
        vias=[
            via(10),
            via(12, kind="micro", span=FIRST, drill_mm=0.1, size_mm=0.25),
            via(14, kind="blind", span=FIRST, drill_mm=0.15, size_mm=0.35),
            via(16, kind="blind", span=FIRST, drill_mm=0.2),
            via(18, kind="blind", span=["F.Cu", "In2.Cu"], drill_mm=0.15, size_mm=0.35),
        ],
    ).board

    def spots(*, by_laser: bool) -> dict[str, list[float]]:
        x_mm = board.vias.x_mm - board.vias.x_mm.min() + 10
        return {one.noun: sorted(x_mm[one.vias].round(6).tolist()) for one in hole_sets(board, by_laser=by_laser)}

    assert spots(by_laser=False) == {"hole": [10, 14, 16, 18], "microvia": [12]}
    assert spots(by_laser=True) == {"hole": [10, 16, 18], "microvia": [12, 14]}


def test_rings_are_the_narrower_side_and_plated_pins_count_among_the_drilled(tmp_path: Path) -> None:
    """Vias of 0.45 mm over 0.2; pins of 1.6 x 1.2 mm over 0.8; screw holes have no ring and no copper."""
    pads = [
        {"number": "1", "net": "/A", "kind": "through", "size_mm": [1.6, 1.2], "drill_mm": 0.8, "shape": "oval"},
        {"number": "2", "net": "/B", "kind": "through", "at_mm": [5, 0], "size_mm": [1.2, 1.6], "drill_mm": 0.8},
        {"number": "3", "net": "/B", "at_mm": [8, 0]},
        {"number": "", "kind": "non_plated", "at_mm": [12, 0], "size_mm": [3, 3], "drill_mm": 3.0, "shape": "circle"},
    ]
    part = {"reference": "J1", "at_mm": [10, 30], "pads": pads}
    micro = via(20, kind="micro", span=FIRST, drill_mm=0.1, size_mm=0.3)
    holes, lasered = hole_sets(context(tmp_path, vias=[via(10), via(12), micro], parts=[part]).board)

    assert holes.drill_mm == pytest.approx([0.2, 0.2, 0.8, 0.8])
    assert holes.ring_mm == pytest.approx([0.125, 0.125, 0.2, 0.2])
    assert (lasered.noun, len(lasered.pads)) == ("microvia", 0)
    assert lasered.ring_mm == pytest.approx([0.1])
    assert lasered.drilled_mm == pytest.approx([0.1])
    assert np.all(holes.drilled_mm > holes.drill_mm)
    assert holes.counted(np.array([0, 2, 3])) == "1 of 2 vias and 2 plated holes"
    assert holes.counted(np.array([0, 1, 2])) == "2 vias and 1 of 2 plated holes"
    assert lasered.counted(np.array([0])) == "1 microvia"


def with_stack(folder: Path, drill_mm: float, inner_mm: float, *, is_custom: bool, **table: object) -> Board:
    """A plated pad of 2 mm at (30, 20) of a board of four layers, round and of `inner_mm` on inner layers."""
    area = {"area_mm": [[-1, -1], [1.2, -1], [1.2, 1], [-1, 1]]} if is_custom else {"shape": "circle"}
    pad = {"number": "1", "net": "/A", "kind": "through", "size_mm": [2, 2], "drill_mm": drill_mm, **area}
    part = {"reference": "J1", "at_mm": [30, 20], "pads": [pad]}
    path = mini_file(folder, {"size_mm": [60, 40], "copper_layers": 4, "parts": [part], **table})
    stack = (
        f'(padstack (mode front_inner_back) (layer "Inner" (shape circle) (size {inner_mm} {inner_mm}))'
        ' (layer "B.Cu" (shape circle) (size 2 2))) (remove_unused_layers no)'
    )
    text = path.read_text(encoding="utf-8")
    assert text.count("(remove_unused_layers no)") == 1
    path.write_text(text.replace("(remove_unused_layers no)", stack), encoding="utf-8")
    return read_board(path)


@pytest.mark.parametrize(
    ("drill_mm", "inner_mm", "ring_mm"), [(0.9, 1.0, 0.05), (0.96, 1.0, 0.02), (0.9, 1.6, 0.35), (0.9, 2.4, 0.55)]
)
@pytest.mark.parametrize("is_custom", [True, False])
def test_the_ring_of_a_pad_with_other_shapes_inside_is_the_least_of_them(
    tmp_path: Path, drill_mm: float, inner_mm: float, ring_mm: float, *, is_custom: bool
) -> None:
    """Half of what the smaller of 2 mm outside and the circle inside is wider than the hole, to the last figure."""
    (holes,) = hole_sets(with_stack(tmp_path, drill_mm, inner_mm, is_custom=is_custom))

    assert holes.ring_mm.tolist() == [ring_mm]


@pytest.mark.parametrize(("beside_mm", "is_short"), [(0.8, False), (0.5, True)])
def test_the_anchor_of_a_custom_pad_is_only_where_its_stack_has_it(
    tmp_path: Path, beside_mm: float, *, is_short: bool
) -> None:
    """A track of 0.2 mm on In1.Cu next to a circle of 0.9 mm there: 0.25 mm off, or 0.05 mm over its rim."""
    y = 20 + beside_mm
    tracks = [{"net": "/B", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[20, y], [40, y]]}]
    board = with_stack(tmp_path, 0.5, 0.9, is_custom=True, tracks=tracks)

    found = SpaceFinder(CopperMap(board), (0.3,) * 4, PostFills(CopperMap(board), 0.3, (0.3,) * 4))

    joined = [one.overlap_mm for one in found.drawn_shorts] + (-found.shorts(1).gap_mm).tolist()
    apart = found.on(1).gap_mm.tolist()
    assert joined == (pytest.approx([0.05], abs=1e-3) if is_short else [])
    assert apart == ([] if is_short else pytest.approx([0.25], abs=1e-3))


def test_a_placeholder_for_a_diameter_has_no_ring_and_is_asked_for(tmp_path: Path) -> None:
    """One via of three says 0.049 mm, which nothing drills; 0.05 mm is treated as meant."""
    board = context(tmp_path, vias=[via(10), via(12, drill_mm=0.049, size_mm=0.4), via(14, drill_mm=0.05)]).board
    (holes,) = hole_sets(board)

    assert holes.is_sized.tolist() == [True, False, True]
    assert np.isnan(holes.ring_mm).tolist() == [False, True, False]
    with pytest.raises(MissingFact, match=r"hole diameter of 1 of 3 vias"):
        holes.need_diameters()


def test_the_places_of_a_finding_are_the_first_twenty_vias_before_pins(tmp_path: Path) -> None:
    """A via of /A and a pin of /B, each with net and position; of thirty vias twenty are listed."""
    pin = {"number": "1", "net": "/B", "kind": "through", "size_mm": [1.6, 1.6], "drill_mm": 0.8}
    board = context(
        tmp_path,
        vias=[via(10), {"net": "/C", "at_mm": [12, 12], "grid": [29, 1]}],
        parts=[{"reference": "J1", "at_mm": [10, 30], "pads": [pin]}],
    ).board
    (holes,) = hole_sets(board)

    first, last = holes.places(board, np.array([0, 30]))
    many = holes.places(board, np.arange(31))

    assert (first.net, last.net) == ("/A", "/B")
    assert first.x_mm is not None and last.x_mm is not None and last.x_mm == pytest.approx(first.x_mm)
    assert first.y_mm is not None and last.y_mm is not None and last.y_mm == pytest.approx(first.y_mm + 20)
    assert (len(many), PLACES_SHOWN) == (20, 20)
    assert [place.net for place in many] == ["/A", *["/C"] * 19]


def test_the_sides_of_a_board_are_told_the_longer_first(tmp_path: Path) -> None:
    """60 x 40 mm, whichever way it lies; hundredths are kept."""
    assert sides_mm(context(tmp_path)) == pytest.approx((40, 60))
    assert describe((40.0, 60.254)) == "60.25 x 40 mm"


@pytest.mark.parametrize("x_mm,y_mm", [([], []), ([5.0, 5.0], [0.0, 40.0]), ([0.0, 60.0], [7.0, 7.0])])
def test_an_outline_without_area_is_a_missing_fact(x_mm: list[float], y_mm: list[float], tmp_path: Path) -> None:
    """Nothing drawn on Edge.Cuts, or one straight line."""
    ctx = context(tmp_path)
    outline = replace(ctx.board.outline, x_mm=np.array(x_mm), y_mm=np.array(y_mm))
    ctx.board = replace(ctx.board, outline=outline)

    with pytest.raises(MissingFact, match="the board's outline"):
        sides_mm(ctx)


# --- a higher Tg ---


def of(*families: str) -> CandidateStackup:
    """Four layers: 0.1 mm of prepreg, core and prepreg of these laminates."""
    whole = candidate("OGGO")
    names = iter(families)
    rows = [row if row.use else row.model_copy(update={"laminate": next(names)}) for row in whole.rows]
    return whole.model_copy(update={"rows": tuple(rows)})


def first_step(current: CandidateStackup, limit: TgLimit) -> tuple[CandidateStackup, str]:
    step = next(tg_steps(current, limit, Goals()))
    assert step.candidate is not None
    return step.candidate, step.words


@pytest.mark.parametrize(
    "family,limit",
    [
        ("370HR", TgLimit(min_c=180)),  # 180 C by DSC
        ("IT-968", TgLimit(min_c=190)),  # 190 C by TMA, compared as it is
        ("Megtron 6", TgLimit(min_c=185)),  # 185 C by DSC, 210 by DMA
        ("Megtron 6", TgLimit(min_c=210, method=TgMethod.DMA)),
    ],
)
def test_a_laminate_whose_tg_is_the_limit_stays(family: str, limit: TgLimit) -> None:
    """Nothing is swapped, and nothing is reported; without a limit neither."""
    current = of(family, family, family)

    assert not list(tg_steps(current, limit, Goals()))
    assert not list(tg_steps(current, None, Goals()))


@pytest.mark.parametrize(
    "low,limit",
    [
        ("370HR", TgLimit(min_c=181)),
        ("Megtron 6", TgLimit(min_c=186)),  # its 210 C by DMA is another thing
        ("IT-968", TgLimit(min_c=150, method=TgMethod.DMA)),  # TMA stands in for DSC, not for DMA
        ("FR4", TgLimit(min_c=150)),  # of no known Tg
        ("", TgLimit(min_c=150)),  # an unknown laminate
    ],
)
def test_a_row_of_too_low_or_unknown_tg_is_swapped_for_one_as_thick(low: str, limit: TgLimit) -> None:
    """Only that row, for one family of enough Tg by the same method, within 12 % of its thickness."""
    current = of(low, low, low)

    lifted, words = first_step(current, limit)

    families = {row.laminate for row in lifted.dielectrics}
    (family,) = families
    laminate = catalogue().get(family)
    assert laminate is not None
    assert max(tg.value_c for tg in laminate.tg if tg.method is not TgMethod.UNSTATED) >= limit.min_c
    assert words == f"dielectric 1, dielectric 2 and dielectric 3 to {family}"
    assert [abs(row.thickness_mm / 0.1 - 1) <= 0.12 for row in lifted.dielectrics] == [True] * 3
    assert lifted.copper == current.copper


def test_a_family_that_the_stackup_holds_comes_before_a_cheaper_one() -> None:
    """FR408HR of 190 C is on both sides: the core of unknown Tg becomes FR408HR, not 370HR."""
    lifted, words = first_step(of("FR408HR", "FR4", "FR408HR"), TgLimit(min_c=170))

    assert [row.laminate for row in lifted.dielectrics] == ["FR408HR"] * 3
    assert words == "dielectric 2 to FR408HR"


def test_what_no_laminate_is_sold_for_stays_as_it_is() -> None:
    """No sold laminate has a Tg of 400 C."""
    assert not list(tg_steps(of("370HR", "370HR", "370HR"), TgLimit(min_c=400), Goals()))


def test_a_laminate_that_the_user_excludes_is_not_put_in_for_its_tg() -> None:
    """370HR is the cheapest for 170 C; without it, or where another is the only one allowed, it is no fix."""
    current, limit = of("FR4", "FR4", "FR4"), TgLimit(min_c=170)
    families = [step.words.rpartition(" to ")[2] for step in tg_steps(current, limit, Goals())]
    assert "370HR" in families
    without = [step.words for step in tg_steps(current, limit, Goals(excluded_laminates=("370HR",)))]
    assert without
    assert not any(words.endswith("370HR") for words in without)
    (one,) = tg_steps(current, limit, Goals(laminates=(families[-1],)))
    assert one.words.endswith(families[-1])


def test_a_via_of_almost_no_drill_is_not_one_of_none(tmp_path: Path) -> None:
    """0.00001 mm stood in the fab's table as 0; 0.2004 mm is 0.2 there."""
    made = context(tmp_path, vias=[via(10, drill_mm=1e-5), via(12, drill_mm=0.2004), via(14, drill_mm=0.2)])
    found = {row[4]: row[7] for row in holes_table(made).rows}

    assert found == {"1e-05": "1", "0.2": "2"}
