"""Takes apart what people type into a material field: glass styles, resin content, Tg, and the pieces of a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import field

from stackup_lib.core.record import record

_TIMES = dict.fromkeys(map(ord, "\u00d7\u2715\u2a2f"), "x")

_RESIN = re.compile(
    r"(?<![a-z])(?:rc|r/c|resin(?: content)?)\s*[:=]?\s*(\d{2}(?:\.\d+)?)(?![\d.])\s*%?"
    r"|(?<![\d.])(\d{2}(?:\.\d+)?)\s*%\s*(?:rc\b)?"
)
_TG = re.compile(r"tg\s*[-:=>≥]*\s*(\d{3})(?=c?(?![a-z0-9]))(?:\s*-\s*\d{3}(?=c?\b))?\s*(?:°?c\b|°)?|\b(\d{3})\s*tg\b")
_LENGTH = re.compile(r"\b\d+(?:[.,]\d+)?\s*(?:mm|um|µm|μm|mils?|inch|in|oz)\b")
_SPREAD = re.compile(r"(?<![a-z0-9])spread(?:[- ]?(?:glass|weave|cloth))?(?![a-z0-9])")
_PIECE = re.compile(r"[a-z0-9+]+(?:\.\d+)?")
STYLE_DIGITS = 4
"""Most styles have four digits; only behind those a bare NE is read as a kind of glass."""

_STYLE_AFFIX = r"(?:pr|pp|prepreg|glass|style|type|#)?"
_STYLE_GRADE = r"(?:hr|mr|lr|h|m|l|hrc)?"


def plain(text: str) -> str:
    """Return text in lower case with plain spaces, dashes and times signs."""
    folded = unicodedata.normalize("NFKC", text).translate(_TIMES)
    dashed = "".join("-" if unicodedata.category(ch) == "Pd" or ch == "\u2212" else ch for ch in folded)
    return re.sub(r"\s+", " ", dashed).strip().lower()


def key_of(text: str) -> str:
    """Return the key under which a name is known: letters, digits and plus signs of its plain form."""
    return re.sub(r"[^a-z0-9+]", "", plain(text))


@record
class NamePiece:
    """One run of letters and digits; `concatenated` when no space stands between it and the piece before."""

    text: str
    concatenated: bool
    is_maker: bool = False


@record
class Words:
    """What a material text consists of; `styles` in order of appearance, `pieces` what is left for the name.

    Attributes:
        resin_content_pct: the mean where it is written for each of several sheets.
        glass: the kind of glass that it names, "" for none.
        is_spread: it says that the glass is spread.
    """

    pieces: tuple[NamePiece, ...]
    styles: tuple[str, ...] = ()
    plies: int | None = None
    resin_content_pct: float | None = None
    tg_c: float | None = None
    glass: str = ""
    is_spread: bool = False


@record
class Vocabulary:
    """Glass styles, makers' words and filler words, all in lower case.

    Attributes:
        stackup_names: patterns of the names that fabs give their stackups; such a name says nothing of one row.
        glass_words: kind of glass by the word for it.
    """

    styles: frozenset[str]
    maker_words: frozenset[str]
    filler_words: frozenset[str]
    stackup_names: tuple[str, ...] = ()
    glass_words: Mapping[str, str] = field(default_factory=dict)


def take_apart(text: str, vocabulary: Vocabulary) -> Words:
    """Split a material text; filler words are dropped, glass styles kept apart from the name."""
    rest = plain(text)
    for name in vocabulary.stackup_names:
        rest = re.sub(rf"\b{name}\b", " ", rest)
    tg = _TG.search(rest)
    rest = _TG.sub(" ", rest)
    resin = [pct for pct in (float(m[1] or m[2]) for m in _RESIN.finditer(rest)) if 30 <= pct <= 85]
    rest = _RESIN.sub(" ", rest)
    rest = _LENGTH.sub(" ", rest)
    is_spread = bool(_SPREAD.search(rest))
    glass, rest = _take_glass(_SPREAD.sub(" ", rest), vocabulary)
    found, plies, rest = _take_styles(rest, vocabulary.styles)
    sheets = resin if len(resin) == len(found) else resin[:1]  # "1080(69%)+106(74%)" states that of each sheet
    return Words(
        pieces=tuple(_pieces(rest, vocabulary)),
        styles=tuple(dict.fromkeys(found)),
        plies=plies,
        resin_content_pct=sum(sheets) / len(sheets) if sheets else None,
        tg_c=float(tg[1] or tg[2]) if tg else None,
        glass=glass,
        is_spread=is_spread,
    )


def written_resin_content_pct(text: str) -> float | None:
    """Return the resin content behind "RC" as it is written, also one that no prepreg has; None where none is."""
    return next((float(m[1]) for m in _RESIN.finditer(plain(text)) if m[1]), None)


def _take_glass(text: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """Return the kind of glass and the rest: "NE-glass", "low-Dk cloth", "quartz", and NE right behind a style."""
    words = vocabulary.glass_words
    if not words:
        return "", text
    styles = "|".join(style for style in sorted(vocabulary.styles) if len(style) == STYLE_DIGITS)
    names = "|".join(re.escape(word).replace(r"\ ", "[- ]?") for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<![a-z0-9])({names})[- ]?(?:glass|cloth|fabric)(?![a-z0-9])"
        rf"|(?<![a-z0-9])(quartz)(?![a-z0-9])|(?<={styles})[- ]?(nez|ner|ne)(?![a-z0-9])"
    )
    found = pattern.search(text)
    if not found:
        return "", text
    word = next(group for group in found.groups() if group)
    kinds = {key_of(known): kind for known, kind in words.items()}
    return kinds[key_of(word)], pattern.sub(" ", text)


def _take_styles(text: str, styles: Collection[str]) -> tuple[list[str], int | None, str]:
    numbers = "|".join(sorted(styles, key=lambda s: (-len(s), s)))
    body = rf"{_STYLE_AFFIX}[ -]?({numbers}){_STYLE_GRADE}"
    pattern = re.compile(
        rf"(?<![a-z0-9.])(?:(\d)\s?[x*]\s?)?{body}(?:\s*[x*]\s?(\d)(?![\d.]))?(?![a-z0-9]|\.\d)",
    )
    found = [(m[2], m[1] or m[3]) for m in pattern.finditer(text)]
    plies = int(found[0][1]) if len(found) == 1 and found[0][1] else None
    return [style for style, _ in found], plies, pattern.sub("  ", text)


def _pieces(text: str, vocabulary: Vocabulary) -> list[NamePiece]:
    pieces: list[NamePiece] = []
    end = 0
    for m in _PIECE.finditer(text):
        word = m[0]
        between = text[end : m.start()]
        end = m.end()
        concatenated = bool(pieces) and between != "" and " " not in between and not set(between) & set("/,;|&")
        is_suffix = concatenated and len(word) == 1
        if (word in vocabulary.filler_words and not is_suffix) or set(word) == {"+"}:
            continue
        pieces.append(NamePiece(word.replace(".", ""), concatenated, word in vocabulary.maker_words))
    return pieces


def without_maker(word: str, maker_words: Collection[str]) -> str:
    """Return "is400" for "isolais400": a maker's name written in front of a product's without a space."""
    for maker in sorted(maker_words):
        if len(maker) > 3 and word.startswith(maker) and any(ch.isdigit() for ch in word[len(maker) :]):
            return word[len(maker) :]
    return word
