"""Insertion loss of links at their Nyquist frequency: lines by length, layer and geometry, and every plated hole.

The loss of a line is length times the solved loss per length of what was really routed, along the path from end to end;
branches do not count, and leave a doubt where they are long. The loss of a hole is that of its stub, which shorts, and
of its barrel, which does not match. A pair's loss is the mean of its traces'. Coupling capacitors, pads and bends count
nothing. Losses in dB, lengths in mm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from drc_rules.analysis.lines.board_lines import lines_of
from drc_rules.analysis.lines.link_geometry import LinkGeometry, not_modelled
from drc_rules.analysis.lines.routed import References
from drc_rules.analysis.lines.solved_lines import LineKey, Lines, LossAt
from drc_rules.analysis.loss.choke_loss import NO_CHOKES, ChokesOnLink, choke_losses
from drc_rules.analysis.loss.hole_loss import NO_HOLES, HoleLosses, HolesOnLink
from drc_rules.analysis.loss.loss_shares import declarations_by_net
from drc_rules.analysis.nets.board_links import board_links, complete_routes, is_declared_as
from drc_rules.analysis.nets.high_speed_layers import LUMPED_SHARE, MM_GHZ_PER_WAVELENGTH
from drc_rules.analysis.return_path.without_plane import need_planes
from drc_rules.analysis.via.high_speed_vias import grouped_stubs
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface, interface
from drc_rules.settings.config import InterfaceDeclaration
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import Confidence, MissingFact, least
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link, Links
from stackup_lib.nets.routing.routes import Route


@record
class LossSection:
    """So much of a link in one geometry, mean of both traces of a pair."""

    key: LineKey
    length_mm: float
    loss: LossAt


@record
class LinkLoss:
    """Loss of one link, of a pair both traces together.

    Attributes:
        nets: of both traces.
        name: the first net's.
        sections: what it runs in, the longest first.
        holes_db: stubs and barrels of the plated holes on the path.
        hole_count: how many holes those are, on the mean of both traces.
        holes: what of their loss can be taken away.
        chokes: common-mode chokes on the way, those with a file and those without.
        on_socket: one of its ends is a connector.
        notes: what was assumed or left out, a phrase each.
        traces: the links of its traces.
        doubts: of these notes those for which the loss may be another one.
    """

    interface: Interface
    nets: tuple[int, ...]
    name: str
    sections: tuple[LossSection, ...]
    holes_db: Interval
    hole_count: float
    on_socket: bool
    notes: tuple[str, ...]
    traces: tuple[Link, ...] = ()
    doubts: tuple[str, ...] = ()
    holes: HolesOnLink = NO_HOLES
    chokes: ChokesOnLink = NO_CHOKES

    @property
    def length_mm(self) -> float:
        """From end to end."""
        return sum(s.length_mm for s in self.sections)

    @cached_property
    def length_mm_by_layer(self) -> Mapping[int, float]:
        """Copper layer -> length on it."""
        sums: dict[int, float] = {}
        for s in self.sections:
            sums[s.key.layer] = sums.get(s.key.layer, 0.0) + s.length_mm
        return sums

    @cached_property
    def line_db(self) -> Interval:
        """All lines together."""
        total = ZERO
        for s in self.sections:
            total = total.plus(s.loss.total_db_per_mm.times(s.length_mm))
        return total

    @property
    def total_db(self) -> Interval:
        """Lines, holes, and chokes by their files; `high` is infinite where a stub may resonate at Nyquist."""
        return self.line_db.plus(self.holes_db).plus(self.chokes.known_db)

    @property
    def dielectric_db(self) -> float:
        """Nominal share of the dielectrics."""
        return sum(s.length_mm * s.loss.dielectric_db_per_mm for s in self.sections)

    @property
    def copper_db(self) -> float:
        """Nominal share of smooth copper."""
        return sum(s.length_mm * s.loss.copper_db_per_mm for s in self.sections)

    @property
    def roughness_db(self) -> float:
        """Nominal share of the copper's roughness."""
        return sum(s.length_mm * s.loss.roughness_db_per_mm for s in self.sections)


@record
class InterfaceLosses:
    """The links of one interface.

    Attributes:
        known: the worst first.
        missing: by nets, why the loss of others is not known.
        confidence: how sure all is that the losses rest on, but for the Df: stackup, Dk, route.
        df_confidence: how sure the Df is.
    """

    known: tuple[LinkLoss, ...]
    missing: tuple[tuple[tuple[int, ...], MissingFact], ...]
    confidence: Confidence
    df_confidence: Confidence


