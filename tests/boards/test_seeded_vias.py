"""Vias of KiCad's demo boards with one fact broken at a time: exactly the clauses turn that rest on it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import PadKind, ViaKind
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned

pytestmark = pytest.mark.demo

# A via of a PCIe pair of the Jetson AGX Thor carrier that leaves on In7, drilled from B.Cu up to In8.
VIA = ("00b7c370-27f7-4862-a4de-282d8df7d1e0",)
SETTINGS = '[[interface]]\nis = "pcie5"\nnet_classes = ["85Ohm-diff_PCIE"]\n'
DECLARED = '[[backdrill]]\nnets = ["/Expansion connector/PCIe_{C2x1}.TX0-"]\nfrom = "B.Cu"\nmust_cut = "In8.Cu"\n'


@functools.cache
def drilled(demos: Path) -> tuple[Case, dict[str, State]]:
    board = read_board(demos / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")
    case = Case(board, SETTINGS).backdrilled(VIA, size_mm=0.3, start="B.Cu", must_cut="In8.Cu")
    return case, case.states()


def pad_beside_the_drill(case: Case, *, layer: str, apart_mm: float) -> Case:
    """Move an unconnected surface pad of a layer, made 0.2 mm round, to the left of the drill's edge."""
    board = case.board
    (via,) = np.flatnonzero(case.via_rows(VIA)).tolist()
    only = np.uint64(1 << board.layer_index[layer])
    row = np.flatnonzero((board.pads.kind == PadKind.SMD) & (board.pads.layers == only) & (board.pads.net == 0))[0]
    columns = {"x_mm": board.vias.x_mm[via] - 0.15 - apart_mm - 0.1, "y_mm": board.vias.y_mm[via]}
    changed = {}
    for name, value in {**columns, "size_x_mm": 0.2, "size_y_mm": 0.2, "corner_mm": 0.1, "shape": "circle"}.items():
        changed[name] = getattr(board.pads, name).copy()
        changed[name][row] = value
    return case.with_board(pads=replace(board.pads, **changed))


NEAR_THE_PAD = {
    "board.fab.space": "failed",
    "board.fab.space_advanced": "failed",
    "board.fab.space_standard": "failed +1 -0",
}
"""0.1 mm from the drill is 0.025 mm from the via's pad, too near for any fab; a plane of 1 oz is too near as it is."""

SEEDS: dict[str, tuple[Callable[[Case], Case], dict[str, str]]] = {
    "a pad 0.1 mm beside the drill, where it enters": (
        lambda c: pad_beside_the_drill(c, layer="B.Cu", apart_mm=0.10),
        {
            "board.via.backdrill_clearance": "failed",
            "board.via.backdrill_clearance_advanced": "failed +1 -1",  # reported with the best fabs' from now on
            **NEAR_THE_PAD,
        },
    ),
    "a pad 0.18 mm beside the drill": (
        lambda c: pad_beside_the_drill(c, layer="B.Cu", apart_mm=0.18),
        {},
    ),
    "the same pad on the side that the drill does not reach": (
        lambda c: pad_beside_the_drill(c, layer="F.Cu", apart_mm=0.10),
        NEAR_THE_PAD,
    ),
    "a second drill is declared without a diameter": (
        lambda c: replace(c, config=c.config + DECLARED),
        {
            "board.via.backdrill_size": "not verifiable",
            "board.via.backdrill_clearance": "not verifiable",
            "board.via.backdrill_spares_used": "failed",  # one of the net's three vias leaves on B.Cu
        },
    ),
}


