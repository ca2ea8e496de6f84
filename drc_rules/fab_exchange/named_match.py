"""A board's stackup next to those that fabs offer by name: which it is, which is nearest, and what differs by row."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.requirements.fabs.presets import presets
from drc_rules.requirements.fabs.stackups.model import NamedSheet, NamedStackup
from stackup_lib.board.board import Board
from stackup_lib.board.planned import PlannedRow, PlannedStackup, planned_from
from stackup_lib.board.stackup import LayerKind, Ply, StackupLayer
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import Laminate, catalogue
from stackup_lib.transmission_lines.finish import MASK_MM
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ

SAME_MM = 0.001
"""Thicknesses this far apart are one: fabs print whole micrometres."""

SAME_DK = 0.005
"""Half of the last digit that fabs print for a Dk."""

COPPER_SHARE, DK_SHARE, KIND_SHARE = 0.3, 0.5, 0.2
"""How much a relative difference counts next to one of height. It only puts stackups in order."""


class ComparedRow(Frozen):
    """One row of the board next to the fab's; None or "" where one of them states nothing.

    Attributes:
        differs: what is not the same: `type`, `thickness`, `Dk`, `material`.
    """

    row: str
    board_kind: str
    fab_kind: str
    board_mm: float | None
    fab_mm: float | None
    board_dk: float | None
    fab_dk: float | None
    board_material: str
    fab_material: str
    differs: tuple[str, ...]


class NamedMatch(Frozen):
    """A named stackup next to a board's.

    Attributes:
        distance: mean relative difference of the rows, 0 for the same; it puts stackups in order.
    """

    stackup: NamedStackup
    distance: float
    rows: tuple[ComparedRow, ...]

    @property
    def is_same(self) -> bool:
        """True where nothing differs that both state."""
        return not any(row.differs for row in self.rows)

    @property
    def differing(self) -> tuple[ComparedRow, ...]:
        """The rows that differ."""
        return tuple(row for row in self.rows if row.differs)


def nearest(ctx: Context, stackups: Iterable[NamedStackup]) -> tuple[NamedMatch, ...]:
    """Return the named stackups of a board's layer count, the nearest first.

    Raises:
        MissingFact: the board states no stackup.
        ConfigError: two copper layers of the board have not exactly one row between them.
    """
    mine = _Mine(ctx)
    fitting = (one for one in stackups if len(one.copper) == len(mine.copper) and one.sum_mm is not None)
    return tuple(sorted((mine.compared(one) for one in fitting), key=lambda m: (m.distance, m.stackup.order)))


class _Mine:
    """The board's rows between its outer copper layers."""

    def __init__(self, ctx: Context) -> None:
        self.copper = ctx.stackup().copper
        self.gaps = tuple(_between(ctx, upper, lower) for upper, lower in pairwise(self.copper))
        self.plies = {row.name: [ply for ply in ctx.plies if ply.row == row.name] for row in self.gaps}

    def compared(self, stackup: NamedStackup) -> NamedMatch:
        rows, far = [], 0.0
        for index, (copper, theirs) in enumerate(zip(self.copper, stackup.copper, strict=True)):
            row, off = _copper(copper, theirs)
            rows.append(row)
            far += off
            if index < len(self.gaps):
                gap = self.gaps[index]
                row, off = _dielectric(gap, self.plies[gap.name], stackup.gaps[index])
                rows.append(row)
                far += off
        return NamedMatch(stackup=stackup, distance=far / len(rows), rows=tuple(rows))


def _between(ctx: Context, upper: StackupLayer, lower: StackupLayer) -> StackupLayer:
    layers = ctx.stackup().layers
    between = [row for row in layers[layers.index(upper) + 1 : layers.index(lower)] if row.is_dielectric]
    if len(between) != 1:
        what = f"has {len(between)} dielectric rows between {upper.name} and {lower.name}"
        raise ConfigError(str(ctx.board.path or "the board"), what, "open the board in KiCad and save it")
    return between[0]


def _copper(mine: StackupLayer, theirs: NamedSheet) -> tuple[ComparedRow, float]:
    off = _off(mine.thickness_mm, theirs.thickness_mm)
    differs = ("thickness",) if _apart(mine.thickness_mm, theirs.thickness_mm, SAME_MM) else ()
    row = ComparedRow(
        row=mine.name,
        board_kind="copper",
        fab_kind="copper",
        board_mm=mine.thickness_mm,
        fab_mm=theirs.thickness_mm,
        board_dk=None,
        fab_dk=None,
        board_material="",
        fab_material="" if theirs.weight_oz is None else f"{theirs.weight_oz:g} oz",
        differs=differs,
    )
    return row, COPPER_SHARE * off


