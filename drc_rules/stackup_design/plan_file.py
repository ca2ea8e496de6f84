"""The plan file: a stackup row by row, what KiCad cannot store of it, net classes and rules; read, written, resolved.

A plan is where a suggestion ends and an edit begins. `plan_of` of a board, applied to that board, changes nothing.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from drc_rules.requirements.data_files import parse_model
from drc_rules.requirements.fabs.presets import known_preset
from drc_rules.requirements.value_kinds import misfit_in
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config
from drc_rules.settings.key_synonyms import keys_meant
from drc_rules.settings.net_selection import toml_value
from stackup_lib.board.board import Board, LayerKind
from stackup_lib.board.planned import (
    PlannedClass,
    PlannedRow,
    PlannedRule,
    PlannedStackup,
    PlannedTuning,
    planned_from,
)
from stackup_lib.board.stackup import Ply
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import catalogue, find_foil

MOST_MM = 100.0
FORMAT = "stackwright-plan"


class PlanPly(Frozen):
    """One sheet of a dielectric; `laminate` is the catalogue's family that `material` must resolve to."""

    thickness_mm: float | None = Field(default=None, gt=0, lt=100)
    material: str | None = None
    laminate: str | None = None
    dk: float | None = Field(default=None, gt=1, lt=1000)
    df: float | None = Field(default=None, gt=0, lt=1)


class PlanRow(PlanPly):
    """One row of the stackup, top to bottom.

    Attributes:
        name: KiCad's name; "" takes the one that KiCad would give.
        foil, copper_oz: of a copper layer, for `stackwright.toml`: KiCad has no field for them.
        at_ghz: frequency of `df`, likewise; of sheets that all have the same.
        dk_at_ghz: frequency of `dk`, for the reader: KiCad has no field for it.
        layer_type: KiCad's type of a copper layer that is new to the board.
        plies: the sheets, where there are several; then the row itself states no material.
    """

    kind: Literal["copper", "core", "prepreg", "mask"]
    name: str = ""
    foil: str | None = None
    copper_oz: float | None = Field(default=None, gt=0, le=20)
    at_ghz: float | None = Field(default=None, gt=0, lt=400)
    dk_at_ghz: float | None = Field(default=None, gt=0, lt=400)
    layer_type: Literal["signal", "power", "mixed", "jumper"] = "signal"
    plies: tuple[PlanPly, ...] = ()

    @model_validator(mode="after")
    def _sensible(self) -> "PlanRow":
        is_dielectric = self.kind in ("core", "prepreg")
        if self.kind != "copper" and (self.foil or self.copper_oz):
            raise ValueError("foil and copper_oz belong to a copper row")
        if self.plies and (not is_dielectric or any(v is not None for v in self._own())):
            raise ValueError("plies are the sheets of a core or prepreg; then the row states no figures of its own")
        if self.at_ghz is not None and self.df_of_all is None:
            raise ValueError("at_ghz is the frequency of the row's df, the same for all its sheets: state that too")
        return self

    @property
    def df_of_all(self) -> float | None:
        """Df of all sheets; None where they differ, or state none."""
        found = {sheet.df for sheet in self.sheets}
        return found.pop() if len(found) == 1 else None

    def _own(self) -> tuple[object, ...]:
        return self.thickness_mm, self.material, self.laminate, self.dk, self.df

    @property
    def sheets(self) -> tuple[PlanPly, ...]:
        """The sheets, one or more."""
        own = PlanPly(
            thickness_mm=self.thickness_mm, material=self.material, laminate=self.laminate, dk=self.dk, df=self.df
        )
        return self.plies or (own,)


class Plan(Frozen):
    """A whole plan file.

    Attributes:
        note: for the reader.
        board: file name of the board that it was made for; "" where it was made for none.
        copper_finish, impedance_controlled, edge_connector, edge_plating: options; left out, they stay as they are.
        impedance_tolerance_pct: for `stackwright.toml`.
        process: preset of `[process]`, for `stackwright.toml`.
        net_class, rule: what `--classes` and `--rules` write.
        tuning: sizes of the project's tuning profiles, which `--classes` writes too.
    """

    format: Literal["stackwright-plan"] = "stackwright-plan"
    version: Literal[1] = 1
    note: str = ""
    board: str = ""
    copper_finish: str | None = None
    impedance_controlled: bool | None = None
    edge_connector: Literal["yes", "bevelled", "no"] | None = None
    edge_plating: bool | None = None
    impedance_tolerance_pct: float | None = Field(default=None, ge=1, le=50)
    process: Annotated[str | None, AfterValidator(known_preset)] = None
    rows: tuple[PlanRow, ...] = Field(min_length=3)
    net_class: tuple[PlannedClass, ...] = ()
    rule: tuple[PlannedRule, ...] = ()
    tuning: tuple[PlannedTuning, ...] = ()

    @property
    def planned(self) -> PlannedStackup:
        """What shall stand in the board file."""
        return PlannedStackup(
            rows=tuple(_planned_row(row) for row in self.rows),
            copper_finish=self.copper_finish,
            dielectric_constraints=self.impedance_controlled,
            edge_connector=self.edge_connector,
            edge_plating=self.edge_plating,
        )


