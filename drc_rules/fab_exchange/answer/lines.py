"""Lines of a fab's impedance table: layer, width and gap as drawn and as adjusted, target and computed impedance."""

import re
from collections.abc import Mapping

from drc_rules.fab_exchange.answer.cells import figure, is_stated, length, length_in
from drc_rules.fab_exchange.answer.headers import Head
from stackup_lib.core.frozen import Frozen

_ROLES = ("processed ", "", "base ")


class FabWidth(Frozen):
    """A line that the fab proposes on a layer, and the impedance that it states.

    Attributes:
        width_mm, gap_mm: as the fab adjusted them, else as drawn.
        drawn_width_mm, drawn_gap_mm: as drawn, where the table has both.
        stated_ohm: what the fab computed, else the target.
        target_ohm: what is wanted, where the table says so.
    """

    line: int
    layer: str
    width_mm: float
    gap_mm: float | None = None
    stated_ohm: float | None = None
    drawn_width_mm: float | None = None
    drawn_gap_mm: float | None = None
    target_ohm: float | None = None


def lines_in(cell: Mapping[str, str], head: Head, where: str, line: int, unit: str | None) -> list[FabWidth]:
    """Return the lines of a table's row: none without a width, one for each layer that it names.

    Raises:
        ConfigError: a cell is no length or no number.
    """
    pairs = [_width_and_gap(cell, head, where, unit, role) for role in _ROLES]
    stated = [pair for pair in pairs if pair is not None]
    if not stated:
        return []
    (width, gap), drawn = stated[0], stated[-1] if len(stated) > 1 else (None, None)
    target = figure(cell, "target ohm", where) or figure(cell, "base ohm", where)
    computed = [figure(cell, key, where) for key in ("computed ohm", "processed ohm", "ohm")]
    ohm = next((value for value in computed if value is not None), target)
    name = cell.get("layer", "") or cell.get("number", "")
    return [
        FabWidth(
            line=line,
            layer=layer,
            width_mm=width,
            gap_mm=gap if gap is not None else drawn[1],
            stated_ohm=ohm,
            drawn_width_mm=drawn[0],
            drawn_gap_mm=drawn[1],
            target_ohm=target,
        )
        for layer in (part.strip() for part in re.split(r"[,;&+]| and ", name))
        if layer
    ]


def _width_and_gap(
    cell: Mapping[str, str], head: Head, where: str, unit: str | None, role: str
) -> tuple[float, float | None] | None:
    both, key = cell.get(f"{role}w/s", ""), f"{role}w/s"
    if is_stated(both):
        unit = head.units.get(key) or unit
        parts = [part for part in re.split(r"[/:|;]", both) if is_stated(part)]
        what = f'column "{head.names[key]}": "{both}"'
        tail = re.search(r"(mm|um|µm|μm|mils?|inch)\s*$", both, re.IGNORECASE)
        named = [part if not tail or tail[0] in part else part + tail[0] for part in parts]
        sizes = [length_in(part, what, where, unit)[0] for part in named[:2]]
        return (sizes[0], sizes[1] if len(sizes) > 1 else None) if sizes else None
    text = cell.get(f"{role}width", "")
    if is_stated(text) and "/" in text:  # a column Width that holds width and gap
        merged = {f"{role}w/s": text}
        moved = head.model_copy(update={"names": {**head.names, key: head.names[f"{role}width"]}})
        if not is_stated(cell.get(f"{role}gap", "")):
            units = {**head.units, **({key: head.units[f"{role}width"]} if f"{role}width" in head.units else {})}
            return _width_and_gap(merged, moved.model_copy(update={"units": units}), where, unit, role)
    width, _ = length(cell, f"{role}width", head, where, unit)
    gap, _ = length(cell, f"{role}gap", head, where, unit)
    return None if width is None else (width, gap)
