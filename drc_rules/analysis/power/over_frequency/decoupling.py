"""The decoupling capacitors of a rail: found on the board, with value, parts data and mounting, each with its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from drc_rules.analysis.power.over_frequency.left_of_capacitance import left_of
from drc_rules.analysis.power.over_frequency.mounts import Mounts
from drc_rules.settings.config_pdn import CapacitorDeclaration
from stackup_lib.core.interval import Interval
from stackup_lib.nets.two_pin_parts import TwoTerminalParts, is_unfitted
from stackup_lib.power.over_frequency.capacitor_text import CapacitorText, read_capacitor
from stackup_lib.power.over_frequency.capacitors import typical_capacitor
from stackup_lib.power.over_frequency.landings import Landing

DECLARED = "declared"
NOT_FITTED = "not fitted"
NO_VIA = "no via of its net is within 10 mm"
OFF_PLANES = "its vias are not on the planes of the rail"


@dataclass(frozen=True)
class PartData:
    """What a capacitor is without its mounting.

    Attributes:
        capacitance_f: what is left of it at the rail's voltage.
        esr_ohm, esl_h, skin_ohm: of the part alone.
        source: of ESR and ESL.
        bias: how the capacitance was found.
        is_sure: capacitance, ESR and ESL are declared.
    """

    capacitance_f: Interval
    esr_ohm: Interval
    esl_h: Interval
    skin_ohm: Interval
    source: str
    bias: str
    is_sure: bool


@dataclass(frozen=True)
class RailCapacitor:
    """One capacitor between a rail and ground.

    Attributes:
        reference, value, size: as on the board.
        data: of the part.
        mounting_h: pads, copper and vias to the nearer plane.
        x_mm, y_mm: where its vias meet the planes.
    """

    reference: str
    value: str
    size: str
    data: PartData
    mounting_h: Interval
    x_mm: float
    y_mm: float

    @property
    def group(self) -> str:
        """Value and size, by which parts are counted."""
        return f"{self.value} {self.size}".strip()


@dataclass(frozen=True)
class Decoupling:
    """The capacitors that are in the network, and what keeps others out of it: with the reason for each."""

    capacitors: tuple[RailCapacitor, ...]
    left_out: dict[str, str]


def decoupling_of(
    parts: TwoTerminalParts,
    nets: tuple[int, int],
    mounts: Mounts,
    volts: float | None,
    declared: Sequence[CapacitorDeclaration],
) -> Decoupling:
    """Return the capacitors between two nets.

    Args:
        parts: two-pad parts of the board.
        nets: rail and ground.
        mounts: planes and vias.
        volts: the rail's voltage, None where it is not known.
        declared: data of parts; the first that names a part holds.
    """
    board, found, left_out = mounts.board, [], {}
    ends = np.column_stack([parts.first_net, parts.second_net])
    rows = np.flatnonzero(parts.is_capacitor & (np.sort(ends, axis=1) == sorted(nets)).all(axis=1))
    for row in rows.tolist():
        footprint = int(parts.footprint[row])
        reference = str(board.footprints.reference[footprint])
        value = str(board.footprints.value[footprint])
        stated = read_capacitor(value, str(board.footprints.library_id[footprint]))
        own = next((one for one in declared if any(fnmatchcase(reference, name) for name in one.parts)), None)
        back = bool(board.footprints.back[footprint])
        ways = [mounts.landing(int(pad[row]), back=back) for pad in (parts.first_pad, parts.second_pad)]
        reason = _reason(stated, own, value, ways)
        first, second = ways
        if reason or first is None or second is None:
            left_out[reference] = reason
            continue
        on_rail = first if parts.first_net[row] == nets[0] else second
        under = mounts.under(on_rail.x_mm, on_rail.y_mm)
        if not under:
            left_out[reference] = OFF_PLANES
            continue
        data = declared_data(own, stated) if own else _typical_data(stated, volts)
        if data is None:
            left_out[reference] = f"no ESR and ESL for size {stated.size}"
            continue
        found.append(
            RailCapacitor(
                reference=reference,
                value=_farads(own.uf * 1e-6 if own else stated.capacitance_f or 0.0),
                size=stated.size or "",
                mounting_h=mounts.inductance_h(first, second, under, back=back),
                x_mm=(first.x_mm + second.x_mm) / 2,
                y_mm=(first.y_mm + second.y_mm) / 2,
                data=data,
            )
        )
    return Decoupling(tuple(sorted(found, key=lambda one: (-one.data.capacitance_f.nominal, one.reference))), left_out)


def _reason(stated: CapacitorText, own: CapacitorDeclaration | None, value: str, ways: Sequence[Landing | None]) -> str:
    """Return why a capacitor cannot be in the network, "" where it can."""
    if is_unfitted(value):
        return NOT_FITTED
    if own is None and stated.capacitance_f is None:
        return f'its value "{value}" states no capacitance'
    if own is None and stated.size is None:
        return "its footprint states no size, so that ESR and ESL are not known"
    return NO_VIA if None in ways else ""


def _typical_data(stated: CapacitorText, volts: float | None) -> PartData | None:
    nominal_f, size = stated.capacitance_f, stated.size
    typical = typical_capacitor(size, nominal_f) if size and nominal_f else None
    if typical is None or nominal_f is None:
        return None
    left, bias = left_of(stated, volts)
    return PartData(
        capacitance_f=left.times(nominal_f),
        esr_ohm=typical.esr_ohm,
        esl_h=typical.esl_h,
        skin_ohm=typical.skin_ohm,
        source="measured" if typical.source.grade == "measured" else "band",
        bias=bias,
        is_sure=False,
    )


def declared_data(own: CapacitorDeclaration, stated: CapacitorText) -> PartData:
    """Return what is declared; R and L change with frequency as those of ceramic parts of the size, if it is known."""
    slack = own.tolerance_pct / 100
    farad = own.uf * 1e-6
    typical = typical_capacitor(stated.size, farad) if stated.size else None
    return PartData(
        capacitance_f=Interval(low=farad * (1 - slack), nominal=farad, high=farad * (1 + slack)),
        esr_ohm=_point(own.esr_mohm * 1e-3),
        esl_h=_point(own.esl_ph * 1e-12),
        skin_ohm=_point(typical.skin_ohm.nominal if typical else 0.0),
        source=own.source or DECLARED,
        bias=DECLARED,
        is_sure=True,
    )


def _point(value: float) -> Interval:
    return Interval(low=value, nominal=value, high=value)


def _farads(farad: float) -> str:
    """Return `4.7 uF`."""
    for unit, scale in (("uF", 1e-6), ("nF", 1e-9)):
        if farad >= scale * 0.9999:
            return f"{farad / scale:.3g} {unit}" if farad < 1000 * scale else f"{farad / scale:.0f} {unit}"
    return f"{farad / 1e-12:.3g} pF"
