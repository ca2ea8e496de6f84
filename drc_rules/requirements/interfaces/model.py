"""Families of signalling standards and their generations: rates, impedances, budgets, net names, clauses.

Data is TOML next to this file. Net names tell a family (PCIe), seldom a generation (Gen5): limits of a generation need
a declaration, a profile that says which generation its board type carries, or a name that spells it out.
"""

import math
import re
from collections.abc import Mapping
from functools import cached_property

from pydantic import Field

from drc_rules.requirements.clauses import Basis, Clause, Limit, Severity, Source
from stackup_lib.channels.reference import ReferenceChannel
from stackup_lib.core.frozen import Frozen

ENGINEERING = "engineering"
"""Document of a number for which no document was found; such a number never makes an error."""


COMPUTED = "physics"
"""Document of a number that follows from others by a formula."""


class InterfaceClause(Frozen):
    """A clause of one interface, for the workloads that it is stated for; its id is `<workload>.<what>.<interface>`.

    Attributes:
        covered_by: kinds of clauses that make it needless for a faster link that has them.
    """

    what: str
    workloads: tuple[str, ...]
    kind: str
    title: str
    severity: Severity
    basis: Basis = Basis.REQUIREMENT
    limit: Limit = Field(default_factory=Limit)
    source: Source
    covered_by: tuple[str, ...] = ()
    note: str = ""

    def of(self, interface: str, workload: str) -> Clause:
        """Return it as a clause of one interface under one workload."""
        fields = self.model_dump(exclude={"what", "workloads", "covered_by"})
        return Clause(id=f"{workload}.{self.what}.{interface}", interface=interface, **fields)


class Pattern(Frozen):
    """How nets of a family are named: `head`, then, where there is one, `tail` anywhere behind it; case is ignored.

    Two short expressions in place of one long one: the time for any name stays quadratic in its length. A `generic`
    name says less than what the net ends at or is joined to.
    """

    head: str
    tail: str = ""
    generic: bool = False

    @cached_property
    def _head(self) -> re.Pattern[str]:
        return re.compile(self.head)

    @cached_property
    def _tail(self) -> re.Pattern[str]:  # few boards have names for which it is needed
        return re.compile(self.tail)

    def matches(self, normalised: str) -> bool:
        """Return True for a normalised net name of the family."""
        found = self._head.search(normalised)
        return found is not None and (not self.tail or self._tail.search(normalised, found.end()) is not None)


class Bus(Frozen):
    """Names that tell an interface only together: the nets of a bus that join the chips of its differential strobes.

    Expressions for the part of a name behind the last slash, in capitals. Nets of one bus have the same path and the
    same text in group `bus`.

    Attributes:
        strobe: a strobe's net, its polarity (P or N, T or C, + or -, none or #) in group `sign`; its complement must be
            there.
        member: any net of the bus.
        sheet: the whole name of a sheet, in capitals, on which strobes without a complement count.
        needs: another net that a bus of the family has where one of another family with such strobes has none.
    """

    sheet: str
    strobe: str
    member: str
    needs: str = ""


class LossMask(Frozen):
    """A piece of the largest insertion loss of a whole channel: a sum of powers of the frequency in GHz.

    Attributes:
        role: kind of channel, a key of `board_loss_db`; empty for a channel of no declared kind.
        title: of the mask.
        to_ghz: up to where it holds, from the end of the piece before.
        from_ghz: where the first piece begins.
    """

    role: str
    title: str
    to_ghz: float
    from_ghz: float = 0.01
    db: float = 0.0
    db_per_root_ghz: float = 0.0
    db_per_ghz: float = 0.0
    db_per_ghz2: float = 0.0
    db_per_ghz3: float = 0.0

    def at(self, frequency_ghz: float) -> float:
        """Return the largest loss in dB."""
        powers = (
            (self.db_per_ghz3 * frequency_ghz + self.db_per_ghz2) * frequency_ghz + self.db_per_ghz
        ) * frequency_ghz
        return self.db + self.db_per_root_ghz * math.sqrt(frequency_ghz) + powers


class ReturnMask(Frozen):
    """A piece of the least return loss: db + db_per_ghz f + db_per_decade log10(f), in GHz.

    Attributes:
        role: kind of channel, a key of `board_loss_db`; empty for a channel of no declared kind.
        title: of the mask.
        what: it is of, as it stands in a sentence.
        to_ghz: up to where it holds, from the end of the piece before.
        from_ghz: where the first piece begins.
    """

    role: str
    title: str
    what: str
    to_ghz: float
    from_ghz: float = 0.01
    db: float = 0.0
    db_per_ghz: float = 0.0
    db_per_decade: float = 0.0

    def at(self, frequency_ghz: float) -> float:
        """Return the least return loss in dB."""
        return self.db + self.db_per_ghz * frequency_ghz + self.db_per_decade * math.log10(frequency_ghz)


