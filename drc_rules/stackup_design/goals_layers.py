"""Goals of the layers: how many, which of them carry high-speed links, and what is left for power and other signals."""

from __future__ import annotations

from drc_rules.analysis.nets.high_speed_layers import fast_layers, routed_outside
from drc_rules.requirements.interfaces import interface
from drc_rules.stackup_design.goal_work import From, GoalWork, needed_clause, refused, source_words
from drc_rules.stackup_design.goals_build import LEAST_LAYERS, power_planes
from drc_rules.stackup_design.goals_lines import GoalLines
from stackup_lib.synthesis import Goals
from stackup_lib.synthesis.arrange import enclosed_power, least_layers, orders, power_without_ground
from stackup_lib.synthesis.goals import MOST_LAYERS

PAIR = 2
"""Stackups are symmetric: layers come by two."""

POWER_PLANES = "power planes"


def layer_goals(work: GoalWork, lines: GoalLines) -> dict[str, int]:
    """Return numbers of layers; what is not stated is filled up to the layer count."""
    count = _layer_count(work)
    fast = _fast_layers(work, lines)
    power = power_planes(work, count)
    if not lines.striplines:
        fast = 0
    usual = [c for c in work.selection.of_kind("layer_count_above") if c.limit.max is not None]
    most = count if work.choices.layers or work.project else min((int(c.limit.max or 0) for c in usual), default=count)
    if work.choices.fast_layers is None:
        fast = _most_that_fit(fast, power, max(most, count))
    usual_power, power = power, _with_ground(work, fast, power, count)
    least = least_layers(Goals(fast_layers=fast, power_planes=power))
    if least > count and not work.choices.layers:
        work.say(
            "layers", f"{least}, not {count}", From.ASSUMPTION, f"{fast} high-speed layers between grounds need them"
        )
        count = least
    if lines.striplines:
        carried = f"{fast} between grounds" if fast else "none: the lines run on the outer layers"
        work.say("high-speed layers", carried, *_fast_source(work, lines, fast))
    other = _other_signals(fast, power, count, fewer_power=power < usual_power)
    _say_without_ground(work, fast, power, count, other)
    work.say(
        "other signal layers", f"{other}, the outer ones among them", From.ASSUMPTION, "what the count leaves room for"
    )
    return {"layer_count": count, "fast_layers": fast, "power_planes": power, "other_signal_layers": other}


def _layers(fast: int, power: int, count: int, other: int = 2) -> str:
    """Return the layers from top to bottom; "" where they do not fit their number."""
    goals = Goals(fast_layers=fast, power_planes=power, other_signal_layers=other)
    if not least_layers(goals) <= count <= MOST_LAYERS:
        return ""
    return orders(goals.model_copy(update={"layer_count": count}))[0].layers


def _with_ground(work: GoalWork, fast: int, power: int, count: int) -> int:
    """Return how many of the power planes that are only assumed the layers hold without one between two others."""
    assumed = any(one.goal == POWER_PLANES and one.origin is From.ASSUMPTION for one in work.reasons)
    fewer = power
    while assumed and fewer > PAIR and enclosed_power(_layers(fast, fewer, count)):
        fewer -= PAIR
    if fewer < power:
        why = f"of {power} on {count} layers {enclosed_power(_layers(fast, power, count))} have no ground next to them"
        work.say(POWER_PLANES, f"{fewer}, not {power}", From.ASSUMPTION, why)
    return fewer


def _other_signals(fast: int, power: int, count: int, *, fewer_power: bool = False) -> int:
    """Return how many other signal layers there is room for; where power planes gave way, only next to grounds."""
    other = 2
    while least_layers(Goals(fast_layers=fast, power_planes=power, other_signal_layers=other + 2)) <= count:
        now, more = (_layers(fast, power, count, one) for one in (other, other + 2))
        if enclosed_power(more) > enclosed_power(now) or (fewer_power and "GP" not in more):
            break  # the layers are for the grounds of the power planes
        other += 2
    return other