def _planned_row(row: PlanRow) -> PlannedRow:
    plies = tuple(Ply(thickness_mm=p.thickness_mm, material=p.material, dk=p.dk, df=p.df) for p in row.sheets)
    return PlannedRow(kind=LayerKind(row.kind), name=row.name, plies=plies, layer_type=row.layer_type)


def read_plan(path: Path) -> Plan:
    """Read a plan, TOML or JSON, and prove that its material names mean what it says.

    Raises:
        ConfigError: unreadable, an unknown key or value, a material that resolves to another laminate, an unknown foil.
    """
    if path.suffix.lower() in (".kicad_pcb", ".kicad_pro"):
        raise ConfigError(str(path), "is a board, not a plan", "name the plan first, then the board")
    if path.name == FILE_NAME:
        raise ConfigError(
            str(path), "is settings, not a plan", "name the file that --plan of `stackwright suggest` wrote"
        )
    try:
        text = read_plain_text(path, "utf-8-sig")
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read ({error.strerror or 'error'})", "name a plan file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    return parse_plan(text, str(path))


def parse_plan(text: str, where: str) -> Plan:
    """Read the text of a plan; raises `ConfigError` like `read_plan`."""
    plan = _from_json(text, where) if text.lstrip().startswith("{") else parse_model(text, Plan, where, keys_meant)
    for number, row in enumerate(plan.rows, start=1):
        label = f"{where}, row {number} ({row.name or row.kind})"
        for ply in row.sheets:
            _same_laminate(ply, label)
        if row.foil is not None and find_foil(row.foil).grade is None:
            names = ("STD", "RTF", "LP", "VLP", "HVLP", *find_foil(row.foil).alternatives)
            raise ConfigError(label, f'"{row.foil}" is no known foil or grade', did_you_mean(row.foil, names))
    for item in (*plan.net_class, *plan.rule, *plan.tuning):
        for key, value in item.model_dump().items():
            if key.endswith("_mm") and value is not None and not value < MOST_MM:
                named = next(getattr(item, name) for name in ("name", "net_class", "profile") if hasattr(item, name))
                label = f"{where}, {named}"
                raise ConfigError(label, f'"{key}" is {value}', f"write millimetres, less than {MOST_MM:g}")
    return plan


def _from_json(text: str, where: str) -> Plan:
    try:
        written = json.loads(text)
        plan = Plan.model_validate(written)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        if first["type"] == "extra_forbidden":
            model = PlanRow if "rows" in first["loc"] else Plan
            raise ConfigError(
                where, f'unknown key "{key}"', did_you_mean(key.split(".")[-1], model.model_fields)
            ) from None
        raise ConfigError(where, f'"{key}": {first["msg"].removeprefix("Value error, ")}', "correct it") from None
    except ValueError as error:
        raise ConfigError(where, f"is not valid JSON: {error}", "correct that line") from error
    if (wrong := misfit_in(written, plan)) is not None:
        raise ConfigError(where, *wrong)
    return plan


def _same_laminate(ply: PlanPly, label: str) -> None:
    """What KiCad is to store must lead our resolver to the row of the catalogue that the plan means."""
    if ply.laminate is None:
        return
    match = catalogue().find(ply.material or "")
    found = match.laminate.family if match.laminate else None
    if found == ply.laminate:
        return
    known = [laminate.family for laminate in catalogue().laminates]
    if ply.laminate not in known:
        raise ConfigError(label, f'"{ply.laminate}" is no laminate of the catalogue', did_you_mean(ply.laminate, known))
    meant = f"means {found}" if found else "names no laminate of the catalogue"
    what = f'the material "{ply.material or ""}" {meant}, but laminate is "{ply.laminate}"'
    raise ConfigError(label, what, "correct the material, or take the line's laminate out")


