"""`stackwright delay`: the delay of every routed link, by port or bus."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

from drc_rules.analysis.delay.delay_table import delay_table
from drc_rules.report.delay_rows import DelayGroup, LinkDelay
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.request import JSON, BoardRequest
from stackwright.drawing.tables import in_csv
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some

FORMAT, VERSION = "stackwright-delay", 1
CSV = "csv"
SHOWN = 6
"""Links of a group that the text lists: the latest, and the earliest as the last."""
MOST_NAMED = 3
"""Links that the text names with one reason."""
GUESS = "?"
"""Behind a delay that rests on more than the board states."""

CSV_HEAD = (
    *("interface", "group", "link", "delay ps", "least ps", "most ps", "lines ps", "vias ps", "package ps"),
    *("skew ps", "tracks mm", "KiCad mm", "vias", "layers", "no plane mm", "unsure"),
)


@dataclass(frozen=True)
class DelayRequest(BoardRequest):
    """What the command line asks; `verbose` for every link and its parts."""

    verbose: bool = False


def show_delays(typed: Path, request: DelayRequest) -> int:
    """Print the delay of every routed link of an interface; exit code 0.

    Raises:
        StackwrightError: the board cannot be read, or the file cannot be written.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    with watched(board_path.name):
        context = request.context_of(board_path)
        groups = context.get(delay_table)
    if request.format == JSON:
        text = _json(board_path, groups)
    elif request.format == CSV:
        text = csv_text(groups)
    else:
        text = request.laid_out(_page(board_path, groups, request))
    request.deliver(text, "delays")
    return 0


def _json(board: Path, groups: tuple[DelayGroup, ...]) -> str:
    sha256 = hashlib.sha256(read_bytes(board)).hexdigest()
    head: dict[str, object] = {"format": FORMAT, "version": VERSION}
    head |= {"board": {"path": board.as_posix(), "sha256": sha256}}
    rows = [group.model_dump(mode="json") | {"spread_ps": group.spread_ps} for group in groups]
    return json.dumps(head | {"groups": rows}, indent=2, ensure_ascii=True) + "\n"


