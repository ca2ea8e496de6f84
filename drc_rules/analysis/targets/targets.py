"""The target impedance of a net, and its source: command line, settings, KiCad's own data, interface."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypedDict

from drc_rules.analysis.targets.clock_links import CLOCK, ClockLinks, family_named
from drc_rules.facts.net_interfaces import Assignment, NetRole
from drc_rules.requirements.interfaces import Family, Interface, families, family, interface
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.requirements.interfaces.names import ASIDE, is_sideband, normalise
from drc_rules.settings.config import Config, ImpedanceDeclaration
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board
from stackup_lib.board.design_rules import DesignRule
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.facts import Confidence, Origin
from stackup_lib.core.record import record
from stackup_lib.kicad.companions import companion
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_conditions import TrackOfNet, holds
from stackup_lib.kicad.design_rules.rules_file import read_design_rules
from stackup_lib.nets.design_widths import applies
from stackup_lib.nets.diff_pairs import Pairs

Kind = Literal["single", "differential"]

LEAST_OHM, MOST_OHM = 25.0, 150.0
"""No line of a board has less or more: other numbers in a name mean something else."""

PAIR_FROM_OHM = 70.0
"""A class name without a kind means pairs from here on: 75 to 120 ohm against 40 to 60."""

USUAL_TOLERANCE_PCT = 10.0
"""Where an interface states none: AMD UG863, and what fabs hold on a coupon unless something else is agreed."""

CLOCK_TOLERANCE_PCT = USUAL_TOLERANCE_PCT
"""A clock of 100 MHz needs no more."""

_OHM = re.compile(
    r"(?<![A-Z0-9.])(?:ZDIFF|ZSE|ZD|Z0|Z|DIFF|DP|SE)?[ _-]?(?P<ohm>\d{2,3}(?:\.\d+)?)[ _-]?(?:OHMS?|Ω|R(?![A-Z0-9]))"
    r"|(?<![A-Z0-9])(?:ZDIFF|ZSE|ZD|Z0_|Z|DIFF|SE)[ _-]?(?P<prefixed>\d{2,3}(?:\.\d+)?)(?![A-Z0-9.])"
    r"|(?<![A-Z0-9.])(?P<suffixed>\d{2,3}(?:\.\d+)?)[ _-]?(?:DIFF|SE|SINGLE)(?![A-Z0-9])"
)
_DIFFERENTIAL = r"(?<![A-Z])(?:DIFF|DIFFERENTIAL|ZDIFF|ZD|DP|PAIR|DPAIR)(?![A-Z])"
_SINGLE = r"(?<![A-Z])(?:SE|ZSE|SINGLE|SINGLE[ _-]?ENDED)(?![A-Z])"


class NamedImpedance(NamedTuple):
    """What a name says; `kind` is None where it says only the number."""

    ohm: float
    kind: Kind | None


@record
class ImpedanceTarget:
    """The target impedance of a net.

    Attributes:
        tolerance_pct: None where not specified.
        origin: who says so; of what is inferred no error is made.
        source: as text, e.g. `net class 85Ohm-diff_PCIE`.
        document: key of the interface's document, empty where no document asks.
        serves: of a clock, the link whose target it takes, e.g. `PCIe Gen5`.
        range_ohm: what a document accepts in place of `ohm`, least and most.
        limit_ohm: least and most that a document allows, in place of a tolerance.
        range_of: where not all generations accept these, and the generation is not known: the title of one that does.
        any_of: where the generation is not known, and each has an impedance of its own: the family, and `limit_ohm` is
            what any of its generations accepts.
        rules: of what a design rule requires, the rule that says so on each copper layer, "" where none does.
        required: of a target by KiCad's names, what the document of the nets' declared interface requires.
    """

    ohm: float
    kind: Kind
    origin: Origin
    source: str
    confidence: Confidence
    tolerance_pct: float | None = None
    document: str = ""
    serves: str = ""
    range_ohm: tuple[float, float] | None = None
    limit_ohm: tuple[float, float] | None = None
    range_of: str = ""
    any_of: str = ""
    rules: tuple[str, ...] = ()
    required: ImpedanceTarget | None = None


@lru_cache(maxsize=4096)
def target_of_name(name: str) -> NamedImpedance | None:
    """Return the impedance that a net class is named after: `85Ohm-diff_PCIE`, `USB_90R`, `SE50`, `DIFF100`, `Z0_50`.

    None for names without one, with two, and for numbers that mean something else: `R100`, `100MHz`, `GND_90`.
    """
    text = name.upper().replace("Ω", "OHM")
    found = {float(m["ohm"] or m["prefixed"] or m["suffixed"]) for m in _OHM.finditer(text)}
    usable = [ohm for ohm in found if LEAST_OHM <= ohm <= MOST_OHM]
    if len(usable) != 1:
        return None
    differential, single = re.search(_DIFFERENTIAL, text), re.search(_SINGLE, text)
    if differential and single:
        return None
    return NamedImpedance(usable[0], "differential" if differential else "single" if single else None)


class Targets:
    """The targets of one board's nets.

    Command line, settings, tuning profile, design rule, net class name, interface: the first that says something of
    its kind of net. A class named after single lines says nothing of a pair in it.
    """

    def __init__(
        self,
        board: Board,
        config: Config,
        assignment: Assignment,
        pairs: Pairs,
        said: tuple[ImpedanceDeclaration, ...] = (),
    ) -> None:
        self.board, self.assignment, self.pairs = board, assignment, pairs
        self._declared: dict[int, ImpedanceTarget] = {}
        self._rules = _named_rules(board)
        self._by_net = any("NetName" in (rule.condition or "") for rule, _ in self._rules)
        self._of_classes: dict[tuple[str, tuple[str, ...], bool], ImpedanceTarget | None] = {}
        by_file, by_hand = (Origin.DECLARED, "stackwright.toml, [[impedance]]"), (Origin.COMMAND_LINE, "--impedance")
        for row, (origin, source) in [*((r, by_file) for r in config.impedance), *((r, by_hand) for r in said)]:
            target = ImpedanceTarget(
                ohm=row.ohm,
                kind=row.kind,
                tolerance_pct=row.tolerance_pct,
                origin=origin,
                source=source,
                confidence=Confidence.HIGH,
            )
            self._declared.update(dict.fromkeys(chosen_nets(board, row.net_classes, row.nets), target))

    def of(self, net: int) -> ImpedanceTarget | None:
        """Return the target of a net; None where there is none, or where it does not fit the net."""
        is_pair = self.pairs.complement_of(net) is not None
        declared = self._declared.get(net)
        if declared is not None:
            return declared if (declared.kind == "differential") == is_pair else None
        said = (self._of_profile(net), self._of_rule(net, is_pair=is_pair), self._of_class(net))
        fitting = next((one for one in said if one is not None and (one.kind == "differential") == is_pair), None)
        of_interface = self._of_interface(net, is_pair=is_pair)
        if fitting is None or of_interface is None or of_interface.origin is not Origin.DECLARED:
            return fitting or of_interface
        return replace(fitting, required=of_interface if of_interface.document not in ("", ENGINEERING) else None)

    def of_any_generation(self, net: int) -> ImpedanceTarget | None:
        """Return what any generation of a pair's family accepts, where `of` has no target since they differ."""
        role = self.assignment.role_of(net)
        if role is None or role.interface or self.pairs.complement_of(net) is None or self.of(net) is not None:
            return None
        of = family(role.family)
        any_one = any_generation(of)
        if any_one is None or not self._is_surely(net, role):
            return None
        (least, most), (low, high) = any_one
        return ImpedanceTarget(
            ohm=least,
            kind="differential",
            origin=role.origin,
            source=f"all generations of {of.title}: {least:g} to {most:g} ohm, with tolerances {low:g} to {high:g} ohm",
            document=_document(of, None, is_pair=True)[0],
            confidence=role.confidence,
            range_ohm=(least, most),
            limit_ohm=(low, high),
            any_of=of.id,
        )

    def _is_surely(self, net: int, role: NetRole) -> bool:
        """Tell whether a net can be of no other family: transceivers of programmable logic carry any protocol."""
        of, name = family(role.family), normalise(self.board.nets[net])
        if self.assignment.is_declared(net) or role.by_pins or not any(pattern.generic for pattern in of.pattern):
            return True
        return of.claims(name) and not of.claims_loosely(name)

    def without_complement(self, net: int) -> ImpedanceTarget | None:
        """Return what is declared for a net as one of a pair, though its name makes no pair; None for others.

        Control and clock nets of a declared class or interface are meant for none.
        """
        if self.pairs.complement_of(net) is not None:
            return None
        role, asked = self.assignment.role_of(net), self._declared.get(net)
        if asked is not None:
            return asked if asked.kind == "differential" and not self._is_aside(net) else None
        if role is None or not self.assignment.is_declared(net) or not self._is_half(net, role.family):
            return None
        return self._of_interface(net, is_pair=True)

    def single_of_pair(self, net: int) -> ImpedanceTarget | None:
        """Return what is declared for a net as a single line, though it is one of a pair; None for others."""
        asked = self._declared.get(net)
        return asked if asked and asked.kind == "single" and self.pairs.complement_of(net) is not None else None

    def disagreeing(self, net: int) -> tuple[ImpedanceTarget, ImpedanceTarget] | None:
        """Return what KiCad's names ask of a pair, and what a document asks of its declared interface; None if alike.

        They are alike where the one is within the other's tolerance, or the range in which documents disagree. Of
        memory each controller has its own, and what `[[impedance]]` says settles it.
        """
        role, asked = self.assignment.role_of(net), self.of(net)
        if (
            role is None
            or not role.interface
            or not self.assignment.is_declared(net)
            or family(role.family).single_ended
        ):
            return None
        if asked is None or asked.document or asked.kind == "single" or net in self._declared:
            return None
        required = self._of_interface(net, is_pair=True)
        if required is None or required.document in ("", ENGINEERING):
            return None
        least, most = interface(role.interface).impedance_diff_range_ohm or (required.ohm, required.ohm)
        share = (required.tolerance_pct or USUAL_TOLERANCE_PCT) / 100
        low, high = required.limit_ohm or (least * (1 - share), most * (1 + share))
        return None if low <= asked.ohm <= high else (asked, required)

    def _is_half(self, net: int, of: str) -> bool:
        """Tell whether a net is half of a pair by its family, or as a strobe or clock of one that has both kinds."""
        return family(of).is_half(normalise(self.board.nets[net]))

    def _is_aside(self, net: int) -> bool:
        """Tell whether a net's name is that of a control or clock net."""
        role = self.assignment.role_of(net)
        if role is not None and role.family in ASIDE:
            return True
        of = families() if role is None else (family(role.family),)
        return any(is_sideband(self.board.nets[net], one) for one in of)

    def _of_profile(self, net: int) -> ImpedanceTarget | None:
        project = self.board.project
        name = project.effective(self.board.nets[net]).tuning_profile
        profile = next((p for p in project.tuning_profiles if p.name == name), None) if name else None
        if profile is None or not LEAST_OHM <= profile.target_ohm <= MOST_OHM:
            return None
        return ImpedanceTarget(
            ohm=profile.target_ohm,
            kind="differential" if profile.differential else "single",
            origin=Origin.FILE,
            source=f"KiCad's tuning profile {profile.name}",
            confidence=Confidence.HIGH,
        )

    def _of_rule(self, net: int, *, is_pair: bool) -> ImpedanceTarget | None:
        """Return what the last design rule that is named after an impedance, and certainly applies, requires."""
        name = self.board.nets[net]
        classes = joined_classes(self.board.project, name)
        alike = (name if self._by_net else "", classes, is_pair)
        if alike not in self._of_classes:
            track = TrackOfNet(net=name, classes=classes, layers=self.board.copper_layers[0].names, in_pair=is_pair)
            self._of_classes[alike] = self._required_of(track)
        return self._of_classes[alike]

    def _required_of(self, track: TrackOfNet) -> ImpedanceTarget | None:
        holding = [(rule, named) for rule, named in reversed(self._rules) if holds(rule.condition, track)]
        if not holding:
            return None
        target = _inferred(holding[0][1], f'design rule "{holding[0][0].name}"')
        alike = [
            rule for rule, named in holding if (of := _inferred(named, "")).ohm == target.ohm and of.kind == target.kind
        ]
        return replace(target, rules=tuple(self._rules_on_layers(alike, track)))

    def _rules_on_layers(self, rules: Sequence[DesignRule], track: TrackOfNet) -> Iterator[str]:
        """Yield the first rule that applies on each copper layer, "" for none."""
        layers = self.board.copper_layers
        for index, layer in enumerate(layers):
            there, is_outer = replace(track, layers=layer.names), index in (0, len(layers) - 1)
            yield next((rule.name for rule in rules if applies(rule, there, outer=is_outer)), "")

    def _of_class(self, net: int) -> ImpedanceTarget | None:
        for name in self.board.project.net_classes_of.get(self.board.nets[net], ()):
            named = target_of_name(name)
            if named is not None:
                return _inferred(named, f"net class {name}")
        return None

    def _of_interface(self, net: int, *, is_pair: bool) -> ImpedanceTarget | None:
        role = self.assignment.role_of(net)
        if role is None:
            return None
        if role.family == CLOCK and is_pair and (link := self._of_link(net)) is not None:
            return link
        of = family(role.family)
        if not is_pair and of.single_ended and self._is_half(net, of.id):
            return None  # what single lines have says nothing of a strobe, and its complement is not known
        one = interface(role.interface) if role.interface else of.only
        ohm = _agreed(of, one, is_pair=is_pair)
        if ohm is None:
            return None
        document, source = _document(of, one, is_pair=is_pair)
        return ImpedanceTarget(
            ohm=ohm,
            kind="differential" if is_pair else "single",
            tolerance_pct=one.impedance_tolerance_pct if one else None,
            origin=role.origin,
            source=source,
            document=document,
            confidence=role.confidence,
            **_range(of, one, is_pair=is_pair),
        )

    @cached_property
    def _clock_links(self) -> ClockLinks:
        return ClockLinks(self.board, self.assignment, self.pairs)

    def _of_link(self, clock: int) -> ImpedanceTarget | None:
        """Return the target of the link that a clock serves; None where it is not known, or its lanes differ.

        A clock of 100 MHz is held to what fabs hold as a rule, or to the link's tolerance where that is wider.
        """
        for lanes in self._clock_links.served(clock):
            asked = {lane: target for lane in lanes if (target := self.of(lane)) is not None}
            if len({target.ohm for target in asked.values()}) == 1:
                lane, link = min(asked.items(), key=lambda item: self.board.nets[item[0]])
                return self._as_clock(link, self._clock_links.title_of(lane), self._tolerance_pct(lane, link))
        named = family_named(self.board.nets[clock])
        of_all = _of_family(named) if named else None
        return self._as_clock(of_all, family(named).title, None) if named and of_all else None

    def _tolerance_pct(self, lane: int, link: ImpedanceTarget) -> float | None:
        role = self.assignment.role_of(lane)
        own = interface(role.interface).impedance_tolerance_pct if role and role.interface else None
        return link.tolerance_pct or own

    @staticmethod
    def _as_clock(link: ImpedanceTarget, title: str, tolerance_pct: float | None) -> ImpedanceTarget:
        allowed = max(tolerance_pct or 0.0, CLOCK_TOLERANCE_PCT)
        return replace(link, tolerance_pct=allowed, origin=Origin.INFERRED, confidence=Confidence.LOW, serves=title)


