"""Vias as rules see them: residual stubs, groups, the fab's table, build-ups, single defects in a fit board."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
import shapely.affinity

from drc_rules.analysis.stackup.facts_of_board import board_facts
from drc_rules.analysis.via.backdrill_table import backdrill_table
from drc_rules.analysis.via.high_speed_vias import grouped_stubs
from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import Verdict
from drc_rules.rules.via._drilled_pads import to_copper_mm
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.vias.build_ups import bgas, build_ups
from stackup_lib.vias.plated_holes import (
    Backdrill,
    PlatedHole,
    Stub,
    copper_faces_mm,
    drill_from,
    plated_holes,
    residual_mm,
)
from stackup_lib.vias.stub_resonance import resonance_ghz
from tests.support.boards import BOARDS, board_file
from tests.support.mini import mini_board, mini_file
from tests.support.stackups import SIX_LAYERS

PCIE5 = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'


def context(folder: Path, **board: object) -> Context:
    """A board of six layers, 1.24 mm thick, complete for its test."""
    text = {"size_mm": (60, 40), "stackup": SIX_LAYERS, "planes": {"In3.Cu": "GND"}, **board}
    path = mini_file(folder, text)
    return prepare(read_board(path), find_config(path, None), Overrides())[0]


def pair(layer: str, **via: object) -> dict[str, object]:
    """A PCIe pair that comes in on F.Cu and leaves on another layer, with its vias 1 mm apart."""
    nets = [("/PCIE_TX0_P", 10.0), ("/PCIE_TX0_N", 11.0)]
    tracks = [{"net": n, "layer": "F.Cu", "path_mm": [[5, y], [20, y]]} for n, y in nets]
    tracks += [{"net": n, "layer": layer, "path_mm": [[20, y], [50, y]]} for n, y in nets]
    return {"tracks": tracks, "vias": [{"net": n, "at_mm": [20, y], **via} for n, y in nets], "config": PCIE5}


def hole(**fields: object) -> PlatedHole:
    usual: dict[str, object] = {"net": 1, "x_mm": 0.0, "y_mm": 0.0, "uuid": "", "is_via": True, "top": 0, "bottom": 5}
    return PlatedHole(**{**usual, "drill_mm": 0.2, "used": (0, 1), "backdrills": (), **fields})  # type: ignore[arg-type]


FACES = ((0.0, 0.03), (0.13, 0.15), (0.35, 0.37), (0.67, 0.69), (1.09, 1.11), (1.21, 1.24))


def test_faces_of_the_copper_add_up(tmp_path: Path) -> None:
    """Upper and lower face of each layer."""
    stackup = context(tmp_path).board.stackup
    assert stackup is not None

    assert copper_faces_mm(stackup) == tuple(pytest.approx(pair_) for pair_ in FACES)


def test_a_drill_leaves_at_most_what_reaches_up_to_the_layer_that_it_must_cut() -> None:
    """In1 is used, In3 must be cut: between In1's lower face and In3's upper one 0.52 mm; at best 0.2 up to In2."""
    stub = Stub(hole(), side=5, first=1, length_mm=1.1)

    left = residual_mm(stub, Backdrill(5, 3), FACES)

    assert (left.low, left.nominal, left.high) == pytest.approx((0.22, 0.37, 0.52))


def test_a_drill_to_the_next_layer_leaves_half_the_dielectric() -> None:
    """0.2 mm of core between In1 and In2: 0 to 0.2, nominally 0.1; the same from above."""
    below = residual_mm(Stub(hole(), side=5, first=1, length_mm=1.1), Backdrill(5, 2), FACES)
    above = residual_mm(Stub(hole(used=(2, 5)), side=0, first=2, length_mm=0.36), Backdrill(0, 1), FACES)

    assert (below.low, below.nominal, below.high) == pytest.approx((0.0, 0.1, 0.2))
    assert (above.low, above.nominal, above.high) == pytest.approx((0.0, 0.1, 0.2))


def test_an_undrilled_stub_varies_with_the_board_and_a_drill_past_the_signal_leaves_none() -> None:
    """10 % either way; nothing."""
    stub = Stub(hole(), side=5, first=1, length_mm=1.0)

    assert residual_mm(stub, None, FACES).low == pytest.approx(0.9)
    assert residual_mm(stub, Backdrill(5, 1), FACES).high == 0.0


def test_the_deeper_of_two_drills_of_the_file_from_one_side_counts() -> None:
    """KiCad's tertiary drill may come from the same side as the backdrill; one from the other side does nothing."""
    assert drill_from(5, (Backdrill(5, 4), Backdrill(5, 2), Backdrill(0, 0)), (), 0.2) == Backdrill(5, 2)
    assert drill_from(5, (Backdrill(0, 0),), (), 0.2) is None


