"""Where lines run on this board: the `TraceEnvironment` of a copper layer, with what had to be assumed for it."""

from __future__ import annotations

from typing import Literal

from drc_rules.facts.board_process import ASSUMED_DK, MASK_ROW
from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import mask_fault
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.field_solver.sections import Mask
from stackup_lib.transmission_lines.buildup import BuildupRow, site_of
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ
from stackup_lib.transmission_lines.site import TraceEnvironment


@record
class BoardSite:
    """A layer's surroundings and where they come from.

    Attributes:
        index: copper layer.
        plies: the dielectric behind each of `site.sheets`.
        above, below: indices of the reference layers, None where that side is open.
        assumptions: what no file states, one phrase each.
    """

    site: TraceEnvironment
    index: int
    plies: tuple[DielectricPly, ...]
    above: int | None
    below: int | None
    assumptions: tuple[str, ...] = ()


def references_of(ctx: Context, index: int) -> tuple[int | None, int | None]:
    """Return the nearest plane above and below a copper layer, None on a side without one.

    Raises:
        MissingFact: no plane is known on either side.
    """
    uses = ctx.filled_uses()
    above = next((k for k in range(index - 1, -1, -1) if uses[k].is_plane), None)
    below = next((k for k in range(index + 1, len(uses)) if uses[k].is_plane), None)
    if above is None and below is None:
        names = [layer.name for layer in ctx.board.copper_layers]
        adjacent = [names[k] for k in (index - 1, index + 1) if 0 <= k < len(names)]
        option = f"`stackwright impedance` takes --reference {','.join(adjacent)}"
        how = f"draw a plane on {' or '.join(adjacent)} and fill the zones; {option}"
        raise MissingFact(f"the reference plane of {names[index]}", how)
    return above, below


def named_references(ctx: Context, index: int, names: tuple[str, ...]) -> tuple[int | None, int | None]:
    """Return the reference layers that a user names, above and below; raises `ConfigError` for what makes no sense."""
    above: int | None = None
    below: int | None = None
    for name in names:
        other = layer_of(ctx, name)
        if other == index:
            raise ConfigError("--reference", f"{name} is the trace's own layer", "name a plane above or below it")
        if other < index:
            above = other if above is None else max(above, other)
        else:
            below = other if below is None else min(below, other)
    return above, below


def layer_of(ctx: Context, name: str) -> int:
    """Return the index of a copper layer by KiCad's name or the user's; raises `ConfigError`."""
    known = {layer.name: k for k, layer in enumerate(ctx.board.copper_layers)}
    known |= {layer.user_name: k for k, layer in enumerate(ctx.board.copper_layers) if layer.user_name}
    if name not in known:
        raise ConfigError("layer", f'the board has no copper layer "{name}"', did_you_mean(name, known))
    return known[name]


MOST_MM = 100.0
"""No layer of a board is thicker; the field solver has no answer for a dielectric of kilometres."""


def board_site(ctx: Context, index: int, references: tuple[int | None, int | None] | None = None) -> BoardSite:
    """Return the site of a copper layer.

    Args:
        ctx: the board and its facts.
        index: copper layer.
        references: planes above and below; by default the nearest ones by their filled copper.

    Raises:
        MissingFact: a thickness, a Dk or the reference plane is not known, as where a zone before it has no fill.
        GeometryError: the stackup has nothing between trace and plane.
    """
    ctx.stackup()
    above, below = references_of(ctx, index) if references is None else references
    names = [layer.name for layer in ctx.board.copper_layers]
    first, last = -1 if above is None else above, len(names) if below is None else below
    ctx.need_filled_planes(layer for layer in range(first + 1, last) if layer != index)
    upper, lower = _rows(ctx, index, first), _rows(ctx, index, last)
    is_outer = index in (0, len(names) - 1)
    mask, assumptions = _mask(ctx, index) if is_outer else (None, ())
    copper_mm = _copper_mm(ctx, index, outer=is_outer)
    taper = ctx.process.taper_mm(copper_mm, outer=not upper or not lower)
    for name, thickness_mm in ((names[index], copper_mm), *((row.name, row.thickness_mm) for row in (*upper, *lower))):
        if not 0 < thickness_mm <= MOST_MM:
            raise MissingFact(f"a plausible thickness of {name}: {thickness_mm:g} mm is stated", DECLARE_STACKUP)
    site = site_of(
        names[index],
        copper_mm=copper_mm,
        above=upper,
        below=lower,
        reference_above=None if above is None else names[above],
        reference_below=None if below is None else names[below],
        in_upper_half=2 * index < len(names) - 1,
        mask=mask,
        taper_mm=taper.value if taper.is_stated else None,
    )
    by_label = {ply.label: ply for ply in ctx.plies}
    plies = tuple(by_label[sheet.label] for sheet in site.sheets)
    return BoardSite(site, index, plies, above, below, assumptions)


def _rows(ctx: Context, index: int, until: int) -> list[BuildupRow]:
    """Return the rows from a trace outward to a reference layer or the surface."""
    rows: list[BuildupRow] = []
    step = 1 if until > index else -1
    for copper in range(index, until, step):
        between = [
            p for p in ctx.plies if (p.above, p.below) == (min(copper, copper + step), max(copper, copper + step))
        ]
        if not between and 0 <= copper + step < ctx.board.layer_count:
            raise MissingFact(f"the dielectric next to {ctx.board.copper_layers[copper].name}", DECLARE_STACKUP)
        rows += [_row(ctx, ply) for ply in (between if step > 0 else reversed(between))]
        if copper + step not in (until, -1, ctx.board.layer_count):
            name = ctx.board.copper_layers[copper + step].name
            rows.append(
                BuildupRow(name=name, kind="copper", thickness_mm=ctx.need(ctx.copper_thickness_mm(copper + step)))
            )
    return rows


def _row(ctx: Context, ply: DielectricPly) -> BuildupRow:
    kind: Literal["core", "prepreg"] = "core" if ply.kind is LayerKind.CORE else "prepreg"
    dk = ctx.need(ply.dk.at(DK_GHZ))
    thickness = ctx.need(ply.thickness)
    return BuildupRow(name=ply.row, kind=kind, thickness_mm=thickness, dk=dk, label=ply.label)


def _copper_mm(ctx: Context, index: int, *, outer: bool) -> float:
    """Return the finished copper of a trace: declared in `[process]`, else the stackup's."""
    declared = ctx.process.outer_copper_mm(index) if outer else None
    return ctx.need(ctx.copper_thickness_mm(index)) if declared is None else declared.value


def _mask(ctx: Context, index: int) -> tuple[Mask | None, tuple[str, ...]]:
    """Solder mask over an outer layer, declared or as the stackup states it; None where neither has one."""
    top = index == 0
    found, row = ctx.process.mask(top=top), ctx.process.mask_row(top=top)
    if found is None:
        bare = "no solder mask in the stackup: bare copper" if row is None else ""
        return None, (bare,) if bare and not ctx.process.is_declared_bare else ()
    takes = {"thickness": found.over_copper_mm.source == MASK_ROW, "dk": found.dk.source == MASK_ROW}
    fault = mask_fault(row, **takes) if row is not None else None
    if fault is not None:
        raise fault
    assumed = []
    if not found.over_copper_mm.is_stated:
        over, laminate = (1000 * one.value for one in (found.over_copper_mm, found.over_laminate_mm))
        assumed.append(f"solder mask {over:.0f} um on copper, {laminate:.0f} um next to it")
    if found.dk.source == ASSUMED_DK:
        assumed.append(f"Dk of solder mask {found.dk.value:g}")
    return found.mask, tuple(assumed)
