"""One dielectric ply with what is known of it."""

from __future__ import annotations

from functools import cached_property

from drc_rules.facts.dielectric.loss_class import loss_class_of
from drc_rules.facts.dielectric.ply_df import PlyDf
from drc_rules.facts.dielectric.ply_dk import PlyDk
from drc_rules.facts.dielectric.ply_tg import tg_of
from drc_rules.facts.dielectric.stated_ply import StatedPly
from drc_rules.facts.row_faults import cannot_be, correct, sheet_is_possible
from stackup_lib.board.board import LayerKind
from stackup_lib.core.facts import Fact, MissingFact, Origin, unknown
from stackup_lib.core.record import record
from stackup_lib.materials import LossClass, Tg


@record
class DielectricPly(StatedPly):
    """One ply of core or prepreg: what is stated of it, and what follows."""

    @cached_property
    def df(self) -> PlyDf:
        """Its Df over frequency."""
        return PlyDf(self)

    @cached_property
    def dk(self) -> PlyDk:
        """Its Dk over frequency."""
        return PlyDk(self, self.df)

    @cached_property
    def loss_class(self) -> Fact[LossClass]:
        """Loss class: of the declared Df, where there is one with its frequency; else of the laminate family."""
        return loss_class_of(self, self.df.fault)

    @cached_property
    def tg(self) -> Fact[Tg]:
        """Glass transition temperature with its method."""
        return tg_of(self)

    @property
    def thickness_fault(self) -> MissingFact | None:
        """What is missing where the row cannot be laminated, or is no prepreg; None where nothing speaks against it."""
        if not self.trusted:
            return None
        if self.fault:
            how = correct(self.row, "the type (core or prepreg)")
            return MissingFact(f"type of {self.row} ({self.fault})", how)
        thickness = self.in_file.thickness_mm
        if self.kind is not LayerKind.PREPREG or self.is_lone or not thickness or sheet_is_possible(thickness):
            return None
        how = correct(self.row, "the type or the thickness")
        return cannot_be("thickness", self.label, f"{thickness:g} mm of prepreg", how)

    @property
    def thickness(self) -> Fact[float]:
        """Thickness in mm as the stackup states it."""
        name = f"thickness of {self.label}"
        if self.in_file.thickness_mm is None or self.in_file.thickness_mm <= 0:
            return unknown(name, f"in KiCad, File > Board Setup > Physical Stackup, thickness of {self.row}")
        if self.thickness_fault is not None:
            return unknown(self.thickness_fault.name, self.thickness_fault.how_to_give)
        return Fact[float](
            name=name, value=self.in_file.thickness_mm, origin=Origin.FILE, source=f"stackup row {self.row}"
        )
