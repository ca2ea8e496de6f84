"""The files of parts that `[[part_model]]` declares, read when a part is first looked up."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from drc_rules.facts.context import Context
from drc_rules.settings.config_parts import PartModelDeclaration
from stackup_lib.board.board import Board
from stackup_lib.core.errors import StackwrightError, answer_once
from stackup_lib.power.over_frequency.capacitor_curve import CapacitorCurve, table_of_network, table_of_subcircuit
from stackup_lib.power.over_frequency.spice_part import read_subcircuit
from stackup_lib.transmission_lines.touchstone_file import PartNetwork, read_network


@dataclass(frozen=True)
class PartModels:
    """What is declared of a board's parts; `folder` is that of the settings."""

    board: Board
    rows: tuple[PartModelDeclaration, ...]
    folder: Path
    _networks: MutableMapping[tuple[Path, tuple[int, ...]], PartNetwork | StackwrightError] = field(
        default_factory=dict
    )
    _tables: MutableMapping[tuple[Path, str, str], CapacitorCurve | StackwrightError] = field(default_factory=dict)

    def of(self, footprint: int) -> PartModelDeclaration | None:
        """Return the first table that fits a footprint (index into `Board.footprints`), None for none."""
        parts = self.board.footprints
        texts = (str(parts.reference[footprint]), str(parts.value[footprint]), str(parts.library_id[footprint]))
        return next((row for row in self.rows if row.fits(*texts)), None)

    def path_of(self, row: PartModelDeclaration) -> Path:
        """Return where the file is."""
        return self.folder / row.file

    def network(self, row: PartModelDeclaration, ports: tuple[int, ...]) -> PartNetwork:
        """Return the S-parameters of a table's file; raises `StackwrightError` like `read_network`."""
        path = self.path_of(row)
        return answer_once(self._networks, (path, ports), lambda: read_network(path, ports))

    def capacitor(self, row: PartModelDeclaration) -> CapacitorCurve:
        """Return the impedance of the capacitor that a table's file describes.

        Raises:
            StackwrightError: the file cannot be read, or is none of a capacitor.
        """
        path = self.path_of(row)
        return answer_once(self._tables, (path, row.subcircuit, row.mounted), lambda: self._read(row, path))

    def _read(self, row: PartModelDeclaration, path: Path) -> CapacitorCurve:
        if row.is_network:
            return table_of_network(self.network(row, (2,)), is_shunt=row.mounted == "shunt")
        return table_of_subcircuit(read_subcircuit(path, row.subcircuit))


def part_models(ctx: Context) -> PartModels:
    """Return the declared files of parts; get them by `Context.get`."""
    config = ctx.declarations.config
    return PartModels(ctx.board, config.part_model, config.path.parent if config.path else Path())
