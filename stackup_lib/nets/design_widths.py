"""The width and gap that KiCad is configured to route a net with, per copper layer."""

from __future__ import annotations

import math
from dataclasses import replace

from stackup_lib.board.board import Board, NetClass, TuningLayer
from stackup_lib.board.design_rules import Constraint, DesignRule, DesignRules
from stackup_lib.core.facts import Confidence
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_conditions import TrackOfNet, holds

DEFAULT_TRACK_MM, DEFAULT_PAIR_MM, DEFAULT_GAP_MM = 0.2, 0.2, 0.25
"""What KiCad 10 writes into a new net class; a class that still holds it has not been edited."""

_WIDTH, _GAP = "track_width", "diff_pair_gap"
_OF_DEFAULT = "net class Default"
_KICADS_OWN = {"track_width_mm": DEFAULT_TRACK_MM, "diff_pair_width_mm": DEFAULT_PAIR_MM}


@record
class Statement:
    """One value and who says it.

    Attributes:
        name: of the rule, net class or tuning profile.
        source: file and line of a rule, else what and its name.
        of_layer: said of this layer; False for what is said of every layer alike.
        is_meant: the user chose it; False for what the class Default or KiCad's own defaults say.
    """

    value_mm: float
    name: str
    source: str
    of_layer: bool = False
    is_meant: bool = True


@record
class ConfiguredGeometry:
    """What is configured for one layer; None where not specified.

    Attributes:
        width, gap: who says what.
        doubts: rules, with file and line, that may apply, or that bar what is said and prefer nothing.
        references: planes above and below that a tuning profile names; None where none does.
    """

    layer: str
    width: Statement | None
    gap: Statement | None
    doubts: tuple[str, ...] = ()
    references: tuple[str | None, str | None] | None = None

    @property
    def width_mm(self) -> float | None:
        """Width of the trace."""
        return self.width.value_mm if self.width else None

    @property
    def gap_mm(self) -> float | None:
        """Gap of the pair."""
        return self.gap.value_mm if self.gap else None

    @property
    def source(self) -> str:
        """The source, as text; both where width and gap come from different places."""
        said = [statement for statement in (self.width, self.gap) if statement]
        places = {
            (statement.name, statement.source.rsplit(":", 1)[0]): statement.source for statement in reversed(said)
        }
        return " and ".join(reversed(places.values()))

    @property
    def confidence(self) -> Confidence:
        """Low where a rule leaves it open."""
        return Confidence.LOW if self.doubts else Confidence.HIGH


def configured_geometry(
    board: Board, net: str, rules: DesignRules | None, *, in_pair: bool | None = None
) -> tuple[ConfiguredGeometry, ...]:
    """Return width and gap per copper layer, top to bottom: last rule that applies, tuning profile, net class.

    Rules of a file with a fault are not used: KiCad ignores them. Only preferred (`opt`) values are intentions, or
    a minimum that is also the maximum; other limits leave a value that keeps them.
    """
    usable = rules.rules if rules is not None and rules.fault is None else ()
    file = rules.path.name if rules is not None and rules.path is not None else "design rules"
    names = joined_classes(board.project, net)
    width, gap = _of_class(board, net, in_pair=bool(in_pair))
    found = []
    for index, layer in enumerate(board.copper_layers):
        outer = index in (0, board.layer_count - 1)
        track = TrackOfNet(net=net, classes=names, layers=layer.names, in_pair=in_pair)
        states = [(rule, applies(rule, track, outer=outer)) for rule in usable]
        start = ConfiguredGeometry(layer=layer.name, width=width, gap=gap if in_pair is not False else None)
        found.append(_by_rules(_by_profile(board, net, start), states, file, in_pair=in_pair))
    return tuple(found)


def asks_by_name(rules: DesignRules | None) -> bool:
    """Tell whether a rule on width or gap tests more than a net's classes: then two nets of a class may differ."""
    return any("NetName" in (rule.condition or "") for rule in (rules.rules if rules else ()) if _limits(rule))


def _limits(rule: DesignRule) -> bool:
    return any(constraint.kind in (_WIDTH, _GAP) for constraint in rule.constraints)