def test_the_drill_that_is_broken_is_sound(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    states = drilled(demo_boards)[1]

    drills = {clause: verdict for clause, (verdict, _) in states.items() if clause.startswith("board.via.backdrill")}
    assert drills.pop("board.via.backdrill_clearance_advanced") == "failed"  # 0.175 mm to the ground on B.Cu
    assert drills.pop("board.via.backdrill_needed") != "failed"
    assert set(drills.values()) == {"passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_beside_a_drill_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = drilled(demo_boards)
    edit, turns = SEEDS[name]

    assert turned(before, edit(case).states()) == turns


# The CM5 carrier: six layers, 0.0994 mm of prepreg outside, and 444 vias of 0.45 mm drilled 0.3 mm, all through. These
# are ground vias with nothing but ground within 2 mm. None of its nets is given an interface.
ALONE = (
    "2d164f70-2fe9-4871-bd6c-820a027cb874",
    "87360e6d-47bf-45a0-87df-f37d826cba26",
    "4edc9250-281b-4a91-8a7d-9b741acde808",
    "6288a5fe-2d91-46cf-8425-82466d0ca23a",
    "a5fc5ccc-4236-49df-b9de-4927bcfed961",
)
CM5_SETTINGS = 'profile = "training"\n'
OUTSIDE_IN = "F.Cu", "In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu", "B.Cu"
ASPECT_RATIOS = "board.via.aspect_ratio", "board.via.aspect_ratio_advanced", "board.via.aspect_ratio_standard"


def spanning(
    case: Case,
    kind: ViaKind,
    *spans: tuple[str, str],
    uuids: tuple[str, ...] = ALONE,
    drill_mm: float = 0.3,
    apart_mm: float | None = None,
) -> Case:
    """Give some of these vias another kind and span each; `apart_mm` puts each at that distance from the one before."""
    vias, layers = case.board.vias, case.board.layer_index
    names = ("x_mm", "y_mm", "size_mm", "drill_mm", "kind", "start_layer", "end_layer", "pad_size_mm")
    new = {name: getattr(vias, name).copy() for name in names}
    for uuid, (start, end) in zip(uuids, spans, strict=False):
        (row,) = np.flatnonzero(case.via_rows((uuid,))).tolist()
        first, last = layers[start], layers[end]
        new["kind"][row], new["start_layer"][row], new["end_layer"][row] = kind, first, last
        new["drill_mm"][row], new["size_mm"][row] = drill_mm, drill_mm + 0.2
        new["pad_size_mm"][row] = np.nan
        new["pad_size_mm"][row, first : last + 1] = drill_mm + 0.2
        if apart_mm is not None:
            (first_row,) = np.flatnonzero(case.via_rows(uuids[:1])).tolist()
            new["x_mm"][row] = vias.x_mm[first_row] + apart_mm * uuids.index(uuid)
            new["y_mm"][row] = vias.y_mm[first_row]
    return case.with_board(vias=replace(vias, **new))


def levels(count: int) -> tuple[tuple[str, str], ...]:
    """The spans of as many microvias from F.Cu down."""
    return tuple(pairwise(OUTSIDE_IN))[:count]


MICROVIAS = {
    "board.via.microvia_span": "passed",
    "board.via.spans": "passed",
    "board.via.lamination_cycles": "passed",
    "board.stackup.via_ends": "passed",
    "training.hdi": "passed",
    "training.microvia_stack.max": "passed",
    "training.microvia_stack.preferred": "passed",
}
"""What begins to apply with the first microvia."""

CROSSED = {
    "board.via.spans": "failed",
    "board.via.lamination_cycles": "not verifiable",
    "board.stackup.via_ends": "failed",
}
NESTED = {
    "board.via.spans": "passed",
    "board.via.lamination_cycles": "passed",
    "board.stackup.via_ends": "passed",
}
STACKED = {
    **MICROVIAS,
    **dict.fromkeys(ASPECT_RATIOS, "failed"),
    "board.stackup.via_ends": "failed",
    "board.via.microvia_stagger": "passed",
}
"""The second microvia is 0.5 mm deep, and the third one between two cores; each continues the one before."""

SPANS: dict[str, tuple[Callable[[Case], Case], dict[str, str]]] = {
    "a blind via and a buried one that cross": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "In2.Cu"), ("In1.Cu", "In3.Cu")),
        CROSSED,  # In3 is the upper side of the core below it, too
    ),
    "the same from the other side": (
        lambda c: spanning(c, ViaKind.BLIND, ("In3.Cu", "B.Cu"), ("In2.Cu", "In4.Cu")),
        CROSSED,
    ),
    "a buried via within a blind one": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "In4.Cu"), ("In1.Cu", "In2.Cu")),
        NESTED,
    ),
    "two blind vias that do not meet": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "In2.Cu"), ("In3.Cu", "B.Cu")),
        NESTED,
    ),
    "a blind via to the upper side of a core": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "In3.Cu")),
        {**NESTED, "board.stackup.via_ends": "failed"},
    ),
    "a blind via to a core, no deeper than wide": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "In1.Cu")),
        NESTED,
    ),
    "a buried via through the prepreg between two cores": (
        lambda c: spanning(c, ViaKind.BURIED, ("In2.Cu", "In3.Cu")),
        {**NESTED, "board.stackup.via_ends": "failed"},
    ),
    "a microvia as wide as it is deep": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(1), drill_mm=0.1),
        # 0.0994 mm deep: 0.8:1 is what advanced fabs plate
        {**MICROVIAS, **dict.fromkeys(ASPECT_RATIOS[1:], "failed")},
    ),
    "a microvia of 0.15 mm": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(1), drill_mm=0.15),
        MICROVIAS,
    ),
    "three microvias on one another": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(3), drill_mm=0.1, apart_mm=0.0),
        {**STACKED, "training.microvia_stack.preferred": "failed"},  # two levels are
    ),
    "five microvias on one another": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(5), drill_mm=0.1, apart_mm=0.0),
        {
            **STACKED,
            **dict.fromkeys(("training.microvia_stack.preferred", "training.microvia_stack.max"), "failed"),
            "board.copper.foil_weight": "not applicable",  # every layer is plated now
        },
    ),
    "two microvias half on one another": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(2), drill_mm=0.15, apart_mm=0.2),
        # pads of 0.35 mm; the second microvia is 0.5 mm deep
        {**MICROVIAS, **dict.fromkeys(ASPECT_RATIOS, "failed"), "board.via.microvia_stagger": "failed"},
    ),
    "a microvia on a buried via": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(2), drill_mm=0.3, apart_mm=0.0).with_vias(
            ALONE[1:2], kind=ViaKind.BURIED
        ),
        {**MICROVIAS, "board.via.microvia_on_drilled": "failed"},
    ),
    "a microvia beside a buried via": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(2), drill_mm=0.3, apart_mm=0.6).with_vias(
            ALONE[1:2], kind=ViaKind.BURIED
        ),
        {**MICROVIAS, "board.via.microvia_on_drilled": "passed"},
    ),
    "the same five at places of their own": (
        lambda c: spanning(c, ViaKind.MICRO, *levels(5), drill_mm=0.1),
        {**STACKED, "board.copper.foil_weight": "not applicable"},
    ),
    "a microvia through two dielectrics": (
        lambda c: spanning(c, ViaKind.MICRO, ("F.Cu", "In2.Cu"), drill_mm=0.1),
        {**MICROVIAS, **dict.fromkeys(ASPECT_RATIOS, "failed")},
    ),
    "a microvia through three": (
        lambda c: spanning(c, ViaKind.MICRO, ("F.Cu", "In3.Cu"), drill_mm=0.1),
        # no laser makes it: a hole that is drilled, too small for standard fabs, and no build-up
        {
            **{clause: "passed" for clause in MICROVIAS if not clause.startswith("training")},
            "board.via.microvia_span": "failed",
            "board.stackup.via_ends": "failed",
            "board.fab.hole_standard": "failed",
        },
    ),
    "a blind via that ends where it begins": (
        lambda c: spanning(c, ViaKind.BLIND, ("F.Cu", "F.Cu")),
        {**NESTED, "board.via.two_layers": "failed"},
    ),
}


