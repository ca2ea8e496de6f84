"""From profile, form, interfaces and board to plain goals of a stackup, each with where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

from drc_rules.analysis.loss.laminate_demand import MaterialDemand, materials_for
from drc_rules.facts.board_process import declared_finish
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.requirements.interfaces import family, interface
from drc_rules.settings.config import Config
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.settings.config_process import ProcessDeclaration
from drc_rules.settings.goals_choices import GoalChoices, laminate_family
from drc_rules.stackup_design.goal_work import From, GoalWork, Reason, needed_clause, source_words
from drc_rules.stackup_design.goals_build import (
    LEAST_LAYERS,
    copper_goals,
    drill_goals,
    pair_pitch_mm,
    power_above,
    power_gap_mm,
    required_power_oz,
    thickness_goals,
)
from drc_rules.stackup_design.goals_fab import fab_goals
from drc_rules.stackup_design.goals_judge import CandidateJudge
from drc_rules.stackup_design.goals_layers import fast_outside, layer_goals
from drc_rules.stackup_design.goals_lines import GoalLines, gap_per_width, lines_for
from drc_rules.stackup_design.goals_selection import BoardProject, Selection, project_of, selection_for
from drc_rules.stackup_design.kept_layers import kept_goals, kept_reasons
from drc_rules.stackup_design.routed_fit import sizes_of_goals, sizes_to_keep
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.spread import PLATING_UM as HOLE_PLATING_UM
from stackup_lib.synthesis import Answers, Goals, LineGoal, TgLimit, suggest
from stackup_lib.synthesis.goals import with_usual_gap
from stackup_lib.transmission_lines.finish import LineFinish

__all__ = [
    "BoardProject",
    "From",
    "GoalChoices",
    "GoalsFound",
    "Reason",
    "Selection",
    "answers_for",
    "goals_for",
    "project_of",
    "selection_for",
]


GAP = "gap of pairs"


@record
class GoalsFound:
    """Goals for the search, and why.

    Attributes:
        reasons: one per goal, in the order in which people decide.
        judge: our own clauses for `suggest`: candidate -> (clause id, met, words).
        interfaces: interface id by name of a line goal.
        kept: the goals that keep the layers of a board that is laid out; None for a new board.
        eased: the goals with power planes as light as is required; None where they are so already.
        fab: your own; nothing in it where none is declared.
    """

    goals: Goals
    reasons: tuple[Reason, ...]
    judge: CandidateJudge
    interfaces: dict[str, str]
    kept: Goals | None = None
    eased: Goals | None = None
    fab: FabDeclaration = field(default_factory=FabDeclaration)

    def keeping(self) -> GoalsFound:
        """Return the goals that keep the layers; where there are none, these."""
        if self.kept is None or self.kept.laid_out is None:
            return self
        reasons = kept_reasons(self.reasons, self.kept, self.kept.laid_out)
        return replace(self, goals=self.kept, reasons=reasons, kept=None)


def goals_for(
    selection: Selection,
    project: BoardProject | None = None,
    choices: GoalChoices | None = None,
    settings: Config | None = None,
) -> GoalsFound:
    """Turn demands, board and the user's choices into goals of a stackup; nothing is searched.

    Args:
        selection: profile, form factor, interfaces and their clauses.
        project: the board with its settings; None for a new board.
        choices: what the user wants.
        settings: for a new board, of which those of the fab count; a board has its own.

    Raises:
        ConfigError: the choices contradict a clause whose breach is an error, or one another; or the process cannot be.
    """
    chosen = choices or GoalChoices()
    settings = project.config if project else settings or Config()
    work = GoalWork(selection, project, chosen, settings.fab)
    stub_clause, stub_mm = _stub_clause(selection)
    lines = lines_for(selection.interfaces, selection.form, project.context if project else None, chosen, stub_mm)
    materials = materials_for(selection.clauses)
    layers = layer_goals(work, lines)
    copper = copper_goals(work, has_power=layers["power_planes"] > 0)
    thickness = thickness_goals(work, layers["layer_count"])
    outside = fast_outside(work, lines)
    judge = _judge(work, outside=outside)
    goals = Goals(
        **layers,
        **thickness,
        **copper,
        **drill_goals(work, thickness.get("least_thickness_mm") or 0.0),
        **fab_goals(work),
        lines=_line_goals(work, lines, layers, outside=outside),
        fast_outside=outside,
        df_limit=materials.df_limit,
        named_laminates=materials.named,
        foil=materials.foil,
        tg_limit=_tg(work),
        max_stub_mm=_stub(work, stub_clause),
        laminates=_families(chosen.laminates),
        excluded_laminates=_families(chosen.excluded_laminates),
        hybrids=chosen.hybrids,
        gap_per_width=_gap(work, pitch_mm := pair_pitch_mm(work) if lines.goals else None),
        pair_pitch_mm=pitch_mm,
        power_gap_mm=power_gap_mm(work) if layers["power_planes"] else None,
        power_above=power_above(work),
        build_rules=build_rules(),
        preferred_clauses=judge.wishes,
        rank_by=_rank_by(work),
        finish=_finish(project) if project else _new_finish(settings.process),
    )
    _say_materials(work, materials)
    _say_lines(work, lines)
    _say_the_rest(work)
    kept = kept_goals(work, goals, lines)
    if chosen.layers is not None and chosen.layers < LEAST_LAYERS:
        goals = _of_few_layers(chosen.layers, kept)
    return GoalsFound(goals, tuple(work.reasons), judge, _ids(lines, goals), kept, _eased(work, goals), settings.fab)


def _families(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(laminate_family, names)))


def _ids(lines: GoalLines, goals: Goals) -> dict[str, str]:
    return {line.name: lines.interfaces[line.name] for line in goals.lines}


def _line_goals(work: GoalWork, lines: GoalLines, layers: Mapping[str, int], *, outside: bool) -> tuple[LineGoal, ...]:
    if lines.striplines and not layers["fast_layers"]:
        return lines.on_outer
    return lines.with_outer if outside and work.is_new else lines.goals


def _judge(work: GoalWork, *, outside: bool) -> CandidateJudge:
    of, waived = work.selection, dict(_waived(work.choices))
    return CandidateJudge(of.profile, of.form, of.interfaces, of.clauses, waived, outside, work.fab)


def _eased(work: GoalWork, goals: Goals) -> Goals | None:
    """Return the goals with power planes as light as is required; None where they are so already."""
    least = max(required_power_oz(work), goals.ground_copper_oz)
    return goals.model_copy(update={"power_copper_oz": least}) if least < goals.power_copper_oz else None


def _say_lines(work: GoalWork, lines: GoalLines) -> None:
    """Note the links, where they are assumed, and why the lines are as they are."""
    if work.selection.assumed:
        titles = ", ".join(interface(one).title for one in work.selection.interfaces)
        how = f"what {work.selection.assumed}; --interface names others"
        work.say("links", titles, From.ASSUMPTION, how)
    for words in lines.reasons:
        work.say(words.goal, words.value, From(words.origin), words.source)


def _of_few_layers(layers: int, kept: Goals | None) -> Goals:
    """Return the goals of a board that has fewer layers than a new one gets; raises `ConfigError` where none has."""
    if kept is None:
        what = f"a stackup of fewer than {LEAST_LAYERS} layers is made only for a board that has them"
        raise ConfigError(f"--layers {layers}", what, f"give {LEAST_LAYERS} or more")
    return kept


def answers_for(found: GoalsFound, limit: int, project: BoardProject | None = None) -> tuple[Answers, GoalsFound]:
    """Return the best stackups, `limit` at most, and the goals that they meet.

    Layers that are laid out stay where they can, and those that keep the board's routed lines come first. Where nothing
    can be built with them, the gap of routed pairs gives way, and a weight of power planes that no one requires.
    """
    found = _with_routed(found, project)
    answers = suggest(found.goals, found.judge, limit, found.kept)
    if answers.keeps_layers:
        return answers, _with_gap_of(answers, found).keeping()
    if answers.ranked or found.eased is None:
        return answers, _with_gap_of(answers, found)
    lighter = suggest(found.eased, found.judge, limit)
    if not lighter.ranked:
        return answers, _with_gap_of(answers, found)
    met = _with_gap_of(lighter, _lighter(found, found.eased, answers))
    return lighter.model_copy(update={"why_moved": answers.why_moved}), met


def _with_routed(found: GoalsFound, project: BoardProject | None) -> GoalsFound:
    """Return the goals with the sizes that a board's lines are routed in, where its layers may stay."""
    kept = found.kept
    if project is None or kept is None or kept.laid_out is None:
        return found
    ctx = project.context
    sizes = {"routed": sizes_to_keep(ctx), "of_goals": sizes_of_goals(ctx, kept, found.interfaces)}
    laid_out = kept.laid_out.model_copy(update=sizes)
    return replace(found, kept=kept.model_copy(update={"laid_out": laid_out}))


