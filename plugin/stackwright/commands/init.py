"""`stackwright init`: a commented `stackwright.toml`, filled with what the board already says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from drc_rules.check import prepare
from drc_rules.config import FILE_NAME, PLACEHOLDER, Config
from drc_rules.context import Context
from drc_rules.declared import CommandLine
from drc_rules.facts_of_board import board_facts
from drc_rules.forms import load_form
from drc_rules.interfaces import family
from drc_rules.report import TakenAs
from drc_rules.requirements import load_profile
from stackup_lib.errors import ConfigError, StackwrightError, did_you_mean
from stackup_lib.kicad import read_board
from stackup_lib.materials import FoilGrade, find_foil
from stackwright.commands import settings_file
from stackwright.commands.settings_file import Answers
from stackwright.output import show, write_file
from stackwright.page import Page, styled, terminal_console
from stackwright.paths import find_board
from stackwright.reporters import text
from stackwright.words import clean

LOOSEST_PCT = 50.0
LEAVE_OPEN = ("", PLACEHOLDER)


@dataclass(frozen=True)
class Question:
    """One question; `accept` returns the answers with a new one, or raises `ConfigError` with the next step."""

    text: str
    accept: Callable[[Answers, str], Answers]


def init_board(typed: Path, *, ask: bool, force: bool) -> int:
    """Write the settings file beside a board and return the exit code.

    Raises:
        StackwrightError: the board cannot be read, or there is such a file already and `force` is not given.
    """
    path = find_board(typed)
    target = path.with_name(FILE_NAME)
    if target.exists() and not force:
        raise StackwrightError(str(target), "is there already", "edit it, or give --force to replace it")
    context, _, _ = prepare(read_board(path), Config(), CommandLine())
    show(_inferred(context).text(terminal_console()))
    answers = Answers()
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        answers = _asked(context, answers)
    write_file(target, settings_file.compose(context, answers), replace=force)
    page = Page()
    page.gap()
    page.verbatim(
        [f"wrote {target}", f"next: fill in what is still {PLACEHOLDER}, then stackwright check {typed}"], indent=0
    )
    show(page.text(terminal_console()))
    return 0


def _inferred(context: Context) -> Page:
    """Show what needs no question."""
    page = Page()
    page.line(styled("What the board says", "bold"))
    text.facts(page, board_facts(context, "").lines)
    text.taken_as(page, context.assignment.taken_as())
    return page


def _asked(context: Context, answers: Answers) -> Answers:
    """Ask what cannot be inferred, at most five questions; an empty answer leaves the fact open."""
    show("\nAn empty answer leaves a fact open.\n")
    answers = _answered(WORKLOAD, answers)
    if not answers.form:
        answers = _answered(FORM, answers)
    answers = _answered(FOIL, _answered(TOLERANCE, answers))
    open_groups = [t for t in context.assignment.taken_as() if not t.interface and _asks_of(t.family, answers)]
    if not open_groups:
        return answers
    vague = max(open_groups, key=lambda t: _asks_of(t.family, answers))
    return _answered(_generation(vague, answers), answers)


def _asks_of(family_id: str, answers: Answers) -> int:
    """How many clauses hang on the generation of a family; under every workload where none is stated."""
    workload = load_profile(answers.profile).workload if answers.profile else None
    workloads = (workload,) if workload else ("training", "inference", "edge")
    return sum(len(one.clauses(w)) for one in family(family_id).interfaces for w in workloads)


def _answered(question: Question, answers: Answers) -> Answers:
    while True:
        show(f"{question.text}: ")
        sys.stdout.flush()
        try:
            said = input().strip()
        except EOFError:
            show("\n")
            return answers
        if said in LEAVE_OPEN:
            return answers
        try:
            return question.accept(answers, said)
        except ConfigError as error:
            show(f"  {error.what}; {error.next_step}\n")


def _workload(answers: Answers, said: str) -> Answers:
    profile = load_profile(said)
    return replace(answers, profile=said, form=profile.form)


def _form(answers: Answers, said: str) -> Answers:
    load_form(said)
    return replace(answers, form=said)


def _tolerance(answers: Answers, said: str) -> Answers:
    try:
        value = float(said.strip("+-%/ ").replace(",", "."))
    except ValueError:
        value = 0.0
    if not 0 < value <= LOOSEST_PCT:
        raise ConfigError("tolerance", f"{said!r} is no percentage", "type a number such as 10")
    return replace(answers, impedance_tolerance_pct=value)


def _foil(answers: Answers, said: str) -> Answers:
    if find_foil(said).grade is None:
        known = did_you_mean(said, [grade.value for grade in FoilGrade])
        raise ConfigError("foil", f"{said!r} is no known foil or grade", known)
    return replace(answers, foil=said)


def _generation(vague: TakenAs, answers: Answers) -> Question:
    """Ask for the generation of the group of fast nets on which most depends and which does not tell its own."""
    known = [one.id for one in family(vague.family).interfaces]

    def accept(answers: Answers, said: str) -> Answers:
        if said not in known:
            raise ConfigError("interface", f"{said!r} is none of them", did_you_mean(said, known))
        return replace(answers, generations={**answers.generations, vague.family: said})

    expected = load_profile(answers.profile).interfaces.get(vague.family) if answers.profile else None
    choices = ", ".join(known)
    usual = f"; usual for this workload: {expected}" if expected else ""
    return Question(f"Which are the nets of {clean(vague.group)} ({choices}{usual})", accept)


WORKLOAD = Question("Workload, e.g. inference-pcie (stackwright profiles lists them)", _workload)
FORM = Question("Form factor, e.g. pcie-card", _form)
TOLERANCE = Question("Impedance tolerance asked of the fab, in percent", _tolerance)
FOIL = Question("Foil grade or product of the copper layers, e.g. RTF, VLP, HVLP", _foil)
