"""Crosstalk between two ways that run next to each other in places, to first order in the coupling.

A way is a differential pair as one trace of it sees it: steps in a row, each a chain (A, B, C, D). What is sent into
one way stands on all of it as a wave in either direction, reflections among them. Where the other runs next to it,
mutual inductance and capacitance hand a share over; by reciprocity it reaches an end of the other way as a wave from
that end would reach the place (weak coupling: C. R. Paul, Analysis of Multiconductor Transmission Lines, 2nd ed. 2008).
What comes back into the first way is left out: the square of the coupling. Frequencies in GHz, lengths in mm.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.record import entity, record
from stackup_lib.transmission_lines.loss import LineLoss
from stackup_lib.transmission_lines.two_port import in_a_row, s_of_chain

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

NEAR, FAR = 0, 1
"""Ends of a way."""


@entity
class WayStep:
    """One element of a way.

    Attributes:
        chain: (frequencies, 2, 2).
        line: what the element is made of, None of what is no line.
        mm: length of the line.
        drawn_mm: of it on either trace of the pair.
    """

    chain: Complex
    line: LineLoss | None = None
    mm: float = 0.0
    drawn_mm: tuple[float, float] = (0.0, 0.0)


@record
class Place:
    """A length in which two ways run next to each other; its middle is `at_mm` from the beginning of its step.

    Attributes:
        step, other_step: of the first way and of the other.
        at_mm, other_at_mm: in those steps.
        mm: how long.
        is_opposite: the other way runs in the other direction.
        inductive, capacitive: mutual over own inductance and potential coefficients, with their signs.
    """

    step: int
    at_mm: float
    other_step: int
    other_at_mm: float
    mm: float
    is_opposite: bool
    inductive: float
    capacitive: float


@entity
class SignalWay:
    """The steps of a way from its near to its far end, and the resistance that ends it on both."""

    frequency_ghz: Real
    steps: tuple[WayStep, ...]
    reference_ohm: float

    @cached_property
    def s(self) -> Complex:
        """S-parameters (frequencies, 2, 2)."""
        return s_of_chain(in_a_row((one.chain for one in self.steps), len(self.frequency_ghz)), self.reference_ohm)

    @cached_property
    def _states(self) -> tuple[list[Complex], list[Complex]]:
        """Voltage and current at the beginning of each step, of a unit wave from either end: (frequencies, 2, 1)."""
        root = self.reference_ohm**0.5
        leaves = self.s[:, 1, 0]
        state: Complex = np.stack([leaves * root, leaves / root], axis=1)[:, :, None]
        from_near = []
        for one in reversed(self.steps):
            state = one.chain @ state
            from_near.append(state)
        leaves = self.s[:, 0, 1]
        state = np.stack([leaves * root, -leaves / root], axis=1)[:, :, None]
        from_far = []
        for one in self.steps:
            from_far.append(state)
            state = np.asarray(np.linalg.solve(one.chain, state), dtype=np.complex128)
        return from_near[::-1], from_far

    def line(self, step: int) -> LineLoss:
        """Return the line that a step is made of; raises `ValueError` where it is none."""
        line = self.steps[step].line
        if line is None:
            raise ValueError(f"step {step} is no line")
        return line

    def waves(self, step: int, at_mm: float, end: int) -> tuple[Complex, Complex]:
        """Return the waves at a place of a line towards the far and the near end, of a unit wave from one end."""
        line = self.line(step)
        state = self._states[end][step]
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(line.impedance_ohm)
            voltage, current = state[:, 0, 0] / root, state[:, 1, 0] * root
        turn = np.exp(-line.propagation_per_m * at_mm * 1e-3)
        return (voltage + current) / 2 * turn, (voltage - current) / 2 / turn


def crosstalk(way: SignalWay, other: SignalWay, places: Sequence[Place]) -> Complex:
    """Return the S-parameters (frequencies, 2, 2) into the ends of one way from those of another.

    Rows are the near and the far end of `way`, columns those of `other`. At DC there is none.
    """
    found = np.zeros((len(way.frequency_ghz), 2, 2), dtype=np.complex128)
    for place in places:
        found += _of_place(way, other, place)
    found[0] = 0
    return found


def _of_place(way: SignalWay, other: SignalWay, place: Place) -> Complex:
    """Half of j omega (k_L sqrt(L L') I I' + k_C sqrt(C C') V V') over the length, of the waves from the ends."""
    lines = way.line(place.step), other.line(place.other_step)
    slowness = [np.sqrt(line.inductance_h_per_m * line.capacitance_f_per_m) for line in lines]
    turn = 2e9j * np.pi * way.frequency_ghz * np.sqrt(slowness[0] * slowness[1])
    one, two = (line.propagation_per_m for line in lines)
    half_m = place.mm * 5e-4
    along, across = (_mean(np.asarray(x * half_m)) for x in (one + two, one - two))
    backward = (place.capacitive + place.inductive) * turn * along * half_m
    forward = (place.capacitive - place.inductive) * turn * across * half_m
    mine = [way.waves(place.step, place.at_mm, end) for end in (NEAR, FAR)]
    theirs = [other.waves(place.other_step, place.other_at_mm, end) for end in (NEAR, FAR)]
    if place.is_opposite:
        theirs = [(back, forth) for forth, back in theirs]
    rows = [
        [
            backward * (forth * forth_ + back * back_) + forward * (forth * back_ + back * forth_)
            for forth_, back_ in theirs
        ]
        for forth, back in mine
    ]
    return np.asarray(np.moveaxis(np.array(rows), 2, 0), dtype=np.complex128)


def _mean(x: Complex) -> Complex:
    """Return sinh(x)/x: the mean of exp over -x to x."""
    small = np.abs(x) < 1e-6
    safe = np.where(small, 1.0, x)
    return np.asarray(np.where(small, 1.0, np.sinh(safe) / safe), dtype=np.complex128)
