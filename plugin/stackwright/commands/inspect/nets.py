"""`stackwright nets`: what every net of a board was assigned to and why, or everything about one of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from drc_rules.analysis.nets.board_links import board_links
from drc_rules.engine.check import prepare
from drc_rules.explain.net_explained import ExplainedLink, ExplainedNet, ExplainedVia, RoutedNet, explain_net
from drc_rules.explain.nets_view import NetGroup, NetRail, NetsView, OtherPair, find_net, nets_view
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import family
from stackup_lib.kicad import read_board
from stackwright.commands.apply.files import read_bytes
from stackwright.commands.request import JSON, BoardRequest
from stackwright.run.paths import find_board
from stackwright.run.watched import watched
from stackwright.text.command_line import command_line
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count, some

RAILS_SHOWN = 12
"""Rails that the text lists; JSON has all of them."""

PAIRS_SHOWN = 12
"""Pairs of unknown interface that the text lists; JSON has all of them."""

REFUSED_SHOWN = 12
"""Parts not followed that the text lists; JSON has all of them."""

FORMAT, VERSION = "stackwright-nets", 1
SURE = {"high": "green", "medium": "yellow", "low": "dim"}


@dataclass(frozen=True)
class NetsRequest(BoardRequest):
    """What the command line asks: all nets, or everything about one."""

    explain: str | None = None


def show_nets(typed: Path, request: NetsRequest) -> int:
    """Print what the nets of a board were assigned to, or all about one net.

    Raises:
        StackwrightError: the board cannot be read, there is no such net, or the file cannot be written.
    """
    board_path = find_board(typed)
    request.check_file(typed, board_path)
    with watched(board_path.name):
        board, config = read_board(board_path), request.config_of(board_path)
        context, _, _ = prepare(board, config, request.overrides)
        links = context.get(board_links)
        if request.explain is not None:
            told = explain_net(context, links, config, find_net(board, request.explain))
            page, data = _net_page(told), {"net": told.model_dump(mode="json")}
        else:
            view = nets_view(context, links)
            page, data = _view_page(view, board_path, context), {"nets": view.model_dump(mode="json")}
    request.deliver(_json(board_path, data) if request.format == JSON else request.laid_out(page), "nets")
    return 0


def _json(board: Path, data: dict[str, dict[str, object]]) -> str:
    sha256 = hashlib.sha256(read_bytes(board)).hexdigest()
    head: dict[str, object] = {"format": FORMAT, "version": VERSION}
    head |= {"board": {"path": board.as_posix(), "sha256": sha256}}
    return json.dumps(head | data, indent=2, ensure_ascii=True) + "\n"


# ---------------------------------------------------------------------------------------------- all nets


def _view_page(view: NetsView, path: Path, context: Context) -> Page:
    page = Page()
    page.line(styled("Nets of ", "bold"), styled(path.name, "bold"))
    for heading, fast in (("High-speed interfaces", True), ("Other interfaces", False)):
        groups = [group for group in view.groups if group.fast is fast]
        if groups:
            page.heading(heading)
            _groups(page, groups)
    if not view.groups:
        page.gap()
        page.line("No interface was detected.", indent=2)
    if view.rails:
        _rails(page, view.rails)
    pairs = f"; {count(len(view.other_pairs), 'pair')} among them" if view.other_pairs else ""
    rest = (
        (view.others, f"no interface: neither class, name nor pins tell one{pairs}"),
        (view.sidebands, "control, clock or other slow nets, by their names"),
        (view.unconnected, "nets of unconnected pins"),
    )
    if any(number for number, _ in rest):
        page.heading("All other nets")
        page.rows([Column(right=True), Column(wraps=True)], [(str(n), words) for n, words in rest if n])
    if view.pairs_not_understood:
        words = f"{len(view.pairs_not_understood)}; no requirement applies until declared"
        _pairs(page, "Pairs of unknown interface", words, view.pairs_not_understood)
    if view.coupled:
        words = f"{len(view.coupled)}; by their tracks alone, perhaps data and clock; nothing is judged by it"
        _pairs(page, "Nets that run like a pair", words, view.coupled)
    for note in view.notes:
        page.gap()
        page.line(styled("note: ", "yellow"), note)
    _next(page, view, path, context)
    return page


def _groups(page: Page, groups: list[NetGroup]) -> None:
    """Two lines for each group: what and how much; why."""
    for k, group in enumerate(groups):
        if k:
            page.gap()
        open_ = "" if group.interface else styled("  generation not known", "yellow")
        page.line(styled(group.title, "bold"), f"  {_amount(group)}", open_, indent=2)
        routed = _routed_words(group)
        if routed:
            page.line(routed, indent=4)
        sure = styled(f"{group.confidence.value} confidence", SURE[group.confidence.value])
        page.line(f"{group.origin.value}, ", sure, f"; {group.by}: {group.why}", indent=4)
        for doubt in group.doubts:
            page.line(styled("note: ", "yellow"), doubt, indent=4)


def _amount(group: NetGroup) -> str:
    pairs = f", {count(group.pairs, 'pair')}" if group.pairs else ""
    if not group.links_elsewhere:
        return f"{count(group.nets, 'net')}{pairs}, {count(group.links, 'link')}"
    shared = f"part of {count(group.links_elsewhere, 'link')} counted with another group"
    own = f"{count(group.links, 'link')}, and " if group.links else ""
    return f"{count(group.nets, 'net')}{pairs}, {own}{shared}"


def _routed_words(group: NetGroup) -> str:
    if group.routed_mm is None:
        return "not routed"
    low, high = (f"{mm:.1f}" for mm in group.routed_mm)
    lengths = f"{high} mm" if low == high else f"{low} to {high} mm"
    least, most = group.vias
    vias = count(most, "via") if least == most else f"{least} to {most} vias"
    on = f"{vias}; on {some(group.layers, 6)}"
    missing = f"; {count(group.unrouted, 'link')} not routed" if group.unrouted else ""
    if group.partly and group.partly == group.links - group.unrouted:
        return f"no link is routed from end to end: {lengths} of tracks, {on}{missing}"
    missing += f"; {count(group.partly, 'link')} routed in part" if group.partly else ""
    return f"a link is {lengths} long, {on}{missing}"


def _rails(page: Page, rails: tuple[NetRail, ...]) -> None:
    page.heading("Rails", f"{count(len(rails), 'net')}, inferred: low confidence, ground medium")
    rows: list[tuple[str, ...]] = [("net", "pads", "filled mm2", "because")]
    for rail in rails[:RAILS_SHOWN]:
        filled = f"{rail.fill_mm2:.0f}" if rail.fill_mm2 >= 1 else ""
        rows.append((rail.net, str(rail.pads), filled, ", ".join(rail.why)))
    page.rows([Column(max_width=26), Column(right=True), Column(right=True), Column(wraps=True)], rows)
    if len(rails) > RAILS_SHOWN:
        page.line(f"and {len(rails) - RAILS_SHOWN} more; --format json lists them all", indent=2)


def _pairs(page: Page, heading: str, words: str, pairs: tuple[OtherPair, ...]) -> None:
    """The longest pairs; those of unknown interface with tracks count as undecided in the coverage of a check."""
    page.heading(heading, words)
    rows: list[tuple[str, ...]] = [("pair", "with", "routed mm")]
    rows += [(one.positive, one.negative, f"{one.length_mm:.1f}") for one in pairs[:PAIRS_SHOWN]]
    page.rows([Column(max_width=30), Column(max_width=30), Column(right=True)], rows)
    if len(pairs) > PAIRS_SHOWN:
        page.line(f"and {len(pairs) - PAIRS_SHOWN} more; --format json lists them all", indent=2)


def _next(page: Page, view: NetsView, path: Path, context: Context) -> None:
    """Say how to make sure of what was guessed, and how to ask about one net."""
    page.gap()
    inferred = next((group for group in view.groups if group.fast and group.origin.value != "declared"), None)
    if inferred is not None and inferred.by.startswith("net class "):
        page.line("next: what is only inferred never makes an error; declare it in stackwright.toml, for example")
        nets = [context.board.net_index[name] for name in inferred.names]
        page.verbatim(
            ["[[interface]]", _is(inferred), context.choosing_line(inferred.by, inferred.family, nets)], indent=4
        )
        return
    names = [name for group in ([inferred] if inferred else view.groups) for name in group.names]
    names += [*view.other_pairs, *(rail.net for rail in view.rails)]
    if names:
        page.verbatim([f"next: {command_line('nets', str(path), '--explain', names[0])}"], indent=0)


def _is(group: NetGroup) -> str:
    """The line that names the interface of a group; where its generation is not known, those there are to choose of."""
    if group.interface:
        return f'is = "{group.interface}"'
    return f'is = "?"  # {", ".join(one.id for one in family(group.family).interfaces)}'


# ------------------------------------------------------------------------------------------------ one net


def _net_page(told: ExplainedNet) -> Page:
    page = Page()
    page.line(styled(told.net, "bold"))
    page.rows([Column(min_width=9), Column(wraps=True)], _identity(told))
    if told.readings:
        page.heading("What was read")
        rows = [
            (styled("*" if r.counted else "-", "green" if r.counted else "dim"), r.looked_at, r.says)
            for r in told.readings
        ]
        page.rows([Column(), Column(max_width=28), Column(wraps=True)], rows)
    for k, link in enumerate(told.links, start=1):
        _link(page, link, f"Link {k} of {len(told.links)}" if len(told.links) > 1 else "Link")
    if told.refused:
        page.heading("Not followed")
        page.rows([Column(wraps=True)], [(words,) for words in told.refused[:REFUSED_SHOWN]])
        if len(told.refused) > REFUSED_SHOWN:
            page.line(f"and {len(told.refused) - REFUSED_SHOWN} more", indent=2)
    return page


def _identity(told: ExplainedNet) -> list[tuple[str, str]]:
    taken = told.taken_for or "nothing"
    sure = f"  ({told.origin.value}, {told.confidence.value} confidence)" if told.taken_for else ""
    rows = [
        ("interface", f"{taken}{sure}"),
        ("because", told.why),
        ("classes", "; ".join(f"{one.name} ({one.by})" for one in told.classes) or "Default only"),
        ("pair with", f"{told.partner}  ({told.paired_by})" if told.partner else "none"),
        ("vias", "; ".join(words for said in told.via if (words := _via(said)))),
        ("pads", some(told.pads, 12)),
    ]
    return [(label, words) for label, words in rows if words]


def _via(said: ExplainedVia) -> str:
    """One size of the net's vias: what is configured, and what KiCad's check lets pass."""
    bounds = (("", said.asked_mm, said.asked_by), ("at least ", said.least_mm, said.least_by))
    stated = (*bounds, ("at most ", said.greatest_mm, said.greatest_by))
    words = ", ".join(f"{bound}{value:g} mm ({by})" for bound, value, by in stated if value is not None)
    doubt = f", unless {said.doubts[0]} says otherwise" if said.doubts and said.what != "ring" else ""
    return f"{said.what} {words}{doubt}" if words else ""


def _link(page: Page, link: ExplainedLink, title: str) -> None:
    page.heading(title, f"{link.path_mm:.2f} mm from end to end")
    page.line(styled("  ".join(_chain(link))), indent=2)
    rows = [("ends", some(link.ends, 8)), ("shunt pads", some(link.taps, 8)), ("partner", " > ".join(link.partner))]
    page.rows([Column(min_width=9), Column(wraps=True)], [(label, words) for label, words in rows if words])
    for net in link.nets:
        _net(page, net)
    for note in link.notes:
        page.line(styled("note: ", "yellow"), note, indent=2)


def _chain(link: ExplainedLink) -> list[str]:
    """Nets as they are, series parts in brackets."""
    return [f"[{word}]" if k % 2 else word for k, word in enumerate(link.chain)]


def _net(page: Page, net: RoutedNet) -> None:
    page.gap()
    if not net.start:
        page.line(styled(net.net), f": tracks join no two of its pads ({net.routed_mm:.2f} mm routed)", indent=2)
        return
    page.line(styled(net.net), f": {net.start} to {net.end}, {net.path_mm:.2f} mm", indent=2)
    rows = [
        ("layers", ", ".join(f"{layer} {mm:.2f} mm" for layer, mm in net.by_layer_mm.items())),
        ("vias", "; ".join(net.vias) or "none"),
        ("branches", "; ".join(net.branches)),
        ("apart", f"{net.apart_mm:.2f} mm that no track joins to the path" if net.apart_mm else ""),
    ]
    page.rows([Column(min_width=9), Column(wraps=True)], [(a, b) for a, b in rows if b], indent=4)
