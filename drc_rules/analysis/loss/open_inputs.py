"""What is not declared of a link's loss, how much it may add, and the lines that settle it. Losses in dB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.loss.link_loss import LinkLoss, LossSection
from drc_rules.analysis.loss.loss_shares import DECLARED_PARTS, MARGIN, Share, declaration_lines
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.settings.config import InterfaceDeclaration
from stackup_lib.core.record import record
from stackup_lib.materials import find_foil


@record
class OpenInput:
    """An input that is not declared, or by a grade only.

    Attributes:
        rise_db: what its worst value adds to the nominal loss.
        lines: how to give it.
    """

    rise_db: float
    lines: tuple[str, ...]


def open_inputs(
    ctx: Context, link: LinkLoss, share: Share, row: InterfaceDeclaration | None = None
) -> tuple[OpenInput, ...]:
    """Return foil, Df and allowances as far as they are open, that which may add most first.

    Args:
        ctx: the board and its facts.
        link: its loss.
        share: with its allowances.
        row: how the link's nets are declared, None where they were only inferred.
    """
    found = [_foil(ctx, link), _df(ctx, link), _allowances(ctx, link, share, row)]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: -one.rise_db))


def rise_db(inputs: Iterable[OpenInput]) -> float:
    """Return what the worst values of some inputs add together."""
    return sum(one.rise_db for one in inputs)


def that_settle(inputs: Sequence[OpenInput], room_db: float) -> tuple[OpenInput, ...]:
    """Return the first of the inputs, as many as it takes until the worst of the others fits into a margin."""
    return tuple(one for k, one in enumerate(inputs) if rise_db(inputs[k:]) > room_db)


def df_is_open(ctx: Context, link: LinkLoss) -> bool:
    """Tell whether a Df next to a link is not declared for its Nyquist frequency."""
    return any(any(_open_plies(ctx, link, s)) for s in link.sections)


def df_lines(ctx: Context, link: LinkLoss) -> tuple[str, ...]:
    """Return the lines that declare each Df next to a link that is not declared for its Nyquist frequency."""
    ghz = link.interface.nyquist_ghz or 0.0
    plies = (ply for s in link.sections for ply in _open_plies(ctx, link, s))
    return tuple(dict.fromkeys(ply.df.how_to_declare(ghz) for ply in plies))


def _df(ctx: Context, link: LinkLoss) -> OpenInput | None:
    sections = [s for s in link.sections if any(_open_plies(ctx, link, s))]
    return OpenInput(_sum(sections, foil=False), df_lines(ctx, link)) if sections else None


def _open_plies(ctx: Context, link: LinkLoss, section: LossSection) -> Iterator[DielectricPly]:
    ghz = link.interface.nyquist_ghz or 0.0
    for ply in Lines(ctx).site(section.key.layer, section.key.references).plies:
        if not ply.df.is_declared_at(ghz):
            yield ply


def _foil(ctx: Context, link: LinkLoss) -> OpenInput | None:
    """Return what foils without a stated roughness may add; of planes only where the trace's own is stated."""
    sections: list[LossSection] = []
    lines: dict[str, None] = {}
    for section in link.sections:
        layer = section.key.layer
        site = Lines(ctx).site(layer, section.key.references)
        planes = [one for k in (site.above, site.below) if k is not None and (one := _foil_line(ctx, k))]
        own = _foil_line(ctx, layer)
        if own or planes:
            sections.append(section)
            lines.update(dict.fromkeys([own] if own else planes))
    return OpenInput(_sum(sections, foil=True), tuple(lines)) if sections else None


def _foil_line(ctx: Context, layer: int) -> str:
    """Return how to give the foil of a layer; empty where its roughness is stated. A grade leaves a factor of two."""
    stated = ctx.foil_name(layer)
    if not stated.known or stated.value is None:
        return stated.how_to_give
    match = find_foil(stated.value)
    if match.states_roughness:
        return ""
    from stackup_lib.transmission_lines.materials.foil_roughness import FoilFace, face_roughness  # noqa: PLC0415

    rz = face_roughness(match, FoilFace.BONDED, "").value
    span = f"the grade may have {rz.low_um:g} to {rz.high_um:g} um" if rz else "the grade has no known Rz"
    return f'in stackwright.toml, replace foil "{stated.value}" by its product or Rz, such as "Rz 1 um": {span}'


def _allowances(ctx: Context, link: LinkLoss, share: Share, row: InterfaceDeclaration | None) -> OpenInput | None:
    if not share.assumed:
        return None
    parts = {part: share.allowances_db[part] for part in share.assumed}
    keys = [
        f'{part}_loss_db = "?"  # {db.nominal:g} dB assumed' for part, db in parts.items() if part in DECLARED_PARTS
    ]
    if MARGIN in parts:
        keys.append(f'board_loss_db = "?"  # {share.db:g} dB less your margin; {parts[MARGIN].nominal:g} dB assumed')
    lines = (declaration_lines(ctx, link.interface, row, "\n".join(keys)),) if keys else ()
    return OpenInput(sum(db.high - db.nominal for db in parts.values()), lines)


def _sum(sections: Iterable[LossSection], *, foil: bool) -> float:
    return sum(s.length_mm * (s.loss.foil_rise_db_per_mm if foil else s.loss.df_rise_db_per_mm) for s in sections)
