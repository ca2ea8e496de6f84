"""Findings as cards: alike ones together, each with the chips that choose it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from drc_rules.report.model import Finding, Location
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import all_rules
from stackup_lib.core.record import record
from stackwright.tables.grouping import Group, groups
from stackwright.text.words import count, number

MOST_LISTED = 100
"""Findings listed one by one under the one that speaks for them; the JSON report has them all."""

MOST_CHIPS = 10
"""Chips of one property before they are folded: a row of them."""

MOST_CARDS = 12
"""Cards before the rest is folded: three screens hold about as many."""


@record
class Shown:
    """A group of findings as the page shows it.

    Attributes:
        id: on the page; the key of the finding that speaks for the group, which no edit elsewhere changes.
        members: findings and where they are, at most `MOST_LISTED`.
        hidden: how many more there are.
    """

    id: str
    group: Group
    limit: str
    source: str
    members: tuple[tuple[Finding, str], ...]
    hidden: int

    @property
    def at(self) -> str:
        """Where the finding is that speaks for the group: one place or two, of more the first alone."""
        where = self.group.first.places
        return places(where, most=2 if len(where) == 2 else 1)

    @property
    def layers(self) -> tuple[str, ...]:
        """Rows of the stackup that any of them names."""
        return tuple(dict.fromkeys(p.layer for one in self.group.findings for p in one.places if p.layer))

    @property
    def nets(self) -> tuple[str, ...]:
        """Nets that any of them names."""
        return tuple(dict.fromkeys(p.net for one in self.group.findings for p in one.places if p.net))


def in_view(shown: Sequence[Shown]) -> tuple[Sequence[Shown], Sequence[Shown]]:
    """Return the cards in view and those behind a fold: remarks are folded where anything weighs more."""
    weighty = [one for one in shown if one.group.first.severity is not Severity.INFO]
    first = (weighty or list(shown))[:MOST_CARDS]
    return first, [one for one in shown if one not in first]


def folded_title(folded: Sequence[Shown]) -> str:
    """Return what the fold holds: "17 remarks of 6 kinds", "4 more kinds of findings"."""
    if any(one.group.first.severity is not Severity.INFO for one in folded):
        return f"{count(len(folded), 'more kind')} of findings"
    remarks = count(sum(len(one.group.findings) for one in folded), "remark")
    return remarks if len(folded) == 1 else f"{remarks} of {count(len(folded), 'kind')}"


@record
class Chip:
    """A value to choose findings by; `token` stands for it in the page, so that no name of the board is script."""

    token: str
    text: str
    many: int


@record
class ChipRow:
    """The chips of one property."""

    name: str
    title: str
    chips: tuple[Chip, ...]


def shown_findings(findings: Sequence[Finding], ident: str) -> Iterator[Shown]:
    """Yield findings as pages show them, alike ones together; ids begin with `ident`."""
    for group in groups(findings):
        limit = group.first.limit
        members = group.findings[:MOST_LISTED]
        yield Shown(
            id=card_id(group, ident),
            group=group,
            limit=number(limit.value, limit.unit) if limit else "",
            source=limit.source if limit else "",
            members=tuple((finding, places(finding.places)) for finding in members),
            hidden=len(group.findings) - len(members),
        )


def card_id(group: Group, ident: str = "") -> str:
    """Return the id of a group's card in a page; `ident` is empty for the first board of a page."""
    return f"{ident}f-{group.first.key}"


def places(found: Iterable[Location], most: int = 3) -> str:
    """Return places as text: layer and net, and coordinates where there are any."""
    every = list(dict.fromkeys(_place(place) for place in found))
    rest = f"; and {len(every) - most} more" if len(every) > most else ""
    return "; ".join(text for text in every[:most] if text) + rest


def _place(place: Location) -> str:
    at = f"x {place.x_mm:.3f} mm, y {place.y_mm:.3f} mm" if place.x_mm is not None and place.y_mm is not None else ""
    line = f"line {place.line}" if place.line else ""
    return ", ".join(part for part in (place.layer, place.net, at, line) if part)


def chip_rows(
    shown: Sequence[Shown], layers: Sequence[str], net_classes: Mapping[str, str]
) -> tuple[tuple[ChipRow, ...], Mapping[str, str]]:
    """Return the chips of a board's findings, and id of a card -> its tokens; a property of one value has no chips.

    Args:
        shown: the cards.
        layers: rows of the stackup from top to bottom, the order of the layers' chips.
        net_classes: net name -> net class.
    """
    severities = [severity.value for severity in Severity]
    order = {name: index for index, name in enumerate(layers)}
    properties: Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
        "severity": ("Severity", {one.id: (one.group.first.severity.value,) for one in shown}),
        "family": ("Family", {one.id: (_family(one.group.first.code),) for one in shown}),
        "layer": ("Layer", {one.id: one.layers for one in shown}),
        "class": ("Net class", {one.id: _classes(one, net_classes) for one in shown}),
    }
    rows: list[ChipRow] = []
    tokens: dict[str, list[str]] = {one.id: [] for one in shown}
    for name, (title, values) in properties.items():
        every = sorted({value for found in values.values() for value in found})
        if name == "severity":
            every.sort(key=severities.index)
        elif name == "layer":
            every.sort(key=lambda value: order.get(value, len(order)))
        if len(every) < 2:
            continue
        chips = []
        for index, value in enumerate(every):
            having = [one for one in shown if value in values[one.id]]
            chips.append(Chip(f"{name}-{index}", value, sum(len(one.group.findings) for one in having)))
            for one in having:
                tokens[one.id].append(f"{name}-{index}")
        rows.append(ChipRow(name, title, tuple(chips)))
    return tuple(rows), {ident: " ".join(found) for ident, found in tokens.items()}


def _classes(one: Shown, net_classes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(net_classes[net] for net in one.nets if net in net_classes))


@cache
def _families() -> Mapping[str, str]:
    return {rule.code: rule.family.replace("_", " ") for rule in all_rules()}


def _family(code: str) -> str:
    return _families().get(code, code)
