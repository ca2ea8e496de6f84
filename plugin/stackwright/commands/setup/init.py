"""`stackwright init`: a commented `stackwright.toml`, filled with what the board already says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from drc_rules.analysis.stackup.facts_of_board import board_facts
from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.engine.missing_inputs import proofs
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import TakenAs
from drc_rules.requirements.forms import load_form
from drc_rules.requirements.interfaces import family
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.rules.rule import all_rules
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config, parse_config
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.core.errors import ConfigError, StackwrightError, did_you_mean
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.materials import FoilGrade, find_foil
from stackwright.commands.setup import settings_file
from stackwright.commands.setup.dependent_facts import stackup_facts, with_roles
from stackwright.commands.setup.settings_file import InitAnswers
from stackwright.reporters import text_details
from stackwright.run.paths import find_board
from stackwright.text.command_line import command_line
from stackwright.text.output import former_of, show, write_over
from stackwright.text.page import Page, styled, terminal_console
from stackwright.text.words import clean, count

LOOSEST_PCT = 50.0
LEAVE_OPEN = ("", PLACEHOLDER)


@record
class InitRequest:
    """One question; `accept` returns the answers with a new one, or raises `ConfigError` with the next step."""

    text: str
    accept: Callable[[InitAnswers, str], InitAnswers]


def init_board(typed: Path, *, ask: bool, force: bool, profile: str | None = None, form: str | None = None) -> int:
    """Write the settings file next to a board, or add to it what a workload needs; return the exit code.

    Raises:
        StackwrightError: the board cannot be read; there is such a file, and neither `force` nor a profile is given.
    """
    path = find_board(typed)
    target = path.with_name(FILE_NAME)
    former = former_of(target)
    exists = target.exists() and not force
    if exists and profile is None:
        what = "give --profile NAME to add what that workload needs, edit it, or give --force to replace it"
        raise StackwrightError(str(target), "is there already", what)
    actions: list[str] = []
    if profile is not None:
        text, needed = _for_workload(path, profile, form, _plain(former) if exists else None)
        actions = [line.removeprefix("# ") for line in needed if line.startswith("# in KiCad, ")]
    else:
        context, _, _ = prepare(read_board(path), Config(), Overrides())
        given = InitAnswers(form=load_form(form).name if form else None)
        show(_inferred(context).text(terminal_console()))
        answers = _asked(context, given) if ask and sys.stdin.isatty() and sys.stdout.isatty() else given
        text = settings_file.compose(context, answers)
    if exists and b"\r\n" in (former or b""):
        text = text.replace("\n", "\r\n")
    kept = write_over(target, text, former=former, keep=True) if text.encode() != former else None
    page = Page()
    if profile is None:
        page.gap()
    wrote = f"wrote {target}" if text.encode() != former else f"{target} has all that is needed already"
    page.verbatim([wrote + (f"; the former content is in {kept.name}" if kept else "")], indent=0)
    page.verbatim(actions, indent=0)
    to_fill = settings_file.open_values(text)
    if to_fill:
        page.verbatim([f"fill in {count(to_fill, 'value')} marked {PLACEHOLDER}, then check the board again"], indent=0)
    page.verbatim([f"next: {command_line('check', str(typed))}"], indent=0)
    show(page.text(terminal_console()))
    return 0


def _plain(former: bytes | None) -> str:
    return (former or b"").decode("utf-8").replace("\r\n", "\n")


def _for_workload(path: Path, profile: str, form: str | None, settings: str | None) -> tuple[str, Sequence[str]]:
    """Return settings with lines for all that a workload needs, and those lines; `settings` are those that are there.

    Raises:
        ConfigError: the settings name another workload.
    """
    load_profile(profile)
    given = parse_config(settings) if settings is not None else Config()
    if given.profile not in (None, profile):
        next_step = f"give --profile {given.profile}, or edit the file"
        raise ConfigError(FILE_NAME, f'is for "{given.profile}", not for "{profile}"', next_step)
    context, requirements, _ = prepare(read_board(path), given, Overrides(profile=profile, form=form))
    outcome = run(context, requirements.clauses, all_rules(), all_rules())
    needed = with_roles(context, proofs(context, outcome, stackup_facts(context, proofs(context, outcome))))
    if settings is not None:
        return settings_file.add_to(settings, profile, needed), needed
    return settings_file.compose_for(context, profile, form, needed), needed


def _inferred(context: Context) -> Page:
    """Show what needs no question."""
    page = Page()
    page.line(styled("What the board says", "bold"))
    text_details.facts(page, board_facts(context, "").lines)
    text_details.taken_as(page, context.assignment.taken_as(), context.assignment.taken_as(idle=True))
    return page


def _asked(context: Context, answers: InitAnswers) -> InitAnswers:
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


def _asks_of(family_id: str, answers: InitAnswers) -> int:
    """How many clauses hang on the generation of a family; under every workload where none is stated."""
    workload = load_profile(answers.profile).workload if answers.profile else None
    workloads = (workload,) if workload else ("training", "inference", "edge")
    return sum(len(one.clauses(w)) for one in family(family_id).interfaces for w in workloads)


def _answered(question: InitRequest, answers: InitAnswers) -> InitAnswers:
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


def _workload(answers: InitAnswers, said: str) -> InitAnswers:
    profile = load_profile(said)
    return replace(answers, profile=said, form=answers.form or profile.form)


def _form(answers: InitAnswers, said: str) -> InitAnswers:
    load_form(said)
    return replace(answers, form=said)


def _tolerance(answers: InitAnswers, said: str) -> InitAnswers:
    try:
        value = float(said.strip("+-%/ ").replace(",", "."))
    except ValueError:
        value = 0.0
    if not 0 < value <= LOOSEST_PCT:
        raise ConfigError("tolerance", f"{said!r} is no percentage", "type a number such as 10")
    return replace(answers, impedance_tolerance_pct=value)


def _foil(answers: InitAnswers, said: str) -> InitAnswers:
    if find_foil(said).grade is None:
        known = did_you_mean(said, [grade.value for grade in FoilGrade])
        raise ConfigError("foil", f"{said!r} is no known foil or grade", known)
    return replace(answers, foil=said)


def _generation(vague: TakenAs, answers: InitAnswers) -> InitRequest:
    """Add the generation of the group of high-speed nets on which most depends and whose generation is not known."""
    known = [one.id for one in family(vague.family).interfaces]

    def accept(answers: InitAnswers, said: str) -> InitAnswers:
        if said not in known:
            raise ConfigError("interface", f"{said!r} is none of them", did_you_mean(said, known))
        return replace(answers, generations={**answers.generations, vague.family: said})

    expected = load_profile(answers.profile).interfaces.get(vague.family) if answers.profile else None
    choices = ", ".join(known)
    usual = f"; usual for this workload: {expected}" if expected else ""
    group = clean(vague.group)
    which = group.replace("nets such as", "like", 1) if group.startswith("nets such as ") else f"of {group}"
    return InitRequest(f"Which are the nets {which} ({choices}{usual})", accept)


WORKLOAD = InitRequest("Workload, e.g. inference-pcie (`stackwright profiles` lists them)", _workload)
FORM = InitRequest("Form factor, e.g. pcie-card", _form)
TOLERANCE = InitRequest("Impedance tolerance asked of the fab, in percent", _tolerance)
FOIL = InitRequest("Foil grade or product of the copper layers, e.g. RTF, VLP, HVLP", _foil)
