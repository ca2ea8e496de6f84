"""Breaks one fact of a parsed board, or of its files, and tells which clauses turn.

A clause's state is its verdict and the keys of its findings: a second finding next to an old one is a turn as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import FILLS_UP_TO_DATE, Outcome
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Rule, all_rules
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import Board, Drilling, Pads
from stackup_lib.board.stackup import Ply, Stackup

Chosen = NDArray[np.bool_]

State = tuple[str, frozenset[str]]
"""Verdict and keys of the findings."""

ABSENT: State = ("absent", frozenset())
"""A clause that does not apply at all."""


@dataclass(frozen=True)
class Case:
    """A parsed board with its settings; every edit returns another one."""

    board: Board
    config: str

    def declared(self, old: str, new: str) -> Case:
        """Replace a text of the settings that stands there exactly once."""
        assert self.config.count(old) == 1, f"{old!r} stands {self.config.count(old)} times in the settings"
        return replace(self, config=self.config.replace(old, new))

    def with_board(self, **columns: object) -> Case:
        """Replace fields of the board."""
        return replace(self, board=replace(self.board, **columns))  # type: ignore[arg-type]

    def with_stackup(self, change: Callable[[Stackup], Stackup]) -> Case:
        """Replace the stackup."""
        assert self.board.stackup is not None
        return self.with_board(stackup=change(self.board.stackup))

    def with_ply(self, row: str, **fields: object) -> Case:
        """Change every ply of a stackup row."""

        def changed(ply: Ply) -> Ply:
            return ply.model_copy(update=fields)

        def change(stackup: Stackup) -> Stackup:
            assert sum(layer.name == row for layer in stackup.layers) == 1
            rows = tuple(
                layer.model_copy(update={"plies": tuple(map(changed, layer.plies))}) if layer.name == row else layer
                for layer in stackup.layers
            )
            return stackup.model_copy(update={"layers": rows})

        return self.with_stackup(change)

    def without_row(self, row: str) -> Case:
        """Take a row out of the stackup."""
        return self.with_stackup(
            lambda s: s.model_copy(update={"layers": tuple(layer for layer in s.layers if layer.name != row)})
        )

    def with_tracks(self, chosen: Chosen, **columns: float) -> Case:
        """Give some tracks another width or layer."""
        assert np.any(chosen)
        tracks = self.board.tracks
        new = {name: np.where(chosen, value, getattr(tracks, name)) for name, value in columns.items()}
        new = {name: column.astype(getattr(tracks, name).dtype) for name, column in new.items()}
        return self.with_board(tracks=replace(tracks, **new))

    def with_vias(self, uuids: Iterable[str], **columns: float) -> Case:
        """Give some vias another drill, span or kind."""
        vias = self.board.vias
        chosen = self.via_rows(uuids)
        new = {name: np.where(chosen, value, getattr(vias, name)) for name, value in columns.items()}
        new = {name: column.astype(getattr(vias, name).dtype) for name, column in new.items()}
        return self.with_board(vias=replace(vias, **new))  # type: ignore[arg-type]

    def backdrilled(self, uuids: Iterable[str], *, size_mm: float, start: str, must_cut: str) -> Case:
        """Give some vias KiCad's native backdrill; NaN for the size takes it away."""
        vias, layers = self.board.vias, self.board.layer_index
        chosen = self.via_rows(uuids)
        old = vias.drilling
        is_taken = np.isnan(size_mm)
        drilling = replace(
            old,
            backdrill_size_mm=np.where(chosen, size_mm, old.backdrill_size_mm),
            backdrill_start=np.where(chosen, -1 if is_taken else layers[start], old.backdrill_start).astype(np.int16),
            backdrill_must_cut=np.where(chosen, -1 if is_taken else layers[must_cut], old.backdrill_must_cut).astype(
                np.int16
            ),
        )
        return self.with_board(vias=replace(vias, drilling=drilling))

    def via_rows(self, uuids: Iterable[str]) -> Chosen:
        """Tell which vias have these ids."""
        wanted = list(uuids)
        chosen = np.isin(self.board.vias.uuid, wanted)
        assert chosen.sum() == len(wanted), "the board has not all of these vias"
        return chosen

    def on_nets(self, *nets: str) -> Chosen:
        """Tell which tracks are on these nets."""
        return np.isin(self.board.tracks.net, [self.board.net_index[net] for net in nets])

    def on_layer(self, layer: str) -> Chosen:
        """Tell which tracks are on a layer."""
        return np.asarray(self.board.tracks.layer == self.board.layer_index[layer])

    def without_part(self, *references: str) -> Case:
        """Delete the pads of parts."""
        board = self.board
        gone = np.isin(board.footprints.reference, references)
        assert gone.sum() == len(references)
        kept = ~gone[board.pads.footprint]
        drilling = Drilling(**{f.name: getattr(board.pads.drilling, f.name)[kept] for f in fields(Drilling)})
        columns = {f.name: getattr(board.pads, f.name)[kept] for f in fields(Pads) if f.name != "drilling"}
        return self.with_board(pads=Pads(**columns, drilling=drilling))

    def with_fills(self, kept: Chosen) -> Case:
        """Keep some of the zones' fills; the zones say that they are filled all the same."""
        zones, rows = self.board.zones, np.flatnonzero(kept)
        sizes = np.diff(zones.fill_start)
        of_kept = np.repeat(kept, sizes)
        return self.with_board(
            zones=replace(
                zones,
                fill_zone=zones.fill_zone[rows],
                fill_layer=zones.fill_layer[rows],
                fill_start=np.append([0], np.cumsum(sizes[rows])),
                fill_x_mm=zones.fill_x_mm[of_kept],
                fill_y_mm=zones.fill_y_mm[of_kept],
            )
        )

    def without_copper(self, *layers: str) -> Case:
        """Take the filled copper of layers away; the zone that had it, on other layers too, says that it is filled."""
        gone = [self.board.layer_index[layer] for layer in layers]
        return self.with_fills(~np.isin(self.board.zones.fill_layer, gone))

    def without_fills(self) -> Case:
        """Forget every stored zone fill."""
        return self.with_fills(np.zeros(len(self.board.zones.fill_zone), dtype=np.bool_))

    def in_class(self, net_class: str, *nets: str) -> Case:
        """Move nets to another net class."""
        project = self.board.project
        moved = {**project.net_classes_of, **dict.fromkeys(nets, (net_class,))}
        return self.with_board(project=replace(project, net_classes_of=moved))

    def states(self) -> dict[str, State]:
        """Judge every clause that has a rule."""
        outcome = self.judged()
        return states_of(outcome.verdicts, outcome.findings)

    def states_of_clauses(self, wanted: Callable[[Clause], bool], rules: Sequence[Rule] = ()) -> dict[str, State]:
        """Judge some clauses alone, by these rules or by all."""
        context, requirements, _ = prepare(self.board, parse_config(self.config), Overrides())
        outcome = run(context, [one for one in requirements.clauses if wanted(one)], all_rules(), rules or all_rules())
        assert not outcome.crashes, outcome.crashes
        return states_of(outcome.verdicts, outcome.findings, over_design=True)

    def verdicts(self) -> list[ClauseVerdict]:
        """Return the verdicts on every clause."""
        return self.judged().verdicts

    def judged(self, families: tuple[str, ...] = ("",)) -> Outcome:
        """Return all that the check says, or what these families of rules say; the others rest on the zones' fills."""
        context, requirements, _ = prepare(self.board, parse_config(self.config), Overrides())
        chosen = [rule for rule in all_rules() if rule.code.startswith(families) or FILLS_UP_TO_DATE in rule.kinds]
        outcome = run(context, requirements.clauses, all_rules(), chosen)
        assert not outcome.crashes, outcome.crashes
        return outcome