def plan_of(board: Board, config: Config) -> Plan:
    """Return the plan that repeats what a board and its settings state already.

    Raises:
        ConfigError: the board states no stackup, or a row of it that no plan can state.
    """
    if board.stackup is None:
        raise ConfigError(str(board.path or "the board"), "states no stackup", "enter one in KiCad's Board Setup")
    if config.declared.stackup_hash not in (None, board.stackup.digest):
        config = Config()  # declared for another stackup
    stated = planned_from(board.stackup)
    return Plan(
        copper_finish=stated.copper_finish,
        impedance_controlled=stated.dielectric_constraints,
        edge_connector=stated.edge_connector,
        edge_plating=stated.edge_plating,
        impedance_tolerance_pct=config.declared.impedance_tolerance_pct,
        rows=tuple(_row_or_refusal(row, board, config) for row in stated.rows),
        net_class=tuple(_classes_of(board)),
    )


def _row_or_refusal(row: PlannedRow, board: Board, config: Config) -> PlanRow:
    try:
        return _row_of(row, board, config)
    except ValidationError as error:
        first = error.errors()[0]
        where = f'{board.path or "the board"}, stackup layer "{row.name}"'
        key = str(first["loc"][-1]) if first["loc"] else "the row"
        what = f"{key} is {first['input']!r:.40}, which no plan can ask for"
        raise ConfigError(where, what, "correct it in KiCad's Board Setup") from error


def _row_of(row: PlannedRow, board: Board, config: Config) -> PlanRow:
    sheets = tuple(_ply_of(ply, is_dielectric=row.kind is not LayerKind.COPPER) for ply in row.plies)
    copper = config.declared.copper.get(row.name) if row.kind is LayerKind.COPPER else None
    said = config.declared.dielectric.get(row.name)
    own = sheets[0].model_dump() if len(sheets) == 1 else {"plies": sheets}
    types = {layer.name: layer.kicad_type for layer in board.copper_layers}
    layer_type = types.get(row.name, "signal")
    at_ghz = said.at_ghz if said and said.df is not None and {said.df} == {one.df for one in sheets} else None
    return PlanRow.model_validate(
        {
            "kind": row.kind.value,
            "name": row.name,
            **own,
            "foil": copper.foil if copper else None,
            "copper_oz": copper.copper_oz if copper else None,
            "at_ghz": at_ghz,
            "layer_type": layer_type if layer_type in ("signal", "power", "mixed", "jumper") else "signal",
        }
    )


def _ply_of(ply: Ply, *, is_dielectric: bool) -> PlanPly:
    match = catalogue().find(ply.material) if ply.material and is_dielectric else None
    laminate = match.laminate.family if match and match.laminate else None
    return PlanPly(thickness_mm=ply.thickness_mm, material=ply.material, laminate=laminate, dk=ply.dk, df=ply.df)


def _classes_of(board: Board) -> Iterator[PlannedClass]:
    for one in board.project.classes.values():
        planned = PlannedClass(
            name=one.name,
            track_width_mm=one.track_width_mm or None,
            diff_pair_width_mm=one.diff_pair_width_mm or None,
            diff_pair_gap_mm=one.diff_pair_gap_mm or None,
        )
        if any((planned.track_width_mm, planned.diff_pair_width_mm, planned.diff_pair_gap_mm)):
            yield planned


def write_plan(plan: Plan, *, title: str = "a board") -> str:
    """Return the text of a plan, one row of the stackup a line; `parse_plan` reads the same plan from it."""
    lines = [
        f"# Stackup plan for {title}: edit it, then look at `stackwright apply PLAN BOARD`.",
        "# Lengths are mm. foil, copper_oz, at_ghz, tolerance go into stackwright.toml: KiCad has no such field.",
        f'format = "{FORMAT}"',
        "version = 1",
    ]
    options = plan.model_dump(exclude_none=True, exclude_defaults=True, exclude={"rows", "net_class", "rule", "tuning"})
    lines += [f"{key} = {_value(value)}" for key, value in options.items() if key not in ("format", "version")]
    lines += ["", "rows = ["]
    lines += [f"  {_inline(row.model_dump(exclude_none=True, exclude_defaults=True))}," for row in plan.rows]
    lines += ["]"]
    for key, items in (("net_class", plan.net_class), ("rule", plan.rule), ("tuning", plan.tuning)):
        for item in items:
            lines += ["", f"[[{key}]]"]
            lines += [
                f"{k} = {_value(v)}" for k, v in item.model_dump(exclude_none=True, exclude_defaults=True).items()
            ]
    return "\n".join(lines) + "\n"


_ORDER = (
    "kind",
    "name",
    "thickness_mm",
    "material",
    "laminate",
    "dk",
    "dk_at_ghz",
    "df",
    "at_ghz",
    "copper_oz",
    "foil",
)


def _inline(row: dict[str, object]) -> str:
    keys = sorted(row, key=lambda key: _ORDER.index(key) if key in _ORDER else len(_ORDER))
    return "{ " + ", ".join(f"{key} = {_value(row[key])}" for key in keys) + " }"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return _inline(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, str):
        return toml_value(value)
    return repr(value)
