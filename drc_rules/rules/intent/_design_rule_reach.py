"""What of the custom design rules can never act: names that nothing has, and limits that a later rule replaces."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import field

from stackup_lib.board.board import Board
from stackup_lib.board.design_rules import Constraint, DesignRule
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.core.record import record
from stackup_lib.kicad.design_rules.condition_tree import (
    Call,
    Comparison,
    Condition,
    Junction,
    Leaf,
    is_like,
    leaves,
    parse_condition,
    truth,
)
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_file import LENGTH_CONSTRAINTS

AREA_FUNCTIONS = frozenset(["A.insideArea", "A.intersectsArea", "A.enclosedByArea"])
VIA_TYPES = ("Through", "Blind", "Buried", "Micro")
REPLACED_KINDS = LENGTH_CONSTRAINTS
"""Constraints of which the last one that applies counts, bound by bound."""
_TYPES = {"tracks": "Track", "trace": "Track", "traces": "Track", "pads": "Pad", "zones": "Zone"}
"""Words for what KiCad calls otherwise; words for vias are seen by `via` in them."""
NEAR = 0.75
"""Likeness of two names above which one counts as a misspelling of the other."""


@record
class MissingItem:
    """A part of a condition that is never true.

    Attributes:
        text: the part as it is written, more or less.
        reason: why it is never true.
        meant: what probably is meant, "" where nothing is near.
        is_kicads: KiCad itself knows none such, whatever the board.
    """

    text: str
    reason: str
    meant: str = ""
    is_kicads: bool = False

    @property
    def is_mistake(self) -> bool:
        """True for what is hardly left over from, or meant for, another board."""
        return bool(self.meant) or self.is_kicads


@record
class Names:
    """What a board has that conditions may name; `joined` are the classes of nets as KiCad 10 joins them."""

    classes: tuple[str, ...]
    joined: tuple[str, ...]
    nets: tuple[str, ...]
    areas: tuple[str, ...]
    uuids: frozenset[str]
    copper: tuple[str, ...]
    _known: dict[Leaf, MissingItem | None] = field(default_factory=dict, compare=False)

    def missing(self, leaf: Leaf) -> MissingItem | None:
        """Return why a part of a condition is never true; None where it may be."""
        if leaf not in self._known:
            self._known[leaf] = _of_call(self, leaf) if isinstance(leaf, Call) else _of_comparison(self, leaf)
        return self._known[leaf]


def names_of(board: Board) -> Names:
    """Return what a board's conditions may name."""
    project, zones = board.project, board.zones
    first = {project.class_names_of(net): net for net in board.nets if net}
    named = [str(name) for name in zones.name]
    return Names(
        classes=tuple(dict.fromkeys((*project.classes, *(name for names in first for name in names)))),
        joined=tuple(sorted(",".join(joined_classes(project, net)) for net in first.values())),
        nets=tuple(dict.fromkeys(text for net in board.nets for text in (net, as_kicad_shows(net)) if text)),
        areas=tuple(sorted({name for name in named if name})),
        uuids=frozenset(str(uuid) for uuid in zones.uuid),
        copper=tuple(name for layer in board.copper_layers for name in layer.names),
    )


def never_applies(rule: DesignRule, names: Names) -> tuple[MissingItem, ...]:
    """Return why a rule's condition is never true; nothing where it may be."""
    condition = parse_condition(rule.condition or "")
    if condition is None or truth(condition, lambda leaf: False if names.missing(leaf) else None) is not False:
        return ()
    return tuple(dict.fromkeys(found for leaf in leaves(condition) if (found := names.missing(leaf))))


def idle_parts(rule: DesignRule, names: Names) -> tuple[MissingItem, ...]:
    """Return the alternatives of a condition that are never true because a name is misspelt, while others may be."""
    condition = parse_condition(rule.condition or "")
    if condition is None or never_applies(rule, names):
        return ()
    found = (names.missing(leaf) for leaf in _plain(condition))
    return tuple(dict.fromkeys(missing for missing in found if missing and missing.meant))


def replaced_by(rule: DesignRule, later: Iterable[DesignRule]) -> Iterator[tuple[str, DesignRule]]:
    """Yield the bounds of a rule that a later one replaces wherever it applies, e.g. `track_width min`, and that rule.

    Later rules apply wherever it does when they have no condition and layer of their own, or the same ones.
    """
    wider = [other for other in later if _is_wider(other, rule)]
    for constraint in rule.constraints:
        if constraint.kind not in REPLACED_KINDS or not constraint.is_understood:
            continue
        last = {
            bound: (other, value)
            for other in wider
            for c in other.constraints
            if c.kind == constraint.kind
            for bound, value in _bounds(c)
        }
        for bound, value in _bounds(constraint):
            if bound in last and last[bound][1] != value:
                yield f"{constraint.kind} {bound}", last[bound][0]


