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
from drc_rules.analysis.via.via_bodies import mean_df, odd_mode, via_of, with_returns
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record, workpiece
from stackup_lib.transmission_lines.two_port import Complex, in_a_row, s_of_chain, shunt_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.plated_holes import PlatedHole
from stackup_lib.vias.stub_resonance import ViaShape, via_ohm
from stackup_lib.vias.via_circuit import ModelledVia

Real = NDArray[np.float64]

S11_OFF_PER_GHZ, LEAST_S11_OFF, MOST_S11_OFF = 0.013, 0.033, 0.13
"""How far |S11| of a via may be off: 17 vias and seven pairs in a 3-D field solver, up to 10 and 20 GHz, are within."""

THICK_MM = 0.5
"""Pins beyond this have no 3-D comparison: where their current returns counts apart from |S11|."""

POINTS = 5
"""Resonances of each stub within its range at which a loss is taken, the nominal one in the middle."""

MOST_ANGLE = 0.999 * math.pi / 2
"""Of a uniform stub: at its resonance it is a short."""

FASTEST = 10.0
"""A stub that may be nothing at all is one that resonates this many times higher."""

LEAST_PASSED = 1e-12
"""Of the power: no loss is told beyond it."""


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
    if usual is None or not (ends_at_planes(usual) or any(stub.drill for stub, _ in of.stubs)):
        return None
    barrel = of.loss_db(nyquist_ghz, ())
    return HoleLoss(of.loss_db(nyquist_ghz, of.stubs) if of.stubs else barrel, barrel)


_Stub = tuple[StubGroup, StubValues]
"""A stub, with its length and resonance as VIA002 has them."""


