"""The delay of vias against a 3-D field solver; `openems_vias.py` tells how the reference was made.

Held out, `is_held_out` in the table: boards of four, six and ten layers that were solved to prove the model, and not to
settle it. Nothing in it is fitted.
"""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest

from tests.support.physics.openems_vias import solver_changes, vias


def test_every_via_is_within_a_tenth() -> None:
    """The goal; those that were held out as well, and half of all within 3 %."""
    held_out = [one for one in vias() if one.is_held_out]
    assert (len(vias()), len(held_out)) == (17, 7)
    assert {one.name: one.off_pct for one in vias() if abs(one.off_pct) >= 10} == {}
    assert median(abs(one.off_pct) for one in vias()) < 3.0
    assert max(abs(one.off_pct) for one in held_out) < 7.0


def test_every_via_lies_within_our_range() -> None:
    """With its return vias known, 10 % either way."""
    assert [one.name for one in vias() if not one.ours_ps.low <= one.theirs_ps <= one.ours_ps.high] == []


def test_reflections_are_those_of_the_solver() -> None:
    """Within 0.05 at 2 and 5 GHz; at 10 GHz within 0.13, rms 0.06, between the lines and ports that the solver has.

    Between lines of our own, of 51.5 ohm where its mesh makes 48.6, 10 GHz is off by up to 0.17, rms 0.11: at 5 GHz the
    lines hardly show, since they are an eighth to a quarter of a wave long.
    """
    ours = {one.name: np.abs(one.our_s11 - one.their_s11) for one in vias()}
    theirs = {one.name: np.abs(one.our_s11_between_their_lines - one.their_s11) for one in vias()}
    assert {name: values for name, values in ours.items() if values[:2].max() > 0.05} == {}
    assert {name: values for name, values in theirs.items() if values[:2].max() > 0.065} == {}
    assert {name: values for name, values in theirs.items() if values[2] > 0.13} == {}
    rms = [np.sqrt(np.mean([values[2] ** 2 for values in of.values()])) for of in (theirs, ours)]
    assert rms[0] < 0.06
    assert rms[1] > 0.1


def test_a_finer_mesh_moves_the_solver_by_less_than_we_are_off() -> None:
    """Two of the vias with cells 1.5 times finer, one for twice as long: under 2 % of delay and 0.03 of |S11|."""
    changes = solver_changes()
    assert len(changes) >= 2
    assert max(abs(pct) for one in changes for pct in one.delay_pct) < 2.0
    assert max(abs(change) for one in changes for change in one.s11) < 0.03


def test_an_overhang_delays_as_the_solver_says() -> None:
    """From F.Cu to In2.Cu of eight layers: 0.37 mm take 3.1 ps in a blind via and 9.7 ps in a through via."""
    by_name = {one.name: one for one in vias()}
    with_rest, blind = by_name["eight_stub"], by_name["eight_blind"]
    ours = with_rest.ours_ps.nominal - blind.ours_ps.nominal
    assert ours == pytest.approx(with_rest.theirs_ps - blind.theirs_ps, rel=0.1)


def test_a_farther_return_via_delays_as_the_solver_says() -> None:
    """From 1 mm to 2.5 mm through four layers: 2.2 ps at 5 GHz, 3.1 ps at 2 GHz; ours is the limit of low frequency."""
    by_name = {one.name: one for one in vias()}
    ours = by_name["four_far_ground"].ours_ps.nominal - by_name["four_through"].ours_ps.nominal
    assert ours == pytest.approx(17.61 - 14.47, rel=0.1)
