"""The four files of a new board as bytes, from a plan: board, project, design rules, settings. Nothing is written."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.forms import ENGINEERING, Form
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.profile import Profile, load_form
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config, parse_config
from drc_rules.settings.declaration import Declaration
from drc_rules.settings.net_selection import toml_value
from drc_rules.stackup_design.new_plan import interface_of_class
from drc_rules.stackup_design.plan_changes import prove_laminates
from drc_rules.stackup_design.plan_file import Plan
from drc_rules.stackup_design.settings_edit import Key, Value, edit_settings, facts_of
from stackup_lib.core.record import record
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.new_board import empty_board, empty_project
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.materials import inner_copper_mm
from stackwright.text.words import clean

BOARD, PROJECT, RULES = ".kicad_pcb", ".kicad_pro", ".kicad_dru"
PLATED = 1.25
"""Copper this many times as thick as its foil is plated: makers' foils are within a tenth, plating adds 15 um."""
STAND_IN_MM = 100.0
"""Sides of an outline that is not stated: KiCad's design rule check reports a board without one."""


@record
class NewBoardPurpose:
    """What the board is for.

    Attributes:
        profile: the workload or type of board.
        form: what the user said; None takes the profile's own.
        generations: interface id by family id.
        settings: whose `[fab]` and `[process]` the board gets.
    """

    profile: Profile
    form: str | None
    generations: Mapping[str, str]
    settings: Config = field(default_factory=Config)

    @property
    def form_found(self) -> Form | None:
        """The form factor, the user's before the profile's."""
        name = self.form or self.profile.form
        return load_form(name) if name else None

    @property
    def outline(self) -> DrawnOutline:
        """The form factor's outline; where it has no size, a stand-in whose sides the profile takes."""
        form = self.form_found
        if form is not None and form.size_mm is not None:
            return DrawnOutline(form.size_mm, _where_from(form))
        asked = [clause.limit for clause in self.profile.clauses if clause.kind == "board_size"]
        side = max([STAND_IN_MM, *(limit.min for limit in asked if limit.min is not None)])
        why = f"no size is published ({form.title})" if form else "no form factor is stated"
        return DrawnOutline(
            (side, side), f"a stand-in, because KiCad requires an outline: {why}; draw yours on Edge.Cuts"
        )


@record
class DrawnOutline:
    """Width and height of the rectangle that is drawn, and why."""

    size_mm: tuple[float, float]
    why: str

    @property
    def words(self) -> str:
        """Both as text."""
        return f"{self.size_mm[0]:g} x {self.size_mm[1]:g} mm, {self.why}"


def _where_from(form: Form) -> str:
    document = form.document_of("size_mm")
    stated = (
        "usual, no document that was read states it" if document == ENGINEERING else cite(Source(document=document))
    )
    most = "the maximum of the form; " if form.size_is_greatest else ""
    return f"a plain rectangle, without card edge or notches; {most}{stated}"


def paths_of(board: Path) -> tuple[Path, ...]:
    """Return where the files of a board go, the board first."""
    return board, board.with_suffix(PROJECT), board.with_suffix(RULES), board.with_name(FILE_NAME)


def files_of(plan: Plan, board: Path, purpose: NewBoardPurpose) -> dict[Path, bytes]:
    """Return every file's content; without design rules in the plan there is no rules file.

    Raises:
        NotWrittenError: the plan makes no stackup, or its classes or rules cannot be written.
    """
    pcb, project, rules, settings = paths_of(board)
    text = empty_board(plan.planned, size_mm=purpose.outline.size_mm, label=str(board))
    read = read_board(pcb, text=text)
    prove_laminates(plan, read, str(board))
    digest = read.stackup.digest if read.stackup else ""
    found = {
        pcb: text,
        project: empty_project(
            project.name, plan.net_class, least_width_mm=min(_widths_mm(plan), default=math.inf), label=str(project)
        ),
        rules: replace_rules(
            None,
            plan.rule,
            label=str(rules),
            format_version=read.format_version,
            layers=[layer.name for layer in read.copper_layers],
        ),
        settings: settings_text(plan, digest, purpose, pcb).encode(),
    }
    return {path: content for path, content in found.items() if content}


def _widths_mm(plan: Plan) -> Iterator[float]:
    """Every track width that is planned."""
    for one in plan.net_class:
        yield from (width for width in (one.track_width_mm, one.diff_pair_width_mm) if width is not None)
    yield from (rule.width_range_mm[0] for rule in plan.rule)


