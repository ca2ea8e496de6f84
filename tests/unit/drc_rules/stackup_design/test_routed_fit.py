"""What becomes of routed lines that no goal is for, in a stackup as it is and in a changed one."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.context import Context
from drc_rules.stackup_design.retarget import retargeted_lines
from drc_rules.stackup_design.routed_fit import unsought_sizes, unsought_words
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.synthesis import CandidateStackup
from tests.support.mini import mini_context

STACKUP = """
mask 0.015 dk=3.5
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
In1.Cu 0.015
core 1.2 "370HR" dk=4.0 df=0.02
In2.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
B.Cu 0.035
mask 0.015 dk=3.5
"""
BOARD = {"size_mm": [80, 40], "planes": {"In1.Cu": "GND", "In2.Cu": "GND"}, "stackup": STACKUP}


def pair(end_mm: float = 60, nets: tuple[str, str] = ("/PCIE_TX0_P", "/PCIE_TX0_N")) -> dict[str, object]:
    """85 ohm on the surface, as `off_target_impedance.toml` has it."""
    return {"nets": nets, "layer": "F.Cu", "path_mm": [[5, 10], [end_mm, 10]], "width_mm": 0.174, "gap_mm": 0.15}


def context(folder: Path, pairs: list[dict[str, object]], config: str = "") -> Context:
    return mini_context(folder, {**BOARD, "pairs": pairs}, config)


def with_prepreg(candidate: CandidateStackup, thickness_mm: float) -> CandidateStackup:
    """The stackup with other outer dielectrics."""
    rows = [
        row.model_copy(update={"thickness_mm": thickness_mm}) if row.thickness_mm == 0.1 else row
        for row in candidate.rows
    ]
    return candidate.model_copy(update={"rows": tuple(rows)})


@pytest.mark.parametrize(
    ("thickness_mm", "ohm", "fits"), [(0.1, 84.7, True), (0.115, 89.6, True), (0.16, 99.8, True), (0.3, 112.5, False)]
)
def test_pairs_of_unknown_generation_are_held_against_their_target(
    thickness_mm: float, ohm: float, fits: bool, tmp_path: Path
) -> None:
    """The card specification allows its first generation 68 to 105 ohm; values of a finite-difference solution."""
    ctx = context(tmp_path, [pair()])
    ((words, found),) = unsought_words(with_prepreg(candidate_of(ctx), thickness_mm), unsought_sizes(ctx))

    assert words.startswith("0.174/0.150 makes ") and words.endswith("for PCI Express")
    assert " on F.Cu: 68 to 105 ohm as PCIe Gen1 for" in words
    assert float(words.split(" makes ")[1].split(" ohm")[0]) == pytest.approx(ohm, rel=0.02)
    assert found is fits


def test_what_is_sought_is_not_said_again(tmp_path: Path) -> None:
    """The lines of a goal have widths of their own."""
    declared = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
    ctx = context(tmp_path, [pair()], declared)
    assert unsought_sizes(ctx, {("PCIe Gen5", "F.Cu")}) == ()
    assert len(unsought_sizes(ctx)) == 1


def test_what_is_sought_on_inner_layers_alone_is_said_of_the_surface(tmp_path: Path) -> None:
    """A goal for striplines says nothing of the same interface's lines on the outer layers."""
    declared = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
    (found,) = unsought_sizes(context(tmp_path, [pair()], declared), {("PCIe Gen5", "In1.Cu")})
    assert (found.target.title, found.size) == ("PCIe Gen5", (0.174, 0.15))


@pytest.mark.parametrize("pairs", [[], [pair(5.5)], [pair(nets=("/LED1", "/LED2"))]], ids=["none", "short", "no link"])
def test_lines_without_a_target_or_a_length_are_left_out(pairs: list[dict[str, object]], tmp_path: Path) -> None:
    assert unsought_sizes(context(tmp_path, pairs)) == ()


@pytest.mark.parametrize(
    ("one", "sizes", "ohm", "off"),
    [
        ("pcie2", (0.125, 0.2), 103, None),
        ("pcie2", (0.08, 0.3), 128.6, 100 * 20 / 85),
        ("pcie5", (0.125, 0.2), 103, 5),
    ],
)
def test_what_the_card_specification_allows_of_gen2_is_not_rerouted_and_passes_the_written_rule(
    one: str, sizes: tuple[float, float], ohm: float, off: float | None, tmp_path: Path
) -> None:
    """68 to 105 ohm, 23.5 % over the 85 ohm that the rules are solved for.

    By a finite-difference solution without the mask 107.8 and 135.1 ohm; the mask takes 4 to 5 %.
    """
    routed = {**pair(), "width_mm": sizes[0], "gap_mm": sizes[1]}
    classes = {"net_classes": [{"name": "FAST", "patterns": ["/PCIE_*"]}]}
    declared = f'[[interface]]\nis = "{one}"\nnets = ["/PCIE_*"]\n'
    lines = retargeted_lines(mini_context(tmp_path, {**BOARD, **classes, "pairs": [routed]}, declared), [0])

    (rule,) = lines.rule
    assert "85 ohm differential" in rule.requirement
    assert [one.impedance_ohm for one in lines.reroute] == ([] if off is None else [pytest.approx(ohm, rel=0.02)])
    assert [one.tolerance_pct for one in lines.reroute] == ([] if off is None else [pytest.approx(off, abs=1e-4)])
    assert rule.min_width_mm == (sizes[0] if off is None else None)
