"""The loss table of a report as text, for the terminal and the page alike: by interface and by link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.report.link_rows import Decibels, LinkLossRow
from stackup_lib.core.record import record
from stackwright.text.words import count, some

HEAD = ("Interface", "GHz", "Links", "Loss, dB", "Diel.", "Copper", "Rough", "Vias", "Budget", "Margin")
NEEDS_HEAD = ("Worst link", "Routed, mm", "Max length, mm", "Meets budget with")
LINK_HEAD = (
    "Link",
    "Interface",
    "Loss, dB",
    "Diel.",
    "Copper",
    "Rough",
    "Vias",
    "Margin, dB",
    "Routed, mm",
    "Meets budget with",
)
MAIN = 0.1
"""Layers with a smaller share of a link than this are breakouts: a terminal does not tell how long those might be."""

HOLE_REMEDIES = {
    "stubs": "stubs drilled or deleted",
    "pins": "surface-mount parts for pins",
}
"""What closes a link by its holes, by `LinkLossRow.hole_remedy`, and can be done whole."""

ASSUMED = "* with what is assumed for the package or a connector already taken off"
NO_SHARE = "none"


@record
class LossGroup:
    """Links of one interface and one share.

    Attributes:
        rows: the worst first, unknown ones last.
    """

    rows: tuple[LinkLossRow, ...]

    @property
    def worst(self) -> LinkLossRow | None:
        """The link that loses most; None where no loss is known."""
        return next((row for row in self.rows if row.total_db is not None), None)

    @property
    def is_starred(self) -> bool:
        """True where the share of its worst link holds something assumed."""
        return self.worst is not None and any(part.is_assumed for part in self.worst.allowances)

    @property
    def unknown(self) -> tuple[LinkLossRow, ...]:
        """Links whose loss is not known."""
        return tuple(row for row in self.rows if row.total_db is None)


def by_interface(rows: Sequence[LinkLossRow]) -> tuple[LossGroup, ...]:
    """Put links of one interface together, but for those of another share or only inferred ones."""
    groups: dict[tuple[str, bool], list[LinkLossRow]] = {}
    for row in rows:
        groups.setdefault((row.interface, row.inferred), []).append(row)
    return tuple(LossGroup(tuple(part)) for found in groups.values() for part in _by_share(found))


def _by_share(rows: Sequence[LinkLossRow]) -> Iterator[list[LinkLossRow]]:
    """Yield rows by role and share; what is not known goes with the first."""
    parts: dict[tuple[str, float | None], list[LinkLossRow]] = {}
    for row in rows:
        if row.total_db is not None:
            parts.setdefault((row.role, row.share_db), []).append(row)
    unknown = [row for row in rows if row.total_db is None]
    first, *others = parts.values() if parts else [[]]
    yield [*first, *unknown]
    yield from others


def interface_cells(group: LossGroup) -> tuple[str, ...]:
    """Return the cells of `HEAD`: the worst link of an interface, where its decibels go, and what is left.

    Empty where no loss is known.
    """
    worst = group.worst
    if worst is None:
        return ()
    parts = (worst.dielectric_db, worst.copper_db, worst.roughness_db, worst.holes_db)
    return (
        worst.interface,
        f"{worst.nyquist_ghz:g}",
        str(len(group.rows)),
        decibels(worst.total_db),
        *(number(part) for part in parts),
        share(worst),
        margin(worst),
    )


def needs_cells(group: LossGroup) -> tuple[str, ...]:
    """Return the cells of `NEEDS_HEAD`; empty where no loss is known."""
    worst = group.worst
    if worst is None:
        return ()
    return worst.name, runs(worst), might_run(worst, least_share=MAIN), closes_with(worst)


def link_cells(row: LinkLossRow) -> tuple[str, ...]:
    """Return the cells of `LINK_HEAD`; why there is no loss where there is none."""
    title = row.interface + (", inferred" if row.inferred else "")
    if row.total_db is None:
        return row.name, title, f"? {row.problem}", "", "", "", "", "", "", ""
    parts = (row.dielectric_db, row.copper_db, row.roughness_db, row.holes_db)
    lengths = "; ".join(part for part in (runs(row), might_run(row)) if part)
    return row.name, title, decibels(row.total_db), *map(number, parts), margin(row), lengths, closes_with(row)


def decibels(found: Decibels | None) -> str:
    """Return `7.1 (6.0 to 9.2)`."""
    if found is None:
        return ""
    return f"{number(found.nominal)} ({number(found.low)} to {number(found.high)})"


def number(db: float | None) -> str:
    """Return `7.1`; `all` where a stub near its resonance may take everything."""
    return "all" if db is None else f"{db:.1f}"


def share(row: LinkLossRow) -> str:
    """Return what the board may lose, without package and connector: `6.5*`, starred where that is assumed."""
    if row.share_db is None:
        return NO_SHARE
    rest = row.share_db - sum(part.db.nominal for part in row.allowances)
    return f"{rest:.4g}{'*' if any(part.is_assumed for part in row.allowances) else ''}"


def share_in_words(row: LinkLossRow) -> str:
    """Return `9.5 dB for role add_in_card, 3 dB of it assumed for the package (NVIDIA: ...)`."""
    if row.share_db is None:
        return row.problem
    whose = "" if row.role == "declared" else f" for role {row.role}"
    parts = "".join(
        f", {part.db.nominal:g} dB of it {'assumed ' if part.is_assumed else ''}for the {part.part}"
        for part in row.allowances
    )
    return f"{row.share_db:g} dB{whose}{parts} ({row.share_source})"


def margin(row: LinkLossRow) -> str:
    """Return `+3.5`, with the least where that is below nothing: `+0.4 (-1.2)`."""
    found = row.margin_db
    if found is None:
        return ""
    if found.nominal is None:
        return "none"
    least = f" ({found.low:+.1f})" if found.low is not None and found.low < 0 <= found.nominal else ""
    return f"{found.nominal:+.1f}{' (none)' if found.low is None else least}"


def runs(row: LinkLossRow) -> str:
    """Return the length on each layer: `54.2 on In2.Cu, 4.0 on F.Cu`."""
    return ", ".join(f"{part.length_mm:.1f} on {part.layer}" for part in row.layers)


def might_run(row: LinkLossRow, *, least_share: float = 0.0) -> str:
    """Return the longest legal length on each layer: `up to 128 on In2.Cu or 149 on F.Cu`."""
    known = [
        (part.longest_mm, part.layer)
        for part in row.layers
        if part.longest_mm is not None and part.length_mm >= least_share * (row.length_mm or 0.0)
    ]
    if not known:
        return ""
    if all(length == 0 for length, _ in known):
        return "not at all"
    return "up to " + " or ".join(f"{length:.0f} on {layer}" for length, layer in known)


def closes_with(row: LinkLossRow) -> str:
    """Return the Df, the foil and the change of holes, each alone, with which the link closes.

    Such as `Df to 0.0259 at 16 GHz (0.0040 now)`: the Df is next to the present and the required one.
    """
    need, said = row.df, []
    if row.margin_db is None:
        return ""
    holes = HOLE_REMEDIES.get(row.hole_remedy, "")
    if all(part.longest_mm == 0 for part in row.layers):
        if row.hole_remedy == "none":
            return "no single change: lines and holes each use the share up"
        return f"{holes or 'fewer or shorter holes'} alone: the holes use the share up"
    if need is not None:
        asked = f", {need.asked:g} asked" if need.asked is not None else ""
        most = f"Df to {need.needed:.4f}" if need.needed is not None else "no Df"
        said.append(f"{most} at {need.at_ghz:g} GHz ({need.now:.4f} now{asked})")
    if row.foil_needed is not None:
        foil = {"": "no grade of foil alone", "STD": "any foil"}.get(
            row.foil_needed, f"{row.foil_needed} foil or smoother"
        )
        said.append(foil)
    if holes:
        said.append(holes)
    return ", ".join(said)


def missing(group: LossGroup) -> Iterator[str]:
    """Yield why loss or share of an interface's links are not known."""
    worst, unknown = group.worst, group.unknown
    if unknown:
        yield f"loss of {count(len(unknown), 'link')} of {unknown[0].interface}: {_why(group)}"
    if worst is not None and worst.problem:
        yield worst.problem


def _why(group: LossGroup) -> str:
    return some(dict.fromkeys(row.problem.removesuffix(" is not known") for row in group.unknown), 2)
