"""What is to be written into KiCad's files: a stackup, net classes, design rules; plain and frozen.

Lengths are millimetres. These models say what shall stand in a file; `stackup_lib.kicad` writes them.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, field_validator

from stackup_lib.board.stackup import LayerKind, Ply, Stackup, total_mm
from stackup_lib.core.frozen import Frozen

WRITTEN_KINDS = (LayerKind.COPPER, LayerKind.CORE, LayerKind.PREPREG, LayerKind.MASK)
"""The rows that a plan names. Silk screen, paste and rows of unknown meaning stay as the file has them."""


class PlannedRow(Frozen):
    """One row: a copper layer, a core or prepreg of one or more plies, a solder mask.

    Attributes:
        plies: a dielectric's need a material, or KiCad makes it "FR4". Where one states no Dk or Df, the file says so
            in KiCad's way (1, and 0 for Df), as KiCad puts the values of FR4 where nothing stands. Copper and masks
            without a material state neither. A lock or colour of None leaves what the file says.
        name: KiCad's name; "" takes the one that KiCad would give (`F.Cu`, `In1.Cu`, `dielectric 1`, `F.Mask`).
        layer_type: KiCad's type of a copper layer that is new to the board; existing ones keep theirs.
    """

    kind: Literal[LayerKind.COPPER, LayerKind.CORE, LayerKind.PREPREG, LayerKind.MASK]
    plies: tuple[Ply, ...] = Field(default=(Ply(),), min_length=1)
    name: str = ""
    layer_type: Literal["signal", "power", "mixed", "jumper"] = "signal"

    @property
    def thickness_mm(self) -> float | None:
        """Sum over the plies, None when any of them states none."""
        return total_mm(self.plies)


class PlannedStackup(Frozen):
    """The rows of a `(stackup ...)` block from top to bottom, and its options; an option of None stays as it is.

    Attributes:
        copper_finish: e.g. `ENIG`; "None" for bare copper.
        dielectric_constraints: KiCad's "impedance controlled".
        edge_connector: "no" takes the statement away.
        edge_plating: False takes the statement away.
    """

    rows: tuple[PlannedRow, ...]
    copper_finish: str | None = None
    dielectric_constraints: bool | None = None
    edge_connector: Literal["yes", "bevelled", "no"] | None = None
    edge_plating: bool | None = None

    @field_validator("rows")
    @classmethod
    def _named(cls, rows: tuple[PlannedRow, ...]) -> tuple[PlannedRow, ...]:
        return named(rows)

    @property
    def copper_names(self) -> tuple[str, ...]:
        """Names of the copper rows, top to bottom."""
        return tuple(row.name for row in self.rows if row.kind is LayerKind.COPPER)

    @property
    def thickness_mm(self) -> float | None:
        """Sum of copper, dielectric and solder mask, as KiCad shows it; None when a needed thickness is not stated."""
        total = 0.0
        for row in self.rows:
            if row.thickness_mm is not None:
                total += row.thickness_mm
            elif row.kind is not LayerKind.MASK:
                return None
        return total


def named(rows: tuple[PlannedRow, ...]) -> tuple[PlannedRow, ...]:
    """Return the rows with KiCad's names where they have none."""
    names = row_names([row.kind for row in rows])
    return tuple(
        row if row.name else row.model_copy(update={"name": name}) for row, name in zip(rows, names, strict=True)
    )


def row_names(kinds: Sequence[LayerKind]) -> list[str]:
    """Return KiCad's names of rows of these kinds, top to bottom."""
    last_copper = sum(kind is LayerKind.COPPER for kind in kinds) - 1
    copper = dielectric = 0
    names = []
    for kind in kinds:
        if kind is LayerKind.COPPER:
            names.append("F.Cu" if copper == 0 else "B.Cu" if copper == last_copper else f"In{copper}.Cu")
            copper += 1
        elif kind is LayerKind.MASK:
            names.append("B.Mask" if copper else "F.Mask")
        else:
            dielectric += 1
            names.append(f"dielectric {dielectric}")
    return names


def planned_from(stackup: Stackup) -> PlannedStackup:
    """Return the plan that repeats what a board's stackup states already."""
    return PlannedStackup(
        rows=tuple(
            PlannedRow(kind=row.kind, name=row.name, plies=row.plies)
            for row in stackup.layers
            if row.kind in WRITTEN_KINDS
        ),
        copper_finish=stackup.copper_finish,
        dielectric_constraints=stackup.impedance_controlled,
        edge_connector=stackup.edge_connector,
        edge_plating=stackup.edge_plating,
    )


class PlannedClass(Frozen):
    """A net class as it shall be; a field of None stays as the project has it.

    Attributes:
        priority: the smaller number wins; a new class without one comes after those that are there.
        patterns: net name patterns to add to those that lead to the class.
    """

    name: str = Field(min_length=1)
    priority: int | None = None
    clearance_mm: float | None = Field(default=None, gt=0)
    track_width_mm: float | None = Field(default=None, gt=0)
    diff_pair_width_mm: float | None = Field(default=None, gt=0)
    diff_pair_gap_mm: float | None = Field(default=None, gt=0)
    via_diameter_mm: float | None = Field(default=None, gt=0)
    via_drill_mm: float | None = Field(default=None, gt=0)
    patterns: tuple[str, ...] = ()


class PlannedTuning(Frozen):
    """Width, and of a pair the gap, of one layer of a KiCad tuning profile that the project has."""

    profile: str = Field(min_length=1)
    layer: str = Field(min_length=1)
    width_mm: float = Field(gt=0)
    gap_mm: float | None = Field(default=None, gt=0)


class PlannedRule(Frozen):
    """Width, and for pairs gap, of a net class's lines on one copper layer.

    Attributes:
        requirement: why, with its source; it goes into a comment.
        tolerance_mm: how far the width, and a smaller gap, may lie from the given ones before KiCad reports them.
        min_width_mm, max_width_mm, min_gap_mm: sizes beyond the given ones that KiCad accepts too, such as those that
            are routed already and may stay.
        neck_mm: the least width and gap of a neck-down, e.g. in a BGA field; None allows none.
    """

    net_class: str = Field(min_length=1)
    layer: str = Field(min_length=1)
    width_mm: float = Field(gt=0)
    gap_mm: float | None = Field(default=None, gt=0)
    tolerance_mm: float = Field(default=0.0, ge=0)
    min_width_mm: float | None = Field(default=None, gt=0)
    max_width_mm: float | None = Field(default=None, gt=0)
    min_gap_mm: float | None = Field(default=None, gt=0)
    neck_mm: float | None = Field(default=None, gt=0)
    requirement: str = Field(min_length=1)

    @property
    def width_range_mm(self) -> tuple[float, float]:
        """Minimum and maximum width that KiCad's design rule check accepts."""
        most = max(self.width_mm, self.max_width_mm or 0.0)
        return self._least_mm(self.width_mm, self.min_width_mm), most + self.tolerance_mm

    @property
    def least_gap_mm(self) -> float | None:
        """Minimum gap that KiCad's design rule check accepts; there is no maximum: every pair spreads at its pads."""
        return None if self.gap_mm is None else self._least_mm(self.gap_mm, self.min_gap_mm)

    def _least_mm(self, value_mm: float, accepted_mm: float | None) -> float:
        least = max(min(value_mm, accepted_mm or value_mm) - self.tolerance_mm, 0.0)
        return least if self.neck_mm is None else min(least, self.neck_mm)