def _lighter(found: GoalsFound, eased: Goals, answers: Answers) -> GoalsFound:
    """Return the goals with lighter power planes, and why they are lighter."""
    goal = "power copper"
    why = f"no more is required, and with more {answers.unreachable[0]}"
    weights = f"{eased.power_copper_oz:g} oz, not {found.goals.power_copper_oz:g} oz"
    reasons = _instead(found.reasons, Reason(goal, weights, From.ASSUMPTION, why))
    return replace(found, goals=eased, reasons=reasons, eased=None)


def _with_gap_of(answers: Answers, found: GoalsFound) -> GoalsFound:
    """Return the goals with the gap of pairs that the search took, and why where that is not as they are routed."""
    goals, kept = with_usual_gap(found.goals), found.kept
    if goals is None or not answers.why_usual_gap:
        return found
    routed = f"{found.goals.gap_per_width:g}"
    words = f"{_times_the_width(goals.gap_per_width, goals.pair_pitch_mm)}, not {routed} as most pairs are routed"
    reasons = _instead(found.reasons, Reason(GAP, words, From.ASSUMPTION, f"with {routed}, {answers.why_usual_gap}"))
    return replace(found, goals=goals, reasons=reasons, kept=kept and (with_usual_gap(kept) or kept))


def _instead(reasons: tuple[Reason, ...], said: Reason) -> tuple[Reason, ...]:
    """Return the reasons with another for the same goal."""
    return tuple(said if one.goal == said.goal else one for one in reasons)