def _say_without_ground(work: GoalWork, fast: int, power: int, count: int, other: int) -> None:
    """Say where power planes lie without a ground next to them, and how many layers give each one."""
    lacking = power_without_ground(_layers(fast, power, count, other))
    if not lacking:
        return
    counts = range(count, MOST_LAYERS + 1, PAIR)
    filled = ((n, _layers(fast, power, n, _other_signals(fast, power, n))) for n in counts)
    enough = next((n for n, layers in filled if not power_without_ground(layers)), None)
    more = f"--layers {enough} gives each one" if enough else "fewer power planes get one each"
    signals_first = power_without_ground(_layers(fast, power, count)) < lacking
    why = "signal layers have their place" if signals_first else "the layers hold no more"
    words = f"{lacking} of {power} power planes have none next to them"
    work.say("grounds", words, From.ASSUMPTION, f"{why}; {more}")


def fast_outside(work: GoalWork, lines: GoalLines) -> bool:
    """Tell whether high-speed links run on the outer layers: as routed, as stated, or as usual on a new board."""
    said, project = work.choices.fast_outside, work.project
    if not lines.goals:
        return False
    if said is not None:
        work.say("high-speed links on outer layers", "yes" if said else "no", From.USER, "your choice")
        return said
    if project is not None:
        routed = any(routed_outside(project.context, one) for one in lines.interfaces.values())
        if routed or any(project.context.nets_of(one).size for one in lines.interfaces.values()):
            work.say(
                "high-speed links on outer layers", "yes" if routed else "no", From.BOARD, "as its links are routed"
            )
            return routed
    how = "fan-out, AC capacitors and card fingers; --no-outer-links keeps them inside"
    work.say("high-speed links on outer layers", "yes", From.ASSUMPTION, how)
    return True


def _fast_source(work: GoalWork, lines: GoalLines, fast: int) -> tuple[From, str]:
    if work.choices.fast_layers is not None:
        return From.USER, "your choice"
    titles = ", ".join(dict.fromkeys(interface(one).title for one in lines.interfaces.values()))
    nvlink = work.selection.largest("nvlink_layers")
    fabrics = {interface(one).family for one in lines.interfaces.values() if interface(one).fabric}
    if nvlink is not None and fabrics and fast >= (nvlink.limit.min or 0):
        if "nvlink" not in fabrics:
            return From.ASSUMPTION, f"for {titles} as for NVLink; no document states a number for it"
        return From.CLAUSE, f"{source_words(nvlink)}; more for others as far as they fit"
    return From.ASSUMPTION, f"for {titles}; " + ("as many as fit the layers" if fast else "the layers hold no more")


def _most_that_fit(fast: int, power: int, most: int) -> int:
    while fast and least_layers(Goals(fast_layers=fast, power_planes=power)) > most:
        fast -= 1
    return fast


def _layer_count(work: GoalWork) -> int:
    clause, said = work.selection.largest("layer_count"), work.choices.layers
    least = needed_clause(work, "layer_count")
    if said is not None:
        if least is not None and said < (least.limit.min or 0):
            raise refused(f"--layers {said}", least, f"give {least.limit.min:g} or more")
        work.say("layers", f"{said}", From.USER, "your choice")
        return max(said, LEAST_LAYERS)
    if work.project is not None and not (clause and work.project.board.layer_count < (clause.limit.min or 0)):
        own = work.project.board.layer_count
        count = max(own + own % 2, LEAST_LAYERS)
        if own < count:
            why = f"stackups are arranged for {LEAST_LAYERS} layers or more, an even number"
            work.say("layers", f"{count}, not the board's {own}", From.ASSUMPTION, why)
        else:
            work.say("layers", f"{count}", From.BOARD, "copper layers of the board")
        return count
    form, asked = work.selection.form, int(clause.limit.min or 0) if clause else LEAST_LAYERS
    other = f", not the board's {work.project.board.layer_count}" if work.project else ""
    if form is not None and form.layer_count is not None and form.layer_count > asked:
        work.say("layers", f"{form.layer_count}{other}", From.CLAUSE, form.layer_count_words)
        return form.layer_count
    if clause is not None:
        work.say("layers", f"{asked}{other}", From.CLAUSE, f"{clause.title}; {source_words(clause)}")
    else:
        work.say("layers", f"{asked}", From.ASSUMPTION, "no requirement states a number")
    return asked


def _fast_layers(work: GoalWork, lines: GoalLines) -> int:
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
