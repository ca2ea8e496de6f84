"""What every rule is handed: the board and all that is known of it, each part computed once, on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from drc_rules.clauses import Clause
from drc_rules.declared import Declarations
from drc_rules.dielectrics import DielectricPly, resolve_plies
from drc_rules.formula import Value
from drc_rules.interfaces import Assignment, Interface, families, interface
from drc_rules.net_choice import nets_line, toml_value
from stackup_lib.board import Board, Ints, Stackup
from stackup_lib.copper_map import CopperMap
from stackup_lib.defaults import is_untouched_default
from stackup_lib.facts import Confidence, Fact, MissingFact, Origin, unknown
from stackup_lib.holes import PlatedHole, plated_holes
from stackup_lib.materials import FoilGrade, catalogue, find_foil
from stackup_lib.pairs import Pairs, find_pairs
from stackup_lib.roles import LayerUse, layer_uses

if TYPE_CHECKING:
    from drc_rules.controlled import ControlledLine, NetTarget
    from drc_rules.copper_tables import LinkImpedance
    from drc_rules.fast_vias import StubGroup
    from drc_rules.hole_gaps import HoleGaps
    from drc_rules.lines import Key as LineKey
    from drc_rules.lines import Lines
    from drc_rules.link_loss import InterfaceLosses, LinkLosses
    from drc_rules.power_rails import PowerRails
    from drc_rules.return_paths import ReturnPaths
    from stackup_lib.lines.lossy import SolvedLine
    from stackup_lib.spaces import SpaceFinder

T = TypeVar("T")

DECLARE_STACKUP = "in KiCad, File > Board Setup > Physical Stackup: enter the fab's stackup and save the board"
FILL_ZONES = "in KiCad, press B to fill all zones and save the board"
NO_PLANE = f"no filled copper lies above or below it: draw a plane there, then {FILL_ZONES}"
LUMPED_SHARE = 0.1
"""A conductor shorter than this share of a wavelength is lumped: it does not count as routed on its layer."""
MM_GHZ_PER_WAVELENGTH = 299.792458 / 2.0
"""Speed of light in mm GHz over sqrt(Dk) with Dk 4: wavelength in mm is this over the frequency in GHz."""


@dataclass(frozen=True)
class FastLayer:
    """A copper layer on which an interface is routed.

    Attributes:
        index: copper layer.
        interface: the interface that is routed there.
        nets: its nets with a track on the layer that is longer than a lumped breakout.
        longest_mm: longest of them on this layer.
        inferred: True when none of them was declared to be that interface.
    """

    index: int
    name: str
    interface: Interface
    nets: tuple[int, ...]
    longest_mm: float
    inferred: bool


@dataclass(frozen=True)
class Gathered:
    """What took long to find out and others may ask for again: losses of links by interface, and solved lines."""

    losses: Mapping[tuple[str, bool], InterfaceLosses]
    solved: Mapping[LineKey, SolvedLine]


@dataclass
class Context:
    """Everything a rule may ask; rules take facts through `need`, which records how far they are to be trusted."""

    board: Board
    declarations: Declarations
    assignment: Assignment
    _used: list[Confidence] = field(default_factory=list, repr=False)

    @contextmanager
    def recording(self) -> Iterator[list[Confidence]]:
        """Collect the confidences of the facts that are needed inside the block."""
        outer, self._used = self._used, []
        try:
            yield self._used
        finally:
            self._used = outer

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Look at what decides nothing and is only shown beside the answer: however sure it is, nothing rests on it."""
        with self.recording():
            yield

    def need(self, fact: Fact[T]) -> T:
        """Return the fact's value; raises `MissingFact` when it is unknown or stale."""
        value = fact.need()
        self._used.append(fact.confidence)
        return value

    def rests_on(self, confidence: Confidence) -> None:
        """Record that the answer is no surer than this, for what is no `Fact` (a role, a fill)."""
        self._used.append(confidence)

    def shows(self, what: str, **numbers: Value) -> None:
        """Tell with which numbers an object is judged, by the symbols of the rule's formula; only `explain` listens."""

    def gathered(self) -> Gathered:
        """Return what another process may want to know."""
        known = vars(self)
        losses = self.link_losses.found if "link_losses" in known else {}
        return Gathered(losses, self.lines.known if "lines" in known else {})

    def adopt(self, gathered: Gathered) -> None:
        """Take over what another process has found out about the same board."""
        if gathered.losses:
            self.link_losses.found.update(gathered.losses)
        if gathered.solved:
            self.lines.known.update(gathered.solved)

    @cached_property
    def is_default_stackup(self) -> bool:
        """True when the file's stackup is what KiCad writes before anybody has entered one."""
        return self.board.stackup is not None and is_untouched_default(self.board)

    def stackup(self) -> Stackup:
        """Return the declared stackup; raises `MissingFact` when there is none, or only KiCad's default."""
        if self.board.stackup is None:
            raise MissingFact("the stackup", DECLARE_STACKUP)
        if self.is_default_stackup:
            raise MissingFact("the stackup (the file holds KiCad's untouched default)", DECLARE_STACKUP)
        return self.board.stackup

    @cached_property
    def plies(self) -> tuple[DielectricPly, ...]:
        """Every dielectric ply, top to bottom."""
        return resolve_plies(self.board.stackup, self.declarations, catalogue(), trust_file=not self.is_default_stackup)

    def known_plies(self) -> tuple[DielectricPly, ...]:
        """Return every dielectric ply; raises `MissingFact` when nobody has stated any material."""
        if not any(ply.stated for ply in self.plies):
            self.stackup()
        if not self.plies:
            raise MissingFact("the dielectrics", DECLARE_STACKUP)
        return self.plies

    @cached_property
    def uses(self) -> tuple[LayerUse, ...]:
        """What each copper layer is used for."""
        return layer_uses(self.board)

    def filled_uses(self) -> tuple[LayerUse, ...]:
        """Return the layer uses; raises `MissingFact` when the board has zones but no fills are stored."""
        zones = self.board.zones
        if np.any(zones.is_rule_area == 0) and not len(zones.fill_layer):
            raise MissingFact("the filled copper of the zones", FILL_ZONES)
        return self.uses

    def copper_thickness_mm(self, index: int) -> Fact[float]:
        """Thickness of a copper layer as the stackup states it."""
        name = self.board.copper_layers[index].name
        title = f"copper thickness of {name}"
        stackup = self.board.stackup
        if stackup is None or self.is_default_stackup:
            return unknown(title, DECLARE_STACKUP)
        row = next((row for row in stackup.copper if row.name == name), None)
        if row is None or row.thickness_mm is None:
            return unknown(title, DECLARE_STACKUP)
        return Fact[float](name=title, value=row.thickness_mm, origin=Origin.FILE, source=f"stackup row {name}")

    def foil_name(self, index: int) -> Fact[str]:
        """Foil of a copper layer as declared: a grade or a maker's foil; KiCad has no field for it."""
        layer = self.board.copper_layers[index].name
        title = f"foil grade of {layer}"
        own = self.declarations.config.declared.copper.get(layer)
        how = _declare_foil(layer)
        stated = self.declarations.of_stackup(title, own.foil, f'copper."{layer}".foil') if own and own.foil else None
        fact = stated or self.declarations.foil
        if fact.value is None:
            return unknown(title, how)
        return fact.model_copy(update={"name": title, "how_to_give": fact.how_to_give or how})

    def foil(self, index: int) -> Fact[FoilGrade]:
        """Foil grade of a copper layer."""
        fact = self.foil_name(index)
        grade = find_foil(fact.value).grade if fact.value is not None else None
        if grade is None:
            return unknown(fact.name, _declare_foil(self.board.copper_layers[index].name))
        return Fact[FoilGrade](
            name=fact.name,
            value=grade,
            origin=fact.origin,
            source=fact.source,
            stale=fact.stale,
            how_to_give=fact.how_to_give,
        )

    @cached_property
    def _routed_mm(self) -> dict[tuple[int, int], float]:
        """(net, layer) -> routed length in mm."""
        tracks, layers = self.board.tracks, max(self.board.layer_count, 1)
        unique, inverse = np.unique(tracks.net * layers + tracks.layer, return_inverse=True)
        sums = np.bincount(inverse, tracks.length_mm, len(unique))
        return {(int(k) // layers, int(k) % layers): float(v) for k, v in zip(unique, sums, strict=True)}

    @cached_property
    def copper(self) -> CopperMap:
        """Filled copper by point."""
        return CopperMap(self.board)

    @cached_property
    def pairs(self) -> Pairs:
        """Differential pairs by the names of their nets."""
        return find_pairs(self.board)

    @cached_property
    def lines(self) -> Lines:
        """Impedance and loss of any width and gap on any layer, solved once each."""
        from drc_rules.lines import Lines  # noqa: PLC0415 - lines know the context, and the solver is heavy

        return Lines(self)

    @cached_property
    def nets_by_target(self) -> Mapping[NetTarget, list[int]]:
        """The nets that somebody asks an impedance of, routed or not."""
        from drc_rules.controlled import nets_by_target  # noqa: PLC0415 - it knows the context

        return nets_by_target(self)

    @cached_property
    def controlled_lines(self) -> tuple[ControlledLine, ...]:
        """Every routed geometry of every net with a target impedance."""
        from drc_rules.controlled import controlled_lines  # noqa: PLC0415 - it knows the context

        return controlled_lines(self)

    @cached_property
    def link_impedances(self) -> tuple[LinkImpedance, ...]:
        """The impedance along the route of every link with a target, the worst of each target first."""
        from drc_rules.route_impedance import link_impedances  # noqa: PLC0415 - it knows the context

        return link_impedances(self)

    @cached_property
    def link_losses(self) -> LinkLosses:
        """Loss of the fast links at Nyquist, computed per interface on first use."""
        from drc_rules.link_loss import LinkLosses  # noqa: PLC0415 - it knows the context

        return LinkLosses(self)

    @cached_property
    def power_rails(self) -> PowerRails:
        """The declared rails, solved on first use."""
        from drc_rules.power_rails import PowerRails  # noqa: PLC0415 - it knows the context

        return PowerRails(self)

    @cached_property
    def return_paths(self) -> ReturnPaths:
        """The planes under and over the tracks of fast nets."""
        from drc_rules.return_paths import ReturnPaths  # noqa: PLC0415 - it knows the context

        return ReturnPaths(self)

    def nets_of(self, interface_id: str) -> Ints:
        """Return the nets taken for an interface, by declaration or inference."""
        return self.assignment.nets_of(interface_id)

    def nets_of_clause(self, clause: Clause) -> Ints:
        """Return the nets of the clause's interface; raises `MissingFact` when none are known."""
        nets = self.nets_of(clause.interface or "")
        if not len(nets):
            how = f'[[interface]]\nis = "{clause.interface}"\nnet_classes = ["?"]  # or nets = ["/PATTERN*"]'
            raise MissingFact(f"which nets are {clause.interface}", how)
        return nets

    def assignment_lines(self, family_id: str) -> str:
        """Return the `net_classes` and `nets` lines that choose a family's nets of unknown generation."""
        board = self.board
        roles = [self.assignment.role_of(net) for net in range(len(board.nets))]
        nets = [n for n, role in enumerate(roles) if role and role.family == family_id and role.interface is None]
        classes: set[str] = set()
        loose: list[int] = []
        for net in nets:
            named = board.project.net_classes_of.get(board.nets[net], ())
            mine = [c for c in named if f"net class {c}" == getattr(roles[net], "group", "")]
            classes.update(mine)
            loose += [] if mine else [net]
        lines = [f"net_classes = {toml_value(sorted(classes))}"] if classes else []
        return "\n".join([*lines, *([nets_line(board, loose)] if loose else [])])

    @cached_property
    def fast_holes(self) -> tuple[PlatedHole, ...]:
        """Vias and plated pads on the nets of every fast family, whether or not their generation is known."""
        fast = [self.nets_of(of.id) for of in families() if of.fast]
        nets = np.unique(np.concatenate([*fast, np.zeros(0, dtype=np.int64)]))
        return plated_holes(self.board, nets)

    @cached_property
    def hole_gaps(self) -> HoleGaps | None:
        """How near drilled holes come to the copper of other nets on inner layers."""
        from drc_rules.hole_gaps import hole_gaps  # noqa: PLC0415 - half a second on a large board, and shapely

        return hole_gaps(self.copper, fills=self.spaces.posts)

    @cached_property
    def spaces(self) -> SpaceFinder:
        """The spaces between copper of different nets, layer by layer, as far as the fab clauses ask."""
        from drc_rules.fab_spaces import space_finder  # noqa: PLC0415 - it knows the context, and shapely

        return space_finder(self)

    @cached_property
    def stub_groups(self) -> tuple[StubGroup, ...]:
        """The holes of every fast net, in groups that are used, drilled and shaped alike."""
        from drc_rules.fast_vias import grouped_stubs  # noqa: PLC0415 - it knows the context

        return grouped_stubs(self)

    def fast_layers(self, interface_id: str) -> tuple[FastLayer, ...]:
        """Return the layers on which an interface is routed beyond lumped breakouts, top to bottom."""
        found = interface(interface_id)
        shortest = LUMPED_SHARE * MM_GHZ_PER_WAVELENGTH / (found.nyquist_ghz or 1.0)
        by_layer: dict[int, list[tuple[int, float]]] = {}
        for net in self.nets_of(interface_id).tolist():
            for layer in range(self.board.layer_count):
                length = self._routed_mm.get((net, layer), 0.0)
                if length > shortest:
                    by_layer.setdefault(layer, []).append((net, length))
        return tuple(
            FastLayer(
                index=layer,
                name=self.board.copper_layers[layer].name,
                interface=found,
                nets=tuple(net for net, _ in rows),
                longest_mm=max(length for _, length in rows),
                inferred=not any(self.assignment.is_declared(net) for net, _ in rows),
            )
            for layer, rows in sorted(by_layer.items())
        )

    def fast_layers_of_clause(self, clause: Clause) -> tuple[FastLayer, ...]:
        """Return the layers that carry the clause's interface, or any fast one when it names none.

        Raises:
            MissingFact: no net is known to be of the interface, or none of its nets is routed yet.
        """
        if clause.interface:
            self.rest_on_assignment(self.nets_of_clause(clause))
            layers = self.fast_layers(clause.interface)
        else:
            layers = tuple(f for name in self.assignment.fast_interfaces() for f in self.fast_layers(name))
        if not layers and clause.interface:
            raise MissingFact(f"the layers that carry {clause.interface}", "route its nets, then check again")
        return layers

    def rest_on_assignment(self, nets: Ints) -> None:
        """Record that the answer is no surer than what the nets were taken for."""
        for net in nets.tolist():
            self.rests_on(self.assignment.confidence_of(net))


def _declare_foil(layer: str) -> str:
    return f'[declared.copper."{layer}"]\nfoil = "?"  # STD, RTF, LP, VLP or HVLP: ask the fab'