@functools.cache
def cm5(demos: Path) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb"), CM5_SETTINGS)
    return case, case.states()


@pytest.mark.parametrize("name", SPANS)
def test_a_span_that_is_broken_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = cm5(demo_boards)
    edit, turns = SPANS[name]

    assert turned(before, edit(case).states()) == turns


# The RoyalBlue54L Feather: a module on 45 lands of 0.4 mm at 0.9 mm, with ground vias in its outer ones. KiCad 9 wrote
# the file: whether they are filled it does not say. The settings name no press-fit part.
FEATHER_SETTINGS = 'profile = "inference"\n'
FILLED = "board.via.open_via_in_pad"
GROUND_VIAS = (
    "35683439-55ae-4371-84e0-4c45baf62650",
    "460b38f8-538b-444f-aed9-659e67722ac9",
    "552aae55-7127-413c-9bb4-62601ae787f9",
    "64fbf118-ea71-490d-bf30-5e1f1024db63",
)
PACKAGES = ("In2.Cu", "In5.Cu"), ("In1.Cu", "In5.Cu"), ("In1.Cu", "In6.Cu"), ("F.Cu", "In6.Cu")
"""Each within the next: five presses with the whole board, four without the first, three without the first two."""
ORDERED = "[order]\npress_fit_tolerance_mm = {}\n"


def filled(case: Case, *, is_filled: bool, is_capped: bool) -> Case:
    """Say of every via whether it is filled and capped."""
    vias = case.board.vias
    of_all = np.ones(len(vias), dtype=np.int8)
    return case.with_board(vias=replace(vias, filled=of_all * is_filled, capped=of_all * is_capped))


def pressed(case: Case, settings: str = "") -> Case:
    """Make the first part a press-fit connector by its value."""
    parts = case.board.footprints
    value = np.array(parts.value, dtype=np.object_)
    value[0] = "Header press-fit"
    return replace(
        case.with_board(footprints=replace(parts, value=value.astype(np.str_))), config=case.config + settings
    )


