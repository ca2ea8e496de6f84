"""Facts in the order in which they win: command line, `stackwright.toml`, the project's text variables, inference."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TypeVar

from drc_rules.facts.board_process import copper_notes, preset_notes
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import CheckOptions, Config, Declared, ImpedanceDeclaration
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError, did_you_mean, nearest
from stackup_lib.core.facts import Fact, Origin, unknown
from stackup_lib.core.record import record
from stackup_lib.materials import find_foil
from stackup_lib.vias.plated_holes import Backdrill

FOIL_GRADES = "STD, RTF, LP, VLP or HVLP"

TEXT_VARIABLES = {
    key: f"STACKWRIGHT_{key.upper()}" for key in ("profile", "form", "impedance_tolerance_pct", "foil", "tg_c")
}
"""Key of the settings -> the project's text variable that says the same."""

T = TypeVar("T")


@record
class Overrides:
    """What the command line says in place of `stackwright.toml`; None or empty where it says nothing.

    Attributes:
        profile, form: workload and form factor.
        select, ignore: rules to run and to leave out, by family, code or name.
        suppress: False to disregard what lets findings pass: `[[suppress]]`, `fail_on`, `select`, `ignore`.
        impedance: targets that go before `[[impedance]]`; of several for a net the last.
        by_settings: which of `select` and `ignore` come from the settings.
        counts_left_out: False leaves open how many objects the rules that are left out would judge, which saves time.
    """

    profile: str | None = None
    form: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    suppress: bool = True
    impedance: tuple[ImpedanceDeclaration, ...] = ()
    by_settings: tuple[str, ...] = ()
    counts_left_out: bool = True

    @property
    def left_out_by(self) -> str:
        """What leaves rules out, as people write it: `--ignore VIA,LOS`; "" where all run."""
        told = []
        for name, words in (("select", self.select), ("ignore", self.ignore)):
            if words:
                listed = ",".join(words)
                told.append(f"{name} {listed} in {FILE_NAME}" if name in self.by_settings else f"--{name} {listed}")
        return " ".join(told)

    def counting(self, options: CheckOptions) -> CheckOptions:
        """Return what counts of `[check]`: nothing that lets a finding pass where suppressions do not count."""
        if self.suppress:
            return options
        return options.model_copy(update={"fail_on": None, "select": (), "ignore": ()})

    def with_defaults(self, options: CheckOptions) -> Overrides:
        """Return these with the rules of `[check]` where the command line chooses none."""
        taken = {
            "select": bool(options.select and not self.select),
            "ignore": bool(options.ignore and not self.ignore),
        }
        return replace(
            self,
            select=self.select or options.select,
            ignore=self.ignore or options.ignore,
            by_settings=(*self.by_settings, *(name for name, is_taken in taken.items() if is_taken)),
        )


@record
class Purpose:
    """What the board is held against: names of profile and form factor, not yet looked up."""

    profile: Fact[str]
    form: Fact[str]


