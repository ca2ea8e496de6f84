"""`stackwright touchstone`: the S-parameters of routed links as Touchstone files, and what they say in short."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.link_network import REFERENCE_OHM, LinkNetwork, link_network
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import interface
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.transmission_lines.two_port import step_impedance_ohm
from stackwright import __version__
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.request import BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.output import make_folder, show, write_file
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import clean, count, some

DONE, OPEN = 0, 1
POINTS = 1001
"""Frequencies from DC to the last: 32 MHz apart for PCIe Gen5."""

MOST_GHZ = 200.0
REACH = 2.0
"""Times Nyquist, by default."""


@dataclass(frozen=True, kw_only=True)
class TouchstoneRequest(BoardRequest):
    """What the command line asks.

    Attributes:
        interfaces: ids; none for all.
        nets: parts of net names; none for all.
        max_ghz: last frequency; None for twice Nyquist.
        verbose: print the elements of every link.
    """

    interfaces: tuple[str, ...] = ()
    nets: tuple[str, ...] = ()
    max_ghz: float | None = None
    verbose: bool = False


def write_touchstone(typed: Path, folder: Path, request: TouchstoneRequest) -> int:
    """Write a file per link; exit code 1 where a link has none, with the fact that is missing.

    Raises:
        StackwrightError: the board cannot be read, no link is chosen, or the folder cannot be written.
    """
    board_path = find_board(typed)
    if request.max_ghz is not None and not 0 < request.max_ghz <= MOST_GHZ:
        raise StackwrightError("--max-ghz", f"{request.max_ghz:g} GHz", f"give up to {MOST_GHZ:g} GHz")
    for name in request.interfaces:
        interface(name)  # refuses what is none
    with watched(board_path.name):
        ctx = request.context_of(board_path)
        links, missing = _asked_for(ctx, request)
    if not links and not missing:
        what = "has no routed link of an interface" + (" of that name" if request.nets or request.interfaces else "")
        settings = ctx.declarations.config.path
        what += f" with {settings}" if settings else ""
        raise StackwrightError(str(board_path), what, f"see what there is: stackwright nets {board_path}")
    make_folder(folder)
    head = f"{board_path.name}, sha256 {hashlib.sha256(read_bytes(board_path)).hexdigest()}"
    written: list[tuple[LinkNetwork, str]] = []
    used: set[str] = set()
    for link in links:
        try:
            network = link_network(ctx, link, _frequencies(link, request.max_ghz))
        except (MissingFact, StackwrightError) as error:
            missing.append((link.name, _why(error)))
            continue
        name = _file_name(network, used)
        write_file(folder / name, touchstone_text(network, head))
        written.append((network, name))
    show(_page(board_path, folder, written, missing, verbose=request.verbose).text(terminal_console()))
    return OPEN if missing else DONE


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
                    missing.append((ctx.board.nets[nets[0]], _why(fact)))
    return links, missing


def _is_named(ctx: Context, nets: tuple[int, ...], wanted: tuple[str, ...]) -> bool:
    return not wanted or any(part.lower() in ctx.board.nets[net].lower() for net in nets for part in wanted)


def _why(error: Exception) -> str:
    if isinstance(error, MissingFact):
        return error.name
    return error.what if isinstance(error, StackwrightError) else str(error)


def _frequencies(link: LinkLoss, max_ghz: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    last = max_ghz or REACH * (link.interface.nyquist_ghz or 10.0)
    return np.linspace(0.0, last, POINTS)


def _file_name(network: LinkNetwork, used: set[str]) -> str:
    """Return a name of the net's letters and digits, with a number where two links would have the same."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", network.name).strip("_")[:80] or "link"
    suffix = "s4p" if network.is_pair else "s2p"
    name, number = stem, 2
    while name.lower() in used:
        name, number = f"{stem}_{number}", number + 1
    used.add(name.lower())
    return f"{name}.{suffix}"


