"""Every routed differential pair with its impedance by layer, judged or not, and why not.

What no clause judges still has an impedance: pairs of unknown interface, and pairs too short to count.
Geometries that a rule has solved cost nothing here; others are solved as far as the caller allows, the longest of pairs
that are not judged first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from drc_rules.analysis.lines.board_lines import lines_with_fills
from drc_rules.analysis.lines.broadside_pairs import BROADSIDE, is_broadside
from drc_rules.analysis.lines.routed import NearFill, References, RoutedLine
from drc_rules.analysis.lines.routed_impedance import is_solved, routed_impedance_ohm
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.targets.controlled import (
    NetTarget,
    controlled_lines,
    counted,
    lines_of_any_generation,
    nets_by_target,
)
from drc_rules.analysis.targets.targets import any_generation
from drc_rules.facts.context import Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.report.link_rows import PairOnLayer, PairRow
from drc_rules.requirements.interfaces import family, interface
from stackup_lib.core.arrays import distinct
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

MOST_SOLVED = 200
"""Geometries that are solved for this table where all of it is requested: a few seconds."""

QUICKLY_SOLVED = 20
"""The same where the table is not what the check is for."""

NOT_SOLVED = "not solved"
NO_PLANE = "no plane above or below it"


_Key = tuple[int, float, float | None, References, float | None, NearFill | None]


@record
class _Section:
    """So much of a geometry on one pair, as the mean of both traces, and its longest unbroken run on one of them.

    Attributes:
        accepted_ohm: least and most that any generation of the pair's family accepts, where these differ and it counts.
    """

    line: RoutedLine
    length_mm: float
    run_mm: float
    is_counted: bool
    accepted_ohm: tuple[float, float] | None

    def is_refused(self, ohm: float | None) -> bool:
        """Tell whether no generation accepts an impedance."""
        return (
            ohm is not None
            and self.accepted_ohm is not None
            and not self.accepted_ohm[0] <= ohm <= self.accepted_ohm[1]
        )


@dataclass
class _Ohms:
    """Impedances of geometries, as many new ones as are allowed."""

    ctx: Context
    left: int
    _found: dict[_Key, tuple[float | None, str]] = field(default_factory=dict)

    def of(self, line: RoutedLine) -> tuple[float | None, str]:
        """Return the impedance, or why there is none."""
        key = _key(line)
        if key not in self._found:
            self._found[key] = self._of(line)
        return self._found[key]

    def _of(self, line: RoutedLine) -> tuple[float | None, str]:
        if line.references == (None, None):
            return None, NO_PLANE
        known = is_solved(Lines(self.ctx), line)
        try:
            with self.ctx.recording():
                Lines(self.ctx).site(line.layer, line.references)
                if not known and self.left <= 0:
                    return None, NOT_SOLVED
                ohm = routed_impedance_ohm(Lines(self.ctx), line)
        except (MissingFact, StackwrightError) as error:
            return None, error.what
        self.left -= not known
        return ohm, ""


def pair_rows(ctx: Context, *, most_solved: int) -> tuple[PairRow, ...]:
    """Return every pair with tracks: those that are not judged first, then the longest.

    Args:
        ctx: the checked board, with the lines that its rules have solved.
        most_solved: how many geometries may be solved that no rule needs.
    """
    targets = tuple(ctx.get(nets_by_target))
    target_of = {net: number for number, nets in enumerate(ctx.get(nets_by_target).values()) for net in nets}
    target = {net: targets[number] for net, number in target_of.items()}
    found = [_Pair(ctx, pair, sections, target) for pair, sections in _sections(ctx, target_of).items()]
    ohms = _Ohms(ctx, most_solved)
    ordered = sorted(found, key=lambda pair: (pair.is_counted, -pair.length_mm, pair.name))
    rows = [pair.row(ohms) for pair in ordered]
    return tuple(sorted(rows, key=lambda row: (row.is_judged, -row.length_mm, row.name)))


def _sections(ctx: Context, target_of: Mapping[int, int]) -> Mapping[int, list[_Section]]:
    """Return the geometries of each pair that has tracks; `target_of` is the number of each net's target."""
    routed = distinct(ctx.board.tracks.net)
    nets = routed[routed >= 0]
    nets = nets[ctx.pairs.complement_of_net[nets] >= 0].tolist()
    judged: dict[_Key, set[int]] = defaultdict(set)
    for counts in counted(ctx.get(controlled_lines)):
        judged[_key(counts.line)].add(target_of[counts.line.nets[0]])
    accepted: dict[tuple[_Key, int], tuple[float, float]] = {}
    for counts in counted(ctx.get(lines_of_any_generation)):
        accepted |= dict.fromkeys(((_key(counts.line), net) for net in counts.line.nets), counts.target.allowed_ohm)
    found: dict[int, list[_Section]] = defaultdict(list)
    for line in lines_with_fills(ctx, nets):
        of_pair: dict[int, tuple[float, float, bool]] = {}
        asks = judged.get(_key(line), set())
        for net, length_mm, run_mm in zip(line.nets, line.net_lengths_mm, line.net_runs_mm, strict=True):
            pair = int(ctx.pairs.pair_of_net[net])
            length, run, is_counted = of_pair.get(pair, (0.0, 0.0, False))
            of_pair[pair] = length + length_mm, max(run, run_mm), is_counted or target_of.get(net) in asks
        for pair, (length, run, is_counted) in of_pair.items():
            ohms = (accepted.get((_key(line), net)) for net in line.nets if ctx.pairs.pair_of_net[net] == pair)
            found[pair].append(_Section(line, length / 2, run, is_counted, next(filter(None, ohms), None)))
    return found


