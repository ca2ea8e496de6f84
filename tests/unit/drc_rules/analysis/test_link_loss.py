"""Loss of links at Nyquist, the share of the budget that a board has, and what would make a link close."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from drc_rules.analysis.lines.routed import NearFill
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.hole_loss import barrel_loss_db
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_needs import df_needed, longest_length_mm
from drc_rules.analysis.loss.loss_shares import share_of
from drc_rules.analysis.loss.share_rows import FILE, assumed_allowances
from drc_rules.engine.decide import run
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.interfaces import families, interface
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import Role, parse_config
from stackup_lib.core.facts import Confidence, MissingFact
from tests.support.mini import mini_context
from tests.support.stackups import FOUR_LAYERS

CONFIG = '[declared]\nfoil = "VLP"\n[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'


def pad(number: str, net: str, x_mm: float = 0.0) -> dict[str, object]:
    return {"number": number, "net": net, "at_mm": [x_mm, 0], "size_mm": [0.2, 0.2]}


def context(folder: Path, *, form: str | None = None, config: str = CONFIG, **keys: object) -> Context:
    """A 1.5 mm board of Megtron 6 with a trace of 100 mm on the surface, unless `keys` says otherwise."""
    board: dict[str, object] = {
        "size_mm": (130, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": FOUR_LAYERS,
        "config": config,
        "tracks": [{"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [105, 10]]}],
        "parts": [
            {"reference": "U1", "at_mm": [5, 10], "pads": [pad("1", "/PCIE_TX0_P")]},
            {"reference": "J1", "at_mm": [105, 10], "pads": [pad("1", "/PCIE_TX0_P")]},
        ],
    }
    return mini_context(folder, board | keys, config, Overrides(form=form))


def only_link(ctx: Context, interface_id: str = "pcie5") -> LinkLoss:
    losses = LinkLosses(ctx).of(interface_id, declared=True)
    assert losses.missing == ()
    (link,) = losses.known
    return link


def test_a_matched_barrel_loses_nothing_and_a_quarter_wave_of_twice_the_impedance_reflects_36_percent() -> None:
    """|S21|^2 = 1/(1 + 0.75^2) = 0.64 exactly; half a wave is transparent again."""
    quarter = 299.792458 / 4

    assert barrel_loss_db(1.0, quarter, 1.0, 50.0, 50.0) == 0.0
    assert barrel_loss_db(1.0, quarter, 1.0, 50.0, 100.0) == pytest.approx(-10 * math.log10(0.64))
    assert barrel_loss_db(1.0, 2 * quarter, 1.0, 50.0, 100.0) == pytest.approx(0.0, abs=1e-12)


def test_the_longest_length_uses_the_budget_up() -> None:
    """16 dB less 1 dB of holes at 0.1 dB/mm is 150 mm; holes that cost more than the budget leave no length."""
    assert longest_length_mm(16, 1, 0.1) == pytest.approx(150)
    assert longest_length_mm(1, 2, 0.1) == 0.0


def test_dielectric_loss_is_that_of_the_closed_form(tmp_path: Path) -> None:
    """A thin microstrip: 8.686 pi f sqrt(e)/c x (1 - 1/e)/(1 - 1/Dk) x Df, with the solved e."""
    ctx = context(tmp_path, stackup=FOUR_LAYERS.replace("F.Cu 0.035", "F.Cu 0.005"))
    link = only_link(ctx)

    (line,) = Lines(ctx).lines(link.sections[0].key)
    eps_eff = line.eps_eff
    df = ctx.plies[0].df.at(16).need()
    share = (1 - 1 / eps_eff) / (1 - 1 / 3.4)
    by_hand = 20 / math.log(10) * math.pi * 16 * math.sqrt(eps_eff) / 299.792458 * share * df
    assert link.length_mm == pytest.approx(100)
    assert link.dielectric_db == pytest.approx(100 * by_hand, rel=0.03)
    assert link.dielectric_db + link.copper_db + link.roughness_db == pytest.approx(link.total_db.nominal)


def test_only_the_path_from_end_to_end_counts(tmp_path: Path) -> None:
    """An open branch of 20 mm is not in the way."""
    run = {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2}
    tracks = [{**run, "path_mm": [[5, 10], [105, 10]]}, {**run, "path_mm": [[50, 10], [50, 30]]}]

    assert only_link(context(tmp_path, tracks=tracks)).length_mm == pytest.approx(100)


def test_a_coupling_capacitor_is_passed(tmp_path: Path) -> None:
    """40 mm before it and 30 mm behind it are one link of 70 mm."""
    tracks = [
        {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [45, 10]]},
        {"net": "/PCIE_TX0_C_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[46, 10], [76, 10]]},
    ]
    parts = [
        {"reference": "U1", "at_mm": [5, 10], "pads": [pad("1", "/PCIE_TX0_P")]},
        {
            "reference": "C1",
            "value": "220n",
            "at_mm": [45, 10],
            "pads": [pad("1", "/PCIE_TX0_P"), pad("2", "/PCIE_TX0_C_P", 1.0)],
        },
        {"reference": "J1", "at_mm": [76, 10], "pads": [pad("1", "/PCIE_TX0_C_P")]},
    ]

    assert only_link(context(tmp_path, tracks=tracks, parts=parts)).length_mm == pytest.approx(70)


def test_a_via_costs_its_stub_and_its_barrel(tmp_path: Path) -> None:
    """The same length over a through via loses more."""
    run = {"net": "/PCIE_TX0_P", "width_mm": 0.2}
    tracks = [
        {**run, "layer": "F.Cu", "path_mm": [[5, 10], [55, 10]]},
        {**run, "layer": "B.Cu", "path_mm": [[55, 10], [105, 10]]},
    ]
    parts = [
        {"reference": "U1", "at_mm": [5, 10], "pads": [pad("1", "/PCIE_TX0_P")]},
        {"reference": "J1", "at_mm": [105, 10], "side": "back", "pads": [pad("1", "/PCIE_TX0_P")]},
    ]
    vias = [{"net": "/PCIE_TX0_P", "at_mm": [55, 10]}]
    link = only_link(context(tmp_path, tracks=tracks, parts=parts, vias=vias))

    assert link.hole_count == 1
    assert 0.0 < link.holes_db.low < link.holes_db.nominal < link.holes_db.high
    assert sorted(link.length_mm_by_layer) == [0, 3]


def test_the_df_that_is_needed_closes_the_link(tmp_path: Path) -> None:
    """At that Df the dielectric loss is what the rest leaves; where the rest alone is too much there is none."""
    link = only_link(context(tmp_path))
    rest = link.total_db.nominal - link.dielectric_db

    needed = df_needed(link, rest + 2 * link.dielectric_db, 0.004)
    assert needed == pytest.approx(0.008)
    assert df_needed(link, 0.9 * rest, 0.004) is None


def test_a_card_takes_the_share_of_an_add_in_card_and_others_have_to_say(tmp_path: Path) -> None:
    """The form factor decides; without it the role of the board is not known."""
    card = share_of(context(tmp_path / "card", form="pcie-card"), interface("pcie5"), None)

    assert card is not None
    assert (card.role, card.db, card.document, card.from_form) == ("add_in_card", 9.5, "nvidia-connectx8", True)
    assert (card.allowance_db.low, card.assumed) == (0.0, ("package",))
    with pytest.raises(MissingFact, match="role of this board"):
        share_of(context(tmp_path / "any"), interface("pcie5"), None)


def test_a_declared_package_takes_the_place_of_the_assumed_one(tmp_path: Path) -> None:
    """Then nothing is assumed any more."""
    row = parse_config(f'{CONFIG}role = "add_in_card"\npackage_loss_db = 2.5').interface[0]

    share = share_of(context(tmp_path), interface("pcie5"), row)
    assert share is not None
    assert share.assumed == ()
    assert (share.allowance_db.low, share.allowance_db.high) == (2.5, 2.5)


def test_every_share_of_every_interface_can_be_declared() -> None:
    """A role that no user may write would leave its share without effect."""
    roles = {role for of in families() for one in of.interfaces for role in one.board_loss_db}

    assert roles <= set(get_args(Role))


def test_allowances_belong_to_shares_that_exist_and_are_never_sure() -> None:
    """They rest on no document, so the least of each is nothing: no error can come of them."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["allowance"]

    for one, roles in rows.items():
        for role in roles:
            assert role in interface(one).board_loss_db
            assert all(part.low == 0.0 < part.high for part in assumed_allowances(one, role).values())


