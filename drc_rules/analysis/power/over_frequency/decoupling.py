"""The decoupling capacitors of a rail: found on the board, with value, parts data and mounting, each with its range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from drc_rules.analysis.power.over_frequency.mounts import Mounts
from drc_rules.analysis.power.over_frequency.part_data import PartData, declared_data, file_data, typical_data
from drc_rules.facts.part_models import PartModels
from drc_rules.settings.config_pdn import CapacitorDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.interval import Interval
from stackup_lib.nets.capacitor_text import CapacitorText, read_capacitor
from stackup_lib.nets.two_pin_parts import NOT_FITTED, TwoTerminalParts, is_left_out, is_unfitted
from stackup_lib.power.over_frequency.landings import Landing

NO_VIA = "no copper joins it to vias within 30 mm that reach the planes"
OFF_PLANES = "its vias are not on the planes of the rail"
MORE_PADS = "it has more than two pads: how it is joined inside is not known"
OTHER_PIECE = "neither fills nor vias join its piece of the planes to that of the load"


@dataclass(frozen=True)
class RailCapacitor:
    """One capacitor between a rail and ground.

    Attributes:
        reference, value, size: as on the board.
        data: of the part.
        mounting_h: pads, copper and vias to the nearer plane.
        x_mm, y_mm: where its vias meet the planes.
        layer: of the rail, where they first meet one.
    """

    reference: str
    value: str
    size: str
    data: PartData
    mounting_h: Interval
    x_mm: float
    y_mm: float
    layer: int

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
    fitted, left_out = _with_data(parts, nets, mounts.board, volts, declared, models)
    left_out |= dict.fromkeys(_of_more_pads(mounts.board, parts, nets), MORE_PADS)
    landings = _landings(mounts, [one.pads for one in fitted])
    found = []
    for one in fitted:
        on_rail, on_ground = (landings.get(pad) for pad in one.pads)
        if on_rail is None or on_ground is None:
            left_out[one.reference] = NO_VIA
            continue
        pairs = mounts.between(on_rail, on_ground)
        if not pairs:
            left_out[one.reference] = OFF_PLANES
            continue
        found.append(
            RailCapacitor(
                reference=one.reference,
                value=_farads(one.farad),
                size=one.size,
                mounting_h=mounts.inductance_h(on_rail, on_ground, pairs, back=mounts.is_back(one.pads[0])),
                x_mm=(on_rail.x_mm + on_ground.x_mm) / 2,
                y_mm=(on_rail.y_mm + on_ground.y_mm) / 2,
                layer=mounts.nearest(pairs, back=mounts.is_back(one.pads[0])).rail_layer,
                data=one.data,
            )
        )
    return Decoupling(tuple(sorted(found, key=lambda one: (-one.data.capacitance_f.nominal, one.reference))), left_out)


@dataclass(frozen=True)
class _Fitted:
    """A capacitor that is fitted and has data; `pads` is that on the rail, then that on ground."""

    reference: str
    farad: float
    size: str
    data: PartData
    pads: tuple[int, int]


def _with_data(  # noqa: PLR0917 - as `decoupling_of`
    parts: TwoTerminalParts,
    nets: tuple[int, int],
    board: Board,
    volts: float | None,
    declared: Sequence[CapacitorDeclaration],
    models: PartModels,
) -> tuple[list[_Fitted], dict[str, str]]:
    """Return the fitted capacitors between two nets, and why others are left out."""
    found: list[_Fitted] = []
    left_out: dict[str, str] = {}
    ends = np.column_stack([parts.first_net, parts.second_net])
    rows = np.flatnonzero(parts.is_capacitor & (np.sort(ends, axis=1) == sorted(nets)).all(axis=1))
    for row in rows.tolist():
        footprint = int(parts.footprint[row])
        reference = str(board.footprints.reference[footprint])
        value = str(board.footprints.value[footprint])
        if board.footprints.unfitted[footprint] or is_unfitted(value):
            left_out[reference] = NOT_FITTED
            continue
        stated = read_capacitor(value, str(board.footprints.library_id[footprint]))
        own = next((one for one in declared if any(fnmatchcase(reference, name) for name in one.parts)), None)
        data, no_data = _data_of(stated, own, models, footprint, volts)
        if data is None:
            left_out[reference] = no_data
            continue
        farad = own.uf * 1e-6 if own else stated.capacitance_f or data.capacitance_f.nominal
        pads = int(parts.first_pad[row]), int(parts.second_pad[row])
        ordered = pads if parts.first_net[row] == nets[0] else pads[::-1]
        found.append(_Fitted(reference, farad, stated.size or "", data, ordered))
    return found, left_out


def _of_more_pads(board: Board, parts: TwoTerminalParts, nets: tuple[int, int]) -> Iterator[str]:
    """Yield the fitted capacitors between two nets that are none with two pads: three-terminal ones and arrays."""
    rail, ground = (set(board.pads.footprint[board.pads.net == net].tolist()) for net in nets)
    for footprint in sorted((rail & ground) - set(parts.footprint.tolist()) - {-1}):
        reference = str(board.footprints.reference[footprint])
        kinds = ReferenceKind.CAPACITOR, ReferenceKind.CAPACITOR_ARRAY
        if reference_kind(reference) in kinds and not is_left_out(board, footprint):
            yield reference


def _landings(mounts: Mounts, pads: Sequence[tuple[int, int]]) -> dict[int, Landing]:
    """Return how pads reach the planes; those of a net on one side of the board share vias."""
    found: dict[int, Landing] = {}
    for end in (0, 1):
        for back in (False, True):
            own = [both[end] for both in pads if mounts.is_back(both[end]) == back]
            found |= mounts.landings_of(own, back=back)
    return found


def _data_of(
    stated: CapacitorText,
    own: CapacitorDeclaration | None,
    models: PartModels,
    footprint: int,
    volts: float | None,
) -> tuple[PartData | None, str]:
    """Return the data of a capacitor; without any, why there is none."""
    if own is not None:
        return declared_data(own, stated, volts), ""
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