@record
class LinkLosses:
    """The losses of a board's high-speed links, computed for an interface when it is first needed."""

    ctx: Context

    @property
    def links(self) -> Links:
        """The links of the board."""
        return self.ctx.get(board_links)

    @property
    def rows(self) -> Mapping[int, InterfaceDeclaration]:
        """Net -> the `[[interface]]` that decides on it."""
        return self.ctx.get(declarations_by_net)

    def of(self, interface_id: str, *, declared: bool) -> InterfaceLosses:
        """Return the losses of an interface's declared links, or of those that were only inferred to be of it.

        How sure they are is part of the answer: the asker rests on it where it uses them.
        """
        with self.ctx.aside():
            return self.ctx.get(_losses_of, interface_id, declared=declared)

    def nets_of(self, interface_id: str, *, declared: bool) -> tuple[int, ...]:
        """Return the nets of an interface that are declared, or only inferred."""
        nets = self.ctx.nets_of(interface_id).tolist()
        return tuple(net for net in nets if self.ctx.assignment.is_declared(net) == declared)

    def computed(
        self, one: Interface, *, declared: bool
    ) -> tuple[tuple[LinkLoss, ...], tuple[tuple[tuple[int, ...], MissingFact], ...]]:
        """Return the links whose loss is known, the worst first, and by nets why that of others is not."""
        holes = HoleLosses(self.ctx, one, self.ctx.get(grouped_stubs))  # a net may be shared with another interface
        known, missing = [], []
        chosen = list(self.traces_of(one, declared=declared))
        self.links.prepare(trace for traces in chosen for trace in traces)
        all_nets = [net for traces in chosen for trace in traces for net in trace.nets]
        lines_of(self.ctx, all_nets)  # all in one go; it keeps them
        for traces in chosen:
            mine = tuple(net for trace in traces for net in trace.nets)
            name = self.ctx.board.nets[mine[0]]
            try:
                known.append(self._loss(one, traces, holes))
            except MissingFact as fact:
                missing.append((mine, fact))
            except StackwrightError as error:
                missing.append((mine, MissingFact(f"the loss of {name} ({error.what})", error.next_step)))
        known.sort(key=lambda link: (-round(link.total_db.nominal, 6), -round(link.length_mm, 6), link.name))
        missing.sort(key=lambda row: [self.ctx.board.nets[net] for net in row[0]])
        return tuple(known), tuple(missing)

    def traces_of(self, one: Interface, *, declared: bool) -> Iterator[tuple[Link, ...]]:
        """Yield an interface's links, those of a pair together; nets with one pad and no track have no second end.

        A link of which only some nets are declared is a declared one, and no inferred one as well.
        """
        done: set[int] = set()
        for link in self.links.of_nets(self.nets_of(one.id, declared=declared)):
            if link.index in done or not (link.length_mm or len(link.ends) > 1) or self._is_another(one, link):
                continue
            complement = self.links.complement_of(link)
            traces = (link,) if complement is None or complement.index in done else (link, complement)
            done.update(trace.index for trace in traces)
            if declared or not is_declared_as(self.ctx, one.family, *traces):
                yield traces

    def _is_another(self, one: Interface, link: Link) -> bool:
        """Tell whether a link that shares a net with an interface's is of another family beyond the fork."""
        beyond = [net for net in link.nets if len(self.links.rows_of_net[net]) == 1]
        roles = [role for role in (self.ctx.assignment.role_of(net) for net in beyond) if role is not None]
        return bool(roles) and all(role.family != one.family for role in roles)

    def _loss(self, one: Interface, traces: tuple[Link, ...], holes: HoleLosses) -> LinkLoss:
        by_trace = [complete_routes(self.ctx, trace) for trace in traces]
        routes = [route for of_trace in by_trace for route in of_trace]
        nets = tuple(net for trace in traces for net in trace.nets)
        geometry = LinkGeometry(self.ctx, nets)
        share = 1 / len(traces)
        lengths: dict[LineKey, float] = {}
        for route in routes:
            for piece in route.pieces:
                for key, length in geometry.spread(piece):
                    lengths[key] = lengths.get(key, 0.0) + share * length
        if not lengths:
            raise MissingFact(f"the route of {self.ctx.board.nets[nets[0]]}", "route it, then check again")
        for trace in traces:
            need_planes(self.ctx, trace.nets, trace.length_mm)
        sections = tuple(self._section(one, key, length) for key, length in lengths.items())
        on_way = holes.on(by_trace)
        ways = (*(note for trace in traces for note in self._forks(trace)), *_long_branches(self.ctx, one, routes))
        chokes = choke_losses(self.ctx, traces, one.nyquist_ghz or 0.0)
        doubts = tuple(dict.fromkeys((*ways, *self._beyond_limit(sections))))
        if doubts:
            self.ctx.rests_on(Confidence.LOW)  # another way than this one, or more loss than is computed
        noted = (*self._notes(sections), *geometry.notes, *not_modelled(self.ctx, nets))
        return LinkLoss(
            interface=one,
            nets=nets,
            name=self.ctx.board.nets[nets[0]],
            sections=tuple(sorted(sections, key=lambda s: -s.length_mm)),
            holes_db=on_way.total_db,
            hole_count=on_way.count,
            holes=on_way,
            chokes=chokes,
            on_socket=any(
                reference_kind(pad.reference) is ReferenceKind.SOCKET for trace in traces for pad in trace.ends
            ),
            notes=tuple(dict.fromkeys((*noted, *doubts, *_of_chokes(chokes)))),
            traces=traces,
            doubts=doubts,
        )

    def at(self, link: LinkLoss, frequency_ghz: float) -> LinkLoss:
        """Return what a link of this board loses at another frequency: the same lines and holes, computed the same way.

        Raises:
            MissingFact: a Dk or Df is not known there.
            StackwrightError: a line cannot be solved there.
        """
        one = link.interface.model_copy(update={"nyquist_ghz": frequency_ghz})
        by_trace = [complete_routes(self.ctx, trace) for trace in link.traces]
        on_way = HoleLosses(self.ctx, one, self.ctx.get(grouped_stubs)).on(by_trace)
        sections = tuple(self._section(one, s.key, s.length_mm) for s in link.sections)
        chokes = choke_losses(self.ctx, link.traces, frequency_ghz)
        return replace(link, interface=one, sections=sections, holes_db=on_way.total_db, holes=on_way, chokes=chokes)

    def _forks(self, trace: Link) -> Iterator[str]:
        """Yield what is doubtful about a link: where it might lead to another end instead, or as well."""
        yield from trace.notes
        for net in trace.nets:
            for other in self.links.of(net):
                ends = {pad.name for pad in other.ends} - {pad.name for pad in trace.ends}
                if other.index != trace.index and ends:
                    name, where = self.ctx.board.nets[net], ", ".join(sorted(ends))
                    yield f"{name} leads to {where} too: counted as if the parts on that way were not fitted"

    def _section(self, one: Interface, key: LineKey, length_mm: float) -> LossSection:
        Lines(self.ctx).lines(key)
        with self.ctx.aside():  # only Df is needed in here, and how sure that is counts apart
            return LossSection(key, length_mm, self.ctx.get(_loss_at, key, one.nyquist_ghz or 0.0))

    def df_confidence(self, link: LinkLoss) -> Confidence:
        """Return how sure the least sure Df next to a link is."""
        nyquist = link.interface.nyquist_ghz or 0.0
        where = {(s.key.layer, s.key.references) for s in link.sections}
        return least(Confidence.HIGH, *(self.ctx.get(_df_sure, index, planes, nyquist) for index, planes in where))

    def adjacent_df(self, link: LinkLoss, at_ghz: float) -> float | None:
        """Return the highest Df next to the layer on which most of a link runs; None where one is not known."""
        key = link.sections[0].key
        return self.ctx.get(_adjacent_df, key.layer, key.references, at_ghz)

    def _notes(self, sections: Sequence[LossSection]) -> Iterator[str]:
        for s in sections:
            yield from s.loss.assumptions
            yield from self._beyond_limit([s])

    def _beyond_limit(self, sections: Sequence[LossSection]) -> Iterator[str]:
        """Yield on which layers the model of a line ends below Nyquist."""
        for s in sections:
            if not s.loss.is_quasi_static:
                name = self.ctx.board.copper_layers[s.key.layer].name
                limit = f"{s.loss.limit_ghz:.0f} GHz ({s.loss.limit_reason})"
                yield f"on {name} more is lost than is computed beyond {limit}"