FR4 = FOUR_LAYERS.replace("R-5670(N) 1078", "370HR 2116").replace("R-5775(N)", "370HR").replace("3.4", "4.0")
AMPLE = f"{CONFIG}board_loss_db = 36\n"


def pair_over_capacitors(folder: Path, *values: str, config: str = AMPLE) -> Context:
    """A pair of 100 mm with a capacitor in each trace."""
    parts: list[dict[str, object]] = []
    tracks: list[dict[str, object]] = []
    for row, (letter, value) in enumerate(zip("PN", values, strict=True)):
        y_mm, ends = 10 + 0.4 * row, (f"/PCIE_TX0_{letter}", f"/PCIE_TX0_C_{letter}")
        small = {"number": "1", "size_mm": [0.2, 0.2]}
        parts += [
            {"reference": f"U{row}", "at_mm": [5, y_mm], "pads": [{**small, "net": ends[0]}]},
            {"reference": f"J{row}", "at_mm": [106, y_mm], "pads": [{**small, "net": ends[1]}]},
            {
                "reference": f"C{row}",
                "value": value,
                "at_mm": [55, y_mm],
                "pads": [{**small, "net": ends[0]}, {**small, "number": "2", "net": ends[1], "at_mm": [1, 0]}],
            },
        ]
        run = {"layer": "F.Cu", "width_mm": 0.2}
        tracks += [
            {**run, "net": ends[0], "path_mm": [[5, y_mm], [55, y_mm]]},
            {**run, "net": ends[1], "path_mm": [[56, y_mm], [106, y_mm]]},
        ]
    return context(folder, config=config, parts=parts, tracks=tracks)