def _named_rules(board: Board) -> list[tuple[DesignRule, NamedImpedance]]:
    """Return the rules of the board's `.kicad_dru` that are named after an impedance; none where KiCad ignores it.

    A rule without a condition says nothing of single nets, and one that tests its layer is open for a net.
    """
    if board.path is None:
        return []
    try:
        rules = read_design_rules(companion(board.path, ".kicad_dru"))
    except BoardFileError:
        return []
    usable = rules.rules if rules is not None and rules.fault is None else ()
    named = ((rule, target_of_name(rule.name)) for rule in usable if rule.condition and "Layer" not in rule.condition)
    return [(rule, target) for rule, target in named if target is not None]


def _of_family(family_id: str) -> ImpedanceTarget | None:
    """Return what all generations of a family ask of a pair; None where they differ."""
    ohm = _agreed(family(family_id), None, is_pair=True)
    if ohm is None:
        return None
    source = f"{family(family_id).title}, all generations agree"
    return ImpedanceTarget(
        ohm=ohm,
        kind="differential",
        origin=Origin.INFERRED,
        source=source,
        confidence=Confidence.LOW,
        **_range(family(family_id), None, is_pair=True),
    )


def _agreed(of: Family, one: Interface | None, *, is_pair: bool) -> float | None:
    """Return the impedance of the generation, or the one on which all generations of the family agree."""
    asked = {i.impedance_diff_ohm if is_pair else i.impedance_single_ohm for i in ([one] if one else of.interfaces)}
    return asked.pop() if len(asked) == 1 else None


