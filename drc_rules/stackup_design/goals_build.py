"""Goals of the build: thickness, copper weights, power planes, drills, build-ups, what pairs and supplies need."""

from __future__ import annotations

from drc_rules.analysis.via.build_up import ROUNDING_MM, usual_build_ups
from drc_rules.analysis.via.hole_groups import hole_groups, smallest_through_drill_mm
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import max_aspect_ratio
from drc_rules.stackup_design.goal_work import From, GoalWork, needed_clause, refused, source_words
from drc_rules.stackup_design.goals_fab import fab_source, least_drill_mm
from drc_rules.stackup_design.goals_selection import BoardProject
from stackup_lib.board.default_stackup import is_grown_default
from stackup_lib.board.layer_roles import LayerRole, LayerUse
from stackup_lib.core.errors import ConfigError
from stackup_lib.materials import neighbouring_weights_oz
from stackup_lib.synthesis import Goals
from stackup_lib.synthesis.arrange import least_layers
from stackup_lib.synthesis.candidates import SIGNAL_OZ
from stackup_lib.vias.build_ups import bgas, build_ups

LEAST_LAYERS = 4
"""The search arranges no fewer."""

MANY_LAYERS = 20
"""From here four power planes, below two: how such boards are usually laid out."""

USUAL_MM, USUAL_UP_TO = 1.6, 12
"""Thickness of a board of few layers where none is stated: what fabs make by default."""

LARGE_MM, STIFF_MM = 400.0, 3.0
"""A longer board is built at least this thick, or it sags under its modules; usual, in no document that was read."""

USUAL_DRILLS_MM = (0.25, 0.3, 0.35, 0.4)

ROOM = 1.1
"""A stackup may come out so much thicker than the least, and is still drilled."""

PAIR_PITCH_MM, BALL_PITCH_MM = 0.25, 1.0
"""Width and gap of a pair together at most, so that it leaves a BGA of this pitch between two rows of vias."""

BUS_V, BUS_GAP_MM = 31.0, 0.1
"""From this voltage on, so much dielectric between conductors: IPC-2221, internal conductors, as quoted."""


def thickness_goals(work: GoalWork, count: int) -> dict[str, float | None]:
    """Return the required thickness, or the minimum where none is."""
    said, form = work.choices.thickness_mm, work.selection.form
    if said is not None:
        work.say("thickness", f"{said:g} mm +-10 %", From.USER, "your choice; the tolerance is an assumption")
        return {"thickness_mm": said}
    if form is not None and form.thickness_mm is not None:
        low, high = form.thickness_range_mm or (0.9 * form.thickness_mm, 1.1 * form.thickness_mm)
        middle = (low + high) / 2
        stated = form.document_of("thickness_mm")
        origin = From.ASSUMPTION if stated == "engineering" else From.CLAUSE
        words = f"form {form.name}: {stated}" if origin is From.CLAUSE else f"form {form.name}, usual"
        work.say("thickness", f"{low:g} to {high:g} mm", origin, words)
        return {"thickness_mm": middle, "thickness_tolerance": (high - low) / 2 / middle - 1e-6}
    if thickness := _board_mm(work):
        work.say("thickness", f"{thickness:g} mm +-10 %", From.BOARD, "thickness of the board")
        return {"thickness_mm": thickness}
    longest = max((form.size_mm or (0.0,)) if form else (0.0,))
    if longest > LARGE_MM or (form is not None and form.is_large):
        work.say("thickness", f"{STIFF_MM:g} mm or more", From.ASSUMPTION, f"a board above {LARGE_MM:g} mm sags")
        return {"thickness_mm": None, "least_thickness_mm": STIFF_MM}
    if count <= USUAL_UP_TO:
        work.say("thickness", f"{USUAL_MM:g} mm +-10 %", From.ASSUMPTION, "usual; no form factor states one")
        return {"thickness_mm": USUAL_MM}
    work.say("thickness", "what comes", From.ASSUMPTION, "no form factor states one")
    return {"thickness_mm": None}


def copper_goals(work: GoalWork, *, has_power: bool) -> dict[str, float]:
    """Return the weights of power and ground planes; without power planes the grounds are the heaviest."""
    power = _power_oz(work)
    ground = min(power, Goals().ground_copper_oz) if has_power else power
    words = "no requirement states one" if has_power else "as the power copper: no plane is for supplies alone"
    shared = f", {SIGNAL_OZ:g} oz on a core with signals or where plated" if ground > SIGNAL_OZ else ""
    work.say("ground copper", f"{ground:g} oz or more{shared}", From.ASSUMPTION, words)
    return {"power_copper_oz": power, "ground_copper_oz": ground}


