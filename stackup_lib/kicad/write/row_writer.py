"""One row of a stackup: the changes that make it what is planned, or its text where it is new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stackup_lib.board.board import LayerKind, Ply, StackupLayer
from stackup_lib.board.planned import PlannedRow
from stackup_lib.core.record import record
from stackup_lib.kicad.write.spans import Edit, EditSpan, Part, Word, length_text, number_text, quoted

_FIELDS = ("color", "thickness", "material", "epsilon_r", "loss_tangent")
"""In the order in which KiCad writes them."""
_UNSET = {"epsilon_r": "1", "loss_tangent": "0"}
"""KiCad's own text for "not entered". Left out, KiCad 10 makes them FR4's 4.5 and 0.02, and 3.3 for a mask."""


@record
class Style:
    """How the lists of a stackup are laid out.

    Attributes:
        between: the blanks in front of a row.
        unit: one step of indentation.
        expanded: one list a line, as KiCad writes since version 8; else one row a line.
    """

    between: str
    unit: str
    expanded: bool

    @property
    def inside(self) -> str:
        """The blanks in front of a list inside a row."""
        return self.between + self.unit if self.expanded else " "

    @property
    def before_ply(self) -> str:
        """The blanks in front of `addsublayer`, which KiCad 6 and 7 put on a line of its own."""
        return " " if self.expanded or "\n" not in self.between else self.between + self.unit

    def row(self, parts: Sequence[str]) -> str:
        """Return a list of the given words and lists."""
        text = "(" + parts[0] + "".join((" " if p == "addsublayer" else self.inside) + p for p in parts[1:])
        if not self.expanded:
            text = text.replace(" addsublayer", self.before_ply + "addsublayer")
        return text + (self.between if self.expanded else "") + ")"

    def outdented(self) -> Style:
        """Return the style one level further out."""
        return replace(self, between=self.between.removesuffix(self.unit) if "\n" in self.between else self.between)

    def closing(self, outer: Style) -> str:
        """Return the blanks in front of the parenthesis that closes a list of rows."""
        return outer.between if "\n" in self.between else ""


@record
class _Part:
    """The words of one ply inside a row: from `start`, up to `end`; `cut` is where its `addsublayer` can be cut off."""

    lists: tuple[EditSpan, ...]
    start: int
    end: int
    cut: int


def new_row(row: PlannedRow, style: Style) -> str:
    """Return the text of a row that the file does not have yet."""
    parts = [f"layer {quoted(row.name)}", f"(type {quoted(_type_text(row))})"]
    for i, ply in enumerate(row.plies):
        parts += (["addsublayer"] if i else []) + _ply_lists(ply)
    return style.row(parts)


def _ply_lists(ply: Ply) -> list[str]:
    texts = _texts(ply)
    if ply.material:
        texts |= {name: text for name, text in _UNSET.items() if texts[name] is None}
    return [f"({name} {texts[name]})" for name in _FIELDS if texts[name] is not None]


def _type_text(row: PlannedRow) -> str:
    if row.kind is LayerKind.MASK:
        return ("Bottom" if row.name.startswith("B") else "Top") + " Solder Mask"
    return row.kind.value


def _texts(ply: Ply) -> dict[str, str | None]:
    """What stands behind each word of a ply; None where it is not stated."""
    lock = " locked" if ply.thickness_locked else ""
    return {
        "color": quoted(ply.color) if ply.color else None,
        "thickness": None if ply.thickness_mm is None else length_text(ply.thickness_mm) + lock,
        "material": quoted(ply.material) if ply.material else None,
        "epsilon_r": None if ply.dk is None else number_text(ply.dk),
        "loss_tangent": None if ply.df is None else number_text(ply.df),
    }


def row_edits(span: EditSpan, row: StackupLayer, planned: PlannedRow, style: Style) -> Iterator[Edit]:
    """Yield the changes that make a row of the file what is planned; none where it says so already."""
    if row.kind is not planned.kind:
        yield from field_edits(span, {"type": quoted(_type_text(planned))}, ("type",), span.parts[1].end, style.inside)
    parts = _plies(span)
    for part, old, new in zip(parts, row.plies, planned.plies, strict=False):
        wanted = _difference(old, new)
        inside = EditSpan(part.lists, part.start, part.end)
        if wanted and new.material:
            open_ones = [n for n in _UNSET if wanted.get(n, "") is None or (n not in wanted and inside.find(n) is None)]
            wanted |= {name: _UNSET[name] for name in open_ones}
        yield from field_edits(inside, wanted, _FIELDS, part.start, style.inside)
    if len(parts) > len(planned.plies):
        yield Edit(parts[len(planned.plies)].cut, parts[-1].end, "")
    for ply in planned.plies[len(parts) :]:
        lists = "".join(style.inside + text for text in _ply_lists(ply))
        yield Edit(parts[-1].end, parts[-1].end, f"{style.before_ply}addsublayer{lists}")


def _difference(old: Ply, new: Ply) -> dict[str, str | None]:
    """The words of a ply that change, at the precision of the file."""
    kept = {key: getattr(old, key) for key in ("thickness_locked", "color") if getattr(new, key) is None}
    before, after = _texts(old), _texts(new.model_copy(update=kept))
    return {name: after[name] for name in _FIELDS if before[name] != after[name]}


def _plies(row: EditSpan) -> list[_Part]:
    """The plies of a row: `addsublayer` is a bare word between them, or the head of a list around the next one."""
    found: list[_Part] = []
    lists: list[EditSpan] = []
    kind = row.find("type")
    start = row.parts[1].end if kind is None else kind.end
    cut = end = start
    for part in row.parts[2:]:
        if isinstance(part, Word) and part.text == "addsublayer":
            found.append(_Part(tuple(lists), start, end, cut))
            lists, start, cut, end = [], part.end, end, part.end
        elif isinstance(part, EditSpan) and part.head == "addsublayer":
            found.append(_Part(tuple(lists), start, end, cut))
            lists, start, cut, end = list(part.lists()), part.parts[0].end, end, part.end
        else:
            end = part.end
            if isinstance(part, EditSpan):
                lists.append(part)
    return [*found, _Part(tuple(lists), start, end, cut)]


def field_edits(
    holder: EditSpan, wanted: Mapping[str, str | None], order: Sequence[str], start: int, inside: str
) -> Iterator[Edit]:
    """Yield the changes that make the lists `(name text)` of a holder say what is wanted; None takes one away.

    Args:
        holder: the list, or the part of a list, in which they stand.
        wanted: the texts to write, by name; other names stay.
        order: the order in which KiCad writes them.
        start: where the first may stand.
        inside: the blanks in front of a new one.
    """
    at = start
    for name in order:
        found = holder.find(name)
        text = wanted.get(name)
        if found is None:
            if text is not None:
                yield Edit(at, at, f"{inside}({name} {text})")
            continue
        at = max(at, found.end)
        if name in wanted and text is None:
            yield Edit(holder.end_before(found) if holder.parts[0] is not found else start, found.end, "")
        elif text is not None:
            yield Edit(*_content(found.parts), text if len(found.parts) > 1 else f" {text}")


def _content(parts: tuple[Part, ...]) -> tuple[int, int]:
    """From the first to the last word behind a list's head; lists behind them stay."""
    words = [part for part in parts[1:] if isinstance(part, Word)]
    return (words[0].start, words[-1].end) if words else (parts[0].end, parts[0].end)
