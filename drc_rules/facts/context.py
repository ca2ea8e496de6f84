"""What every rule and analysis is handed: the board, what is declared and inferred of it, and results computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from drc_rules.facts.board_process import BoardProcess
from drc_rules.facts.declared import Declarations, Purpose
from drc_rules.facts.declared_nets import without_nets
from drc_rules.facts.dielectric.plies import resolve_plies
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.net_interfaces import Assignment
from drc_rules.facts.results import Kept, Key, Results
from drc_rules.facts.row_faults import copper_fault
from drc_rules.facts.used import Used
from drc_rules.report.formula import Value
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import family
from drc_rules.requirements.interfaces.names import is_sideband
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.net_selection import chosen_nets, nets_line, toml_value
from stackup_lib.board.board import Board, Ints, Stackup
from stackup_lib.board.default_stackup import is_untouched_default
from stackup_lib.board.layer_roles import LayerUse, layer_uses
from stackup_lib.copper.copper_map import CopperMap, waiting_planes
from stackup_lib.copper.cuts.board_area import board_area_mm2
from stackup_lib.copper.stale_fills import REFILL, fills_out_of_date, need_true_fills
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, unknown
from stackup_lib.core.record import workpiece
from stackup_lib.core.words import listed
from stackup_lib.materials import FoilGrade, catalogue, find_foil
from stackup_lib.nets.diff_pairs import Pairs
from stackup_lib.vias.plated_holes import copper_faces_mm, copper_heights_mm

T = TypeVar("T")
P = ParamSpec("P")

DECLARE_STACKUP = "in KiCad, File > Board Setup > Physical Stackup: enter the fab's stackup and save the board"
FILL_ZONES = REFILL
NO_PLANE = f"no filled copper is above or below it: add a plane there, then {FILL_ZONES}"


@workpiece
class Context:
    """Everything a rule may ask; rules take facts through `need`, which records how far they are to be trusted.

    Workload, form factor and roles of nets are its choices: `get` notes which of them an analysis reads, and contexts
    of one board (see `under`) share a result wherever these are the same.
    """

    board: Board
    declarations: Declarations
    _assignment: Assignment
    _purpose: Purpose
    _results: Results = field(default_factory=Results, repr=False)
    _used: Used = field(default_factory=Used, repr=False)
    _fills_are_old: bool = False

    def get(self, analysis: Callable[Concatenate[Context, P], T], *of: P.args, **options: P.kwargs) -> T:
        """Return what an analysis finds, computed once; every caller rests on the same facts.

        Args:
            analysis: a function of a module, called with this context and what follows.
            of: what it is computed for, hashable.
            options: the same by name.
        """
        key: Key = (analysis, (*of, *sorted(options.items())))
        kept = self._results.find(key, self._choices)
        if kept is None:
            with self.recording() as used:
                kept = Kept(analysis(self, *of, **options), used)
            self._results.keep(key, kept)
        self._used.add(kept.used)
        return cast("T", kept.value)

    def knows(self, analysis: Callable[Concatenate[Context, P], T], *of: P.args, **options: P.kwargs) -> bool:
        """Tell whether `get` has the answer already."""
        return self._results.find((analysis, (*of, *sorted(options.items()))), self._choices) is not None

    @property
    def results(self) -> Results:
        """What was found so far."""
        return self._results

    def under(self, purpose: Purpose, assignment: Assignment) -> Context:
        """Return the same board under another workload or form factor, or with other roles of its nets."""
        return Context(self.board, self.declarations, assignment, purpose, self._results)

    @contextmanager
    def recording(self) -> Iterator[Used]:
        """Collect what the answer inside the block rests on; of that only the choices it read count outside."""
        outer, self._used = self._used, Used()
        try:
            yield self._used
        finally:
            outer.choices |= self._used.choices
            self._used = outer

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Look at what decides nothing and is only shown with the answer: however sure it is, nothing rests on it."""
        with self.recording():
            yield

    def need(self, fact: Fact[T]) -> T:
        """Return the fact's value; raises `MissingFact` when it is unknown or stale."""
        value = fact.need()
        self._used.rests_on(fact.confidence)
        if fact.confidence is Confidence.LOW and fact.how_to_give:
            self._used.doubt(MissingFact(f"{fact.name}, which is a guess", fact.how_to_give))
        return value

    def rests_on(self, confidence: Confidence) -> None:
        """Record that the answer is no surer than this, for what is no `Fact` (a role, a fill)."""
        self._used.rests_on(confidence)

    def doubt(self, about: MissingFact) -> None:
        """Record what would make the answer surer."""
        self._used.doubt(about)

    def shows(self, what: str, **numbers: Value) -> None:
        """Tell with which numbers an object is judged, by the symbols of the rule's formula; only `explain` listens."""

    @cached_property
    def _choices(self) -> dict[str, object]:
        profile = self._purpose.profile.value
        return {
            "profile": profile,
            "workload": load_profile(profile).workload if profile else None,
            "form": self._purpose.form.value,
            "assignment": self._assignment,
            "fills_are_old": self._fills_are_old,
        }

    def _chosen(self, name: str) -> object:
        value = self._used.choices[name] = self._choices[name]
        return value

    @property
    def profile(self) -> str | None:
        """The profile that the board is held against, as it was named."""
        return cast("str | None", self._chosen("profile"))

    @property
    def workload(self) -> str | None:
        """The kind of workload of that profile: training, inference or edge."""
        return cast("str | None", self._chosen("workload"))

    @property
    def form(self) -> str | None:
        """The form factor as it was named, whatever the profile says."""
        return cast("str | None", self._chosen("form"))

    @property
    def assignment(self) -> Assignment:
        """What the nets are assigned to."""
        return cast("Assignment", self._chosen("assignment"))

    @property
    def purpose(self) -> Purpose:
        """Workload and form factor as facts."""
        self._chosen("profile"), self._chosen("form")
        return self._purpose

    @property
    def fills_are_old(self) -> bool:
        """True once the clause on zone fills has failed."""
        return bool(self._chosen("fills_are_old"))

    def call_fills_old(self) -> None:
        """From here on nothing rests on the stored fills."""
        self._choices["fills_are_old"] = True

    @property
    def is_default_stackup(self) -> bool:
        """True when the file's stackup is what KiCad writes before anybody has entered one."""
        return self.get(_is_default_stackup)

    def stackup(self) -> Stackup:
        """Return the declared stackup; raises `MissingFact` when there is none, or only KiCad's default."""
        if self.board.stackup is None:
            raise MissingFact("the stackup", DECLARE_STACKUP)
        if self.is_default_stackup:
            raise MissingFact("the stackup (the file holds KiCad's untouched default)", DECLARE_STACKUP)
        return self.board.stackup

    def copper_heights_mm(self) -> tuple[float, ...]:
        """Return the depth of each copper layer below the board's top, in mm, the uppermost first.

        Raises:
            MissingFact: there is no stackup, or a thickness is missing.
        """
        return self.get(_copper_heights_mm)

    def copper_faces_mm(self) -> tuple[tuple[float, float], ...]:
        """Return the depth of each copper layer's faces below the top, in mm; none where a thickness is missing.

        Raises:
            MissingFact: there is no stackup.
        """
        return self.get(_copper_faces_mm)

    @property
    def plies(self) -> tuple[DielectricPly, ...]:
        """Every dielectric ply, top to bottom."""
        return self.get(_plies)

    def known_plies(self) -> tuple[DielectricPly, ...]:
        """Return every dielectric ply; raises `MissingFact` when no material is stated."""
        if not any(ply.stated for ply in self.plies):
            self.stackup()
        if not self.plies:
            raise MissingFact("the dielectrics", DECLARE_STACKUP)
        return self.plies

    @property
    def uses(self) -> tuple[LayerUse, ...]:
        """What each copper layer is used for."""
        return self.get(_uses)

    def filled_uses(self) -> tuple[LayerUse, ...]:
        """Return the layer uses; raises `MissingFact` when the board has zones but no fills are stored."""
        zones = self.board.zones
        if np.any(zones.is_rule_area == 0) and not len(zones.fill_layer):
            raise MissingFact("zone fills", FILL_ZONES)
        return self.uses

    def need_filled_planes(self, layers: Iterable[int]) -> None:
        """Raise `MissingFact` where one of some layers may become a plane once the zones on it are filled."""
        if names := [self.board.copper_layers[layer].name for layer in layers if layer in self.get(_waiting_planes)]:
            raise MissingFact(f"the zone fills on {listed(names)}", FILL_ZONES)

    def need_true_fills(self) -> None:
        """Raise `MissingFact` where stored fills are out of date: copper or holes of other nets lie in them."""
        if self.fills_are_old:
            raise fills_out_of_date()
        need_true_fills(self.copper.other_net)

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
        fault = copper_fault(self.board, index, row.thickness_mm)
        if fault is not None:
            return unknown(fault.name, fault.how_to_give)
        return Fact[float](name=title, value=row.thickness_mm, origin=Origin.FILE, source=f"stackup row {name}")

    @property
    def process(self) -> BoardProcess:
        """How the board is etched, plated and coated: declared, stated in the file, or assumed."""
        return BoardProcess(self.board, self.declarations.config)

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
        return replace(fact, name=title, how_to_give=fact.how_to_give or how)

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

    @property
    def copper(self) -> CopperMap:
        """Filled copper by point."""
        return self.get(_copper)

    @property
    def pairs(self) -> Pairs:
        """Differential pairs by the names of their nets, or of pins where nets have none."""
        return self._assignment.links.pairs  # the same whatever the nets are assigned to

    def nets_of(self, interface_id: str) -> Ints:
        """Return the nets assigned to an interface, by declaration or inference."""
        return self.assignment.nets_of(interface_id)

    def nets_of_clause(self, clause: Clause) -> Ints:
        """Return the nets of the clause's interface; raises `MissingFact` when none are known."""
        nets = self.nets_of(clause.interface or "")
        if not len(nets):
            for row in self.declarations.config.interface:
                if row.is_ == clause.interface:
                    raise without_nets(row)
            how = f'[[interface]]\nis = "{clause.interface}"\nnet_classes = ["?"]  # or nets = ["/PATTERN*"]'
            raise MissingFact(f"nets of {clause.interface}", how)
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
            mine = [
                c for c in named if f"net class {c}" == getattr(roles[net], "group", "") and self._holds(c, family_id)
            ]
            classes.update(mine)
            loose += [] if mine else [net]
        lines = [f"net_classes = {toml_value(sorted(classes))}"] if classes else []
        return "\n".join([*lines, *([nets_line(board, loose)] if loose else [])])

    def choosing_line(self, group: str, family_id: str, nets: Iterable[int]) -> str:
        """Return the line that declares the nets of a group: by its net class where that takes no others with it."""
        kind, _, name = group.partition("net class ")
        if name and not kind and self._holds(name, family_id):
            return f"net_classes = {toml_value([name])}"
        return nets_line(self.board, nets)

    def _holds(self, net_class: str, family_id: str) -> bool:
        """True for a net class whose declaration takes only nets that are of the family already."""
        return self.get(_holds_only, net_class, family_id)


