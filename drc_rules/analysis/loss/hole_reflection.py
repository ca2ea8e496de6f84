"""What one plated hole loses by its field: the barrel between two lines, and the stubs at its ends, together.

Barrel and stubs are a fraction of a wave apart: they reflect in amplitude, so what each loses alone is no sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.via.high_speed_vias import StubGroup, StubValues, openings_of
from drc_rules.analysis.via.stub_nulls import ends_at_planes, resonance_values
from drc_rules.analysis.via.via_bodies import mean_df, modes_of_pair, via_of
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record, workpiece
from stackup_lib.transmission_lines.two_port import Complex, in_a_row, s_of_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.plated_holes import PlatedHole
from stackup_lib.vias.via_circuit import ModelledVia

S11_OFF_PER_GHZ, S11_OFF = 0.011, 0.11
"""How far |S11| of a via may be off, per GHz and at most: seven pairs in a 3-D field solver up to 20 GHz keep it."""

POINTS = 5
"""Frequencies at which a loss is taken over the range that length, Dk and return current leave."""

FASTEST = 10.0
"""A stub that may be nothing at all is one that resonates this many times higher."""

LEAST_PASSED = 1e-6
"""Of the power or amplitude: no loss is told beyond it."""

Real = NDArray[np.float64]


@record
class HoleLoss:
    """What a hole loses between two matched lines, in dB: all of it, and the barrel alone, without stubs."""

    total_db: Interval
    barrel_db: Interval


def hole_loss(
    ctx: Context, nyquist_ghz: float, line_ohm: float, hole: PlatedHole, groups: Sequence[StubGroup]
) -> HoleLoss | None:
    """Return the loss of a hole; None where it ends far beyond the planes, or where there are none.

    Past the resonance of a stub the loss is infinite: it is much, and how much is not known.

    Args:
        ctx: the board.
        nyquist_ghz: where the loss is wanted.
        line_ohm: impedance on either side; of a pair the odd-mode one.
        hole: one of the groups' holes.
        groups: those that the hole is in, one per end with a stub.

    Raises:
        MissingFact: a thickness or a Dk is not known.
    """
    of = _Hole(ctx, hole, line_ohm, tuple(groups))
    usual = of.via(of.lone)
    if usual is None or not (ends_at_planes(usual) or any(stub.drill for stub in of.stubs)):
        return None
    resonances = [of.values(stub).resonance_ghz for stub in of.stubs]
    barrel = of.loss_db(nyquist_ghz, (), ())
    return HoleLoss(of.loss_db(nyquist_ghz, of.stubs, resonances) if of.stubs else barrel, barrel)


@workpiece
class _Hole:
    """A hole, with what hangs on it."""

    ctx: Context
    hole: PlatedHole
    line_ohm: float
    groups: tuple[StubGroup, ...]

    @property
    def lone(self) -> StubGroup:
        """The hole as a group of its own."""
        return replace(self.groups[0], holes=(self.hole,))

    @cached_property
    def stubs(self) -> tuple[StubGroup, ...]:
        """One per end that goes on past the last layer used."""
        return tuple(one for one in self.groups if one.stubs and self.values(one).length_mm.nominal > 0)

    def values(self, group: StubGroup) -> StubValues:
        """Length and resonance of a stub, as VIA002 has them."""
        return resonance_values(self.ctx, group)

    def via(self, group: StubGroup, stub_mm: float | None = None) -> ModelledVia | None:
        """Return the hole in the odd mode of its pair; its Dk is that of one frequency, whichever loss is wanted."""
        found = via_of(self.ctx, group, self._anchor_ghz, stub_mm)
        apart = group.shape.partner_mm
        return found if found is None or apart is None else modes_of_pair(found, apart)[0]

    @property
    def _anchor_ghz(self) -> float:
        return self.groups[0].choices[-1].nyquist_ghz or 1.0

    def loss_db(self, nyquist_ghz: float, stubs: Sequence[StubGroup], resonances: Sequence[Interval]) -> Interval:
        """Return the loss of the barrel with stubs of these resonances.

        Length, Dk and return current move the resonance and scale the frequency; openings and the model move |S11|.
        """
        slow = max((one.nominal / one.low for one in resonances), default=1.0)
        fast = min(max((one.high / one.nominal for one in resonances), default=1.0), FASTEST)
        ghz = nyquist_ghz * np.geomspace(1 / fast, slow, POINTS) if resonances else np.array([nyquist_ghz])
        narrow, usual, wide = openings_of(self.lone)
        reflected, absorbed_db = self._at(np.array([nyquist_ghz]), usual, stubs)
        nominal = float(reflected[0])
        found = [*self._at(ghz, usual, stubs)[0].tolist(), nominal]
        for one in (narrow, wide):
            if one.opening_mm.nominal != usual.opening_mm.nominal:
                found += self._at(np.array([nyquist_ghz]), one, stubs)[0].tolist()
        off = s11_off(nyquist_ghz)
        is_past = any(nyquist_ghz >= one.nominal for one in resonances)
        may_be_past = any(nyquist_ghz >= one.low for one in resonances)
        return Interval(
            low=absorbed_db + _reflection_db(max(min(found) - off, 0.0)),
            nominal=math.inf if is_past else absorbed_db + _reflection_db(nominal),
            high=math.inf if may_be_past else absorbed_db + _reflection_db(max(found) + off),
        )

    def _at(self, ghz: Real, group: StubGroup, stubs: Sequence[StubGroup]) -> tuple[Real, float]:
        """Return |S11| at each frequency, and what the first loses in dB that it does not reflect."""
        s = s_of_chain(in_a_row(self._chains(ghz, group, stubs), len(ghz)), self.line_ohm)
        reflected = np.abs(s[:, 0, 0])
        lost_db = -20 * math.log10(max(abs(complex(s[0, 1, 0])), LEAST_PASSED))
        return reflected, max(lost_db - _reflection_db(float(reflected[0])), 0.0)

    def _chains(self, ghz: Real, group: StubGroup, stubs: Sequence[StubGroup]) -> Iterator[Complex]:
        """Yield what lies across the path above the barrel, the barrel, and what lies across below it."""
        laminate = LaminateLoss(mean_df(self.ctx, self._anchor_ghz), self._anchor_ghz)
        via, used = self.via(group), self.hole.used
        yield from self._across(ghz, group, [one for one in stubs if one.stubs[0].side < one.stubs[0].first], laminate)
        if via is not None and used[-1] > used[0]:
            yield passage_chain(ghz, via, (used[0], used[-1]), laminate, self.line_ohm)
        yield from self._across(ghz, group, [one for one in stubs if one.stubs[0].side > one.stubs[0].first], laminate)

    def _across(
        self, ghz: Real, group: StubGroup, stubs: Sequence[StubGroup], laminate: LaminateLoss
    ) -> Iterator[Complex]:
        for stub in stubs:
            left_mm = self.values(stub).length_mm.nominal if stub.drill else None
            via = self.via(replace(stub, holes=(self.hole,), opening_mm=group.opening_mm), left_mm)
            if via is not None:
                yield open_end_chain(ghz, via, (stub.stubs[0].first, stub.stubs[0].side), laminate)


def s11_off(frequency_ghz: float) -> float:
    """Return how far |S11| of the model may be off."""
    return min(S11_OFF_PER_GHZ * frequency_ghz, S11_OFF)


def _reflection_db(s11: float) -> float:
    """Return the loss of what reflects this share of the amplitude: 1 - |S11|^2 of the power passes."""
    return -10 * math.log10(max(1 - s11**2, LEAST_PASSED))
