"""`stackwright match`: which stackup of a fab the board's is or is nearest to, and what the difference does."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict
from rich.text import Text

from drc_rules.analysis.impedance.line_effects import LineEffect, line_effects
from drc_rules.engine.check import prepare
from drc_rules.fab_exchange.named_match import ComparedRow, NamedMatch, nearest, planned_from_named
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.fabs.stackups.load import find, stackups_of
from drc_rules.requirements.fabs.stackups.model import NamedStackup
from drc_rules.settings.config import Config, Declared
from drc_rules.stackup_design.plan_changes import process_keys_replaced
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from stackwright.commands.apply.effects_page import effects_block
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.request import JSON, BoardRequest, document_text
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count

CLEAN, FOUND = 0, 1
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class MatchRequest(BoardRequest):
    """What the command line asks; `name` is the stackup to compare with, by default the nearest one."""

    fab: str | None = None
    name: str | None = None
    verbose: bool = False


class StackupNearby(Frozen):
    """One named stackup in the list of the nearest; lengths in mm, copper in ounces per square foot."""

    fab: str
    date: date
    name: str
    thickness_mm: float
    outer_oz: float
    inner_oz: float | None
    is_same: bool
    distance: float
    rows: tuple[ComparedRow, ...]


class MatchDocument(Frozen):
    """What `stackwright match --format json` writes: the nearest stackups, and what the first does to the lines."""

    model_config = ConfigDict(title="Stackwright match, version 1")

    format: Literal["stackwright-match"] = "stackwright-match"
    version: Literal[1] = 1
    board: dict[str, str]
    stackups: tuple[StackupNearby, ...]
    lines: tuple[LineEffect, ...]


def match_board(typed: Path, request: MatchRequest) -> int:
    """Show the named stackups nearest to a board's; exit code 0 where it is one of them.

    Raises:
        StackwrightError: the board cannot be read or states no stackup, or there is no such fab or stackup.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    content = read_bytes(board_path)
    config = request.config_of(board_path)
    context, _, _ = prepare(read_board(board_path, text=content), config, request.overrides)
    among = stackups_of(request.fab, superseded=request.name is not None)
    if request.name is not None:
        among = find(request.name, among)
    try:
        with watched(board_path.name):
            found = nearest(context, among)
    except MissingFact as missing:
        step = " ".join(missing.how_to_give.split())
        raise ConfigError(str(board_path), f"{missing.name} is not known, so there is nothing to match", step) from None
    if not found:
        layers = len(context.board.copper_layers)
        asked = request.name or request.fab
        what = f"no stackup of {layers} layers is known" + (f' of "{asked}"' if asked else "")
        raise ConfigError(str(board_path), what, "`stackwright fabs` lists the fabs with their layer counts")
    with watched(board_path.name):
        effects = () if found[0].is_same else effects_of(context, content, found[0].stackup, request.overrides)
    if request.format == JSON:
        text = _json(board_path, content, found[:SHOWN], effects)
    else:
        text = request.laid_out(_page(board_path.name, typed, found, effects, verbose=request.verbose))
    request.deliver(text, "match")
    return CLEAN if found[0].is_same else FOUND


def effects_of(context: Context, content: bytes, stackup: NamedStackup, overrides: Overrides) -> tuple[LineEffect, ...]:
    """Return what the lines of a board have in its own stackup, and in a named one as its fab makes it."""
    path = context.board.path
    planned = planned_from_named(context.board, stackup)
    theirs = read_board(path, text=replace_stackup(content, planned, label=str(path))) if path else context.board
    after, _, _ = prepare(theirs, for_other_stackup(context.declarations.config, stackup), overrides)
    return line_effects(context, after)


def for_other_stackup(config: Config, stackup: NamedStackup) -> Config:
    """Return the settings with a fab's process, without what is declared of the rows that its stackup replaces."""
    kept = Declared(impedance_tolerance_pct=config.declared.impedance_tolerance_pct, foil=config.declared.foil)
    if not (preset := stackup.edition.process):
        return config.model_copy(update={"declared": kept})
    theirs = dict.fromkeys(process_keys_replaced(config.process, preset))
    process = config.process.model_copy(update={"preset": preset, **theirs})
    return config.model_copy(update={"declared": kept, "process": process})


