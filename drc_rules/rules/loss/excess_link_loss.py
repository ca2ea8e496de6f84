"""A link's insertion loss at Nyquist exceeds the board's share of the loss budget.

What it checks
--------------
Every link of an interface whose generation is known, from end to end through its coupling capacitors and common-mode
chokes: length by layer, width, gap and the planes above and below, times the solved loss of that line, plus the stub
and barrel of every plated hole on the path. A choke counts with the S4P file that `[[part_model]]` declares; without
one, a link passes only with 3 dB to spare for each choke, what one loses at the cut-off of its data sheet, and is else
not verifiable; so is one that ends at a filter whose pins are not known, or in front of a part that is not fitted or
states no value, one with a two-pad part in series that is neither capacitor nor resistor, and one of which more than a
tenth has no reference plane, or a hatched one. It is the mean of a pair's traces, as an interval. The budget share is
that of the board's role in the channel: declared in `[[interface]]` (`role`, or `board_loss_db` for a share of your
own), or that of an add-in card where the form factor is one. The allowance that a share includes for the package, a
connector or margin is subtracted and printed; declare `package_loss_db`, `connector_loss_db`, or a share of your own,
where you know them. Where no text states what it holds for a package, `package_loss_db` is required.

A guide to boards for one module (NVIDIA's for Jetson Orin NX, OCP's for OAM) states limits of such boards only. Its
shares can make an error with `form = "jetson-orin-nx-carrier"` or `"oam"`; on any other board they are at most a
warning, and only where you declare their role.

Some interfaces have no published share (NVLink, UALink, system boards of PCIe Gen6, DisplayPort off such carriers):
physics gives the loss, and only you can state the board's share. Where their nets are declared, or the workload brings
the interface, and Nyquist is 10 GHz or more or other boards of it have a share, the clause of undocumented shares is
not verifiable until `board_loss_db` is given. That clause is a warning: an undocumented number never makes a board
unfit. Parallel memories and slower links without any published share are exempt.

A declaration that matches no net, as one with a typing error, leaves the clause not verifiable; so does one of a family
without its generation, and a share above the loss that a document gives the whole channel.

The report's loss table gives the same for links that pass: loss by cause, margin, maximum length on each layer,
required Df, and the roughest foil that meets the budget.

Why it matters
--------------
A link whose loss exceeds its share works only as long as the other boards of the channel stay below theirs.

How to fix
----------
Shorten the link, use a layer or width with less loss, a laminate of lower Df or smoother foil. The finding names the
maximum routed length per layer and the Df at which the worst link meets its budget. It names a backdrill where vias or
pressed-in pins on the link have stubs and it meets the budget without them; surface-mount parts where pins make the
difference; else it says that vias and pins have to become fewer or shorter, or that no change of them alone is enough.

What it cannot see
------------------
Loss of a matched line at one frequency, 20 degrees C, data-sheet Df; 85 degrees C adds about 12 % copper loss. Ripple,
crosstalk, mode conversion, skew, equalisers, capacitors, pads, bends, launches and fills are excluded.

Sources
-------
Shares: each interface's own document, named in the finding. Loss: two-dimensional field solution with wideband Debye
dielectrics, surface impedance and roughness by foil grade (`stackwright validate`). Holes: barrel and stubs reflect
together, by the field that VIA002 takes, pins with a near or far return current; |S11| keeps within 0.13 of a 3-D
solver up to 20 GHz. Losses of several holes add up: their mean over frequency; the minimum has the reflections on each
trace cancel as far as they can.

Three outcomes: a link whose minimum loss, with no allowances, exceeds the share fails. One that nominally exceeds it
and may still meet it is not verifiable, and the report names what settles it: foil, allowances, Df at the frequency.
One that nominally meets it passes; but where an undeclared foil, Df or allowance decides whether its maximum does, it
is not verifiable either. A foil declared by its grade counts as undeclared: Rz of standard foil is 5 to 10 um. That is
stricter than for an impedance, because an undeclared foil alone may double the copper loss. It is an error only against
a documented share; where no document states one, against that of a slower link at the same Nyquist frequency.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.analysis.loss.choke_loss import CUT_OFF_DB
from drc_rules.analysis.loss.judged_links import (
    ASSUMED,
    SHARE,
    JudgedLinks,
    judged_links,
    open_links,
    share_missing,
)
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_needs import HoleRemedy, df_that_closes, hole_remedy, longest_by_layer
from drc_rules.analysis.loss.loss_shares import Share, share_of
from drc_rules.analysis.loss.open_inputs import OpenInput, df_lines, open_inputs, rise_db, that_settle
from drc_rules.analysis.targets.configured_geometries import leading_somewhere
from drc_rules.analysis.via.stub_removal import Removal
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.interval import Interval, Standing

MOST_DB = 999.0
"""From here on a stub resonates at the frequency, and all of the signal is lost."""

A_GOOD_PART = 0.25
"""Of what all open inputs may add: an input with as much is named together with the first."""

PLACES_SHOWN = 20
"""Places listed with one finding."""


def _judged(ctx: Context, clause: Clause) -> Iterator[JudgedLinks | MissingFact]:
    yield from (found for found, kind in judged_links(ctx) if kind == clause.kind and _has_links(ctx, found))
    yield from (lacks for lacks, kind in open_links(ctx) if kind == clause.kind)


def _has_links(ctx: Context, found: JudgedLinks) -> bool:
    """Tell whether any of the nets leads somewhere: of unused pins alone nothing is judged, hence nothing passes."""
    losses = LinkLosses(ctx).of(found.interface.id, declared=found.declared)
    asked = (*(link.nets for link in losses.known), *(nets for nets, _ in losses.missing))
    return any(found.nets.intersection(nets) for nets in asked)


FORMULA = """
A = A_d + A_c + A_r + A_v + A_x
A ≤ A_max
fails where A_low > A_max

