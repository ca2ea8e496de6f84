"""Routed widths against a changed stackup: which may stay, and what the others have to become. Lengths in mm."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from drc_rules.analysis.lines.routed import ROUNDING_MM
from drc_rules.analysis.targets.controlled import NetTarget, controlled_lines
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface, interface
from stackup_lib.core.record import record
from stackup_lib.core.words import listed
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.field_solver.solver import solve
from stackup_lib.synthesis import CandidateStackup, Evaluated, Goals, LineResult, RoutedSize
from stackup_lib.synthesis.evaluate import Evaluator
from stackup_lib.transmission_lines.width_request import Target

USUAL_TOLERANCE_PCT = 10.0
COARSE = 1e-3

STAYS = " widths stay "
"""In a phrase that says of routed lines that nothing is to be done."""

Size = tuple[float, float | None]


def routed_sizes(ctx: Context, interfaces: Mapping[str, str]) -> dict[tuple[str, str], Size]:
    """Return width and gap with most length by (line goal, layer).

    Args:
        ctx: the board.
        interfaces: interface id by name of a line goal.
    """
    goals = {interface(one).title: goal for goal, one in interfaces.items()}
    lengths: dict[tuple[str, str], dict[Size, float]] = {}
    for found in ctx.get(controlled_lines):
        goal, line = goals.get(found.target.title), found.line
        if goal is None or (found.target.kind == "differential") != (line.gap_mm is not None):
            continue
        sizes = lengths.setdefault((goal, ctx.board.copper_layers[line.layer].name), {})
        size = line.width_mm, line.gap_mm
        sizes[size] = sizes.get(size, 0.0) + line.length_mm
    return {key: max(sizes, key=lambda size: sizes[size]) for key, sizes in lengths.items()}


@record
class UnsoughtSize:
    """The size with most length of a target that no line goal is for, on one layer."""

    target: NetTarget
    layer: int
    size: Size


def sought_lines(result: Evaluated, interfaces: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return title of the interface and layer of each line that a search had a goal for.

    Args:
        result: a stackup with its lines.
        interfaces: interface id by name of a line goal.
    """
    return frozenset((interface(interfaces[line.goal]).title, line.layer) for line in result.lines)


def unsought_sizes(ctx: Context, sought: Container[tuple[str, str]] = ()) -> tuple[UnsoughtSize, ...]:
    """Return the routed sizes that a search has no goal for: of unknown generation, not high-speed, or other layers.

    Args:
        ctx: the board.
        sought: title and layer of each line with a goal, see `sought_lines`.
    """
    lengths: dict[tuple[NetTarget, int], dict[Size, float]] = {}
    for found in ctx.get(controlled_lines):
        target, line = found.target, found.line
        name = ctx.board.copper_layers[line.layer].name
        if (target.title, name) in sought or (target.kind == "differential") != (line.gap_mm is not None):
            continue
        sizes = lengths.setdefault((target, line.layer), {})
        size = line.width_mm, line.gap_mm
        sizes[size] = sizes.get(size, 0.0) + line.length_mm
    return tuple(
        UnsoughtSize(target, layer, max(sizes, key=lambda size: sizes[size]))
        for (target, layer), sizes in lengths.items()
        if max(sizes.values()) > target.lumped_mm + ROUNDING_MM
    )


def sizes_to_keep(ctx: Context) -> tuple[RoutedSize, ...]:
    """Return the routed sizes of all targets, with the impedance that they may have, tolerance included."""
    found = []
    for one in unsought_sizes(ctx):
        low, high = _bounds_ohm(one.target)
        width, gap = one.size
        found.append(RoutedSize(layer=one.layer, width_mm=width, gap_mm=gap, low_ohm=low, high_ohm=high))
    return tuple(dict.fromkeys(found))


def sizes_of_goals(ctx: Context, goals: Goals, interfaces: Mapping[str, str]) -> tuple[RoutedSize, ...]:
    """Return the routed size with most length of each line goal and layer, with the impedance that it may have."""
    index = {layer.name: k for k, layer in enumerate(ctx.board.copper_layers)}
    targets = {goal.name: goal.target for goal in goals.lines}
    found = []
    for (goal, layer), (width, gap) in routed_sizes(ctx, interfaces).items():
        (low, high), _ = _limits(interface(interfaces[goal]), targets[goal])
        size = RoutedSize(layer=index[layer], width_mm=width, gap_mm=gap, low_ohm=low, high_ohm=high, goal=goal)
        found.append(size)
    return tuple(found)


