"""Findings as cards: alike ones together, each with the chips that choose it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from drc_rules.report.findings import Finding, Location
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
    """Return the chips of a board's findings, and by the id of a card how many of its findings have which tokens.

    Findings of one card may be at other layers and nets, so each counts for itself: `2 layer-0 class-1;1 layer-1` is a
    card of three findings. A property of one value has no chips.

    Args:
        shown: the cards.
        layers: rows of the stackup from top to bottom, the order of the layers' chips.
        net_classes: net name -> net class.
    """
    severities = [severity.value for severity in Severity]
    order = {name: index for index, name in enumerate(layers)}
    properties: Mapping[str, tuple[str, Callable[[Finding], Iterable[str]]]] = {
        "severity": ("Severity", lambda one: (one.severity.value,)),
        "family": ("Family", lambda one: (_family(one.code),)),
        "layer": ("Layer", lambda one: (place.layer for place in one.places if place.layer)),
        "class": ("Net class", lambda one: _classes(one, net_classes)),
    }
    findings = [finding for one in shown for finding in one.group.findings]
    rows: list[ChipRow] = []
    tokens: list[list[str]] = [[] for _ in findings]
    for name, (title, values_of) in properties.items():
        found = [dict.fromkeys(values_of(finding)) for finding in findings]
        counts = Counter(value for values in found for value in values)
        every = sorted(counts)
        if name == "severity":
            every.sort(key=severities.index)
        elif name == "layer":
            every.sort(key=lambda value: order.get(value, len(order)))
        if len(every) < 2:
            continue
        token = {value: f"{name}-{index}" for index, value in enumerate(every)}
        for having, values in zip(tokens, found, strict=True):
            having.extend(token[value] for value in values)
        rows.append(ChipRow(name, title, tuple(Chip(token[value], value, counts[value]) for value in every)))
    each = iter(tokens)
    return tuple(rows), {one.id: _kinds(next(each) for _ in one.group.findings) for one in shown}


def _kinds(findings: Iterable[Sequence[str]]) -> str:
    """Return how many findings have which tokens, alike ones together."""
    kinds = Counter(" ".join(tokens) for tokens in findings)
    return ";".join(f"{many} {tokens}".rstrip() for tokens, many in kinds.items())


def _classes(one: Finding, net_classes: Mapping[str, str]) -> Iterator[str]:
    return (net_classes[place.net] for place in one.places if place.net and place.net in net_classes)


@cache
def _families() -> Mapping[str, str]:
    return {rule.code: rule.family.replace("_", " ") for rule in all_rules()}


def _family(code: str) -> str:
    return _families().get(code, code)
