"""Geometries that KiCad is configured to route controlled nets with, compared with what was routed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.lines.routed import SAME_GAP_MM, NearFill, References, RoutedLine, joined
from drc_rules.analysis.lines.sites import references_of
from drc_rules.analysis.targets.controlled import NetTarget, controlled_lines, counted, nets_by_target
from drc_rules.facts.context import Context
from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.arrays import distinct
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record, workpiece
from stackup_lib.kicad.companions import companion
from stackup_lib.kicad.design_rules.rules_file import read_design_rules
from stackup_lib.nets.design_widths import ConfiguredGeometry, asks_by_name, configured_geometry

SAME_WIDTH_MM = 0.0005
"""Widths that differ by less are one width."""


@record
class Intent:
    """What KiCad intends on one layer for nets of one target.

    Attributes:
        target: of the nets; of several with the same impedance and tolerance the first.
        index: copper layer.
        geometry: width, gap, and who says them.
        routed: what was routed there, the longest first; empty where nothing was.
        references: planes above and below: those a tuning profile names, else those of the longest routed line; None
            for the nearest ones.
        is_pair: the nets are pairs.
    """

    target: NetTarget
    index: int
    geometry: ConfiguredGeometry
    routed: tuple[RoutedLine, ...]
    references: References | None
    is_pair: bool

    @property
    def is_followed(self) -> bool:
        """True when copper was routed just so."""
        return any(_same(self.geometry, line) for line in self.routed)

    @property
    def near_fill(self) -> NearFill | None:
        """Filled copper next to what was routed just so, else next to all that was routed there."""
        followed = [line for line in self.routed if _same(self.geometry, line)]
        return joined(line.near_fill for line in followed or self.routed)

    def line(self, ctx: Context) -> RoutedLine:
        """Return it as a line of the board.

        Raises:
            MissingFact: no plane is known on either side.
        """
        return RoutedLine(
            layer=self.index,
            width_mm=self.geometry.width_mm or 0.0,
            gap_mm=self.geometry.gap_mm if self.is_pair else None,
            is_pair=self.is_pair,
            references=references_of(ctx, self.index) if self.references is None else self.references,
            length_mm=0.0,
            longest_mm=0.0,
            nets=(),
            near_fill=self.near_fill,
        )


def design_rules_of(ctx: Context) -> DesignRules | None:
    """Return the rules next to the board, None where there are none; raises `MissingFact` where they cannot be read."""
    path = ctx.board.path
    named = [layer.user_name for layer in ctx.board.copper_layers if layer.user_name]
    try:
        return read_design_rules(companion(path, ".kicad_dru"), named) if path is not None else None
    except BoardFileError as error:
        raise MissingFact(f"the custom design rules ({error.what})", error.next_step) from error


def bounds_notes(ctx: Context) -> Iterator[str]:
    """Yield a note for each constraint whose minimum is above its maximum.

    KiCad 10.0.6 takes such a rule without a word and reports every item: each is below the one or above the other.
    """
    try:
        rules = design_rules_of(ctx)
    except MissingFact:
        return  # ignored-design-rules tells it
    if rules is None or rules.path is None or rules.fault is not None:
        return
    for one in rules.rules:
        for limits in one.constraints:
            if limits.min_mm is not None and limits.max_mm is not None and limits.min_mm > limits.max_mm:
                where = f'{rules.path.name}:{limits.line}, rule "{one.name}"'
                bounds = f"{limits.min_mm:g} mm at least and {limits.max_mm:g} mm at most"
                yield f"{where}: {limits.kind} is {bounds}: nothing meets both, KiCad reports every item"


def readable_rules(ctx: Context) -> DesignRules | None:
    """Return the custom design rules; raises `MissingFact` where KiCad ignores them or they cannot be followed."""
    rules = design_rules_of(ctx)
    odd = next(iter([rules.fault] if rules.fault else rules.doubts), None) if rules is not None else None
    if rules is not None and odd is not None:
        where = f"{rules.path.name if rules.path else 'design rules'}:{odd.line}"
        how = f"correct {where}; Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it"
        raise MissingFact(f"the custom design rules ({where}: {odd.what})", how)
    return rules


def leading_somewhere(ctx: Context) -> frozenset[int]:
    """Return the nets that have a track, or two pads to be joined: not the unused pins of a part."""
    tracked, pads = distinct(ctx.board.tracks.net), ctx.board.pads.net
    padded, counts = np.unique(pads[pads >= 0], return_counts=True)
    return frozenset(tracked.tolist()) | frozenset(padded[counts > 1].tolist())


def configured_geometries(ctx: Context) -> tuple[Intent, ...]:
    """Return what is intended for the controlled nets, on layers where they run, or that a rule or profile names.

    Raises:
        MissingFact: nets are controlled, and the board's design rules cannot be read, or KiCad ignores them.
    """
    asked = ctx.get(nets_by_target)
    if not asked:
        return ()
    rules = readable_rules(ctx)
    by_net = _Configured(ctx, rules)
    lines: dict[NetTarget, list[RoutedLine]] = {}
    all_lines = ctx.get(controlled_lines)
    for found in counted(all_lines):
        lines.setdefault(found.target, []).append(found.line)
    touched = {net for found in all_lines for net in found.line.nets}
    merged: dict[tuple[object, ...], Intent] = {}
    used = leading_somewhere(ctx)
    for target, nets in asked.items():
        for intent in _of_target(by_net, target, [net for net in nets if net in used], lines.get(target, []), touched):
            geometry = intent.geometry
            of = (target.ohm, target.kind, target.tolerance_pct, intent.index, intent.is_pair)
            merged.setdefault((*of, geometry.width, geometry.gap, geometry.doubts), intent)
    return tuple(sorted(merged.values(), key=lambda i: i.index))


@workpiece
class _Configured:
    """Intended geometries by net; nets of the same classes share one where no rule tests names."""

    ctx: Context
    rules: DesignRules | None

    def __post_init__(self) -> None:
        self._by_name = asks_by_name(self.rules)
        self._known: dict[tuple[object, ...], tuple[ConfiguredGeometry, ...]] = {}

    def key(self, net: int) -> tuple[object, ...]:
        name = self.ctx.board.nets[net]
        classes = self.ctx.board.project.net_classes_of.get(name, ())
        return classes, self.is_pair(net), name if self._by_name else None

    def is_pair(self, net: int) -> bool:
        return self.ctx.pairs.complement_of(net) is not None

    def of(self, net: int) -> tuple[ConfiguredGeometry, ...]:
        key = self.key(net)
        if key not in self._known:
            name = self.ctx.board.nets[net]
            self._known[key] = configured_geometry(self.ctx.board, name, self.rules, in_pair=self.is_pair(net))
        return self._known[key]


def _of_target(
    by_net: _Configured, target: NetTarget, nets: list[int], lines: list[RoutedLine], touched: set[int]
) -> Iterator[Intent]:
    """Yield the intents of one target's nets: alike nets together."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for net in nets:
        alike.setdefault(by_net.key(net), []).append(net)
    for group in alike.values():
        members = set(group)
        mine = [line for line in lines if members.intersection(line.nets)]
        is_routed = not touched.isdisjoint(members)
        is_pair = by_net.is_pair(group[0])
        for index, geometry in enumerate(by_net.of(group[0])):
            here = tuple(line for line in mine if line.layer == index)
            if not here and (is_routed or not _names_layer(by_net.ctx, index, geometry)):
                continue
            if geometry.doubts or _is_meant(geometry, is_pair=is_pair):
                references = _references(by_net.ctx, geometry, here)
                yield Intent(target, index, geometry, here, references, is_pair)


