"""Where lines run on this board: the `LineSite` of a copper layer, with what had to be assumed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drc_rules.context import DECLARE_STACKUP, Context
from drc_rules.dielectrics import DielectricPly
from stackup_lib.board import LayerKind, StackupLayer
from stackup_lib.errors import ConfigError, did_you_mean
from stackup_lib.facts import MissingFact
from stackup_lib.lines.buildup import Row, site_of
from stackup_lib.lines.sections import Mask
from stackup_lib.lines.site import LineSite

IMPEDANCE_GHZ = 1.0
"""Where a catalogue Dk is read for an impedance: a coupon's TDR edge of 0.1 to 0.3 ns holds 1 to 3 GHz."""

MASK_DK = 3.5
"""Solder mask of which no Dk is stated: makers print 3.3 to 3.8 (KiCad assumes 3.3, a fab's calculator 3.8)."""

MASK_MM = 0.0152
"""Solder mask over copper where nobody states it: what a fab's calculator sends to its field solver (0.6 mil)."""

MASK_BESIDE = 2.0
"""Liquid mask is thicker beside the copper than on it: 1.2 and 0.6 mil in the same calculator."""

KICAD_MASK_MM = 0.01
"""What KiCad writes into every new stackup; it declares nothing."""


@dataclass(frozen=True)
class BoardSite:
    """A layer's surroundings and where they come from.

    Attributes:
        index: copper layer.
        plies: the dielectric behind each of `site.sheets`.
        above, below: indices of the reference layers, None where that side is open.
        assumptions: what no file states, one phrase each.
    """

    site: LineSite
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
        beside = ",".join(names[k] for k in (index - 1, index + 1) if 0 <= k < len(names))
        raise MissingFact(f"the reference plane of {names[index]}", f"fill the zones, or give --reference {beside}")
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
        MissingFact: a thickness, a Dk or the reference plane is not known.
        GeometryError: the stackup has nothing between trace and plane.
    """
    ctx.stackup()
    above, below = references_of(ctx, index) if references is None else references
    names = [layer.name for layer in ctx.board.copper_layers]
    upper = _rows(ctx, index, -1 if above is None else above)
    lower = _rows(ctx, index, len(names) if below is None else below)
    mask, assumptions = _mask(ctx, index) if index in (0, len(names) - 1) else (None, ())
    copper_mm = ctx.need(ctx.copper_thickness_mm(index))
    for name, thickness_mm in ((names[index], copper_mm), *((row.name, row.thickness_mm) for row in (*upper, *lower))):
        if not 0 < thickness_mm <= MOST_MM:
            raise MissingFact(f"a thickness of {name} that can be: {thickness_mm:g} mm is stated", DECLARE_STACKUP)
    site = site_of(
        names[index],
        copper_mm=copper_mm,
        above=upper,
        below=lower,
        reference_above=None if above is None else names[above],
        reference_below=None if below is None else names[below],
        in_upper_half=2 * index < len(names) - 1,
        mask=mask,
    )
    by_label = {ply.label: ply for ply in ctx.plies}
    plies = tuple(by_label[sheet.label] for sheet in site.sheets)
    return BoardSite(site, index, plies, above, below, assumptions)


def _rows(ctx: Context, index: int, until: int) -> list[Row]:
    """Return the rows from a trace outward to a reference layer or the surface."""
    rows: list[Row] = []
    step = 1 if until > index else -1
    for copper in range(index, until, step):
        between = [
            p for p in ctx.plies if (p.above, p.below) == (min(copper, copper + step), max(copper, copper + step))
        ]
        if not between and 0 <= copper + step < ctx.board.layer_count:
            raise MissingFact(f"the dielectric beside {ctx.board.copper_layers[copper].name}", DECLARE_STACKUP)
        rows += [_row(ctx, ply) for ply in (between if step > 0 else reversed(between))]
        if copper + step not in (until, -1, ctx.board.layer_count):
            name = ctx.board.copper_layers[copper + step].name
            rows.append(Row(name=name, kind="copper", thickness_mm=ctx.need(ctx.copper_thickness_mm(copper + step))))
    return rows


def _row(ctx: Context, ply: DielectricPly) -> Row:
    kind: Literal["core", "prepreg"] = "core" if ply.kind is LayerKind.CORE else "prepreg"
    dk = ctx.need(ply.dk_at(IMPEDANCE_GHZ))
    thickness = ctx.need(ply.thickness)
    return Row(name=ply.row, kind=kind, thickness_mm=thickness, dk=dk, label=ply.label)


def _mask(ctx: Context, index: int) -> tuple[Mask | None, tuple[str, ...]]:
    """Solder mask over an outer layer, as the stackup states it; None where it states no mask row at all."""
    row = _mask_row(ctx, top=index == 0)
    if row is None:
        return None, ("no solder mask in the stackup: bare copper",)
    ply = row.plies[0]
    assumed = []
    stated = ply.thickness_mm if ply.thickness_mm != KICAD_MASK_MM else None
    thickness = stated or MASK_MM
    if stated is None:
        assumed.append(
            f"solder mask {MASK_MM * 1000:.0f} um on copper, {MASK_BESIDE * MASK_MM * 1000:.0f} um beside it"
        )
    if ply.dk is None:
        assumed.append(f"Dk of solder mask {MASK_DK:g}")
    beside = MASK_BESIDE * thickness
    mask = Mask(er=ply.dk or MASK_DK, on_laminate_mm=beside, on_trace_mm=thickness, between_mm=beside)
    return mask, tuple(assumed)


def _mask_row(ctx: Context, *, top: bool) -> StackupLayer | None:
    rows = ctx.stackup().layers
    masks = [k for k, row in enumerate(rows) if row.kind is LayerKind.MASK]
    copper = [k for k, row in enumerate(rows) if row.kind is LayerKind.COPPER]
    if not copper:
        return None
    wanted = [k for k in masks if (k < copper[0] if top else k > copper[-1])]
    return rows[wanted[0]] if wanted else None