def _finish(project: BoardProject) -> LineFinish:
    """Return the declared finish; without solder mask where the board's stackup has none, as a check solves it."""
    process = project.context.process
    finish = declared_finish(process.declared)
    is_bare = project.board.stackup is not None and process.mask(top=True) is None
    return finish.model_copy(update={"mask": None}) if is_bare else finish


def _new_finish(process: ProcessDeclaration | None) -> LineFinish:
    """Return the finish of a new board; raises `ConfigError` for outer copper that no plated board has."""
    finish = declared_finish(process) if process else LineFinish()
    um = 1000 * (finish.outer_copper_mm or math.inf)
    if um < HOLE_PLATING_UM.low:
        why = f"the plating of holes alone adds {HOLE_PLATING_UM.low:g} um or more to outer layers"
        raise ConfigError(f"[process] outer_copper_um of {um:g} um", why, "give foil and plating together")
    return finish


def _rank_by(work: GoalWork) -> Literal["cost", "loss"]:
    """Return by what answers are ranked: what such boards are bought for."""
    workload = work.selection.profile.workload if work.selection.profile else None
    if workload == "edge":
        work.say("ranked by", "least cost", From.ASSUMPTION, "usual for edge")
        return "cost"
    words = "least loss among stackups of one cost class (within 10 %, 25 %, above)"
    work.say("ranked by", words, From.ASSUMPTION, f"usual for {workload or 'any board'}")
    return "loss"


def _tg(work: GoalWork) -> TgLimit | None:
    clause = needed_clause(work, "tg") or work.selection.largest("tg")
    if clause is None:
        return None
    work.say("Tg", f"{clause.limit.min:g} C by DSC", From.CLAUSE, source_words(clause))
    return TgLimit(min_c=clause.limit.min or 0.0)


def _stub_clause(selection: Selection) -> tuple[Clause | None, float | None]:
    """Return the clause with the shortest maximum of a stub, and that; None for both without one."""
    clauses = [c for k in ("backdrill", "via_stub") for c in selection.of_kind(k) if c.limit.max is not None]
    shortest = min(clauses, key=lambda c: c.limit.max or 0.0, default=None)
    return shortest, shortest.limit.max if shortest else None


def _stub(work: GoalWork, clause: Clause | None) -> float | None:
    if clause is None:
        return None
    work.say("via stubs", f"{clause.limit.max:g} mm at most, else backdrilled", From.CLAUSE, source_words(clause))
    return clause.limit.max


def _say_materials(work: GoalWork, materials: MaterialDemand) -> None:
    for goal, value, clause in materials.clauses:
        work.say(goal, value, From.CLAUSE, source_words(clause))
    if work.choices.laminates:
        work.say("laminates", ", ".join(work.choices.laminates), From.USER, "your choice")


def _say_the_rest(work: GoalWork) -> None:
    context = work.project.context if work.project else None
    for one in context.assignment.families_without_generation() if context else ():
        if one not in {interface(each).family for each in work.selection.interfaces}:
            how = f"its generation is not known: --interface {family(one).interfaces[-1].id}, or another of them"
            work.say(family(one).title, "left out", From.ASSUMPTION, how)


def _gap(work: GoalWork, pitch_mm: float | None) -> float:
    """Return gap over width; where both together reach the most that they may, the gap gives way."""
    routed = gap_per_width(work.project.context if work.project else None)
    if routed is not None:
        work.say(GAP, _times_the_width(routed, pitch_mm), From.BOARD, "as most pairs are routed")
        return routed
    usual = Goals().gap_per_width
    work.say(GAP, _times_the_width(usual, pitch_mm), From.ASSUMPTION, "nothing is routed")
    return usual


def _times_the_width(ratio: float, pitch_mm: float | None) -> str:
    but = f", less where the two together reach {pitch_mm:g} mm" if pitch_mm is not None else ""
    return f"{ratio:g} times the width{but}"


def _waived(choices: GoalChoices) -> Iterator[tuple[str, str]]:
    """Kinds of clauses that the user decides, each with the choice: a warning against it is told, no more."""
    if choices.layers is not None:
        yield from ((kind, f"--layers {choices.layers}") for kind in ("layer_count", "layer_count_above"))
    if choices.thickness_mm is not None:
        yield "form_thickness", f"--thickness-mm {choices.thickness_mm:g}"
    if choices.power_copper_oz is not None:
        yield "power_copper_oz", f"--power-oz {choices.power_copper_oz:g}"