class Interface(Frozen):
    """One generation of a signalling standard.

    Attributes:
        id: such as `pcie5`.
        family: id of its family.
        words: expression that a net class or net name contains when it spells out this generation; may be empty.
        loose_words: the same, which in the name of a net may mean something else, so that the profile goes before it.
        rate: per lane or pin, in `rate_unit`.
        nyquist_ghz: Nyquist frequency, None where there is none.
        fabric: joins accelerators, so as many lanes leave each of them as of NVLink.
        impedance_diff_ohm, impedance_single_ohm: nominal impedance; the ranges hold what makers also use.
        impedance_diff_limit_ohm: least and most that a document allows; then no tolerance decides.
        impedance_tolerance_pct: usual tolerance.
        channel_loss_db: insertion loss of the whole channel at the Nyquist frequency.
        board_loss_db: the board's share of it by topology, e.g. `add_in_card`.
        loss_mask: largest insertion loss of whole channels over frequency, pieces rising; only where it is published.
        return_mask: least return loss over frequency, pieces rising; only where it is published.
        reference_channel: what the standard refers a channel to, for its operating margin; only where all is published.
        stub_limit_mm: of a via, by a document; or by the quarter wave (`physics`), where VIA002 judges in its place.
        skew_ps, skew_mm: allowed difference within a pair.
        skew_card_mm: the same between device and edge of an add-in card.
        skew_if_declared: nets of far slower links have the same names, so that only declared ones are held to it.
        lane_skew_ps: allowed difference between any two pairs of a port.
        lane_skew_system_ps, lane_skew_card_ps: of that, the shares of a board with a slot and of an add-in card.
        clock_skew_ps: allowed difference between a pair and the clock of its port.
        return_paths: of a family that is not fast, the return paths of data and address count as of one that is.
        group_skew_ps: allowed difference between the data of a memory's byte and its strobe, or within a parallel link.
        address_skew_ps: allowed difference between a memory's address or command and its clock.
        clock_after_strobe_ps: least and most by which a memory's clock may arrive after a strobe; negative: before it.
        coupling_nf: least and largest coupling capacitor, at the transmitter where they differ.
        coupling_receiver_nf: of one that is fitted at the receiver as well.
        pair_spacing_heights: distance between pairs, in heights over the nearer plane, that a maker's guide requires.
        data_length_mm, data_vias: longest data net of a memory and most vias on it, by a controller maker's guide.
        byte_layers: inner layers over which the bits of a byte may spread, by the same.
        at_least_as: slower links whose clauses hold at least for this one; those of other families as warnings.
        electrical_layer: link of another family whose electrical layer this one has by a document: its clauses hold.
        clause: what is required: its own rows, and those of slower links (`inherit.py`).
        sources: field name, or `board_loss_db.<topology>`, -> document; what has none is engineering knowledge.
    """

    id: str
    title: str
    family: str = ""
    words: str = ""
    loose_words: str = ""
    rate: float
    rate_unit: str
    modulation: str
    nyquist_ghz: float | None = None
    fabric: bool = False
    impedance_diff_ohm: float | None = None
    impedance_diff_range_ohm: tuple[float, float] | None = None
    impedance_diff_limit_ohm: tuple[float, float] | None = None
    impedance_single_ohm: float | None = None
    impedance_single_range_ohm: tuple[float, float] | None = None
    impedance_tolerance_pct: float | None = None
    channel_loss_db: float | None = None
    board_loss_db: Mapping[str, float] = Field(default_factory=dict)
    loss_mask: tuple[LossMask, ...] = ()
    return_mask: tuple[ReturnMask, ...] = ()
    reference_channel: ReferenceChannel | None = None
    stub_limit_mm: float | None = None
    skew_ps: float | None = None
    skew_mm: float | None = None
    skew_card_mm: float | None = None
    skew_if_declared: bool = False
    lane_skew_ps: float | None = None
    lane_skew_system_ps: float | None = None
    lane_skew_card_ps: float | None = None
    clock_skew_ps: float | None = None
    return_paths: bool = False
    group_skew_ps: float | None = None
    address_skew_ps: float | None = None
    clock_after_strobe_ps: tuple[float, float] | None = None
    coupling_nf: tuple[float, float] | None = None
    coupling_receiver_nf: tuple[float, float] | None = None
    pair_spacing_heights: float | None = None
    data_length_mm: float | None = None
    data_vias: int | None = None
    byte_layers: int | None = None
    at_least_as: tuple[str, ...] = ()
    electrical_layer: str = ""
    sources: Mapping[str, str] = Field(default_factory=dict)
    note: str = ""
    clause: tuple[InterfaceClause, ...] = ()

    def document_of(self, field: str) -> str:
        """Return the key of the document that a number stands in, `engineering` when none was found."""
        return self.sources.get(field) or self.sources.get(field.partition(".")[0], ENGINEERING)

    def clauses(self, workload: str) -> tuple[Clause, ...]:
        """Return what it asks of a board of that workload."""
        return tuple(row.of(self.id, workload) for row in self.clause if workload in row.workloads)

    def stub_clause(self, scope: str) -> Clause | None:
        """Return the limit that a maker's guide has for a via stub, on any board; None where no document has one.

        Guides are for a maker's parts, and no specification of an interface limits a stub: a warning.
        """
        document = self.document_of("stub_limit_mm")
        if self.stub_limit_mm is None or document in (ENGINEERING, COMPUTED):
            return None
        most = self.stub_limit_mm
        return Clause(
            id=f"{scope}.stub.{self.id}",
            kind="via_stub",
            title=f"{self.title}: via stub <= {most:g} mm",
            severity=Severity.WARNING,
            basis=Basis.PHYSICS,
            limit=Limit(max=most, unit="mm", decimals=2),
            source=Source(document=document, row=f"via stub of {self.title}, {most:g} mm at most"),
            interface=self.id,
        )


