"""`stackwright.toml`: what the user declares, because KiCad has no field for it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from drc_rules.requirements.data_files import parse_model, read_text
from drc_rules.requirements.value_kinds import misfit_in
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.settings.config_order import OrderDeclaration
from drc_rules.settings.config_parts import PartModelDeclaration
from drc_rules.settings.config_power import RailDeclaration
from drc_rules.settings.config_process import ProcessDeclaration
from drc_rules.settings.config_thermal import HotPart
from drc_rules.settings.declaration import PLACEHOLDER, Declaration, is_open
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.settings.key_synonyms import keys_meant
from drc_rules.settings.suppression import Suppression


class CopperDeclaration(Declaration):
    """Facts of one copper layer that KiCad cannot store.

    Attributes:
        foil: kind of its copper foil, STD, RTF, LP, VLP or HVLP, or a product that `stackwright materials` knows.
        copper_oz: its weight before plating, ounces per square foot.
    """

    foil: str | None = None
    copper_oz: float | None = Field(default=None, gt=0, le=20)


class DielectricDeclaration(Declaration):
    """Facts of one dielectric that KiCad cannot store, or that replace its free text.

    Attributes:
        material: laminate, with glass style and resin content where they are known: `Megtron 7(N) 1080 RC70%`.
        dk, df: permittivity and loss tangent.
        at_ghz: frequency of `dk` and `df`, GHz.
        dk_at_ghz: frequency of `dk` where it is another one, or of the file's Dk where no `dk` is declared; GHz.
        tg_c: glass transition temperature, degrees Celsius.
        tg_method: by which it was measured; DSC reads lower than DMA.
    """

    material: str | None = None
    dk: float | None = Field(default=None, gt=1, lt=20)
    df: float | None = Field(default=None, gt=0, lt=0.2)
    at_ghz: float | None = Field(default=None, gt=0, lt=400)
    dk_at_ghz: float | None = Field(default=None, gt=0, lt=400)
    tg_c: float | None = Field(default=None, gt=50, lt=500)
    tg_method: Literal["DSC", "TMA", "DMA"] = "DSC"

    @property
    def dk_ghz(self) -> float | None:
        """Frequency of `dk`, GHz."""
        return self.at_ghz if self.dk_at_ghz is None else self.dk_at_ghz


class Declared(Declaration):
    """Facts about the stackup; with `stackup_hash` they hold only for the stackup they were written for.

    Attributes:
        stackup_hash: of the stackup, as `stackwright stackup` prints it; another stackup makes these facts void.
        impedance_tolerance_pct: what the fab promises for controlled impedance, plus and minus percent.
        foil: kind of copper foil of every layer that does not name its own.
        tg_c: glass transition temperature of the whole board's laminates, degrees Celsius.
        tg_method: by which it was measured.
        copper: facts by copper layer, under KiCad's name of it.
        dielectric: facts by dielectric, under KiCad's name of the row: `dielectric 1`; of one of unlike sheets under
            `dielectric 1, ply 2`.
    """

    stackup_hash: str | None = None
    impedance_tolerance_pct: float | None = Field(default=None, ge=1, le=50)
    foil: str | None = None
    tg_c: float | None = Field(default=None, gt=50, lt=500)
    tg_method: Literal["DSC", "TMA", "DMA"] = "DSC"
    copper: dict[str, CopperDeclaration] = Field(default_factory=dict)
    dielectric: dict[str, DielectricDeclaration] = Field(default_factory=dict)


class NetChoice(Declaration):
    """Nets chosen by net class or by KiCad-like wildcards (`*`, `?`) over the whole net name."""

    net_classes: tuple[str, ...] = ()
    nets: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _drop_placeholders(cls, data: object) -> object:
        """The placeholder among others chooses no net; the others still do."""
        if not isinstance(data, dict):
            return data
        filled = {key: _named(value) if key in _CHOOSE_NETS else value for key, value in data.items()}
        return {key: value for key, value in filled.items() if not is_open(value)}

    @classmethod
    def open_keys(cls, table: Mapping[str, object]) -> tuple[str, ...]:
        """Return the keys without which a table declares nothing, and that are open: its nets too, if none is named."""
        open_nets = [key for key in _CHOOSE_NETS if is_open(table.get(key))]
        none_named = not any(_named(table.get(key)) for key in _CHOOSE_NETS if key in table)
        return (*super().open_keys(table), *(open_nets if none_named else ()))


_CHOOSE_NETS = ("net_classes", "nets")


def _named(names: object) -> object:
    """Return a list without the placeholder; the placeholder itself names nothing."""
    if isinstance(names, list):
        return [name for name in names if name != PLACEHOLDER]
    return [] if names == PLACEHOLDER else names


Role = Literal[
    "add_in_card",
    "system",
    "slot",
    "direct",
    "host",
    "device",
    "board",
    "board_and_connector",
    "per_end",
    "type_a",
    "type_c",
    "short",
    "very_short",
    "extra_short",
    "medium",
]
"""Which board, or which kind of channel, a share of a loss budget is for: the keys of every `board_loss_db`."""


OF_A_LINK = ("role", "board_loss_db", "package_loss_db", "connector_loss_db")
"""Keys of an `[[interface]]` that may follow once its nets are declared."""


class InterfaceDeclaration(NetChoice):
    """These nets are that interface.

    Attributes:
        role: which board of the channel this is; it chooses the share of the loss budget.
        board_loss_db: the share itself at the Nyquist frequency, in place of a published one.
        package_loss_db, connector_loss_db: what of the share belongs to the package and the connector.
        group_skew_ps: allowed difference between the data of a byte and its strobe, or within a parallel link.
        address_skew_ps: allowed difference between address or command of a memory and its clock.
    """

    is_: str = Field(alias="is")
    role: Role | None = None
    board_loss_db: float | None = Field(default=None, gt=0, le=60)
    package_loss_db: float | None = Field(default=None, ge=0, le=30)
    connector_loss_db: float | None = Field(default=None, ge=0, le=30)
    group_skew_ps: float | None = Field(default=None, gt=0, le=10_000)
    address_skew_ps: float | None = Field(default=None, gt=0, le=10_000)


class ImpedanceDeclaration(NetChoice):
    """These nets have that impedance.

    Attributes:
        ohm: Z0 of a single line, Zdiff of a pair.
        kind: which of the two is meant.
        tolerance_pct: plus and minus percent; by default the interface's, else 10.
    """

    ohm: float = Field(ge=10, le=200)
    kind: Literal["single", "differential"]
    tolerance_pct: float | None = Field(default=None, ge=1, le=50)


class BackdrillDeclaration(NetChoice):
    """Vias on these nets are backdrilled, ordered from the fab outside the board file.

    Where the file has a backdrill from the same side too, the shallower of the two counts.

    Attributes:
        from_: outer layer at which the drill enters.
        must_cut: last layer that it passes.
        size_mm: diameter of the drill.
    """

    from_: str = Field(alias="from")
    must_cut: str
    size_mm: float | None = Field(default=None, gt=0, le=20)


class CheckOptions(Declaration):
    """Defaults for the options of `stackwright check`.

    Attributes:
        fail_on: least severity of a finding that makes the exit code 1.
        min_coverage_pct: exit code 1 where fewer of the questions could be decided.
        select, ignore: rules to run and to leave out, by family, code or name.
    """

    fail_on: Literal["error", "warning", "info", "never"] | None = None
    min_coverage_pct: float | None = Field(default=None, ge=0, le=100)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class Config(Declaration):
    """The whole of `stackwright.toml`.

    Attributes:
        profile: workload to check against, one of `stackwright profiles`, or the path of a profile of one's own.
        form: form factor, where it is not the profile's.
        core_on_module: the accelerator sits on a module that makes its own core voltage: no rail here is a core rail.

    What is absent is constructed, not validated: a board without settings pays for no validators.
    """

    profile: str | None = None
    form: str | None = None
    declared: Declared = Field(default_factory=Declared.model_construct)
    interface: tuple[InterfaceDeclaration, ...] = ()
    impedance: tuple[ImpedanceDeclaration, ...] = ()
    backdrill: tuple[BackdrillDeclaration, ...] = ()
    rail: tuple[RailDeclaration, ...] = ()
    part_model: tuple[PartModelDeclaration, ...] = ()
    core_on_module: bool = False
    hot_part: tuple[HotPart, ...] = ()
    suppress: tuple[Suppression, ...] = ()
    check: CheckOptions = Field(default_factory=CheckOptions.model_construct)
    goals: GoalChoices = Field(default_factory=GoalChoices.model_construct)
    fab: FabDeclaration = Field(default_factory=FabDeclaration.model_construct)
    process: ProcessDeclaration = Field(default_factory=ProcessDeclaration.model_construct)
    order: OrderDeclaration = Field(default_factory=OrderDeclaration.model_construct)

    _text: str = PrivateAttr(default="")
    _path: Path | None = PrivateAttr(default=None)
    _not_counted: tuple[str, ...] = PrivateAttr(default=())

    @property
    def text(self) -> str:
        """The text that was read, empty where there is none; lines to paste must fit into it."""
        return self._text

    @property
    def path(self) -> Path | None:
        """The file that was read, as the user would type it; None where there is none."""
        return self._path

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Tables that declare nothing because a key that they cannot do without is open, as notes."""
        return self._not_counted

    @model_validator(mode="wrap")
    @classmethod
    def _drop_unfilled(cls, data: Any, handler: ModelWrapValidatorHandler["Config"]) -> "Config":  # noqa: ANN401
        """Leave out the tables that cannot do without a key that is open, and keep a note of each.

        A value of another kind than its key has is refused here: Pydantic takes `"12"` for 12.
        """
        if not isinstance(data, dict):
            return handler(data)
        kept = dict(data)
        notes: list[str] = []
        for name, table in _ARRAYS.items():
            if isinstance(rows := data.get(name), list):
                notes += _open_notes(name, table, rows)
                kept[name] = [row for row in rows if not (isinstance(row, dict) and table.open_keys(row))]
        config = handler(kept)
        if (wrong := misfit_in(kept, config)) is not None:
            raise PydanticCustomError("kind_of_value", "{what}; {fix}", {"what": wrong[0], "fix": wrong[1]})
        config._not_counted = tuple(notes)
        return config


