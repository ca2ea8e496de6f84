"""From what people type to a laminate, a glass style and a resin content; unknown and ambiguous texts say so."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from stackup_lib.core.facts import Confidence, Fact, Origin, least, unknown
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.materials.entries import LaminateEntry
from stackup_lib.materials.model import Laminate, Tg, TgMethod
from stackup_lib.materials.sources import Grade, MaterialSource
from stackup_lib.materials.words import NamePiece, Vocabulary, Words, key_of, take_apart, without_maker

LONGEST = 200
"""A material name is shorter than this; what comes after is not read, whatever a file holds."""

_JOINED = re.compile(r"\s(?:\+|&|and)\s", re.IGNORECASE)
"""Between two materials; the plus sign of "IT-968G+" has no blank in front."""

Status = Literal["found", "generic", "style only", "ambiguous", "unknown"]


class MaterialRemark(Frozen):
    """What to say about a name that does not speak for itself.

    Attributes:
        name: as people type it.
        families: the families it may mean. One: the name means that family. More: it is ambiguous.
        confidence: of taking it so.
        assumed: no document of the maker knows this name; taking it as the family is our assumption.
        note: the sentence for the user.
    """

    name: str
    families: tuple[str, ...]
    confidence: Confidence = Confidence.MEDIUM
    assumed: bool = False
    note: str


class Match(Frozen):
    """The answer to a material text.

    Attributes:
        laminate: set exactly when `status` is `found` or `generic`.
        style: the glass style, None when none or several are named.
        styles: all glass styles named, in order.
        tg_min_c: a Tg that the text itself demands ("FR4 TG170").
        glass: kind of glass that the text names, else that of the laminate; None where neither says it.
        is_spread: the text says that the glass is spread.
        confidence: of the identification; values have their own; the lower one counts.
        alternatives: family names that may be meant.
        note: a sentence for the user, empty when there is nothing to say.
        assumed_alias: the name that stands for the laminate only by our assumption.
    """

    text: str
    status: Status
    laminate: Laminate | None = None
    style: str | None = None
    styles: tuple[str, ...] = ()
    plies: int | None = None
    resin_content_pct: float | None = None
    tg_min_c: float | None = None
    glass: str | None = None
    is_spread: bool = False
    confidence: Confidence = Confidence.LOW
    alternatives: tuple[str, ...] = ()
    note: str = ""
    assumed_alias: str | None = None

    def df_at(self, frequency_ghz: float) -> Fact[float]:
        """Return Df of what was typed, style and resin content included, with the identification's confidence."""
        if self.laminate is None:
            return unknown(f"Df of {self.text!r} at {frequency_ghz:g} GHz", self._how_to_give())
        style, resin = self.style, self.resin_content_pct
        return self._weakened(self.laminate.df_at(frequency_ghz, style=style, resin_content_pct=resin))

    def df_bounds_at(self, frequency_ghz: float) -> tuple[float, float] | None:
        """Return the ends of what `df_at` may be above the last frequency of a sheet; None where it is unknown."""
        if self.laminate is None:
            return None
        return self.laminate.df_bounds_at(frequency_ghz, style=self.style, resin_content_pct=self.resin_content_pct)

    def dk_at(self, frequency_ghz: float) -> Fact[float]:
        """Return Dk of what was typed, style and resin content included, with the identification's confidence."""
        if self.laminate is None:
            return unknown(f"Dk of {self.text!r} at {frequency_ghz:g} GHz", self._how_to_give())
        style, resin = self.style, self.resin_content_pct
        return self._weakened(self.laminate.dk_at(frequency_ghz, style=style, resin_content_pct=resin))

    def tg_fact(self) -> Fact[Tg]:
        """Return the laminate's Tg; of a generic name, the minimum that the text itself states."""
        if self.tg_min_c is not None and (self.laminate is None or self.laminate.generic):
            said = MaterialSource(text=f"stated by the material name {self.text!r}", grade=Grade.THIRD_PARTY)
            tg = Tg(value_c=self.tg_min_c, method=TgMethod.UNSTATED, is_minimum=True, source=said)
            name = f"Tg of {self.text!r}"
            return Fact[Tg](name=name, value=tg, origin=Origin.FILE, source=said.text, confidence=Confidence.MEDIUM)
        if self.laminate is None:
            return unknown(f"Tg of {self.text!r}", self._how_to_give())
        fact = self.laminate.tg_fact()
        return replace(fact, confidence=least(fact.confidence, self.confidence)) if fact.known else fact

    def _weakened(self, fact: Fact[float]) -> Fact[float]:
        return replace(fact, confidence=least(fact.confidence, self.confidence)) if fact.known else fact

    def _how_to_give(self) -> str:
        if self.alternatives:
            return f"name the laminate exactly, e.g. {self.alternatives[0]}"
        return "name the laminate, e.g. Megtron 6 or Isola 370HR, or state its values from the data sheet"