def _power_oz(work: GoalWork) -> float:
    clause, needed = work.selection.largest("power_copper_oz"), needed_clause(work, "power_copper_oz")
    said = work.choices.power_copper_oz
    if said is not None:
        _refuse_between_foils(said)
        if needed is not None and said < (needed.limit.min or 0):
            raise refused(f"power copper of {said:g} oz", needed, f"give {needed.limit.min:g} oz or more")
        work.say("power copper", f"{said:g} oz", From.USER, "your choice")
        return said
    if clause is not None:
        work.say("power copper", f"{clause.limit.min:g} oz", From.CLAUSE, source_words(clause))
        return clause.limit.min or 1.0
    work.say("power copper", "1 oz", From.ASSUMPTION, "no requirement states one")
    return 1.0


def _refuse_between_foils(oz: float) -> None:
    """Refuse a weight that no foil has: no fab can buy it, and the check of a board may find that it matches none."""
    if weights := neighbouring_weights_oz(oz):
        cure = f"give {' or '.join(f'{one:g}' for one in weights)} oz"
        raise ConfigError(f"power copper of {oz:g} oz", "is no weight of copper foil", cure)


def required_power_oz(work: GoalWork) -> float:
    """Return what the user or a requirement wants of power planes; a remark wants nothing."""
    if work.choices.power_copper_oz is not None:
        return work.choices.power_copper_oz
    clauses = [c for c in work.selection.of_kind("power_copper_oz") if c.severity is not Severity.INFO]
    return max((c.limit.min or 0.0 for c in clauses), default=0.0)


def drill_goals(work: GoalWork, least_mm: float) -> dict[str, float]:
    """Return the smallest through drill, its aspect ratio and the build-ups for a board of at least `least_mm`."""
    ratio = work.fab.aspect_ratio or max_aspect_ratio("through", Tier.ADVANCED)
    clause = next((c for c in work.selection.of_kind("hole_aspect_ratio") if c.limit.at_least == Tier.ADVANCED), None)
    if work.fab.aspect_ratio:
        work.say("aspect ratio", f"{ratio:g} at most", From.USER, fab_source(work.fab))
    elif clause:
        work.say("aspect ratio", f"{ratio:g} at most", From.CLAUSE, source_words(clause))
    else:
        work.say("aspect ratio", f"{ratio:g} at most", From.ASSUMPTION, "what advanced fabs drill")
    found: dict[str, float] = {"max_aspect_ratio": ratio}
    if per_side := _build_ups(work):
        found["build_ups"] = per_side
    said, smallest = work.choices.drill_mm, _smallest_through_mm(work.project)
    finest = least_drill_mm(work.fab)
    deep = next((d for d in USUAL_DRILLS_MM if ratio * d >= ROOM * least_mm and d >= finest), USUAL_DRILLS_MM[-1])
    usual = max(deep, finest)
    if said is not None:
        work.say("drill", f"{said:g} mm", From.USER, "your choice")
    elif smallest is not None and _board_mm(work) > ratio * smallest:
        who = "your fab drills" if work.fab.aspect_ratio else "advanced fabs drill"
        why = f"the board's {smallest:g} mm is past what {who} through it"
        work.say("drill", f"{usual:g} mm", From.ASSUMPTION, why)
        smallest = None
    elif smallest is not None:
        work.say("drill", f"{smallest:g} mm", From.BOARD, "smallest through via, wider than finished for the plating")
    else:
        how = "usual for such boards" if usual > finest else f"the finest of {fab_source(work.fab)}"
        work.say("drill", f"{usual:g} mm", From.ASSUMPTION if usual > finest else From.USER, how)
    return {**found, "drill_mm": said or smallest or usual}


def _board_mm(work: GoalWork) -> float:
    """Return the thickness of the board, 0 for none and where KiCad's default has grown to it with added layers."""
    board = work.project.board if work.project else None
    return 0.0 if board is None or is_grown_default(board) else board.thickness_mm or 0.0


