"""From what is known of a board to the `StackupView` that people look at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import numpy as np

from drc_rules.analysis.nets.high_speed_layers import LUMPED_SHARE, MM_GHZ_PER_WAVELENGTH, fast_layers
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.report.stackup_rows import (
    Carried,
    DrilledBack,
    Figure,
    RowFoil,
    StackupRow,
    StackupView,
    Stated,
    ViaSpan,
)
from drc_rules.requirements.interfaces import family
from stackup_lib.board.board import NO_LAYER, Board, Ints, LayerKind, StackupLayer, ViaKind
from stackup_lib.board.layer_roles import LayerUse
from stackup_lib.core.facts import Fact, MissingFact, Origin
from stackup_lib.materials import ounce_class

REFERENCE_GHZ = 10.0
"""Frequency at which laminates are compared."""


def stackup_view(ctx: Context) -> StackupView:
    """Collect what is known of a board's stackup, top to bottom."""
    board, stackup = ctx.board, ctx.board.stackup
    rows = tuple(_declared_rows(ctx) if stackup and not ctx.is_default_stackup else _bare_rows(ctx))
    stated = Stated.NOWHERE if stackup is None else Stated.DEFAULT if ctx.is_default_stackup else Stated.FILE
    total = stackup.thickness_mm if stackup and stated is Stated.FILE else None
    thickness = board.thickness_mm if total is None else total
    return StackupView(
        stated=stated,
        thickness_mm=None if thickness is None else round(thickness, 6),
        copper_finish=stackup.copper_finish if stackup and stated is Stated.FILE else None,
        digest=stackup.digest if stackup else None,
        rows=rows,
        spans=_spans(ctx),
        notes=tuple(_notes(ctx, rows)),
    )


def _declared_rows(ctx: Context) -> Iterator[StackupRow]:
    stackup = ctx.board.stackup
    plies = iter(ctx.plies)  # in the order of the rows, whose names need not be unique
    uses, carried = _uses(ctx), _carried(ctx)
    for row in stackup.layers if stackup else ():
        if row.kind is LayerKind.COPPER:
            yield _copper_row(ctx, row.name, uses, carried)
        elif row.is_dielectric:
            yield from (_ply_row(ply) for ply in islice(plies, len(row.plies)))
        elif row.kind is LayerKind.MASK:
            yield _mask_row(row)


def _bare_rows(ctx: Context) -> Iterator[StackupRow]:
    """The layer table, with an unknown dielectric between each two layers: more is not declared."""
    uses, carried = _uses(ctx), _carried(ctx)
    for index, layer in enumerate(ctx.board.copper_layers):
        if index:
            yield StackupRow(name=f"dielectric {index}", kind=LayerKind.OTHER)
        yield _copper_row(ctx, layer.name, uses, carried)


def _copper_row(
    ctx: Context, name: str, uses: Mapping[str, LayerUse], carried: Mapping[str, tuple[Carried, ...]]
) -> StackupRow:
    index = ctx.board.layer_index.get(name)
    if index is None:  # the stackup has a row that the layer table does not know
        return StackupRow(name=name, kind=LayerKind.COPPER)
    thickness_mm, foil, use = _stated_copper_mm(ctx, name), ctx.foil(index), uses.get(name)
    outer = index in (0, ctx.board.layer_count - 1)
    weight = ctx.declarations.copper_weight(name)
    if thickness_mm and (weight is None or not weight.known):
        weight = ounce_class(thickness_mm, outer=outer)
    grade = (
        RowFoil(grade=foil.value.value, origin=foil.origin, source=foil.source) if foil.known and foil.value else None
    )
    return StackupRow(
        name=name,
        user_name=ctx.board.copper_layers[index].user_name,
        kind=LayerKind.COPPER,
        thickness_mm=thickness_mm,
        copper_oz=_figure(weight) if weight else None,
        foil=grade,
        role=use.role if use else None,
        main_net=use.main_net if use else "",
        carries=carried.get(name, ()),
    )


