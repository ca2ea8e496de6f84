"""What the fab sent back against what the board states: layer by layer, and the board as the fab would build it."""

import math
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from enum import StrEnum

from pydantic import computed_field

from drc_rules.fab_exchange.answer.stackup_text import FabRow, FabStackup
from drc_rules.fab_exchange.comparison.align import Aligned, RowGroup, align
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.settings.config import Config, DielectricDeclaration
from stackup_lib.board.board import Board, LayerKind
from stackup_lib.board.planned import PlannedRow, planned_from
from stackup_lib.board.stackup import Ply
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.core.words import count
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from stackup_lib.materials import catalogue, ounce_class

SAME_MM = 2e-6
SAME_DK = 0.005
"""Half of the last digit that fabs print for a Dk."""
BARE_DF = "neither states its frequency"
"""The remark where two loss tangents differ that no frequency belongs to."""


class CompareOutcome(StrEnum):
    """What a comparison says of one value."""

    ACCEPT = "accept"
    DIFFERS = "differs"
    OPEN = "cannot tell"


class Compared(Frozen):
    """One value of one row; `fab` is "" where the table does not state it."""

    what: str
    board: str
    fab: str
    outcome: CompareOutcome
    remark: str = ""


class LayerMatch(Frozen):
    """One row of the board's stackup next to what the fab has for it; `lines` are those of the fab's table."""

    layer: str
    lines: tuple[int, ...]
    figures: tuple[Compared, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def outcome(self) -> CompareOutcome:
        """The worst of its values; a row for which the table states nothing is open."""
        said = {one.outcome for one in self.figures}
        return next(
            (o for o in (CompareOutcome.DIFFERS, CompareOutcome.OPEN) if o in said),
            CompareOutcome.ACCEPT if said else CompareOutcome.OPEN,
        )


@record
class Matched:
    """The layers side by side, the board as the fab would build it, and the settings that hold for that one.

    Attributes:
        content: that board's file; the board's own bytes where nothing differs.
        changed: the rows that the fab builds otherwise, top to bottom.
        with_rows: makes file and settings of the board with some of these rows as the fab builds them.
        missing: the board's rows, copper to copper, that the table lacks.
        not_judged: why the fab's stackup cannot be judged as a whole, "" where it can.
    """

    layers: tuple[LayerMatch, ...]
    board: Board
    config: Config
    content: bytes
    changed: tuple[str, ...]
    with_rows: Callable[[Collection[str]], tuple[bytes, Config]]
    notes: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()
    not_judged: str = ""

    @property
    def unstated_layers(self) -> frozenset[str]:
        """Copper layers of the board that the table lacks, or of which it lacks a dielectric next to them."""
        names = [one.layer for one in self.layers]
        near = {name: names[max(k - 1, 0) : k + 2] for k, name in enumerate(names)}
        mine = (layer.name for layer in self.board.copper_layers)
        return frozenset(name for name in mine if self.missing & {*near.get(name, [name])})


def match_stackups(ctx: Context, fab: FabStackup, content: bytes, where: str) -> Matched:
    """Compare a fab's stackup with a board's.

    Args:
        ctx: the board and its facts.
        fab: the fab's table.
        content: the board file, from which the fab's board is made in memory.
        where: what errors call the table.

    Raises:
        ConfigError: the table has no copper rows.
        MissingFact: the board states no stackup.
    """
    planned = planned_from(ctx.stackup())
    aligned = align(planned.rows, fab.rows, where)
    plies = {name: [p for p in ctx.plies if p.row == name] for name in dict.fromkeys(p.row for p in ctx.plies)}
    copper = planned.copper_names
    layers, rows, dielectrics = [], [], dict(ctx.declarations.config.declared.dielectric)
    for group in aligned.groups:
        outer = group.row.name in (copper[0], copper[-1])
        weight = ctx.declarations.copper_weight(group.row.name)
        declared_oz = weight.value if weight is not None and weight.known else None
        match, row, said = _compare(group, plies.get(group.row.name, []), outer=outer, declared_oz=declared_oz)
        layers.append(match)
        rows.append(row)
        if any(value is not None for value in said.values()) or (said and group.row.name in dielectrics):
            declared = dielectrics.get(group.row.name, DielectricDeclaration())
            dielectrics[group.row.name] = declared.model_copy(update=said)
    path = ctx.board.path
    if path is None:
        raise ConfigError(where, "has no board file to be compared with", "give a .kicad_pcb")
    label = f"{path}, with the rows of {where}"

    def written(new: Sequence[PlannedRow]) -> bytes:
        if tuple(new) == planned.rows:
            return content
        return replace_stackup(content, planned.model_copy(update={"rows": tuple(new)}), label=label)

    old, new = ctx.declarations.config.declared.dielectric, written(rows)
    said_anew = {name for name, one in dielectrics.items() if one != old.get(name)}

    def with_rows(names: Collection[str]) -> tuple[bytes, Config]:
        """Declarations of rows that the fab replaces are dropped: of these rows alone."""
        mixed = [row if row.name in names else own for row, own in zip(rows, planned.rows, strict=True)]
        return written(mixed), _config_for(ctx, {**old, **{n: dielectrics[n] for n in names if n in dielectrics}})

    return Matched(
        layers=(*layers, *(_extra(row) for row in aligned.extra)),
        board=read_board(path, text=new),
        config=_config_for(ctx, dielectrics),
        content=new,
        changed=tuple(row.name for k, row in enumerate(rows) if row != planned.rows[k] or row.name in said_anew),
        with_rows=with_rows,
        notes=(*fab.notes, *aligned.notes),
        missing=frozenset(group.row.name for group in aligned.groups if group.is_missing),
        not_judged=_not_judged(aligned),
    )


def _not_judged(aligned: Aligned) -> str:
    """A stackup of which the fab states a part, or which has other layers than the board's, has no verdict."""
    lost = [group.row.kind for group in aligned.groups if group.is_missing]
    copper = lost.count(LayerKind.COPPER)
    if lost:
        kind = "copper" if copper else "dielectric"
        number = copper or len(lost)
        return f"{count(number, f'{kind} row')} {'is' if number == 1 else 'are'} missing"
    return f"the board lacks {count(len(aligned.extra), 'copper row')} of the table" if aligned.extra else ""


def _extra(row: FabRow) -> LayerMatch:
    figure = _said("row", "", "copper", accept=False, remark="the board has no such layer")
    return LayerMatch(layer=f"{row.name or 'copper'} of the table", lines=(row.line,), figures=(figure,))


def _config_for(ctx: Context, dielectrics: dict[str, DielectricDeclaration]) -> Config:
    """The declarations hold for the fab's stackup too, where the fab says nothing else; stale ones stay stale."""
    config = ctx.declarations.config
    update: dict[str, object] = {"dielectric": dielectrics}
    if not ctx.declarations.stale:
        update["stackup_hash"] = None
    return config.model_copy(update={"declared": config.declared.model_copy(update=update)})


def _compare(
    group: RowGroup, plies: Sequence[DielectricPly], *, outer: bool, declared_oz: float | None
) -> tuple[LayerMatch, PlannedRow, dict[str, object]]:
    """Return the comparison of a row, the row as the fab builds it, and what the declarations of it become."""
    row, fab = group.row, group.fab
    lines = tuple(one.line for one in fab)
    if not fab:
        lost = _said("row", row.kind.value, "", accept=False, remark="the table has no such row")
        return LayerMatch(layer=row.name, lines=lines, figures=(lost,) if group.is_missing else ()), row, {}
    figures = [f for f in (_thickness(row, fab),) if f]
    if row.kind is LayerKind.COPPER:
        figures += _weight(row, fab[0], outer=outer, declared_oz=declared_oz)
        thickness = _kept(figures, "thickness", row.thickness_mm, fab[0].thickness_mm)
        ply = row.plies[0].model_copy(update={"thickness_mm": thickness})
        return LayerMatch(layer=row.name, lines=lines, figures=tuple(figures)), _with(row, (ply,)), {}
    if row.kind is not LayerKind.MASK:
        kinds = {one.kind for one in fab} - {"dielectric"}
        if kinds:
            same = kinds == {row.kind.value}
            figures.append(_said("type", row.kind.value, " + ".join(sorted(kinds)), accept=same))
    stale = bool(plies) and plies[0].declarations.stale
    stated = [(p.in_file.material or "") if stale else p.stated for p in plies] or [
        ply.material or "" for ply in row.plies
    ]
    figures += _material(stated, [one.material for one in fab if one.material])
    figures += _permittivity(row, plies, fab)
    figures += _glass_transition(plies, fab)
    differs = {one.what for one in figures if one.outcome is not CompareOutcome.ACCEPT and one.fab}
    of_dk = ["dk", "dk_at_ghz"]
    dropped = ["material", "df", "at_ghz", *of_dk] if "material" in differs else of_dk if "Dk" in differs else []
    match = LayerMatch(layer=row.name, lines=lines, figures=tuple(figures))
    return match, _built(row, stated, fab, differs), {**dict.fromkeys(dropped), **_declared_by(fab, differs)}


def _declared_by(fab: Sequence[FabRow], differs: set[str]) -> dict[str, object]:
    """Return what the table states and a board file cannot hold: Df at its frequency, a Tg that is lower."""
    said: dict[str, object] = {}
    losses = {(one.df, one.at_ghz) for one in fab}
    df, at_ghz = next(iter(losses))
    if len(losses) == 1 and df and at_ghz and differs & {"Df", "material"}:
        said |= {"df": df, "at_ghz": at_ghz}
    if (dk_at_ghz := _dk_ghz(fab)) and differs & {"Dk", "material"}:
        said["dk_at_ghz"] = dk_at_ghz
    if "Tg" in differs:
        sheets = (catalogue().find(one.material).laminate for one in fab if one.material)
        typical = [tg.value_c for sheet in sheets if sheet and (tg := sheet.tg_fact().value)]
        said["tg_c"] = min(*typical, *(one.tg_c for one in fab if one.tg_c is not None), math.inf)
    return said


def _glass_transition(plies: Sequence[DielectricPly], fab: Sequence[FabRow]) -> list[Compared]:
    """Hold the table's Tg, whose method no table names, against ours: only a lower one says anything."""
    theirs = [one.tg_c for one in fab if one.tg_c is not None]
    ours = [tg.value_c for ply in plies if (tg := ply.tg.value) is not None]
    if not theirs or not ours:
        return []
    shown = f"{min(ours):g} C", f"{min(theirs):g} C"
    if min(theirs) < min(ours):
        return [_said("Tg", *shown, accept=False)]
    return [_said("Tg", *shown, accept=True, remark="" if min(theirs) == min(ours) else "the method is not stated")]


def _built(row: PlannedRow, stated: Sequence[str], fab: Sequence[FabRow], differs: set[str]) -> PlannedRow:
    """The row as the fab builds it: what differs is the fab's, all else the board's own value."""
    if not differs - {"Df", "Tg"}:
        return row
    kinds = {one.kind for one in fab} & {"core", "prepreg"}
    kind = LayerKind(next(iter(kinds))) if len(kinds) == 1 and row.kind is not LayerKind.MASK else row.kind
    if len(fab) != len(row.plies) and any(one.thickness_mm is None for one in fab):
        return row  # the table does not say how thick its sheets are
    plies = []
    for number, one in enumerate(fab):
        mine = row.plies[min(number, len(row.plies) - 1)]
        new_material = "material" in differs and bool(one.material)
        text = one.material if new_material else stated[min(number, len(stated) - 1)] or mine.material
        dk = one.dk if one.dk is not None and (differs & {"Dk", "material"}) else None if new_material else mine.dk
        thick = one.thickness_mm if "thickness" in differs or len(fab) != len(row.plies) else mine.thickness_mm
        material = text or ("not stated" if row.kind is not LayerKind.MASK else None)
        df = None if new_material else mine.df
        plies.append(Ply(thickness_mm=thick, material=material, dk=dk if material else None, df=df))
    return _with(row.model_copy(update={"kind": kind}), tuple(plies))


def _with(row: PlannedRow, plies: tuple[Ply, ...]) -> PlannedRow:
    return row.model_copy(update={"plies": plies})


def _kept(figures: Sequence[Compared], what: str, mine: float | None, theirs: float | None) -> float | None:
    differs = any(one.what == what and one.outcome is not CompareOutcome.ACCEPT for one in figures)
    return theirs if differs and theirs is not None else mine


def _said(what: str, board: str, fab: str, *, accept: bool, remark: str = "") -> Compared:
    outcome = CompareOutcome.ACCEPT if accept else CompareOutcome.DIFFERS
    return Compared(what=what, board=board, fab=fab, outcome=outcome, remark=remark)


def _open(what: str, board: str, fab: str, remark: str) -> Compared:
    return Compared(what=what, board=board, fab=fab, outcome=CompareOutcome.OPEN, remark=remark)


def _thickness(row: PlannedRow, fab: Sequence[FabRow]) -> Compared | None:
    parts = [one.thickness_mm for one in fab if one.thickness_mm is not None]
    if len(parts) != len(fab):
        is_copper = row.kind is LayerKind.COPPER and fab[0].copper_oz is not None
        shown = "not stated" if row.thickness_mm is None else f"{row.thickness_mm:.4g} mm"
        return None if is_copper else _open("thickness", shown, "", "the table gives none")
    total, rounding = sum(parts), sum(one.rounding_mm for one in fab)
    if row.thickness_mm is None:
        return _open("thickness", "not stated", f"{total:.4g} mm", "the board states none")
    same = abs(total - row.thickness_mm) <= rounding + SAME_MM
    return _said("thickness", f"{row.thickness_mm:.4g} mm", f"{total:.4g} mm", accept=same)


def _weight(row: PlannedRow, fab: FabRow, *, outer: bool, declared_oz: float | None) -> list[Compared]:
    """Compare what is declared, else what the thickness tells."""
    if fab.copper_oz is None:
        return []
    shown = f"{fab.copper_oz:g} oz"
    if declared_oz is not None:
        return [_said("copper weight", f"{declared_oz:g} oz", shown, accept=declared_oz == fab.copper_oz)]
    ours = ounce_class(row.thickness_mm, outer=outer) if row.thickness_mm else None
    if ours is None or ours.value is None:
        return [_open("copper weight", "not known", shown, "the board's thickness is of no copper weight")]
    if ours.value == fab.copper_oz:
        return [_said("copper weight", f"{ours.value:g} oz", shown, accept=True)]
    if ours.confidence is Confidence.LOW:
        return [_open("copper weight", f"{row.thickness_mm:g} mm", shown, "outer copper is plated: ask what is meant")]
    return [_said("copper weight", f"{ours.value:g} oz", shown, accept=False)]


def _material(mine: Sequence[str], theirs: Sequence[str]) -> list[Compared]:
    board, fab = (" + ".join(dict.fromkeys(text for text in texts if text)) for texts in (mine, theirs))
    if not fab:
        return []
    if board.casefold() == fab.casefold():
        return [_said("material", board, fab, accept=True)]
    if not board:
        return [_open("material", "not stated", fab, "the board names none")]
    found = [catalogue().find(text) for text in (*mine, *theirs)]
    unknown = [match.text for match in found if match.laminate is None]
    if unknown:
        return [_open("material", board, fab, f'"{unknown[0]}" is not in the catalogue')]
    ours, others = (
        {m.laminate.family for m in part if m.laminate} for part in (found[: len(mine)], found[len(mine) :])
    )
    if ours != others:
        return [_said("material", board, fab, accept=False, remark=f"{_names(ours)} / {_names(others)}")]
    if any(m.laminate and m.laminate.generic for m in found):
        return [_open("material", board, fab, "a kind of material, not a product")]
    styles = [tuple(s for m in part for s in m.styles) for part in (found[: len(mine)], found[len(mine) :])]
    if styles[0] and styles[1] and set(styles[0]) != set(styles[1]):
        return [_said("material", board, fab, accept=False, remark="another glass style")]
    return [_said("material", board, fab, accept=True, remark=f"both are {_names(ours)}")]


def _names(families: set[str]) -> str:
    return ", ".join(sorted(families))


def _permittivity(row: PlannedRow, plies: Sequence[DielectricPly], fab: Sequence[FabRow]) -> list[Compared]:
    """Dk in series over the sheets; Df where both state one: at the table's frequency, where its title names one."""
    found: list[Compared] = []
    theirs, at_ghz = _in_series([(one.thickness_mm, one.dk) for one in fab]), _dk_ghz(fab)
    has_ghz = all(ply.dk.stated_at_ghz for ply in plies)
    ours = _in_series([(p.in_file.thickness_mm, _dk(p, at_ghz if has_ghz else None)) for p in plies])
    if not plies:
        ours = row.plies[0].dk
    if theirs is not None and ours is not None:
        same = abs(ours - theirs) <= SAME_DK
        remark = f"at {at_ghz:g} GHz" if at_ghz else ""
        if at_ghz and plies and not has_ghz:
            remark = "" if same else f"the table's is {remark}, the board states no frequency"
        found.append(_said("Dk", f"{ours:.3g}", f"{theirs:.3g}", accept=same, remark=remark))
    elif theirs is not None:
        found.append(_open("Dk", "not stated", f"{theirs:.3g}", "the board states none"))
    losses = {(one.df, one.at_ghz) for one in fab}
    df, at_ghz = next(iter(losses))
    if len(losses) == 1 and df:
        found += _loss(row, plies, df, at_ghz)
    return found


def _loss(row: PlannedRow, plies: Sequence[DielectricPly], df: float, at_ghz: float | None) -> list[Compared]:
    """Hold the table's Df against the board's at the same frequency; without one, against the file's bare number."""
    own, stated = {ply.df for ply in row.plies}, None
    if len(own) == 1:
        stated = own.pop()
    at = {ply.df.at(at_ghz).value for ply in plies} if at_ghz else set()
    known = at.pop() if len(at) == 1 else None
    if known is not None:
        same = round(known, _decimals(df)) == df or stated == df
        where = f"at {at_ghz:g} GHz"
        return [_said("Df", f"{known:.4g}", f"{df:g}", accept=same, remark=where)]
    if not stated:
        return []
    remark = f"the table's is at {at_ghz:g} GHz, the board states no frequency" if at_ghz else ""
    remark = "" if stated == df else remark or BARE_DF
    return [_said("Df", f"{stated:g}", f"{df:g}", accept=abs(stated - df) < 1e-9, remark=remark)]


def _decimals(df: float) -> int:
    """Return to how many a table states a Df: as printed, at least to a thousandth."""
    exponent = Decimal(repr(df)).as_tuple().exponent
    return max(-exponent, 3) if isinstance(exponent, int) else 3


def _dk(ply: DielectricPly, at_ghz: float | None) -> float | None:
    """Return the Dk that is stated, at a frequency where one is given."""
    if at_ghz is not None:
        return ply.dk.at(at_ghz).value
    declared = None if ply.declarations.stale else ply.declaration.dk
    return ply.in_file.dk if declared is None else declared


def _dk_ghz(fab: Sequence[FabRow]) -> float | None:
    """Return the frequency that a table states for all Dk of a row; None without one."""
    found = {one.dk_at_ghz for one in fab if one.dk is not None}
    return found.pop() if len(found) == 1 else None


def _in_series(sheets: Sequence[tuple[float | None, float | None]]) -> float | None:
    """Sum of thicknesses over the sum of thickness / Dk; None where any of them is not known."""
    dks = {dk for _, dk in sheets}
    if not sheets or None in dks:
        return None
    if len(dks) == 1:
        return dks.pop()
    if any(t is None for t, _ in sheets):
        return None
    return sum(t or 0.0 for t, _ in sheets) / sum((t or 0.0) / (dk or 1.0) for t, dk in sheets)
