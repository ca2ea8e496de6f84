"""Loss per length of one mode of a line, split into dielectric, copper and roughness, from DC to where TEM ends.

The line comes as plain numbers of its lossless cross section (a field solver's, or a closed form's): inductance and
capacitance, how much of its capacitance each dielectric holds, how strongly its current crowds on each copper face.
Internal work is in SI per metre; answers are per millimetre where the name says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stackup_lib.core.light import LIGHT_M_PER_S
from stackup_lib.core.record import entity, record
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.transmission_lines.materials.conductor_models import (
    COPPER,
    Metal,
    NickelGold,
    layered_impedance_ohm,
    slab_impedance_ohm,
    strip_impedance_ohm,
)
from stackup_lib.transmission_lines.materials.dielectric_models import PermittivityModel
from stackup_lib.transmission_lines.materials.roughness import Roughness, Smooth

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

DB_PER_NEPER = 20 / math.log(10)

_AT_REST_GHZ = 1e-9
"""The inductance at DC is that at 1 Hz: a plane of infinite depth has none at rest."""


@record
class Filling:
    """One dielectric of the cross section.

    Attributes:
        share: q = d ln C / d ln eps, the share of the mode's capacitance that this dielectric holds. The shares of a
            line add up to 1 less what air holds.
        solved_dk: the Dk for which `Line.capacitance_f_per_m` holds.
        model: its permittivity over frequency.
    """

    share: float
    solved_dk: float
    model: PermittivityModel


@record
class Face:
    """Faces of copper that share finish and roughness.

    Attributes:
        crowding_per_mm: the integral of J^2 over the contour of these faces over I^2, in 1/mm: their resistance is this
            times the surface resistance (H. A. Wheeler, Proc. IRE 30 (1942) 412: d(1/C0)/dn, in units of eps0).
        depth_mm: metal behind the face, infinite for a thick one: of a plane its thickness, of every face of a trace
            `trace_depth_mm`.
        of_plane: a face of a wide sheet (coth law), else of a trace (whose current also crowds toward its edges).
        is_boundless: of a plane far wider than the line: a current at rest spreads in it and meets no resistance.
        roughness: law of roughness of the face.
        finish: nickel and gold on copper that no mask covers, None elsewhere.
    """

    crowding_per_mm: float
    depth_mm: float = math.inf
    of_plane: bool = False
    is_boundless: bool = False
    roughness: Roughness = field(default_factory=Smooth)
    finish: NickelGold | None = None


@record
class Line:
    """One mode of a line: a single line, or the odd or even mode of a symmetric pair, per trace.

    Attributes:
        inductance_h_per_m: external inductance (mu0 eps0 / C0), without any field inside the copper.
        capacitance_f_per_m: with the `solved_dk` of every filling.
    """

    inductance_h_per_m: float
    capacitance_f_per_m: float
    fillings: tuple[Filling, ...]
    faces: tuple[Face, ...]


@entity
class LineLoss:
    """The line over frequency; every array has the shape of `frequency_ghz`.

    Attributes:
        resistance_ohm_per_m: of all faces, with finish and roughness.
        inductance_h_per_m: external and internal.
        conductance_s_per_m: omega C times the loss tangent as the line sees it.
        capacitance_f_per_m: with the Dk at each frequency.
        dielectric_db_per_mm: G Z/2.
        copper_db_per_mm: R Z^-1/2 of smooth faces, with their finish.
        roughness_db_per_mm: what roughness adds to it.
    """

    frequency_ghz: Real
    resistance_ohm_per_m: Real
    inductance_h_per_m: Real
    conductance_s_per_m: Real
    capacitance_f_per_m: Real
    dielectric_db_per_mm: Real
    copper_db_per_mm: Real
    roughness_db_per_mm: Real

    @property
    def total_db_per_mm(self) -> Real:
        """Loss of a matched line in dB per mm."""
        return np.asarray(self.dielectric_db_per_mm + self.copper_db_per_mm + self.roughness_db_per_mm)

    @property
    def propagation_per_m(self) -> Complex:
        """Gamma = sqrt((R + j omega L)(G + j omega C)) in Np/m and rad/m, without the low-loss approximation."""
        series, shunt = self._immittances()
        return np.asarray(np.sqrt(series) * np.sqrt(shunt))

    @property
    def impedance_ohm(self) -> Complex:
        """Characteristic impedance sqrt((R + j omega L)/(G + j omega C)); not a number at DC without leakage."""
        series, shunt = self._immittances()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(series) / np.sqrt(shunt))

    @property
    def delay_ps_per_mm(self) -> Real:
        """sqrt(L C) in ps/mm."""
        return np.asarray(np.sqrt(self.inductance_h_per_m * self.capacitance_f_per_m) * 1e9)

    def _immittances(self) -> tuple[Complex, Complex]:
        omega = 2e9 * math.pi * self.frequency_ghz
        series = self.resistance_ohm_per_m + 1j * omega * self.inductance_h_per_m
        return series, self.conductance_s_per_m + 1j * omega * self.capacitance_f_per_m


def line_from_impedance(
    impedance_ohm: float, eps_eff: float, fillings: tuple[Filling, ...], faces: tuple[Face, ...]
) -> Line:
    """Return the line of a lossless impedance and effective permittivity: L = Z sqrt(eps)/c, C = sqrt(eps)/(c Z)."""
    slowness = math.sqrt(eps_eff) / LIGHT_M_PER_S
    return Line(impedance_ohm * slowness, slowness / impedance_ohm, fillings, faces)


def trace_depth_mm(crowding_per_mm: float, area_mm2: float) -> float:
    """Return the depth to give to every face of a trace: the sum of its crowding times its copper area.

    With it the resistance is 1/(sigma A) at DC and crowding * Rs in the skin limit; see `strip_impedance_ohm`.
    """
    return crowding_per_mm * area_mm2


def loss_per_length(line: Line, frequency_ghz: ArrayLike, metal: Metal = COPPER) -> LineLoss:
    """Return R, L, G, C and the loss of a line at frequencies in GHz, 0 allowed.

    First-order (low-loss) attenuation alpha = R/(2 Z) + G Z/2 with Z = sqrt(L/C), which is also what a matched line
    loses at DC. The sum is within 0.2 % of the full telegrapher's equations above 0.3 GHz on board lines, within 2 %
    at 0.1 GHz. Where a quasi-static answer ends: `stackup_lib.field_solver.validity`.

    Raises:
        GeometryError: the roughness of the copper reaches across the dielectric.
    """
    f = np.asarray(frequency_ghz, dtype=np.float64)
    omega = 2e9 * math.pi * f
    smooth, rough = _series(line.faces, np.maximum(f, _AT_REST_GHZ), metal)
    resistance, plain = rough.real, smooth.real
    if (at_rest := f == 0).any():
        bounded = tuple(face for face in line.faces if not face.is_boundless)
        still = _series(bounded, np.zeros_like(f), metal)[0].real
        resistance, plain = np.where(at_rest, still, resistance), np.where(at_rest, still, plain)
    inductance = line.inductance_h_per_m + rough.imag / (2e9 * math.pi * np.maximum(f, _AT_REST_GHZ))
    capacitance = _capacitance(line, f)
    conductance = -omega * capacitance.imag
    if (inductance <= 0).any():
        raise GeometryError(
            "a line's copper is as rough as its dielectric is thick", "check the thickness of the dielectric"
        )
    impedance = np.sqrt(inductance / capacitance.real)
    scale = DB_PER_NEPER * 1e-3
    return LineLoss(
        frequency_ghz=f,
        resistance_ohm_per_m=np.asarray(resistance),
        inductance_h_per_m=np.asarray(inductance),
        conductance_s_per_m=np.asarray(conductance),
        capacitance_f_per_m=np.asarray(capacitance.real),
        dielectric_db_per_mm=np.asarray(scale * conductance * impedance / 2),
        copper_db_per_mm=np.asarray(scale * plain / (2 * impedance)),
        roughness_db_per_mm=np.asarray(scale * (resistance - plain) / (2 * impedance)),
    )


def mean_loss(ends: Sequence[LineLoss]) -> LineLoss:
    """Return the line in the middle of some, all over the same frequencies: the mean of each R, L, G, C and loss."""
    if len(ends) == 1:
        return ends[0]

    def mean(values: Iterable[Real]) -> Real:
        return np.asarray(np.mean(np.stack(list(values)), axis=0))

    return LineLoss(
        frequency_ghz=ends[0].frequency_ghz,
        resistance_ohm_per_m=mean(end.resistance_ohm_per_m for end in ends),
        inductance_h_per_m=mean(end.inductance_h_per_m for end in ends),
        conductance_s_per_m=mean(end.conductance_s_per_m for end in ends),
        capacitance_f_per_m=mean(end.capacitance_f_per_m for end in ends),
        dielectric_db_per_mm=mean(end.dielectric_db_per_mm for end in ends),
        copper_db_per_mm=mean(end.copper_db_per_mm for end in ends),
        roughness_db_per_mm=mean(end.roughness_db_per_mm for end in ends),
    )


def _series(faces: tuple[Face, ...], frequency_ghz: Real, metal: Metal) -> tuple[Complex, Complex]:
    """Surface impedance of all faces in ohm per metre, smooth and rough."""
    smooth: Complex = np.zeros(frequency_ghz.shape, dtype=np.complex128)
    rough = smooth
    for face in faces:
        if face.crowding_per_mm == 0:
            continue
        coats = face.finish.coats() if face.finish else ()
        law = slab_impedance_ohm if face.of_plane else strip_impedance_ohm
        z = layered_impedance_ohm(frequency_ghz, coats, law(frequency_ghz, face.depth_mm, metal))
        times = face.roughness.multiplier(frequency_ghz, metal)
        per_metre = face.crowding_per_mm * 1e3
        smooth = smooth + per_metre * z
        rough = rough + per_metre * (z.real * times.resistance + 1j * z.imag * times.reactance)
    return smooth, rough


def _capacitance(line: Line, frequency_ghz: Real) -> Complex:
    """C (1 + sum q_i (eps_i(f)/solved_dk_i - 1)): exact where all dielectrics change alike and no field is in air.

    Otherwise to first order in the change of Dk; a microstrip's capacitance is very nearly linear in its substrate's.
    """
    change: Complex = np.ones(frequency_ghz.shape, dtype=np.complex128)
    for filling in line.fillings:
        change = change + filling.share * (filling.model.permittivity(frequency_ghz) / filling.solved_dk - 1)
    return np.asarray(line.capacitance_f_per_m * change)