@pytest.mark.parametrize(
    ("own", "declared", "counts"),
    [
        ([Backdrill(5, 4)], [Backdrill(5, 2)], Backdrill(5, 4)),
        ([Backdrill(5, 2)], [Backdrill(5, 4)], Backdrill(5, 4)),
        ([], [Backdrill(5, 2), Backdrill(5, 3)], Backdrill(5, 3)),
        ([Backdrill(5, 4), Backdrill(5, 2)], [Backdrill(5, 3)], Backdrill(5, 3)),
        ([Backdrill(0, 1)], [Backdrill(5, 2)], Backdrill(5, 2)),
        ([Backdrill(5, 4, 0.2)], [Backdrill(5, 2)], Backdrill(5, 2)),
        ([Backdrill(5, 2)], [], Backdrill(5, 2)),
    ],
)
def test_where_file_and_settings_disagree_the_shallower_drill_counts(
    own: list[Backdrill], declared: list[Backdrill], counts: Backdrill
) -> None:
    """What passes with it passes with the other; one that cuts no plating, or from the other side, is none."""
    assert drill_from(5, own, declared, 0.2) == counts


def test_layers_in_use_are_the_same_whether_nets_are_asked_one_by_one_or_together(tmp_path: Path) -> None:
    """The columns are searched once for all nets; the answer is that of each."""
    ctx = context(tmp_path, **pair("In2.Cu"), zones=[{"net": "GND", "layer": "B.Cu", "rect_mm": [1, 1, 59, 39]}])
    nets = np.arange(len(ctx.board.nets))

    together = plated_holes(ctx.board, nets)
    one_by_one = [one for net in nets.tolist() for one in plated_holes(ctx.board, np.array([net]))]

    assert list(together) == one_by_one
    assert [one.used for one in together] == [(0, 2), (0, 2)]


def test_a_fill_uses_a_hole_only_where_it_touches_its_pad_or_without_a_pad_its_barrel(tmp_path: Path) -> None:
    """Its edge 0.2 mm from the middle is within the pad of 0.45 mm and outside of the drill of 0.2 mm."""
    at = {"net": "/A"}
    ctx = context(
        tmp_path,
        tracks=[{**at, "layer": "F.Cu", "path_mm": [[5, 10], [50, 10]]}],
        vias=[
            {**at, "at_mm": [20, 10]},
            {**at, "at_mm": [30, 10]},
            {**at, "at_mm": [40, 10], "remove_unused": True},
            {**at, "at_mm": [50, 10], "remove_unused": True},
        ],
        zones=[
            {**at, "layer": "In2.Cu", "rect_mm": [20.2, 5, 24, 15]},
            {**at, "layer": "In2.Cu", "rect_mm": [30.3, 5, 34, 15]},
            {**at, "layer": "In2.Cu", "rect_mm": [40.2, 5, 44, 15]},
            {**at, "layer": "In2.Cu", "rect_mm": [50.05, 5, 54, 15]},
            {**at, "layer": "B.Cu", "rect_mm": [40.2, 5, 44, 15]},
        ],
    )

    holes = plated_holes(ctx.board, np.arange(len(ctx.board.nets)))

    assert [(hole.x_mm - 50, hole.used) for hole in sorted(holes, key=lambda hole: hole.x_mm)] == [
        (20, (0, 2)),
        (30, (0,)),
        (40, (0, 5)),  # the end keeps its pad
        (50, (0, 2)),
    ]


