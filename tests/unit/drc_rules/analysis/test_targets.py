"""Impedance targets: what names say, what they do not say, and who wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.impedance.board_targets import board_targets
from drc_rules.analysis.targets.controlled import NetTarget, controlled_lines, nets_by_target, unjudged
from drc_rules.analysis.targets.impedance_option import parse_impedance
from drc_rules.analysis.targets.targets import ImpedanceTarget, Targets, target_of_name
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Origin
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file


@pytest.mark.parametrize(
    ("name", "ohm", "kind"),
    [
        ("85Ohm-diff_PCIE", 85, "differential"),
        ("90Ohm-diff_USB_2.0", 90, "differential"),
        ("50Ohm", 50, None),
        ("50ohm_SE", 50, "single"),
        ("100_OHM_DIFF", 100, "differential"),
        ("DIFF90", 90, "differential"),
        ("Diff_100", 100, "differential"),
        ("SE50", 50, "single"),
        ("Z50", 50, None),
        ("Z0_50", 50, None),
        ("ZDIFF100", 100, "differential"),
        ("USB_90R", 90, None),
        ("50R", 50, None),
        ("DDR4_40R_SE", 40, "single"),
        ("92.5ohm diff", 92.5, "differential"),
        ("100Ω DP", 100, "differential"),
        ("HDMI-100-DIFF", 100, "differential"),
    ],
)
def test_a_class_named_after_its_impedance_says_it(name: str, ohm: float, kind: str | None) -> None:
    """Forms seen on boards; the kind only where the name says it."""
    found = target_of_name(name)

    assert found is not None
    assert (found.ohm, found.kind) == (ohm, kind)


@pytest.mark.parametrize(
    "name",
    ["R100", "5V0", "GND_100", "D90", "100MHz", "CLK_100M", "DDR4_3200", "PCIE_GEN5", "Default", "10OHM", "1000Ohm",
     "USB2", "50OHM_85OHM", "SE50_DIFF100", "POWER_24V", "ETH100", "A50", "MIPI100", "0R", "R50X", "50RX", "100BASE"],
)  # fmt: skip
def test_other_numbers_in_names_are_no_impedances(name: str) -> None:
    """Resistors, voltages, frequencies, rates, and names that contradict themselves."""
    assert target_of_name(name) is None


RULES = """(version 1)
(rule "zdiff_100R_outer" (layer outer) (constraint track_width (opt 0.115mm)) (condition "A.inDiffPair('*')"))
(rule "zse_50R" (constraint track_width (opt 0.2mm)) (condition "A.NetClass == 'SLOW'"))
"""


def targets(
    folder: Path, *, rules: str = "", config: str = "", net_class: str = "FAST", said: tuple[str, ...] = ()
) -> dict[str, str]:
    """Target and source of each net of a small board with a PCIe pair and a single line."""
    asked = asked_of(context(folder, rules=rules, config=config, net_class=net_class, said=said))
    return {name: f"{t.ohm:g} {t.kind}: {t.source}" for name, t in asked.items()}


def asked_of(ctx: Context) -> dict[str, ImpedanceTarget]:
    """The target of each net that has one."""
    of = Targets(ctx.board, ctx.declarations.config, ctx.assignment, ctx.pairs, ctx.declarations.impedance)
    asked = {name: of.of(net) for net, name in enumerate(ctx.board.nets) if name}
    return {name: target for name, target in asked.items() if target is not None}


def context(
    folder: Path,
    *,
    rules: str = "",
    config: str = "",
    net_class: str = "FAST",
    single_class: str = "SLOW",
    said: tuple[str, ...] = (),
    pair: str = "PCIE",
) -> Context:
    """A small board with a pair and a single line, complete for its test."""
    tracks = [
        {"net": net, "layer": "F.Cu", "path_mm": [[5, y], [40, y]]}
        for net, y in ((f"/{pair}_TX0_P", 10), (f"/{pair}_TX0_N", 10.3), ("/X", 20))
    ]
    classes = [
        {"name": net_class, "nets": [f"/{pair}_TX0_P", f"/{pair}_TX0_N"]},
        {"name": single_class, "nets": ["/X"]},
    ]
    path = mini_file(folder, {"copper_layers": 2, "tracks": tracks, "net_classes": classes}, "b")
    if rules:
        path.with_suffix(".kicad_dru").write_text(rules, encoding="utf-8")
    line = Overrides(impedance=tuple(map(parse_impedance, said)))
    return prepare(read_board(path), parse_config(config), line)[0]


def test_the_interface_decides_where_nothing_else_does(tmp_path: Path) -> None:
    """PCIe of any generation is 85 ohm; a single net without a role has no target."""
    found = targets(tmp_path)

    assert found["/PCIE_TX0_P"].startswith("85 differential: PCI Express")
    assert "/X" not in found


def test_a_class_wins_over_the_interface_a_rule_over_the_class_and_the_settings_over_all(tmp_path: Path) -> None:
    """100 ohm by class, 100 by the rule's own name, 90 as declared."""
    settings = '[[impedance]]\nohm = 90\nkind = "differential"\nnets = ["/PCIE_*"]\n'

    assert targets(tmp_path / "a", net_class="92ohm_diff")["/PCIE_TX0_N"] == "92 differential: net class 92ohm_diff"
    with_rules = targets(tmp_path / "b", net_class="92ohm_diff", rules=RULES)
    assert with_rules["/PCIE_TX0_N"] == '100 differential: design rule "zdiff_100R_outer"'
    assert with_rules["/X"] == '50 single: design rule "zse_50R"'
    declared = targets(tmp_path / "c", net_class="92ohm_diff", rules=RULES, config=settings)
    assert declared["/PCIE_TX0_N"].startswith("90 differential: stackwright.toml")