_ARRAYS: Mapping[str, type[Declaration]] = {
    "interface": InterfaceDeclaration,
    "impedance": ImpedanceDeclaration,
    "backdrill": BackdrillDeclaration,
    "rail": RailDeclaration,
    "part_model": PartModelDeclaration,
}
"""Arrays of which a table may declare nothing: one that is not filled in yet."""


def _open_notes(name: str, table: type[Declaration], rows: list[object]) -> Iterator[str]:
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict) and (keys := table.open_keys(row)):
            said = ", ".join(f'{key} = "{PLACEHOLDER}"' for key in keys)
            yield f"[[{name}]] {number} is not counted: {said}"


def load_config(path: Path) -> Config:
    """Read and check a `stackwright.toml`.

    Raises:
        ConfigError: unreadable, not TOML, or with a key or value that makes no sense; says what and where.
    """
    return parse_config(read_text(path), where=str(path), path=path)


def parse_config(text: str, *, where: str = FILE_NAME, path: Path | None = None) -> Config:
    """Check the text of a `stackwright.toml`; raises `ConfigError` like `load_config`.

    Args:
        text: what the file says, or would say.
        where: what an error calls it.
        path: the file, from whose folder models of parts are meant; None where the text is of no file.
    """
    config = parse_model(text, Config, where, keys_meant)
    config._text = text
    config._path = path
    return config