def test_a_plated_pad_is_used_by_a_fill_at_its_narrow_side_only_when_it_touches(tmp_path: Path) -> None:
    """0.9 by 1.7 mm: 0.5 mm next to the middle no fill touches it, though that is within half its length."""
    pad = {"net": "/A", "kind": "through", "shape": "oval", "size_mm": [0.9, 1.7], "drill_mm": 0.5}
    ctx = context(
        tmp_path,
        parts=[
            {"reference": "J1", "at_mm": [20, 10], "pads": [{"number": "1", **pad}]},
            {"reference": "J2", "at_mm": [40, 10], "pads": [{"number": "1", **pad}]},
        ],
        zones=[
            {"net": "/A", "layer": "In2.Cu", "rect_mm": [20.5, 5, 24, 15]},
            {"net": "/A", "layer": "In2.Cu", "rect_mm": [40.4, 5, 44, 15]},
        ],
    )

    holes = plated_holes(ctx.board, np.arange(len(ctx.board.nets)))

    assert {hole.x_mm - 50: hole.used for hole in holes} == {20: (), 40: (0, 2)}


def test_vias_used_alike_make_one_group_with_the_distance_of_the_pair(tmp_path: Path) -> None:
    """Both vias of the pair, 1 mm apart, stub from In2 to B.Cu; the zone keeps 0.25 mm round pads of 0.45 mm."""
    groups = context(tmp_path, **pair("In2.Cu")).get(grouped_stubs)

    assert len(groups) == 1
    assert len(groups[0].holes) == 2
    assert groups[0].partner_mm == 1.0
    assert groups[0].shape.barrel_mm == pytest.approx(0.3)
    assert groups[0].shape.antipad_mm == pytest.approx(0.95)


def test_the_table_proposes_a_drill_and_the_layer_that_needs_none(tmp_path: Path) -> None:
    """Leaving on In1, 1.1 mm hang below. From In4 0.14 mm would: 290 GHz bare, above 48 GHz whatever loads it."""
    table = backdrill_table(context(tmp_path, **pair("In1.Cu")))

    assert table.missing == ()
    assert len(table.rows) == 1
    row = table.rows[0]
    assert (row.start, row.must_cut, row.must_not_cut) == ("B.Cu", "In2.Cu", "In1.Cu")
    assert (row.holes, row.nets) == (2, ("/PCIE_TX0_N", "/PCIE_TX0_P"))
    assert row.is_proposed
    assert row.drill_mm is None
    # From B.Cu's outer face at 1.24 through In2 (0.35), short of In1's lower face (0.15).
    assert (row.depth_mm.low, row.depth_mm.high) == pytest.approx((0.89, 1.09))
    assert row.residual_mm.high == pytest.approx(0.2)
    assert row.exit_instead == "In4.Cu"
    assert resonance_ghz(0.14 * 1.1 + 0.075, 3.4 * 2.5) > 3 * 16


@pytest.mark.parametrize(("value", "drilled"), [("Slot", []), ("Press-Fit plug", ["/PCIE_TX0_N", "/PCIE_TX0_P"])])
def test_only_pins_that_are_pressed_in_are_proposed_to_be_drilled(
    tmp_path: Path, value: str, drilled: list[str]
) -> None:
    """A soldered pin goes through the whole board, whatever is drilled around it."""
    nets = [("/PCIE_TX0_P", 10.0), ("/PCIE_TX0_N", 11.0)]
    tracks = [{"net": n, "layer": "F.Cu", "path_mm": [[5, y], [20, y]]} for n, y in nets]
    pads = [
        {"number": n[-1], "net": n, "at_mm": [0, y - 10], "kind": "through", "drill_mm": 0.4, "size_mm": [0.7, 0.7]}
        for n, y in nets
    ]
    parts = [{"reference": "J1", "value": value, "at_mm": [20, 10], "pads": pads}]
    table = backdrill_table(context(tmp_path, tracks=tracks, parts=parts, config=PCIE5))
    assert [net for row in table.rows for net in row.nets] == drilled


def test_the_table_lists_what_the_file_asks_for(tmp_path: Path) -> None:
    """A native drill of 0.5 mm to In3: at most 0.52 mm are left, and nothing is proposed in addition."""
    drill = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}
    table = backdrill_table(context(tmp_path, **pair("In1.Cu", backdrill=drill)))

    assert [(r.must_cut, r.drill_mm, r.holes, r.is_proposed) for r in table.rows] == [("In3.Cu", 0.5, 2, False)]
    assert table.rows[0].residual_mm.high == pytest.approx(0.52)
    assert table.rows[0].exit_instead == "In4.Cu"  # as above, undrilled


