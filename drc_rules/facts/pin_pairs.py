"""Pairs whose nets KiCad named after pins, `Net-(P1-D+)` and `Net-(P1-D-)`: pins tell them, or pairs that they join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from drc_rules.facts.net_pins import PinReading, pin_evidence
from drc_rules.requirements.interfaces.load import family
from drc_rules.requirements.interfaces.names import ASIDE, family_by_name, is_generated
from stackup_lib.board.board import Board
from stackup_lib.nets.diff_pairs import Pairs, find_pairs, with_told
from stackup_lib.nets.links import Links, PadRole, find_links
from stackup_lib.nets.power_nets import begins_with_voltage
from stackup_lib.nets.series import Chain

_SIGNS = {"P": "NM", "+": "-"}


def links_without_fills(board: Board) -> Links:
    """Return the links of a board whose pairs are those by name, by the pins of a part, and behind series parts.

    Two nets without a name of their own are a pair where one part, or each of several, has on them the two pins of one
    polarity, and where both lead through as many series parts to the same other part. A port that resistors hold at
    ground leads nowhere. They are one as well behind the series parts of a pair, as coupling capacitors, where both
    lead on to the same parts. Nothing depends on fills, which may be stale.
    """
    pairs = find_pairs(board)
    open_nets = {net for net, name in enumerate(board.nets) if is_generated(name) and pairs.complement_of(net) is None}
    signals = {net for net, name in enumerate(board.nets) if begins_with_voltage(name) and _reads_as_signal(name)}
    links = find_links(board, pairs, with_fills=False, signals=signals)
    for tell in (_by_pins, _behind_series_parts):
        names: dict[tuple[int, int], str] = {}
        for first, second, name in tell(board, links, open_nets):
            names.setdefault((first, second), name)
        times = Counter(net for pair in names for net in pair)
        clear = [pair for pair in names if times[pair[0]] == times[pair[1]] == 1 and _are_alike(links, *pair)]
        if clear:
            pairs = with_told(pairs, [(*pair, names[pair]) for pair in clear])
            links = find_links(board, pairs, with_fills=False, signals=signals)
            open_nets.difference_update(net for pair in clear for net in pair)
    return links


def _reads_as_signal(net: str) -> bool:
    """Tell whether a net's name is that of an interface's line; `1V8_CLK` may as well feed a clock."""
    return family_by_name(net) not in (None, *ASIDE)


def _by_pins(board: Board, links: Links, nets: set[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the net of the positive pin, that of the negative one, and what their names have in common."""
    pins: dict[tuple[str, str], dict[tuple[int, str], None]] = {}
    for net, readings in pin_evidence(board, links, {}).readings.items():
        for reading in readings:
            of = family(reading.family)
            if net in nets and not of.single_ended and of.id not in ASIDE:
                pins.setdefault((_reference(reading), of.id), {})[net, reading.pin] = None
    for (reference, _), here in pins.items():
        for net, pin in here:
            others = [(other, name) for other, name in here if _is_negative(pin, name)]
            if len(others) == 1 and sum(_is_negative(name, others[0][1]) for _, name in here) == 1:
                yield net, others[0][0], f"{reference}-{_common(pin, others[0][1])}"


def _behind_series_parts(_board: Board, links: Links, nets: set[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the nets at one place in the two links of a pair, that of its positive trace first, and a name."""
    pairs, positive = links.pairs, set(links.pairs.positive.tolist())
    for row, chain in enumerate(links.chains):
        known = [k for k, net in enumerate(chain) if net in positive]
        other = links.complement_row(row) if known and nets.intersection(chain) else None
        if other is None or links.complement_row(other) != row or len(links.chains[other]) != len(chain):
            continue
        both = _side_by_side(pairs, chain, links.chains[other])
        for k in (k for k, pair in enumerate(both) if nets.issuperset(pair)):
            near = min(known, key=lambda at: abs(at - k))
            part = links.link(row).parts[k - 1 if near < k else k][0]
            yield *both[k], f"{pairs.name[int(pairs.pair_of_net[chain[near]])]} behind {part.reference}"


def _side_by_side(pairs: Pairs, chain: Chain, other: Chain) -> list[tuple[int, int]]:
    """Return the nets of two links of one length by their place, from the end at which those of a pair meet."""
    ways = (list(zip(chain, nets, strict=True)) for nets in (other, other[::-1]))
    return next((way for way in ways if all(pairs.complement_of(net) in (None, over) for net, over in way)), [])


def _reference(reading: PinReading) -> str:
    return reading.pad.rpartition(".")[0]


def _is_negative(positive: str, name: str) -> bool:
    """Tell whether a pin's name is that of another with each P or + in question as its negative: `USBDM_DN3`."""
    differ = [(a, b) for a, b in zip(positive, name, strict=False) if a != b]
    return len(positive) == len(name) and bool(differ) and all(b in _SIGNS.get(a, "") for a, b in differ)


def _common(first: str, second: str) -> str:
    return "".join(a for a, b in zip(first, second, strict=True) if a == b)


def _are_alike(links: Links, first: int, second: int) -> bool:
    """Tell whether two nets lead to the same parts, to two at least, through as many nets."""
    ways = _ways(links, links.rows_of_net.get(first, ()))
    return ways == _ways(links, links.rows_of_net.get(second, ())) and any(len(ends) > 1 for _, ends in ways)


def _ways(links: Links, rows: Iterable[int]) -> list[tuple[int, list[int]]]:
    found = []
    for link in (links.link(row) for row in rows):
        parts = {int(links.board.pads.footprint[pad.row]) for pad in link.ends if pad.role is PadRole.END}
        found.append((len(link.nets), sorted(parts)))
    return sorted(found)