@pytest.mark.parametrize("nets", ["/PCIE_TX0_C_*", "/PCIE_TX0_C_P"])
def test_a_link_of_which_a_part_is_declared_is_no_inferred_one_as_well(nets: str, tmp_path: Path) -> None:
    """The half behind the capacitors, or that of one trace; the rest is read as PCIe Gen5 by its names."""
    config = f'[declared]\nfoil = "VLP"\n[[interface]]\nis = "pcie5"\nnets = ["{nets}"]\n'
    ctx = pair_over_capacitors(tmp_path, "220n", "220n", config=config)

    losses = LinkLosses(ctx)
    declared = list(losses.traces_of(interface("pcie5"), declared=True))
    inferred = list(losses.traces_of(interface("pcie5"), declared=False))

    assert [len(traces) for traces in declared] == [2]
    assert inferred == []


def share_verdict(ctx: Context) -> ClauseVerdict:
    """A pass of the clause on the share."""
    clauses = [c for c in load_profile("board").clauses if c.id == "board.loss.share"]
    (verdict,) = run(ctx, clauses, all_rules(), all_rules()).verdicts
    assert verdict.verdict is Verdict.PASSED
    return verdict


def confidence_of_the_share(ctx: Context) -> Confidence:
    """Confidence of that pass."""
    return share_verdict(ctx).confidence


def test_a_df_that_is_hardly_known_does_not_matter_where_twice_the_loss_fits(tmp_path: Path) -> None:
    """No value of the laminate reaches 16 GHz; a share of 60 dB holds twice the dielectric loss."""
    ctx = context(tmp_path, config=AMPLE, stackup=FR4)

    losses = LinkLosses(ctx).of("pcie5", declared=True)
    assert (losses.confidence, losses.df_confidence) == (Confidence.MEDIUM, Confidence.LOW)
    assert confidence_of_the_share(ctx) is Confidence.MEDIUM