def _build_ups(work: GoalWork) -> int:
    """Return the HDI layers on either side: what the user says, what the board has, or what its finest BGA needs."""
    said, project = work.choices.build_ups, work.project
    if said is not None:
        if said and not work.choices.hdi:
            raise ConfigError("goals", "requires build-ups and rules HDI out", "take one of the two out")
        work.say("build-ups", f"{said} on either side", From.USER, "your choice")
        return said
    if project is None or not work.choices.hdi:
        return 0
    own = build_ups(project.board).per_side
    if own:
        work.say("build-ups", f"{own} on either side", From.BOARD, "its microvias")
        return own
    clause = max(work.selection.of_kind("bga_pitch_needs_hdi"), key=lambda c: c.limit.max or 0.0, default=None)
    finest = min((bga.pitch_mm for bga in bgas(project.board)), default=None)
    if clause is None or finest is None or finest > (clause.limit.max or 0.0) + ROUNDING_MM:
        return 0
    usual = max(usual_build_ups(finest)[0], 1)
    work.say("build-ups", f"{usual} on either side", From.CLAUSE, f"balls every {finest:g} mm; {source_words(clause)}")
    return usual


def _smallest_through_mm(project: BoardProject | None) -> float | None:
    """Return the drill of the smallest through via, as the check's aspect ratio takes it; KiCad stores what is left."""
    if project is None:
        return None
    return smallest_through_drill_mm(hole_groups(project.board))


def pair_pitch_mm(work: GoalWork) -> float | None:
    """Return the maximum sum of width and gap of a pair: what leaves the board's BGAs, or usual ones without parts."""
    if work.project is None or work.is_new:
        what = f"{PAIR_PITCH_MM:g} mm at most"
        work.say("width and gap of pairs", what, From.ASSUMPTION, f"leaves a BGA of {BALL_PITCH_MM:g} mm pitch")
        return PAIR_PITCH_MM
    finest = min((bga.pitch_mm for bga in bgas(work.project.board)), default=None)
    if finest is None or finest > BALL_PITCH_MM + ROUNDING_MM:
        return None
    work.say("width and gap of pairs", f"{PAIR_PITCH_MM:g} mm at most", From.BOARD, f"a BGA of {finest:g} mm pitch")
    return PAIR_PITCH_MM


def power_gap_mm(work: GoalWork) -> float | None:
    """Return the thinnest dielectric next to a power plane: for supplies of 48 V and 54 V."""
    form, project = work.selection.form, work.project
    rails = [rail.voltage_v or 0.0 for rail in project.config.rail] if project else []
    highest = max([*rails, (form.supply_v or 0.0) if form else 0.0], default=0.0)
    if highest < BUS_V:
        return None
    why = f"a supply of {highest:g} V; IPC-2221, as quoted"
    work.say("dielectric next to power", f"{BUS_GAP_MM:g} mm or more", From.ASSUMPTION, why)
    return BUS_GAP_MM


def power_planes(work: GoalWork, count: int) -> int:
    """Return how many there are to be: as chosen, as the board's inner layers are filled, or as usual."""
    said = work.choices.power_planes
    if said is not None:
        work.say("power planes", f"{said}", From.USER, "your choice")
        return said
    uses = work.project.context.uses if work.project else ()
    usual = 4 if count >= MANY_LAYERS else 2 if count > LEAST_LAYERS else 0
    asks = next((c for c in work.selection.of_kind("power_copper_oz") if c.severity is not Severity.INFO), None)
    has_planes = any(use.is_plane for use in uses[1:-1])
    if asks is not None and not any(map(_is_supply, uses[1:-1])) and (has_planes or not usual):
        # without a power plane its copper cannot be verified: nothing could meet the requirement
        planes = usual or 1
        how = "no inner layer is filled with supplies" if has_planes else "supplies could share the grounds"
        work.say("power planes", f"{planes}", From.ASSUMPTION, f"{how}, but {asks.id} requires their copper")
        return planes
    if has_planes:
        supplies = sum(map(_is_supply, uses[1:-1]))
        planes = supplies
        while least_layers(Goals(power_planes=planes)) > count:
            planes -= 1
        words = "inner layers filled with supplies" if supplies else "no inner layer is filled with supplies"
        if planes == supplies:
            work.say("power planes", f"{planes}", From.BOARD, words)
        else:
            work.say("power planes", f"{planes} of {supplies}", From.BOARD, f"{words}; {count} layers hold no more")
        return planes
    words = (
        "no requirement states a number; rails are not known"
        if usual
        else "the layers hold none: supplies share the grounds"
    )
    work.say("power planes", f"{usual}", From.ASSUMPTION, words)
    return usual


def power_above(work: GoalWork) -> bool:
    """Tell whether the upper inner layer of a board of four is its power plane."""
    uses = work.project.context.uses if work.project else ()
    return len(uses) == LEAST_LAYERS and _is_supply(uses[1]) and not _is_supply(uses[2])


def _is_supply(use: LayerUse) -> bool:
    return use.role is LayerRole.POWER or (use.role is LayerRole.MIXED and use.power_share > use.ground_share)
