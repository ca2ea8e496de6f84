"""Vias: impedance, loaded permittivity, the resonance of a stub and what a stub costs at a frequency.

A barrel among planes is slower than a wave in its laminate. Planes and pads add capacitance; the return current comes
back through the gaps between planes, further out than the antipad's rim, which adds inductance. With C and L per
length, Dk_eff = c^2 L C: never below the laminate's Dk, 1.3 to 2 times it for usual holes.

Every answer is an interval, because a board file states neither the return path nor what the drill leaves behind.
Lengths in mm, frequencies in GHz, diameters are those of the drilled hole: the outside of the plating.
"""

import math

from pydantic import Field, model_validator

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ

COAX_OHM = 376.730313668 / (2 * math.pi)
"""Free-space impedance over 2 pi: Z of an air coax is this times ln(D/d)."""

SPARSE_PLANES = 0.85
"""Least capacitance of planes with antipads, as a share of that of a solid wall as wide as the antipad.

Axisymmetric field solution, barrel 0.3 mm, antipad 0.81 mm, planes every 0.4 mm; 0.97 for planes every 0.1 mm."""

PAD_SHARE = (0.5, 0.85)
"""How far pads on every plane act as a barrel of their own width, as an exponent: usual, and with the densest planes.

The same field solution gives 0.7 to 0.85 for usual pads and planes every 0.1 mm, 0.4 to 0.6 for every 0.2 mm."""

MODEL_SPREAD = 0.15
"""Relative uncertainty of any closed form for a via's impedance (engineering knowledge)."""

RADIAL_LINE = 2 / math.exp(0.5772156649015329)
"""The return current of a lone barrel between planes acts as if at this over the wave number: small-argument form of
the Hankel function of a radial line (Marcuvitz, Waveguide Handbook, 1951, section 1.7)."""


class ViaError(StackwrightError):
    """A via that cannot exist."""


class ViaShape(Frozen):
    """A barrel in its antipads.

    Attributes:
        barrel_mm: drilled diameter.
        antipad_mm: diameter of the opening in the planes.
        pad_mm: diameter of pads on the passed layers and at the end; None where unused pads are removed.
        end_pad_mm: pad at the stub's open end; None where it is drilled away.
        partner_mm: distance to the other via of a differential pair, centre to centre; None for a lone via.
    """

    barrel_mm: float = Field(gt=0)
    antipad_mm: float = Field(gt=0)
    pad_mm: float | None = None
    end_pad_mm: float | None = None
    partner_mm: float | None = None

    @model_validator(mode="after")
    def _fits(self) -> "ViaShape":
        inner = max(self.barrel_mm, self.pad_mm or 0.0)
        if self.antipad_mm <= inner:
            raise ViaError("via", f"antipad {self.antipad_mm:g} mm is no wider than {inner:g} mm of copper", "widen it")
        if self.partner_mm is not None and self.partner_mm <= self.barrel_mm:
            where = f"{self.partner_mm:g} mm apart"
            raise ViaError("via pair", f"barrels of {self.barrel_mm:g} mm overlap, {where}", "move them apart")
        return self

    @property
    def wall(self) -> float:
        """ln(D/d) of the barrel in its antipad."""
        return math.log(self.antipad_mm / self.barrel_mm)

    @property
    def capacitance_ratio(self) -> Interval:
        """Capacitance over that of a coax with the antipad as its outer conductor.

        Lowest between planes so sparse that their gaps count. Pads raise it towards that of a barrel as wide as they
        are: by a power of the ratio of the two, see `PAD_SHARE`.
        """
        dense = self.wall / math.log(self.antipad_mm / self.pad_mm) if self.pad_mm else 1.0
        dense = max(dense, 1.0)
        return Interval(low=SPARSE_PLANES, nominal=dense ** PAD_SHARE[0], high=dense ** PAD_SHARE[1])

    def inductance_ratio(self, length_mm: float) -> Interval:
        """Inductance over that of the same coax, at the quarter-wave resonance of a stub of that length.

        Between planes the return current of a lone barrel acts as if at `RADIAL_LINE` / k with k = pi/2L, never
        inside the antipad's rim; nominally half way, on a logarithmic scale. A complement that is nearer carries
        it: mu/(2 pi) arccosh(s/d), half a twin-rod line.

        Args:
            length_mm: of the stub.
        """
        radius = RADIAL_LINE * 2 * length_mm / math.pi
        far = max(math.log(2 * radius / self.barrel_mm) / self.wall, 1.0) if radius > 0 else 1.0
        if self.partner_mm is None:
            return Interval(low=1.0, nominal=math.sqrt(far), high=far)
        near = min(max(math.acosh(self.partner_mm / self.barrel_mm) / self.wall, 1.0), far)
        return Interval(low=1.0, nominal=near, high=near)

    def stub_length_mm(self, length_mm: Interval) -> Interval:
        """Return a stub's electrical length: the pad at its end adds up to its overhang, nominally half of that."""
        overhang = max((self.end_pad_mm or 0.0) - self.barrel_mm, 0.0) / 2
        return length_mm.plus(Interval(low=0.0, nominal=overhang / 2, high=overhang))


