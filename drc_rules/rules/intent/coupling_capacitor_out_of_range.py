"""A coupling capacitor of a pair is outside the range that its interface allows, or missing in one trace or lane.

What it checks
--------------
Every capacitor in series with a pair of PCI Express, USB 3, DisplayPort or SATA: the capacitance that its value states,
the sum of those side by side, against the range of the interface. Where the generation is not known, the widest range
of the family holds. A value that states no capacitance is not verifiable. Pairs without a capacitor on this board are
not judged: it may be on the other one.

Of every high-speed interface, a pair that has a capacitor in one trace and none in the other: a resistor in its place,
or next to it, one that is not fitted, or plain copper. And whole pairs without one, where others between the same parts
whose names differ by numbers alone have one.

Why it matters
--------------
PCI Express and USB 3 find their receiver by the time that the capacitor takes to charge: too small a one looks like an
open line, and long runs of equal bits droop. Too large a one settles too slowly, as after the bursts that begin a SATA
link. Without one, direct current flows between the common modes of both ends; in one trace alone it shifts the pair.

How to fix
----------
Fit the usual value: 220 nF for PCI Express, 100 nF for USB 3 and DisplayPort, 10 nF for SATA. Both traces get the same.

What it cannot see
------------------
Tolerance and DC bias of the part, capacitors inside chips, arrays of more than two pads. USB 3 allows 330 nF at a
receiver: at a transmitter it passes. Capacitors one behind the other are judged one by one.

Sources
-------
PCI Express Base Specification, USB 3.2 and DisplayPort as the data sheets of TI's redrivers quote them, Serial ATA 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.delay.pair_skew import pair_name, routed_pairs
from drc_rules.analysis.return_path.return_paths import HighSpeedGroup, interface_groups
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.interfaces import Interface
from drc_rules.rules.intent._missing_capacitors import WithoutCapacitor, missing_capacitors
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.capacitor_text import read_capacitor
from stackup_lib.nets.links import SeriesPart
from stackup_lib.nets.two_pin_parts import PartKind

PLACES_SHOWN = 20


@record
class Coupling:
    """Capacitors side by side in one trace of a pair, the name of the pair, and the net at their start."""

    parts: tuple[SeriesPart, ...]
    pair: str
    net: int

    @property
    def name(self) -> str:
        """`C12`, `C12 + C13`."""
        return " + ".join(part.reference for part in self.parts)

    @property
    def nf(self) -> float | None:
        """What their values state together; None where one states nothing."""
        stated = [read_capacitor(part.value).capacitance_f for part in self.parts]
        return round(sum(f * 1e9 for f in stated if f is not None), 6) if None not in stated else None


def _groups(ctx: Context, _clause: Clause) -> Iterator[HighSpeedGroup]:
    for group in ctx.get(interface_groups):
        missing = missing_capacitors(ctx, group)
        if missing.traces or missing.lanes or (_widest(group) and ctx.get(_couplings, group.id)):
            yield group


def _couplings(ctx: Context, group_id: str) -> tuple[Coupling, ...]:
    """Return what couples the pairs of a group, each place once."""
    group = next(one for one in ctx.get(interface_groups) if one.id == group_id)
    found: dict[tuple[int, ...], Coupling] = {}
    for traces in routed_pairs(ctx, group):
        for link in traces:
            for net, parts in zip(link.nets, link.parts, strict=False):
                if all(part.kind is PartKind.CAPACITOR for part in parts):
                    key = tuple(part.footprint for part in parts)
                    found.setdefault(key, Coupling(parts, pair_name(ctx, traces[0]), net))
    return tuple(found.values())


def _widest(group: HighSpeedGroup) -> Interface | None:
    """Return the generation that allows most, of those with a range."""
    return max(
        (one for one in group.choices if one.coupling_nf),
        key=lambda one: one.coupling_nf[1] - one.coupling_nf[0] if one.coupling_nf else 0.0,
        default=None,
    )


FORMULA = """
C_min ≤ C ≤ C_max

