"""The decoupling capacitors of a rail: found on the board, with value, parts data and mounting, each with its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from drc_rules.analysis.power.over_frequency.mounts import Mounts
from drc_rules.analysis.power.over_frequency.part_data import PartData, declared_data, file_data, typical_data
from drc_rules.facts.part_models import PartModels
from drc_rules.settings.config_pdn import CapacitorDeclaration
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.interval import Interval
from stackup_lib.nets.capacitor_text import CapacitorText, read_capacitor
from stackup_lib.nets.two_pin_parts import NOT_FITTED, TwoTerminalParts, is_unfitted

NO_VIA = "no via of its net is within 10 mm"
OFF_PLANES = "its vias are not on the planes of the rail"


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


def decoupling_of(  # noqa: PLR0917 - what is looked for, and what is known of it
    parts: TwoTerminalParts,
    nets: tuple[int, int],
    mounts: Mounts,
    volts: float | None,
    declared: Sequence[CapacitorDeclaration],
    models: PartModels,
) -> Decoupling:
    """Return the capacitors between two nets.

    Args:
        parts: two-pad parts of the board.
        nets: rail and ground.
        mounts: planes and vias.
        volts: the rail's voltage, None where it is not known.
        declared: data of parts; the first that names a part holds.
        models: files of parts that have no such data.
    """
    board, found, left_out = mounts.board, [], {}
    ends = np.column_stack([parts.first_net, parts.second_net])
    rows = np.flatnonzero(parts.is_capacitor & (np.sort(ends, axis=1) == sorted(nets)).all(axis=1))
    for row in rows.tolist():
        footprint = int(parts.footprint[row])
        reference = str(board.footprints.reference[footprint])
        if board.footprints.unfitted[footprint]:
            left_out[reference] = NOT_FITTED
            continue
        value = str(board.footprints.value[footprint])
        stated = read_capacitor(value, str(board.footprints.library_id[footprint]))
        own = next((one for one in declared if any(fnmatchcase(reference, name) for name in one.parts)), None)
        back = bool(board.footprints.back[footprint])
        ways = [mounts.landing(int(pad[row]), back=back) for pad in (parts.first_pad, parts.second_pad)]
        data, no_data = _data_of(stated, own, models, footprint, volts)
        reason = NOT_FITTED if is_unfitted(value) else no_data or (NO_VIA if None in ways else "")
        first, second = ways
        if reason or data is None or first is None or second is None:
            left_out[reference] = reason
            continue
        on_rail = first if parts.first_net[row] == nets[0] else second
        under = mounts.under(on_rail.x_mm, on_rail.y_mm)
        if not under:
            left_out[reference] = OFF_PLANES
            continue
        found.append(
            RailCapacitor(
                reference=reference,
                value=_farads(own.uf * 1e-6 if own else stated.capacitance_f or data.capacitance_f.nominal),
                size=stated.size or "",
                mounting_h=mounts.inductance_h(first, second, under, back=back),
                x_mm=(first.x_mm + second.x_mm) / 2,
                y_mm=(first.y_mm + second.y_mm) / 2,
                data=data,
            )
        )
    return Decoupling(tuple(sorted(found, key=lambda one: (-one.data.capacitance_f.nominal, one.reference))), left_out)


def _data_of(
    stated: CapacitorText,
    own: CapacitorDeclaration | None,
    models: PartModels,
    footprint: int,
    volts: float | None,
) -> tuple[PartData | None, str]:
    """Return the data of a capacitor; without any, why there is none."""
    if own is not None:
        return declared_data(own, stated), ""
    row = models.of(footprint)
    if row is not None:
        try:
            return file_data(models, row, stated, volts), ""
        except StackwrightError as error:
            return None, f"{row.file} {error.what}"
    if stated.capacitance_f is None:
        return None, f'its value "{models.board.footprints.value[footprint]}" states no capacitance'
    if stated.size is None:
        return None, "its footprint states no size, so that ESR and ESL are not known"
    data = typical_data(stated, volts)
    return data, "" if data else f"no ESR and ESL for size {stated.size}"


def _farads(farad: float) -> str:
    """Return `4.7 uF`."""
    for unit, scale in (("uF", 1e-6), ("nF", 1e-9)):
        if farad >= scale * 0.9999:
            return f"{farad / scale:.3g} {unit}" if farad < 1000 * scale else f"{farad / scale:.0f} {unit}"
    return f"{farad / 1e-12:.3g} pF"
