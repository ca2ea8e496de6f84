"""The stackup of a board as a candidate, so that the search can change as little of it as will do."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.high_speed_layers import fast_layers
from drc_rules.facts.board_process import declared_finish
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.dielectric.ply import DielectricPly
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole, LayerUse
from stackup_lib.core.facts import MissingFact
from stackup_lib.materials import ounce_class
from stackup_lib.synthesis import CandidateRow, CandidateStackup
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.candidates import LETTERS, Use
from stackup_lib.synthesis.constructions import DF_GHZ
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ
from stackup_lib.vias.build_ups import build_ups


def candidate_of(ctx: Context, *, any_laminate: bool = False) -> CandidateStackup:
    """Return the stackup that a board has.

    Args:
        ctx: the board.
        any_laminate: take laminates that are not known too, for changes that need none: copper and mirrored rows.

    Raises:
        MissingFact: no stackup is stated, a row lacks thickness or laminate, or the zones are not filled.
    """
    stackup, uses = ctx.stackup(), uses_of(ctx)
    names = [row.name for row in stackup.copper]
    if names != [layer.name for layer in ctx.board.copper_layers] or len(stackup.dielectrics) != len(names) - 1:
        raise MissingFact("a stackup with one dielectric between any two of the board's copper layers", DECLARE_STACKUP)
    plies: dict[str, list[DielectricPly]] = {}
    for ply in ctx.plies:
        plies.setdefault(ply.row, []).append(ply)
    rows = []
    for row in stackup.layers:
        if row.kind is LayerKind.COPPER:
            rows.append(_copper(ctx, row.name, uses[row.name]))
        elif row.is_dielectric:
            rows.append(_unknown(plies[row.name]) if any_laminate else _dielectric(plies[row.name]))
        elif row.kind is LayerKind.MASK and row.thickness_mm:
            rows.append(CandidateRow(kind=row.kind, name=row.name, thickness_mm=row.thickness_mm))
    built = build_ups(ctx.board)
    order = Order(
        layers="".join(LETTERS[uses[name]] for name in names),
        gaps="".join("c" if row.kind is LayerKind.CORE else "p" for row in stackup.dielectrics),
        pattern="as it stands",
        build_ups=built.per_side,
    )
    return CandidateStackup(rows=tuple(rows), order=order, finish=_finish(ctx), is_any_layer=built.is_any_layer)


def _finish(ctx: Context) -> LineFinish:
    """Return what a check of the board solves its lines with: `[process]`, else the file's solder mask."""
    process, last = ctx.process, ctx.board.layer_count - 1
    mask = process.mask(top=True)
    copper = {one.value if (one := process.outer_copper_mm(index)) else None for index in (0, last)}
    outer_mm = copper.pop() if len(copper) == 1 else None
    update: dict[str, object] = {"mask": mask.mask if mask else None, "outer_copper_mm": outer_mm}
    if any(process.preset_contradicted_by(index) for index in (0, last)):
        own = process.declared.outer_etch_taper_um
        update["outer_taper_mm"] = None if own is None else own / 1000
    return declared_finish(process.declared).model_copy(update=update)


def uses_of(ctx: Context) -> dict[str, Use]:
    """Return what each copper layer carries, by name; raises `MissingFact` where zones are not filled."""
    fast = {layer.name for one in ctx.assignment.fast_interfaces() for layer in fast_layers(ctx, one)}
    return dict(_each_use(ctx.filled_uses(), fast))


def _each_use(uses: tuple[LayerUse, ...], fast: set[str]) -> Iterator[tuple[str, Use]]:
    for index, use in enumerate(uses):
        plane: Use = "ground" if use.ground_share >= use.power_share else "power"
        if index in (0, len(uses) - 1):
            yield use.name, "outer"
        elif use.name in fast:
            yield use.name, "fast"
        elif use.role in (LayerRole.GROUND, LayerRole.POWER, LayerRole.MIXED):
            yield use.name, plane
        else:
            yield use.name, "signal"


def _copper(ctx: Context, name: str, use: Use) -> CandidateRow:
    index = ctx.board.layer_index[name]
    thickness = ctx.copper_thickness_mm(index).need()
    foil = ctx.foil(index)
    said = None if ctx.declarations.stale else ctx.declarations.config.declared.copper.get(name)
    oz = said.copper_oz if said else None
    weight = ounce_class(thickness, outer=index in (0, ctx.board.layer_count - 1))
    return CandidateRow(
        kind=LayerKind.COPPER,
        name=name,
        use=use,
        thickness_mm=thickness,
        copper_oz=weight.value if oz is None else oz,
        foil=foil.value.value if foil.known and foil.value else "",
    )


def _dielectric(plies: list[DielectricPly]) -> CandidateRow:
    first = plies[0]
    stated = dict.fromkeys(ply.stated or "none" for ply in plies)
    if len(stated) > 1:
        raise MissingFact(f"one material of {first.row}", f"its sheets state {' and '.join(stated)}")
    laminate = first.laminate.need()
    return CandidateRow(
        kind=first.kind,
        name=first.row,
        thickness_mm=round(sum(ply.thickness.need() for ply in plies), 6),
        laminate=laminate.family,
        construction=first.stated,
        plies=len(plies),
        dk=first.dk.at(DK_GHZ).need(),
        dk_ghz=DK_GHZ,
        df=first.df.at(DF_GHZ).value,
        df_ghz=DF_GHZ,
        source=first.laminate.source,
    )


def _unknown(plies: list[DielectricPly]) -> CandidateRow:
    """Return a dielectric of which the thickness has to be known, and nothing else."""
    first = plies[0]
    return CandidateRow(
        kind=first.kind,
        name=first.row,
        thickness_mm=round(sum(ply.thickness.need() for ply in plies), 6),
        laminate=first.laminate.value.family if first.laminate.value else "",
        construction=" + ".join(dict.fromkeys(ply.stated for ply in plies)),
        plies=len(plies),
        dk=first.dk.at(DK_GHZ).value,
    )
