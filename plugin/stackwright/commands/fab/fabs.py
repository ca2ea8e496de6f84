"""`stackwright fabs`: which fabs' named stackups are known, which of them suit an order, and what one is made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.requirements.fabs.stackups.load import editions, find, named_stackups, stackups_of
from drc_rules.requirements.fabs.stackups.model import FabEdition, NamedSheet, NamedStackup
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.frozen import Frozen
from stackwright.commands.request import JSON, OutputRequest, document_text
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count

CLEAN, FOUND = 0, 1
SHOWN = 20
"""Number of stackups of a list that are shown; `-v` shows all."""
SAME_MM = 0.005


@dataclass(frozen=True, kw_only=True)
class FabsRequest(OutputRequest):
    """What the command line asks; None leaves a filter open.

    Attributes:
        name: of the stackup to show.
        copper: outer and inner weight in ounces, `1/0.5`, or the outer one alone.
    """

    name: str | None = None
    fab: str | None = None
    layers: int | None = None
    thickness_mm: float | None = None
    copper: str | None = None
    verbose: bool = False

    @property
    def has_filter(self) -> bool:
        """Tell whether stackups are requested, and not the fabs."""
        return any(one is not None for one in (self.fab, self.layers, self.thickness_mm, self.copper))


class FabSummary(Frozen):
    """One edition of a fab's stackups, in a list of fabs."""

    fab: str
    title: str
    date: date
    is_superseded: bool
    source: str
    trust: str
    licence: str
    stackups: int
    copper_layers: tuple[int, ...]


class FabStackupDetail(Frozen):
    """One named stackup; lengths in mm, weights in ounces per square foot, Tg in degrees Celsius."""

    fab: str
    date: date
    name: str
    copper_layers: int
    thickness_mm: float
    outer_oz: float
    inner_oz: float | None
    sum_mm: float | None
    misfits: tuple[str, ...]
    rows: tuple[NamedSheet, ...]


class FabsDocument(Frozen):
    """What `stackwright fabs --format json` writes: the fabs, and the stackups that were requested."""

    model_config = ConfigDict(title="Stackwright fab-stackups, version 1")

    format: Literal["stackwright-fab-stackups"] = "stackwright-fab-stackups"
    version: Literal[1] = 1
    fabs: tuple[FabSummary, ...]
    stackups: tuple[FabStackupDetail, ...]


def show_fabs(request: FabsRequest) -> int:
    """Print the fabs, the stackups that pass the filters, or one stackup; exit code 1 where none or several fit.

    Raises:
        ConfigError: an unknown fab or name, or a copper weight that is none.
    """
    request.check_file()
    if request.name is None and not request.has_filter:
        text = _json(()) if request.format == JSON else request.laid_out(_fabs_page())
        request.deliver(text, "fabs")
        return CLEAN
    among = stackups_of(request.fab, superseded=request.name is not None)
    if request.name is not None:
        among = find(request.name, among)
    fitting = tuple(one for one in among if _fits(one, request))
    code = CLEAN if len(fitting) == 1 or (fitting and request.name is None) else FOUND
    if request.format == JSON:
        text = _json(fitting)
    elif request.name is None:
        text = request.laid_out(_list_page(fitting, request))
    elif len(fitting) == 1:
        text = request.laid_out(_stackup_page(fitting[0]))
    else:
        text = request.laid_out(_options_page(request, among, fitting))
    request.deliver(text, "stackups")
    return code


def _fits(one: NamedStackup, request: FabsRequest) -> bool:
    outer_oz, inner_oz = copper_weights_of(request.copper)
    return (
        request.layers in (None, one.copper_layers)
        and is_thickness(request.thickness_mm, one)
        and outer_oz in (None, one.outer_oz)
        and inner_oz in (None, one.inner_oz)
    )


def is_thickness(wanted_mm: float | None, one: NamedStackup) -> bool:
    """Tell whether a stackup is as thick as wanted, any where nothing is; raises `ConfigError` for what is no size."""
    if wanted_mm is None:
        return True
    if not 0 < wanted_mm < math.inf:
        raise ConfigError("--thickness-mm", f"{wanted_mm:g} mm is no thickness", "give millimetres, e.g. 1.6")
    return abs(wanted_mm - one.thickness_mm) < SAME_MM


