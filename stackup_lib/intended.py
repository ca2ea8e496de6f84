"""The width and gap that KiCad was told to route a net with, per copper layer."""

from __future__ import annotations

from stackup_lib.board import Board
from stackup_lib.design_rules import DesignRule, DesignRules
from stackup_lib.facts import Confidence
from stackup_lib.frozen import Frozen
from stackup_lib.kicad.rules_conditions import TrackOfNet, holds

_WIDTH, _GAP = "track_width", "diff_pair_gap"


class IntendedGeometry(Frozen):
    """What is meant for one layer; None where nobody says.

    Attributes:
        source: file and line of each value, in words.
        confidence: low where a later rule may apply, or applies and states limits without a preferred value.
    """

    layer: str
    width_mm: float | None
    gap_mm: float | None
    source: str
    confidence: Confidence


def intended_geometry(
    board: Board, net: str, rules: DesignRules | None, *, in_pair: bool | None = None
) -> tuple[IntendedGeometry, ...]:
    """Return width and gap per copper layer, top to bottom: the last rule that applies decides, then the net class.

    Rules of a file with a fault are not used: KiCad ignores them. Only preferred (`opt`) values are intentions, or
    a minimum that is also the maximum.
    """
    usable = rules.rules if rules is not None and rules.fault is None else ()
    file = rules.path.name if rules is not None and rules.path is not None else "design rules"
    names = board.project.net_classes_of.get(net, ()) or ("Default",)
    found = []
    for index, layer in enumerate(board.copper_layers):
        outer = index in (0, board.layer_count - 1)
        track = TrackOfNet(net=net, classes=names, layer=layer.name, in_pair=in_pair)
        states = [(rule, _applies(rule, track, outer=outer)) for rule in usable]
        found.append(_of_layer(board, net, layer.name, states, file, in_pair=in_pair))
    return tuple(found)


def _of_layer(
    board: Board,
    net: str,
    layer: str,
    states: list[tuple[DesignRule, bool | None]],
    file: str,
    *,
    in_pair: bool | None,
) -> IntendedGeometry:
    of_class = board.project.effective(net)
    width = of_class.diff_pair_width_mm if in_pair else of_class.track_width_mm
    values = {_WIDTH: width, _GAP: of_class.diff_pair_gap_mm}
    sources = dict.fromkeys(values, f"net class {of_class.name}")
    doubtful: set[str] = set()
    for rule, state in states:
        for constraint in rule.constraints if state is not False else ():
            exact = constraint.min_mm if constraint.min_mm == constraint.max_mm else None
            value = constraint.opt_mm if constraint.opt_mm is not None else exact
            if constraint.kind not in values:
                continue
            if state is None or value is None:
                doubtful.add(constraint.kind)
                continue
            values[constraint.kind] = value
            sources[constraint.kind] = f"{file}:{constraint.line}"
            doubtful.discard(constraint.kind)
    return IntendedGeometry(
        layer=layer,
        width_mm=values[_WIDTH],
        gap_mm=values[_GAP],
        source=f"width: {sources[_WIDTH]}; gap: {sources[_GAP]}",
        confidence=Confidence.LOW if doubtful else Confidence.HIGH,
    )


def _applies(rule: DesignRule, track: TrackOfNet, *, outer: bool) -> bool | None:
    if rule.layer is not None:
        inside = {"inner": not outer, "outer": outer}.get(rule.layer)
        if inside is None:
            inside = holds(f"A.Layer == '{rule.layer}'", track)
        if inside is not True:
            return inside
    return holds(rule.condition, track)