def test_a_depth_group_is_told_the_layer_that_serves_all_of_its_holes(tmp_path: Path) -> None:
    """PCIe Gen3 could leave higher up than Gen5 with the same drill: the lower layer serves both."""
    drill = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In2.Cu"}
    both = pair("In1.Cu", backdrill=drill)
    slow = "/PCIE_TX0_N"
    config = (
        '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_TX0_P"]\n[[interface]]\nis = "pcie3"\nnets = ["/PCIE_TX0_N"]\n'
    )
    (row,) = backdrill_table(context(tmp_path / "a", **{**both, "config": config})).rows
    tracks = [t for t in both["tracks"] if t["net"] == slow]  # type: ignore[attr-defined]
    vias = [v for v in both["vias"] if v["net"] == slow]  # type: ignore[attr-defined]
    (alone,) = backdrill_table(context(tmp_path / "b", tracks=tracks, vias=vias, config=config)).rows

    assert row.exit_instead == "In4.Cu"
    assert alone.exit_instead == "In2.Cu"  # 0.9 mm of stub: 51 GHz bare, above 12 GHz whatever loads it


def test_the_table_measures_a_drill_from_the_front_downwards(tmp_path: Path) -> None:
    """A connector below, the signal on In2: through In1's lower face at 0.15, short of In2 at 0.35."""
    board = pair("In2.Cu")
    tracks = [{**t, "layer": "B.Cu"} if t["layer"] == "F.Cu" else t for t in board["tracks"]]  # type: ignore[attr-defined]
    drill = {"size_mm": 0.5, "from": "F.Cu", "must_cut": "In1.Cu"}
    vias = [{**v, "backdrill": drill} for v in board["vias"]]  # type: ignore[attr-defined]
    row = backdrill_table(context(tmp_path, **{**board, "tracks": tracks, "vias": vias})).rows[0]

    assert (row.start, row.must_not_cut) == ("F.Cu", "In2.Cu")
    assert (row.depth_mm.low, row.depth_mm.nominal, row.depth_mm.high) == pytest.approx((0.15, 0.25, 0.35))