def _document(of: Family, one: Interface | None, *, is_pair: bool) -> tuple[str, str]:
    """Return the key of the document that states an interface's impedance, and the source as text.

    Of an unknown generation none is named: the key is empty where each has a document, `engineering` where one has
    none, so that the impedance which all share is no generation's own without it.
    """
    field = "impedance_diff_ohm" if is_pair else "impedance_single_ohm"
    if one is None:
        stated = all(each.document_of(field) != ENGINEERING for each in of.interfaces)
        return "" if stated else ENGINEERING, f"{of.title}, all generations agree"
    if is_pair and one.impedance_diff_limit_ohm:
        field = "impedance_diff_limit_ohm"  # what decides is to be cited
    return one.document_of(field), f"{one.title}, {one.document_of(field)}"


class _Range(TypedDict, total=False):
    range_ohm: tuple[float, float] | None
    limit_ohm: tuple[float, float] | None
    range_of: str


def _range(of: Family, one: Interface | None, *, is_pair: bool) -> _Range:
    """Return the range that is accepted and the limit, with the generation that has the widest where it is not known.

    A document must state them, unless none states the impedance itself: then one is as good as the other.
    """
    kind = "diff" if is_pair else "single"
    field, nominal = f"impedance_{kind}_range_ohm", f"impedance_{kind}_ohm"
    found: list[tuple[float, _Range]] = []
    for each in [one] if one else of.interfaces:
        limit = each.impedance_diff_limit_ohm if is_pair else None
        accepted = each.impedance_diff_range_ohm if is_pair else each.impedance_single_range_ohm
        accepted = accepted if field in each.sources or nominal not in each.sources else None
        if widest := limit or accepted:
            title = "" if one else each.title
            found.append((widest[1] - widest[0], {"range_ohm": accepted, "limit_ohm": limit, "range_of": title}))
    return max(found, key=lambda of_one: of_one[0])[1] if found else {}