def _losses_of(ctx: Context, interface_id: str, *, declared: bool) -> InterfaceLosses:
    losses, one = LinkLosses(ctx), interface(interface_id)
    with ctx.recording() as used:
        known, missing = losses.computed(one, declared=declared)
    of_df = least(Confidence.HIGH, *(losses.df_confidence(link) for link in known))
    return InterfaceLosses(known, missing, used.confidence, of_df)


def _loss_at(ctx: Context, key: LineKey, frequency_ghz: float) -> LossAt:
    return Lines(ctx).loss(key, frequency_ghz)


def _adjacent_df(ctx: Context, index: int, references: References | None, at_ghz: float) -> float | None:
    facts = [ply.df.at(at_ghz) for ply in Lines(ctx).site(index, references).plies]
    values = [fact.value for fact in facts if fact.known and fact.value is not None]
    return max(values) if values and len(values) == len(facts) else None


def _df_sure(ctx: Context, index: int, references: References | None, frequency_ghz: float) -> Confidence:
    plies = Lines(ctx).site(index, references).plies
    return least(Confidence.HIGH, *(ply.df.at(frequency_ghz).confidence for ply in plies))


def _of_chokes(chokes: ChokesOnLink) -> Iterator[str]:
    if chokes.unknown:
        yield f"the loss and delay of {', '.join(chokes.unknown)} are not in it: no [[part_model]] has its file"


def _long_branches(ctx: Context, one: Interface, routes: Sequence[Route]) -> Iterator[str]:
    """Yield the branches that are long enough at Nyquist to reflect: they are not counted."""
    lumped_mm = LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / (one.nyquist_ghz or 1.0)
    for route in routes:
        longest = max((branch.reach_mm for branch in route.branches), default=0.0)
        if longest > lumped_mm:
            yield f"the branch of {longest:.1f} mm on {ctx.board.nets[route.net]} is not counted"