def _of_class(board: Board, net: str, *, in_pair: bool) -> tuple[Statement | None, Statement | None]:
    """Width and gap from the first class that sets each; as meant counts what Default and KiCad do not say too."""
    classes = board.project.classes
    chain = [classes[name] for name in board.project.net_classes_of.get(net, ())]
    field = "diff_pair_width_mm" if in_pair else "track_width_mm"
    default = classes["Default"]
    width = _first(chain, default, field, _KICADS_OWN[field])
    gap = _first(chain, default, "diff_pair_gap_mm", DEFAULT_GAP_MM)
    if in_pair and width and gap and (width.is_meant or gap.is_meant):
        # Who edits one of the two has seen the other, where his own class states it.
        return _own(width), _own(gap)
    return width, gap


def _own(said: Statement) -> Statement:
    return replace(said, is_meant=said.source != _OF_DEFAULT)


def _first(chain: list[NetClass], default: NetClass, field: str, kicads_own: float) -> Statement | None:
    of_default: float | None = getattr(default, field)
    for net_class in chain:
        value: float | None = getattr(net_class, field)
        if value is not None:
            is_meant = value not in (of_default, kicads_own)
            return Statement(
                value_mm=value, name=net_class.name, source=f"net class {net_class.name}", is_meant=is_meant
            )
    if of_default is None:
        return None
    return Statement(value_mm=of_default, name=default.name, source=_OF_DEFAULT, is_meant=False)


def _by_profile(board: Board, net: str, found: ConfiguredGeometry) -> ConfiguredGeometry:
    """Replace what the class says by what its tuning profile says of the layer."""
    name = board.project.effective(net).tuning_profile
    profile = next((p for p in board.project.tuning_profiles if p.name == name), None) if name else None
    row = next((r for r in profile.layers if r.signal_layer == found.layer), None) if profile else None
    if profile is None or row is None:
        return found
    said = f"tuning profile {profile.name}"
    width, gap = found.width, found.gap
    if row.width_mm:
        width = Statement(value_mm=row.width_mm, name=profile.name, source=said, of_layer=True)
    if row.gap_mm and profile.differential and gap is not None:
        gap = Statement(value_mm=row.gap_mm, name=profile.name, source=said, of_layer=True)
    return replace(found, width=width, gap=gap, references=_references(row))


def _references(row: TuningLayer) -> tuple[str | None, str | None] | None:
    return (row.top_reference, row.bottom_reference) if row.top_reference or row.bottom_reference else None


def _by_rules(
    found: ConfiguredGeometry, states: list[tuple[DesignRule, bool | None]], file: str, *, in_pair: bool | None
) -> ConfiguredGeometry:
    values = {_WIDTH: found.width, _GAP: found.gap}
    doubts: dict[str, list[str]] = {_WIDTH: [], _GAP: []}
    for rule, state in states:
        for constraint in rule.constraints if state is not False else ():
            if constraint.kind not in values or (constraint.kind == _GAP and in_pair is False):
                continue
            exact = constraint.min_mm if constraint.min_mm == constraint.max_mm else None
            value = constraint.opt_mm if constraint.opt_mm is not None else exact
            where = f"{file}:{constraint.line}"
            so_far = values[constraint.kind]
            if value is None and so_far is not None and _meets(so_far.value_mm, constraint):
                continue  # bounds that the value keeps leave it as it is
            if state is None or value is None:
                doubts[constraint.kind].append(where)
                continue
            values[constraint.kind] = Statement(
                value_mm=value, name=rule.name, source=where, of_layer=rule.layer is not None
            )
            doubts[constraint.kind] = []
    all_doubts = tuple(dict.fromkeys(doubts[_WIDTH] + doubts[_GAP]))
    return replace(found, width=values[_WIDTH], gap=values[_GAP], doubts=all_doubts)


def _meets(value_mm: float, limits: Constraint) -> bool:
    least = -math.inf if limits.min_mm is None else limits.min_mm
    most = math.inf if limits.max_mm is None else limits.max_mm
    return limits.is_understood and least <= value_mm <= most


def applies(rule: DesignRule, track: TrackOfNet, *, outer: bool) -> bool | None:
    """Return whether a rule applies to a track on its layer; None where that is not known."""
    if rule.layer is not None:
        inside = {"inner": not outer, "outer": outer}.get(rule.layer)
        if inside is None:
            inside = track.is_on(rule.layer)
        if not inside:
            return False
    return holds(rule.condition, track)