def _key(line: RoutedLine) -> _Key:
    return line.layer, line.width_mm, line.gap_mm, line.references, line.other_mm, line.near_fill


class _Pair:
    """One pair and what was routed of it."""

    def __init__(self, ctx: Context, pair: int, sections: list[_Section], targets: Mapping[int, NetTarget]) -> None:
        self.ctx, self.sections = ctx, sections
        self.nets = (int(ctx.pairs.positive[pair]), int(ctx.pairs.negative[pair]))
        self.name = ctx.pairs.name[pair]
        self.target = next((targets[net] for net in self.nets if net in targets), None)
        self.length_mm = sum(section.length_mm for section in sections)
        self.is_counted = any(section.is_counted for section in sections)

    def row(self, ohms: _Ohms) -> PairRow:
        """Return it with the impedance of its longest geometry on each layer."""
        layers = tuple(self._layers(ohms))
        judged_on = [one for one in layers if one.is_judged]
        problem = next((one.problem for one in layers if one.problem), "") if self.is_counted else ""
        target = self.target
        return PairRow(
            name=self.name,
            nets=(self.ctx.board.nets[self.nets[0]], self.ctx.board.nets[self.nets[1]]),
            interface=target.title if target else self._family(),
            target_ohm=target.ohm if target else None,
            length_mm=round(self.length_mm, 4),
            layers=layers,
            is_judged=bool(judged_on),
            why_not="" if judged_on else problem or self._why_not(),
        )

    def _layers(self, ohms: _Ohms) -> Iterator[PairOnLayer]:
        by_layer: dict[int, list[_Section]] = defaultdict(list)
        for section in self.sections:
            by_layer[section.line.layer].append(section)
        for layer, here in sorted(by_layer.items(), key=lambda item: (-_total(item[1]), item[0])):
            main = max(here, key=_worth)
            is_apart = any(is_broadside(self.ctx, main.line, net) for net in self.nets)
            ohm, problem = (None, BROADSIDE) if is_apart else ohms.of(main.line)
            yield PairOnLayer(
                layer=self.ctx.board.copper_layers[layer].name,
                width_mm=main.line.width_mm,
                gap_mm=main.line.gap_mm,
                length_mm=round(_total(here), 4),
                fill_near_mm=main.line.near_fill.near_mm if main.line.near_fill else None,
                fill_far_mm=main.line.near_fill.far_mm if main.line.near_fill else None,
                impedance_ohm=ohm,
                is_judged=main.is_refused(ohm)
                or (any(section.is_counted for section in here) and (ohm is not None or problem == NOT_SOLVED)),
                problem=problem,
            )

    def _family(self) -> str:
        role = self.ctx.assignment.role_of(self.nets[0])
        return family(role.family).title if role else ""

    def _why_not(self) -> str:
        """Return why no section of the pair is judged: nothing asks, or what most of it is."""
        if self.target is None:
            role = self.ctx.assignment.role_of(self.nets[0])
            if role and role.family == "low-speed":
                return f"{self._family()}: no target applies"
            return f"no target known: {_without_target(role)}" if role else "no target known"
        over_holes = _total(s for s in self.sections if s.line.references == (None, None))
        apart = _total(s for s in self.sections if s.line.gap_mm is None and s.line.references != (None, None))
        if over_holes > max(apart, self.length_mm - over_holes - apart):
            return NO_PLANE
        if apart > self.length_mm - over_holes - apart:
            return "its traces run apart"
        longest, ignored = max(s.run_mm for s in self.sections), self.target.lumped_mm
        return f"too short to count: {longest:.3g} mm of one width and gap, and up to {ignored:.3g} mm is ignored"


def _without_target(role: NetRole) -> str:
    """Say why an interface has no target: its generations differ, with what they ask of a pair, or none is stated."""
    if role.interface:
        return f"no impedance is stated for {interface(role.interface).title}"
    of = family(role.family)
    asked = sorted({one.impedance_diff_ohm for one in of.interfaces if one.impedance_diff_ohm})
    between = " or " if len(asked) == 2 else " to "
    ohms = f", {asked[0]:g}{between}{asked[-1]:g} ohm" if len(asked) > 1 else ""
    any_one = any_generation(of)
    none = f"; none accepts less than {any_one[1][0]:g} or more than {any_one[1][1]:g} ohm" if any_one else ""
    return f"{of.title} of unknown generation{ohms}{none}"


def _total(sections: Iterable[_Section]) -> float:
    return sum(section.length_mm for section in sections)


def _worth(section: _Section) -> tuple[bool, bool, float, float, float]:
    """Order geometries of a layer: judged ones, those with a plane, then the longest."""
    line = section.line
    return (
        section.is_counted,
        line.references != (None, None),
        section.length_mm,
        -line.width_mm,
        -(line.gap_mm or 0.0),
    )
