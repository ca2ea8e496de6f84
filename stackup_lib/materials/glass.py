"""The woven glass inside core and prepreg: styles by their number, and kinds of glass by their Dk."""

from functools import cache

from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.data import read_toml, sources_of
from stackup_lib.materials.sources import MaterialSource


class GlassStyle(Frozen):
    """One glass style.

    Attributes:
        style: its number, e.g. `2116`.
        thickness_mm: one cured ply at `resin_content_pct`, before it fills copper; None when no table states it.
    """

    style: str
    thickness_mm: float | None = None
    resin_content_pct: float | None = None
    source: MaterialSource


@cache
def glass_styles() -> dict[str, GlassStyle]:
    """Return the known glass styles by number."""
    data = read_toml("glass_styles.toml")
    sources = sources_of(data)
    rows = (GlassStyle.model_validate({**row, "source": sources[row["source"]]}) for row in data["style"])
    return {row.style: row for row in rows}


class GlassKind(Frozen):
    """What the yarn of a cloth is made of.

    Attributes:
        words: what stands for it in front of "glass" in a material's name, in lower case.
        dk, df: of the glass alone, at `ghz`; df is None where none is published.
    """

    kind: str
    title: str
    words: tuple[str, ...]
    dk: float
    df: float | None = None
    ghz: float
    source: MaterialSource
    note: str = ""


@cache
def glass_kinds() -> dict[str, GlassKind]:
    """Return the known kinds of glass by their short name, the highest Dk first."""
    data = read_toml("glass_kinds.toml")
    sources = sources_of(data)
    rows = (GlassKind.model_validate({**row, "source": sources[row["source"]]}) for row in data["kind"])
    return {row.kind: row for row in rows}
