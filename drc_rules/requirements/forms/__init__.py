"""Form factors: outline, thickness and power; data in TOML next to this file."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import Field

from drc_rules.requirements.clauses import Clause, Limit, Severity, Source
from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.documents import cite
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.frozen import Frozen

FOLDER = Path(__file__).parent
ENGINEERING = "engineering"


class Form(Frozen):
    """A form factor.

    Attributes:
        size_mm: width and height, None where no one size holds or is published.
        size_tolerance_mm: allowed difference per side, None where none is stated.
        size_is_greatest: True where smaller boards are of the form too.
        thickness_mm: nominal thickness.
        thickness_range_mm: least and most; None where no tolerance is stated.
        thickness_row: where the range stands in its document.
        is_large: longer than 400 mm, though no one size is stated.
        supply_v: highest supply that it distributes.
        layer_count: copper layers that the platform's own guide requires; None where it does not. A board starts with
            them, no check requires them.
        layer_count_row: where that stands in its document.
        max_power_w: power that the connector or the standard gives.
        sources: field name -> document; a field without one is engineering knowledge.
    """

    name: str = ""
    title: str
    size_mm: tuple[float, float] | None = None
    size_tolerance_mm: float | None = None
    size_is_greatest: bool = False
    thickness_mm: float | None = None
    thickness_range_mm: tuple[float, float] | None = None
    thickness_row: str = ""
    connector: str = ""
    is_large: bool = False
    supply_v: float | None = None
    layer_count: int | None = Field(default=None, ge=2)
    layer_count_row: str = ""
    max_power_w: float | None = None
    sources: Mapping[str, str] = Field(default_factory=dict)
    note: str = ""

    def document_of(self, field: str) -> str:
        """Return the key of the document that a number stands in, `engineering` when none was found."""
        return self.sources.get(field, ENGINEERING)

    @property
    def has_card_edge(self) -> bool:
        """Whether contacts on the board's own edge are its connector."""
        return self.connector.endswith("edge")

    @property
    def layer_count_words(self) -> str:
        """Where the number of layers stands."""
        source = Source(document=self.document_of("layer_count"), row=self.layer_count_row)
        return f"form {self.name}: {cite(source)}"

    def clauses(self) -> tuple[Clause, ...]:
        """Return what it asks of a board; warnings only, because edges can be milled and outlines cut."""
        found = []
        if self.thickness_range_mm is not None:
            low, high = self.thickness_range_mm
            found.append(
                Clause(
                    id=f"form.thickness.{self.name}",
                    kind="form_thickness",
                    title=f"{low:g} to {high:g} mm thick ({self.title})",
                    severity=Severity.WARNING,
                    limit=Limit(min=low, max=high, unit="mm"),
                    source=self._source("thickness_range_mm", self.thickness_row or "thickness"),
                    note=self.note,
                )
            )
        if self.size_mm is not None:
            width, height = self.size_mm
            found.append(
                Clause(
                    id=f"form.size.{self.name}",
                    kind="form_size",
                    title=f"outline {'<= ' if self.size_is_greatest else ''}{width:g} x {height:g} mm ({self.title})",
                    severity=Severity.WARNING,
                    limit=Limit(min=min(width, height), max=max(width, height), unit="mm"),
                    source=self._source("size_mm", "outline"),
                )
            )
        return tuple(found)

    def _source(self, field: str, row: str) -> Source:
        return Source(document=self.document_of(field), table=self.title, row=row)


class _File(Frozen):
    form: Mapping[str, Form]


@cache
def forms() -> Mapping[str, Form]:
    """Every form factor by name."""
    found: dict[str, Form] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        read = read_model(path, _File)
        found |= {name: form.model_copy(update={"name": name}) for name, form in read.form.items()}
    return found


def load_form(name: str) -> Form:
    """Return a form factor.

    Raises:
        ConfigError: there is none of that name; says which is nearest.
    """
    if name not in forms():
        raise ConfigError(
            f'form factor "{name}"', "is not known", f"{did_you_mean(name, forms())}; `stackwright profiles` lists them"
        )
    return forms()[name]