def unsought_words(candidate: CandidateStackup, sizes: Sequence[UnsoughtSize]) -> tuple[tuple[str, bool], ...]:
    """Return what routed sizes make in a stackup, and whether that is within their tolerance; the others come first."""
    names = [row.name for row in candidate.copper]
    found: dict[tuple[bool, str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for one in sizes:
        try:
            ohm = _ohm(candidate, one.layer, one.size, one.target.kind)
        except GeometryError:  # no plane, or no room between its planes
            continue
        size = f"{_text(one.size)} makes {ohm:.1f} ohm"
        fits, asked = _asked(one.target, ohm)
        layers, titles = found.setdefault((fits, size, asked), ({}, {}))
        layers[names[one.layer]] = None
        titles[one.target.title] = None
    return tuple(
        (f"{size} on {listed(list(layers))}: {asked} for {listed(list(titles))}", fits)
        for (fits, size, asked), (layers, titles) in sorted(found.items(), key=lambda item: item[0][0])
    )


def width_words(
    result: Evaluated, goals: Goals, interfaces: Mapping[str, str], routed: Mapping[tuple[str, str], Size]
) -> tuple[tuple[str, bool], ...]:
    """Return what becomes of the routed sizes, and whether they stay: within their tolerance they do."""
    by_name = {goal.name: goal for goal in goals.lines}
    found: dict[tuple[str, str], dict[tuple[str, bool], dict[str, None]]] = {}
    for line, size, ohm, allowed in _routed_lines(result, goals, interfaces, routed):
        goal = by_name[line.goal]
        if allowed.fits:
            text = f"{goal.target}{STAYS}({_text(size)} makes {ohm:.1f} ohm, {allowed.words} allowed)"
        else:
            text = f"{goal.target} {_text(size)} ({ohm:.1f} ohm) -> {_text((line.width_mm, line.gap_mm))} mm"
        texts = found.setdefault((f"{goal.target} {_text(size)}", line.layer), {})
        texts.setdefault((text, allowed.fits), {})[interface(interfaces[line.goal]).title] = None
    words: dict[tuple[str, bool], dict[str, None]] = {}
    for (_, layer), texts in found.items():
        for (text, fits), titles in texts.items():
            whose = f" for {listed(list(titles))}" if len(texts) > 1 else ""
            words.setdefault((f"{text}{whose}", fits), {})[layer] = None
    return tuple((f"{text} on {listed(list(layers))}", fits) for (text, fits), layers in words.items())


def with_kept_sizes(
    result: Evaluated, goals: Goals, interfaces: Mapping[str, str], routed: Mapping[tuple[str, str], Size]
) -> Evaluated:
    """Return a stackup whose lines are as wide as they are routed, where that stays within their tolerance."""
    fits = {
        (line.goal, line.layer): allowed.fits
        for line, _, _, allowed in _routed_lines(result, goals, interfaces, routed)
    }
    kept = {key: routed[key] for key, stays in fits.items() if stays}
    moved = frozenset(key for key, stays in fits.items() if not stays)
    return Evaluator(goals).with_sizes(result, kept, moved) if fits else result


class _Allowed(NamedTuple):
    """Whether an impedance is allowed, and what is."""

    fits: bool
    words: str


def _routed_lines(
    result: Evaluated, goals: Goals, interfaces: Mapping[str, str], routed: Mapping[tuple[str, str], Size]
) -> Iterator[tuple[LineResult, Size, float, _Allowed]]:
    """Yield the lines that are routed, with size and impedance there."""
    by_name = {goal.name: goal for goal in goals.lines}
    index = {row.name: k for k, row in enumerate(result.candidate.copper)}
    for line in result.lines:
        size = routed.get((line.goal, line.layer))
        if size is not None:
            target = by_name[line.goal].target
            ohm = _ohm(result.candidate, index[line.layer], size, target.kind)
            yield line, size, ohm, _allowed(interface(interfaces[line.goal]), target, ohm)


def _bounds_ohm(target: NetTarget) -> tuple[float, float]:
    """Return the least and most impedance that meets a target, in whichever generation accepts it."""
    if target.limit_ohm:
        return target.limit_ohm
    low, high = target.range_ohm or (target.ohm, target.ohm)
    slack = target.tolerance_pct / 100
    return low * (1 - slack), high * (1 + slack)


def _asked(target: NetTarget, ohm: float) -> tuple[bool, str]:
    """Tell whether an impedance meets a target, and what that is."""
    least, most = _bounds_ohm(target)
    if target.limit_ohm:
        of = f" as {target.range_of}" if target.range_of else ""
        return least <= ohm <= most, f"{least:g} to {most:g} ohm{of}"
    low, high = target.range_ohm or (target.ohm, target.ohm)
    text = f"{low:g} ohm" if low == high else f"{low:g} to {high:g} ohm"
    return least <= ohm <= most, f"{text} +-{target.tolerance_pct:g} %"


def _allowed(one: Interface, target: Target, ohm: float) -> _Allowed:
    """Tell whether an impedance is what an interface allows around a goal's target, and what it allows."""
    (low, high), words = _limits(one, target)
    return _Allowed(low <= ohm <= high, words)


def _limits(one: Interface, target: Target) -> tuple[tuple[float, float], str]:
    """Return what an interface allows around a goal's target, in ohm and as text."""
    limit = one.impedance_diff_limit_ohm
    if limit and (target.kind, target.ohm) == ("differential", one.impedance_diff_ohm):
        return limit, f"{limit[0]:g} to {limit[1]:g} ohm"
    tolerance = one.impedance_tolerance_pct or USUAL_TOLERANCE_PCT
    slack = tolerance / 100
    return (target.ohm * (1 - slack), target.ohm * (1 + slack)), f"{tolerance:g} %"


def _ohm(candidate: CandidateStackup, index: int, size: Size, kind: str) -> float:
    found = solve(candidate.site(index).section(*size), COARSE)
    return float(found.z_diff_ohm if kind == "differential" else found.z0_ohm)


def _text(size: Size) -> str:
    return "/".join(f"{part:.3f}" for part in size if part is not None)
