"""The via that KiCad is configured to place for a net, and the limits that its own check holds that via against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stackup_lib.board.board import Board, NetClass
from stackup_lib.board.design_rules import Constraint, DesignRule, DesignRules
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.condition_tree import Call, Leaf, is_like, leaves, parse_condition
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_conditions import condition_holds, leaf_of_net
from stackup_lib.kicad.design_rules.via_settings import BOARD_SETUP, ViaSettings
from stackup_lib.nets.design_widths import Statement

KINDS = {"via_diameter": "diameter", "hole_size": "hole", "annular_width": "ring"}
"""Constraints on a via, and what each is about."""

NANOMETRE = 1e-6
ELSEWHERE = r"A\.((inside|intersects|enclosedBy)\w+|memberOf\w*|fromTo|hasComponentClass)"
"""Functions that single out places and parts: what they say does not hold for a class at large."""
_OF_OTHER_VIAS = frozenset(["A.isMicroVia", "A.isBlindVia", "A.isBuriedVia", "A.isBlindBuriedVia"])


@record
class ViaLimits:
    """The minimum and the maximum that KiCad's check lets pass; None for no limit."""

    least: Statement | None = None
    largest: Statement | None = None

    def broken_by(self, value_mm: float) -> Statement | None:
        """Return the limit that a value breaks."""
        if self.least is not None and value_mm < self.least.value_mm - NANOMETRE:
            return self.least
        if self.largest is not None and value_mm > self.largest.value_mm + NANOMETRE:
            return self.largest
        return None


@record
class ConfiguredVia:
    """A through via as it is configured; None where not specified.

    Attributes:
        diameter, hole: preferred sizes, the last rule before the net class.
        limits: on `diameter`, `hole` and `ring`.
        settings: Board Setup's constraints, below which KiCad's router places nothing.
        doubts: rules, with file and line, that may state one of these and cannot be followed.
    """

    diameter: Statement | None
    hole: Statement | None
    limits: dict[str, ViaLimits]
    settings: ViaSettings = ViaSettings()
    doubts: tuple[str, ...] = ()

    @property
    def asked_mm(self) -> tuple[float, float] | None:
        """Diameter and hole as configured."""
        return (self.diameter.value_mm, self.hole.value_mm) if self.diameter and self.hole else None

    @property
    def placed_mm(self) -> tuple[float, float] | None:
        """Diameter and hole as KiCad's router places them: no smaller than Board Setup allows."""
        if self.asked_mm is None:
            return None
        least = (self.settings.least_diameter_mm or 0.0, self.settings.least_drill_mm or 0.0)
        return max(self.asked_mm[0], least[0]), max(self.asked_mm[1], least[1])

    @property
    def source(self) -> str:
        """The source, as text; both where diameter and hole come from different places."""
        return " and ".join(dict.fromkeys(said.source for said in (self.diameter, self.hole) if said))


def configured_via(
    board: Board, net: str, rules: DesignRules | None, settings: ViaSettings, *, in_pair: bool
) -> ConfiguredVia:
    """Return the through via of a net as KiCad 10 works it out.

    The preferred size, the minimum and the maximum come each from the last rule that applies and states it; then from
    the net class and from Board Setup, whose limits a rule replaces, be it stricter or not (seen on KiCad 10.0.6).
    Rules of a file with a fault are not used.
    """
    usable = rules.rules if rules is not None and rules.fault is None else ()
    file = rules.path.name if rules is not None and rules.path is not None else "design rules"
    project = board.project
    classes = joined_classes(project, net)
    chain = [project.classes[name] for name in (*project.net_classes_of.get(net, ()), "Default")]
    preferred = {"diameter": _of_class(chain, "via_diameter_mm"), "hole": _of_class(chain, "via_drill_mm")}
    least: dict[str, Statement | None] = _of_settings(settings)
    largest: dict[str, Statement | None] = {}
    unclear: list[tuple[str, Constraint]] = []
    outer = _outer_names(board)
    for rule in usable:
        stated = [(KINDS[c.kind], c) for c in rule.constraints if _is_of_via(rule, c, outer)]
        applies = via_meets(rule, net, classes, in_pair=in_pair) if stated else False
        for what, constraint in stated if applies is not False else ():
            if applies is None or not constraint.is_understood:
                unclear.append((what, constraint))
                continue
            limits = (constraint.opt_mm, constraint.min_mm, constraint.max_mm)
            for values, value_mm in zip((preferred, least, largest), limits, strict=True):
                if value_mm is not None:
                    values[what] = _stated(rule, constraint, value_mm, file)
    found = ConfiguredVia(
        diameter=preferred.get("diameter"),
        hole=preferred.get("hole"),
        limits={what: ViaLimits(least=least.get(what), largest=largest.get(what)) for what in KINDS.values()},
        settings=settings,
    )
    doubts = dict.fromkeys(f"{file}:{c.line}" for what, c in unclear if _matters(found, what, c))
    return replace(found, doubts=tuple(doubts))


