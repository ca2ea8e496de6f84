"""Takes apart what people type into a material field: styles, resin content, Tg, thickness, and the pieces of a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_TIMES = dict.fromkeys(map(ord, "×✕⨯"), "x")

_RESIN = re.compile(
    r"(?<![a-z])(?:rc|r/c|resin(?: content)?)\s*[:=]?\s*(\d{2}(?:\.\d+)?)(?![\d.])\s*%?"
    r"|(?<![\d.])(\d{2}(?:\.\d+)?)\s*%\s*(?:rc\b)?"
)
_TG = re.compile(r"tg\s*[-:=>≥]*\s*(\d{3})(?![a-z0-9])(?:\s*-\s*\d{3}\b)?\s*(?:°?c\b|°)?|\b(\d{3})\s*tg\b")
_LENGTH = re.compile(r"\b\d+(?:[.,]\d+)?\s*(?:mm|um|µm|μm|mils?|inch|in|oz)\b")
_PIECE = re.compile(r"[a-z0-9+]+(?:\.\d+)?")
_STYLE_AFFIX = r"(?:pr|pp|prepreg|glass|style|type|#)?"
_STYLE_GRADE = r"(?:hr|mr|lr|h|m|l|hrc)?"

NOISE = frozenset(
    "core prepreg pp pr laminate laminates ccl base material dielectric glass style type bondply substrate series"
    " copper clad rc resin content ply plies x sheet or equivalent equiv the and with c um mm thick".split()
)
"""Words that say nothing about which laminate it is."""


def plain(text: str) -> str:
    """Return text in lower case with plain spaces, dashes and times signs."""
    folded = unicodedata.normalize("NFKC", text).translate(_DASHES).translate(_TIMES)
    return re.sub(r"\s+", " ", folded).strip().lower()


def key_of(text: str) -> str:
    """Return the key under which a name is known: letters, digits and plus signs of its plain form."""
    return re.sub(r"[^a-z0-9+]", "", plain(text))


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of letters and digits; `glued` when no space stands between it and the piece before."""

    text: str
    glued: bool


@dataclass(frozen=True, slots=True)
class Words:
    """What a material text consists of; `styles` in order of appearance, `pieces` what is left for the name."""

    pieces: tuple[Piece, ...]
    styles: tuple[str, ...] = ()
    plies: int | None = None
    resin_content_pct: float | None = None
    tg_c: float | None = None


def take_apart(text: str, styles: Collection[str], maker_words: Collection[str]) -> Words:
    """Split a material text; maker names and filler words are dropped, glass styles kept apart from the name."""
    rest = plain(text)
    tg = _TG.search(rest)
    rest = _TG.sub(" ", rest)
    resin = next((m for m in _RESIN.finditer(rest) if 30 <= float(m[1] or m[2]) <= 85), None)
    rest = _RESIN.sub(" ", rest)
    rest = _LENGTH.sub(" ", rest)
    found, plies, rest = _take_styles(rest, styles)
    return Words(
        pieces=tuple(_pieces(rest, maker_words)),
        styles=tuple(dict.fromkeys(found)),
        plies=plies,
        resin_content_pct=float(resin[1] or resin[2]) if resin else None,
        tg_c=float(tg[1] or tg[2]) if tg else None,
    )


def _take_styles(text: str, styles: Collection[str]) -> tuple[list[str], int | None, str]:
    numbers = "|".join(sorted(styles, key=len, reverse=True))
    body = rf"{_STYLE_AFFIX}[ -]?({numbers}){_STYLE_GRADE}"
    pattern = re.compile(
        rf"(?<![a-z0-9.])(?:(\d)\s?[x*]\s?)?{body}(?:\s?[x*]\s?(\d)(?![\d.]))?(?![a-z0-9]|\.\d)",
    )
    found = [(m[2], m[1] or m[3]) for m in pattern.finditer(text)]
    plies = int(found[0][1]) if len(found) == 1 and found[0][1] else None
    return [style for style, _ in found], plies, pattern.sub("  ", text)


def _pieces(text: str, maker_words: Collection[str]) -> list[Piece]:
    pieces: list[Piece] = []
    end = 0
    for m in _PIECE.finditer(text):
        word = m[0]
        between = text[end : m.start()]
        end = m.end()
        glued = bool(pieces) and between != "" and " " not in between and not set(between) & set("/,;|&")
        is_suffix = glued and len(word) == 1
        if word in maker_words or (word in NOISE and not is_suffix) or set(word) == {"+"}:
            continue
        pieces.append(Piece(_without_maker(word, maker_words), glued))
    return pieces


def _without_maker(word: str, maker_words: Collection[str]) -> str:
    for maker in maker_words:
        if len(maker) > 3 and word.startswith(maker) and any(ch.isdigit() for ch in word[len(maker) :]):
            return word[len(maker) :]
    return word
