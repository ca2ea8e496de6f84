"""A clause: one limit that applies to a board, with its severity and its source."""

from enum import StrEnum

from pydantic import Field

from stackup_lib.core.frozen import Frozen


class Severity(StrEnum):
    """How bad a finding is; `rank` orders them."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error."""
        return {"info": 0, "warning": 1, "error": 2}[self.value]


class Basis(StrEnum):
    """What a clause rests on."""

    REQUIREMENT = "requirement"
    PHYSICS = "physics"
    FAB = "fab"
    FILE = "file"  # the board's own files contradict themselves or say nothing


class Source(Frozen):
    """Where a limit stands.

    Attributes:
        document: key of the document in `profiles/documents.toml`.
        table: heading of the table or section, empty for running text.
        row: row of the table, or the statement in our own few words.
    """

    document: str
    table: str = ""
    row: str = ""


class Limit(Frozen):
    """What is required; a clause uses the fields that its kind knows.

    Attributes:
        min: smallest allowed value in `unit`.
        max: largest allowed value in `unit`.
        at_ghz: frequency at which a loss or permittivity limit is compared.
        decimals: published precision of the limit: values are rounded to it before they are compared.
        at_least: least acceptable class, e.g. a loss class or foil grade.
        not_below: for two-sided classes, the worst grade that is only a warning elsewhere.
        named: products that the row itself names; they meet it by name.
        required: something must be present, e.g. a backdrill.
        choices: acceptable words.
    """

    min: float | None = None
    max: float | None = None
    unit: str = ""
    at_ghz: float | None = None
    decimals: int | None = None
    at_least: str | None = None
    named: tuple[str, ...] = ()
    required: bool | None = None
    choices: tuple[str, ...] = ()


class Clause(Frozen):
    """One limit that applies to a board.

    Attributes:
        id: stable name such as `training.df.nvlink5`.
        kind: what is compared, e.g. `layer_count`; a rule says which kinds it decides.
        title: the requirement with its number, true to read next to "passed" and "failed".
        severity: severity of a finding against it.
        basis: what it rests on.
        limit: the demand as data.
        source: where it stands; a clause of basis `requirement` or `fab` always has one.
        interface: id of the interface it belongs to, None for the whole board.
        note: a known contradiction or assumption, in one sentence.
    """

    id: str
    kind: str
    title: str
    severity: Severity
    basis: Basis = Basis.REQUIREMENT
    limit: Limit = Field(default_factory=Limit)
    source: Source
    interface: str | None = None
    note: str = ""
