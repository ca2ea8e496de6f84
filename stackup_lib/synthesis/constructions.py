"""Cores and prepregs that makers sell, from the rows of the catalogue; nothing is invented. Lengths in mm."""

from collections.abc import Iterator
from functools import cache
from typing import Literal

from stackup_lib.core.facts import Confidence, least
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import Construction, ConstructionKind, Laminate, Match, catalogue
from stackup_lib.materials.pressing import FacingCopper, cloth_thickness_mm, pressed_prepreg
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ

DF_GHZ = 10.0

MOST_PLIES = 4
"""In one dielectric; more are not found in fabs' stackups."""

THINNEST_CORE_MM = 0.05
THICKEST_CORE_MM = 1.6


class CatalogueProduct(Frozen):
    """A core, or one to four equal plies of a prepreg.

    Attributes:
        cured_mm: of all plies, before copper is filled; of a core its thickness.
        text: what `catalogue().find` takes back to the same row, for one ply.
        dk: at `dk_ghz`: at `DK_GHZ`, or at `DF_GHZ` where no value reaches there.
        df: at `DF_GHZ`; None when no value reaches there.
        confidence: of Dk and Df.
    """

    kind: Literal["core", "prepreg"]
    family: str
    text: str
    plies: int
    cured_mm: float
    dk: float
    dk_ghz: float = DK_GHZ
    df: float | None
    confidence: Confidence
    source: str
    row: Construction | None = None

    @property
    def cloth_mm(self) -> float | None:
        """Cloth of all plies; None for a core, and where the cloth of the style is not known."""
        cloth = cloth_thickness_mm(self.row.style) if self.row and self.row.style else None
        return None if cloth is None else cloth * self.plies

    def pressed_mm(self, faces: tuple[FacingCopper, ...]) -> float | None:
        """Return the thickness between copper faces; None when its resin does not fill the copper."""
        if self.kind == "core" or self.row is None:
            return self.cured_mm
        fact = pressed_prepreg(
            self.text,
            style=self.row.style,
            resin_content_pct=self.row.resin_content_pct,
            faces=faces,
            plies=self.plies,
            table=self.row,
        )
        return None if fact.value is None else round(fact.value.thickness_mm, 4)


@cache
def prepregs_of(family: str) -> tuple[CatalogueProduct, ...]:
    """Return one to four plies of every tabulated prepreg of a laminate, thinnest first; () without a table."""
    found: list[CatalogueProduct] = []
    for sold in _single_plies(family):
        more = range(2, MOST_PLIES + 1)
        found.append(sold)
        found += [sold.model_copy(update={"plies": n, "cured_mm": round(n * sold.cured_mm, 4)}) for n in more]
    return tuple(sorted(found, key=lambda s: (s.cured_mm, s.plies, s.text)))


def _single_plies(family: str) -> Iterator[CatalogueProduct]:
    laminate = catalogue().get(family)
    for row in laminate.constructions if laminate else ():
        if row.kind is not ConstructionKind.PREPREG or (row.plies or 1) != 1 or not row.style:
            continue
        if laminate is None or row.resin_content_pct is None:
            continue
        sold = _sold("prepreg", laminate, f"{family} {row.style} RC{row.resin_content_pct:g}%", row.thickness_mm, row)
        if sold is not None:
            yield sold


@cache
def cores_of(family: str) -> tuple[CatalogueProduct, ...]:
    """Return the cores that the maker lists, thinnest first; their Dk and Df are the laminate's typical ones."""
    return tuple(_listed_cores(family))


def _listed_cores(family: str) -> Iterator[CatalogueProduct]:
    laminate = catalogue().get(family)
    if laminate is None:
        return
    rows = [c.thickness_mm for c in laminate.constructions if c.kind is ConstructionKind.CORE]
    sizes = sorted({*laminate.core_thicknesses_mm, *rows})
    for thickness_mm in sizes:
        if THINNEST_CORE_MM <= thickness_mm <= THICKEST_CORE_MM:
            sold = _sold("core", laminate, family, thickness_mm, None)
            if sold is not None:
                yield sold


def core_to_order(family: str, thickness_mm: float) -> CatalogueProduct | None:
    """Return a laminate of any thickness that the maker offers; None beyond, or where its offer is not known."""
    laminate = catalogue().get(family)
    sheets = laminate.sheets if laminate else None
    if laminate is None or sheets is None or not sheets.min_mm <= thickness_mm <= sheets.max_mm:
        return None
    sold = _sold("core", laminate, family, thickness_mm, None)
    return sold.model_copy(update={"source": sheets.source.text}) if sold else None


def why_nothing(laminate: Laminate) -> str:
    """Return why a stackup cannot be built of a laminate alone; "" when it can."""
    missing = [
        what
        for what, sold in (
            ("prepreg rows", _single_plies(laminate.family)),
            ("core thicknesses", _listed_cores(laminate.family)),
        )
        if next(sold, None) is None  # a search builds of few laminates, and asks this of all
    ]
    return f"the catalogue has no {' and no '.join(missing)} of {laminate.family}" if missing else ""


def _sold(
    kind: Literal["core", "prepreg"], laminate: Laminate, text: str, thickness_mm: float, row: Construction | None
) -> CatalogueProduct | None:
    match: Match = catalogue().find(text)
    if (
        match.laminate is None
        or match.laminate.family != laminate.family
        or match.style != (row.style if row else None)
    ):
        return None
    dk, dk_ghz, df = match.dk_at(DK_GHZ), DK_GHZ, match.df_at(DF_GHZ)
    if dk.value is None:
        dk, dk_ghz = match.dk_at(DF_GHZ), DF_GHZ
    if dk.value is None:
        return None
    return CatalogueProduct(
        kind=kind,
        family=laminate.family,
        text=text,
        plies=1,
        cured_mm=thickness_mm,
        dk=dk.value,
        dk_ghz=dk_ghz,
        df=df.value,
        confidence=least(dk.confidence, df.confidence),
        source=row.source.text if row else laminate.source.text,
        row=row,
    )
