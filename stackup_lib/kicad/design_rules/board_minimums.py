"""Board Setup's minimums as the project states them, or a KiCad 4 or 5 board itself, and which items they leave out.

Each was tried on KiCad 10.0.6. A minimum of 0 is none. A custom design rule that applies to an item and states a
minimum takes the place of Board Setup's, be it stricter or not; one that only prefers a value or states a maximum does
not. Blind and buried vias keep the minimums of through vias.
"""

from __future__ import annotations

from dataclasses import replace

from stackup_lib.board.board import Board
from stackup_lib.board.design_rules import DesignRule, DesignRules
from stackup_lib.board.project import Project
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_conditions import condition_holds, leaf_of_net

LARGEST_MM = 100.0
"""No minimum is larger: what the file states then is no length."""


@record
class Minimum:
    """One minimum of Board Setup.

    Attributes:
        what: what it is about, as text.
        label: its field in Board Setup, Constraints.
        key: its name in the project.
        check: KiCad's type of violation, by which its severity is set and violations are excluded.
        constraint: the constraint of a custom design rule that takes its place.
        value_mm: the minimum.
    """

    what: str
    label: str
    key: str
    check: str
    constraint: str
    value_mm: float = 0.0


def _minimum(what: str, label: str, key: str, check: str, constraint: str) -> Minimum:
    return Minimum(what=what, label=label, key=key, check=check, constraint=constraint)


TRACK_WIDTH = _minimum("track width", "Minimum track width", "min_track_width", "track_width", "track_width")
VIA_DIAMETER = _minimum("via diameter", "Minimum via diameter", "min_via_diameter", "via_diameter", "via_diameter")
RING = _minimum("annular ring", "Minimum annular width", "min_via_annular_width", "annular_width", "annular_width")
HOLE = _minimum("hole diameter", "Minimum through hole", "min_through_hole_diameter", "drill_out_of_range", "hole_size")
MICROVIA_DIAMETER = _minimum(
    "microvia diameter", "Minimum uVia diameter", "min_microvia_diameter", "via_diameter", "via_diameter"
)
MICROVIA_HOLE = _minimum(
    "microvia hole", "Minimum uVia hole", "min_microvia_drill", "microvia_drill_out_of_range", "hole_size"
)
HOLE_TO_HOLE = _minimum("hole to hole", "Hole to hole clearance", "min_hole_to_hole", "hole_to_hole", "hole_to_hole")
CLEARANCE = _minimum("clearance", "Minimum clearance", "min_clearance", "clearance", "clearance")
EDGE = _minimum(
    "copper to edge",
    "Copper to edge clearance",
    "min_copper_edge_clearance",
    "copper_edge_clearance",
    "edge_clearance",
)
ALL = (TRACK_WIDTH, VIA_DIAMETER, RING, HOLE, MICROVIA_DIAMETER, MICROVIA_HOLE, HOLE_TO_HOLE, CLEARANCE)


def board_minimums(project: Project) -> tuple[Minimum, ...]:
    """Return the minimums that hold: those stated, not 0, and whose check is not set to `ignore` in the project."""
    found = []
    for one in ALL:
        value = stated_mm(project, one)
        if value is not None and project.severities.get(one.check) != "ignore":
            found.append(replace(one, value_mm=value))
    return tuple(found)


def stated_mm(project: Project, minimum: Minimum) -> float | None:
    """Return what the project states for a minimum; None where that is nothing, 0 or no length."""
    value = project.limits.get(minimum.key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LARGEST_MM:
        return None
    return float(value)


def nets_with_own_minimum(board: Board, rules: DesignRules | None, constraint: str) -> frozenset[int] | None:
    """Return the nets to some of whose items a custom design rule gives a minimum of its own, or may give one.

    Returns:
        Nets by index; None for all of them. Only names and classes of nets are looked into: a rule that depends on
        anything else may apply to any item of the nets that it does not rule out by name.
    """
    usable = rules.rules if rules is not None and rules.fault is None else ()
    asking = [rule for rule in usable if _states_minimum(rule, constraint)]
    if not asking:
        return frozenset()
    if any(not (rule.condition or "").strip() for rule in asking):
        return None
    found, by_class = set(), dict[tuple[str, ...], list[DesignRule]]()
    for net, name in enumerate(board.nets):
        classes = joined_classes(board.project, name)
        if classes not in by_class:
            by_class[classes] = [rule for rule in asking if _applies(rule, None, classes) is not False]
        if any(_applies(rule, name, classes) is not False for rule in by_class[classes]):
            found.add(net)
    return None if len(found) == len(board.nets) else frozenset(found)


def _states_minimum(rule: DesignRule, constraint: str) -> bool:
    stated = [one for one in rule.constraints if one.kind == constraint]
    return any(one.min_mm is not None or not one.is_understood for one in stated)


def _applies(rule: DesignRule, net: str | None, classes: tuple[str, ...]) -> bool | None:
    """Tell whether a rule applies to all items of a net, of any net of these classes where none is given, or to none.

    Returns:
        None where that is not known.
    """
    values = {} if net is None else {"A.NetName": (net,)}
    return condition_holds(rule.condition, lambda leaf: leaf_of_net(leaf, classes, values))