@record
class Declarations:
    """The declared facts of one board, whatever it is held against.

    Attributes:
        backdrills: those that the file cannot hold, each with its nets.
        stale: the declarations carry the hash of another stackup.
        digest: hash of the stackup that the board has now.
        unmatched: messages on tables for layers and rows, and on options for nets, that the board does not have,
            and for unknown foils.
        impedance: what the command line asks of nets.
    """

    impedance_tolerance_pct: Fact[float]
    foil: Fact[str]
    tg_c: Fact[float]
    config: Config
    backdrills: tuple[tuple[Backdrill, frozenset[int]], ...] = ()
    stale: bool = field(default=False)
    digest: str = ""
    unmatched: tuple[str, ...] = ()
    impedance: tuple[ImpedanceDeclaration, ...] = ()

    def backdrills_of(self, net: int) -> tuple[Backdrill, ...]:
        """Return the declared backdrills of a net."""
        return tuple(drill for drill, nets in self.backdrills if net in nets)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of a report has to know of the declarations as a whole."""
        if not self.stale:
            return self.unmatched
        fix = f'set declared.stackup_hash to "{self.digest}"' if self.digest else "give the board a stackup"
        return (
            f"{FILE_NAME} declares facts for another stackup: they are stale, and count as unknown; "
            f"check them, then {fix}",
            *self.unmatched,
        )

    def of_stackup(self, name: str, value: T | None, source: str) -> Fact[T] | None:
        """Return a declared fact of the stackup, stale when the stackup has changed since; None when not declared."""
        if value is None:
            return None
        return Fact(
            name=name,
            value=value,
            origin=Origin.DECLARED,
            source=f"{FILE_NAME}, {source}",
            stale=self.stale,
            how_to_give=STALE_FIX if self.stale else "",
        )

    def copper_weight(self, layer: str) -> Fact[float] | None:
        """Return the declared ounces of a copper layer, None where none are."""
        row = self.config.declared.copper.get(layer)
        return self.of_stackup(
            f"copper weight of {layer}", row.copper_oz if row else None, f'copper."{layer}".copper_oz'
        )


STALE_FIX = (
    f"{FILE_NAME} declares it for another stackup: check the value, then set declared.stackup_hash to the new hash"
)


def gather(board: Board, config: Config, overrides: Overrides) -> Declarations:
    """Collect what was declared about a board.

    Raises:
        ConfigError: a text variable holds no number where one is needed, or a backdrill names no layer of the board,
            or enters at an inner one.
    """
    declared = config.declared
    digest = board.stackup.digest if board.stackup else None
    stale = declared.stackup_hash is not None and declared.stackup_hash != digest
    variables = board.project.text_variables

    def of_stackup(key: str, name: str, toml: T | None, parse: Callable[[str], T], comment: str) -> Fact[T]:
        how = f'[declared]\n{key} = "?"  # {comment}'
        return _of_stackup(key, name, toml, parse, how, variables=variables, stale=stale)

    return Declarations(
        impedance_tolerance_pct=of_stackup(
            "impedance_tolerance_pct",
            "impedance tolerance ordered from the fab",
            declared.impedance_tolerance_pct,
            _between(1, 50),
            "as in your fab notes, e.g. 5",
        ),
        foil=of_stackup("foil", "foil grade of every copper layer", declared.foil, str, FOIL_GRADES),
        tg_c=of_stackup("tg_c", "Tg of every dielectric", declared.tg_c, _between(50, 500), "by DSC"),
        config=config,
        backdrills=tuple(_backdrills(board, config)),
        stale=stale,
        digest=digest or "",
        unmatched=(*(() if stale else _of_stackup_notes(board, config)), *_without_nets(board, overrides.impedance)),
        impedance=overrides.impedance,
    )


def purpose_of(board: Board, config: Config, overrides: Overrides) -> Purpose:
    """Return the workload and form factor that are stated."""
    variables = board.project.text_variables
    return Purpose(
        _choose("workload", "profile", overrides.profile, config.profile, variables),
        _choose("form factor", "form", overrides.form, config.form, variables),
    )


def stated_workload(board: Board, config: Config) -> Fact[str]:
    """Return the workload that settings or project state, whatever is chosen for a check."""
    return _choose("workload", "profile", None, config.profile, board.project.text_variables)


def overruled_words(chosen: Fact[str], stated: Fact[str]) -> str:
    """Say which other workload is stated than the one that was chosen; empty where none is."""
    if chosen.origin is not Origin.COMMAND_LINE or not chosen.value or not stated.value:
        return ""
    is_same = os.path.abspath(chosen.value) == os.path.abspath(stated.value)  # noqa: PTH100 - one's own is a path
    return "" if is_same else f"{stated_in(stated)} says {stated.value}"


def stated_in(stated: Fact[str]) -> str:
    """Return where a workload is stated, as words."""
    return f"text variable {stated.source}" if stated.origin is Origin.TEXT_VARIABLE else stated.source


def looked_up(stated: Fact[str], look_up: Callable[[str], T], config: Config) -> T | None:
    """Look up a profile or form factor by its name, None for none; an error says which file names it."""
    if not stated.value:
        return None
    try:
        return look_up(stated.value)
    except ConfigError as error:
        places = {
            Origin.DECLARED: str(config.path or FILE_NAME),
            Origin.TEXT_VARIABLE: f"text variable {stated.source} of the project",
        }
        if stated.origin not in places:
            raise
        raise ConfigError(f"{places[stated.origin]}, {error.where}", error.what, error.next_step) from None


def _between(low: float, high: float) -> Callable[[str], float]:
    """Return a reader of numbers in a range, which is that of the same key in the settings file."""

    def parse(text: str) -> float:
        with suppress(ValueError):
            if low <= (value := float(text)) <= high:
                return value
        raise ValueError(f"a number from {low:g} to {high:g} is needed")

    return parse


def _of_stackup_notes(board: Board, config: Config) -> Iterator[str]:
    """Say what is odd about the facts of the stackup; stale ones count as unknown, whatever they say."""
    yield from _unmatched(board, config)
    yield from _strange_foils(config.declared)
    yield from _plating_alone(config)
    yield from preset_notes(board, config)
    yield from copper_notes(board, config)


def _unmatched(board: Board, config: Config) -> Iterator[str]:
    """Say which tables are for no layer of the board: a note, for one file may serve several boards."""
    dielectrics = [row for row in board.stackup.layers if row.is_dielectric] if board.stackup else []
    rows = list(dict.fromkeys(name for row in dielectrics for name in (row.name, *row.ply_names)))
    for name in config.declared.copper:
        if name not in board.layer_index:
            fix = did_you_mean(name, board.layer_index)
            yield f'{FILE_NAME}, [declared.copper."{name}"]: the board has no such copper layer; {fix}'
    for name in config.declared.dielectric:
        if rows and name not in rows:
            fix = did_you_mean(name, rows)
            yield f'{FILE_NAME}, [declared.dielectric."{name}"]: the stackup has no such row; {fix}'


def _strange_foils(declared: Declared) -> Iterator[str]:
    """Say which foils are unknown: the fact stays open, and without a message it would look as if it had been given."""
    named = {"[declared]": declared.foil}
    named |= {f'[declared.copper."{layer}"]': row.foil for layer, row in declared.copper.items()}
    for where, foil in named.items():
        if foil and find_foil(foil).grade is None:
            yield f'{FILE_NAME}, {where}: no foil "{foil}" is known; say its grade: {FOIL_GRADES}'


def _plating_alone(config: Config) -> Iterator[str]:
    """Say that plating tells nothing as long as the foil below it is not known."""
    said = config.process
    has_foil = any(row.copper_oz for row in config.declared.copper.values())
    if said.plating_um is not None and said.outer_copper_um is None and not has_foil:
        fix = 'give [declared.copper."F.Cu"] copper_oz, or outer_copper_um'
        yield f"{FILE_NAME}, [process]: plating_um says nothing without the weight of the foil below; {fix}"


def _without_nets(board: Board, said: Iterable[ImpedanceDeclaration]) -> Iterator[str]:
    for row in said:
        if not chosen_nets(board, row.net_classes, row.nets):
            near = nearest(row.nets[0].strip("*"), (*board.project.classes, *filter(None, board.nets)))
            fix = f'; did you mean "{near}"?' if near else ""
            yield f'--impedance "{row.nets[0]}" matches no net class and no net of this board{fix}'


def _backdrills(board: Board, config: Config) -> Iterator[tuple[Backdrill, frozenset[int]]]:
    for row in config.backdrill:
        nets = chosen_nets(board, row.net_classes, row.nets)
        if not nets:
            continue
        for name in (row.from_, row.must_cut):
            if name not in board.layer_index:
                fix = did_you_mean(name, board.layer_index)
                raise ConfigError(f"{FILE_NAME}, [[backdrill]]", f'the board has no layer "{name}"', fix)
        outer = board.copper_layers[0].name, board.copper_layers[-1].name
        if row.from_ not in outer:
            what = f'from = "{row.from_}" is an inner layer, a drill enters at an outer one'
            raise ConfigError(f"{FILE_NAME}, [[backdrill]]", what, f"give {outer[0]} or {outer[1]}")
        yield Backdrill(board.layer_index[row.from_], board.layer_index[row.must_cut], row.size_mm), nets


def _choose(name: str, key: str, said: str | None, toml: str | None, variables: Mapping[str, str]) -> Fact[str]:
    """Return the first of command line, settings file and text variable that says something."""
    variable = TEXT_VARIABLES[key]
    candidates = (
        (said, Origin.COMMAND_LINE, f"--{key}"),
        (toml, Origin.DECLARED, FILE_NAME),
        (variables.get(variable), Origin.TEXT_VARIABLE, variable),
    )
    for value, origin, source in candidates:
        if value:
            return Fact[str](name=name, value=value, origin=origin, source=source)
    return unknown(name, f'{key} = "?"  # or --{key}')


def _of_stackup(
    key: str,
    name: str,
    toml: T | None,
    parse: Callable[[str], T],
    how: str,
    *,
    variables: Mapping[str, str],
    stale: bool,
) -> Fact[T]:
    """Return a fact of the stackup: from the settings file, where it can be stale, else from a text variable."""
    if toml is not None:
        source, fix = f"{FILE_NAME}, declared.{key}", STALE_FIX if stale else ""
        return Fact(name=name, value=toml, origin=Origin.DECLARED, source=source, stale=stale, how_to_give=fix)
    variable = TEXT_VARIABLES[key]
    written = variables.get(variable)
    if not written:
        return unknown(name, how)
    try:
        value = parse(written)
    except ValueError as error:
        what = f'"{written}": {error}'
        raise ConfigError(f"text variable {variable}", what, "correct it in File > Board Setup") from error
    return Fact(name=name, value=value, origin=Origin.TEXT_VARIABLE, source=variable)