def test_the_table_is_empty_where_nothing_needs_a_drill_and_says_what_is_missing(tmp_path: Path) -> None:
    """A pair on the outer layers; a pair without a stackup."""
    assert backdrill_table(context(tmp_path / "a", **pair("B.Cu"))).rows == ()
    unknown = context(tmp_path / "b", **{**pair("In1.Cu"), "stackup": "default", "copper_layers": 6})
    assert [m.fact for m in backdrill_table(unknown).missing] == [
        "the stackup (the file holds KiCad's untouched default)"
    ]
    drill = {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In3.Cu"}
    board = {**pair("In1.Cu", backdrill=drill), "stackup": "default", "copper_layers": 6}
    with pytest.raises(MissingFact, match="stackup"):
        backdrill_table(context(tmp_path / "c", **board))


def micro(top: str, bottom: str, x_mm: float, kind: str = "micro") -> dict[str, object]:
    return {"net": "GND", "at_mm": [x_mm, 30], "kind": kind, "drill_mm": 0.15, "size_mm": 0.3, "span": [top, bottom]}


@pytest.mark.parametrize(
    ("spans", "name", "cycles", "levels"),
    [
        ([], "through vias", 1, []),
        ([("F.Cu", "In1.Cu", 10)], "1-N-1", 2, []),
        ([("F.Cu", "In1.Cu", 10), ("In1.Cu", "In2.Cu", 10), ("In4.Cu", "B.Cu", 10)], "2-N-2", 2, [2]),
        ([("F.Cu", "In2.Cu", 10)], "2-N-2", 1, []),
        ([("In2.Cu", "In3.Cu", 10)], "through vias", 1, []),
    ],
)
def test_build_ups_are_read_off_the_microvias(
    tmp_path: Path, spans: list[tuple[str, str, float]], name: str, cycles: int, levels: list[int]
) -> None:
    """Class, lamination cycles and stacks of a six-layer board; a hole between the two middle layers is the core's own.

    The core of 2-N-2 has two layers here, which a laminate maker has pressed; a skip via passes both levels at once.
    """
    found = build_ups(context(tmp_path, vias=[micro(*span) for span in spans]).board)

    assert (found.name, found.lamination_cycles) == (name, cycles)
    assert [stack.levels for stack in found.stacks] == levels


def test_a_blind_via_to_the_next_layer_is_lasered_and_a_deeper_one_is_not(tmp_path: Path) -> None:
    """KiCad's users call both blind."""
    shallow = context(tmp_path / "a", vias=[micro("F.Cu", "In1.Cu", 10, "blind")])
    deep = context(tmp_path / "b", vias=[micro("F.Cu", "In2.Cu", 10, "blind")])

    assert build_ups(shallow.board).name == "1-N-1"
    assert build_ups(deep.board).name == "through vias"


def grid_of_balls(step_mm: float, *, staggered: bool = False) -> list[dict[str, object]]:
    return [
        {
            "number": f"{i}x{j}",
            "net": f"/N{i}x{j}",
            "at_mm": [i * step_mm, j * step_mm],
            "size_mm": [0.3, 0.3],
            "shape": "circle",
        }
        for i in range(10)
        for j in range(10)
        if not staggered or (i + j) % 2 == 0
    ]


@pytest.mark.parametrize(("staggered", "pitch_mm"), [(False, 0.8), (True, 0.566)])
def test_the_pitch_of_a_ball_grid_is_the_distance_of_nearest_neighbours(
    tmp_path: Path, staggered: bool, pitch_mm: float
) -> None:
    """A square grid of 0.8 mm, and one with every second ball of a 0.4 mm grid (0.4 x sqrt 2)."""
    balls = grid_of_balls(0.4 if staggered else 0.8, staggered=staggered)
    found = bgas(context(tmp_path, parts=[{"reference": "U1", "at_mm": [20, 10], "pads": balls}]).board)

    assert [bga.balls for bga in found] == [len(balls)]
    assert found[0].pitch_mm == pytest.approx(pitch_mm, abs=1e-3)


def test_round_apertures_of_the_paste_are_no_balls(tmp_path: Path) -> None:
    """A transistor's thermal pad has its paste in a grid of round openings: they have no copper of their own."""
    board = context(tmp_path, parts=[{"reference": "Q1", "at_mm": [20, 10], "pads": grid_of_balls(0.8)}]).board
    path = tmp_path / "paste.kicad_pcb"
    assert board.path is not None
    text = board.path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(\(pad .*?\(layers )[^)]*\)", r'\1"F.Paste")', text, flags=re.DOTALL), encoding="utf-8")

    assert [len(bgas(one)) for one in (board, read_board(path))] == [1, 0]


def broken(folder: Path, pattern: str, replacement: str) -> set[str]:
    """Clauses that fail on the fit B200 board once the first match of a pattern is replaced."""
    shutil.copytree(BOARDS / "training_b200_fit", folder / "board")
    path = folder / "board" / "training_b200_fit.kicad_pcb"
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, replacement, text, count=1)
    assert count == 1
    path.write_text(changed, encoding="utf-8")
    return {v.clause.id for v in check_board(path).verdicts if v.has_rule and v.verdict is Verdict.FAILED}


def fit() -> set[str]:
    path = board_file("training_b200_fit")
    return {v.clause.id for v in check_board(path).verdicts if v.has_rule and v.verdict is Verdict.FAILED}


BACKDRILL = r"\(backdrill\s+\(size ([\d.]+)\)\s+\(layers \"B.Cu\" \"(In\d+).Cu\"\)\s*\)"


@pytest.mark.slow
def test_one_backdrill_taken_away_turns_the_clauses_about_stubs_and_skew_and_no_other(tmp_path: Path) -> None:
    """The via then keeps some 3 mm of barrel, which resonates below Nyquist; what it takes of the share is not sure.

    Its capacitance delays one half of the pair by 21 ps, the other half's stub is drilled away.
    """
    turned = broken(tmp_path, BACKDRILL, "") ^ fit()

    assert turned == {
        "board.pair.skew",
        "board.via.stub_resonance",
        "board.via.stub_resonance_worst",
        "board.via.stub_ten_times",
        "training.backdrill.pcie6",
    }
    path = tmp_path / "board" / "training_b200_fit.kicad_pcb"
    (share,) = [v for v in check_board(path).verdicts if v.clause.id == "board.loss.share"]
    assert share.verdict is Verdict.NOT_VERIFIABLE
    assert "backdrill the stubs" in share.missing[0].how_to_give