def test_a_doubtful_way_stays_doubtful_whatever_the_share(tmp_path: Path) -> None:
    """Capacitors of different values in a pair: the links that were found may not be those that were meant."""
    alike = pair_over_capacitors(tmp_path / "alike", "220n", "220n")
    unlike = pair_over_capacitors(tmp_path / "unlike", "220n", "100n")

    assert confidence_of_the_share(alike) is Confidence.MEDIUM
    assert confidence_of_the_share(unlike) is Confidence.LOW
    assert "its series parts differ from those of its complement /PCIE_TX0_N" in only_link(unlike).notes


def test_confidence_does_not_depend_on_who_asked_first(tmp_path: Path) -> None:
    """A line that was solved for its impedance before rests on the same facts when its loss is required."""
    first, second = context(tmp_path / "a"), context(tmp_path / "b")
    link = only_link(second)
    Lines(first).lines(link.sections[0].key)

    assert only_link(first).total_db == link.total_db
    confidences = [LinkLosses(ctx).of("pcie5", declared=True).confidence for ctx in (first, second)]
    assert confidences == [Confidence.MEDIUM, Confidence.MEDIUM]


def test_a_glass_style_may_have_any_of_its_resin_contents(tmp_path: Path) -> None:
    """At 10 GHz the maker tabulates 370HR on 1080 glass with Df 0.025 (61 % resin) to 0.030."""
    ply = context(tmp_path, stackup=FR4.replace("2116", "1080")).plies[0]

    assert ply.df.at(10).need() == pytest.approx(0.030)
    assert ply.df.spread_at(10) == pytest.approx((0.025, 0.030))


def test_a_long_branch_leaves_a_doubt(tmp_path: Path) -> None:
    """20 mm are more than a tenth of the 9.4 mm wave at 16 GHz; 0.5 mm are less."""
    run_ = {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2}

    def branched(folder: Path, length_mm: float) -> Context:
        tracks = [{**run_, "path_mm": [[5, 10], [105, 10]]}, {**run_, "path_mm": [[50, 10], [50, 10 + length_mm]]}]
        return context(folder, config=AMPLE, tracks=tracks)

    long, short = branched(tmp_path / "long", 20), branched(tmp_path / "short", 0.5)
    assert confidence_of_the_share(long) is Confidence.LOW
    assert "the branch of 20.0 mm on /PCIE_TX0_P is not counted" in only_link(long).notes
    assert confidence_of_the_share(short) is Confidence.MEDIUM
    (guess,) = share_verdict(long).guesses
    assert guess.fact == (
        "the loss of /PCIE_TX0_P, which is a guess: the branch of 20.0 mm on /PCIE_TX0_P is not counted"
    )
    assert only_link(long).doubts == ("the branch of 20.0 mm on /PCIE_TX0_P is not counted",)
    assert only_link(short).doubts == ()


