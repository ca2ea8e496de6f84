"""Holes, backdrills and via protection of what is sent against the board's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from drc_rules.release.agreement import number_words
from drc_rules.release.board_side import BackdrillKey, BoardSide
from drc_rules.release.model import ReleaseFinding, ReleaseOutcome
from stackup_lib.fab_files.facts import FabFormat, SentBackdrill, SentFile, SentHoles

DIFFERS, NOT_STATED, NOTE = ReleaseOutcome.DIFFERS, ReleaseOutcome.NOT_STATED, ReleaseOutcome.NOTE
STEP_MM = 0.001
"""Files with fewer than four decimals are no surer than a micrometre."""

_EXPORT = "kicad-cli pcb export drill --excellon-separate-th ..."
_Sizes = list[tuple[float, float, int, str]]
"""Diameter, step, count, place."""
_Group = tuple[tuple[int | None, int | None] | None, bool, bool | None]
"""Span where files state one, plated, slot where the format knows."""


def hole_findings(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Return how the holes of files that belong together differ from the board's, span by span."""
    holes, doubled = without_doubles([hole for file in files for hole in file.holes])
    for hole in doubled:
        yield _doubled("holes", hole.count, hole.place)
    knows_span = any(hole.first is not None for hole in holes)
    knows_slots = files[0].format is not FabFormat.D356
    spanless = [hole for hole in holes if hole.first is None]
    if spanless and files[0].format is not FabFormat.D356:
        yield ReleaseFinding(
            outcome=NOT_STATED,
            topic="drill span",
            what=f"{sum(hole.count for hole in spanless)} holes",
            place=spanless[0].place,
            board=_spans(side),
            consequence="the fab cannot tell through holes from blind ones: it drills them through",
            fix=f"export with Gerber X2 attributes: {_EXPORT}",
        )
    wanted: dict[_Group, Counter[float]] = {}
    for (first, last, is_plated, is_slot), sizes in side.holes.items():
        if not knows_span and files[0].format is FabFormat.D356 and (first, last) != (0, len(side.names) - 1):
            continue
        key: _Group = (first, last) if knows_span else None, is_plated, is_slot if knows_slots else None
        wanted.setdefault(key, Counter()).update(sizes)
    sent: dict[_Group, _Sizes] = {}
    for hole in holes:
        span = None if not knows_span else (hole.first, hole.last)
        plated = _plating_of(hole, wanted)
        key = span, plated, hole.is_slot if knows_slots else None
        size = hole.diameter_mm
        sent.setdefault(key, []).append((size.value, max(size.step, STEP_MM), hole.count, hole.place))
    where = files[0].path if len(files) == 1 else "drill files"
    for key in [*wanted, *(key for key in sent if key not in wanted)]:
        yield from _sizes(side, key, wanted.get(key, Counter()), sent.get(key, []), where)


def _plating_of(hole: SentHoles, wanted: dict[_Group, Counter[float]]) -> bool:
    """Plating as the file states it, else that of the board's holes of this size."""
    if hole.is_plated is not None:
        return hole.is_plated
    size = hole.diameter_mm
    return any(
        key[1] and any(abs(d - size.value) <= 0.6 * max(size.step, STEP_MM) for d in sizes)
        for key, sizes in wanted.items()
    )


def _spans(side: BoardSide) -> str:
    spans = sorted({key[:2] for key in side.holes})
    return ", ".join(f"{side.name(a)}-{side.name(b)}" for a, b in spans)


def without_doubles(holes: Iterable[SentHoles]) -> tuple[list[SentHoles], list[SentHoles]]:
    """Take out holes that a second file has at the same places."""
    kept: list[SentHoles] = []
    doubled: list[SentHoles] = []
    seen = set()
    for hole in holes:
        key = hole.first, hole.last, hole.is_plated, hole.is_slot, round(hole.diameter_mm.value, 4), hole.hits
        (doubled if hole.hits and key in seen else kept).append(hole)
        seen.add(key)
    return kept, doubled


def _doubled(what: str, count: int, place: str) -> ReleaseFinding:
    return ReleaseFinding(
        outcome=NOTE,
        topic="drill files",
        what=f"{count} {what}",
        place=place,
        sent="in another file as well",
        consequence="the same holes are sent twice: the fab asks which file is meant",
        fix="send one of the two files",
    )


def _sizes(side: BoardSide, key: _Group, wanted: Counter[float], sent: _Sizes, where: str) -> Iterator[ReleaseFinding]:
    wanted = _told_apart(wanted, max((step for _, step, *_ in sent), default=STEP_MM))
    found: Counter[float] = Counter()
    places: dict[float, str] = {}
    for diameter, step, count, place in sent:
        near = min(wanted, key=lambda d: abs(d - diameter), default=None)
        size = near if near is not None and abs(near - diameter) <= 0.6 * step else round(diameter, 4)
        found[size] += count
        places.setdefault(size, place)
    span, is_plated, is_slot = key
    name = f"{side.name(span[0])}-{side.name(span[1])}" if isinstance(span, tuple) else "all spans"
    kind = ("plated" if is_plated else "non-plated") + (" slots" if is_slot else " holes")
    what = f"{name}, {kind}"
    if wanted and not found:
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="drill files",
            what=what,
            place=where,
            board=_counts(wanted),
            sent="none",
            consequence="these holes are not drilled",
            fix=f"send all drill files: {_EXPORT}",
        )
        return
    for size in sorted(wanted.keys() | found.keys()):
        if wanted[size] != found[size]:
            extra = "not connected" if is_plated else "missing or in excess"
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="drill size" if not (wanted[size] and found[size]) else "drill count",
                what=f"{what}, {number_words(size)} mm",
                place=places.get(size, sent[0][3] if sent else where),
                board=str(wanted[size]),
                sent=str(found[size]),
                consequence=f"holes of another size or number: parts do not fit, or nets are {extra}",
                fix="the drill files are of another state of the board: export them again",
            )


