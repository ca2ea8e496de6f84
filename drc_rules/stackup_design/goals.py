"""From profile, form, interfaces and board to plain goals of a stackup, each with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM
from drc_rules.analysis.loss.laminate_demand import MaterialDemand, materials_for
from drc_rules.analysis.nets.fast_layers import fast_layers
from drc_rules.analysis.via.build_up import ROUNDING_MM, usual_build_ups
from drc_rules.facts.board_process import declared_finish
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import cite
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import greatest_aspect_ratio
from drc_rules.requirements.interfaces import family, interface
from drc_rules.settings.goals_choices import GoalChoices, laminate_family
from drc_rules.stackup_design.goals_judge import CandidateJudge
from drc_rules.stackup_design.goals_lines import GoalLines, gap_per_width, lines_for
from drc_rules.stackup_design.goals_selection import BoardProject, Selection, project_of, selection_for
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.errors import ConfigError
from stackup_lib.synthesis import Goals, TgLimit
from stackup_lib.synthesis.arrange import least_layers
from stackup_lib.transmission_lines.finish import LineFinish
from stackup_lib.vias.build_ups import bgas, build_ups

__all__ = [
    "BoardProject",
    "From",
    "GoalChoices",
    "GoalsFound",
    "Reason",
    "Selection",
    "goals_for",
    "project_of",
    "selection_for",
]

MANY_LAYERS = 20
"""From here four power planes, below two: how such boards are usually laid out."""

USUAL_MM, USUAL_UP_TO = 1.6, 12
"""Thickness of a board of few layers where nobody states one: what fabs make unless told otherwise."""


class From(StrEnum):
    """Who says so."""

    USER = "user"
    CLAUSE = "clause"
    BOARD = "board"
    ASSUMPTION = "assumption"


@dataclass(frozen=True)
class Reason:
    """One goal in words: what, how much, who says so, and where that stands."""

    goal: str
    value: str
    origin: From
    source: str


@dataclass(frozen=True)
class GoalsFound:
    """Goals for the search, and why.

    Attributes:
        reasons: one per goal, in the order in which people decide.
        judge: our own clauses for `suggest`: candidate -> (clause id, met, words).
        interfaces: interface id by name of a line goal.
    """

    goals: Goals
    reasons: tuple[Reason, ...]
    judge: CandidateJudge
    interfaces: dict[str, str]


@dataclass
class _Work:
    """Goals as they are found, each with its reason."""

    selection: Selection
    project: BoardProject | None
    choices: GoalChoices
    reasons: list[Reason] = field(default_factory=list)

    def say(self, goal: str, value: str, origin: From, source: str) -> None:
        """Note a goal; what was said of it before no longer holds."""
        self.reasons = [reason for reason in self.reasons if reason.goal != goal]
        self.reasons.append(Reason(goal, value, origin, source))


def goals_for(
    selection: Selection, project: BoardProject | None = None, choices: GoalChoices | None = None
) -> GoalsFound:
    """Turn demands, board and the user's choices into goals of a stackup; nothing is searched.

    Raises:
        ConfigError: the choices contradict a clause whose breach is an error, or one another.
    """
    chosen = choices or GoalChoices()
    work = _Work(selection, project, chosen)
    lines = lines_for(selection.interfaces, selection.form, project.context if project else None, chosen)
    materials = materials_for(selection.clauses)
    layers = _layers(work, lines)
    outer = lines.striplines and not layers["fast_layers"]
    copper = _copper(work, has_power=layers["power_planes"] > 0)
    goals = Goals(
        **layers,
        **_thickness(work, layers["layer_count"]),
        **copper,
        **_drills(work),
        lines=lines.on_outer if outer else lines.goals,
        df_limit=materials.df_limit,
        named_laminates=materials.named,
        foil=materials.foil,
        tg_limit=_tg(work),
        max_stub_mm=_stub(work),
        laminates=tuple(dict.fromkeys(laminate_family(name) for name in chosen.laminates)),
        excluded_laminates=tuple(dict.fromkeys(laminate_family(name) for name in chosen.excluded_laminates)),
        hybrids=chosen.hybrids,
        gap_per_width=_gap(work),
        finish=declared_finish(project.context.declarations.config.process) if project else LineFinish(),
    )
    _say_materials(work, materials)
    for words in lines.reasons:
        work.say(words.goal, words.value, From(words.origin), words.source)
    _say_the_rest(work)
    waived = frozenset(_waived(chosen))
    judge = CandidateJudge(selection.profile, selection.form, selection.interfaces, selection.clauses, waived)
    return GoalsFound(goals, tuple(work.reasons), judge, dict(lines.interfaces))


def _layers(work: _Work, lines: GoalLines) -> dict[str, int]:
    """Return numbers of layers; what nobody states is filled up to the layer count."""
    count = _layer_count(work)
    fast = _fast_layers(work, lines)
    power = _power_planes(work, count)
    if not lines.striplines:
        fast = 0
    usual = [c for c in work.selection.of_kind("layer_count_above") if c.limit.max is not None]
    most = count if work.choices.layers or work.project else min((int(c.limit.max or 0) for c in usual), default=count)
    if work.choices.fast_layers is None:
        fast = _most_that_fit(fast, power, max(most, count))
    least = least_layers(Goals(fast_layers=fast, power_planes=power))
    if least > count and not work.choices.layers:
        work.say("layers", f"{least}, not {count}", From.ASSUMPTION, f"{fast} fast layers between grounds need them")
        count = least
    if lines.striplines:
        carried = f"{fast} between grounds" if fast else "none: the lines run on the outer layers"
        work.say("fast layers", carried, *_fast_source(work, lines, fast))
    other = 2
    while least_layers(Goals(fast_layers=fast, power_planes=power, other_signal_layers=other + 2)) <= count:
        other += 2
    work.say(
        "other signal layers", f"{other}, the outer ones among them", From.ASSUMPTION, "what the count leaves room for"
    )
    return {"layer_count": count, "fast_layers": fast, "power_planes": power, "other_signal_layers": other}


def _fast_source(work: _Work, lines: GoalLines, fast: int) -> tuple[From, str]:
    if work.choices.fast_layers is not None:
        return From.USER, "your choice"
    titles = ", ".join(dict.fromkeys(interface(one).title for one in lines.interfaces.values()))
    nvlink = work.selection.greatest("nvlink_layers")
    if nvlink is not None and fast >= (nvlink.limit.min or 0):
        return From.CLAUSE, f"{_of(nvlink)}; more for others as far as they fit"
    return From.ASSUMPTION, f"for {titles}; " + ("as many as fit the layers" if fast else "the layers hold no more")


def _most_that_fit(fast: int, power: int, most: int) -> int:
    while fast and least_layers(Goals(fast_layers=fast, power_planes=power)) > most:
        fast -= 1
    return fast


def _layer_count(work: _Work) -> int:
    clause, said = work.selection.greatest("layer_count"), work.choices.layers
    least = _needed(work, "layer_count")
    if said is not None:
        if least is not None and said < (least.limit.min or 0):
            raise _refused(f"--layers {said}", least, f"give {least.limit.min:g} or more")
        work.say("layers", f"{said}", From.USER, "your choice")
        return said
    if work.project is not None and not (clause and work.project.board.layer_count < (clause.limit.min or 0)):
        count = work.project.board.layer_count + work.project.board.layer_count % 2
        work.say("layers", f"{max(count, 4)}", From.BOARD, "copper layers of the board")
        return max(count, 4)
    if clause is not None:
        work.say("layers", f"{clause.limit.min:g}", From.CLAUSE, _of(clause))
        return int(clause.limit.min or 0)
    work.say("layers", "4", From.ASSUMPTION, "no clause states a number")
    return 4


def _fast_layers(work: _Work, lines: GoalLines) -> int:
    said = work.choices.fast_layers
    if said is not None:
        return said
    if work.project is not None:
        context = work.project.context
        used = {layer.index for one in lines.interfaces.values() for layer in fast_layers(context, one)}
        inner = used - {0, work.project.board.layer_count - 1}
        if used:
            return len(inner)
    return lines.fast_layers(work.selection.of_kind("nvlink_layers"))


def _power_planes(work: _Work, count: int) -> int:
    said = work.choices.power_planes
    if said is not None:
        work.say("power planes", f"{said}", From.USER, "your choice")
        return said
    if work.project is not None:
        planes = sum(use.role is LayerRole.POWER for use in work.project.context.uses)
        if planes:
            work.say("power planes", f"{planes}", From.BOARD, "layers filled with supplies")
            return planes
    planes = 4 if count >= MANY_LAYERS else 2 if count > 4 else 0
    words = (
        "no clause states a number; rails are not known"
        if planes
        else "the layers hold none: supplies share the grounds"
    )
    work.say("power planes", f"{planes}", From.ASSUMPTION, words)
    return planes


def _thickness(work: _Work, count: int) -> dict[str, float | None]:
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
    if work.project is not None and work.project.board.thickness_mm:
        thickness = work.project.board.thickness_mm
        work.say("thickness", f"{thickness:g} mm +-10 %", From.BOARD, "thickness of the board")
        return {"thickness_mm": thickness}
    if count <= USUAL_UP_TO:
        work.say("thickness", f"{USUAL_MM:g} mm +-10 %", From.ASSUMPTION, "usual; no form factor states one")
        return {"thickness_mm": USUAL_MM}
    work.say("thickness", "what comes", From.ASSUMPTION, "no form factor states one")
    return {"thickness_mm": None}


def _copper(work: _Work, *, has_power: bool) -> dict[str, float]:
    """Return the weights of power and ground planes; without power planes the grounds are the heaviest."""
    power = _power_oz(work)
    ground = min(power, Goals().ground_copper_oz) if has_power else power
    words = "no clause states one" if has_power else "as the power copper: no plane is for supplies alone"
    work.say("ground copper", f"{ground:g} oz", From.ASSUMPTION, words)
    return {"power_copper_oz": power, "ground_copper_oz": ground}


def _power_oz(work: _Work) -> float:
    clause, needed = work.selection.greatest("power_copper_oz"), _needed(work, "power_copper_oz")
    said = work.choices.power_copper_oz
    if said is not None:
        if needed is not None and said < (needed.limit.min or 0):
            raise _refused(f"power copper of {said:g} oz", needed, f"give {needed.limit.min:g} oz or more")
        work.say("power copper", f"{said:g} oz", From.USER, "your choice")
        return said
    if clause is not None:
        work.say("power copper", f"{clause.limit.min:g} oz", From.CLAUSE, _of(clause))
        return clause.limit.min or 1.0
    work.say("power copper", "1 oz", From.ASSUMPTION, "no clause states one")
    return 1.0


def _drills(work: _Work) -> dict[str, float]:
    ratio = greatest_aspect_ratio("through", Tier.ADVANCED)
    clause = next((c for c in work.selection.of_kind("hole_aspect_ratio") if c.limit.at_least == Tier.ADVANCED), None)
    origin = From.CLAUSE if clause else From.ASSUMPTION
    work.say("aspect ratio", f"{ratio:g} at most", origin, _of(clause) if clause else "what advanced fabs drill")
    found: dict[str, float] = {"max_aspect_ratio": ratio}
    if per_side := _build_ups(work):
        found["build_ups"] = per_side
    said, smallest = work.choices.drill_mm, _smallest_through_mm(work.project)
    if said is not None:
        work.say("drill", f"{said:g} mm", From.USER, "your choice")
    elif smallest is not None and _board_mm(work) > ratio * smallest:
        why = f"the board's {smallest:g} mm is past what advanced fabs drill through it"
        work.say("drill", "0.25 mm", From.ASSUMPTION, why)
        smallest = None
    elif smallest is not None:
        work.say("drill", f"{smallest:g} mm", From.BOARD, "smallest through via")
    else:
        work.say("drill", "0.25 mm", From.ASSUMPTION, "usual for such boards")
    return {**found, "drill_mm": said or smallest or 0.25}


def _board_mm(work: _Work) -> float:
    return (work.project.board.thickness_mm or 0.0) if work.project else 0.0


def _build_ups(work: _Work) -> int:
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
    work.say("build-ups", f"{usual} on either side", From.CLAUSE, f"balls every {finest:g} mm; {_of(clause)}")
    return usual


def _smallest_through_mm(project: BoardProject | None) -> float | None:
    if project is None:
        return None
    vias = project.board.vias
    through = (vias.start_layer == 0) & (vias.end_layer == project.board.layer_count - 1)
    drills = vias.drill_mm[through & (vias.drill_mm >= NO_DIAMETER_MM)]
    return round(float(np.min(drills)), 4) if len(drills) else None


def _tg(work: _Work) -> TgLimit | None:
    clause = work.selection.greatest("tg")
    if clause is None:
        return None
    work.say("Tg", f"{clause.limit.min:g} C by DSC", From.CLAUSE, _of(clause))
    return TgLimit(min_c=clause.limit.min or 0.0)


def _stub(work: _Work) -> float | None:
    clauses = [c for k in ("backdrill", "via_stub") for c in work.selection.of_kind(k) if c.limit.max is not None]
    clause = min(clauses, key=lambda c: c.limit.max or 0.0, default=None)
    if clause is None:
        return None
    work.say("via stubs", f"{clause.limit.max:g} mm at most, else backdrilled", From.CLAUSE, _of(clause))
    return clause.limit.max


def _say_materials(work: _Work, materials: MaterialDemand) -> None:
    for goal, value, clause in materials.clauses:
        work.say(goal, value, From.CLAUSE, _of(clause))
    if work.choices.laminates:
        work.say("laminates", ", ".join(work.choices.laminates), From.USER, "your choice")


def _say_the_rest(work: _Work) -> None:
    context = work.project.context if work.project else None
    for one in context.assignment.families_without_generation() if context else ():
        if one not in {interface(each).family for each in work.selection.interfaces}:
            how = f"its generation is not known: --interface {family(one).interfaces[-1].id}, or another of them"
            work.say(family(one).title, "left out", From.ASSUMPTION, how)
    defaults = Goals()
    finest = f"{defaults.least_width_mm:g}/{defaults.least_gap_mm:g} mm"
    work.say("finest line and gap", finest, From.ASSUMPTION, "what advanced fabs etch in 1/2 oz copper")


def _gap(work: _Work) -> float:
    routed = gap_per_width(work.project.context if work.project else None)
    if routed is not None:
        work.say("gap of pairs", f"{routed:g} times the width", From.BOARD, "as most pairs are routed")
        return routed
    usual = Goals().gap_per_width
    work.say("gap of pairs", f"{usual:g} times the width", From.ASSUMPTION, "nothing is routed")
    return usual


def _waived(choices: GoalChoices) -> Iterator[str]:
    """Kinds of clauses that the user decides: a warning against them is shown and rules nothing out."""
    if choices.layers is not None:
        yield from ("layer_count", "layer_count_above")
    if choices.thickness_mm is not None:
        yield "form_thickness"
    if choices.power_copper_oz is not None:
        yield "power_copper_oz"


def _needed(work: _Work, kind: str) -> Clause | None:
    """Return the clause of a kind with the greatest minimum among those whose breach is an error."""
    found = [c for c in work.selection.of_kind(kind) if c.limit.min is not None and c.severity.value == "error"]
    return max(found, key=lambda c: c.limit.min or 0.0, default=None)


def _refused(what: str, clause: Clause, cure: str) -> ConfigError:
    return ConfigError(what, f"breaks {clause.id}: {clause.title}", f"{cure}, or choose another profile")


def _of(clause: Clause) -> str:
    return f"{clause.id}: {cite(clause.source)}"