def forked(folder: Path) -> Context:
    """A net of a chip that leads over one capacitor to a PCIe socket and over another to an SFP cage."""
    small = {"size_mm": [0.2, 0.2]}
    nets = {"/SERDES_P": 10, "/PCIE_TX0_P": 10, "/SFP_TD_P": 12}
    parts: list[dict[str, object]] = [
        {"reference": "U1", "at_mm": [5, 10], "pads": [{**small, "number": "1", "net": "/SERDES_P"}]},
        {"reference": "J1", "at_mm": [95, 10], "pads": [{**small, "number": "1", "net": "/PCIE_TX0_P"}]},
        {"reference": "J2", "at_mm": [95, 12], "pads": [{**small, "number": "1", "net": "/SFP_TD_P"}]},
    ]
    for reference, net in (("C1", "/PCIE_TX0_P"), ("C2", "/SFP_TD_P")):
        ends = [
            {**small, "number": "1", "net": "/SERDES_P"},
            {**small, "number": "2", "net": net, "at_mm": [1, 0]},
        ]
        parts.append({"reference": reference, "value": "100n", "at_mm": [50, nets[net]], "pads": ends})
    line = {"layer": "F.Cu", "width_mm": 0.2}
    tracks = [
        {**line, "net": "/SERDES_P", "path_mm": [[5, 10], [50, 10]]},
        {**line, "net": "/SERDES_P", "path_mm": [[50, 10], [50, 12]]},
        {**line, "net": "/PCIE_TX0_P", "path_mm": [[51, 10], [95, 10]]},
        {**line, "net": "/SFP_TD_P", "path_mm": [[51, 12], [95, 12]]},
    ]
    config = (
        '[declared]\nfoil = "VLP"\n'
        '[[interface]]\nis = "pcie5"\nboard_loss_db = 36\nnets = ["/PCIE_*"]\n'
        '[[interface]]\nis = "eth10g-kr"\nboard_loss_db = 25\nnets = ["/SERDES_P", "/SFP_TD_P"]\n'
    )
    return context(folder, config=config, parts=parts, tracks=tracks)


def test_of_two_ways_from_one_pin_each_is_of_the_interface_beyond_the_fork(tmp_path: Path) -> None:
    """The way to the PCIe socket is judged once, as PCIe, with the part that it shares; that it forks is said."""
    ctx = forked(tmp_path)
    names = ctx.board.nets

    pcie, ethernet = only_link(ctx), only_link(ctx, "eth10g-kr")
    assert [names[net] for net in pcie.nets] == ["/SERDES_P", "/PCIE_TX0_P"]
    assert [names[net] for net in ethernet.nets] == ["/SERDES_P", "/SFP_TD_P"]
    assert pcie.length_mm == pytest.approx(45 + 44)
    assert ethernet.length_mm == pytest.approx(47 + 44)
    assert "/SERDES_P leads to J2.1 too: counted as if the parts on that way were not fitted" in pcie.notes
    assert LinkLosses(ctx).of("pcie5", declared=True).confidence is Confidence.LOW


def poured(bottom_mm: float) -> list[dict[str, object]]:
    """Ground 0.1 mm from the trace of `context`, from the upper edge of the board down to here."""
    return [{"net": "GND", "layer": "F.Cu", "rect_mm": [1, 1, 129, bottom_mm], "clearance_mm": 0.1}]


def test_ground_next_to_a_trace_is_in_its_loss(tmp_path: Path) -> None:
    """The line that is solved is the one whose impedance is checked; more copper carries more current at its edges."""
    alone = only_link(context(tmp_path / "alone"))
    ctx = context(tmp_path / "both", zones=poured(39))
    link = only_link(ctx)

    (section,) = link.sections
    assert section.key.near_fill == NearFill(near_mm=0.1, far_mm=0.1)
    solved = Lines(ctx).solved(0, 0.2, references=section.key.references, coplanar_mm=0.1)
    assert Lines(ctx).lines(section.key) == (solved,)
    assert link.copper_db > 1.03 * alone.copper_db
    assert not any("next to it" in note for note in link.notes)


def test_ground_on_one_side_of_a_trace_counts_half(tmp_path: Path) -> None:
    """The loss is in the middle of those with ground on both sides and on none, and its range holds both."""
    alone, one, both = (
        only_link(context(tmp_path / name, zones=zones))
        for name, zones in (("alone", []), ("one", poured(10)), ("both", poured(39)))
    )

    assert one.line_db.nominal == pytest.approx((alone.line_db.nominal + both.line_db.nominal) / 2, rel=1e-9)
    assert one.line_db.low == pytest.approx(min(alone.line_db.low, both.line_db.low))
    assert one.line_db.high == pytest.approx(max(alone.line_db.high, both.line_db.high))
    assert "copper 0.1 mm and more next to it on F.Cu: the middle of nearest and farthest is taken" in one.notes
