"""The layers of a board that is laid out, as a goal: a board is not routed anew for a stackup."""

from __future__ import annotations

from drc_rules.facts.context import Context
from drc_rules.requirements.fabs import Tier, track_spaces
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.stackup_design.goal_work import From, GoalWork, Reason
from drc_rules.stackup_design.goals_build import required_power_oz
from drc_rules.stackup_design.goals_lines import GoalLines
from drc_rules.stackup_design.stackup_candidate import uses_of
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.words import listed
from stackup_lib.materials import ounce_class
from stackup_lib.synthesis import Goals, LaidOut
from stackup_lib.synthesis.candidates import LETTERS, OUTER_COPPER_MM
from stackup_lib.synthesis.layer_copper import layer_oz, orders_to_try

PLATED_MORE = 1.25
"""Outer copper this many times the usual is of a heavier foil, and stays so."""

OF_NEW_LAYERS = ("layers", "high-speed layers", "other signal layers", "power planes")
"""Goals that a board whose layers stay does not have."""

COPPER = ("power copper", "ground copper")


def kept_goals(work: GoalWork, goals: Goals, lines: GoalLines) -> Goals | None:
    """Return goals that keep the layers of a board; None where nothing is laid out, or other layers are wanted."""
    project, choices = work.project, work.choices
    if project is None or choices.power_planes is not None or choices.fast_layers is not None:
        return None
    ctx, count = project.context, project.board.layer_count
    clause = work.selection.largest("layer_count")
    if count % 2 or (choices.layers or count) != count or (clause and count < (clause.limit.min or 0)):
        return None
    try:
        uses = uses_of(ctx)
    except MissingFact:
        return None
    inner = ctx.uses[1:-1]
    if len(uses) != count or (inner and not any(use.track_mm or use.fill_mm2 for use in inner)):
        return None
    letters = "".join(LETTERS[use] for use in uses.values())
    weights = _weights(ctx)
    fast = letters.count("F")
    kept = LaidOut(layers=letters, copper_oz=weights, least_power_oz=required_power_oz(work))
    heaviest = max((oz or 0.0 for oz, kind in zip(weights, letters, strict=True) if kind == "F"), default=0.0)
    width, gap = _finest(work.fab, goals, heaviest)
    return goals.model_copy(
        update={
            "laid_out": kept,
            "layer_count": count,
            "fast_layers": fast,
            "lines": lines.goals if fast else lines.on_outer,
            "finish": goals.finish.model_copy(update={"outer_copper_mm": _outer_mm(ctx, goals)}),
            "least_width_mm": width,
            "least_gap_mm": gap,
        }
    )


def _finest(fab: FabDeclaration, goals: Goals, copper_oz: float) -> tuple[float, float]:
    """Return the least inner width and gap in copper of a weight: your fab's, else the best fabs'."""
    best = finest_mm(copper_oz)
    width, gap = fab.track_of(copper_oz), fab.space_of(copper_oz)
    return width or max(goals.least_width_mm, best), gap or max(goals.least_gap_mm, best)


def finest_mm(copper_oz: float) -> float:
    """Return the least width and gap that the best fabs etch in copper of a weight."""
    rows = track_spaces()
    return next((row for row in rows if row.copper_oz >= copper_oz), rows[-1]).least_mm(Tier.BEST)


def kept_reasons(reasons: tuple[Reason, ...], kept: Goals, laid_out: LaidOut) -> tuple[Reason, ...]:
    """Return the reasons of goals for those that keep the layers."""
    layers = Reason("layers", f"{len(laid_out.layers)}: {layers_in_words(laid_out.layers)}", From.BOARD, "as laid out")
    others = [one for one in reasons if one.goal not in (*OF_NEW_LAYERS, *COPPER)]
    order = orders_to_try(kept)[-1]
    power = [layer_oz(order, k, kept) for k, kind in enumerate(laid_out.layers) if kind == "P"]
    has_its_copper = min(power, default=0.0) >= kept.power_copper_oz
    inner = {layer_oz(order, k, kept) for k in range(1, len(laid_out.layers) - 1)}
    if not inner:
        return (layers, *others)
    weights = f"{listed([f'{oz:g}' for oz in sorted(inner)])} oz"
    if all(oz is not None for oz in laid_out.copper_oz[1:-1]):
        said = Reason("inner copper", weights, From.BOARD, "stackup of the board; mirrored layers are alike")
    else:
        said = Reason("inner copper", weights, From.ASSUMPTION, "the board's is not known; mirrored layers are alike")
    stated = [one for one in reasons if one.goal in COPPER and one.origin is not From.ASSUMPTION]
    demanded = [one for one in stated if has_its_copper or one.origin is From.USER]  # information alone moves no weight
    return (layers, said, *demanded, *others)


def layers_in_words(letters: str) -> str:
    """Return `S-G-S-P-G-S`, as people write an order of signal, ground and power layers."""
    return "-".join("S" if kind in "OF" else kind for kind in letters)


def _weights(ctx: Context) -> tuple[float | None, ...]:
    """Return the weight of each layer as the board states it; of outer ones only a heavier one than usual."""
    last = ctx.board.layer_count - 1
    found: list[float | None] = []
    for index, layer in enumerate(ctx.board.copper_layers):
        thickness = ctx.copper_thickness_mm(index).value
        said = None if ctx.declarations.stale else ctx.declarations.config.declared.copper.get(layer.name)
        outer = index in (0, last)
        if thickness is None or (outer and thickness < PLATED_MORE * OUTER_COPPER_MM):
            found.append(None)
        else:
            found.append(said.copper_oz if said and said.copper_oz else ounce_class(thickness, outer=outer).value)
    return tuple(found)


def _outer_mm(ctx: Context, goals: Goals) -> float | None:
    """Return the outer copper: as declared, else that of the stackup where it is heavier than usual."""
    if goals.finish.outer_copper_mm is not None:
        return goals.finish.outer_copper_mm
    stated = [ctx.copper_thickness_mm(index).value or 0.0 for index in (0, ctx.board.layer_count - 1)]
    return max(stated) if max(stated) >= PLATED_MORE * OUTER_COPPER_MM else None