@pytest.mark.parametrize(
    ("of_pair", "of_single", "pair_ohm", "single_ohm"),
    [
        ("92Ohm", "50Ohm", 92, 50),
        ("70Ohm", "69Ohm", 70, 69),
        ("60Ohm_DIFF", "75Ohm_SE", 60, 75),
        ("69Ohm", "70Ohm", 85, None),
        ("92Ohm_SE", "50Ohm_DIFF", 85, None),
    ],
)
def test_a_class_that_names_only_a_number_means_pairs_from_70_ohm_on(
    tmp_path: Path, of_pair: str, of_single: str, pair_ohm: float | None, single_ohm: float | None
) -> None:
    """What the name says of the kind comes first; of a net of the other kind it says nothing: its interface counts."""
    found = asked_of(context(tmp_path, net_class=of_pair, single_class=of_single))

    assert {name: target.ohm for name, target in found.items()} == {
        name: ohm
        for name, ohm in (("/PCIE_TX0_P", pair_ohm), ("/PCIE_TX0_N", pair_ohm), ("/X", single_ohm))
        if ohm is not None
    }


def test_a_rule_named_after_single_lines_leaves_a_pair_in_its_class_to_the_next_that_says_something(
    tmp_path: Path,
) -> None:
    """A pair in a class or rule of 50 ohm lines was held to no impedance at all, and its board stayed fit."""
    rule = """(version 1)
(rule "z50R" (constraint track_width (opt 0.2mm)) (condition "A.NetClass == '{}'"))
"""
    of_class = targets(tmp_path / "a", net_class="92ohm_diff", rules=rule.format("92ohm_diff"))
    of_interface = targets(tmp_path / "b", rules=rule.format("FAST"))

    assert of_class["/PCIE_TX0_P"] == "92 differential: net class 92ohm_diff"
    assert of_interface["/PCIE_TX0_P"].startswith("85 differential: PCI Express")


PCIE5 = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
OF_100 = '[[impedance]]\nohm = 100\nkind = "differential"\nnets = ["/PCIE_*"]\n'