def any_generation(of: Family) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the nominal impedances of pairs over all generations, and all that these allow; None where they agree.

    None for memory: each controller has its own, and nets of DDR2 and mobile DDR have the same names.
    """
    stated = [one for one in of.interfaces if one.impedance_diff_ohm]
    if of.single_ended or len({one.impedance_diff_ohm for one in stated}) < 2:
        return None
    accepted, allowed = zip(*map(_accepted, stated), strict=True)
    return _hull(accepted), _hull(allowed)


def _accepted(one: Interface) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the nominal impedances of pairs that makers use for a generation, and all that these allow."""
    ohm = one.impedance_diff_ohm or 0.0
    least, most = one.impedance_diff_range_ohm or (ohm, ohm)
    share = (one.impedance_tolerance_pct or USUAL_TOLERANCE_PCT) / 100
    ends = (least * (1 - share), most * (1 + share), *(one.impedance_diff_limit_ohm or ()))
    return (min(least, ohm), max(most, ohm)), (min(ends), max(ends))


def _hull(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


def _inferred(named: NamedImpedance, source: str) -> ImpedanceTarget:
    usual: Kind = "differential" if named.ohm >= PAIR_FROM_OHM else "single"
    return ImpedanceTarget(
        ohm=named.ohm, kind=named.kind or usual, origin=Origin.INFERRED, source=source, confidence=Confidence.MEDIUM
    )