def _matters(via: ConfiguredVia, what: str, constraint: Constraint) -> bool:
    """Tell whether a rule that may apply would change anything: the size, or whether a limit is broken."""
    if constraint.opt_mm is not None or not constraint.is_understood or via.placed_mm is None:
        return True
    diameter, hole = via.placed_mm
    value = {"diameter": diameter, "hole": hole, "ring": (diameter - hole) / 2}[what]
    least, largest = (
        None if limit is None else Statement(value_mm=limit, name="", source="")
        for limit in (constraint.min_mm, constraint.max_mm)
    )
    own = ViaLimits(least=least, largest=largest)
    return own.broken_by(value) is not None or via.limits[what].broken_by(value) is not None


def via_meets(rule: DesignRule, net: str, classes: tuple[str, ...], *, in_pair: bool) -> bool | None:
    """Tell whether a rule holds for a net's through vias wherever they are; None where that is not known.

    Args:
        rule: the rule; its layer is not looked at.
        net: name of the net.
        classes: the net's classes as KiCad joins them.
        in_pair: the net is half of a differential pair.
    """
    values = {"A.NetName": (net,), "A.Type": ("Via",), "A.Via_Type": ("Through",)}

    def of(leaf: Leaf) -> bool | None:
        if isinstance(leaf, Call) and leaf.word == "A.isPlated":
            return True
        return False if _never_holds(leaf) else leaf_of_net(leaf, classes, values, in_pair=in_pair)

    return condition_holds(rule.condition, of)


def _never_holds(leaf: Leaf) -> bool:
    """Layers and second objects do not compare with a lone through via at all, be it with == or with !=."""
    if isinstance(leaf, Call):
        return bool(re.fullmatch(ELSEWHERE, leaf.word)) or leaf.word in _OF_OTHER_VIAS
    return leaf.word == "A.Layer" or leaf.word.startswith("B.")


def rules_by_net(board: Board, rules: DesignRules | None) -> tuple[DesignRule, ...]:
    """Return a board's via rules that test more than a net's classes: by them two nets of a class may differ."""
    outer = _outer_names(board)
    return tuple(
        rule
        for rule in (rules.rules if rules is not None else ())
        if any(_is_of_via(rule, constraint, outer) for constraint in rule.constraints)
        and any(leaf.word == "A.NetName" for leaf in _leaves_of(rule))
    )


def _leaves_of(rule: DesignRule) -> Iterator[Leaf]:
    condition = parse_condition(rule.condition or "")
    return iter(()) if condition is None else leaves(condition)


def _outer_names(board: Board) -> tuple[str, ...]:
    layers = board.copper_layers
    return tuple(name for layer in (layers[0], layers[-1]) for name in layer.names) if layers else ()


def _is_of_via(rule: DesignRule, constraint: Constraint, outer: tuple[str, ...]) -> bool:
    """A through via is on every layer; its ring is held against rules of the outer ones (seen on KiCad 10.0.6)."""
    if constraint.kind != "annular_width" or rule.layer in (None, "outer"):
        return constraint.kind in KINDS
    return any(is_like(name, rule.layer, minds_case=True) for name in outer)


def _stated(rule: DesignRule, constraint: Constraint, value_mm: float, file: str) -> Statement:
    return Statement(value_mm=value_mm, name=rule.name, source=f"{file}:{constraint.line}")


def _of_class(chain: list[NetClass], field: str) -> Statement | None:
    for net_class in chain:
        value: float | None = getattr(net_class, field)
        if value:
            return Statement(value_mm=value, name=net_class.name, source=f"net class {net_class.name}")
    return None


def _of_settings(settings: ViaSettings) -> dict[str, Statement | None]:
    found = {
        "diameter": settings.least_diameter_mm,
        "hole": settings.least_drill_mm,
        "ring": settings.least_ring_mm,
    }
    return {
        what: None if value is None else Statement(value_mm=value, name=BOARD_SETUP, source=BOARD_SETUP)
        for what, value in found.items()
    }
