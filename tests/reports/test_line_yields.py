"""What a change makes of lines names the tolerance that its yields are within: that of each target."""

from __future__ import annotations

import pytest

from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.impedance.line_effects import LineEffect, LineState
from stackup_lib.transmission_lines.width_request import Target
from stackwright.commands.apply.effects_page import effects_block
from stackwright.reporters.pull_request import _lines
from stackwright.text.page import Page, plain_console


def effect(tolerance_pct: float) -> LineEffect:
    """85 ohm before, 88 after; 99 % within the tolerance, then 61 %."""
    return LineEffect(
        layer="In2.Cu",
        target=LineTarget(title="PCIe", target=Target(ohm=85, kind="differential"), tolerance_pct=tolerance_pct),
        width_mm=0.1,
        gap_mm=0.15,
        length_mm=40,
        before=LineState(impedance_ohm=85.0, yield_pct=100.0, tolerance_yield_pct=99.0),
        after=LineState(impedance_ohm=88.0, yield_pct=99.0, tolerance_yield_pct=61.0),
    )


@pytest.mark.parametrize("tolerance_pct", [5.0, 15.0])
def test_yields_are_those_within_the_tolerance_of_the_target(tolerance_pct: float) -> None:
    page = Page()
    effects_block(page, [effect(tolerance_pct)], ("before", "after"))
    text = page.text(plain_console(100))

    assert "yield within the tolerance of the target" in text
    assert f"in +-{tolerance_pct:g} %" in text
    assert "99 % -> 61 %" in text
    comment = "\n".join(_lines([effect(tolerance_pct)])).replace("\\", "")
    assert f"88.0 ohm, 61 % in +-{tolerance_pct:g} %" in comment
    assert "10 %" not in text + comment


def test_a_yield_that_is_not_known_is_none() -> None:
    bare = effect(5).model_copy(update={"after": LineState(impedance_ohm=88.0)})
    assert "| 88.0 ohm |" in "\n".join(_lines([bare])).replace("\\", "")