@pytest.mark.parametrize(
    ("net_class", "config", "asked"),
    [
        ("100Ohm_diff", PCIE5, ["which impedance counts for /PCIE_TX0_N and 1 more: 100 ohm by net class 100Ohm_diff"]),
        ("89Ohm_diff", PCIE5, []),  # 85 ohm within 5 %
        ("100Ohm_diff", PCIE5.replace("pcie5", "pcie2"), []),  # whose card specification allows 68 to 105 ohm
        ("70Ohm_diff", PCIE5.replace("pcie5", "pcie1"), []),
        (
            "108Ohm_diff",
            PCIE5.replace("pcie5", "pcie1"),
            ["which impedance counts for /PCIE_TX0_N and 1 more: 108 ohm by net class 108Ohm_diff"],
        ),
        ("85Ohm_diff", PCIE5.replace("pcie5", "nvlink4"), []),  # 100 ohm by one document, others differ
        ("100Ohm_diff", PCIE5 + OF_100, []),  # said on purpose
        ("100Ohm_diff", "", []),  # by the names alone
        ("FAST", PCIE5, []),
    ],
)
def test_a_class_that_gives_a_declared_interface_another_impedance_than_its_document_leaves_it_open(
    tmp_path: Path, net_class: str, config: str, asked: list[str]
) -> None:
    """PCIe Gen5 lanes routed at 100 ohm passed, because their class is named after it."""
    found = [one.lacks.name.split(", or")[0] for one in unjudged(context(tmp_path, net_class=net_class, config=config))]

    assert found == asked


def test_a_rule_that_names_only_a_number_is_read_as_a_class_is(tmp_path: Path) -> None:
    """92 ohm are for pairs and 45 for single lines; "SE" in the name makes 75 ohm those of a single line."""
    rules = """(version 1)
(rule "z92R" (constraint track_width (opt 0.1mm)) (condition "A.inDiffPair('*')"))
(rule "z{}" (constraint track_width (opt 0.2mm)) (condition "A.NetClass == 'SLOW'"))
"""
    plain = targets(tmp_path / "a", rules=rules.format("45R"))
    said = targets(tmp_path / "b", rules=rules.format("se_75R"))
    wrong = targets(tmp_path / "c", rules=rules.format("75R"))

    assert (plain["/PCIE_TX0_P"], plain["/X"]) == (
        '92 differential: design rule "z92R"',
        '45 single: design rule "z45R"',
    )
    assert said["/X"] == '75 single: design rule "zse_75R"'
    assert "/X" not in wrong


def test_a_generation_asks_for_its_own_impedance_and_without_one_only_what_all_agree_on(tmp_path: Path) -> None:
    """NVLink 4 is 100 ohm to 5 %, NVLink 5 85 ohm: an NVLink of unknown generation has no target."""
    table = '[[interface]]\nis = "{}"\nnets = ["/NVLINK*"]\n'
    fourth, fifth = (
        asked_of(context(tmp_path / one, pair="NVLINK", config=table.format(one)))["/NVLINK_TX0_P"]
        for one in ("nvlink4", "nvlink5")
    )

    assert (fourth.ohm, fourth.tolerance_pct, fourth.origin) == (100.0, 5.0, Origin.DECLARED)
    assert fourth.source.startswith("NVLink 4")
    assert fifth.ohm == 85.0
    assert asked_of(context(tmp_path / "none", pair="NVLINK")) == {}
    pcie = asked_of(context(tmp_path / "pcie"))["/PCIE_TX0_P"]
    assert (pcie.ohm, pcie.tolerance_pct, pcie.origin) == (85.0, None, Origin.INFERRED)


def test_rules_that_kicad_ignores_ask_for_nothing(tmp_path: Path) -> None:
    """One error in the file and none of its rules counts, as in KiCad."""
    assert targets(tmp_path, rules=RULES + "(rule")["/PCIE_TX0_P"].startswith("85 differential: PCI Express")


def test_the_command_line_wins_over_the_settings(tmp_path: Path) -> None:
    """By net class or wildcard, the last for a net; the settings hold for what it does not name."""
    settings = (
        '[[impedance]]\nohm = 90\nkind = "differential"\nnets = ["/PCIE_*"]\n'
        '[[impedance]]\nohm = 50\nkind = "single"\nnets = ["/X"]\n'
    )

    found = targets(tmp_path, config=settings, said=("FAST=95", "/PCIE_*=100 diff", "NONE=85"))

    assert found["/PCIE_TX0_P"] == "100 differential: --impedance"
    assert found["/X"] == "50 single: stackwright.toml, [[impedance]]"


