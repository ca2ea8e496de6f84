"""Copper of an order's layers: weights, thicknesses and foils, and what they ask of the dielectrics next to them.

Lengths in mm.
"""

from collections.abc import Mapping

from stackup_lib.materials import FoilGrade, clad_foils, inner_copper_mm, outer_foil_oz
from stackup_lib.synthesis.arrange import Order, orders
from stackup_lib.synthesis.build_rules import GapNeeds
from stackup_lib.synthesis.candidates import OUTER_COPPER_MM, SIGNAL_OZ
from stackup_lib.synthesis.goals import Goals, LaidOut, carries_fast_outside

HEAVIER_SIGNAL_OZ = 1.0
"""Inner signal layers of ordinary lines are made of this as well."""


def bare_mm(order: Order, goals: Goals) -> float:
    """Return the thickness of copper and solder mask."""
    coat = goals.finish.mask
    mask_mm = 0.0 if coat is None else 2 * coat.on_trace_mm
    return sum(layer_mm(order, k, goals) for k in range(len(order.layers))) + mask_mm


def layer_oz(order: Order, index: int, goals: Goals) -> float:
    """Return the copper weight of a layer: the heavier of the two that share its core where cores are clad equally.

    A ground plane that shares its core with a signal layer has the signal's weight.
    """
    if goals.laid_out is not None:
        return _laid_out_oz(order, index, goals, goals.laid_out)
    own = _own_oz(order, index, goals)
    complement = order.opposite_face(index)
    if complement is None or not goals.build_rules.equal_cladding:
        return own
    kinds = {order.layers[index], order.layers[complement]}
    if "G" in kinds and kinds & set("OFS"):
        return SIGNAL_OZ
    return max(own, _own_oz(order, complement, goals))


def row_oz(order: Order, index: int, goals: Goals) -> float | None:
    """Return the weight that a stackup states for a layer: of an outer one the foil that is plated to its thickness."""
    if goals.laid_out is None and order.layers[index] == "O":
        return outer_foil_oz(layer_mm(order, index, goals))
    return layer_oz(order, index, goals)


def _own_oz(order: Order, index: int, goals: Goals) -> float:
    kind = order.layers[index]
    if kind == "G" and order.is_plated_inside(index):
        return SIGNAL_OZ  # the plating adds to the foil, as on outer layers
    if {kind, order.layers[-1 - index]} == {"G", "P"}:
        return max(goals.power_copper_oz, goals.ground_copper_oz)  # mirrored layers are alike
    return goals.power_copper_oz if kind == "P" else goals.ground_copper_oz if kind == "G" else SIGNAL_OZ


def _laid_out_oz(order: Order, index: int, goals: Goals, laid_out: LaidOut) -> float:
    """Return the weight of a layer that stays: of those that are alike the signals', if any, else the heaviest."""
    tied = _tied(order, index, goals)
    has_power = any(order.layers[k] == "P" for k in tied)
    return max(_signals_oz(tied, order, goals), laid_out.least_power_oz if has_power else 0.0)


def _signals_oz(tied: frozenset[int], order: Order, goals: Goals) -> float:
    """Return the weight of the signal layers among some, of all of them where none carries signals."""
    signals = [k for k in tied if order.layers[k] in "OFS"]
    return max(_standing_oz(order, k, goals) for k in signals or tied)


def _most_oz(tied: frozenset[int], order: Order, goals: Goals) -> float:
    """Return the heaviest that signal layers may become for a power plane: rather 1 oz than a board routed anew."""
    slow = all(order.layers[k] in "SGP" for k in tied)
    return max(_signals_oz(tied, order, goals), HEAVIER_SIGNAL_OZ if slow else 0.0)


def _standing_oz(order: Order, index: int, goals: Goals) -> float:
    """Return the weight that a layer has as it stands, else the usual one; plated foil is thin."""
    known = goals.laid_out.copper_oz[index] if goals.laid_out else None
    return _own_oz(order, index, goals) if known is None or order.is_plated_inside(index) else known