def _stated_copper_mm(ctx: Context, name: str) -> float | None:
    """Return what the stackup states of a copper row, whether it can be or not: the table shows what was entered."""
    stackup = ctx.board.stackup if not ctx.is_default_stackup else None
    return next((row.thickness_mm for row in (stackup.copper if stackup else ()) if row.name == name), None)


def _ply_row(ply: DielectricPly) -> StackupRow:
    laminate, loss_class = ply.laminate, ply.loss_class
    return StackupRow(
        name=ply.label,
        kind=ply.kind,
        thickness_mm=ply.in_file.thickness_mm,
        material=ply.stated,
        material_origin=ply.origin if ply.stated else Origin.UNKNOWN,
        laminate=laminate.value.family if laminate.known and laminate.value else None,
        loss_class=loss_class.value.value if loss_class.known and loss_class.value else None,
        dk_stated=ply.in_file.dk,
        df_stated=ply.in_file.df,
        df_10ghz=_figure(ply.df.at(REFERENCE_GHZ)),
    )


def _mask_row(row: StackupLayer) -> StackupRow:
    material = row.plies[0].material or ""
    return StackupRow(
        name=row.name,
        kind=LayerKind.MASK,
        thickness_mm=row.thickness_mm,
        material=material,
        material_origin=Origin.FILE if material else Origin.UNKNOWN,
        dk_stated=row.plies[0].dk,
        df_stated=row.plies[0].df,
    )


def _figure(fact: Fact[float]) -> Figure | None:
    if not fact.known or fact.value is None:
        return None
    return Figure(value=fact.value, origin=fact.origin, source=fact.source, confidence=fact.confidence)


def _uses(ctx: Context) -> Mapping[str, LayerUse]:
    """Layer uses by name; none while the zones are not filled, because every plane would look like a signal layer."""
    try:
        return {use.name: use for use in ctx.filled_uses()}
    except MissingFact:
        return {}


def _carried(ctx: Context) -> Mapping[str, tuple[Carried, ...]]:
    """The interfaces on each copper layer, by layer name."""
    found: dict[str, list[Carried]] = {}
    for interface_id in ctx.assignment.interfaces():
        for layer in fast_layers(ctx, interface_id):
            row = Carried(
                interface=interface_id,
                title=layer.interface.title,
                nets=len(layer.nets),
                longest_mm=layer.longest_mm,
                inferred=layer.inferred,
            )
            found.setdefault(layer.name, []).append(row)
    for family_id in ctx.assignment.families_without_generation():
        for name, row in _of_unknown_generation(ctx, family_id):
            found.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}


def _of_unknown_generation(ctx: Context, family_id: str) -> Iterator[tuple[str, Carried]]:
    """Layers with nets of a family of unknown generation; the slowest one decides what is lumped."""
    of, tracks = family(family_id), ctx.board.tracks
    slowest = min((one.nyquist_ghz for one in of.interfaces if one.nyquist_ghz), default=1.0)
    shortest = LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / slowest
    roles = [ctx.assignment.role_of(int(net)) for net in ctx.nets_of(family_id)]
    nets = [
        int(net)
        for net, role in zip(ctx.nets_of(family_id), roles, strict=True)
        if role is not None and role.interface is None
    ]
    for index, layer in enumerate(ctx.board.copper_layers):
        here = (tracks.layer == index) & np.isin(tracks.net, nets)
        sums = np.bincount(tracks.net[here], tracks.length_mm[here]) if np.any(here) else np.zeros(0)
        long = sums[sums > shortest]
        if len(long):
            row = Carried(
                interface=family_id,
                title=of.title,
                nets=len(long),
                longest_mm=float(np.max(long)),
                inferred=True,
                generation_known=False,
            )
            yield layer.name, row