@pytest.mark.parametrize(
    ("text", "ohm", "kind"),
    [
        ("A=85", 85, "differential"),
        ("A = 50 ohm", 50, "single"),
        ("/X*=60diff", 60, "differential"),
        ("a=b=90 SE", 90, "single"),
    ],
)
def test_an_impedance_of_the_command_line_reads_as_it_is_said(text: str, ohm: float, kind: str) -> None:
    """The kind follows from the number where it is not stated; nets may hold an equals sign."""
    said = parse_impedance(text)

    assert (said.ohm, said.kind, said.nets) == (ohm, kind, (text.rpartition("=")[0].strip(),))


@pytest.mark.parametrize("text", ["", "85", "=85", "A=", "A=fast", "A=85 volt", "A=3", "A=500"])
def test_a_wrong_impedance_of_the_command_line_is_one_line(text: str) -> None:
    """What was typed, what is wrong, and how it reads."""
    with pytest.raises(ConfigError, match="--impedance"):
        parse_impedance(text)


def test_an_impedance_for_nets_that_are_not_there_is_told(tmp_path: Path) -> None:
    """One command may serve several boards: a note, no error."""
    path = mini_file(tmp_path, {"copper_layers": 2}, "b")
    line = Overrides(impedance=(parse_impedance("USB*=90"),))

    notes = prepare(read_board(path), parse_config(""), line)[0].declarations.notes

    assert notes == ('--impedance "USB*" matches no net class and no net of this board',)


# --- what is ignored, and how far off a line may be ---


def net_targets(folder: Path, config: str, *, pair: str = "PCIE", single_class: str = "SLOW") -> dict[str, NetTarget]:
    """The target of each net, as the rules see it."""
    ctx = context(folder, config=config, pair=pair, single_class=single_class)
    return {ctx.board.nets[net]: target for target, nets in ctx.get(nets_by_target).items() for net in nets}


def test_tolerance_and_what_is_too_short_to_count_are_the_generations(tmp_path: Path) -> None:
    """Gen5 requires 5 %; a tenth of a wave on Dk 4 at 16 GHz is 0.94 mm, but no breakout is shorter than 1 mm."""
    found = net_targets(tmp_path, '[[interface]]\nis = "pcie5"\nnets = ["/PCIE*"]\n')["/PCIE_TX0_P"]

    assert (found.title, found.ohm, found.tolerance_pct, found.nyquist_ghz) == ("PCIe Gen5", 85.0, 5.0, 16.0)
    assert found.lumped_mm == 1.0
    assert not found.inferred


@pytest.mark.parametrize("one", ["pcie1", "pcie2"])
def test_the_card_specification_s_ohm_decide_and_are_cited(one: str, tmp_path: Path) -> None:
    """68 to 105 ohm at 2.5 and 5 GT/s, around the 85 ohm that is designed for: 20 % less, 23.5 % more."""
    found = net_targets(tmp_path, f'[[interface]]\nis = "{one}"\nnets = ["/PCIE*"]\n')["/PCIE_TX0_P"]

    assert (found.ohm, found.allowed_ohm, found.document, found.error_pct) == (85.0, (68, 105), "pcisig-cem-3", 0.0)
    assert (found.allowed_pct(80), found.allowed_pct(90)) == pytest.approx((20, 100 * 20 / 85))
    assert found.allowed_words == "allowed 68 to 105 ohm"


def test_without_a_generation_no_limit_of_one_of_them_decides(tmp_path: Path) -> None:
    """It may be Gen5: 10 % of 85 ohm, as before; that of Gen1 leaves it open."""
    found = net_targets(tmp_path, "")["/PCIE_TX0_P"]

    assert found.allowed_ohm == pytest.approx((76.5, 93.5))
    assert (found.limit_ohm, found.range_of, found.allowed_words) == ((68, 105), "PCIe Gen1", "tolerance 10 %")
    assert found.nearest_to(103).allowed_ohm == (68, 105)