def at_pitch(case: Case, pitch_mm: float, *, has_microvia: bool = False) -> Case:
    """Draw the module's lands at another pitch about its middle; with one of its ground vias as a microvia."""
    board = case.board
    (module,) = np.flatnonzero(board.footprints.value == "BM15x").tolist()
    is_land = board.pads.footprint == module
    new = {}
    for name in ("x_mm", "y_mm"):
        column = getattr(board.pads, name)
        middle = (column[is_land].min() + column[is_land].max()) / 2
        new[name] = np.where(is_land, middle + (column - middle) * pitch_mm / 0.9, column)
    vias = board.vias
    if has_microvia:
        kind, end = vias.kind.copy(), vias.end_layer.copy()
        x, y = (new[name][is_land].mean() for name in ("x_mm", "y_mm"))
        nearest = np.argmin(np.hypot(vias.x_mm - x, vias.y_mm - y))
        kind[nearest], end[nearest] = ViaKind.MICRO, 1
        vias = replace(vias, kind=kind, end_layer=end)
    return case.with_board(pads=replace(board.pads, **new), vias=vias)


NO_ROWS = {"board.via.spans": "passed", "board.stackup.via_ends": "not verifiable"}
"""The file has no stackup that says where cores are."""

LANDS: dict[str, tuple[Callable[[Case], Case], dict[str, str]]] = {
    "vias in lands neither filled nor capped": (
        lambda c: filled(c, is_filled=False, is_capped=False),
        {FILLED: "failed"},
    ),
    "vias in lands filled, and left open on top": (
        lambda c: filled(c, is_filled=True, is_capped=False),
        {FILLED: "failed"},
    ),
    "vias in lands filled and capped": (
        lambda c: filled(c, is_filled=True, is_capped=True),
        {FILLED: "passed"},
    ),
    "five presses": (
        lambda c: spanning(c, ViaKind.BURIED, *PACKAGES, uuids=GROUND_VIAS, drill_mm=0.2),
        {"board.via.lamination_cycles": "failed", **NO_ROWS},
    ),
    "four presses": (
        lambda c: spanning(c, ViaKind.BURIED, *PACKAGES[1:], uuids=GROUND_VIAS, drill_mm=0.2),
        {"board.via.lamination_cycles": "failed", **NO_ROWS},
    ),
    "three presses": (
        lambda c: spanning(c, ViaKind.BURIED, *PACKAGES[2:], uuids=GROUND_VIAS, drill_mm=0.2),
        {"board.via.lamination_cycles": "passed", **NO_ROWS},
    ),
    "a press-fit connector, and an order that does not say how wide": (
        pressed,
        {"board.via.press_fit_tolerance": "not verifiable"},
    ),
    "its holes ordered to 0.1 mm": (
        lambda c: pressed(c, ORDERED.format(0.1)),
        {"board.via.press_fit_tolerance": "failed"},
    ),
    "its holes ordered to 0.05 mm": (
        lambda c: pressed(c, ORDERED.format(0.05)),
        {"board.via.press_fit_tolerance": "passed"},
    ),
}


@functools.cache
def feather(demos: Path) -> tuple[Case, dict[str, State]]:
    name = "RoyalBlue54L-Feather"
    case = Case(read_board(demos / "royalblue54L_feather" / f"{name}.kicad_pcb"), FEATHER_SETTINGS)
    return case, case.states()


@pytest.mark.parametrize("name", LANDS)
def test_a_broken_land_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = feather(demo_boards)
    edit, turns = LANDS[name]

    assert turned(before, edit(case).states()) == turns


FINE_PITCH = "inference.hdi.fine_pitch"

PITCHES: dict[str, tuple[Callable[[Case], Case], dict[str, str]]] = {
    "lands at 0.5 mm": (lambda c: at_pitch(c, 0.5), {FINE_PITCH: "failed"}),
    "lands at 0.65 mm": (lambda c: at_pitch(c, 0.65), {FINE_PITCH: "failed"}),
    "lands at 0.66 mm": (lambda c: at_pitch(c, 0.66), {}),
    "lands at 0.5 mm with a microvia among them": (lambda c: at_pitch(c, 0.5, has_microvia=True), {}),
}
"""The lands alone are drawn anew, so that all else of the board is broken: this clause alone is asked."""


@pytest.mark.parametrize("name", PITCHES)
def test_lands_at_a_fine_pitch_need_microvias(name: str, demo_boards: Path) -> None:
    """Up to 0.65 mm."""
    case, _ = feather(demo_boards)
    edit, turns = PITCHES[name]

    before, after = (one.states_of_clauses(lambda clause: clause.id == FINE_PITCH) for one in (case, edit(case)))
    assert set(before) == {FINE_PITCH}
    assert turned(before, after) == turns
