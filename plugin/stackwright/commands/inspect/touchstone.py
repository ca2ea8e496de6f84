"""`stackwright touchstone`: the S-parameters of routed links as Touchstone files, and what they say in short."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.sparameters.link_network import LinkNetwork, link_network
from drc_rules.analysis.nets.board_links import board_links, is_declared_as, title_of
from drc_rules.analysis.return_path.plane_changes import far_return_notes
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import generation_of
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.interfaces.names import ASIDE
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.kicad_text import as_kicad_shows
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.inspect.touchstone_eye import Eyes, reason
from stackwright.commands.inspect.touchstone_text import figures_of, tdr_range_ohm, tdr_text, touchstone_text
from stackwright.commands.request import BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import counted, watched
from stackwright.text.command_line import command_line
from stackwright.text.output import make_folder, show, write_file
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import count, some

DONE, OPEN = 0, 1
POINTS = 1001
"""Frequencies from DC to the last: 32 MHz apart for PCIe Gen5."""

MOST_GHZ = 200.0
REACH = 2.0
"""Times Nyquist, by default."""

DECLARE = "declare it in the settings file"


@dataclass(frozen=True, kw_only=True)
class TouchstoneRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        interfaces: ids; none for all.
        nets: parts of net names; none for all.
        max_ghz: last frequency; None for twice Nyquist.
        mixed_mode: write pairs between differential and common ports.
        tdr: write the impedance that a step sees as well.
        eye: say what eye each link leaves.
        verbose: print the elements of every link.
    """

    interfaces: tuple[str, ...] = ()
    nets: tuple[str, ...] = ()
    max_ghz: float | None = None
    mixed_mode: bool = False
    tdr: bool = False
    eye: bool = False
    verbose: bool = False


def write_touchstone(typed: Path, folder: Path, request: TouchstoneRequest) -> int:
    """Write a file per link; exit code 1 where a link has none, with the fact that is missing.

    Raises:
        StackwrightError: the board cannot be read, no link is chosen, or the folder cannot be written.
    """
    board_path = find_board(typed)
    if request.max_ghz is not None and not 0 < request.max_ghz <= MOST_GHZ:
        raise StackwrightError("--max-ghz", f"{request.max_ghz:g} GHz", f"give up to {MOST_GHZ:g} GHz")
    asked = [interface(name) for name in request.interfaces]  # refuses what is none
    slow = [one.title for one in asked if not family(one.family).fast]
    if slow and len(slow) == len(asked):
        what = f"{' and '.join(slow)} {'is' if len(slow) == 1 else 'are'} none of the interfaces that become files"
        raise StackwrightError(str(board_path), what, f"see what there is: {command_line('nets', str(board_path))}")
    with watched(board_path.name):
        ctx = request.context_of(board_path)
        links, missing = _asked_for(ctx, request)
    return _written(ctx, board_path, folder, request, links, missing)


def _written(  # noqa: PLR0917 - a board, where to, and what
    ctx: Context,
    board_path: Path,
    folder: Path,
    request: TouchstoneRequest,
    links: list[LinkLoss],
    missing: list[tuple[str, str]],
) -> int:
    """Write the files and show what they say."""
    if not links and not missing:
        whose = " of that name" if request.nets else " of that interface" if request.interfaces else ""
        settings = ctx.declarations.config.path
        what = f"has no routed link{whose}{f' with {settings}' if settings else ''}"
        slow = _slow_titles(ctx, request.nets)
        what += "; only links of high-speed interfaces become files"
        if slow and not request.interfaces:
            what = (
                f"has links that become no file: {', '.join(slow)}; files are for links whose loss matters, as of PCIe"
            )
        raise StackwrightError(str(board_path), what, f"see what there is: {command_line('nets', str(board_path))}")
    make_folder(folder)
    head = f"{board_path.name}, sha256 {hashlib.sha256(read_bytes(board_path)).hexdigest()}"
    written: list[tuple[LinkNetwork, str]] = []
    eyes = Eyes(ctx, request.max_ghz)
    used: set[str] = set()
    for link in counted(links, len(links), "links written"):
        try:
            network = link_network(ctx, link, _frequencies(link, request.max_ghz))
        except (MissingFact, StackwrightError) as error:
            missing.append((link.name, reason(error)))
            continue
        network = replace(network, notes=(*network.notes, *far_return_notes(ctx, link.nets)))
        name = _file_name(network, used, mixed=request.mixed_mode)
        write_file(folder / name, touchstone_text(network, head, mixed=request.mixed_mode))
        if request.tdr:
            write_file(folder / f"{name.rsplit('.', 1)[0]}_tdr.csv", tdr_text(network))
        if request.eye:
            eyes.add(link, name)
        written.append((network, name))
    page = _page(board_path, folder, written, missing, verbose=request.verbose)
    eyes.tell(page)
    show(page.text(terminal_console()))
    return OPEN if missing else DONE


def _slow_titles(ctx: Context, wanted: tuple[str, ...]) -> list[str]:
    """Return the names of the interfaces that have nets on the board and are not fast, as USB 2.0."""
    roles = {role for net, role in enumerate(ctx.assignment.roles) if role and _is_named(ctx, (net,), wanted)}
    return sorted({title_of(role) for role in roles if not family(role.family).fast and role.family not in ASIDE})