def loading(shape: ViaShape, length_mm: float) -> Interval:
    """Return Dk_eff over the laminate's Dk for a stub of that length: 1 at least, where nothing loads the barrel."""
    capacitance, inductance = shape.capacitance_ratio, shape.inductance_ratio(length_mm)
    nominal = max(capacitance.nominal * inductance.nominal, 1.0)
    return Interval(low=1.0, nominal=nominal, high=max(capacitance.high * inductance.high, nominal))


def loaded_dk(shape: ViaShape, dk: Interval, length_mm: float) -> Interval:
    """Return Dk_eff = c^2 L C of a stub.

    Args:
        shape: the via.
        dk: laminate along the stub, mean over its plies weighted by thickness.
        length_mm: of the stub.
    """
    factor = loading(shape, length_mm)
    return Interval(low=dk.low * factor.low, nominal=dk.nominal * factor.nominal, high=dk.high * factor.high)


def resonance_ghz(length_mm: float, dk_eff: float, overtone: int = 0) -> float:
    """Return f_n = (2n + 1) c / (4 L sqrt(Dk_eff)) of an open stub; infinite for a stub without length."""
    if length_mm <= 0:
        return math.inf
    return (2 * overtone + 1) * LIGHT_MM_GHZ / (4 * length_mm * math.sqrt(dk_eff))


def stub_resonance_ghz(shape: ViaShape, dk: Interval, length_mm: Interval) -> Interval:
    """Return the resonance of a via stub: low is the worst case, the longest stub with the heaviest loading.

    Args:
        shape: the via.
        dk: laminate along the stub.
        length_mm: from the layer that the signal leaves on to the barrel's end.
    """
    length = shape.stub_length_mm(length_mm)
    low = resonance_ghz(length.high, loaded_dk(shape, dk, length.high).high)
    nominal = resonance_ghz(length.nominal, loaded_dk(shape, dk, length.nominal).nominal)
    high = resonance_ghz(length.low, dk.low)
    return Interval(low=low, nominal=nominal, high=high)


def stub_loss_db(frequency_ghz: float, resonance_of_stub_ghz: float, line_ohm: float, stub_ohm: float) -> float:
    """Return the insertion loss of an open stub across a matched line, in dB, infinite at resonance.

    A shunt admittance Y on a line Z gives S21 = 2/(2 + Y Z); an open stub has Y = j tan(pi f/2 f_0)/Z_s. The stub
    itself counts as lossless, so real losses at resonance are finite.
    """
    if math.isinf(resonance_of_stub_ghz):
        return 0.0
    quarter_waves = frequency_ghz / resonance_of_stub_ghz
    if quarter_waves % 2 == 1:
        return math.inf
    ratio = line_ohm / (2 * stub_ohm) * math.tan(math.pi / 2 * quarter_waves)
    return 10 * math.log10(1 + ratio**2)


def stub_loss_interval_db(frequency_ghz: float, resonance: Interval, line_ohm: float, stub_ohm: Interval) -> Interval:
    """Return the loss of a stub with the ranges of its resonance and impedance; `high` is infinite past resonance."""
    if frequency_ghz >= resonance.nominal:
        worst = math.inf
        nominal = worst
    else:
        nominal = stub_loss_db(frequency_ghz, resonance.nominal, line_ohm, stub_ohm.nominal)
        past = frequency_ghz >= resonance.low
        worst = math.inf if past else stub_loss_db(frequency_ghz, resonance.low, line_ohm, stub_ohm.low)
    at_best = frequency_ghz < resonance.high
    best = stub_loss_db(frequency_ghz, resonance.high, line_ohm, stub_ohm.high) if at_best else nominal
    return Interval(low=best, nominal=nominal, high=worst)


def coaxial_ohm(barrel_mm: float, antipad_mm: float, dk: float) -> float:
    """Return the impedance of a barrel in a solid wall: (60/sqrt Dk) ln(D/d), exact for a coax."""
    return COAX_OHM / math.sqrt(dk) * math.log(antipad_mm / barrel_mm)


def via_ohm(shape: ViaShape, dk: float, length_mm: float) -> Interval:
    """Return the impedance of a barrel, for a pair the odd-mode one of either: sqrt(L/C), within `MODEL_SPREAD`.

    Args:
        shape: the via.
        dk: laminate along the barrel.
        length_mm: of the barrel or stub; it places the return current of a lone via.
    """
    ratio = math.sqrt(shape.inductance_ratio(length_mm).nominal / shape.capacitance_ratio.nominal)
    ohm = coaxial_ohm(shape.barrel_mm, shape.antipad_mm, dk) * ratio
    return Interval(low=ohm * (1 - MODEL_SPREAD), nominal=ohm, high=ohm * (1 + MODEL_SPREAD))
