"""What `stackwright touchstone --eye` says: the eye that each link leaves, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from drc_rules.analysis.channels.link_com import LinkMargin, link_margin, reference_channel
from drc_rules.analysis.loss.link_loss import LinkLoss
from drc_rules.analysis.loss.sparameters.link_eye import LinkEye, link_eye
from drc_rules.facts.context import Context
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import clean, count, some

ASSUMED = (
    "height: of the distance between two levels sent, for the worst pattern; both ends matched;",
    "no package, crosstalk, noise or jitter; edges of {edges} UI (10 to 90 %)",
)

OF_A_CHANNEL = (
    "between its reference packages, with its best equaliser; no crosstalk, which would lower it.",
    "COM: signal over interference and noise (IEEE 802.3, Annex 93A); of a whole channel with its",
    "crosstalk {least:g} dB are asked. Eye: worst pattern, without noise and jitter",
)
LEAST_TAKEN_DB = 0.01
"""A neighbour that takes less is counted, and not named."""

OF_A_CROWD = (
    "with the crosstalk of pairs of the same interface on the same layer, as near as drawn;",
    "near, far: at which end a neighbour sends; * names do not tell, the worse one counts;",
    "takes: what COM would gain without it. Not in it: crosstalk in connectors, packages and",
    "vias, from other layers, other nets and other boards",
)
OF_A_PART = "to a connector: figures of this board's part of the channel only"


@dataclass
class Eyes:
    """The eyes of the links of a board, file by file; `max_ghz` is the last frequency, None for what an eye needs."""

    ctx: Context
    max_ghz: float | None
    _found: list[tuple[str, LinkEye]] = field(default_factory=list)
    _margins: list[tuple[str, LinkMargin]] = field(default_factory=list)
    _missing: dict[str, list[str]] = field(default_factory=dict)

    def add(self, link: LinkLoss, name: str) -> None:
        """Work out the eye of a link, whose file has that name."""
        try:
            self._found.append((name, link_eye(self.ctx, link, self.max_ghz)))
            reference = reference_channel(self.ctx, link)
            margin = link_margin(self.ctx, link, reference, self.max_ghz) if reference else None
            if margin:
                self._margins.append((name, margin))
        except (MissingFact, StackwrightError) as error:
            why = error.what if isinstance(error, StackwrightError) else reason(error)
            self._missing.setdefault(why, []).append(name)

    def tell(self, page: Page) -> None:
        """Add the table and what it assumes."""
        if self._found:
            page.heading("eye, before any equaliser")
            head = ("file", "GBd", "levels", "height %", "width UI")
            columns = [Column(wraps=True), *(Column(right=True) for _ in head[1:])]
            page.rows(columns, [_row(name, one) for name, one in self._found], head=head)
            edges = " or ".join(sorted({f"{one.edge_ui:.2f}" for _, one in self._found}))
            for line in ASSUMED:
                page.line(line.format(edges=edges), indent=2)
        self._tell_margins(page)
        for why, names in self._missing.items():
            page.line(styled("no eye", "yellow"), f"  {some(names)}: {why}", indent=2)

    def _tell_margins(self, page: Page) -> None:
        for title in dict.fromkeys(one.reference.title for _, one in self._margins):
            found = [(name, one) for name, one in self._margins if one.reference.title == title]
            page.heading(f"as a channel of {title}")
            head = ("file", "COM dB", "eye mV", "width UI", "CTLE dB", "c(-1)", "c(1)", "package mm", "link")
            columns = [Column(wraps=True), *(Column(right=True) for _ in head[2:]), Column()]
            page.rows(columns, [_margin_row(name, one) for name, one in found], head=head)
            for line in OF_A_CHANNEL:
                page.line(line.format(least=found[0][1].reference.least_com_db), indent=2)
            if any(one.is_part for _, one in found):
                page.line(OF_A_PART, indent=2)
            self._tell_crowds(page, [(name, one) for name, one in found if one.crowded])

    @staticmethod
    def _tell_crowds(page: Page, found: list[tuple[str, LinkMargin]]) -> None:
        if not found:
            return
        page.heading(f"as a channel of {found[0][1].reference.title}, with the pairs next to it")
        head = ("file", "COM dB", "neighbour", "end", "mm", "gap mm", "takes dB")
        right = Column(right=True)
        columns = [Column(wraps=True), right, Column(wraps=True), Column(), right, right, right]
        page.rows(columns, [row for name, one in found for row in _crowd_rows(name, one)], head=head)
        for line in OF_A_CROWD:
            page.line(line, indent=2)


def _row(name: str, one: LinkEye) -> tuple[str, ...]:
    eye = one.eye
    size = (f"{100 * eye.height:.0f}", f"{eye.width_ui:.2f}") if eye.height > 0 else ("closed", "-")
    return (name, f"{one.symbol_gbd:.2f}", str(one.levels), *size)


def _margin_row(name: str, one: LinkMargin) -> tuple[str, ...]:
    margin, reference = one.margin, one.reference
    between_mv = 2000 * reference.amplitude_v / (reference.levels - 1)
    is_open = margin.eye.height > 0
    return (
        name,
        f"{margin.com_db:.1f}",
        f"{between_mv * margin.eye.height:.0f}" if is_open else "closed",
        f"{margin.eye.width_ui:.2f}" if is_open else "-",
        f"{margin.gain_db:.0f}",
        f"{margin.pre:.2f}",
        f"{margin.post:.2f}",
        f"{margin.package_mm:g}",
        "to a connector" if one.is_part else "chip to chip",
    )


def _crowd_rows(name: str, one: LinkMargin) -> Iterator[tuple[str, ...]]:
    """Yield a row for each neighbour, the one that takes most first; those that take next to nothing share one."""
    if one.crowded is None:
        return
    taken = sorted(zip(one.crowded.taken_db, one.neighbours, strict=True), key=lambda row: -row[0])
    shown = [row for row in taken if row[0] >= LEAST_TAKEN_DB]
    for k, (db, neighbour) in enumerate(shown):
        incoming = neighbour.crosstalk
        yield (
            "" if k else name,
            "" if k else f"{one.crowded.com_db:.1f}",
            clean(incoming.link.name),
            ("near" if neighbour.aggressor.is_near else "far") + ("" if neighbour.is_known else " *"),
            f"{incoming.mm:.1f}",
            f"{incoming.gap_mm:.2f}",
            f"{db:.2f}",
        )
    if rest := len(taken) - len(shown):
        start = ("", "") if shown else (name, f"{one.crowded.com_db:.1f}")
        yield (*start, f"{rest} more" if shown else count(rest, "neighbour"), "", "", "", f"< {LEAST_TAKEN_DB:.2f}")


def reason(error: Exception) -> str:
    """Return why a link has no file or no eye."""
    if isinstance(error, MissingFact):
        return f"{error.name} is not known"
    return f"{error.where}: {error.what}" if isinstance(error, StackwrightError) else str(error)