@dataclass(frozen=True)
class Seed:
    """A defect: why exactly these clauses turn, how it is made, and what they turn to."""

    why: str
    edit: Callable[[Case], Case]
    turns: dict[str, str]


@dataclass(frozen=True)
class SeedUnder:
    """A defect: why exactly these clauses turn, under which settings, how it is made, and what they turn to."""

    why: str
    settings: str
    edit: Callable[[Case], Case]
    turns: dict[str, str]


def undecided(*clauses: str) -> dict[str, str]:
    """Return these clauses as turned to not verifiable."""
    return dict.fromkeys(clauses, "not verifiable")


def states_of(
    verdicts: Iterable[ClauseVerdict], findings: Iterable[Finding], *, over_design: bool = False
) -> dict[str, State]:
    """Return clause -> state for every clause that has a rule, but for over-design unless asked for.

    That rests on every fact of every link and falls silent with any of them: it has seeds of its own.
    """
    keys: dict[str, set[str]] = {}
    for finding in findings:
        for clause in (finding.clause, *finding.also):
            keys.setdefault(clause, set()).add(finding.key)
    wanted = (v for v in verdicts if v.has_rule and (over_design or not v.code.startswith("OVR")))
    return {v.clause.id: (v.verdict.value, frozenset(keys.get(v.clause.id, ()))) for v in wanted}


def turned(before: Mapping[str, State], after: Mapping[str, State]) -> dict[str, str]:
    """Return the clauses whose state differs: the new verdict, or what came (+) and went (-) where it is the same."""
    found = {}
    for clause in sorted({*before, *after}):
        old, new = before.get(clause, ABSENT), after.get(clause, ABSENT)
        if old[0] != new[0]:
            found[clause] = new[0]
        elif old != new:
            found[clause] = f"{new[0]} +{len(new[1] - old[1])} -{len(old[1] - new[1])}"
    return found