@record
class AliasIndex:
    """All that `resolve` looks things up in; keys are made by `key_of`."""

    by_key: Mapping[str, LaminateEntry]
    remarks: Mapping[str, MaterialRemark]
    vocabulary: Vocabulary

    def known(self, key: str) -> str:
        """Return the key under which a name is known, with or without a maker's name in front; "" when it is not."""
        for candidate in (key, without_maker(key, self.vocabulary.maker_words)):
            if candidate in self.by_key or candidate in self.remarks:
                return candidate
        return ""

    def family(self, name: str) -> Laminate | None:
        """Return a laminate by family name."""
        return next((x.laminate for x in self.by_key.values() if x.family == name), None)


@record
class _Hit:
    start: int
    end: int
    key: str


def resolve(text: str, index: AliasIndex) -> Match:
    """Resolve a material text; see `Match`. Only the first `LONGEST` characters are looked at.

    A kind of glass may be part of a family's own name: "Megtron 7 (E-glass)".
    """
    words = take_apart(text[:LONGEST], index.vocabulary)
    if words.glass:
        whole = take_apart(text[:LONGEST], replace(index.vocabulary, glass_words={}))
        match = _resolve(text, replace(whole, glass=words.glass), index)
        if match.confidence is Confidence.HIGH:
            return match
    return _resolve(text, words, index)


def _resolve(text: str, words: Words, index: AliasIndex) -> Match:
    hits = _hits(words.pieces, index)
    specific = [h for h in hits if not _is_generic(h, index)]
    chosen = _narrowest(hits if _JOINED.search(text) else specific or hits, index)
    if len({_families(h, index) for h in chosen}) > 1:
        return _several(text, words, chosen, index)
    if not chosen:
        return _without_family(text, words, index)
    hit = chosen[0]
    extra, variant = _left_over(words.pieces, hits)
    if variant:
        return _variant(text, words, hit, variant, index)
    return _found(text, words, hit, extra, index)


def _hits(pieces: tuple[NamePiece, ...], index: AliasIndex) -> list[_Hit]:
    """Return the longest known names among the pieces, left to right."""
    hits: list[_Hit] = []
    start = 0
    while start < len(pieces):
        for end in range(min(len(pieces), start + 6), start, -1):
            key = index.known("".join(p.text for p in pieces[start:end]))
            if key:
                hits.append(_Hit(start, end, key))
                start = end - 1
                break
        start += 1
    return hits


def _families(hit: _Hit, index: AliasIndex) -> tuple[str, ...]:
    remark = index.remarks.get(hit.key)
    return remark.families if remark else (index.by_key[hit.key].family,)


def _narrowest(hits: list[_Hit], index: AliasIndex) -> list[_Hit]:
    """Drop names that another one on the same line makes exact: "Megtron 6 R-5775(N)", "M7 R-5785(N)"."""

    def is_wider(hit: _Hit, other: _Hit) -> bool:
        wide, narrow = _families(hit, index), _families(other, index)
        if wide == narrow:
            return hit.key in index.remarks and other.key not in index.remarks
        if set(narrow) < set(wide):
            return bool(narrow)
        return len(wide) == len(narrow) == 1 and key_of(narrow[0]).startswith(key_of(wide[0]))

    return [h for h in hits if not any(is_wider(h, other) for other in hits if other is not h)]


def _is_generic(hit: _Hit, index: AliasIndex) -> bool:
    entry = index.by_key.get(hit.key)
    return entry is not None and entry.generic


def _left_over(pieces: tuple[NamePiece, ...], hits: list[_Hit]) -> tuple[list[str], str]:
    """Return the pieces that no hit explains, and a suffix of a hit, which makes it another product's name."""
    covered = {i for h in hits for i in range(h.start, h.end)}
    ends = {h.end for h in hits}
    extra = [p.text for i, p in enumerate(pieces) if i not in covered and not p.is_maker]
    variant = next(
        (p.text for i, p in enumerate(pieces) if i in ends and i not in covered and p.concatenated and not p.is_maker),
        "",
    )
    return extra, variant


def _common(text: str, words: Words) -> dict[str, object]:
    return {
        "text": text,
        "style": words.styles[0] if len(words.styles) == 1 else None,
        "styles": words.styles,
        "plies": words.plies,
        "resin_content_pct": words.resin_content_pct,
        "tg_min_c": words.tg_c,
        "glass": words.glass or None,
        "is_spread": words.is_spread,
    }