def _tied(order: Order, index: int, goals: Goals) -> frozenset[int]:
    """Return the layers of one weight with a layer: its mirror, and the other sides of cores that are clad equally."""
    found, todo = set(), [index]
    while todo:
        one = todo.pop()
        if one in found:
            continue
        found.add(one)
        complement = order.opposite_face(one) if goals.build_rules.equal_cladding else None
        todo += [len(order.layers) - 1 - one, *(() if complement is None else (complement,))]
    return frozenset(found)


def keeps_signal_weights(order: Order, goals: Goals) -> bool:
    """Tell whether no signal layer takes a plane's weight because they share a core, or mirror each other."""
    layers = order.layers
    if goals.laid_out is not None:
        tied = {k: _tied(order, k, goals) for k, kind in enumerate(layers) if kind in "OFS"}
        return all(layer_oz(order, k, goals) <= _most_oz(tied[k], order, goals) for k in tied)
    return all(layer_oz(order, k, goals) == SIGNAL_OZ for k, kind in enumerate(order.layers) if kind in "OFS")


def orders_to_try(goals: Goals) -> tuple[Order, ...]:
    """Return the orders for the goals, last those of build-ups on a sub-lamination with cores outside.

    Those are tried where each foil build would give a signal layer the weight of a plane.

    Raises:
        ConfigError: the required layers do not fit the number of layers.
    """
    found = orders(goals)
    if goals.build_ups and goals.build == "foil" and not any(keeps_signal_weights(one, goals) for one in found):
        capped = orders(goals.model_copy(update={"build": "core"}))
        found += tuple(one for one in capped if one not in found)
    return found


def gap_needs(order: Order, gap: int, goals: Goals) -> GapNeeds:
    """Return what a dielectric must have for the copper on either side, and for the voltage of a power plane."""
    outer = gap in (0, len(order.gaps) - 1) and order.gaps[gap] == "p"
    inner = (gap + 1, gap) if gap == 0 else (gap, gap + 1)
    weights = [SIGNAL_OZ if outer and k in (0, len(order.layers) - 1) else layer_oz(order, k, goals) for k in inner]
    needs = goals.build_rules.needs(*weights, outer=outer)
    if goals.power_gap_mm is not None and "P" in order.layers[gap : gap + 2]:
        needs = needs.and_those(GapNeeds(gap_mm=goals.power_gap_mm))
    return needs


def layer_mm(order: Order, index: int, goals: Goals) -> float:
    """Return the finished copper thickness of a layer; inner layers of build-ups are plated as outer ones are."""
    outer_mm = goals.finish.outer_copper_mm or OUTER_COPPER_MM
    if order.layers[index] == "O":
        return outer_mm
    inner_mm = inner_copper_mm(layer_oz(order, index, goals))
    return round(inner_mm + outer_mm - inner_copper_mm(SIGNAL_OZ), 4) if order.is_plated_inside(index) else inner_mm


def foil_of(order: Order, index: int, families: Mapping[int, str], wanted: FoilGrade) -> FoilGrade:
    """Return the foil of a layer: as smooth as wanted, or as its core's maker clads it; outer foils are the fab's.

    `families` holds the laminate of each dielectric.
    """
    complement = order.opposite_face(index)
    offered = None if complement is None else clad_foils(families[min(index, complement)])
    return wanted if offered is None else offered.least(wanted) or offered.smoothest


def with_smooth_foil(order: Order, goals: Goals) -> frozenset[int]:
    """Return the layers whose foil carries high-speed currents, and the other face of their cores: both have one foil.

    These are high-speed layers and the planes that face them.
    """
    last = len(order.layers) - 1
    fast = {k for k, kind in enumerate(order.layers) if kind == "F"}
    if carries_fast_outside(goals):
        fast |= {0, last}
    smooth = {k for k in range(last + 1) if k in fast or (order.layers[k] == "G" and {k - 1, k + 1} & fast)}
    return frozenset(smooth.union(face for k in smooth if (face := order.opposite_face(k)) is not None))
