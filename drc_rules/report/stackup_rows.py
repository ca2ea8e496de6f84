"""The stackup as people look at it: rows top to bottom with what is known of each, and the via spans through them."""

from enum import StrEnum

from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.core.frozen import Frozen


class Stated(StrEnum):
    """Who describes the stackup."""

    FILE = "stated in the board file"
    DEFAULT = "KiCad's untouched default, which declares nothing"
    NOWHERE = "not stated in the board file"


class Figure(Frozen):
    """A number with who said it; `source` names the document."""

    value: float
    origin: Origin
    source: str
    confidence: Confidence


class RowFoil(Frozen):
    """A declared foil grade, e.g. HVLP."""

    grade: str
    origin: Origin
    source: str


class Carried(Frozen):
    """An interface that is routed on a copper layer.

    Attributes:
        interface: id of the interface, or of the family where its generation is unknown.
        generation_known: False for a family of unknown generation.
        longest_mm: longest net of it on this layer.
        inferred: True when none of the nets was declared to be that interface.
    """

    interface: str
    title: str
    nets: int
    longest_mm: float
    inferred: bool
    generation_known: bool = True


class StackupRow(Frozen):
    """One sheet of the stackup; None and "" mean not declared.

    Attributes:
        kind: mask, copper, core or prepreg; other for the unknown dielectric between two copper layers.
        material: free text as stated, of a dielectric or a mask.
        material_origin: who stated it.
        laminate, loss_class: what the catalogue takes the material for.
        dk_stated, df_stated: the file's bare numbers; KiCad states no frequency.
        df_10ghz: Df at 10 GHz, declared or from the catalogue.
        copper_oz: ounce class of the stated thickness; uncertain for outer layers, which are plated.
        role: what the copper is used for; None when the zones are not filled.
        main_net: net with most filled copper, "" when nothing is filled.
    """

    name: str
    user_name: str | None = None
    kind: LayerKind
    thickness_mm: float | None = None
    material: str = ""
    material_origin: Origin = Origin.UNKNOWN
    laminate: str | None = None
    loss_class: str | None = None
    dk_stated: float | None = None
    df_stated: float | None = None
    df_10ghz: Figure | None = None
    copper_oz: Figure | None = None
    foil: RowFoil | None = None
    role: LayerRole | None = None
    main_net: str = ""
    carries: tuple[Carried, ...] = ()

    @property
    def is_copper(self) -> bool:
        """True for a copper layer."""
        return self.kind is LayerKind.COPPER


class DrilledBack(Frozen):
    """A backdrill: enters at layer `start`, passes every layer up to and including `must_cut`."""

    start: str
    must_cut: str
    origin: Origin = Origin.FILE


class ViaSpan(Frozen):
    """Vias of one kind that join the same layers and are machined alike.

    Attributes:
        kind: through, blind, buried or micro.
        top, bottom: copper layers at its ends.
        drill_min_mm, drill_max_mm: smallest and largest hole among them; None where no hole is stated.
    """

    kind: str
    top: str
    bottom: str
    count: int
    drill_min_mm: float | None
    drill_max_mm: float | None
    backdrills: tuple[DrilledBack, ...] = ()


class StackupView(Frozen):
    """The stackup of a board.

    Attributes:
        thickness_mm: sum of the rows where each is stated, else the board's own value.
        digest: hash that declared facts carry; None without a stackup.
        rows: top to bottom.
        spans: the widest first.
        notes: what stands between this view and the truth, one sentence each.
    """

    stated: Stated
    thickness_mm: float | None
    copper_finish: str | None = None
    digest: str | None = None
    rows: tuple[StackupRow, ...]
    spans: tuple[ViaSpan, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_to_scale(self) -> bool:
        """True when every copper and dielectric row has a thickness, so that it can be drawn to scale."""
        kept = [row for row in self.rows if row.kind is not LayerKind.MASK]
        return bool(kept) and all(row.thickness_mm for row in kept)