def csv_text(groups: tuple[DelayGroup, ...]) -> str:
    """Return one line per link."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for group in groups:
        for one in group.links:
            figures = (
                *_range(one),
                one.lines_ps,
                one.vias_ps,
                one.package_ps,
                one.skew_ps,
                one.tracks_mm,
                one.kicad_mm,
            )
            numbers = ["" if figure is None else f"{figure:.3f}" for figure in figures]
            layers = ", ".join(name for name, _ in one.layers)
            bare = "" if one.no_plane_mm is None else f"{one.no_plane_mm:.3f}"
            writer.writerow(
                [
                    in_csv(cell)
                    for cell in (group.title, group.by, one.name, *numbers, str(one.vias), layers, bare, one.unsure)
                ]
            )
    return out.getvalue()


def _range(one: LinkDelay) -> tuple[float, float, float]:
    return one.delay_ps.nominal, one.delay_ps.low, one.delay_ps.high


def _page(board: Path, groups: tuple[DelayGroup, ...], request: DelayRequest) -> Page:
    page = Page()
    page.line(styled("Delay of ", "bold"), styled(board.name, "bold"))
    if not groups:
        page.gap()
        page.line("No interface is routed from end to end.", indent=2)
        page.verbatim([f"next: {command_line('nets', str(board))}"], indent=0)
        return page
    told: dict[str, str] = {}
    for group in groups:
        said = [count(len(group.links), "link")] if group.links else []
        said += [f"latest minus earliest {group.spread_ps:.1f} ps"] if len(group.links) > 1 else []
        said += [f"no delay of {count(len(group.open_links), 'link')}"] if group.open_links else []
        page.heading(group.title, ": ".join(part for part in (group.by, ", ".join(said)) if part))
        if group.links:
            _links(page, group, request)
        _open_links(page, group, told, request)
    _guesses(page, [one for group in groups for one in group.links])
    page.gap()
    page.line(
        "ps from pad to pad: tracks by the field solver's delay of each cross-section, vias by their barrel, pads and "
        "stubs, pad-to-die length and delay where the board has them. Late: behind the earliest of the group. "
        "KiCad mm: what KiCad's length check adds up for the same nets, branches, height of vias and pad-to-die "
        "lengths included."
    )
    if any(one.no_plane_mm for group in groups for one in group.links):
        page.line(
            "no plane mm: of the tracks, without a plane above or below. Their delay is that of a line over one; the "
            "range of -v holds what any line may take there, from air to the highest Dk."
        )
    if not request.verbose and any(len(group.links) > SHOWN for group in groups):
        page.line("-v lists every link, with its parts and range; --format csv for a spreadsheet.")
    return page


def _open_links(page: Page, group: DelayGroup, told: dict[str, str], request: DelayRequest) -> None:
    """Add why links have no delay, each reason once; `told` holds the first link of each that was given before."""
    reasons: dict[str, list[str]] = {}
    for name, why in group.open_links:
        reasons.setdefault(why, []).append(name)
    for why, names in list(reasons.items())[: None if request.verbose else 2]:
        links = some(names, len(names) if request.verbose else MOST_NAMED)
        said = f"as of {told[why]}" if why in told else why
        told.setdefault(why, names[0])
        page.line(styled("no delay: ", "yellow"), f"{links}: {said}", indent=2)


def _links(page: Page, group: DelayGroup, request: DelayRequest) -> None:
    earliest = min((one.delay_ps.nominal for one in group.links), default=0.0)
    head = ["link", "tracks mm", "KiCad mm", "ps", "late", "P-N", "vias"]
    more = ["+-", "lines", "vias", "package"] if request.verbose else []
    has_bare = any(one.no_plane_mm for one in group.links)
    more += ["no plane mm"] if has_bare else []
    rows: list[tuple[str, ...]] = []
    shown = group.links
    if not request.verbose and len(shown) > SHOWN:
        shown = (*shown[: SHOWN - 1], shown[-1])
    for one in shown:
        delay = one.delay_ps.nominal
        by_kicad = "" if one.kicad_mm is None else f"{one.kicad_mm:.2f}"
        ps = f"{delay:.1f}{GUESS if one.unsure else ''}"
        cells = [one.name, f"{one.tracks_mm:.2f}", by_kicad, ps, f"{delay - earliest:.1f}"]
        cells += ["" if one.skew_ps is None else f"{one.skew_ps:.1f}".replace("-0.0", "0.0"), str(one.vias)]
        if request.verbose:
            cells += [f"{figure:.1f}" for figure in (_half(one), one.lines_ps, one.vias_ps, one.package_ps)]
        cells += [f"{one.no_plane_mm or 0.0:.2f}"] if has_bare else []
        rows.append((*cells, some([name for name, _ in one.layers], 3)))
    names = [*head, *more, "layers"]
    numbers = [Column(right=True)] * (len(names) - 2)
    page.rows([Column(max_width=30), *numbers, Column(wraps=True)], rows, head=names)
    if len(shown) < len(group.links):
        page.line(f"{len(group.links) - len(shown)} more between the last two", indent=2)


def _guesses(page: Page, links: list[LinkDelay]) -> None:
    """Say which facts the delays lack, and how far off they may be for it."""
    for lacks in dict.fromkeys(one.unsure for one in links if one.unsure):
        guessed = [one for one in links if one.unsure == lacks]
        widest = max(100 * _half(one) / one.delay_ps.nominal for one in guessed)
        page.gap()
        words = f"{GUESS} a guess, +-{widest:.0f} %: "
        page.line(styled(words, "yellow"), f"ps of {count(len(guessed), 'link')}, without {lacks}")


def _half(one: LinkDelay) -> float:
    return (one.delay_ps.high - one.delay_ps.low) / 2
