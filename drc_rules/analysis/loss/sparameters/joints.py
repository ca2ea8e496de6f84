"""Series parts and connectors of a link: as their files have them, as typical parts, or joined through and said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from drc_rules.facts.context import Context
from drc_rules.facts.part_models import part_models
from drc_rules.settings.config_parts import PartModelDeclaration
from stackup_lib.core.errors import StackwrightError
from stackup_lib.nets.capacitor_text import read_capacitor
from stackup_lib.nets.links import SeriesPart
from stackup_lib.nets.two_pin_parts import PartKind, resistance_ohm
from stackup_lib.power.over_frequency.part_impedance import OPEN_OHM, ceramic_ohm, series_part_ohm, shunt_part_ohm
from stackup_lib.transmission_lines.four_port import chain_of_s, nothing
from stackup_lib.transmission_lines.touchstone_file import PartNetwork
from stackup_lib.transmission_lines.two_port import series_chain

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

MEASURED_TO_GHZ = 6.0
"""Where the measured capacitors behind the typical ESR and ESL end."""


@dataclass(frozen=True)
class Joint:
    """A series part: its chain or, in parallel with others, its impedance; None where it is joined through."""

    words: str
    impedance_ohm: Complex | None = None
    chain: Complex | None = None
    note: str = ""


@dataclass
class LinkParts:
    """Looks up the parts of links at their frequencies in GHz; `notes` tell what was assumed or left out."""

    ctx: Context
    ghz: Real
    notes: dict[str, None] = field(default_factory=dict)
    _joints: dict[int, Joint] = field(default_factory=dict)

    def joint(self, parts: Sequence[SeriesPart]) -> Complex:
        """Return the chain of series parts that lie side by side.

        Raises:
            StackwrightError: the declared file of one cannot be used.
        """
        found = [self._of(part) for part in parts]
        self.notes.update((one.note, None) for one in found if one.note)
        if len(found) == 1 and found[0].chain is not None:
            return found[0].chain
        ohms = [one.impedance_ohm for one in found if one.impedance_ohm is not None]
        if len(ohms) < len(found) or any(not ohm.any() for ohm in ohms):
            return nothing(len(self.ghz))
        return series_chain(np.asarray(1 / np.sum([1 / ohm for ohm in ohms], axis=0), dtype=np.complex128))

    def words(self, parts: Sequence[SeriesPart], others: Sequence[SeriesPart] = ()) -> str:
        """Return what series parts are counted as; `others` are the same ones of the other trace."""
        named = [[part, *others[k : k + 1]] for k, part in enumerate(parts)]
        return ", next to it ".join(
            f"{' and '.join(dict.fromkeys(one.reference for one in both))} {self._of(both[0]).words}" for both in named
        )

    def _of(self, part: SeriesPart) -> Joint:
        if part.footprint not in self._joints:
            row = self.ctx.get(part_models).of(part.footprint)
            self._joints[part.footprint] = self._declared(part, row) if row else self._by_its_value(part)
        return self._joints[part.footprint]

    def choke(self, parts: Sequence[SeriesPart]) -> Complex | None:
        """Return the chain (frequencies, 4, 4) of a common-mode choke in both traces, None without its file.

        Raises:
            StackwrightError: the file cannot be used.
        """
        row = self.ctx.get(part_models).of(parts[0].footprint) if len(parts) == 1 else None
        if row is None or parts[0].kind is not PartKind.CHOKE:
            return None
        return _through_chain(self.ctx.get(part_models).network(row, (4,)), self.ghz)

    def _declared(self, part: SeriesPart, row: PartModelDeclaration) -> Joint:
        models = self.ctx.get(part_models)
        if part.kind is PartKind.CHOKE:
            return Joint(f"as in {row.file}")
        if not row.is_network and part.kind is PartKind.CAPACITOR:
            table, is_dc = models.capacitor(row), self.ghz == 0
            found = np.where(is_dc, OPEN_OHM, table.at(np.where(is_dc, 1.0, self.ghz) * 1e9))
            return Joint(f"as in {row.file}", np.asarray(found, dtype=np.complex128))
        network = models.network(row, (2,))
        s, words = network.at(self.ghz), f"as in {row.file}"
        if row.mounted == "shunt":
            ohm = shunt_part_ohm(s, network.reference_ohm)
            return Joint(words, ohm, series_chain(ohm))
        return Joint(words, series_part_ohm(s, network.reference_ohm), _chain_of(network, s))

    def _by_its_value(self, part: SeriesPart) -> Joint:
        name = part.value.strip() or "without value"
        if part.kind is PartKind.CAPACITOR:
            stated = read_capacitor(part.value, str(self.ctx.board.footprints.library_id[part.footprint]))
            if stated.capacitance_f is None or stated.size is None:
                what = "capacitance" if stated.capacitance_f is None else "size"
                return Joint(f"{name}, joined through", note=f"{part.reference} is joined through: no {what} is stated")
            ohm = ceramic_ohm(self.ghz, stated.capacitance_f, stated.size)
            if ohm is None:
                note = f"{part.reference} is joined through: no ESR and ESL for size {stated.size}"
                return Joint(f"{name}, joined through", note=note)
            note = "series capacitors: ESR and ESL of typical parts"
            if self.ghz[-1] > MEASURED_TO_GHZ:
                note += f", measured to {MEASURED_TO_GHZ:g} GHz"
            return Joint(
                f"{_with(name, stated.size)}, typical ESR and ESL", ohm, note=f"{note}; not what their pads add"
            )
        resistance = resistance_ohm(part.value)
        if not resistance:
            return Joint(f"{name}, joined through")
        return Joint(
            f"{name}, {resistance:g} ohm",
            np.full(len(self.ghz), resistance, dtype=np.complex128),
            note="series resistors count without parasitics",
        )

    def connector(self, footprints: Sequence[int], *, far: bool) -> tuple[Complex, str] | None:
        """Return the chain of the part that a link ends at, and what it is; None where no file of it is declared.

        Ports 1, and of a pair the other on its side, are on the board.

        Args:
            footprints: of the pads that the traces end at, indices into `Board.footprints`.
            far: at the far end of the link, else at the near one.

        Returns:
            Chain (frequencies, 2, 2), for each trace, or of four ports (frequencies, 4, 4).

        Raises:
            StackwrightError: the file cannot be used.
        """
        models = self.ctx.get(part_models)
        rows = [models.of(footprint) for footprint in footprints]
        row = rows[0]
        if row is None or any(one != row for one in rows):
            return None
        is_pair = len(footprints) > 1
        network = models.network(row, (2, 4) if is_pair else (2,))
        name = self.ctx.board.footprints.reference[footprints[0]]
        return _through_chain(network, self.ghz, turned=not far), f"{name} as in {row.file}"


def _through_chain(network: PartNetwork, ghz: Real, *, turned: bool = False) -> Complex:
    """Return the chain of a part from the side of port 1 to the other, or turned round."""
    order = [0, 1]
    if network.ports == 4:
        (near_p, far_p), (near_n, far_n) = network.through()
        order = [near_p, near_n, far_p, far_n]
    half = len(order) // 2
    if turned:
        order = [*order[half:], *order[:half]]
    return _chain_of(network, network.at(ghz)[:, order][:, :, order])


def _chain_of(network: PartNetwork, s: Complex) -> Complex:
    try:
        return chain_of_s(s, network.reference_ohm)
    except ValueError as error:
        raise StackwrightError(network.where, str(error), "give the file of a part that passes signals") from None


def _with(name: str, size: str) -> str:
    """Value and size; the value may state the size itself."""
    return name if size in name else f"{name} {size}"
