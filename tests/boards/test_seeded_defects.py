"""One fact at a time is broken in KiCad's own demo boards, and exactly the clauses turn that rest on it.

The large boards are parsed once, and one fact of the parsed board or of its settings is replaced; the small one is
broken in its files. What is expected was written by hand, with the reason where more than one clause turns.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from drc_rules.engine.check import check_up
from stackup_lib.board.board import Tracks
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, Seed, State, states_of, turned, undecided

pytestmark = [pytest.mark.demo, pytest.mark.usefixtures("sections_solved_once")]


def cut(case: Case, net: str) -> Case:
    """Delete the longest track of a net."""
    tracks = case.board.tracks
    rows = np.flatnonzero(case.on_nets(net))
    longest = rows[np.argmax(tracks.length_mm[rows])]
    left = {f.name: np.delete(getattr(tracks, f.name), longest) for f in fields(Tracks)}
    return case.with_board(tracks=Tracks(**left))


# Jetson AGX Thor carrier: ten layers, PCIe on F, In7 and B. Its material texts name no product, so a laminate is
# declared for each row, and the twelve vias that leave on In7 are given the backdrill that Gen5 requires. The outer
# copper is declared as finished: with the 35 um of the file PCIe there is not surely inside its tolerance. Next to what
# is broken below it fails clauses enough: ten layers and half-ounce planes are little for inference, the Dk in the file
# is FR4's, so that lines drawn for it have 97 ohm outside on Megtron, two short breakouts run apart, In6 is twice its
# mirror, the vias are deep for their drill.

MEGTRON = "".join(
    f'[declared.dielectric."dielectric {row}"]\nmaterial = "{"R-5775(N)" if row % 2 == 0 else "R-5670(N) 1078"}"\n'
    for row in range(1, 10)
)
THOR_CONFIG = f"""
profile = "inference"
core_on_module = true
[[hot_part]]
refs = []
[process]
outer_copper_um = 43
[declared]
foil = "HVLP"
impedance_tolerance_pct = 5
[[interface]]
is = "pcie5"
role = "system"
net_classes = ["85Ohm-diff_PCIE"]
[[interface]]
is = "eth10g-kr"
role = "short"
package_loss_db = 0.5
connector_loss_db = 0.5
net_classes = ["85Ohm-diff_SFI"]
[[interface]]
is = "dp-hbr3"
role = "board"
connector_loss_db = 0.3
net_classes = ["85Ohm-diff_DP"]
[[interface]]
is = "usb3.2gen1"
role = "type_a"
connector_loss_db = 0.3
net_classes = ["85Ohm-diff_USB_SS"]
{MEGTRON}"""
ROW_8 = '[declared.dielectric."dielectric 8"]\nmaterial = "R-5775(N)"'
TO_IN7 = (
    "18a22be5-d28e-4a6c-b067-73aebaf7f041",
    "da2442f9-2de8-4adb-a09a-7acfefd9db90",
    "f0dd5e70-d370-4837-bdbb-870f12eaeae3",
    "f0fcae14-cd15-4d1a-9b2e-5a67b756fc07",
    "00b7c370-27f7-4862-a4de-282d8df7d1e0",
    "b240f227-55cc-4abe-ab3c-8eced140c89b",
    "61a7d136-04cd-48ab-a868-05a94321c740",
    "c8527073-acfa-4100-8cd6-b0106f0c7332",
    "bcfd6f49-9a0a-4db2-a0a5-80211d98ed68",
    "d9d58b20-dfc5-4e83-b847-40081b16f66b",
    "231c0803-c7e9-4329-bed5-7cd729151f56",
    "a27bb274-2c86-4c1d-b770-c60cb9803a29",
)
ONE_VIA = TO_IN7[4:5]
PAIR = "/M.2/PCIe_{C1x1}.RX0-", "/M.2/PCIe_{C1x1}.RX0+"
ASPECT_RATIOS = "board.via.aspect_ratio", "board.via.aspect_ratio_advanced", "board.via.aspect_ratio_standard"
HOLE_TO_COPPER = (
    "board.fab.hole_to_copper",
    "board.fab.hole_to_copper_advanced",
    "board.fab.hole_to_copper_standard",
)
DIELECTRICS = "board.fab.dielectric_advanced", "board.fab.dielectric_standard"
LOSSES = "board.loss.share", "board.loss.share_assumed"
STUBS = "board.via.stub_resonance", "board.via.stub_resonance_worst", "board.via.stub_ten_times"
MAKERS_STUBS = "inference.stub.dp-hbr3", "inference.stub.usb3.2gen1"
RETURN_PATH = "board.return_path.gap", "board.return_path.via", "board.crosstalk.pairs"
TRACK_SPACE = "board.copper.track_space", "board.copper.track_space_advanced", "board.copper.track_space_standard"

THOR_SEEDS = {
    "the foil is no longer declared": Seed(
        "the clause on foil asks for it; DisplayPort, USB and, margin kept, PCIe Gen5 fit only with smooth foil",
        lambda c: c.declared('foil = "HVLP"\n', ""),
        undecided("inference.foil.pcie5", "board.loss.share", "board.loss.share_assumed"),
    ),
    "standard foil": Seed(
        "too rough for Gen5; the roughest of it no longer surely fits the shares of DisplayPort, USB and PCIe Gen5",
        lambda c: c.declared('"HVLP"', '"STD"'),
        {"inference.foil.pcie5": "failed", **undecided("board.loss.share", "board.loss.share_assumed")},
    ),
    "the tolerance asked of the fab is no longer declared": Seed(
        "both clauses on it, the recommended and the largest",
        lambda c: c.declared("impedance_tolerance_pct = 5\n", ""),
        undecided("inference.impedance_tolerance.pcie5", "inference.impedance_tolerance_max.pcie5"),
    ),
    "a tolerance of 10 percent": Seed(
        "the largest allowed is 10, the recommended 5",
        lambda c: c.declared("_pct = 5", "_pct = 10"),
        {"inference.impedance_tolerance.pcie5": "failed"},
    ),
    "which board of the channel it is is no longer declared": Seed(
        "PCIe's share depends on it",
        lambda c: c.declared('role = "system"\n', ""),
        undecided("board.loss.share"),
    ),
    "one row of FR4": Seed(
        "it touches In7: both classes of laminate that Gen5 asks for; only FR4 has the file's Dk, "
        "which makes USBC1_TX1 surely late; its mirror is none",
        lambda c: c.declared(ROW_8, ROW_8.replace("R-5775(N)", "370HR")),
        {
            "inference.laminate.pcie5": "failed",
            "inference.laminate_min.pcie5": "failed",
            "board.dk.plausible": "failed +0 -1",
            "board.pair.skew": "failed",
            "board.stackup.symmetry": "failed +1 -0",
        },
    ),
    "one row of a laminate that nobody knows": Seed(
        "everything that its data sheet would tell: class, Df and with it the loss, Tg, the usual Dk; "
        "the file's Dk makes USBC1_TX1 surely late",
        lambda c: c.declared(ROW_8, ROW_8.replace("R-5775(N)", "Unobtainium")),
        {
            "board.laminate.known": "failed",
            "board.dk.plausible": "failed +0 -1",
            "board.pair.skew": "failed",
            **undecided("inference.laminate.pcie5", "inference.laminate_min.pcie5", *LOSSES),
            **undecided("inference.tg.min", "inference.tg.preferred"),
        },
    ),
    "a core of half the thickness": Seed(
        "lines on In7 move, and what the rules file intends there; the board is thinner, unlike its mirror",
        lambda c: c.with_ply("dielectric 8", thickness_mm=0.1),
        {
            "board.impedance.routed": "failed +1 -0",
            "board.impedance.intended": "failed +1 -0",
            "board.stackup.thickness": "failed",
            "board.stackup.symmetry": "failed +1 -0",
        },
    ),
    "a core that is not in the stackup": Seed(
        "nothing that runs beside it or through it can be computed, and all mirrors shift",
        lambda c: c.without_row("dielectric 8"),
        {
            "board.stackup.complete": "failed",
            "board.stackup.thickness": "failed",
            "board.stackup.symmetry": "failed +3 -0",
            "board.dk.plausible": "failed +0 -1",
            **undecided(*LOSSES, *STUBS, *MAKERS_STUBS, *ASPECT_RATIOS),
            **undecided("inference.backdrill.pcie5", "board.via.backdrill_needed"),
            **undecided(*DIELECTRICS),
            **undecided(*RETURN_PATH),
        },
    ),
    "a prepreg without thickness": Seed(
        "no hole through it has a length, no line beside it an impedance; those outside are off as before",
        lambda c: c.with_ply("dielectric 5", thickness_mm=None),
        {
            "board.stackup.complete": "failed",
            **undecided("board.stackup.thickness", *LOSSES, "inference.backdrill.pcie5"),
            **undecided(
                "board.via.backdrill_needed",
                "board.prepreg.construction",
                *STUBS,
                *MAKERS_STUBS,
                *ASPECT_RATIOS,
                *DIELECTRICS,
            ),
        },
    ),
    "In6 as thin as its mirror": Seed(
        "the only asymmetry is gone",
        lambda c: c.with_ply("In6.Cu", thickness_mm=0.018),
        {"board.stackup.symmetry": "passed"},
    ),
    "one ounce on In2": Seed(
        "one power plane has the ounce that inference asks for, the others half: which carries the core nobody tells; "
        "its tracks are fine for it, its mirror has half",
        lambda c: c.with_ply("In2.Cu", thickness_mm=0.035),
        {
            "inference.copper.min": "not verifiable",
            "board.copper.track_space_standard": "failed",
            "board.stackup.symmetry": "failed +1 -0",
        },
    ),
    "another finish": Seed(
        "under solder mask no line sees it, and no clause asks for one",
        lambda c: c.with_stackup(lambda s: s.model_copy(update={"copper_finish": None})),
        {},
    ),
    "a pair on In7 is 0.2 mm wide": Seed(
        "70 ohm",
        lambda c: c.with_tracks(c.on_nets(*PAIR) & c.on_layer("In7.Cu"), width_mm=0.2),
        {"board.impedance.routed": "failed +1 -0"},
    ),
    "a via is not backdrilled": Seed(
        # 57 GHz; another solver has 55 for the openings of 0.651 mm in the fills. 10 % longer, with 4 % for the solver
        # and Dk at its highest, it is at 48 or less.
        "Gen5 asks for it; its stub of 0.38 mm resonates at 3.6 times Nyquist, in the worst case at 2.7 times",
        lambda c: c.backdrilled(ONE_VIA, size_mm=float("nan"), start="", must_cut=""),
        {
            "inference.backdrill.pcie5": "failed",
            "board.via.backdrill_clearance_advanced": "failed +0 -1",
            "board.via.stub_resonance_worst": "failed",
            "board.via.stub_ten_times": "failed +1 -0",
        },
    ),
    "a backdrill cuts the layer that carries the signal": Seed(
        "only that: no stub is left",
        lambda c: c.backdrilled(ONE_VIA, size_mm=0.3, start="B.Cu", must_cut="In7.Cu"),
        {"board.via.backdrill_spares_used": "failed"},
    ),
    "a backdrill of 0.8 mm": Seed(
        "too wide for its hole, and it cuts copper beside it, which 0.3 mm only came near to",
        lambda c: c.backdrilled(ONE_VIA, size_mm=0.8, start="B.Cu", must_cut="In8.Cu"),
        {
            "board.via.backdrill_size": "failed",
            "board.via.backdrill_clearance": "failed",
            "board.via.backdrill_clearance_advanced": "failed +1 -1",  # one finding, of the best fabs, names both
        },
    ),
    "a via ends on In7": Seed(
        "a blind hole of 0.1 mm is deeper than standard fabs plate, and would go through the core below In7 as well; "
        "the only span that is not through crosses no other",
        lambda c: c.with_vias(ONE_VIA, end_layer=c.board.layer_index["In7.Cu"], kind=1),
        {
            "board.stackup.via_ends": "failed",
            "board.via.aspect_ratio_standard": "failed +1 -0",
            "board.via.lamination_cycles": "passed",
            "board.via.spans": "passed",
        },
    ),
    "one trace of a pair on In5": Seed(
        "off its impedance alone; the drill from B.Cu to In8 leaves a long stub there, and could go deeper; it crosses "
        "tracks of CAN and UART that run on In5, and runs 0.019 mm from one more than 1 mm away from there",
        lambda c: c.with_tracks(c.on_nets(PAIR[0]) & c.on_layer("In7.Cu"), layer=c.board.layer_index["In5.Cu"]),
        {
            "board.copper.no_shorts": "failed",
            "board.fab.space": "failed",
            "board.fab.space_advanced": "failed",
            "board.fab.space_standard": "failed +1 -0",
            "board.delay.pair_on_different_layers": "failed",
            "board.impedance.routed": "failed +2 -0",
            "inference.backdrill.pcie5": "failed",
            "board.via.backdrill_depth": "failed",
            "board.via.stub_resonance_worst": "failed",
            "board.via.stub_ten_times": "failed +1 -0",
        },
    ),
    "a coupling capacitor is gone": Seed(
        "the link of 10G Ethernet is open: on which layers its traces run is known up to there only",
        lambda c: c.without_part("C57"),
        undecided("board.loss.share", "board.delay.pair_on_different_layers"),
    ),
    "a track is gone": Seed(
        "the link is open, and its partner runs alone there",
        lambda c: cut(c, "/SFP/SFI.TX+"),
        {
            **undecided("board.loss.share", "board.delay.pair_on_different_layers"),
            "board.impedance.coupling": "failed +1 -0",
        },
    ),
    "a pair in another net class": Seed(
        "by its names it is PCIe still, of a generation that nobody states; its breakouts count as slower ones",
        lambda c: c.in_class("90Ohm-diff_CSI", *PAIR),
        {
            "inference.generation.pcie": "not verifiable",
            "board.impedance.coupling": "passed",
        },
    ),
    "no zone is filled": Seed(
        "which layers are planes is not known, nor what lines have above and below, nor how near planes come "
        "to drills, to holes without plating and to the edge; of twelve backdrills one is too near to a track as well; "
        "the openings of planes are those of the rules, with which DisplayPort's worst stub is at 2.96 times Nyquist",
        lambda c: c.without_fills(),
        {
            **undecided("board.copper.balance", "board.impedance.intended", "board.impedance.routed"),
            **undecided(*LOSSES, "board.planes.between_signals", "inference.copper.min"),
            **undecided("board.via.backdrill_clearance", *HOLE_TO_COPPER),
            **undecided(*RETURN_PATH, "inference.reference_planes"),
            **undecided("board.fab.edge", "board.fab.edge_advanced", "board.fab.edge_standard"),
            **undecided("board.fab.unplated_hole_advanced", "board.fab.unplated_hole_standard"),
            "board.fills.up_to_date": "not applicable",
            "board.via.backdrill_clearance_advanced": "failed +0 -11",
            "board.via.stub_resonance_worst": "failed",
        },
    ),
    "a board of 1.0 mm": Seed(
        "its stackup adds up to 1.7",
        lambda c: c.with_board(thickness_mm=1.0),
        {"board.stackup.thickness": "failed"},
    ),
}


@functools.cache
def thor(demos: Path) -> tuple[Case, dict[str, State]]:
    board = read_board(demos / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb")
    case = Case(board, THOR_CONFIG).backdrilled(TO_IN7, size_mm=0.3, start="B.Cu", must_cut="In8.Cu")
    return case, case.states()


def test_the_repaired_thor_carrier_fails_only_what_the_seeds_do_not_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    states = thor(demo_boards)[1]

    # USBC1_TX1 changes layers for one trace: 0.8 to 1.5 ps by what Dk leaves open, 0.127 mm or 0.8 ps allowed
    # and the file stores no fill of the vias in the ball pads of J1 and J18
    assert {clause for clause, (verdict, _) in states.items() if verdict == "not verifiable"} == {
        "board.pair.skew",
        "board.via.open_via_in_pad",
    }
    assert {clause for clause, (verdict, _) in states.items() if verdict == "failed"} == {
        "board.copper.balance",
        "board.crosstalk.pairs",
        "board.dk.plausible",
        "board.fab.hole_standard",
        "board.fab.space_standard",
        "board.impedance.coupling",
        "board.impedance.intended",
        "board.impedance.routed",
        "board.stackup.symmetry",
        "board.thermal.bare_exposed_pad",
        "board.via.aspect_ratio_advanced",
        "board.via.aspect_ratio_standard",
        "board.via.backdrill_clearance_advanced",
        "board.via.stub_ten_times",
        "inference.copper.min",
        "inference.layers.min",
        "inference.stub.dp-hbr3",  # 1.31 mm from In7 to B.Cu, 0.40 mm allowed
    }


STANDARD_SPACE = {"board.fab.space_standard": "failed +1 -0"}
OPEN_SPACES = dict.fromkeys(("board.fab.space", "board.fab.space_advanced"), "not verifiable")

SPACES: dict[str, dict[str, str]] = {
    "a seventh copper layer": {**OPEN_SPACES, "board.fab.space_standard": "not verifiable"},
    "In6 as thin as its mirror": {"board.fab.space_standard": "passed"},
    "one ounce on In2": STANDARD_SPACE,
    "a pair on In7 is 0.2 mm wide": {  # 0.075 mm to each other, which names both tiers; 0.089 mm to ground
        "board.fab.space_advanced": "failed",
        "board.fab.space_standard": "failed +2 -0",
    },
    "an SFP pair of 0.18 mm": {"board.fab.space_advanced": "failed", **STANDARD_SPACE},
    "no zone is filled": {**OPEN_SPACES, "board.setup.minimums": "not verifiable"},
    "two ounces on In9": {  # one finding for each tier, and each names the milder ones
        "board.fab.space": "failed",
        "board.fab.space_advanced": "failed",
        "board.fab.space_standard": "failed +3 -0",
    },
    "In5 of half an ounce": {"board.fab.space_standard": "passed"},
    "the row of a copper layer is deleted": {**OPEN_SPACES, "board.fab.space_standard": "not verifiable"},
}
"""What the same defects do to the spaces between nets, which are etched by the weight of their copper."""


@pytest.mark.parametrize("name", THOR_SEEDS)
def test_a_defect_in_the_thor_carrier_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = thor(demo_boards)
    seed = THOR_SEEDS[name]

    assert turned(before, seed.edit(case).states()) == {**seed.turns, **SPACES.get(name, {})}, seed.why


# vme-wren: twelve layers of IS400 throughout, two SFP pairs and, sharing one of them, PCIe; no backdrill at all.

WREN_CONFIG = """
profile = "edge"
[declared]
foil = "Rz 3 um"
[[interface]]
is = "pcie3"
role = "direct"
nets = ["/PCIE.*", "/pcie_connector/PCIE_PE*_AC_*"]
[[interface]]
is = "eth10g-kr"
board_loss_db = 20
nets = ["/SFP?.RX_*", "/SFP?.TX_*", "/SFP?/SFP_?D_C_*"]
"""
WREN_VIA = ("870b11eb-c527-46fd-8485-253e341fbea7",)
TG = "edge.tg.min", "edge.tg.preferred"

WREN_SEEDS = {
    "an impossible Dk": Seed(
        "IS400 has no 5.5, nor has its mirror, for which the same finding speaks; which of the two is wrong is open, "
        "and with it the lines next to it, the stubs through it and the losses",
        lambda c: c.with_ply("dielectric 10", dk=5.5),
        {
            "board.dk.plausible": "failed",
            "board.stackup.symmetry": "failed",
            "board.impedance.routed": "failed +0 -1",
            "board.via.stub_ten_times": "failed +0 -3",
            **undecided("board.impedance.intended", *LOSSES),
            **undecided("board.via.stub_resonance_worst"),  # those of the pins of PCIe are open already
        },
    ),
    "the middle core is 0.6 mm": Seed(
        "the board is thicker than it says, and stubs through the middle are longer; the links still fit",
        lambda c: c.with_ply("dielectric 6", thickness_mm=0.6),
        {
            "board.stackup.thickness": "failed",
            "board.via.stub_resonance_worst": "failed +2 -0",  # the pins of PCIe are too long already
        },
    ),
    "a laminate that nobody knows, beside a fast layer": Seed(
        "its Tg, Df and usual Dk are open, and whether its mirror is of the same",
        lambda c: c.with_ply("dielectric 10", material="Unobtainium"),
        {
            "board.laminate.known": "failed",
            **undecided("board.dk.plausible", "board.stackup.symmetry", *LOSSES, *TG),
        },
    ),
    "a laminate that nobody knows, in the middle": Seed(
        "no fast layer touches it: the losses stand",
        lambda c: c.with_ply("dielectric 6", material="Unobtainium"),
        {"board.laminate.known": "failed", **undecided("board.dk.plausible", *TG)},
    ),
    "a bare Df is taken away": Seed(
        "nothing rests on it: it states no frequency",
        lambda c: c.with_ply("dielectric 10", df=None),
        {},
    ),
    "two ounces on In9": Seed(
        "0.1 mm tracks cannot be etched in it; it is thicker than its mirror and than the board says; its lines are "
        "12 % low and their taper unknown; it was the one power plane of less than an ounce; PCIe loses less, so that "
        "the package of its device, which no text states, now decides whether the maximum fits",
        lambda c: c.with_ply("In9.Cu", thickness_mm=0.07),
        {
            **dict.fromkeys(TRACK_SPACE, "failed"),
            "board.impedance.intended": "not verifiable",
            "board.loss.share_assumed": "not verifiable",
            "edge.copper.min": "passed",
            "board.stackup.symmetry": "failed",
            "board.stackup.thickness": "failed",
        },
    ),
    "In5 of half an ounce": Seed(
        "its mirror has one ounce; barrels are shorter, PCIe loses less, and the package of its device decides",
        lambda c: c.with_ply("In5.Cu", thickness_mm=0.018),
        {"board.stackup.symmetry": "failed", "board.loss.share_assumed": "not verifiable"},
    ),
    "an SFP pair of 0.18 mm": Seed(
        "far below 100 ohm",
        lambda c: c.with_tracks(c.on_nets("/SFP0.RX_P", "/SFP0.RX_N") & c.on_layer("In9.Cu"), width_mm=0.18),
        {"board.impedance.routed": "failed +1 -0"},
    ),
    "one trace of 0.06 mm": Seed(
        "no fab etches that; with both widths the pair has 112 ohm, open between 108.6 and 115.5, maximum 110",
        lambda c: c.with_tracks(c.on_nets("/SFP0.RX_P") & c.on_layer("In9.Cu"), width_mm=0.06),
        dict.fromkeys(TRACK_SPACE, "failed"),
    ),
    "a backdrill as deep as it may be": Seed(
        "0.4 mm meets a neighbour at that place; its stub, one of a group of like ones, is gone",
        lambda c: c.backdrilled(WREN_VIA, size_mm=0.4, start="B.Cu", must_cut="In8.Cu"),
        {
            "board.via.backdrill_spares_used": "passed",
            "board.via.backdrill_size": "passed",
            "board.via.backdrill_depth": "passed",
            "board.via.backdrill_needed": "passed",
            "board.via.backdrill_clearance": "failed",
            "board.via.backdrill_clearance_advanced": "failed",
        },
    ),
    "the same backdrill one layer deeper": Seed(
        "now it cuts In7, where the signal leaves",
        lambda c: c.backdrilled(WREN_VIA, size_mm=0.4, start="B.Cu", must_cut="In7.Cu"),
        {
            "board.via.backdrill_spares_used": "failed",
            "board.via.backdrill_size": "passed",
            "board.via.backdrill_depth": "passed",
            "board.via.backdrill_needed": "passed",
            "board.via.backdrill_clearance": "failed",
            "board.via.backdrill_clearance_advanced": "failed",
        },
    ),
    "a coupling capacitor of PCIe is gone": Seed(
        "that link is open, and the pair goes to SFP1 alone, through the 100 nF of that option; PCIe Gen3 needs 176",
        lambda c: c.without_part("C515"),
        {
            **undecided("board.loss.share_assumed", "board.pair.skew"),
            "board.intent.coupling_capacitor_out_of_range": "failed",
        },
    ),
    "a track of an SFP pair is gone": Seed(
        "that link is open, and its partner runs alone there",
        lambda c: cut(c, "/SFP0.RX_P"),
        {
            **undecided("board.loss.share", "board.pair.skew", "board.delay.pair_on_different_layers"),
            "board.impedance.coupling": "failed",
        },
    ),
    "SFP is no longer declared": Seed(
        "by its names it is Ethernet of some generation: whether its stubs resonate and glass skews it is open, as of "
        "the pins of PCIe; its declared budget was the one share that may be an error",
        lambda c: c.declared('is = "eth10g-kr"', 'is = "?"'),
        {
            "board.loss.share": "not applicable",
            "board.loss.share_assumed": "not verifiable",
            "board.via.stub_ten_times": "failed +0 -2",
            "board.return_path.via": "not verifiable",
            "board.weave.skew": "not verifiable",
        },
    ),
}


@functools.cache
def wren(demos: Path) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "vme-wren" / "vme-wren.kicad_pcb"), WREN_CONFIG)
    return case, case.states()


@pytest.mark.parametrize("name", WREN_SEEDS)
def test_a_defect_in_vme_wren_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    case, before = wren(demo_boards)
    seed = WREN_SEEDS[name]

    assert turned(before, seed.edit(case).states()) == {**seed.turns, **SPACES.get(name, {})}, seed.why


# CM5 minima: six layers, broken in copies of its files.

CORE = """\t\t\t(layer "dielectric 2"
\t\t\t\t(type "core")
\t\t\t\t(color "FR4 natural")
\t\t\t\t(thickness 0.5)
\t\t\t\t(material "FR4")
\t\t\t\t(epsilon_r 4.6)
\t\t\t\t(loss_tangent 0.02)
\t\t\t)
"""
IN4_LAYER = '\t\t(10 "In4.Cu" signal)\n'
IN2 = """\t\t\t(layer "In2.Cu"
\t\t\t\t(type "copper")
\t\t\t\t(thickness 0.0152)
\t\t\t)
"""


def substitute(path: Path, old: str, new: str) -> None:
    """Replace a text that stands exactly once in a file."""
    data = path.read_bytes()
    assert data.count(old.encode()) == 1
    path.write_bytes(data.replace(old.encode(), new.encode()))


@dataclass(frozen=True)
class FileSeed:
    """A defect in the files of a board: why exactly these clauses turn, how it is made, and what they turn to."""

    why: str
    edit: Callable[[Path], object]
    turns: dict[str, str]


FILE_SEEDS = {
    "a core of 0.9 mm": FileSeed(
        "the sum is not the board's thickness, and the mirror has 0.55",
        lambda b: substitute(b, CORE, CORE.replace("0.5", "0.9")),
        {"board.stackup.symmetry": "failed", "board.stackup.thickness": "failed"},
    ),
    "the row of a core is deleted": FileSeed(
        "copper on copper: how deep holes are is open; one row less of a laminate without a name",
        lambda b: substitute(b, CORE, ""),
        {
            "board.stackup.complete": "failed",
            "board.stackup.thickness": "failed",
            "board.stackup.symmetry": "failed",
            "board.laminate.known": "failed +0 -1",
            **undecided("board.via.aspect_ratio_standard", *DIELECTRICS),
        },
    ),
    "the row of a copper layer is deleted": FileSeed(
        "the stackup is of another board than the layers: what rests on rows by their layer is open",
        lambda b: substitute(b, IN2, ""),
        {
            "board.stackup.layers": "failed",
            **undecided(*TRACK_SPACE, "board.impedance.routed", "board.impedance.intended"),
            **undecided("board.via.aspect_ratio_standard", "board.return_path.gap", "board.crosstalk.pairs"),
        },
    ),
    "a seventh copper layer": FileSeed(
        "STK007: KiCad's dialog makes none, a script does; it has no row in the stackup; its mirror, In1, is full",
        lambda b: substitute(b, IN4_LAYER, f'{IN4_LAYER}\t\t(12 "In5.Cu" signal)\n'),
        {
            "board.layers.even": "failed",
            "board.stackup.layers": "failed",
            "board.copper.balance": "failed",
            **undecided("board.impedance.routed", "board.impedance.intended", "board.return_path.gap"),
            **undecided("board.crosstalk.pairs", "board.via.aspect_ratio_standard"),
        },
    ),
    "a core of another laminate than its mirror": FileSeed(
        "it has a name now, and is unlike the other; the Dk of the rows that are only called FR4 stays open",
        lambda b: substitute(b, CORE, CORE.replace('"FR4"', '"370HR"')),
        {
            "board.laminate.known": "failed +0 -1",
            "board.stackup.symmetry": "failed",
        },
    ),
    "a core without a material": FileSeed(
        "that is no name that is too general, but none",
        lambda b: substitute(b, CORE, CORE.replace('\t\t\t\t(material "FR4")\n', "")),
        {
            "board.stackup.complete": "failed",
            "board.laminate.known": "failed +0 -1",
            "board.stackup.symmetry": "not verifiable",
        },
    ),
    "In2 is an ounce heavy": FileSeed(
        "the mirror has a half; spaces of 0.13 mm are wide enough for it",
        lambda b: substitute(b, IN2, IN2.replace("0.0152", "0.035")),
        {"board.stackup.symmetry": "failed"},
    ),
    "a rules file with a number without a unit": FileSeed(
        "KiCad ignores all of it, without a word: what it intends is open",
        lambda b: b.with_suffix(".kicad_dru").write_text('(version 1)\n(rule "x" (constraint clearance (min 1)))\n'),
        {
            "board.design_rules": "failed",
            **undecided("board.impedance.intended", "board.design_rules.act", "board.via.class_allowed"),
            **undecided("board.via.class_buildable", "board.via.class_buildable_advanced"),
        },
    ),
    "the same rules file with its unit": FileSeed(
        "KiCad applies it",
        lambda b: b.with_suffix(".kicad_dru").write_text('(version 1)\n(rule "x" (constraint clearance (min 1mm)))\n'),
        {"board.design_rules": "passed", "board.design_rules.act": "passed"},
    ),
    "the project is not there": FileSeed(
        "net classes and Board Setup's minimums are unknown: the widths that they intend, which fast nets are in none",
        lambda b: b.with_suffix(".kicad_pro").unlink(),
        {
            "board.project": "failed",
            "board.impedance.intended": "not applicable",
            "board.setup.minimums": "not applicable",
            "board.via.class_allowed": "not applicable",
            "board.nets.in_classes": "not verifiable",
        },
    ),
}


def states_in_file(board: Path) -> dict[str, State]:
    report = check_up(board, tables=False).report
    assert not report.crashes
    return states_of(report.verdicts, report.findings)


@functools.cache
def cm5(demos: Path) -> dict[str, State]:
    return states_in_file(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb")


@pytest.mark.parametrize("name", FILE_SEEDS)
def test_a_defect_in_the_files_of_cm5_minima_turns_what_rests_on_it(
    name: str, demo_boards: Path, tmp_path: Path
) -> None:
    """No more and no less."""
    source, board = demo_boards / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb", tmp_path / "board.kicad_pcb"
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copyfile(source.with_suffix(suffix), board.with_suffix(suffix))

    seed = FILE_SEEDS[name]
    seed.edit(board)

    assert turned(cm5(demo_boards), states_in_file(board)) == {**seed.turns, **SPACES.get(name, {})}, seed.why