def _is_wider(other: DesignRule, rule: DesignRule) -> bool:
    everywhere = other.layer in (None, rule.layer)
    return everywhere and other.severity != "ignore" and other.condition in (None, "", rule.condition)


def _bounds(constraint: Constraint) -> Iterator[tuple[str, float]]:
    stated = {"min": constraint.min_mm, "opt": constraint.opt_mm, "max": constraint.max_mm}
    return ((bound, value) for bound, value in stated.items() if value is not None)


def _plain(condition: Condition) -> Iterator[Leaf]:
    """Parts under `&&` and `||` only: what stands behind a `!` makes it true."""
    if not isinstance(condition, Junction):
        yield condition
    elif condition.kind != "not":
        for part in condition.parts:
            yield from _plain(part)


def _of_call(names: Names, leaf: Call) -> MissingItem | None:
    if len(leaf.arguments) != 1 or not leaf.arguments[0]:
        return None
    function, name = leaf.word.partition(".")[2], leaf.arguments[0]
    text = f"{leaf.word}('{name}')"
    if function == "hasNetclass" and not any(is_like(known, name, minds_case=True) for known in names.classes):
        return MissingItem(text, f'there is no net class "{name}"', _near(name, names.classes))
    if function == "hasExactNetclass" and name not in names.joined:
        whole = next((joined for joined in names.joined if joined.startswith(f"{name},")), "")
        return MissingItem(text, f'no net has exactly the classes "{name}"', whole or _near(name, names.joined))
    is_area = leaf.word in AREA_FUNCTIONS and name not in names.uuids
    if is_area and not any(is_like(known, name, minds_case=True) for known in names.areas):
        return MissingItem(text, f'there is no area "{name}"', _near(name, names.areas))
    return None


def _of_comparison(names: Names, leaf: Comparison) -> MissingItem | None:
    if not leaf.is_text or leaf.operator not in ("==", "!=") or not leaf.value:
        return None
    about, name = leaf.word.partition(".")[2], leaf.value
    text = f"{leaf.word} {leaf.operator} '{name}'"
    if leaf.operator == "!=":
        is_default = about == "NetClass" and is_like("Default", name)
        if not is_default or not all(_is_one_of(joined, name) for joined in names.joined):
            return None
        is_joined = names.joined != ("Default",)
        why = "KiCad 10 joins Default to classes that leave a size empty" if is_joined else "no net is in another class"
        return MissingItem(text, why, is_kicads=is_joined)
    known, what, likely = {
        "NetClass": ((*names.classes, *names.joined), "net class", names.classes),
        "NetName": (names.nets, "net", names.nets),
        "Via_Type": (VIA_TYPES, "type of via", VIA_TYPES),
    }.get(about, ((), "", ()))
    if known and not any(is_like(value, name) for value in known):
        return MissingItem(text, f'there is no {what} "{name}"', _near(name, likely), is_kicads=about == "Via_Type")
    if about == "Layer" and name.casefold().endswith(".cu"):
        if any(is_like(layer, name, minds_case=True) for layer in names.copper):
            return None
        meant = next((layer for layer in names.copper if layer.casefold() == name.casefold()), "")
        return MissingItem(text, f'there is no copper layer "{name}"', meant)
    if about == "Type":
        meant = "Via" if "via" in name.casefold() and not is_like("Via", name) else _TYPES.get(name.casefold(), "")
        return MissingItem(text, f'there is no type "{name}"', meant) if meant else None
    return None


def _is_one_of(joined: str, pattern: str) -> bool:
    """Tell whether the classes of a net, as KiCad joins them, fit a text: all together or one of them."""
    return any(is_like(value, pattern) for value in (joined, *joined.split(",")))


def _near(name: str, known: Iterable[str]) -> str:
    """The known name most like it, or like a part between slashes; "" where none is near or it holds wildcards."""
    if any(sign in name for sign in "*?"):
        return ""
    lowered = {word.casefold(): word for word in known}
    for part in (name, *name.split("/")):
        near = difflib.get_close_matches(part.casefold(), lowered, n=1, cutoff=NEAR)
        if near:
            return lowered[near[0]]
    return ""