def _spans(ctx: Context) -> tuple[ViaSpan, ...]:
    """Vias in groups of one kind, span and backdrilling; the widest spans first."""
    vias, names = ctx.board.vias, [layer.name for layer in ctx.board.copper_layers]
    extra = list(_declared_backdrills(ctx))
    groups: dict[tuple[int, int, int, tuple[DrilledBack, ...]], list[float]] = {}
    for rows in _rows_alike(ctx.board, [nets for _, nets in extra]):
        index = rows[0]
        drills = tuple(_backdrills_of(ctx, index, names))
        drills += tuple(drill for drill, nets in extra if int(vias.net[index]) in nets and not _at(drills, drill.start))
        key = (int(vias.kind[index]), int(vias.start_layer[index]), int(vias.end_layer[index]), drills)
        groups.setdefault(key, []).extend(vias.drill_mm[rows].tolist())

    def order(key: tuple[int, int, int, tuple[DrilledBack, ...]]) -> tuple[object, ...]:
        kind, top, bottom, drills = key
        return top - bottom, top, kind, _depths(drills, names)

    ordered = sorted(groups.items(), key=lambda item: order(item[0]))
    return tuple(
        ViaSpan(
            kind=ViaKind(kind).name.lower(),
            top=names[top],
            bottom=names[bottom],
            count=len(sizes),
            drill_min_mm=min(filter(math.isfinite, sizes), default=None),
            drill_max_mm=max(filter(math.isfinite, sizes), default=None),
            backdrills=drills,
        )
        for (kind, top, bottom, drills), sizes in ordered
    )


def _rows_alike(board: Board, chosen: Iterable[frozenset[int]]) -> Iterator[Ints]:
    """Yield the rows of vias of one kind, span and backdrilling, on the same nets of those chosen, in their order."""
    vias, drilling = board.vias, board.vias.drilling
    span = vias.kind, vias.start_layer, vias.end_layer
    drilled = drilling.backdrill_start, drilling.backdrill_must_cut, drilling.tertiary_start, drilling.tertiary_must_cut
    table = np.column_stack([*span, *drilled, *(np.isin(vias.net, list(nets)) for nets in chosen)])
    _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    for one in np.argsort(first):
        yield np.flatnonzero(group.reshape(-1) == one)


def _at(drills: Iterable[DrilledBack], start: str) -> bool:
    return any(drill.start == start for drill in drills)


def _depths(drills: Iterable[DrilledBack], names: list[str]) -> list[tuple[int, int]]:
    known = {name: index for index, name in enumerate(names)}
    return [(known.get(drill.start, -1), -known.get(drill.must_cut, -1)) for drill in drills]


def _backdrills_of(ctx: Context, index: int, names: list[str]) -> Iterator[DrilledBack]:
    drilling = ctx.board.vias.drilling
    for start, cut in (
        (drilling.backdrill_start[index], drilling.backdrill_must_cut[index]),
        (drilling.tertiary_start[index], drilling.tertiary_must_cut[index]),
    ):
        if NO_LAYER not in (start, cut):
            yield DrilledBack(start=names[start], must_cut=names[cut])


def _declared_backdrills(ctx: Context) -> Iterator[tuple[DrilledBack, frozenset[int]]]:
    """Backdrills that the user declares because the file cannot hold them."""
    names = [layer.name for layer in ctx.board.copper_layers]
    for drill, nets in ctx.declarations.backdrills:
        yield DrilledBack(start=names[drill.start], must_cut=names[drill.must_cut], origin=Origin.DECLARED), nets


def _notes(ctx: Context, rows: Iterable[StackupRow]) -> Iterator[str]:
    shown = {row.name for row in rows if row.is_copper}
    absent = [layer.name for layer in ctx.board.copper_layers if layer.name not in shown]
    if absent:
        yield f"the stackup has no row for {', '.join(absent)} of the layer table"
    other_net = [row.name for row in rows if row.is_copper and row.name not in ctx.board.layer_index]
    if other_net:
        yield f"the layer table has no {', '.join(other_net)} of the stackup"
    if not _uses(ctx):
        yield "the zones are not filled, so no layer's role is known: press B in KiCad and save"
    if ctx.declarations.stale:
        yield "the facts declared for the stackup were declared for another one, and count as unknown"