def _names_layer(ctx: Context, index: int, geometry: ConfiguredGeometry) -> bool:
    """Tell whether the layer itself is named, and is not a plane: then it is meant before anything is routed."""
    of_layer = any(said is not None and said.of_layer for said in (geometry.width, geometry.gap))
    return of_layer and not ctx.uses[index].is_plane


def _is_meant(geometry: ConfiguredGeometry, *, is_pair: bool) -> bool:
    said = (geometry.width, geometry.gap) if is_pair else (geometry.width,)
    return all(statement is not None and statement.is_meant for statement in said)


def _references(ctx: Context, geometry: ConfiguredGeometry, here: tuple[RoutedLine, ...]) -> References | None:
    index_of = {layer.name: k for k, layer in enumerate(ctx.board.copper_layers)}
    if geometry.references is not None:
        above, below = geometry.references
        own = index_of[geometry.layer]
        named = (index_of.get(above or "", own), index_of.get(below or "", own))
        return (named[0] if named[0] < own else None, named[1] if named[1] > own else None)
    followed = [line for line in here if _same(geometry, line)]
    return (followed or list(here))[0].references if here else None


def _same(geometry: ConfiguredGeometry, line: RoutedLine) -> bool:
    if geometry.width_mm is None or abs(line.width_mm - geometry.width_mm) > SAME_WIDTH_MM:
        return False
    if line.gap_mm is None:
        return not line.is_pair
    return geometry.gap_mm is not None and abs(line.gap_mm - geometry.gap_mm) <= SAME_GAP_MM
