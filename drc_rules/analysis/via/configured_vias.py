"""The vias that net classes and custom design rules configure, each with its classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.targets.configured_geometries import design_rules_of, leading_somewhere, readable_rules
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.report.places import place_in
from stackup_lib.board.board import Ints, ViaKind
from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.via_settings import via_settings
from stackup_lib.nets.design_vias import NANOMETRE, ConfiguredVia, configured_via, rules_by_net, via_meets
from stackup_lib.nets.design_widths import Statement

PLACES_SHOWN = 20
"""Places listed with one finding."""


@record
class RequiredVia:
    """One via and all classes that configure it, with the same sizes and limits.

    Attributes:
        via: of the first of them.
        asked_by: who states diameter and hole, e.g. `net class FAST`.
        nets: the nets that are to get it, and lead somewhere.
    """

    via: ConfiguredVia
    asked_by: tuple[str, ...]
    nets: tuple[int, ...]

    @property
    def who(self) -> str:
        """The classes, as text; of many the first three."""
        classes = [said.removeprefix("net class ") for said in self.asked_by]
        if len(classes) == 1 or not all(said.startswith("net class ") for said in self.asked_by):
            return " and ".join(self.asked_by)
        if len(classes) > 3:
            return f"net classes {', '.join(classes[:3])} and {len(classes) - 3} more"
        return f"net classes {', '.join(classes[:-1])} and {classes[-1]}"


def configured_vias(ctx: Context) -> tuple[RequiredVia, ...]:
    """Return every configured via, in the order of the nets; none where no class states one.

    Raises:
        MissingFact: the board's design rules cannot be read, or KiCad ignores them.
    """
    found: dict[tuple[object, ...], list[tuple[ConfiguredVia, list[int]]]] = {}
    for via, nets in _by_classes(ctx, readable_rules(ctx)):
        if via.asked_mm is not None:
            found.setdefault(_alike(via), []).append((via, nets))
    return tuple(
        RequiredVia(
            via=group[0][0],
            asked_by=tuple(dict.fromkeys(via.source for via, _ in group)),
            nets=tuple(net for _, nets in group for net in nets),
        )
        for group in found.values()
    )


def via_of_net(ctx: Context, net: int) -> ConfiguredVia:
    """Return the via that KiCad is configured to place for a net; rules that KiCad ignores do not count."""
    try:
        rules = design_rules_of(ctx)
    except MissingFact:
        rules = None
    board = ctx.board
    limits = via_settings(board.project)
    return configured_via(board, board.nets[net], rules, limits, in_pair=_in_pair(ctx, net))


def _by_classes(ctx: Context, rules: DesignRules | None) -> Iterator[tuple[ConfiguredVia, list[int]]]:
    """Yield the via of nets that are alike to KiCad, and those nets."""
    board, by_name = ctx.board, rules_by_net(ctx.board, rules)
    limits = via_settings(board.project)
    joined: dict[tuple[str, ...], tuple[str, ...]] = {}
    alike: dict[tuple[object, ...], list[int]] = {}
    for net in sorted(leading_somewhere(ctx)):
        name, in_pair = board.nets[net], _in_pair(ctx, net)
        if not name:
            continue
        own = board.project.class_names_of(name)
        if own not in joined:
            joined[own] = joined_classes(board.project, name)
        answers = tuple(via_meets(rule, name, joined[own], in_pair=in_pair) for rule in by_name)
        alike.setdefault((own, in_pair, answers), []).append(net)
    for nets in alike.values():
        yield configured_via(board, board.nets[nets[0]], rules, limits, in_pair=_in_pair(ctx, nets[0])), nets


def _in_pair(ctx: Context, net: int) -> bool:
    return ctx.pairs.complement_of(net) is not None


def _alike(via: ConfiguredVia) -> tuple[object, ...]:
    limits = tuple((what, limit.least, limit.largest) for what, limit in sorted(via.limits.items()))
    return via.asked_mm, limits, via.doubts


def routed_like(ctx: Context, nets: tuple[int, ...] | None, size_mm: tuple[float, float]) -> Ints:
    """Return the rows of vias that are no microvias and have this diameter and hole; None for those of every net."""
    vias = ctx.board.vias
    same = (np.abs(vias.size_mm - size_mm[0]) < NANOMETRE) & (np.abs(vias.drill_mm - size_mm[1]) < NANOMETRE)
    same &= vias.kind != ViaKind.MICRO
    return np.flatnonzero(same if nets is None else same & np.isin(vias.net, nets))


def places_of(ctx: Context, rows: Ints) -> tuple[Location, ...]:
    """Where some vias are, the first of many."""
    return tuple(place_in(ctx.board, ctx.board.vias, row) for row in rows[:PLACES_SHOWN].tolist())


def need_no_doubt(via: ConfiguredVia) -> None:
    """Raise `MissingFact` where a rule that cannot be followed may say otherwise."""
    if via.doubts:
        how = f"{via.doubts[0]}: give the rule a condition on net class, net or type only"
        raise MissingFact(f"the via of the design rules ({via.doubts[0]})", how)


def broken_limit(via: ConfiguredVia, size_mm: tuple[float, float]) -> tuple[str, float, Statement] | None:
    """Return what of a via of this size fails KiCad's check, its value and the limit; None for nothing."""
    diameter, hole = size_mm
    for what, value in (("diameter", diameter), ("hole", hole), ("ring", ring_mm(size_mm))):
        limit = via.limits[what].broken_by(value)
        if limit is not None:
            return what, value, limit
    return None


def ring_mm(size_mm: tuple[float, float]) -> float:
    """Return the annular ring of a diameter and a hole, without the noise of KiCad's 0.19999999999999998."""
    return round((size_mm[0] - size_mm[1]) / 2, 6)


def describe_size(size_mm: tuple[float, float]) -> str:
    """Return diameter and hole as KiCad shows them, e.g. `0.45/0.2 mm`."""
    return f"{size_mm[0]:g}/{size_mm[1]:g} mm"