def _dielectric(
    mine: StackupLayer, plies: Sequence[DielectricPly], theirs: Sequence[NamedSheet]
) -> tuple[ComparedRow, float]:
    fab_mm, fab_dk = thickness_and_dk([(sheet.thickness_mm, sheet.dk) for sheet in theirs])
    board_mm, board_dk = thickness_and_dk([(ply.thickness.value, ply.dk.at(DK_GHZ).value) for ply in plies])
    fab_kind = "core" if any(sheet.kind == "core" for sheet in theirs) else "prepreg"
    board_material = " + ".join(dict.fromkeys(ply.stated for ply in plies if ply.stated))
    fab_material = " + ".join(dict.fromkeys(sheet.material for sheet in theirs))
    differs = []
    if mine.kind.value != fab_kind:
        differs.append("type")
    if _apart(board_mm, fab_mm, SAME_MM):
        differs.append("thickness")
    if _apart(board_dk, fab_dk, SAME_DK):
        differs.append("Dk")
    if _other_product(plies, theirs):
        differs.append("material")
    row = ComparedRow(
        row=mine.name,
        board_kind=mine.kind.value,
        fab_kind=fab_kind,
        board_mm=None if board_mm is None else round(board_mm, 6),
        fab_mm=None if fab_mm is None else round(fab_mm, 6),
        board_dk=None if board_dk is None else round(board_dk, 4),
        fab_dk=None if fab_dk is None else round(fab_dk, 4),
        board_material=board_material,
        fab_material=fab_material,
        differs=tuple(differs),
    )
    return row, _off(board_mm, fab_mm) + DK_SHARE * _off(board_dk, fab_dk) + KIND_SHARE * (mine.kind.value != fab_kind)


def thickness_and_dk(
    sheets: Sequence[tuple[float | None, float | None]],
) -> tuple[float | None, float | None]:
    """Return thickness in mm and Dk of sheets in series; None for what one of them does not state."""
    if any(mm is None for mm, _ in sheets):
        return None, None
    total = sum(mm or 0.0 for mm, _ in sheets)
    if any(dk is None for _, dk in sheets) or not total:
        return total, None
    return total, total / sum((mm or 0.0) / (dk or 1.0) for mm, dk in sheets)


def _off(mine: float | None, theirs: float | None) -> float:
    """Relative difference, 0 where one side states nothing: what is not known puts no stackup behind another."""
    return abs(mine / theirs - 1) if mine and theirs else 0.0


def _apart(mine: float | None, theirs: float | None, same: float) -> bool:
    return mine is not None and theirs is not None and abs(mine - theirs) > same + 1e-9


def _other_product(plies: Sequence[DielectricPly], theirs: Sequence[NamedSheet]) -> bool:
    """Tell whether both name a product, and another one; a kind of material such as FR4 contradicts none."""
    mine = _products(ply.match.laminate for ply in plies if ply.match)
    fab = _products(catalogue().find(sheet.material).laminate for sheet in theirs)
    return bool(mine and fab and mine != fab)


def _products(laminates: Iterable[Laminate | None]) -> set[str]:
    return {one.family for one in laminates if one is not None and not one.generic}


def planned_from_named(board: Board, stackup: NamedStackup) -> PlannedStackup:
    """Return a named stackup with a board's layer names and solder mask, as it is written into the board.

    Raises:
        ConfigError: another number of copper layers, or the fab states not all of its thicknesses.
    """
    stated = planned_from(board.stackup) if board.stackup else PlannedStackup(rows=())
    names = [layer.name for layer in board.copper_layers]
    if len(names) != len(stackup.copper):
        what = f"has {len(stackup.copper)} copper layers, the board {len(names)}"
        raise ConfigError(stackup.order, what, f"list what fits: stackwright fabs --layers {len(names)}")
    if stackup.sum_mm is None:
        raise ConfigError(stackup.order, "states no thickness for some rows", "ask the fab, or take another stackup")
    masks = [row for row in stated.rows if row.kind is LayerKind.MASK] or [
        PlannedRow(kind=LayerKind.MASK, name=name, plies=(Ply(thickness_mm=_mask_mm(stackup)),))
        for name in ("F.Mask", "B.Mask")
    ]
    rows: list[PlannedRow] = []
    for index, (name, sheet) in enumerate(zip(names, stackup.copper, strict=True)):
        rows.append(PlannedRow(kind=LayerKind.COPPER, name=name, plies=(Ply(thickness_mm=sheet.thickness_mm),)))
        if index < len(stackup.gaps):
            rows.append(_planned_gap(stackup.gaps[index], f"dielectric {index + 1}"))
    return stated.model_copy(update={"rows": (*masks[:1], *rows, *masks[1:])})


def _mask_mm(stackup: NamedStackup) -> float:
    """Solder mask of a board that states none: the fab's over copper, else what is assumed everywhere."""
    preset = presets().get(stackup.edition.process)
    over_um = preset.value("mask_over_copper_um") if preset else None
    return MASK_MM if over_um is None else over_um / 1000


def _planned_gap(sheets: Sequence[NamedSheet], name: str) -> PlannedRow:
    kind = LayerKind.CORE if any(sheet.kind == "core" for sheet in sheets) else LayerKind.PREPREG
    plies = tuple(
        Ply(thickness_mm=sheet.thickness_mm, material=sheet.material or "FR4", dk=sheet.dk, df=sheet.df)
        for sheet in sheets
    )
    return PlannedRow(kind=kind, name=name, plies=plies)