class Family(Frozen):
    """Interfaces that share their nets and names.

    Attributes:
        fast: laminate, foil, stubs and return paths can matter to it.
        single_ended: its nets are not all pairs.
        general: pins for any use: other evidence goes before, and what runs on its pairs stays an open question.
        class_words: expressions for words of a net class name.
        class_holds: slower families on the same connectors, whose pairs a class of this name often holds too.
        bus: what names tell only together, where they do not name the interface.
        swap: the document by which every receiver corrects a pair whose traces are swapped, "forbidden" where none
            does, "" where it hangs on the parts.
        never: words of sideband nets, which are not of the family whatever else their name says.
        paired: expression within names of nets that are halves of pairs in every generation, of a family of both kinds.
        interfaces: its generations, slowest first.
    """

    id: str
    title: str
    fast: bool
    single_ended: bool = False
    general: bool = False
    class_words: tuple[str, ...] = ()
    class_holds: tuple[str, ...] = ()
    never: str = ""
    paired: str = ""
    pattern: tuple[Pattern, ...] = ()
    bus: Bus | None = None
    swap: str = ""
    interface: tuple[Interface, ...]

    @cached_property
    def _never(self) -> re.Pattern[str] | None:
        return re.compile(rf"(?<![A-Z])(?:{self.never})[NBL]?\d*(?![A-Z])") if self.never else None

    def excludes(self, normalised: str) -> bool:
        """Return True for a normalised net name that is a sideband of the family."""
        return self._never is not None and self._never.search(normalised) is not None

    @cached_property
    def _paired(self) -> re.Pattern[str] | None:
        return re.compile(self.paired) if self.paired else None

    def is_half(self, normalised: str) -> bool:
        """Return True for a normalised name of a net that is half of a pair, be its complement found or not."""
        return not self.single_ended or (self._paired is not None and self._paired.search(normalised) is not None)

    def claims(self, normalised: str) -> bool:
        """Return True for a normalised net name that reads as one of the family's."""
        return any(pattern.matches(normalised) for pattern in self.pattern) and not self.excludes(normalised)

    def claims_loosely(self, normalised: str) -> bool:
        """Return True for a name that only generic patterns match."""
        found = [pattern for pattern in self.pattern if pattern.matches(normalised)]
        return bool(found) and all(pattern.generic for pattern in found)

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """Its generations."""
        return self.interface

    @property
    def by_rate(self) -> tuple[Interface, ...]:
        """Its generations that have a Nyquist frequency, the slowest first."""
        judged = (one for one in self.interface if one.nyquist_ghz)
        return tuple(sorted(judged, key=lambda one: (one.nyquist_ghz or 0.0, one.id)))

    @property
    def only(self) -> Interface | None:
        """Its generation where there is one only: then naming the family says which; None otherwise."""
        return self.interface[0] if len(self.interface) == 1 else None
