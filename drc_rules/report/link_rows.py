"""Rows of a report on the routed copper, besides its findings: impedance and loss by link, backdrills."""

from typing import Literal

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.interval import Interval


class RouteSection(Frozen):
    """A geometry in which a link runs for so long; of a pair the mean of both traces.

    Attributes:
        gap_mm: edge to edge; None for a single line, or a trace of a pair that runs alone.
        impedance_ohm: nominal: Z0, or Zdiff of a pair.
    """

    layer: str
    width_mm: float
    gap_mm: float | None
    length_mm: float
    impedance_ohm: float


class LinkImpedance(Frozen):
    """The impedance of one link along its route; lengths are those of one trace, of a pair the mean of both.

    Attributes:
        name: the first net's, of a pair what both have in common.
        nets: of all its nets and both traces.
        target: for whom, e.g. `PCIe Gen5`.
        target_ohm, tolerance_pct: what is required.
        length_mm: routed, without what lies under pads.
        mean_ohm: weighted by length over the sections that count, with what the model does not know; None where
            nothing counts or a fact is missing.
        worst: the section farthest from the target.
        forgiven_mm: in sections too short to count: breakouts and neck-downs.
        forgiven_up_to_mm: so short are they, at each end.
        over_holes_mm: without any copper above or below.
        uncoupled_mm: traces of a pair without their complement next to them.
        gap_min_mm, gap_max_mm: widest range of gaps of one width on one layer, of sections longer than breakouts.
        problem, cure: why there is no impedance, and what to do about it.
    """

    name: str
    nets: tuple[str, ...]
    target: str
    kind: Literal["single", "differential"]
    target_ohm: float
    tolerance_pct: float
    inferred: bool
    length_mm: float
    mean_ohm: Interval | None = None
    worst: RouteSection | None = None
    forgiven_mm: float = 0.0
    forgiven_up_to_mm: float
    over_holes_mm: float = 0.0
    uncoupled_mm: float = 0.0
    gap_min_mm: float | None = None
    gap_max_mm: float | None = None
    problem: str = ""
    cure: str = ""

    @property
    def breakouts_mm(self) -> float:
        """What may run apart: a breakout at both ends of every net, also at capacitors between them."""
        traces = 2 if self.kind == "differential" else 1
        return 2 * self.forgiven_up_to_mm * max(1, len(self.nets) // traces)

    @property
    def gap_drift_mm(self) -> float:
        """How much the gap changes on one layer without the width."""
        return self.gap_max_mm - self.gap_min_mm if self.gap_min_mm is not None and self.gap_max_mm is not None else 0.0

    @property
    def off_pct(self) -> float:
        """How far the worst section is from the target, in percent; 0 where there is none."""
        return 100 * (self.worst.impedance_ohm / self.target_ohm - 1) if self.worst else 0.0

    @property
    def distance_pct(self) -> float:
        """How far off the worst section is, above or below; above all others where nothing is known."""
        return float("inf") if self.problem else abs(self.off_pct)


class PairOnLayer(Frozen):
    """What a pair has on one layer; lengths are the mean of both traces.

    Attributes:
        width_mm, gap_mm: of its longest geometry there; `gap_mm` is None where its traces run apart.
        length_mm: on the layer, in any geometry.
        fill_near_mm, fill_far_mm: distance of filled copper next to that geometry on its own layer, least and most;
            `fill_far_mm` is None where there is none on a side, or along parts of it. With two distances the impedance
            is the middle of what they leave open.
        impedance_ohm: Zdiff of that geometry, nominal; None where it is not known or was not solved.
        is_judged: a clause judges it there.
        problem: why there is no impedance; `not solved` where the check had no time for it.
    """

    layer: str
    width_mm: float
    gap_mm: float | None
    length_mm: float
    fill_near_mm: float | None = None
    fill_far_mm: float | None = None
    impedance_ohm: float | None = None
    is_judged: bool = False
    problem: str = ""


class PairRow(Frozen):
    """A differential pair that has tracks, whether a clause judges its impedance or not.

    Attributes:
        name: what the names of both nets have in common.
        interface: for whom its target is, or the family that it was assigned to; empty where not known.
        target_ohm: what is required, None where no target is known.
        length_mm: routed, without what lies under pads; the mean of both traces.
        layers: the one with most of it first.
        why_not: why its impedance is not judged; empty where it is.
    """

    name: str
    nets: tuple[str, str]
    interface: str = ""
    target_ohm: float | None = None
    length_mm: float
    layers: tuple[PairOnLayer, ...] = ()
    is_judged: bool = False
    why_not: str = ""


class Decibels(Frozen):
    """A loss or a margin in dB with the range of what is not known.

    None stands for no bound: a stub near its resonance may take all of the signal, and the margin with it.
    """

    low: float | None
    nominal: float | None
    high: float | None


class LayerLength(Frozen):
    """So much of a link on one layer, of a pair the mean of both traces.

    Attributes:
        longest_mm: all of the link in its usual geometry on this layer might be so long within the board's share; 0
            where vias and pins alone use it up, None without a share.
    """

    layer: str
    length_mm: float
    longest_mm: float | None = None


class Allowance(Frozen):
    """What of a share of the budget belongs to the package, a connector or a module, in dB."""

    part: str
    db: Interval
    is_assumed: bool


class DfNeed(Frozen):
    """The Df that a link needs, with what is required and what is there; all at one frequency.

    Attributes:
        now: highest Df next to the layer on which most of the link runs.
        needed: the largest at which the link closes, all else as it is: solved for the worst link of an interface, by
            proportion for the others; None where even a lossless laminate does not.
        asked: limit of the requirement's clause for the interface, None where it has none.
        clause: id of that clause.
    """

    at_ghz: float
    now: float
    needed: float | None
    asked: float | None = None
    clause: str = ""


class LinkLossRow(Frozen):
    """The insertion loss of one link at its Nyquist frequency, against what the board may lose.

    Attributes:
        name: the first net's.
        nets: of all its nets and both traces.
        interface: for whom, e.g. `PCIe Gen5`.
        inferred: the nets are not declared to be of it.
        length_mm: from end to end, of a pair the mean of both traces; so are the losses.
        layers: the longest part first.
        total_db: lines and holes; None where the loss is not known.
        dielectric_db, copper_db, roughness_db, holes_db: nominal parts, which add up to the total; `holes_db` is None
            where a stub resonates at or below Nyquist.
        hole_count: vias and pins on the path.
        role: which board of the channel this is; `declared` for a share of the user's own, empty without a share.
        share_db: the share of the budget, allowances included; None where there is none.
        share_source: where that stands.
        margin_db: share without allowances and loss, with the range of both.
        df: the Df that it needs.
        foil_needed: the roughest foil grade with which it closes, given for the worst link of an interface alone; empty
            where none does.
        hole_remedy: with which change of its holes alone a link above its share closes: `stubs`, those that a drill or
            the deletion of a via takes away; `pins`, surface-mount parts in their place, too; `holes`, none at all;
            `none`, for its lines alone exceed it. Empty where it closes.
        notes: what was assumed or left out.
        problem, cure: why loss or share is not known, and what to do about it.
    """

    name: str
    nets: tuple[str, ...]
    interface: str
    nyquist_ghz: float
    inferred: bool
    length_mm: float | None = None
    layers: tuple[LayerLength, ...] = ()
    total_db: Decibels | None = None
    dielectric_db: float | None = None
    copper_db: float | None = None
    roughness_db: float | None = None
    holes_db: float | None = None
    hole_count: float | None = None
    role: str = ""
    share_db: float | None = None
    share_source: str = ""
    allowances: tuple[Allowance, ...] = ()
    margin_db: Decibels | None = None
    df: DfNeed | None = None
    foil_needed: str | None = None
    hole_remedy: Literal["", "stubs", "pins", "holes", "none"] = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    cure: str = ""


class BackdrillRow(Frozen):
    """One depth group: holes of one diameter, drilled from one side to one depth.

    Attributes:
        start: outer layer at which the drill enters.
        must_cut: last layer that it passes.
        must_not_cut: next layer that the signal uses.
        hole_mm, drill_mm: diameters as KiCad stores them; the drill's is None where not stated.
        depth_mm: from the outer copper's face to where the drill may end: through the must-cut layer at least, half way
            to the next layer, short of that at most.
        holes, nets: how many, and the names.
        residual_mm: stub that is left.
        is_proposed: it is not ordered yet; the stubs of a high-speed interface need it.
        exit_instead: layer nearest to the used one that all of them could leave on without any drilling, None for none.
    """

    start: str
    must_cut: str
    must_not_cut: str
    hole_mm: float
    drill_mm: float | None
    depth_mm: Interval
    holes: int
    nets: tuple[str, ...]
    residual_mm: Interval
    is_proposed: bool
    exit_instead: str | None = None


class BgaPitch(Frozen):
    """A ball grid array.

    Attributes:
        has_microvias: a microvia, or a blind via to the next layer, lies among its balls.
        usual_class: HDI class that such a pitch usually takes, e.g. `2-N-2`; empty where no value is known.
    """

    reference: str
    balls: int
    pitch_mm: float
    has_microvias: bool
    usual_class: str


class BuildUp(Frozen):
    """How the board must be built up for its vias.

    Attributes:
        hdi_class: `through vias`, `2-N-2`, `any-layer`, or `blind or buried vias, no microvias`.
        presses_at_least: lamination cycles, from the spans of the vias; 0 where spans cross and none makes them.
        microvia_levels: of the highest stack; 1 where none stands on another, 0 without microvias.
        blind_or_buried: vias that end inside the board and are no microvias.
        bgas: the finest pitch first.
    """

    hdi_class: str
    presses_at_least: int
    microvia_levels: int
    blind_or_buried: int
    bgas: tuple[BgaPitch, ...]