@pytest.mark.slow
def test_one_backdrill_that_goes_through_everything_is_an_open_net(tmp_path: Path) -> None:
    """Its must-cut layer set to F.Cu."""
    turned = broken(tmp_path, BACKDRILL, r'(backdrill (size \1) (layers "B.Cu" "F.Cu"))') ^ fit()

    assert "board.via.backdrill_spares_used" in turned
    assert all(".via.backdrill" in clause or clause.startswith("training.backdrill") for clause in turned), turned


@pytest.mark.slow
def test_one_narrow_backdrill_turns_only_the_clause_about_its_size(tmp_path: Path) -> None:
    """0.3 mm in a 0.25 mm hole."""
    turned = broken(tmp_path, BACKDRILL, r'(backdrill (size 0.3) (layers "B.Cu" "\2.Cu"))') ^ fit()

    assert turned == {"board.via.backdrill_size"}


# --- the head of a report --------------------------------------------------------------------------------------------


def test_the_facts_of_a_board_state_class_presses_and_the_pitch_of_its_bgas_whatever_the_profile(
    tmp_path: Path,
) -> None:
    """One press for the core and one for each of the two build-ups; a pitch of 0.4 mm usually takes them."""
    balls = [(i, j) for i in range(6) for j in range(6)]
    pads = [
        {"number": f"{i}-{j}", "at_mm": [i * 0.4, j * 0.4], "size_mm": [0.2, 0.2], "shape": "circle"} for i, j in balls
    ]
    micro = {"net": "/A", "at_mm": [20, 10], "drill_mm": 0.1, "size_mm": 0.25, "kind": "micro"}
    vias = [{**micro, "span": ["F.Cu", "In1.Cu"]}, {**micro, "span": ["In1.Cu", "In2.Cu"]}]
    parts = [{"reference": "U7", "at_mm": [20, 10], "pads": pads}]

    facts = board_facts(context(tmp_path, vias=vias, parts=parts), "")

    assert (
        facts.lines[-1] == "hdi:     2-N-2, at least 2 lamination cycles, microvias stacked 2 high; "
        "BGA pitch: U7 0.4 mm (2-N-2 is usual)"
    )
    assert facts.build_up is not None
    assert (facts.build_up.hdi_class, facts.build_up.presses_at_least) == ("2-N-2", 2)
    assert facts.build_up.bgas[0].has_microvias


def test_the_letter_of_an_empty_layer_is_explained_where_there_is_one(tmp_path: Path) -> None:
    """Nothing is on the inner layers but for In3; a board with copper on every layer needs no such word."""
    track = {"net": "/A", "width_mm": 0.2, "path_mm": [[5, 5], [25, 5]]}
    full = [{**track, "layer": layer} for layer in ("F.Cu", "In1.Cu", "In2.Cu", "In4.Cu", "B.Cu")]

    some, all_used = (
        board_facts(context(tmp_path / str(len(tracks)), tracks=tracks), "").lines[2] for tracks in ([full[0]], full)
    )

    assert some == "layers:  S - - G - -  (S signal, G ground, P power, X both, - empty; from filled copper and tracks)"
    assert all_used == "layers:  S S S G S S  (S signal, G ground, P power, X both; from filled copper and tracks)"


def test_drilled_blind_vias_are_neither_hdi_nor_a_board_of_through_vias(tmp_path: Path) -> None:
    """From F.Cu to In3 no laser reaches: a sub-board is drilled first and pressed again."""
    vias = [{"net": "/A", "at_mm": [20, 10], "kind": "blind", "span": ["F.Cu", "In3.Cu"]}]

    line = board_facts(context(tmp_path, vias=vias), "").lines[-1]

    assert line == "hdi:     blind or buried vias, no microvias, at least 2 lamination cycles"


def test_the_ratio_that_opens_a_report_is_that_of_the_copper_without_mask(tmp_path: Path) -> None:
    """Drilled 0.2 mm through 1.24 mm of copper and laminate, as VIA004 counts, not through 20 um of mask a side."""
    masked = f"mask 0.02\n{SIX_LAYERS.strip()}\nmask 0.02\n"
    vias = [{"net": "/A", "at_mm": [20, 10], "drill_mm": 0.1, "size_mm": 0.3}]

    facts = board_facts(context(tmp_path, stackup=masked, vias=vias), "")

    assert facts.thickness_mm == pytest.approx(1.28)
    assert "; 6.2:1 at the smallest drill, 0.2 mm)" in facts.lines[4]


