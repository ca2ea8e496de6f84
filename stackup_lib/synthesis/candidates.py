"""Candidate stackups: what they are made of, where their lines run, and their rows for a file. Lengths in mm."""

from collections.abc import Sequence
from typing import Literal

from stackup_lib.board.planned import PlannedRow, PlannedStackup
from stackup_lib.board.stackup import LayerKind, Ply
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.pressing import FacingCopper
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.constructions import DF_GHZ, CatalogueProduct
from stackup_lib.transmission_lines.buildup import BuildupRow, site_of
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ
from stackup_lib.transmission_lines.site import TraceEnvironment

SIGNAL_COVERAGE = 0.3
PLANE_COVERAGE = 0.8
"""Share of copper that a layer keeps, before any layout exists: engineering judgement."""

SIGNAL_OZ = 0.5

OUTER_COPPER_MM = 0.035
"""Finished: half-ounce foil, plated."""

Use = Literal["outer", "ground", "fast", "signal", "power"]
USES: dict[str, Use] = {"O": "outer", "G": "ground", "F": "fast", "S": "signal", "P": "power"}
LETTERS: dict[Use, str] = {use: letter for letter, use in USES.items()}


PLANES: tuple[Use, ...] = ("ground", "power")


class CandidateRow(Frozen):
    """One row, top to bottom.

    Attributes:
        kind: `mask`, `copper`, `core` or `prepreg`.
        use: of a copper layer.
        thickness_mm: of a prepreg pressed, of all plies; of copper finished.
        laminate: family of a dielectric.
        construction: what `catalogue().find` takes back to the row it came from; of one ply.
        plies: equal sheets of a dielectric.
        dk, df: at `dk_ghz` and `df_ghz`.
        foil: grade of the copper, "" when none is required.
        source: of the dielectric's values.
    """

    kind: LayerKind
    name: str = ""
    use: Use | None = None
    thickness_mm: float
    laminate: str = ""
    construction: str = ""
    plies: int = 1
    dk: float | None = None
    dk_ghz: float = DK_GHZ
    df: float | None = None
    df_ghz: float = DF_GHZ
    copper_oz: float | None = None
    foil: str = ""
    source: str = ""

    @property
    def is_dielectric(self) -> bool:
        """True for core and prepreg."""
        return self.kind in (LayerKind.CORE, LayerKind.PREPREG)


class CandidateStackup(Frozen):
    """A stackup that can be built: symmetric, of constructions that are sold.

    Attributes:
        finish: etching, plating and solder mask that its lines are solved with.
        is_any_layer: microvias can join every layer to the next, through the core as well.
    """

    rows: tuple[CandidateRow, ...]
    order: Order
    finish: LineFinish = LineFinish()
    is_any_layer: bool = False

    @property
    def hdi_class(self) -> str:
        """`through`, `1-N-1` and so on, or `any-layer`."""
        if not self.order.build_ups:
            return "through"
        return "any-layer" if self.is_any_layer else f"{self.order.build_ups}-N-{self.order.build_ups}"

    @property
    def copper(self) -> tuple[CandidateRow, ...]:
        """Copper layers, top to bottom."""
        return tuple(r for r in self.rows if r.kind is LayerKind.COPPER)

    @property
    def dielectrics(self) -> tuple[CandidateRow, ...]:
        """Cores and prepregs, top to bottom."""
        return tuple(r for r in self.rows if r.kind is LayerKind.CORE or r.kind is LayerKind.PREPREG)

    @property
    def is_df_known(self) -> bool:
        """True where each dielectric has a Df."""
        return all(r.df is not None for r in self.dielectrics)

    @property
    def laminates(self) -> tuple[str, ...]:
        """Families, in order of appearance."""
        return tuple(dict.fromkeys(r.laminate for r in self.dielectrics))

    @property
    def thickness_mm(self) -> float:
        """Sum of all rows, solder mask included."""
        return round(sum(r.thickness_mm for r in self.rows), 4)

    @property
    def drilled_mm(self) -> float:
        """What a through via is drilled through: all rows but solder mask."""
        return round(sum(r.thickness_mm for r in self.rows if r.kind is not LayerKind.MASK), 4)

    @property
    def name(self) -> str:
        """Short and unique within an answer."""
        return f"{len(self.order.layers)} layers {self.order.layers}, {' + '.join(self.laminates)}"

    def site(self, index: int) -> TraceEnvironment:
        """Return where a line on a copper layer runs, between the nearest planes; of two layers, over the other one."""
        copper, sheets = self.copper, self.dielectrics
        planes = [k for k, c in enumerate(copper) if c.use in PLANES or len(copper) == 2]
        above = next((k for k in reversed(planes) if k < index), None)
        below = next((k for k in planes if k > index), None)
        is_outer = index in (0, len(copper) - 1)
        finished = self.finish.outer_copper_mm if is_outer else None
        return site_of(
            copper[index].name,
            copper_mm=finished or copper[index].thickness_mm,
            above=self._rows_to(index, -1 if above is None else above),
            below=self._rows_to(index, len(sheets) + 1 if below is None else below),
            reference_above=None if above is None else copper[above].name,
            reference_below=None if below is None else copper[below].name,
            in_upper_half=2 * index < len(copper) - 1,
            mask=self.finish.mask if is_outer else None,
            taper_mm=self.finish.taper_mm(outer=is_outer),
        )

    def _rows_to(self, index: int, end: int) -> list[BuildupRow]:
        """Return the rows from a layer outward to a plane or the surface, with the copper of signal layers between."""
        step = 1 if end > index else -1
        rows: list[BuildupRow] = []
        for layer in range(index, end, step):
            following = layer + step
            if not 0 <= following < len(self.copper):
                break
            rows.append(_line_row(self.dielectrics[min(layer, following)]))
            if following != end:
                between = self.copper[following]
                rows.append(BuildupRow(name=between.name, kind="copper", thickness_mm=between.thickness_mm))
        return rows

    def stubs_mm(self) -> tuple[float, ...]:
        """Return the via stub below each copper layer when it is reached from the top, without backdrill."""
        stubs, below = [], 0.0
        for row in reversed(self.rows):
            if row.kind is LayerKind.COPPER:
                stubs.append(below)
            below += 0.0 if row.kind is LayerKind.MASK else row.thickness_mm
        return tuple(reversed(stubs))


