"""The impedance of a capacitor as a file has it, at any frequency, and the C, R and L that it comes to."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import entity
from stackup_lib.power.over_frequency.circuit import solve
from stackup_lib.power.over_frequency.part_impedance import series_part_ohm, shunt_part_ohm
from stackup_lib.power.over_frequency.spice_part import Subcircuit
from stackup_lib.transmission_lines.materials.conductor_models import Complex, Real
from stackup_lib.transmission_lines.touchstone_file import PartNetwork

SPICE_HZ = np.geomspace(100.0, 1e10, 641)
"""Where a subcircuit is solved: 80 per decade."""

FAR_BELOW = 30.0
"""The capacitance is read at the series resonance divided by this, or at the first frequency of the file."""


@entity
class CapacitorCurve:
    """|Z| and phase of a capacitor over frequency, without mounting.

    Below the first frequency it goes on as a capacitance, above the last as an inductance, with the resistance there.
    """

    hz: Real
    ohm: Complex

    def at(self, hz: Real) -> Complex:
        """Return Z at other frequencies above 0: between two, |Z| on logarithmic scales, and the phase."""
        logs = np.log(self.hz)
        size = np.exp(np.interp(np.log(hz), logs, np.log(np.abs(self.ohm))))
        phase = np.interp(np.log(hz), logs, np.unwrap(np.angle(self.ohm)))
        inside = size * np.exp(1j * phase)
        first, last = self.ohm[0], self.ohm[-1]
        below = first.real + 1j * first.imag * self.hz[0] / hz
        above = last.real + 1j * last.imag * hz / self.hz[-1]
        return np.asarray(np.where(hz < self.hz[0], below, np.where(hz > self.hz[-1], above, inside)))

    @cached_property
    def _lowest(self) -> int:
        return int(np.argmin(np.abs(self.ohm)))

    @property
    def capacitance_f(self) -> float:
        """Far below the series resonance."""
        hz = max(float(self.hz[0]), float(self.hz[self._lowest]) / FAR_BELOW)
        return -1 / (2 * math.pi * hz * float(self.at(np.array([hz]))[0].imag))

    @property
    def esr_ohm(self) -> float:
        """The resistance where |Z| is smallest."""
        return max(float(self.ohm[self._lowest].real), 1e-9)

    @property
    def esl_h(self) -> float:
        """At the last frequency, less what the capacitance takes."""
        omega = 2 * math.pi * float(self.hz[-1])
        return (float(self.ohm[-1].imag) + 1 / (omega * self.capacitance_f)) / omega


def table_of_network(network: PartNetwork, *, is_shunt: bool) -> CapacitorCurve:
    """Return the impedance of a capacitor that was measured in series between two ports, or as a shunt to ground.

    Raises:
        StackwrightError: what was measured is no capacitor, or the file ends below its series resonance.
    """
    used = network.frequency_ghz > 0
    of = shunt_part_ohm if is_shunt else series_part_ohm
    ohm = of(network.s[used], network.reference_ohm)
    return _checked(network.where, network.frequency_ghz[used] * 1e9, ohm)


def table_of_subcircuit(part: Subcircuit) -> CapacitorCurve:
    """Return the impedance between the terminals of a subcircuit; raises `StackwrightError` as for a measurement."""
    try:
        solved = solve(part.branches, part.first, SPICE_HZ)
    except (ValueError, np.linalg.LinAlgError):
        what = f"subcircuit {part.name}: not every node leads from one terminal to the other"
        raise StackwrightError(part.where, what, "correct the model") from None
    return _checked(part.where, SPICE_HZ, solved.impedance_ohm)


def _checked(where: str, hz: Real, ohm: Complex) -> CapacitorCurve:
    """Noise may make a small resistance negative: it counts as none."""
    passive = np.maximum(ohm.real, 0.0) + 1j * ohm.imag
    if len(hz) < 2 or not np.isfinite(passive).all() or not passive[0].imag < 0:
        raise StackwrightError(where, "is no capacitor at its first frequency", "give the file of a capacitor")
    if not passive[-1].imag > 0:
        what = f"ends at {hz[-1] / 1e6:.4g} MHz, below the series resonance: it does not tell the inductance"
        raise StackwrightError(where, what, "give a file that goes higher")
    return CapacitorCurve(hz, passive)