def _json(path: Path, content: bytes, found: Sequence[NamedMatch], effects: tuple[LineEffect, ...]) -> str:
    document = MatchDocument(
        board={"path": path.as_posix(), "sha256": hashlib.sha256(content).hexdigest()},
        stackups=tuple(
            StackupNearby(
                fab=one.stackup.edition.fab,
                date=one.stackup.edition.date,
                **one.stackup.model_dump(include={"name", "thickness_mm", "outer_oz", "inner_oz"}),
                is_same=one.is_same,
                distance=round(one.distance, 5),
                rows=one.rows,
            )
            for one in found
        ),
        lines=effects,
    )
    return document_text(document)


def _page(
    name: str, typed: Path, found: Sequence[NamedMatch], effects: tuple[LineEffect, ...], *, verbose: bool
) -> Page:
    page, first = Page(), found[0]
    same = [one for one in found if one.is_same]
    names = ", ".join(dict.fromkeys(one.stackup.name for one in same[:SHOWN]))
    verdict = f"is {names}" if same else "is none of the named stackups"
    page.line(styled(name, "bold"), f"  {verdict}; {count(len(found), 'stackup')} of its layer count compared")
    page.gap()
    head = ("nearest", "fab", "date", "mm", "oz", "rows that differ")
    page.rows([Column()] * 6, [_nearby(one) for one in found[:SHOWN]], head=head)
    _next_to(page, first, verbose=verbose)
    if not first.is_same:
        effects_block(page, effects, ("board", first.stackup.name))
        page.line(f"tracks as they are; {_processes(first.stackup)}; loss from the laminates' own data", indent=2)
        page.gap()
        page.line("next:")
        to = command_line("retarget", str(typed), "--to", first.stackup.name)
        page.verbatim([f"{to}{_copper(first.stackup)}"])
    return page


def _processes(stackup: NamedStackup) -> str:
    preset = stackup.edition.process
    if not preset:
        return "no process of this fab is known: both with that of the board"
    return f'{stackup.name} with [process] preset = "{preset}" as `retarget` sets it, the board with its own'


def _copper(stackup: NamedStackup) -> str:
    """The options that tell a stackup from others of its name."""
    if len(find(stackup.name, stackups_of(stackup.edition.fab, superseded=False))) == 1:
        return ""
    inner = "" if stackup.inner_oz is None else f"/{stackup.inner_oz:g}"
    return f" --thickness-mm {stackup.thickness_mm:g} --copper {stackup.outer_oz:g}{inner}"


def _nearby(one: NamedMatch) -> tuple[str | Text, ...]:
    stackup = one.stackup
    inner = "" if stackup.inner_oz is None else f"/{stackup.inner_oz:g}"
    differing = len(one.differing)
    said = "none" if one.is_same else f"{differing} of {len(one.rows)}"
    day = stackup.edition.date.isoformat()
    return stackup.name, stackup.edition.title, day, f"{stackup.thickness_mm:g}", f"{stackup.outer_oz:g}{inner}", said


def _next_to(page: Page, match: NamedMatch, *, verbose: bool) -> None:
    shown = match.rows if verbose else match.differing
    if not shown:
        return
    page.heading("row by row", f"the board's stackup and {match.stackup.name}")
    head = ("row", "board", "", "", "fab", "", "")
    rows = [_row(row) for row in shown]
    page.rows([*[Column()] * 3, Column(max_width=18), *[Column()] * 2, Column(max_width=18)], rows, head=head)
    left = len(match.rows) - len(shown)
    if left:
        page.line(f"{count(left, 'other row')} the same: -v shows all", indent=2)


def _row(row: ComparedRow) -> tuple[str | Text, ...]:
    def cell(text: str, *what: str) -> Text:
        return styled(text, "yellow" if set(what) & set(row.differs) else "")

    return (
        row.row,
        _mm(row.board_mm),
        _dk(row.board_dk),
        row.board_material,
        cell(_mm(row.fab_mm), "thickness"),
        cell(_dk(row.fab_dk), "Dk"),
        cell(row.fab_material + (f" {row.fab_kind}" if "type" in row.differs else ""), "material", "type"),
    )


def _mm(value: float | None) -> str:
    return "? mm" if value is None else f"{value:.4g} mm"


def _dk(value: float | None) -> str:
    return "" if value is None else f"Dk {value:.3g}"