def to_planned(candidate: CandidateStackup) -> PlannedStackup:
    """Return the rows that can be written into a board file; a dielectric of two plies has two sublayers."""
    rows = []
    for row in candidate.rows:
        if row.kind is LayerKind.COPPER:
            power = "power" if row.use in PLANES else "signal"
            ply = Ply(thickness_mm=row.thickness_mm)
            rows.append(
                PlannedRow.model_validate({"kind": row.kind, "name": row.name, "plies": (ply,), "layer_type": power})
            )
            continue
        if row.kind is LayerKind.MASK:  # no maker is chosen: a Dk without a material is nothing that KiCad keeps
            rows.append(PlannedRow(kind=row.kind, name=row.name, plies=(Ply(thickness_mm=row.thickness_mm),)))
            continue
        each = Ply(
            thickness_mm=round(row.thickness_mm / row.plies, 6), material=row.construction or None, dk=row.dk, df=row.df
        )
        rows.append(PlannedRow.model_validate({"kind": row.kind, "name": row.name, "plies": (each,) * row.plies}))
    return PlannedStackup(rows=tuple(rows), dielectric_constraints=True)


def facing_copper(
    order: Order, gap: int, thickness_mm: Sequence[float], coverage: Sequence[float] = ()
) -> tuple[FacingCopper, ...]:
    """Return the copper that is pressed into a dielectric: that of cores, and foil that an earlier press bonded inside.

    Where a plane mirrors a signal layer both count as sparse: mirrored dielectrics have one thickness, and their resin
    has to fill the sparser one. `thickness_mm` is that of every copper layer, and so is `coverage`, where it is known:
    the share of the board's area that is copper, 0 to 1.
    """
    if order.gaps[gap] == "c":
        return ()
    half = len(order.layers) / 2 - 0.5
    faces = []
    for index, other in ((gap, gap - 1), (gap + 1, gap + 1)):
        if not 0 <= other < len(order.gaps):
            continue
        is_inner = abs(index - half) < abs(gap + 0.5 - half)
        if order.gaps[other] == "c" or is_inner:
            is_middle = 2 * gap == len(order.gaps) - 1
            alike = order.layers[index] + ("" if is_middle else order.layers[-1 - index])
            usual = PLANE_COVERAGE if set(alike) <= set("GP") else SIGNAL_COVERAGE
            share = coverage[index] if coverage else usual
            faces.append(FacingCopper(thickness_mm=thickness_mm[index], coverage=share))
    return tuple(faces)


def dielectric_row(sold: CatalogueProduct, thickness_mm: float, name: str = "") -> CandidateRow:
    """Return the row of a core or prepreg with its pressed thickness."""
    return CandidateRow(
        kind=kind_of_dielectric(sold),
        name=name,
        thickness_mm=round(thickness_mm, 4),
        laminate=sold.family,
        construction=sold.text,
        plies=sold.plies,
        dk=sold.dk,
        dk_ghz=sold.dk_ghz,
        df=sold.df,
        source=sold.source,
    )


def kind_of_dielectric(sold: CatalogueProduct) -> LayerKind:
    """Return the kind of a product's row."""
    return LayerKind.CORE if sold.kind == "core" else LayerKind.PREPREG


def _line_row(row: CandidateRow) -> BuildupRow:
    kind: Literal["core", "prepreg"] = "core" if row.kind is LayerKind.CORE else "prepreg"
    return BuildupRow(name=row.name, kind=kind, thickness_mm=row.thickness_mm, dk=row.dk)
