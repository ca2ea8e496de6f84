"""Lines with a target impedance: the target of each net, and the geometries in which it was routed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

import numpy as np

from drc_rules.analysis.lines.board_lines import lines_with_fills
from drc_rules.analysis.lines.routed import ROUNDING_MM, RoutedLine
from drc_rules.analysis.lines.routed_impedance import routed_impedance_ohm
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.nets.high_speed_layers import LUMPED_SHARE, MM_GHZ_PER_WAVELENGTH
from drc_rules.analysis.targets.targets import USUAL_TOLERANCE_PCT, ImpedanceTarget, Targets
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.interfaces.model import ENGINEERING
from stackup_lib.core.facts import Confidence, MissingFact, Origin
from stackup_lib.core.record import record

SLOW_GHZ = 1.0
"""A shorter breakout is not measured: the lumped length of a target without a frequency."""

MOST = 0.5

BREAKOUT_MM = 1.0
"""From a ball to its via is 0.7 mm at 1 mm pitch, 0.9 mm at 1.27 mm: it is unavoidable, however fast the signal."""


@record
class NetTarget:
    """The target of some nets.

    Attributes:
        title: for whom: interface, family or net class.
        kind: of the impedance.
        tolerance_pct: allowed deviation of the nominal impedance.
        nyquist_ghz: where the signal has most to lose, None where the generation is not known.
        lumped_mm: a run that is shorter does not count: neck-downs and breakouts.
        source: document or setting.
        document: key of the interface's document, empty where no document asks.
        inferred: it is not declared: never an error.
        error_pct: a miss by less is no error: fabs hold 10 % as a rule, and what no document states makes no error.
        range_ohm: what a document accepts in place of `ohm`, least and most.
        limit_ohm: least and most that a document allows, in place of a tolerance.
        range_of: where the generation is not known, and not all accept these, one that does.
        any_of: where the generation is not known, and each has its own impedance, the family; `limit_ohm` is what any
            of its generations accepts. Nothing passes by it.
        rules: where design rules ask, the one that does on each copper layer, "" where none does; else empty. They
            divide no nets that have one target.
        required: what the document of the declared interface requires, where KiCad's names say the target.
    """

    title: str
    ohm: float
    kind: Literal["single", "differential"]
    lumped_mm: float
    tolerance_pct: float = USUAL_TOLERANCE_PCT
    nyquist_ghz: float | None = None
    source: str = ""
    document: str = ""
    inferred: bool = True
    error_pct: float = USUAL_TOLERANCE_PCT
    confidence: Confidence = Confidence.LOW
    range_ohm: tuple[float, float] | None = None
    limit_ohm: tuple[float, float] | None = None
    range_of: str = ""
    any_of: str = ""
    rules: tuple[str, ...] = field(default=(), compare=False)
    required: NetTarget | None = None

    def title_on(self, layer: int) -> str:
        """Return for whom the target is on a copper layer: of design rules the one for that layer."""
        return self.source_on(layer) if self.title == self.source else self.title

    def source_on(self, layer: int) -> str:
        """Return who says so for a copper layer."""
        if not self.rules:
            return self.source
        return f'design rule "{self.rules[layer]}"' if self.rules[layer] else f"{self.source} of other layers"

    def nearest_to(self, ohm: float) -> NetTarget:
        """Return the target with the accepted impedance that is nearest to one, of a generation that accepts it."""
        least, most = self.range_ohm or (self.ohm, self.ohm)
        return replace(self, ohm=min(max(ohm, least), most), range_of="")

    @property
    def allowed_ohm(self) -> tuple[float, float]:
        """Least and most nominal impedance that every generation it may be of allows, around `ohm`."""
        if self.limit_ohm and not self.range_of:
            return self.limit_ohm
        return self.ohm * (1 - self.tolerance_pct / 100), self.ohm * (1 + self.tolerance_pct / 100)

    def allowed_pct(self, ohm: float) -> float:
        """Return by how many percent of the target an impedance may be off on its own side of it."""
        low, high = self.allowed_ohm
        return 100 * (high / self.ohm - 1 if ohm > self.ohm else 1 - low / self.ohm)

    @property
    def allowed_words(self) -> str:
        """`tolerance 10 %`, or `allowed 68 to 105 ohm`."""
        if self.limit_ohm and not self.range_of:
            return f"allowed {self.limit_ohm[0]:g} to {self.limit_ohm[1]:g} ohm"
        return f"tolerance {self.tolerance_pct:g} %"


@record
class ControlledLine:
    """One geometry of the nets of one target."""

    target: NetTarget
    line: RoutedLine

    def impedance_ohm(self, lines: Lines) -> float:
        """Solve it; raises as `routed_impedance_ohm`."""
        return routed_impedance_ohm(lines, self.line)


@record
class Unjudged:
    """Nets with a target impedance that no line reports.

    Attributes:
        lacks: what is missing.
        hides_coupling: it leaves open, too, whether the nets run together as pairs.
    """

    lacks: MissingFact
    hides_coupling: bool = False


def unjudged(ctx: Context) -> tuple[Unjudged, ...]:
    """Return nets of targets without a route, declared ones whose kind does not fit, and those without a target."""
    board = ctx.board
    has_track = np.bincount(board.tracks.net, minlength=len(board.nets)) > 0
    joins = np.bincount(board.pads.net, minlength=len(board.nets)) > 1
    found = []
    for target, nets in ctx.get(nets_by_target).items():
        open_nets = [net for net in nets if joins[net] and not has_track[net]]
        if open_nets:
            lacks = MissingFact(f"routing of {target.title} ({_some(ctx, open_nets)})", "route them")
            found.append(Unjudged(lacks, hides_coupling=target.kind == "differential"))
    lone: dict[str, list[int]] = defaultdict(list)
    for net, asked in _declared_alone(ctx):
        if joins[net] or has_track[net]:
            lone[asked.source].append(net)
    singles = [net for net in _declared_single(ctx) if joins[net] or has_track[net]]
    if singles:
        lacks = MissingFact(f"impedance of {_some(ctx, singles)}, pairs declared as single lines", AS_PAIRS)
        found.append(Unjudged(lacks))
    for source, nets in lone.items():
        lacks = MissingFact(f"complements of {_some(ctx, nets)}, pairs by {source}", NAME_PAIRS)
        found.append(Unjudged(lacks, hides_coupling=True))
    for (said, required), nets in _disagreeing(ctx).items():
        lacks = MissingFact(
            f"which impedance counts for {_some(ctx, nets)}: {said.ohm:g} ohm by {said.source}, "
            f"or {required.ohm:g} ohm by {required.source}",
            WHICH_COUNTS,
        )
        found.append(Unjudged(lacks))
    for target, nets in _in_pieces(ctx).items():
        what = f"impedance of {target.title} ({_some(ctx, nets)}): no width and gap lasts for {target.lumped_mm:.2g} mm"
        found.append(Unjudged(MissingFact(what, "in KiCad, route with one width and one gap")))
    for family_id, nets in _declared_without_generation(ctx).items():
        found.append(Unjudged(generation_of(ctx, family_id), hides_coupling=_any_pair(ctx, nets)))
    for title, nets in _without_document(ctx).items():
        lacks = MissingFact(f"impedance of {title} ({_some(ctx, nets)})", NO_DOCUMENT)
        found.append(Unjudged(lacks, hides_coupling=_any_pair(ctx, nets)))
    return tuple(found)


MANY_BREAKOUTS = 4
"""A net that is as long as this many breakouts, and has no piece that counts, has no geometry that could be judged."""


def _in_pieces(ctx: Context) -> dict[NetTarget, list[int]]:
    """Return the nets whose geometry changes so often that no piece of it counts, by target."""
    lines = ctx.get(controlled_lines)
    judged = {net for nets in judged_nets(lines) for net in nets}
    length_mm: dict[tuple[NetTarget, int], float] = defaultdict(float)
    for found in lines:
        if found.line.references != (None, None) and not (found.line.is_pair and found.line.gap_mm is None):
            for net, mm in zip(found.line.nets, found.line.net_lengths_mm, strict=True):
                length_mm[found.target, net] += mm
    pieces: dict[NetTarget, list[int]] = defaultdict(list)
    for (target, net), mm in length_mm.items():
        if net not in judged and mm > MANY_BREAKOUTS * target.lumped_mm:
            pieces[target].append(net)
    return pieces


def _any_pair(ctx: Context, nets: Iterable[int]) -> bool:
    return any(ctx.pairs.complement_of(net) is not None for net in nets)


NO_DOCUMENT = """[[impedance]]
ohm = "?"  # from its controller's guide: no public document states one
kind = "single"
nets = ["?"]"""
AS_PAIRS = """[[impedance]]  # after the one for single lines: a later table wins
ohm = "?"  # of the pair
kind = "differential"
nets = ["?"]"""
WHICH_COUNTS = """[[impedance]]
ohm = "?"  # or correct the name in KiCad
kind = "differential"
nets = ["?"]"""
NAME_PAIRS = (
    "name both nets of a pair alike but for P and N or + and - (strobes and clocks also T and C); "
    "or declare them as single lines"
)


def _declared_alone(ctx: Context) -> Iterator[tuple[int, ImpedanceTarget]]:
    targets = _declared_targets(ctx)
    for net, name in enumerate(ctx.board.nets):
        asked = targets.without_complement(net) if name and targets else None
        if asked is not None:
            yield net, asked


def _declared_single(ctx: Context) -> Iterator[int]:
    targets = _declared_targets(ctx)
    yield from (net for net, name in enumerate(ctx.board.nets) if name and targets and targets.single_of_pair(net))


def _disagreeing(ctx: Context) -> dict[tuple[ImpedanceTarget, ImpedanceTarget], list[int]]:
    """Return the pairs of declared interfaces that a name in KiCad gives another impedance than their document."""
    found: dict[tuple[ImpedanceTarget, ImpedanceTarget], list[int]] = {}
    targets = _declared_targets(ctx)
    for net, name in enumerate(ctx.board.nets):
        both = targets.disagreeing(net) if name and targets else None
        if both is not None:
            found.setdefault(both, []).append(net)
    return found


def _declared_targets(ctx: Context) -> Targets | None:
    config, said = ctx.declarations.config, ctx.declarations.impedance
    is_declared = bool(config.impedance or config.interface or said)
    return Targets(ctx.board, config, ctx.assignment, ctx.pairs, said) if is_declared else None


def _without_document(ctx: Context) -> dict[str, list[int]]:
    """Return the nets declared as a high-speed interface of which no document states an impedance, by its title."""
    targeted = {net for nets in ctx.get(nets_by_target).values() for net in nets}
    found: dict[str, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is None or role.interface is None or role.origin is not Origin.DECLARED or net in targeted:
            continue
        one = interface(role.interface)
        if family(role.family).fast and not (one.impedance_diff_ohm or one.impedance_single_ohm):
            found.setdefault(one.title, []).append(net)
    return found


def _declared_without_generation(ctx: Context) -> dict[str, list[int]]:
    """Return the nets declared as a family without a generation, where each has a target of its own, by family."""
    targeted = {net for nets in ctx.get(nets_by_target).values() for net in nets}
    found: dict[str, list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role and role.origin is Origin.DECLARED and role.interface is None and net not in targeted:
            is_pair = ctx.pairs.complement_of(net) is not None
            asked = {
                i.impedance_diff_ohm if is_pair else i.impedance_single_ohm for i in family(role.family).interfaces
            }
            if len(asked) > 1:
                found.setdefault(role.family, []).append(net)
    return dict(sorted(found.items()))


def _some(ctx: Context, nets: list[int]) -> str:
    names = sorted(ctx.board.nets[net] for net in nets)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def nets_by_target(ctx: Context) -> dict[NetTarget, list[int]]:
    """Return the nets with a target impedance, routed or not."""
    return _by_target(ctx, Targets.of)


def _by_target(ctx: Context, of: Callable[[Targets, int], ImpedanceTarget | None]) -> dict[NetTarget, list[int]]:
    groups: dict[NetTarget, list[int]] = {}
    declared = ctx.declarations
    targets = Targets(ctx.board, declared.config, ctx.assignment, ctx.pairs, declared.impedance)
    for net, name in enumerate(ctx.board.nets):
        asked = of(targets, net) if name else None
        if asked is not None:
            groups.setdefault(_target(ctx, net, asked), []).append(net)
    return groups


def controlled_lines(ctx: Context) -> tuple[ControlledLine, ...]:
    """Return every routed geometry of every net with a target, the longest of each target first."""
    return _lines_of(ctx, ctx.get(nets_by_target))


def lines_of_any_generation(ctx: Context) -> tuple[ControlledLine, ...]:
    """Return every routed geometry of pairs that have no target, since the generations of their family differ."""
    return _lines_of(ctx, _by_target(ctx, Targets.of_any_generation))


def _lines_of(ctx: Context, groups: Mapping[NetTarget, list[int]]) -> tuple[ControlledLine, ...]:
    return tuple(
        ControlledLine(target, line) for target, nets in groups.items() for line in lines_with_fills(ctx, nets)
    )


def _target(ctx: Context, net: int, asked: ImpedanceTarget) -> NetTarget:
    role = ctx.assignment.role_of(net)
    is_slow = role is not None and role.family == "low-speed"  # who asks is its class or rule, not an interface
    of = family(role.family) if role and not is_slow else None
    one = interface(role.interface) if role and role.interface and not is_slow else of.only if of else None
    nyquist = one.nyquist_ghz if one else None
    slowest = nyquist or min((i.nyquist_ghz for i in (of.interfaces if of else ()) if i.nyquist_ghz), default=SLOW_GHZ)
    title = one.title if one else of.title if of else asked.source
    tolerance = asked.tolerance_pct or (one.impedance_tolerance_pct if one else None) or USUAL_TOLERANCE_PCT
    is_own = asked.tolerance_pct is not None and not asked.document
    error_pct = math.inf if asked.document == ENGINEERING else max(tolerance, 0 if is_own else USUAL_TOLERANCE_PCT)
    if asked.limit_ohm and not asked.range_of and asked.document != ENGINEERING:
        error_pct = 0.0
    return NetTarget(
        title=f"{title} of {asked.serves}" if asked.serves else title,
        ohm=asked.ohm,
        kind=asked.kind,
        tolerance_pct=tolerance,
        nyquist_ghz=nyquist,
        lumped_mm=max(LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / slowest, BREAKOUT_MM),
        source=asked.source,
        document=asked.document,
        inferred=asked.origin not in (Origin.DECLARED, Origin.FILE, Origin.COMMAND_LINE),
        error_pct=error_pct,
        confidence=asked.confidence,
        range_ohm=asked.range_ohm,
        limit_ohm=asked.limit_ohm,
        range_of=asked.range_of,
        any_of=asked.any_of,
        rules=() if asked.serves else asked.rules,
        required=_target(ctx, net, asked.required) if asked.required else None,
    )


def counted(lines: tuple[ControlledLine, ...]) -> Iterator[ControlledLine]:
    """Yield the lines that are longer than a breakout on at least one net; two ends have one breakout each.

    Pieces over a hole in the planes are a matter of the return path, not of width and gap, and pieces of a pair that
    run apart are one of its coupling (IMP004): they count only where most of a layer's, or a net's, routing is so.
    """
    on_layer: dict[tuple[NetTarget, int], float] = defaultdict(float)
    for found in lines:
        on_layer[found.target, found.line.layer] += found.line.length_mm
    for found, nets in zip(lines, judged_nets(lines), strict=True):
        line = found.line
        over_a_hole = line.references == (None, None) and line.length_mm < MOST * on_layer[found.target, line.layer]
        if nets and not over_a_hole:
            yield found


def judged_nets(lines: Sequence[ControlledLine]) -> tuple[frozenset[int], ...]:
    """Return on which nets each line is long enough to count.

    A run counts from the lumped length on: short pieces, as the bumps that even out a pair, do not add up, since the
    mean of a stretch that is short against the wavelength is what the signal sees. What most of a net's routing on a
    layer is made of counts however often it is broken.
    """
    of_net: dict[tuple[int, int], float] = defaultdict(float)
    most: dict[tuple[int, int], float] = defaultdict(float)
    for found in lines:
        line = found.line
        for net, length_mm in zip(line.nets, line.net_lengths_mm, strict=True):
            of_net[net, line.layer] += length_mm
            most[net, line.layer] = max(most[net, line.layer], length_mm)
    judged = []
    for found in lines:
        line, lumped_mm = found.line, found.target.lumped_mm + ROUNDING_MM
        each = zip(line.nets, line.net_lengths_mm, line.net_runs_mm, strict=True)
        if line.is_pair and line.gap_mm is None:
            nets = (net for net, mm, _ in each if mm > max(2 * lumped_mm, MOST * of_net[net, line.layer]))
        else:
            nets = (
                net for net, mm, run_mm in each if run_mm > lumped_mm or 2 * lumped_mm < mm >= most[net, line.layer]
            )
        judged.append(frozenset(nets))
    return tuple(judged)
