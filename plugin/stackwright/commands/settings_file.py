"""The text of a `stackwright.toml`: what was answered, what was inferred, and a place for the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from drc_rules.config import PLACEHOLDER, parse_config
from drc_rules.context import Context
from drc_rules.interfaces import interface
from drc_rules.report import TakenAs
from stackwright.words import clean, count


@dataclass(frozen=True)
class Answers:
    """What the user answered; None where a fact was left open. `generations`: interface by family."""

    profile: str | None = None
    form: str | None = None
    impedance_tolerance_pct: float | None = None
    foil: str | None = None
    generations: dict[str, str] = field(default_factory=dict)


def known_interface(name: str) -> str:
    """Return the name when it is an interface; raises `ConfigError` with the nearest one."""
    return interface(name).id


def compose(context: Context, answers: Answers) -> str:
    """Return the text; it is valid, and declares only what was answered."""
    board = context.board
    name = board.path.name if board.path else "the board"
    lines = [
        f"# What KiCad has no field for: facts about {clean(name)} for Stackwright.",
        f'# A value "{PLACEHOLDER}" declares nothing. Lines with # in front are suggestions.',
        "",
        "# Workload, see `stackwright profiles`: training, inference, edge or a board type such as inference-pcie.",
        f"profile = {_value(answers.profile)}",
        "",
        "# Form factor, where the profile does not say it.",
        f"form = {_value(answers.form)}",
        "",
        *_declared(context, answers),
        "",
        *_materials(context),
        *_interfaces(context.assignment.taken_as(), answers),
    ]
    text = "\n".join(lines).rstrip("\n") + "\n"
    parse_config(text)
    return text


def _declared(context: Context, answers: Answers) -> Iterator[str]:
    yield "[declared]"
    stackup = context.board.stackup
    if stackup is not None:
        yield "# The facts below hold for the stackup with this hash; when it changes, they count as unknown."
        yield f"stackup_hash = {_value(stackup.digest)}"
    yield "# Impedance tolerance that the fab notes ask for, in percent."
    yield f"impedance_tolerance_pct = {_value(answers.impedance_tolerance_pct)}"
    yield '# Foil of every copper layer: STD, RTF, LP, VLP, HVLP, or a product. Of one layer: [declared.copper."In1.Cu"]'
    yield f"foil = {_value(answers.foil)}"
    unstated = sorted({p.stated for p in context.plies if p.stated and not p.tg.known})
    if unstated:
        yield f"# Tg in degrees Celsius by DSC: {clean(', '.join(unstated))} states none."
        yield f"tg_c = {_value(None)}"


def _materials(context: Context) -> Iterator[str]:
    """What each material text was taken for, as comments."""
    plies = {ply.stated: ply for ply in context.plies if ply.stated}
    if not plies:
        return
    yield "# Materials, as the stackup states them:"
    for stated, ply in plies.items():
        match = ply.match
        known = match.laminate.family if match and match.laminate else "not known"
        yield f"#   {clean(stated)}: {known}"
    yield ""


def _interfaces(taken: Iterable[TakenAs], answers: Answers) -> Iterator[str]:
    """One block per group of nets: commented where inferred, open where the generation is unknown."""
    for row in taken:
        yield f"# {count(row.nets, 'net')} of {clean(row.group)}: {clean(row.why)}"
        answered = answers.generations.get(row.family) if not row.interface else None
        front = "" if answered else "# "
        yield f"{front}[[interface]]"
        yield f"{front}is = {_value(answered or row.interface or None)}"
        yield f"{front}net_classes = [{_value(row.group)}]"
        yield ""


def _value(value: str | float | None) -> str:
    """Return a TOML value; None becomes the placeholder."""
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value or PLACEHOLDER, ensure_ascii=False).replace("\x7f", "\\u007f")