C: capacitance in one trace of a pair, the worst of the interface [nF]
C_min: least that the interface allows, of the nearer range where it has two [nF]
C_max: largest that it allows [nF]
"""


@rule("NET009", kinds=("coupling_capacitor_out_of_range",), over=_groups, formula=FORMULA)
def coupling_capacitor_out_of_range(ctx: Context, _clause: Clause, group: HighSpeedGroup) -> Iterator[DraftFinding]:
    """Yield one finding for the capacitors of an interface that are outside its range."""
    ctx.rests_on(ctx.assignment.confidence_of(group.nets[0]))
    lacks = list(_of_missing(ctx, group))
    yield from lacks
    by = _widest(group)
    if by is None:
        return
    all_of = ctx.get(_couplings, group.id)
    known = sorted((one for one in all_of if one.nf is not None), key=lambda one: (-_off(by, one.nf or 0.0), one.name))
    wrong = [one for one in known if not _is_allowed(by, one.nf or 0.0)]
    shown = next(iter(wrong or ([] if lacks else known[::-1])), None)
    if shown is not None and shown.nf is not None:
        low, high = _range(by, shown.nf)
        ctx.shows(f"{shown.name} of {shown.pair}", C=shown.nf, C_min=low, C_max=high)
    if wrong:
        yield _draft(ctx, group, by, wrong)
        return
    unread = [one for one in all_of if one.nf is None]
    if unread:
        first, others = unread[0], f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        value = " + ".join(part.value for part in first.parts)
        how = f"in KiCad, write it into the value of {first.name}{others}, as in 220n"
        raise MissingFact(f'the capacitance of {first.name}{others}: its value is "{value}"', how)


def _of_missing(ctx: Context, group: HighSpeedGroup) -> Iterator[DraftFinding]:
    """Yield one finding for traces without a capacitor, and one for lanes."""
    found = missing_capacitors(ctx, group)
    lanes = f"coupling capacitors in {found.coupled} of {found.coupled + len(found.lanes)} lanes"
    for which, title, missing in (
        ("one trace", "coupling capacitor in one trace of a pair only", found.traces),
        ("lanes", lanes, found.lanes),
    ):
        if missing:
            yield _draft_of_missing(ctx, group, (which, title), missing)


def _draft_of_missing(
    ctx: Context, group: HighSpeedGroup, what: tuple[str, str], missing: tuple[WithoutCapacitor, ...]
) -> DraftFinding:
    (which, title), first = what, missing[0]
    more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    net = ctx.board.nets[first.net]
    has = f": {first.instead}" if first.instead else ""
    return DraftFinding(
        title=f"{title}: {group.title}, {first.name}{more}; none in {net}{has}",
        why="Direct current flows between the common modes of both ends: the receiver's inputs are off their middle",
        fix="Fit the same capacitor in both traces of every pair, and in every lane, or in none",
        ids=(group.id, which),
        places=tuple(Location(net=ctx.board.nets[one.net]) for one in missing[:PLACES_SHOWN]),
        inferred=not group.declared,
    )


def _is_allowed(by: Interface, nf: float) -> bool:
    return any(low <= nf <= high for low, high in filter(None, (by.coupling_nf, by.coupling_receiver_nf)))


def _range(by: Interface, nf: float) -> tuple[float, float]:
    """Return the range that a capacitance is in, else the one with the nearest end."""
    ranges = [one for one in (by.coupling_nf, by.coupling_receiver_nf) if one]
    around = [one for one in ranges if one[0] <= nf <= one[1]]
    return around[0] if around else min(ranges, key=lambda one: min(_ratio(end, nf) for end in one))


def _limit(by: Interface, nf: float) -> float:
    """Return the end of a range that is nearest to what is outside."""
    return min(_range(by, nf), key=lambda end: _ratio(end, nf))


def _ratio(end: float, nf: float) -> float:
    return max(end, nf) / max(min(end, nf), 1e-9)


def _off(by: Interface, nf: float) -> float:
    return _ratio(_limit(by, nf), nf)


def _draft(ctx: Context, group: HighSpeedGroup, by: Interface, wrong: list[Coupling]) -> DraftFinding:
    worst = wrong[0]
    nf = worst.nf or 0.0
    low, high = by.coupling_nf or (0.0, 0.0)
    allowed = f"{low:g} to {high:g} nF"
    if by.coupling_receiver_nf:
        allowed += " ({:g} to {:g} nF at a receiver)".format(*by.coupling_receiver_nf)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    why = "A receiver may not be found, or long runs of equal bits droop" if nf < low else "It settles too slowly"
    widest = "" if len(group.choices) == 1 else f" Range of {by.title}, the widest of the family."
    return DraftFinding(
        title=f"coupling capacitor {worst.name} of {nf:g} nF, {allowed}: {group.title}, {worst.pair}{more}",
        why=f"{why}.{widest} {cite(Source(document=by.document_of('coupling_nf')))}",
        fix=f"Fit {allowed} in both traces of the pair",
        ids=(group.id,),
        measured=Measured(value=nf, unit="nF"),
        limit_value=_limit(by, nf),
        places=tuple(_place(ctx, one) for one in wrong[:PLACES_SHOWN]),
        inferred=not group.declared,
    )


def _place(ctx: Context, one: Coupling) -> Location:
    pads, row = ctx.board.pads, one.parts[0].pads[0]
    return Location(net=ctx.board.nets[one.net], x_mm=float(pads.x_mm[row]), y_mm=float(pads.y_mm[row]))