def _asked_for(ctx: Context, request: TouchstoneRequest) -> tuple[list[LinkLoss], list[tuple[str, str]]]:
    """Return the links whose loss is known, and by name why that of others is not."""
    links: list[LinkLoss] = []
    missing: list[tuple[str, str]] = []
    losses = LinkLosses(ctx)
    for one in map(interface, ctx.assignment.fast_interfaces()):
        if request.interfaces and one.id not in request.interfaces:
            continue
        for declared in (True, False):
            found = losses.of(one.id, declared=declared)
            links += [link for link in found.known if _is_named(ctx, link.nets, request.nets)]
            for nets, fact in found.missing:
                if _is_named(ctx, nets, request.nets):
                    missing.append((ctx.board.nets[nets[0]], reason(fact)))
    families = {interface(name).family for name in request.interfaces}
    missing += _without_generation(ctx, request.nets, families)
    return links, missing


def _without_generation(ctx: Context, wanted: tuple[str, ...], families: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the first net of each such family (empty: any) of unknown generation: it has no Nyquist frequency.

    Links that other nets declare are written with those.
    """
    for family_id in ctx.assignment.families_without_generation():
        if families and family_id not in families:
            continue
        roles = enumerate(ctx.assignment.roles)
        nets = [net for net, role in roles if role and role.family == family_id and role.interface is None]
        left = (net for net in nets if _is_named(ctx, (net,), wanted) and not _is_part(ctx, net, family_id))
        named = next(left, None)
        if named is not None:
            yield ctx.board.nets[named], f"{reason(generation_of(ctx, family_id))}: {DECLARE}"


def _is_part(ctx: Context, net: int, family_id: str) -> bool:
    """Tell whether a net is on links alone that other nets, of either trace, declare to be of its family."""
    links = ctx.get(board_links)
    pairs = [(link, links.complement_of(link) or link) for link in links.of(net)]
    return bool(pairs) and all(is_declared_as(ctx, family_id, *traces) for traces in pairs)


def _is_named(ctx: Context, nets: tuple[int, ...], wanted: tuple[str, ...]) -> bool:
    names = [spelling.lower() for net in nets for spelling in _spellings(ctx.board.nets[net])]
    return not wanted or any(part.lower() in name for name in names for part in wanted)


def _spellings(net: str) -> tuple[str, str]:
    return net, as_kicad_shows(net)


def _frequencies(link: LinkLoss, max_ghz: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    last = max_ghz or REACH * (link.interface.nyquist_ghz or 10.0)
    return np.linspace(0.0, last, POINTS)


def _file_name(network: LinkNetwork, used: set[str], *, mixed: bool) -> str:
    """Return a name of the net's letters and digits, with a number where two links would have the same."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", network.name).strip("_")[:80] or "link"
    suffix = ("ts" if mixed else "s4p") if network.is_pair else "s2p"
    name, number = stem, 2
    while name.lower() in used:
        name, number = f"{stem}_{number}", number + 1
    used.add(name.lower())
    return f"{name}.{suffix}"


def _page(
    board: Path,
    folder: Path,
    written: list[tuple[LinkNetwork, str]],
    missing: list[tuple[str, str]],
    *,
    verbose: bool,
) -> Page:
    page = Page()
    page.line(styled("S-parameters", "bold"), f"  of {board.name}: {count(len(written), 'file')} in {folder}")
    page.gap()
    head = ("file", "at GHz", "loss dB", "return dB", "ohm on the way")
    columns = [Column(wraps=True), Column(right=True), Column(right=True), Column(right=True), Column()]
    page.rows(columns, (_row(network, name) for network, name in written), head=head)
    if written:
        page.line("loss, and worst return loss of either end, up to Nyquist, at the interface's impedance;", indent=2)
        page.line("ohm on the way: minimum and maximum that a step sees, differential for a pair", indent=2)
    if verbose:
        for network, name in written:
            page.heading(name)
            for part in (*network.parts, *network.notes, *figures_of(network)):
                page.line(part, indent=2)
    reasons: dict[str, list[str]] = {}
    for name, why in missing:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        page.line(styled("no file", "yellow"), f"  {some(names)}: {why}", indent=2)
    if any(why.endswith(DECLARE) for why in reasons):
        page.line("Lines to declare it with:")
        page.verbatim([command_line("init", str(board))])
    if written and not verbose:
        page.line("-v shows the elements of every link and what is left out", indent=2)
    return page


def _row(network: LinkNetwork, name: str) -> tuple[str, ...]:
    """Loss at Nyquist, or at the last frequency, the worst return loss of either end up to it, and the TDR range."""
    last = float(network.frequency_ghz[-1])
    at = int(np.argmin(np.abs(network.frequency_ghz - min(network.nyquist_ghz or last, last))))
    s = network.own_s
    loss = -20 * math.log10(max(abs(complex(s[at, 1, 0])), 1e-12))
    reflected = max(float(np.max(np.abs(s[1 : at + 1, end, end]))) for end in (0, 1))
    low, high = tdr_range_ohm(network)
    return (
        name,
        f"{network.frequency_ghz[at]:.2f}",
        f"{loss:.2f}",
        f"{-20 * math.log10(max(reflected, 1e-12)):.1f}",
        f"{low:.1f} to {high:.1f}",
    )
