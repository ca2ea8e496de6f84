"""The chain of each element of a link: of a pair in the odd and the even mode, of a trace alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.lines.solved_lines import LineKey, Lines, limit_of
from drc_rules.analysis.loss.hole_reflection import drilled_stub_chain
from drc_rules.analysis.loss.sparameters.joints import LinkParts
from drc_rules.analysis.loss.sparameters.legs import BarrelElement, Element, JointElement, LineElement, StubElement
from drc_rules.analysis.via.high_speed_vias import stub_values
from drc_rules.analysis.via.via_bodies import modes_of_pair, via_of
from drc_rules.facts.context import Context
from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.loss import LineLoss, loss_per_length, mean_loss
from stackup_lib.transmission_lines.lossy import even_line_of, line_of
from stackup_lib.transmission_lines.two_port import barrel_chain, line_chain, open_stub_chain, reversed_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.stub_resonance import ViaShape, loaded_dk, via_ohm
from stackup_lib.vias.via_circuit import ModelledVia

LINE_OHM = 50.0
"""Lines that a via joins, to subtract what its pads take the place of."""

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Modes = tuple[Complex, Complex]
"""Chain in the odd mode, or of a single line, and in the even mode."""


@dataclass
class ElementChains:
    """Makes the chains of a link's elements at its frequencies.

    Attributes:
        ctx, ghz: the board, and the frequencies in GHz.
        anchor_ghz: where Dk and Df are read.
        parts: series parts and connectors.
        limit_ghz: up to where all lines so far are quasi-static.
    """

    ctx: Context
    ghz: Real
    anchor_ghz: float
    parts: LinkParts
    limit_ghz: float = float("inf")
    _lines: dict[LineKey, tuple[LineLoss, LineLoss]] = field(default_factory=dict)
    _barrels: dict[object, Modes] = field(default_factory=dict)
    _alone: dict[object, Complex] = field(default_factory=dict)

    def of(self, element: Element, mm: float | None = None) -> Modes:
        """Return both modes of an element that both traces have next to each other; of a line `mm` of it."""
        if isinstance(element, LineElement):
            odd, even = self._line(element.key)
            length = element.mm if mm is None else mm
            first = line_chain(odd, length)
            return first, first if even is odd else line_chain(even, length)
        if isinstance(element, JointElement):
            chain = self.parts.joint(element.parts)
            return chain, chain
        if element.same not in self._barrels:
            self._barrels[element.same] = self._hole(element)
        return self._barrels[element.same]

    def line(self, element: Element, *, alone: bool = False) -> LineLoss | None:
        """Return the line that an element is in the odd mode, or of one trace alone; None where it is no line."""
        if not isinstance(element, LineElement):
            return None
        return self._line(replace(element.key, gap_mm=None) if alone else element.key)[0]

    def alone(self, element: Element, mm: float | None = None) -> Complex:
        """Return an element of one trace that the other has not next to it."""
        if isinstance(element, LineElement):
            return self.of(LineElement(replace(element.key, gap_mm=None), element.mm), mm)[0]
        if isinstance(element, JointElement):
            return self.of(element)[0]
        if element.same not in self._alone:
            self._alone[element.same] = self._hole(element, is_alone=True)[1]
        return self._alone[element.same]

    def words(self, element: Element) -> str:
        """Return what an element is, of a line without its length."""
        names = [layer.name for layer in self.ctx.board.copper_layers]
        if isinstance(element, LineElement):
            key = element.key
            size = f"{key.width_mm:.4g} mm" if key.gap_mm is None else f"{key.width_mm:.4g}/{key.gap_mm:.4g} mm"
            return f"{size} on {names[key.layer]}" + (f", {key.near_fill}" if key.near_fill is not None else "")
        if isinstance(element, JointElement):
            return self.parts.words(element.parts)
        if isinstance(element, BarrelElement):
            length = self._barrel_mm(element)
            kind = "via" if element.group.holes[0].is_via else "pin"
            return f"{kind} from {names[element.entry]} to {names[element.leaves]}, {length:.3f} mm"
        length = stub_values(self.ctx, element.group).length_mm.nominal
        return f"open stub of {length:.3f} mm from {names[element.group.stubs[0].first]}"

    def delay_ps(self, element: Element, mm: float) -> float:
        """Return what a length of a line alone delays, at the middle of the frequencies; 0 of anything else."""
        if not isinstance(element, LineElement):
            return 0.0
        odd, _ = self._line(replace(element.key, gap_mm=None))
        middle = len(self.ghz) // 2
        return float(np.sqrt(odd.inductance_h_per_m[middle] * odd.capacitance_f_per_m[middle])) * mm * 1e9

    def _line(self, key: LineKey) -> tuple[LineLoss, LineLoss]:
        if key not in self._lines:
            materials, ends = Lines(self.ctx).nominal_materials(key, self.anchor_ghz), Lines(self.ctx).lines(key)
            self.limit_ghz = min(self.limit_ghz, *(limit_of(end).frequency_ghz for end in ends))
            odd = mean_loss([loss_per_length(line_of(end, materials), self.ghz) for end in ends])
            even = odd
            if ends[0].solution.is_pair:
                even = mean_loss([loss_per_length(even_line_of(end, materials), self.ghz) for end in ends])
            self._lines[key] = odd, even
        return self._lines[key]

    def _barrel_mm(self, element: BarrelElement) -> float:
        heights = self.ctx.copper_heights_mm()
        return abs(heights[element.leaves] - heights[element.entry])

    def _hole(self, element: BarrelElement | StubElement, *, is_alone: bool = False) -> Modes:
        """Return both modes of a hole next to that of the other trace, or of one that stands alone."""
        group = element.group
        if isinstance(element, BarrelElement):
            need_drills((group.holes[0].drill_mm,), f"the vias of {self.ctx.board.nets[group.holes[0].net]}")
            length, (dk, df) = self._barrel_mm(element), self._dk_df()
        else:
            figures = stub_values(self.ctx, group)
            length, dk, df = figures.length_mm.nominal, figures.dk.nominal, self._dk_df()[1]
        via = via_of(self.ctx, group, self.anchor_ghz)
        if via is None:
            return self._one_line(element, length, dk, df)
        loss, apart = LaminateLoss(df, self.anchor_ghz), group.shape.partner_mm
        if is_alone or apart is None:
            chain = self._chain(element, via, loss)
            return chain, chain
        odd, even = (self._chain(element, mode, loss) for mode in modes_of_pair(via, apart))
        return odd, even

    def _chain(self, element: BarrelElement | StubElement, via: ModelledVia, loss: LaminateLoss) -> Complex:
        if isinstance(element, StubElement):
            stub = element.group.stubs[0]
            if element.group.drill is not None:
                return drilled_stub_chain(self.ghz, element.group.shape, stub_values(self.ctx, element.group))
            return open_end_chain(self.ghz, via, (stub.first, stub.side), loss)
        upper, lower = sorted((element.entry, element.leaves))
        chain = passage_chain(self.ghz, via, (upper, lower), loss, LINE_OHM)
        return chain if element.entry == upper else reversed_chain(chain)

    def _one_line(self, element: BarrelElement | StubElement, length: float, dk: float, df: float) -> Modes:
        """Return both modes of a hole through a board without planes, as a line of one impedance."""
        shape, chain_of = element.group.shape, barrel_chain
        if isinstance(element, StubElement):
            length = shape.stub_length_mm(Interval.exact(length)).nominal
            chain_of = open_stub_chain
        one, other = (
            chain_of(self.ghz, length, via_ohm(of, dk, length).nominal, _loaded(of, dk, length), df, self.anchor_ghz)
            for of in (shape, shape.model_copy(update={"partner_mm": None}))
        )
        return one, other

    def _dk_df(self) -> tuple[float, float]:
        """Mean Dk and Df of the board by thickness, over the plies that have one: a via is not known well enough."""
        plies = [(self.ctx.need(ply.thickness), ply) for ply in self.ctx.known_plies()]
        rows = [(mm, self.ctx.need(ply.dk.at(self.anchor_ghz)), ply.df.at(self.anchor_ghz).value) for mm, ply in plies]
        known = [(mm, df) for mm, _, df in rows if df is not None]
        df = sum(mm * df for mm, df in known) / sum(mm for mm, _ in known) if known else 0.0
        return sum(mm * dk for mm, dk, _ in rows) / sum(mm for mm, _, _ in rows), df


def _loaded(shape: ViaShape, dk: float, length_mm: float) -> float:
    return loaded_dk(shape, Interval.exact(dk), length_mm).nominal
