"""What is stated of one dielectric ply, and the laminate that it names."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from drc_rules.facts.declared import Declarations
from drc_rules.facts.row_faults import correct
from drc_rules.settings.config import DielectricDeclaration
from stackup_lib.board.board import LayerKind, Ply
from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.record import record
from stackup_lib.materials import Laminate, Match


@record
class StatedPly:
    """One ply of core or prepreg.

    Attributes:
        row: the stackup row's name, e.g. `dielectric 3`.
        label: how messages call it, e.g. `dielectric 3, ply 2`.
        above, below: index of the copper layer above and below its row; -1 and the layer count at the surfaces.
        in_file: thickness, material, Dk and Df as the board file has them.
        stated: the material text that was looked up, "" when there is none.
        match: what the catalogue makes of it, None when nothing is stated.
        origin: who stated it.
        trusted: False for KiCad's untouched default stackup, whose values declare nothing.
        fault: why its row cannot be laminated with its neighbours; empty where it can.
        is_lone: the only dielectric of the board, so that its type decides nothing.
    """

    row: str
    label: str
    kind: LayerKind
    above: int
    below: int
    in_file: Ply
    stated: str
    match: Match | None
    origin: Origin
    declaration: DielectricDeclaration
    declarations: Declarations
    trusted: bool = True
    fault: str = ""
    is_lone: bool = False

    @property
    def is_declared(self) -> bool:
        """True when `stackwright.toml` names its material."""
        return self.origin is Origin.DECLARED

    def touches(self, copper: int) -> bool:
        """Return True when the ply's row lies right above or below a copper layer."""
        return copper in (self.above, self.below)

    @cached_property
    def laminate(self) -> Fact[Laminate]:
        """The laminate family."""
        name = f"laminate of {self.label}"
        how = f'[declared.dielectric."{self.row}"]\nmaterial = "?"  # the laminate that the fab is to use'
        if self.match is None or self.match.laminate is None:
            return unknown(name, how)
        return Fact[Laminate](
            name=name,
            value=self.match.laminate,
            origin=self.origin,
            source=f'"{self.stated}" ({self.origin.value})',
            confidence=self.match.confidence,
            how_to_give=how,
            stale=self.is_declared and self.declarations.stale,
        )

    @property
    def sure_laminate(self) -> Laminate | None:
        """The laminate that the row names; None where the name is not understood in full."""
        laminate = self.laminate
        return laminate.value if laminate.known and laminate.confidence is not Confidence.LOW else None

    def how_to_correct(self, key: Literal["dk", "df"]) -> str:
        """Return where a stated Dk or Df is corrected: in the settings where they state it, else in KiCad."""
        if getattr(self.declaration, key) is not None:
            return f'Correct {key} in stackwright.toml, [declared.dielectric."{self.row}"]'
        return correct(self.label, "Epsilon R" if key == "dk" else "Loss Tan")