@workpiece
class _Hole:
    """A hole, with what hangs on it."""

    ctx: Context
    hole: PlatedHole
    line_ohm: float
    groups: tuple[StubGroup, ...]

    @cached_property
    def lone(self) -> StubGroup:
        """The hole as a group of its own, its openings those along all of its stubs."""
        of = [one.opening_mm for one in self.groups]
        opening = Interval(
            low=min(one.low for one in of),
            nominal=sum(one.nominal for one in of) / len(of),
            high=max(one.high for one in of),
        )
        return replace(self.groups[0], holes=(self.hole,), opening_mm=opening)

    @cached_property
    def stubs(self) -> tuple[_Stub, ...]:
        """One per end that goes on past the last layer used."""
        found = [(one, resonance_values(self.ctx, one)) for one in self.groups if one.stubs]
        return tuple((one, values) for one, values in found if values.length_mm.nominal > 0)

    def via(self, group: StubGroup) -> ModelledVia | None:
        """Return the hole in the odd mode of its pair; its Dk is that of one frequency, whichever loss is wanted."""
        found = via_of(self.ctx, group, self._anchor_ghz)
        apart = group.shape.partner_mm
        return found if found is None or apart is None else odd_mode(found, apart)

    def _barrels(self, ghz: float) -> Iterator[tuple[StubGroup, ModelledVia | None]]:
        """Yield the hole with its usual openings and return current first, then with others.

        Narrow openings make it most capacitive with the nearest return current, wide ones least with the farthest.
        """
        narrow, usual, wide = openings_of(self.lone)
        yield usual, self.via(usual)
        has_barrel = len(self.hole.used) > 1 and self.lone.shape.barrel_mm > THICK_MM
        for one, path in ((narrow, 0), (wide, 2)):
            via = via_of(self.ctx, one, self._anchor_ghz)
            if via is not None and (has_barrel or one.opening_mm.nominal != usual.opening_mm.nominal):
                yield one, with_returns(via, self.lone.shape.partner_mm, ghz)[path if has_barrel else 1]

    @property
    def _anchor_ghz(self) -> float:
        return self.groups[0].choices[-1].nyquist_ghz or 1.0

    def loss_db(self, nyquist_ghz: float, stubs: Sequence[_Stub]) -> Interval:
        """Return the loss of the barrel with stubs.

        Length, Dk and return current move the resonance of a stub, as if its frequency were another; openings, the
        return current of the barrel and the model move |S11|.
        """
        resonances = [values.resonance_ghz for _, values in stubs]
        s = np.concatenate([self._s(nyquist_ghz, one, stubs) for one in self._barrels(nyquist_ghz)])
        reflected, off = np.hypot(np.abs(s[:, 0, 0]), np.abs(s[:, 1, 1])) / math.sqrt(2), s11_off(nyquist_ghz)
        absorbed_db = _loss_db(np.abs(s[:, 1, 0]) ** 2) - _loss_db(1 - reflected**2)
        least = absorbed_db + _loss_db(1 - np.maximum(reflected - off, 0.0) ** 2)
        nominal = (absorbed_db + _loss_db(1 - reflected**2))[POINTS // 2]
        most = absorbed_db + _loss_db(1 - np.minimum(reflected + off, 1.0) ** 2)
        is_past = any(nyquist_ghz >= one.nominal for one in resonances)
        may_be_past = any(nyquist_ghz >= one.low for one in resonances)
        return Interval(
            low=float(np.min(least)),
            nominal=math.inf if is_past else float(nominal),
            high=math.inf if may_be_past else float(np.max(most)),
        )

    def _s(self, ghz: float, of: tuple[StubGroup, ModelledVia | None], stubs: Sequence[_Stub]) -> Complex:
        """Return the S-parameters with each stub from its highest resonance to its lowest, nominal in the middle."""
        laminate = LaminateLoss(mean_df(self.ctx, self._anchor_ghz), self._anchor_ghz)
        (group, via), used = of, self.hole.used
        above = [one for one in stubs if one[0].stubs[0].side < one[0].stubs[0].first]
        below = [one for one in stubs if one not in above]
        chains = list(self._across(ghz, group, above, laminate))
        if via is not None and used[-1] > used[0]:
            chains.append(passage_chain(np.full(POINTS, ghz), via, (used[0], used[-1]), laminate, self.line_ohm))
        chains += self._across(ghz, group, below, laminate)
        return s_of_chain(in_a_row(chains, POINTS), self.line_ohm)

    def _across(self, ghz: float, group: StubGroup, stubs: Sequence[_Stub], loss: LaminateLoss) -> Iterator[Complex]:
        for stub, values in stubs:
            resonance = values.resonance_ghz
            fast, slow = min(resonance.high / resonance.nominal, FASTEST), resonance.nominal / resonance.low
            moved_ghz = ghz * np.interp(np.linspace(-1, 1, POINTS), (-1, 0, 1), (1 / fast, 1.0, slow))
            via = self.via(replace(stub, holes=(self.hole,), opening_mm=group.opening_mm))
            if stub.drill or via is None:
                yield drilled_stub_chain(moved_ghz, stub.shape, values)
            else:
                yield open_end_chain(moved_ghz, via, (stub.stubs[0].first, stub.stubs[0].side), loss)


def drilled_stub_chain(frequency_ghz: Real, shape: ViaShape, values: StubValues) -> Complex:
    """Return the chain of what a drill leaves, as a uniform stub of its resonance across the path.

    It ends in the openings of planes, which the field of a shorter via would count as closed.

    Args:
        frequency_ghz: of the chain.
        shape: the hole.
        values: length, Dk and resonance of what is left.
    """
    if values.length_mm.nominal <= 0:
        return shunt_chain(np.zeros(len(frequency_ghz), dtype=np.complex128))
    ohm = via_ohm(shape, values.dk.nominal, values.length_mm.nominal).nominal
    angle = np.minimum(math.pi / 2 * frequency_ghz / values.resonance_ghz.nominal, MOST_ANGLE)
    return shunt_chain(1j * np.tan(angle) / ohm)


def s11_off(frequency_ghz: float) -> float:
    """Return how far |S11| of the model may be off."""
    return min(max(S11_OFF_PER_GHZ * frequency_ghz, LEAST_S11_OFF), MOST_S11_OFF)


def _loss_db(passed: Real) -> Real:
    """Return the loss of what passes these shares of the power."""
    return -10 * np.log10(np.maximum(passed, LEAST_PASSED))