def _found(text: str, words: Words, hit: _Hit, extra: list[str], index: AliasIndex) -> Match:
    remark = index.remarks.get(hit.key)
    if remark and len(remark.families) != 1:
        return _match(text, words, status="ambiguous", alternatives=remark.families, note=remark.note)
    laminate = index.family(remark.families[0]) if remark else index.by_key[hit.key].laminate
    if laminate is None:  # a remark on an unknown family; the tests forbid it
        return _without_family(text, words, index)
    if laminate.generic:
        return _generic(text, words, laminate, extra, index)
    confidence = remark.confidence if remark else Confidence.HIGH
    notes = [remark.note] if remark else []
    if extra:
        confidence = Confidence.LOW
        notes.append(f"{' '.join(extra)!r} is not understood; read as {laminate.family}.")
    others = tuple(a for a in _near(hit.key, index) if a != laminate.family) if confidence is Confidence.LOW else ()
    return _match(
        text,
        words,
        status="found",
        laminate=laminate,
        glass=words.glass or laminate.glass,
        confidence=confidence,
        alternatives=others,
        note=" ".join(notes),
        assumed_alias=remark.name if remark and remark.assumed else None,
    )


def _generic(text: str, words: Words, laminate: Laminate, extra: list[str], index: AliasIndex) -> Match:
    """Return a match for a kind of material; "FR4" with a Tg is the class whose minimum that Tg reaches."""
    if words.tg_c is not None:
        classes = [
            (tg.value_c, x)
            for x in {x.family: x.laminate for x in index.by_key.values() if x.generic}.values()
            for tg in x.tg
            if x.loss_class is laminate.loss_class and tg.value_c <= words.tg_c
        ]
        laminate = max(classes, key=lambda pair: pair[0])[1] if classes else laminate
    note = f"{_shown(text)} names a kind of material, not a product: its figures are only typical. {laminate.note}"
    if extra:
        note += f" {' '.join(extra)!r} is not understood."
    confidence = Confidence.LOW if extra else Confidence.MEDIUM
    return _match(text, words, status="generic", laminate=laminate, confidence=confidence, note=note.strip())


def _several(text: str, words: Words, hits: list[_Hit], index: AliasIndex) -> Match:
    families = tuple(dict.fromkeys(f for h in hits for f in _families(h, index)))
    note = f"{_shown(text)} names several laminates; name the one that is built."
    return _match(text, words, status="ambiguous", alternatives=families, note=note)


def _variant(text: str, words: Words, hit: _Hit, suffix: str, index: AliasIndex) -> Match:
    families = _families(hit, index)
    near = tuple(dict.fromkeys((*families, *_near(key_of(text[:LONGEST]), index))))[:4]
    note = f"{_shown(text)} is not in the catalogue"
    note += f"; with {suffix!r} it is not {families[0]} itself." if families else f". {index.remarks[hit.key].note}"
    return _match(text, words, status="unknown", alternatives=near, note=note)


def _without_family(text: str, words: Words, index: AliasIndex) -> Match:
    extra = " ".join(p.text for p in words.pieces if not p.is_maker)
    if not extra and words.styles:
        note = "A glass style names no laminate: Dk, Df and Tg depend on the resin around it."
        return _match(text, words, status="style only", confidence=Confidence.MEDIUM, note=note)
    if not extra and words.tg_c is not None:
        note = "A Tg alone names no laminate."
        return _match(text, words, status="unknown", note=note)
    if not extra:
        note = f"{_shown(text)} names no laminate." if text.strip() else "No material is named."
        return _match(text, words, status="unknown", note=note)
    near = _near(key_of(extra)[:LONGEST], index)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    note = f"{_shown(text)} is not in the catalogue.{hint}"
    return _match(text, words, status="unknown", alternatives=near, note=note)


def _near(key: str, index: AliasIndex) -> tuple[str, ...]:
    keys = difflib.get_close_matches(key, [*index.by_key, *index.remarks], n=8, cutoff=0.75)
    families: Iterable[str] = (
        f for k in keys for f in (index.remarks[k].families if k in index.remarks else (index.by_key[k].family,))
    )
    return tuple(dict.fromkeys(families))[:3]


def _shown(text: str) -> str:
    shown = text.strip()
    return repr(shown if len(shown) <= 60 else shown[:57] + "...")


def _match(text: str, words: Words, **fields: object) -> Match:
    return Match.model_validate({**_common(text, words), **fields})
