"""What comes out of a check of a board, put into another board's terms, and compared record by record."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass

from drc_rules.analysis.impedance.route_impedance import link_impedances
from drc_rules.analysis.loss.loss_table import loss_rows
from drc_rules.analysis.power.rail_table import rail_rows
from drc_rules.analysis.via.backdrill_table import backdrill_table
from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import parse_config
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from tests.support.robustness.metamorphic import Variant

Leaf = tuple[str, str | float]


@dataclass(frozen=True)
class Judgement:
    """All that is said of a board: kind and leaves of every record, in the original's terms.

    `keys` are the ids of the findings, which survive whatever leaves items and names as they are.
    """

    records: tuple[tuple[str, tuple[Leaf, ...]], ...]
    verdicts: Mapping[str, str]
    keys: frozenset[str]


@dataclass(frozen=True)
class Saying:
    """One record: what it is of, its words with the numbers taken out, and the numbers."""

    kind: str
    words: str
    numbers: tuple[float, ...]


WAY_BACK = frozenset({"drop_mv", "back_mv", "resistance_mohm", "loss_w"})
"""Of a rail: what rests on the ground return, which is solved on a grid that a mirror changes."""

DENSITY = frozenset({"densest_a_per_mm2", "densest_layer"})
"""Of a rail: what is solved on finer triangles around the densest places, which lie otherwise where the copper does."""

LEFT_OUT = frozenset(
    {"uuid", "line", "every", "key", "objects", "offset", "source", "share_source", "how_to_give", "cure"}
)
"""Ids, rows and lines belong to the file; the rest are constants next to what is compared."""

BACK = "rail back"
DENSEST = "rail density"

DENSITY_WITHIN = 0.01
"""Share by which the highest density differs from mesh to mesh: its own range is wider, some 5 % to each side."""

_NUMBER = re.compile(r"(?<![A-Za-z\d._/])[-+]?\d+(?:\.\d+)?(?![\w])")
_BY_UUID = re.compile(r"\bvia [0-9a-z-]+")


def judge(variant: Variant, config: str) -> Judgement:
    """Check a board and put all that comes out into the original's terms."""
    context, requirements, _ = prepare(variant.board, parse_config(variant.settings(config)), Overrides())
    outcome = run(context, requirements.clauses, all_rules(), all_rules())
    assert not outcome.crashes, outcome.crashes
    records: list[tuple[str, Frozen]] = [("finding", f) for f in outcome.findings]
    records += [("verdict", v) for v in outcome.verdicts]
    records += [("impedance", row) for row in context.get(link_impedances)]
    records += [("loss", row) for row in loss_rows(context, requirements.clauses)]
    records += [("rail", row) for row in rail_rows(context)]
    records += [("backdrill", row) for row in _backdrills(context)]
    return Judgement(
        tuple(part for kind, record in records for part in _parts(kind, tuple(_leaves(record, variant)))),
        {v.clause.id: v.verdict.value for v in outcome.verdicts},
        frozenset(f.key for f in outcome.findings),
    )


def _parts(kind: str, leaves: tuple[Leaf, ...]) -> Iterator[tuple[str, tuple[Leaf, ...]]]:
    """Yield a record, that of a rail in three: supply path, what the ground return has a part in, and density."""
    if kind != "rail":
        yield kind, leaves
        return
    back = tuple(leaf for leaf in leaves if leaf[0].split(".")[-2:][0] in WAY_BACK)
    densest = tuple(leaf for leaf in leaves if leaf[0] in DENSITY)
    yield kind, tuple(leaf for leaf in leaves if leaf not in back + densest)
    yield BACK, back
    yield DENSEST, densest


def _backdrills(context: Context) -> tuple[Frozen, ...]:
    try:
        return backdrill_table(context).rows
    except MissingFact:
        return ()


def _leaves(record: Frozen, variant: Variant) -> Iterator[Leaf]:
    for name in type(record).model_fields:
        value = getattr(record, name)
        if name in LEFT_OUT:
            continue
        if name == "clause" and isinstance(record, ClauseVerdict):
            yield name, record.clause.id
        elif name == "places" and isinstance(record, Finding):
            yield from _places(record, variant)
        else:
            yield from _flat(name, value, variant)


