"""KiCad's rule conditions for items of a net: true, false, or None for "cannot tell".

Only what holds for the whole net is decided. Areas, other items, and whatever else is not understood stay open: a
condition never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.condition_tree import Call, Comparison, Leaf, is_like, parse_condition, truth


@record
class TrackOfNet:
    """What a condition is evaluated for.

    Attributes:
        net: its name.
        classes: the net's classes as KiCad joins them (`joined_classes`).
        layers: what its layer is called: KiCad's name and the user's, and a rule may use either.
        in_pair: the net is half of a differential pair, None where not known.
    """

    net: str
    classes: tuple[str, ...]
    layers: tuple[str, ...]
    in_pair: bool | None = None

    def is_on(self, pattern: str) -> bool:
        """Tell whether a rule's layer, which may hold `*` and `?`, is the track's; upper and lower case differ."""
        return any(is_like(name, pattern, minds_case=True) for name in self.layers)


def holds(condition: str | None, track: TrackOfNet) -> bool | None:
    """Return whether a rule's condition is true for a track; None where that is not known."""
    values = {"A.NetName": (track.net,), "A.Type": ("Track",)}

    def of(leaf: Leaf) -> bool | None:
        if isinstance(leaf, Comparison) and leaf.word == "A.Layer" and leaf.is_text and leaf.operator in ("==", "!="):
            return track.is_on(leaf.value) == (leaf.operator == "==")
        return leaf_of_net(leaf, track.classes, values, in_pair=track.in_pair)

    return condition_holds(condition, of)


def condition_holds(condition: str | None, of: Callable[[Leaf], bool | None]) -> bool | None:
    """Return whether a condition is true when its parts are what `of` says; without a condition it always is."""
    if condition is None or not condition.strip():
        return True
    tree = parse_condition(condition)
    return None if tree is None else truth(tree, of)


def leaf_of_net(
    leaf: Leaf, classes: tuple[str, ...], values: Mapping[str, tuple[str, ...]], *, in_pair: bool | None = None
) -> bool | None:
    """Return whether a part of a condition is true for items of a net; None where that is not known.

    Args:
        leaf: the part.
        classes: the net's classes as KiCad joins them.
        values: what properties other than `A.NetClass` compare with; those not named stay open.
        in_pair: the net is half of a differential pair, None where not known.
    """
    if isinstance(leaf, Call):
        if leaf.word == "A.inDiffPair" and leaf.arguments == ("*",):
            return in_pair
        if leaf.word == "A.hasNetclass" and len(leaf.arguments) == 1:
            return any(is_like(name, leaf.arguments[0], minds_case=True) for name in classes)
        if leaf.word == "A.hasExactNetclass" and len(leaf.arguments) == 1:
            return ",".join(classes) == leaf.arguments[0]
        return None
    # KiCad 10 tries the joined name and each class of it
    known = (",".join(classes), *classes) if leaf.word == "A.NetClass" else values.get(leaf.word)
    if known is None or not leaf.is_text or leaf.operator not in ("==", "!="):
        return None
    return any(is_like(value, leaf.value) for value in known) == (leaf.operator == "==")
