"""From names to families: what a net name or a net class name reads as."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from drc_rules.requirements.interfaces.load import families
from drc_rules.requirements.interfaces.model import Family
from stackup_lib.core.kicad_text import as_kicad_shows
from stackup_lib.nets.diff_pairs import FAR_SIDES

LONGEST = 160
"""What is longer than this (behind the last slash) is no real name."""

ASIDE = ("low-speed", "reference-clock")
"""Families that are looked for first: a sideband among high-speed nets is never high-speed itself."""

WORD_BEGINS = r"(?:^|[_.\-])"

_GENERATED = ("unconnected-(", "Net-(")
_MARKUP = re.compile(r"[~_^]\{([^{}]*)\}")
_FAR = rf"(?:[_.\-](?:C|R|(?:{FAR_SIDES})\d?))?"
"""What designers add behind the polarity for the far side of a capacitor, connector, resistor or protection part."""

_POLARITY = re.compile(rf"([PNM+-])((?:[_.\-]?\d+)?{_FAR})$")
_SIGNED = re.compile(
    rf"(?P<head>.*?[A-Z0-9])(?:(?:[_.\-]D?)?(?P<sign>[PNM])|(?P<mark>[+-]))(?:[_.\-]?(?P<lane>\d+))?{_FAR}$"
)
_LANE = re.compile(r"(?<=[A-Z])[_.\-](\d+)$")
_BUS = re.compile(r"\[(\d+)\]")
_BARE = re.compile(
    r"(?:[TR]XD?|PET|PER|TD|RD|H?D|DATA|LANE|LN|ML|CK|CLK|TRD|MDI|SSTX|SSRX|TPIN|TPOUT|RX?IN|TX?OUT|RXI|TXO|CLKIN|CLKOUT)\d*_[PN]"
    r"|P\d_[TR]XD?_[PN]"
)
"""A name that says only which lane it is: what it is a lane of stands in the name of its sheet."""

_SHEET = re.compile(r"[^A-Z0-9+.]+")
_SWAP = {"P": "NM", "N": "P", "M": "P", "+": "-", "-": "+"}


def normalise(net: str) -> str:
    """Return the part of a net name that people read: behind the last slash, KiCad's markup as `_x`, upper case.

    A slash within the label, `{slash}` in the file, is part of it.
    """
    return _MARKUP.sub(r"_\1", as_kicad_shows(net.rsplit("/", 1)[-1])).upper()


def sheet_name(sheet: str) -> str:
    """Return a sheet's name in capitals, with an underscore for each run of other characters: `DDR3_MEMORY`."""
    return _SHEET.sub("_", sheet.upper()[:LONGEST])


def is_generated(net: str) -> bool:
    """Return True for a name that KiCad made up from a pin."""
    return net.startswith(_GENERATED)


def is_unconnected(net: str) -> bool:
    """Return True for the net of a pin that is connected to nothing."""
    return net.startswith(_GENERATED[0])


def complements(normalised: str) -> tuple[str, ...]:
    """Return what the other net of the pair may be called; empty when the name has no polarity."""
    found = _POLARITY.search(normalised)
    if found is None:
        return ()
    head, sign, lane = normalised[: found.start()], found[1], found[2]
    return tuple(head + other + lane for other in _SWAP[sign])


def usual_spelling(normalised: str) -> str:
    """Return a name of a pair's net with its polarity last: `TX_0+`, `TX_P0` and `TXP_0_C` all become `TX0_P`.

    A name without polarity keeps its spelling; the index of a bus loses its brackets.
    """
    name = _BUS.sub(r"\1", normalised)
    found = _SIGNED.fullmatch(name)
    if found is None:
        return name
    head, lane = _LANE.sub(r"\1", found["head"]), found["lane"] or ""
    return f"{head}{lane}_{'P' if (found['sign'] or found['mark']) in 'P+' else 'N'}"


@cache
def _any_head() -> re.Pattern[str]:
    """One search that most nets of a board fail at once: nearly all heads stand at the beginning of a word.

    No head has alternatives outside a group.
    """
    heads = [pattern.head for one in families() for pattern in one.pattern]
    inside = [head for head in heads if not head.startswith(WORD_BEGINS)]
    first = "|".join(head.removeprefix(WORD_BEGINS) for head in heads if head.startswith(WORD_BEGINS))
    return re.compile("|".join([f"{WORD_BEGINS}(?:{first})", *inside]))


def is_sideband(net: str, of: Family) -> bool:
    """Return True for a control, clock or power net among a family's nets."""
    name = normalise(net)[:LONGEST]
    if of.id in ASIDE:
        return False
    return of.excludes(name) or _family_of(name) in ASIDE


@cache
def _in_order() -> tuple[Family, ...]:
    return tuple(sorted(families(), key=lambda f: (f.id not in ASIDE, f.id)))


@lru_cache(maxsize=65536)
def _family_of(normalised: str) -> str | None:
    if len(normalised) > LONGEST:
        return None
    usual = usual_spelling(normalised)
    if not _any_head().search(normalised) and not _any_head().search(usual):
        return None
    for spelling in dict.fromkeys((normalised, usual)):
        for candidate in _in_order():
            if candidate.claims(spelling) and not candidate.excludes(normalised):
                return candidate.id
    return None


@lru_cache(maxsize=65536)
def family_by_sheet(net: str) -> str | None:
    """Return the family that the nearest telling sheet of a bare lane reads as: `/HDMI/D0_P`; None when two do."""
    sheets = [sheet for sheet in net.upper().split("/")[:-1] if sheet]  # the root sheet has no name
    lane = usual_spelling(normalise(net)[:LONGEST])
    if not sheets or not _BARE.fullmatch(lane):
        return None
    for sheet in reversed(sheets):
        name = f"{sheet_name(sheet)}_{lane}"
        found = [one.id for one in families() if len(name) <= LONGEST and one.claims(name)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def family_by_name(net: str) -> str | None:
    """Return the id of the family that a net's name reads as, None for none and for names that KiCad made up."""
    return None if is_generated(net) else _family_of(normalise(net)) or family_by_sheet(net)


def is_told_by_sheet(net: str) -> bool:
    """Return True where the name of a sheet tells the family of a net, and its own does not."""
    return _family_of(normalise(net)) is None and family_by_sheet(net) is not None


def is_generic(net: str, of: Family) -> bool:
    """Return True for a name that tells the family only where nothing else does: transceivers of programmable logic."""
    name = normalise(net)[:LONGEST]
    return of.claims_loosely(name) or (not of.claims(name) and of.claims_loosely(usual_spelling(name)))


@cache
def _class_words() -> tuple[tuple[str, re.Pattern[str]], ...]:
    named = [f for f in families() if f.class_words]
    return tuple((f.id, re.compile(rf"(?<![A-Z0-9])(?:{'|'.join(f.class_words)})(?![A-Z0-9])")) for f in named)


@lru_cache(maxsize=4096)
def family_by_class(net_class: str) -> str | None:
    """Return the id of the family that a net class name such as `85Ohm-diff_PCIE` reads as; the longest word wins."""
    name = net_class.upper()[:LONGEST]
    hits = [(found.end() - found.start(), one) for one, word in _class_words() for found in word.finditer(name)]
    return max(hits, key=lambda hit: hit[0])[1] if hits else None