def _flat(path: str, value: object, variant: Variant) -> Iterator[Leaf]:
    if isinstance(value, Frozen):
        for name, leaf in _leaves(value, variant):
            yield f"{path}.{name}", leaf
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _flat(path, item, variant)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)
    elif is_dataclass(value):
        for column in fields(value):
            yield from _flat(f"{path}.{column.name}", getattr(value, column.name), variant)
    else:
        yield path, _BY_UUID.sub("via", variant.say(str(value)))


def _places(finding: Finding, variant: Variant) -> Iterator[Leaf]:
    """The places back where they are on the original, in the order of the board."""
    found = []
    for place in finding.places:
        x, y = place.x_mm, place.y_mm
        at = () if x is None or y is None else tuple(round(c, 4) + 0.0 for c in variant.place(x, y))
        found.append((variant.say(f"{place.layer} {place.net}"), at))
    for where, at in sorted(found):
        yield "place", where
        yield from zip(("place.x", "place.y"), at, strict=False)


def differences(
    one: Judgement,
    other: Judgement,
    *,
    within: float = 1e-6,
    back_within: float = 1e-6,
    without: Iterable[str] = (),
    in_order: bool = True,
) -> list[str]:
    """Return what one says and the other does not.

    Args:
        one: of the original.
        other: of the variant.
        within: share of the larger by which numbers may differ, or so much in their own unit.
        back_within: the same for the ground return of rails, where that is more.
        without: leaves that the change may alter, by the head of their path.
        in_order: False compares the words of a record as a heap: what is above comes first, and was turned over.
    """
    found = [
        f"{clause}: {one.verdicts.get(clause)} -> {other.verdicts.get(clause)}"
        for clause in sorted({*one.verdicts, *other.verdicts})
        if one.verdicts.get(clause) != other.verdicts.get(clause)
    ]
    before, after = (sayings(judged, without=tuple(without), in_order=in_order) for judged in (one, other))
    for saying in before:
        share = max(within, {BACK: back_within, DENSEST: DENSITY_WITHIN}.get(saying.kind, 0.0))
        match = next((s for s in after if _agree(saying, s, share)), None)
        if match is None:
            found.append(f"only before: {saying.words} {saying.numbers}")
        else:
            after.remove(match)
    return found + [f"only after: {s.words} {s.numbers}" for s in after]


def sayings(judged: Judgement, *, without: tuple[str, ...], in_order: bool) -> list[Saying]:
    """Return the records as words and numbers, sorted."""
    found = []
    for kind, leaves in judged.records:
        kept = [(path, value) for path, value in leaves if not path.startswith(without)] if without else list(leaves)
        found.append(_saying(kind, kept, in_order=in_order))
    return sorted(found, key=lambda s: (s.words, s.numbers))


def _saying(kind: str, leaves: Iterable[Leaf], *, in_order: bool) -> Saying:
    words = [kind]
    numbers: list[float] = []
    for path, value in leaves:
        if isinstance(value, float):
            words.append(f"{path}=#")
            numbers.append(value)
        else:
            words.append(f"{path}={_NUMBER.sub('#', value)}")
            numbers += [float(number) for number in _NUMBER.findall(value)]
    if in_order:
        return Saying(kind, " ".join(words), tuple(numbers))
    heap = sorted(re.sub(r"[,=:;]", " ", " ".join(words)).split())
    return Saying(kind, " ".join(heap), tuple(sorted(numbers)))


def _agree(one: Saying, other: Saying, within: float) -> bool:
    if one.words != other.words or len(one.numbers) != len(other.numbers):
        return False
    pairs = zip(one.numbers, other.numbers, strict=True)
    return all(a == b or math.isclose(a, b, rel_tol=within, abs_tol=within) for a, b in pairs)


def clauses_of(judged: Judgement) -> list[tuple[str, str]]:
    """Return clause and severity of every finding, sorted."""
    found = [dict(leaves) for kind, leaves in judged.records if kind == "finding"]
    return sorted((str(leaves["clause"]), str(leaves["severity"])) for leaves in found)