def test_without_a_generation_the_slowest_of_the_family_decides_what_is_too_short(tmp_path: Path) -> None:
    """PCIe Gen1 at 1.25 GHz: 12 mm; no tolerance is stated, so it is the usual 10 %, and no error is made of it."""
    found = net_targets(tmp_path, "")["/PCIE_TX0_P"]

    assert (found.title, found.ohm, found.tolerance_pct, found.nyquist_ghz) == ("PCI Express", 85.0, 10.0, None)
    assert found.lumped_mm == pytest.approx(11.99, abs=0.01)
    assert found.inferred


def test_a_declared_tolerance_comes_first_and_a_line_of_no_interface_counts_from_a_tenth_of_its_wave_at_1_ghz(
    tmp_path: Path,
) -> None:
    """7 % instead of Gen5's 5; 15 mm for a single line that only its class gives an impedance."""
    config = (
        '[[interface]]\nis = "pcie5"\nnets = ["/PCIE*"]\n'
        '[[impedance]]\nohm = 90\nkind = "differential"\ntolerance_pct = 7\nnets = ["/PCIE*"]\n'
    )
    found = net_targets(tmp_path, config, single_class="50Ohm")

    assert (found["/PCIE_TX0_P"].ohm, found["/PCIE_TX0_P"].tolerance_pct) == (90.0, 7.0)
    assert (found["/X"].ohm, found["/X"].title) == (50.0, "net class 50Ohm")
    assert found["/X"].lumped_mm == pytest.approx(15.0, abs=0.05)
    assert found["/X"].inferred


def test_an_impedance_of_the_class_keeps_the_interfaces_tolerance(tmp_path: Path) -> None:
    """The class of Gen5's pair says 92 ohm and nothing of a tolerance: 5 %, as the generation asks."""
    config = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE*"]\n'
    ctx = context(tmp_path, config=config, net_class="92Ohm_diff")

    found = {ctx.board.nets[net]: target for target, nets in ctx.get(nets_by_target).items() for net in nets}[
        "/PCIE_TX0_P"
    ]

    assert (found.ohm, found.tolerance_pct, found.nyquist_ghz) == (92.0, 5.0, 16.0)


def test_of_two_rules_for_one_impedance_each_layer_has_the_one_that_applies_there(tmp_path: Path) -> None:
    """Rows of outer layers named the rule for inner ones, which stands last; a rule for all layers names itself."""
    width = "(constraint track_width (opt 0.1mm)) (condition \"A.inDiffPair('*')\")"
    both = f"""(version 1)
(rule "z100R_outer" (layer outer) {width})
(rule "z100R_inner" (layer inner) {width})
"""
    one = f'(version 1)\n(rule "z100R" {width})\n'
    alone = f'(version 1)\n(rule "z100R_inner" (layer inner) {width})\n'

    tracks = [
        {"net": f"/X_{sign}", "layer": layer, "path_mm": [[5, y], [40, y]]}
        for layer, at in (("F.Cu", 10.0), ("In1.Cu", 15.0))
        for sign, y in (("P", at), ("N", at + 0.3))
    ]

    def titles(name: str, rules: str) -> dict[str, str]:
        board = mini_file(tmp_path / name, {"copper_layers": 4, "tracks": tracks}, "b")
        board.with_suffix(".kicad_dru").write_text(rules, encoding="utf-8")
        ctx = prepare(read_board(board), parse_config(""), Overrides())[0]
        lines = ctx.get(controlled_lines)
        assert {one.target.ohm for one in lines} == {100}
        shown = {target.title for target in board_targets(ctx)}
        found = {ctx.board.copper_layers[one.line.layer].name: one.target.title_on(one.line.layer) for one in lines}
        assert shown == {", ".join(dict.fromkeys(found[name] for name in ("F.Cu", "In1.Cu")))}
        return found

    assert titles("a", both) == {"F.Cu": 'design rule "z100R_outer"', "In1.Cu": 'design rule "z100R_inner"'}
    assert titles("b", one) == {"F.Cu": 'design rule "z100R"', "In1.Cu": 'design rule "z100R"'}
    assert titles("c", alone)["F.Cu"] == 'design rule "z100R_inner" of other layers'
