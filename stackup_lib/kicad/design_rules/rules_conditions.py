"""KiCad's rule conditions for a track of a net on a layer: true, false, or None for "cannot tell".

Only what holds for the whole net is decided. Areas, other items, and whatever else is not understood stay open: a
condition never raises.
"""

from __future__ import annotations

from dataclasses import dataclass

from stackup_lib.kicad.design_rules.condition_tree import Call, Comparison, Leaf, is_like, parse_condition, truth


@dataclass(frozen=True)
class TrackOfNet:
    """What a condition is asked about; `classes` holds the net's classes as KiCad joins them (`joined_classes`)."""

    net: str
    classes: tuple[str, ...]
    layer: str
    in_pair: bool | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """What `A.NetClass` compares with: KiCad 10 tries the joined name and each class of it."""
        return ",".join(self.classes), *self.classes


def holds(condition: str | None, track: TrackOfNet) -> bool | None:
    """Return whether a rule's condition is true for a track; None where that cannot be told."""
    if condition is None or not condition.strip():
        return True
    tree = parse_condition(condition)
    if tree is None:
        return None

    def of(leaf: Leaf) -> bool | None:
        return _called(leaf, track) if isinstance(leaf, Call) else _compared(leaf, track)

    return truth(tree, of)


def _called(leaf: Call, track: TrackOfNet) -> bool | None:
    if leaf.word == "A.inDiffPair" and leaf.arguments == ("*",):
        return track.in_pair
    if leaf.word == "A.hasNetclass" and len(leaf.arguments) == 1:
        return any(is_like(name, leaf.arguments[0], minds_case=True) for name in track.classes)
    if leaf.word == "A.hasExactNetclass" and len(leaf.arguments) == 1:
        return track.class_names[0] == leaf.arguments[0]
    return None


def _compared(leaf: Comparison, track: TrackOfNet) -> bool | None:
    values = {
        "A.NetName": (track.net,),
        "A.Layer": (track.layer,),
        "A.Type": ("Track",),
        "A.NetClass": track.class_names,
    }.get(leaf.word)
    if values is None or not leaf.is_text or leaf.operator not in ("==", "!="):
        return None
    return any(is_like(value, leaf.value) for value in values) == (leaf.operator == "==")