def _holds_only(ctx: Context, net_class: str, family_id: str) -> bool:
    roles, nets = ctx.assignment.role_of, ctx.board.nets
    found = chosen_nets(ctx.board, (net_class,), ())
    taken = [net for net in found if not is_sideband(nets[net], family(family_id))]
    return all((role := roles(net)) is not None and role.family == family_id for net in taken)


def _is_default_stackup(ctx: Context) -> bool:
    return ctx.board.stackup is not None and is_untouched_default(ctx.board)


def _copper_heights_mm(ctx: Context) -> tuple[float, ...]:
    heights = copper_heights_mm(ctx.stackup())
    if len(heights) != ctx.board.layer_count or any(b <= a for a, b in pairwise(heights)):
        raise MissingFact("the thickness of every stackup layer", DECLARE_STACKUP)
    return heights


def _copper_faces_mm(ctx: Context) -> tuple[tuple[float, float], ...]:
    return copper_faces_mm(ctx.stackup())


def _plies(ctx: Context) -> tuple[DielectricPly, ...]:
    return resolve_plies(ctx.board.stackup, ctx.declarations, catalogue(), trust_file=not ctx.is_default_stackup)


def _uses(ctx: Context) -> tuple[LayerUse, ...]:
    return layer_uses(ctx.board, board_area_mm2(ctx.board))


def _waiting_planes(ctx: Context) -> frozenset[int]:
    return waiting_planes(ctx.board, ctx.uses, board_area_mm2(ctx.board))


def _copper(ctx: Context) -> CopperMap:
    return CopperMap(ctx.board)


def _declare_foil(layer: str) -> str:
    return f'[declared.copper."{layer}"]\nfoil = "?"  # product, Rz such as "Rz 2 um", or grade: ask the fab'