A: loss of the worst link at Nyquist [dB]
A_d: in the dielectrics [dB]
A_c: in smooth copper [dB]
A_r: by its roughness [dB]
A_v: in vias and pins: stubs and barrels [dB]
A_x: allowances for package, connectors and margin that are charged to it, and chokes [dB]
A_max: the board's share of the loss budget [dB]
A_low: minimum over unknown inputs [dB]
L: length of the link [mm]
f_N: Nyquist frequency [GHz]
"""


@rule("LOS001", kinds=(SHARE, ASSUMED), over=_judged, formula=FORMULA, reads_fills=True, slow_objects=True)
def excess_link_loss(ctx: Context, _clause: Clause, found: JudgedLinks | MissingFact) -> Iterator[DraftFinding]:
    """Yield one finding per interface with links that surely exceed the share; an open one is no pass either."""
    if isinstance(found, MissingFact):
        raise found
    one = found.interface
    share = share_of(ctx, one, found.row)
    losses = LinkLosses(ctx).of(one.id, declared=found.declared)
    if not found.declared:
        rest_on_assignment(ctx, ctx.nets_of(one.id))
    links = [link for link in losses.known if found.nets.intersection(link.nets)]
    if share is None:
        raise share_missing(ctx, found, links[0] if links else None)
    ctx.rests_on(losses.confidence)
    of_df = max(losses.df_confidence, _despite_df(links, share), key=lambda c: c.rank)
    ctx.rests_on(of_df)
    over = [link for link in links if _stands(link, share) is Standing.BEYOND]
    if links:
        _show(ctx, found, share, max(over or links, key=lambda link: _charged(link, share).nominal))
    if over:
        yield _draft(ctx, found, share, over, len(links))
        return
    for nets, fact in losses.missing:
        if found.nets.intersection(nets):
            raise fact
    _need_links(ctx, found)
    doubtful = [link for link in links if _is_open(ctx, link, share)]
    if doubtful:
        raise _doubt(ctx, found, share, max(doubtful, key=lambda link: link.total_db.high))
    for link in links:
        for doubt in link.doubts:
            ctx.doubt(MissingFact(f"the loss of {link.name}, which is a guess: {doubt}", SIMULATE))
    if links and of_df is Confidence.LOW:
        worst = max(links, key=lambda link: _charged(link, share).high)
        if lines := df_lines(ctx, worst):
            name = f"the loss of {worst.name}, which is a guess: Df at {one.nyquist_ghz:g} GHz is not declared"
            ctx.doubt(MissingFact(name, "\n".join(lines)))


SIMULATE = "one way from end to end in KiCad (parts that are not fitted: DNP); else simulate this link"


def _stands(link: LinkLoss, share: Share) -> Standing:
    return _charged(link, share).against(maximum=share.db)


def _is_open(ctx: Context, link: LinkLoss, share: Share) -> bool:
    """Tell whether a link neither fits nor surely exceeds its share.

    One that nominally fits is open, too, where the worst of what is not declared exceeds the share, or makes the
    difference between a maximum that does and one that fits: foil spans a factor of two, and a grade of foil is no more
    than a range. A stub that may resonate at the frequency is no pass either.
    """
    charged = _charged(link, share)
    if _rests_on_chokes(link, share):
        return True
    if charged.nominal > share.db or charged.high <= share.db:
        return charged.nominal > share.db
    if charged.high >= MOST_DB:
        return True
    rise = rise_db(open_inputs(ctx, link, share))
    return charged.nominal + rise > share.db or charged.high - rise <= share.db


def _rests_on_chokes(link: LinkLoss, share: Share) -> bool:
    """Tell whether a link fits only if its chokes lose less than at their cut-off."""
    reserve = CUT_OFF_DB * len(link.chokes.unknown)
    nominal = _charged(link, share).nominal
    return nominal <= share.db < nominal + reserve


def _show(ctx: Context, found: JudgedLinks, share: Share, worst: LinkLoss) -> None:
    """Show where the decibels of the worst link go."""
    ctx.shows(
        f"{found.interface.title}, {worst.name}, budget {share.describe}",
        A=_charged(worst, share),
        A_d=worst.dielectric_db,
        A_c=worst.copper_db,
        A_r=worst.roughness_db,
        A_v=worst.holes_db,
        A_x=share.allowance_db.plus(worst.chokes.known_db),
        A_max=share.db,
        A_low=_charged(worst, share).low,
        L=worst.length_mm,
        f_N=found.interface.nyquist_ghz or 0.0,
    )


def _need_links(ctx: Context, found: JudgedLinks) -> None:
    """Raise `MissingFact` where a declared net leads somewhere and is yet in no link, because it passes for a rail."""
    in_links = LinkLosses(ctx).links.rows_of_net
    left = sorted(ctx.board.nets[net] for net in found.nets & leading_somewhere(ctx) if net not in in_links)
    if left and found.declared:
        how = "its name, fill or capacitors look like a supply: rename it, or declare the other nets alone"
        raise MissingFact(f"the link of {left[0]}", how)


def _charged(link: LinkLoss, share: Share) -> Interval:
    return link.total_db.plus(share.allowance_db)


def _despite_df(links: list[LinkLoss], share: Share) -> Confidence:
    """Return how sure it is, whatever is known of Df, that links fit: at least medium where twice the Df fits too."""
    fits = all(_charged(link, share).high + link.dielectric_db <= share.db for link in links)
    return Confidence.MEDIUM if fits else Confidence.LOW


def _draft(ctx: Context, found: JudgedLinks, share: Share, over: list[LinkLoss], count: int) -> DraftFinding:
    one, worst = found.interface, over[0]
    charged = _charged(worst, share)
    is_beyond = share.surely_db is not None and charged.low > max(share.db, share.surely_db)
    sure = is_beyond and not (share.from_form and not worst.on_socket)
    others = f" (and {len(over) - 1} more of {count} links)" if len(over) > 1 else ""
    board_db = share.board_db.nominal
    return DraftFinding(
        title=(
            f"insertion loss {_db(charged.nominal)} at {one.nyquist_ghz:g} GHz, budget {share.describe}: "
            f"{one.title}, {worst.name}, {worst.length_mm:.0f} mm{others}"
        ),
        why=". ".join((_parts(worst, share), _sources(share, charged), *_notes(worst))),
        fix=_fix(ctx, worst, board_db),
        ids=(one.id, "declared" if found.declared else "inferred", share.role),
        measured=Measured(value=round(min(charged.nominal, MOST_DB), 2), unit="dB"),
        limit_value=share.db,
        limit_unit=f"dB at {one.nyquist_ghz:g} GHz",
        places=tuple(_place(ctx, link) for link in over[:PLACES_SHOWN]),
        severity=Severity.ERROR if sure else Severity.WARNING,
        inferred=not found.declared,
    )


def _db(value: float) -> str:
    return f"{value:.1f} dB" if value < MOST_DB else "total (a stub resonates at or below it)"


def _parts(link: LinkLoss, share: Share) -> str:
    """Return where the decibels go: `dielectric 3.1, copper 2.4, roughness 0.9, vias 0.4, package 3 (assumed) dB`."""
    allowances = [
        f"{part} {db.nominal:g}{' (assumed)' if part in share.assumed else ''}"
        for part, db in share.allowances_db.items()
        if db.high
    ]
    named = {"dielectric": link.dielectric_db, "copper": link.copper_db, "roughness": link.roughness_db}
    holes = link.holes_db.nominal
    if link.chokes.known_db.high:
        named["chokes"] = link.chokes.known_db.nominal
    parts = [f"{name} {db:.1f}" for name, db in named.items()]
    parts.append(f"{link.hole_count:g} vias and pins {holes:.1f}" if holes < MOST_DB else "a stub near its resonance")
    return ", ".join([*parts, *allowances]) + " dB"


def _sources(share: Share, charged: Interval) -> str:
    document = share.document
    stated = "as declared" if document == "declared" else cite(Source(document=document)) if document else "no document"
    if document is not None and share.surely_db is None:
        stated += ", for boards of another form factor than this one is stated to have"
    if document is None and share.surely_db is not None:
        stated += f", but {share.surely_db:g} dB are documented for a slower link at the same frequency"
    most = f"{charged.high:.1f}" if charged.high < MOST_DB else "far more"
    return f"Range {charged.low:.1f} to {most} dB over unknown inputs. Source of the budget: {stated}"


def _notes(link: LinkLoss) -> tuple[str, ...]:
    return (f"Assumed: {'; '.join(link.notes)}",) if link.notes else ()


def _fix(ctx: Context, link: LinkLoss, board_db: float) -> str:
    """Return what makes a link meet its budget: shorter or better lines, or where its holes use that up, the holes."""
    remedy = hole_remedy(link, board_db)
    if link.holes_db.nominal < board_db:
        or_holes = f"; or {_of_holes(link, remedy)}" if remedy in {HoleRemedy.STUBS, HoleRemedy.PINS} else ""
        return _fix_of_lines(ctx, link, board_db) + or_holes
    if remedy is not HoleRemedy.NONE:
        text = _of_holes(link, remedy)
        return f"{text[:1].upper()}{text[1:]}: vias and pins alone use up the budget"
    alone = f"Lines alone lose {link.line_db.nominal:.1f} dB of {board_db:.3g}, and vias and pins use it up, too"
    best = link.holes.vias_db
    if best.nominal >= board_db:
        return f"{alone}: shorten the link, and use fewer or shorter vias"
    with_best = HoleRemedy.STUBS if link.holes.rid_db.nominal < board_db else HoleRemedy.PINS
    best = link.holes.rid_db if with_best is HoleRemedy.STUBS else best
    of_lines = _fix_of_lines(ctx, replace(link, holes_db=best), board_db)
    return f"{alone}: {_of_holes(link, with_best)}; and {of_lines[:1].lower()}{of_lines[1:]}"


def _fix_of_lines(ctx: Context, link: LinkLoss, board_db: float) -> str:
    names = [layer.name for layer in ctx.board.copper_layers]
    parts = [f"{longest:.0f} mm on {names[layer]}" for layer, longest in longest_by_layer(link, board_db).items()]
    text = f"Limit the length to {', or '.join(parts)}"
    closes = df_that_closes(ctx, link, board_db)
    text += f"; or use {closes} for the adjacent dielectrics" if closes else "; no Df alone meets the budget"
    smooth = link.total_db.nominal - link.roughness_db
    return text + ("; or use the smoothest foil" if smooth <= board_db < link.total_db.nominal else "")


def _of_holes(link: LinkLoss, remedy: HoleRemedy) -> str:
    """Return a change of the holes as an order: `backdrill the stubs of the vias`."""
    removals = link.holes.removals
    orders = ["delete the vias that join nothing"] if Removal.DELETE in removals else []
    orders += ["backdrill the stubs"] if Removal.DRILL in removals else []
    if remedy is HoleRemedy.PINS:
        orders.append("use surface-mount parts in place of pins in plated holes")
    if remedy is HoleRemedy.HOLES:
        orders.append("use fewer or shorter vias" + (" and surface-mount parts" if link.holes.has_pins else ""))
    return " and ".join(orders)


def _doubt(ctx: Context, found: JudgedLinks, share: Share, link: LinkLoss) -> MissingFact:
    """Return what would decide whether a link fits."""
    one, charged = found.interface, _charged(link, share)
    if _rests_on_chokes(link, share):
        return _doubt_of_chokes(found, share, link)
    least, most = (f"{end:.1f}" if end < MOST_DB else "far more, near a stub's resonance," for end in _ends(charged))
    parts = [f"{share.allowances_db[part].nominal:g} dB for the {part}" for part in share.assumed]
    assumed = f", {' and '.join(parts)} assumed" if parts else ""
    if charged.nominal > share.db:
        nominal = _db(charged.nominal).removesuffix(" dB")
        losses = f"nominal {nominal}, minimum {least}, budget {share.db:g} dB{assumed}"
    else:
        losses = f"nominal {charged.nominal:.1f}, maximum {most}, budget {share.db:g} dB{assumed}"
    name = f"whether {one.title} meets its loss budget: {link.name}, {losses}"
    how = tuple(_ways_out(ctx, found, share, link))
    return MissingFact(name, "\n".join(how) or "declare backdrill depths; or shorten the link")


def _doubt_of_chokes(found: JudgedLinks, share: Share, link: LinkLoss) -> MissingFact:
    one, names = found.interface, ", ".join(link.chokes.unknown)
    losses = f"{_charged(link, share).nominal:.1f} dB without {names}, budget {share.db:g} dB"
    name = f"whether {one.title} meets its loss budget: {link.name}, {losses}, and no file tells what the choke loses"
    parts = ", ".join(f'"{reference}"' for reference in link.chokes.unknown)
    return MissingFact(name, f'[[part_model]]\nparts = [{parts}]\nfile = "?"  # its S-parameters: .s4p of its maker')


def _ways_out(ctx: Context, found: JudgedLinks, share: Share, link: LinkLoss) -> Iterator[str]:
    """Yield what decides whether a link fits: its stubs, then the inputs that may add most."""
    charged, inputs = _charged(link, share), open_inputs(ctx, link, share, found.row)
    if charged.nominal > share.db:
        remedy = hole_remedy(link, share.board_db.nominal)
        if remedy in {HoleRemedy.STUBS, HoleRemedy.PINS}:
            yield f"{_of_holes(link, remedy)}: so the link nominally meets its budget"
        chosen: tuple[OpenInput, ...] = inputs[:1]
    else:
        if charged.high >= MOST_DB:
            yield f"{_without_resonance(link)}: a stub may resonate at the Nyquist frequency"
        chosen = that_settle(inputs, share.db - charged.nominal)
    for one in inputs:
        if one in chosen or one.rise_db >= A_GOOD_PART * rise_db(inputs):
            yield from one.lines


def _without_resonance(link: LinkLoss) -> str:
    """Return how to get rid of stubs that may resonate at Nyquist."""
    if link.holes.rid_db.high < MOST_DB:
        return _of_holes(link, HoleRemedy.STUBS)
    if link.holes.vias_db.high < MOST_DB:
        return f"{_of_holes(link, HoleRemedy.PINS)}, or route those out on a layer closer to their far end"
    return "route out of the holes on a layer closer to their far end"


def _ends(charged: Interval) -> tuple[float, float]:
    return charged.low, charged.high


def _place(ctx: Context, link: LinkLoss) -> Location:
    layer = ctx.board.copper_layers[link.sections[0].key.layer].name
    return Location(layer=layer, net=link.name)