def touchstone_text(network: LinkNetwork, board: str) -> str:
    """Return a Touchstone 1.1 file: GHz, real and imaginary parts, comments on ports, elements and what is left out."""
    comments = [f"Stackwright {__version__}", f"board {board}", f"nets {', '.join(network.nets)}"]
    for trace, (near, far) in enumerate(network.ends):
        comments += [f"port {2 * trace + 1}: {near}", f"port {2 * trace + 2}: {far}"]
    comments += [f"all ports {REFERENCE_OHM:g} ohm" + (", 100 ohm differential" if network.is_pair else "")]
    comments += [f"element: {part}" for part in network.parts]
    comments += [f"note: {note}" for note in network.notes]
    comments += [f"lines are quasi-static up to {network.limit_ghz:.0f} GHz"]
    lines = [f"! {clean(comment)}" for comment in comments]
    lines.append(f"# GHz S RI R {REFERENCE_OHM:g}")
    lines += _rows(network)
    return "\n".join(lines) + "\n"


def _rows(network: LinkNetwork) -> Iterator[str]:
    """Yield the lines of data: of two ports S11 S21 S12 S22 in one, of four a line per row of the matrix."""
    for ghz, s in zip(network.frequency_ghz.tolist(), network.s, strict=True):
        if not network.is_pair:
            yield f"{ghz:.9g} {_cells(s.T.ravel())}"
            continue
        for row, values in enumerate(s):
            yield f"{f'{ghz:.9g}' if row == 0 else '':<12} {_cells(values)}"


def _cells(values: np.ndarray[tuple[int], np.dtype[np.complex128]]) -> str:
    return " ".join(f"{value.real: .12e} {value.imag: .12e}" for value in values.tolist())


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
    head = tuple(styled(word, "dim") for word in ("file", "at GHz", "loss dB", "return dB", "ohm on the way"))
    columns = [Column(wraps=True), Column(right=True), Column(right=True), Column(right=True), Column()]
    page.rows(columns, [head, *(_row(network, name) for network, name in written)] if written else [])
    if written:
        page.line("loss and worst return loss up to Nyquist, between ports of the interface's impedance;", indent=2)
        page.line("ohm on the way: minimum and maximum that a step sees, differential for a pair", indent=2)
    if verbose:
        for network, name in written:
            page.heading(name)
            for part in (*network.parts, *network.notes):
                page.line(part, indent=2)
    reasons: dict[str, list[str]] = {}
    for name, why in missing:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        page.line(styled("no file", "yellow"), f"  {some(names)}: {why} is not known", indent=2)
    if written and not verbose:
        page.line("-v shows the elements of every link and what is left out", indent=2)
    return page


def _row(network: LinkNetwork, name: str) -> tuple[str, ...]:
    """Loss at Nyquist, or at the last frequency, the worst return loss up to it, and the range of the TDR trace."""
    last = float(network.frequency_ghz[-1])
    at = int(np.argmin(np.abs(network.frequency_ghz - min(network.nyquist_ghz or last, last))))
    s = network.own_s
    loss = -20 * math.log10(max(abs(complex(s[at, 1, 0])), 1e-12))
    reflected = max(float(np.max(np.abs(s[1 : at + 1, 0, 0]))), 1e-12)
    low, high = tdr_range_ohm(network)
    return (
        name,
        f"{network.frequency_ghz[at]:.2f}",
        f"{loss:.2f}",
        f"{-20 * math.log10(reflected):.1f}",
        f"{low:.1f} to {high:.1f}",
    )


def tdr_range_ohm(network: LinkNetwork) -> tuple[float, float]:
    """Return the minimum and maximum impedance that a step sees on its way through a link and back."""
    port = network.own_ohm * (2 if network.is_pair else 1)
    time_ps, ohm = step_impedance_ohm(network.frequency_ghz, network.own_s[:, 0, 0], port)
    slope = np.unwrap(np.angle(network.own_s[1:, 1, 0]))
    ghz = network.frequency_ghz[1:]
    delay_ps = -1000 * (slope[len(slope) // 4] - slope[0]) / (2 * math.pi * (ghz[len(slope) // 4] - ghz[0]))
    on_the_way = ohm[time_ps <= 2 * delay_ps]
    return float(np.min(on_the_way)), float(np.max(on_the_way))