def _told_apart(sizes: Counter[float], step: float) -> Counter[float]:
    """Count sizes together that lie within one step of a file."""
    together: Counter[float] = Counter()
    last = -1.0
    for size in sorted(sizes):
        last = last if last >= 0 and size - last <= step / 2 else size
        together[last] += sizes[size]
    return together


def _counts(sizes: Counter[float]) -> str:
    return ", ".join(f"{count} x {number_words(size)} mm" for size, count in sorted(sizes.items()))


def backdrill_findings(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Return how the backdrills of files that belong together differ from the board's."""
    last = len(side.names) - 1
    sent: dict[BackdrillKey | None, list[SentBackdrill]] = {}
    seen: dict[tuple[BackdrillKey | None, frozenset[str]], SentBackdrill] = {}
    for one in (drill for file in files for drill in file.backdrills):
        key = _key(one, last)
        first = seen.setdefault((key, one.hits), one)
        if first is one or not one.hits:
            sent.setdefault(key, []).append(one)
        elif _size_and_depth(first) == _size_and_depth(one):
            yield _doubled("backdrills", one.count, one.place)
        else:
            sent[key].append(replace(one, count=0))  # the same holes, made in another way
    where = files[0].path if len(files) == 1 else "drill files"
    for key in [*side.backdrills, *(key for key in sent if key not in side.backdrills)]:
        wanted = side.backdrills.get(key, Counter()) if key else Counter()
        yield from _backdrill(side, key, wanted, sent.get(key, []), where=where, file_format=files[0].format)


def _size_and_depth(one: SentBackdrill) -> tuple[float | None, float | None]:
    size, depth = one.diameter_mm, one.depth_mm
    return size.value if size else None, depth.value if depth else None


def _key(one: SentBackdrill, last: int) -> BackdrillKey | None:
    start, cut = one.start, one.must_cut
    if start is not None and cut is None and one.must_not_cut is not None:
        cut = one.must_not_cut + (1 if start else -1)
    if start is None or cut is None:
        return None
    return (cut, start) if cut == last and start != 0 else (start, cut)


def _backdrill(
    side: BoardSide,
    key: BackdrillKey | None,
    wanted: Counter[float],
    sent: list[SentBackdrill],
    *,
    where: str,
    file_format: FabFormat,
) -> Iterator[ReleaseFinding]:
    what = f"backdrill from {side.name(key[0])} through {side.name(key[1])}" if key else "backdrill without layers"
    count = sum(one.count for one in sent)
    if count != wanted.total():
        stub = "stubs remain: the links lose eye opening" if count < wanted.total() else "connected layers are cut"
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="backdrill",
            what=what,
            place=sent[0].place if sent else where,
            board=f"{wanted.total()} holes",
            sent=f"{count} holes",
            consequence=stub,
            fix=f"export all backdrill files again: {_EXPORT}"
            if file_format is FabFormat.EXCELLON
            else f"export it again with KiCad 10{', or `release --fix`' if side.can_be_written else ''}",
        )
    for one in sent if wanted else []:
        size = one.diameter_mm
        if size and not any(abs(size.value - d) <= 0.6 * max(size.step, STEP_MM) for d in wanted):
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="backdrill size",
                what=what,
                place=size.place,
                board=_counts(wanted),
                sent=number_words(size.value, " mm"),
                consequence="the drill leaves copper of the barrel, or cuts traces and planes next to it",
                fix="export it again from the board that was checked",
            )
        if key and one.depth_mm and (depths := side.depth_mm(key)):
            low, high = depths
            if not low <= one.depth_mm.value + 0.5 * one.depth_mm.step < high:
                yield ReleaseFinding(
                    outcome=DIFFERS,
                    topic="backdrill depth",
                    what=what,
                    place=one.depth_mm.place,
                    board=f"{low:.3f} to {high:.3f} mm from {side.name(key[0])}",
                    sent=f"{number_words(one.depth_mm.value)} mm",
                    consequence="a drill to this depth does not cut its last layer through"
                    if one.depth_mm.value < low
                    else "a drill to this depth reaches the layer that must stay connected",
                    fix="KiCad counts to the middle of the layer; send the depth table of `stackwright fab-pack`",
                )


def protection_findings(side: BoardSide, files: Sequence[SentFile]) -> Iterator[ReleaseFinding]:
    """Return how filled and capped vias of files that belong together differ from the board's."""
    sent = [one for file in files for one in file.protections]
    for kind, wanted in (("filled", side.filled), ("capped", side.capped)):
        count = sum(one.count for one in sent if one.kind == kind)
        if count != wanted:
            places = [one.place for one in sent if one.kind == kind]
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="via protection",
                what=f"{kind} vias (IPC-4761)",
                place=places[0] if places else files[0].path,
                board=str(wanted),
                sent=str(count),
                consequence="open vias in pads draw solder away"
                if count < wanted
                else "the fab fills or caps vias that are not meant to be",
                fix="export it again with KiCad 10",
            )