def settings_text(plan: Plan, digest: str, purpose: NewBoardPurpose, board: Path) -> str:
    """Return the `stackwright.toml`: workload, form, the plan's facts for the stackup with this hash, interfaces."""
    head = "".join(f"{line}\n" for line in _head(purpose, digest, board))
    facts: dict[Key, Value] = {(("declared",), "stackup_hash"): digest, **facts_of(plan, digest)}
    declared = edit_settings(head, facts).text
    more = (*_interfaces(plan, purpose), *_goals(plan))
    text = declared + "".join(f"{line}\n" for line in more)
    parse_config(text)
    return text


def _head(purpose: NewBoardPurpose, digest: str, board: Path) -> Iterator[str]:
    profile, form = purpose.profile, purpose.form_found
    yield f"# What KiCad has no field for: facts about {clean(board.name)} for Stackwright."
    yield ""
    yield f"# Workload: {profile.title}."
    yield f"profile = {toml_value(_written(profile.name, board.parent))}"
    yield ""
    if form is None:
        yield "# Form factor: none is stated; `stackwright check` names those that are known."
        yield '# form = "?"'
    else:
        yield f"# Form factor: {form.title}{'' if purpose.form else ', which the workload implies'}."
        yield f"form = {toml_value(form.name)}"
    yield f"# Outline: {purpose.outline.words}."
    yield from _carried("fab", purpose.settings.fab)
    yield from _carried("process", purpose.settings.process)
    yield ""
    yield "[declared]"
    yield "# What is declared below holds for the stackup with this hash; when it changes, it counts as unknown."
    yield f"stackup_hash = {toml_value(digest)}"


def _carried(table: str, declared: Declaration) -> Iterator[str]:
    """A table of the settings that the board begins with, as far as it states something."""
    stated = declared.model_dump(exclude_none=True, exclude_defaults=True)
    if stated:
        yield from ("", f"[{table}]", *(f"{key} = {_inline(value)}" for key, value in stated.items()))


def _inline(value: object) -> str:
    if not isinstance(value, dict):
        return toml_value(value)
    return f"{{ {', '.join(f'{toml_value(key)} = {toml_value(of)}' for key, of in value.items())} }}"


def _written(profile: str, folder: Path) -> str:
    """A profile's name; the file of a user's own as it is found from the settings."""
    if not profile.endswith(".toml"):
        return profile
    try:
        return Path(os.path.relpath(profile, folder)).as_posix()
    except ValueError:  # another drive
        return Path(profile).resolve().as_posix()


def _goals(plan: Plan) -> Iterator[str]:
    """The build-ups of the stackup: until microvias are drawn, nothing else tells which inner layers are plated."""
    if per_side := build_ups_of(plan):
        yield ""
        yield "[goals]"
        yield "# HDI layers on either side: the inner ones of them are plated as the outer layers are."
        yield f"build_ups = {per_side}"


def build_ups_of(plan: Plan) -> int:
    """Return the build-ups on either side that a plan's plated inner layers show; 0 where none is plated.

    A plated layer has the outer layers' foil and thickness, which no bare foil of that weight has.
    """
    outer, *inner = [row for row in plan.rows if row.kind == "copper"]
    oz, thickness_mm = outer.copper_oz, outer.thickness_mm
    if oz is None or thickness_mm is None or thickness_mm <= PLATED * inner_copper_mm(oz):
        return 0
    alike = [(row.copper_oz, row.thickness_mm) == (oz, thickness_mm) for row in inner[: len(inner) // 2]]
    plated = [*alike, False].index(False)
    return plated + 1 if plated else 0


def _interfaces(plan: Plan, purpose: NewBoardPurpose) -> Iterator[str]:
    """One block per net class that an interface is named in; a comment for those that the plan has no class for."""
    found = {one.name: of for one in plan.net_class if (of := interface_of_class(one.name, purpose.generations))}
    for name, of in found.items():
        yield ""
        yield f"# {interface(of).title}: every net that you give this net class."
        yield "[[interface]]"
        yield f"is = {toml_value(of)}"
        yield f"net_classes = [{toml_value(name)}]"
    for of in purpose.generations.values():
        if of not in found.values():
            yield ""
            yield f"# {interface(of).title}: the nets it runs on, once there are any."
            yield "# [[interface]]"
            yield f"# is = {toml_value(of)}"
            yield '# nets = ["?"]'