def copper_weights_of(text: str | None) -> tuple[float | None, float | None]:
    """Return outer and inner ounces of `1/0.5`; raises `ConfigError` for what is no weight."""
    if text is None:
        return None, None
    try:
        parts = [float(part) for part in text.lower().removesuffix("oz").split("/")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 2:
        raise ConfigError("--copper", f'"{text}" is no copper weight', "give outer/inner ounces, e.g. 1/0.5")
    return parts[0], parts[1] if len(parts) > 1 else None


def _summaries() -> tuple[FabSummary, ...]:
    return tuple(_summary(edition) for edition in editions())


def _summary(edition: FabEdition) -> FabSummary:
    mine = [one for one in named_stackups() if one.edition == edition]
    return FabSummary(
        **edition.model_dump(exclude={"process", "remarks", "misfit"}),
        stackups=len(mine),
        copper_layers=tuple(sorted({one.copper_layers for one in mine})),
    )


def _json(stackups: Sequence[NamedStackup]) -> str:
    document = FabsDocument(fabs=_summaries(), stackups=tuple(_detail(one) for one in stackups))
    return document_text(document)


def _detail(one: NamedStackup) -> FabStackupDetail:
    return FabStackupDetail(
        fab=one.edition.fab,
        date=one.edition.date,
        **one.model_dump(include={"name", "copper_layers", "thickness_mm", "outer_oz", "inner_oz"}),
        sum_mm=None if one.sum_mm is None else round(one.sum_mm, 6),
        misfits=tuple(f"{misfit.what}: {misfit.reason}" for misfit in one.misfits),
        rows=one.rows,
    )


def _fabs_page() -> Page:
    page, known = Page(), _summaries()
    total = sum(one.stackups for one in known)
    page.line(styled("Fab stackups", "bold"), f"  {total} by name; fabs change them: check the date, then ask")
    head = ("fab", "--fab", "date", "stackups", "layers", "")
    rows = [
        (
            one.title,
            one.fab,
            one.date.isoformat(),
            str(one.stackups),
            _layers(one.copper_layers),
            "superseded" if one.is_superseded else "",
        )
        for one in known
    ]
    page.rows([Column(), Column(), Column(), Column(right=True), Column(), Column()], rows, head=head)
    page.gap()
    page.line("next:")
    page.verbatim(
        ["stackwright fabs --layers 6 --thickness-mm 1.6 --copper 1/0.5", "stackwright fabs show JLC06161H-3313"]
    )
    return page


def _layers(counts: Sequence[int]) -> str:
    few = 3
    return ", ".join(map(str, counts)) if len(counts) <= few else f"{counts[0]} to {counts[-1]}"


def _list_page(stackups: Sequence[NamedStackup], request: FabsRequest) -> Page:
    page = Page()
    page.line(styled("Fab stackups", "bold"), f"  {count(len(stackups), 'stackup')} fit")
    for edition, group in groupby(stackups, key=lambda one: one.edition):
        mine = list(group)
        page.heading(edition.title, f"of {edition.date.isoformat()}; {count(len(mine), 'stackup')}")
        page.rows([Column()] * 6, [_listed(one) for one in mine[: None if request.verbose else SHOWN]], head=_LIST_HEAD)
        if len(mine) > SHOWN and not request.verbose:
            page.line(f"and {len(mine) - SHOWN} more: -v shows all", indent=2)
    if not stackups:
        page.line("next, for the fabs with their layer counts; or leave a filter out:")
        page.verbatim(["stackwright fabs"])
    return page


_LIST_HEAD = ("stackup", "layers", "mm", "oz", "below the outer copper", "")


def _listed(one: NamedStackup) -> tuple[str | Text, ...]:
    first = one.gaps[0]
    parts = [sheet.thickness_mm for sheet in first]
    size = "" if None in parts else f" {sum(part or 0.0 for part in parts):.4g} mm"
    glass = " + ".join(sheet.construction or sheet.kind for sheet in first)
    doubts = styled(", ".join(misfit.what for misfit in one.misfits), "yellow")
    return one.name, str(one.copper_layers), f"{one.thickness_mm:g}", _weights(one), f"{glass}{size}", doubts


def _weights(one: NamedStackup) -> str:
    return f"{one.outer_oz:g}" + ("" if one.inner_oz is None else f"/{one.inner_oz:g}")


def _options_page(request: FabsRequest, among: Sequence[NamedStackup], fitting: Sequence[NamedStackup]) -> Page:
    page, name = Page(), request.name or ""
    offered = fitting or among
    which = "stackups have this name" if fitting else "of this name fit; offered are"
    page.line(styled(name, "bold"), f"  {len(fitting) or 'none'} {which}")
    page.rows([Column()] * 6, [_listed(one) for one in offered[: None if request.verbose else SHOWN]], head=_LIST_HEAD)
    if len(offered) > SHOWN and not request.verbose:
        page.line(f"and {len(offered) - SHOWN} more: -v shows all", indent=2)
    one = offered[0]
    page.gap()
    page.line("name one of them, e.g.:")
    order = f"--layers {one.copper_layers} --thickness-mm {one.thickness_mm:g} --copper {_weights(one)}"
    page.verbatim([f"stackwright fabs show {one.name} {order}"])
    return page


def _stackup_page(one: NamedStackup) -> Page:
    page, edition = Page(), one.edition
    page.line(styled(one.name, "bold"), f"  {edition.title}, {edition.date.isoformat()}")
    total = "" if one.sum_mm is None else f"; its rows sum to {one.sum_mm:.4g} mm without solder mask"
    page.line(
        f"{one.copper_layers} layers, {one.thickness_mm:g} mm, {_weights(one)} oz outer/inner copper{total}", indent=2
    )
    for misfit in one.misfits:
        page.line(styled(f"{misfit.what}: {misfit.reason}", "yellow"), indent=2)
    page.gap()
    words = ("layer", "type", "mm", "material", "glass", "resin", "Dk", "Df", "Tg")
    page.rows([*[Column()] * 3, Column(max_width=20), *[Column()] * 5], _rows(one), head=words)
    page.gap()
    page.line(f"source: {edition.source} ({edition.trust}, {edition.licence})")
    for remark in edition.remarks:
        page.line(remark)
    if edition.is_superseded:
        page.line(styled("the fab has replaced this stackup", "yellow"))
    return page


def _rows(one: NamedStackup) -> list[tuple[str, ...]]:
    number = 0
    rows: list[tuple[str, ...]] = []
    for row in one.rows:
        mm = "?" if row.thickness_mm is None else f"{row.thickness_mm:.4g}"
        if row.kind == "copper":
            number += 1
            weight = "" if row.weight_oz is None else f"{row.weight_oz:g} oz"
            rows.append((f"L{number}", "copper", mm, weight, "", "", "", "", ""))
            continue
        glass = row.construction if row.construction.casefold() != row.kind else ""
        stated = (_number(row.resin_content_pct, " %"), _number(row.dk), _number(row.df), _number(row.tg_c, " C"))
        rows.append(("", row.kind, mm, row.laminate, glass, *stated))
    return rows


def _number(value: float | None, unit: str = "") -> str:
    return "" if value is None else f"{value:g}{unit}"