def test_a_blind_via_from_face_to_face_opens_a_report_as_a_through_via(tmp_path: Path) -> None:
    """KiCad keeps the kind of a via whose layers were changed; one that ends inside stays blind."""
    vias = [
        {"net": "/A", "at_mm": [20, 10], "kind": "blind", "span": ["F.Cu", "B.Cu"]},
        {"net": "/A", "at_mm": [20, 12], "kind": "blind", "span": ["F.Cu", "In3.Cu"]},
        {"net": "/A", "at_mm": [20, 14]},
    ]

    line = board_facts(context(tmp_path, vias=vias), "").lines[4]

    assert line.startswith("vias:    2 through, 1 blind (")


@pytest.mark.parametrize(("thickness_mm", "is_told"), [(7.78, False), (7.7, True)])
def test_a_default_that_grew_with_each_layer_has_no_ratio(thickness_mm: float, is_told: bool, tmp_path: Path) -> None:
    """7.78 mm of six layers are five times KiCad's core of 1.51 mm; 7.7 mm is the choice of a user."""
    vias = [{"net": "/A", "at_mm": [20, 10], "drill_mm": 0.3, "size_mm": 0.6}]

    facts = board_facts(context(tmp_path, stackup="default", copper_layers=6, thickness_mm=thickness_mm, vias=vias), "")

    assert (":1 at the smallest drill" in facts.lines[4]) is is_told


def test_the_ratio_that_opens_a_report_is_that_of_the_rule(tmp_path: Path) -> None:
    """Holes count as drilled and in whole micrometres there: 0.208 mm through 1.24 mm is 6.0:1, not 5.9:1."""
    vias = [{"net": "/A", "at_mm": [20, 10], "drill_mm": 0.10845, "size_mm": 0.4}]

    facts = board_facts(context(tmp_path, stackup=SIX_LAYERS, vias=vias), "")

    assert "; 6.0:1 at the smallest drill, 0.208 mm)" in facts.lines[4]


def test_the_ratio_that_opens_a_report_heeds_pads_that_limit_the_drill(tmp_path: Path) -> None:
    """A pad of 0.3 mm leaves room for a drill of 0.2 mm: VIA004 says the same."""
    vias = [{"net": "/A", "at_mm": [20, 10], "drill_mm": 0.15, "size_mm": 0.3}]

    facts = board_facts(context(tmp_path, stackup=SIX_LAYERS, vias=vias), "")

    assert "; 6.2:1 at the smallest drill, 0.2 mm)" in facts.lines[4]


@pytest.mark.parametrize("shape", ["rect", "circle", "oval", "roundrect"])
@pytest.mark.parametrize("rotation_deg", [0.0, 30.0, 90.0, 200.0])
def test_the_distance_to_a_pad_is_that_to_its_outline(shape: str, rotation_deg: float, tmp_path: Path) -> None:
    """Outside and inside of pads of every shape, turned by KiCad's angle, against polygons of another library."""
    size_x, size_y = (1.2, 1.2) if shape == "circle" else (2.0, 1.2)
    pad = {"number": "1", "net": "/B", "shape": shape, "size_mm": [size_x, size_y]}
    subject = mini_board(tmp_path, {"parts": [{"reference": "C1", "at_mm": [5, 5], "pads": [pad]}]})
    turned = replace(subject, pads=replace(subject.pads, rotation_deg=np.array([rotation_deg])))
    corner = {"rect": 0.0, "roundrect": 0.3}.get(shape, 0.6)
    core = shapely.LineString([(-size_x / 2 + corner, 0), (size_x / 2 - corner, 0)])
    straight = shapely.box(corner - size_x / 2, corner - size_y / 2, size_x / 2 - corner, size_y / 2 - corner)
    outline = (core if corner == 0.6 else straight).buffer(corner, quad_segs=200)
    outline = shapely.affinity.rotate(outline, -rotation_deg, origin=(0, 0))  # y points down

    x, y = float(subject.pads.x_mm[0]), float(subject.pads.y_mm[0])
    for at in [(0.0, 0.1), (0.9, 0.5), (-1.4, 0.2), (1.1, 1.3), (0.3, -0.9)]:
        point = shapely.Point(at)
        expected = -outline.exterior.distance(point) if outline.contains(point) else outline.distance(point)
        assert to_copper_mm(turned, np.array([0]), x + at[0], y + at[1])[0] == pytest.approx(expected, abs=2e-5)
