"""Where a line runs: everything of its cross section but width and gaps. Lengths in mm, y upward."""

from typing import Literal

from pydantic import Field

from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.sections import Layer, Mask, Section, Strip


class DielectricSheet(Frozen):
    """A dielectric next to the line; sheets of one stackup row share its `name`, and so its fabrication errors.

    Attributes:
        thickness_mm: pressed, without the copper that is in it.
        dk: relative permittivity for which the line is solved.
        label: the ply, where a row has several.
        gap_layer: copper layer whose gaps it fills, as far as that copper is thick; "" for the ply itself.
    """

    name: str
    kind: Literal["core", "prepreg"]
    thickness_mm: float
    dk: float
    label: str = ""
    gap_layer: str = ""


class TraceEnvironment(Frozen):
    """The surroundings of a trace on one layer, turned so that a single plane is the lower one.

    Copper bonded to a core displaces the prepreg on its other side: `base` tells which face is bonded (the wider one).
    The sheet on the other face fills the space next to the trace and so reaches `copper_mm` further than its thickness.

    Attributes:
        layer: copper layer of the trace.
        reference_below, reference_above: layers of the planes, None where there is none.
        below: from the lower plane up to the trace.
        above: from the trace up to the upper plane, or to the open surface.
        copper_mm: finished thickness of the trace.
        taper_mm: base width less top width, both sides together.
        mask: on outer layers.
        is_turned: y points to the bottom of the board.
    """

    layer: str
    reference_below: str | None
    reference_above: str | None = None
    below: tuple[DielectricSheet, ...]
    above: tuple[DielectricSheet, ...] = ()
    copper_mm: float
    taper_mm: float = Field(default=0.0, ge=0)
    base: Literal["lower", "upper"] = "lower"
    mask: Mask | None = None
    is_turned: bool = False

    @property
    def sheets(self) -> tuple[DielectricSheet, ...]:
        """All sheets, from y = 0 up, in the order of the layers of every section of this site."""
        return (*self.below, *self.above)

    def canonical(self) -> "TraceEnvironment":
        """Return the site as far as it matters to a line: without names, its base down where planes are on both sides.

        Equal sites make equal lines; a site and its mirror image do too.
        """
        below, above, base = self.below, self.above, self.base
        if base == "upper" and self.reference_above is not None:
            below, above, base = tuple(reversed(above)), tuple(reversed(below)), "lower"
        number = {name: str(k) for k, name in enumerate(dict.fromkeys(s.name for s in (*below, *above)))}

        def plain(sheets: tuple[DielectricSheet, ...]) -> tuple[DielectricSheet, ...]:
            return tuple(s.model_copy(update={"name": number[s.name], "label": "", "gap_layer": ""}) for s in sheets)

        both = self.reference_above is not None
        return self.model_copy(
            update={
                "layer": "",
                "reference_below": "one plane" if both else "the plane",
                "reference_above": "the other plane" if both else None,
                "below": plain(below),
                "above": plain(above),
                "base": base,
                "is_turned": False,
            }
        )

    @property
    def is_outer(self) -> bool:
        """True where nothing but mask lies over the trace."""
        return not self.above

    def section(
        self,
        width_mm: float,
        gap_mm: float | None = None,
        coplanar_gap_mm: float | None = None,
        other_mm: float | None = None,
    ) -> Section:
        """Return the cross section of a trace, or of a pair with `gap_mm`; widths and gaps are those of the base.

        `other_mm` is the width of the pair's second trace, where it has another one.

        Raises:
            GeometryError: it cannot exist.
        """
        if gap_mm is None:
            return self._section([(0.0, width_mm)], coplanar_gap_mm)
        second = width_mm if other_mm is None else other_mm
        places = [(-(width_mm + gap_mm) / 2, width_mm), ((second + gap_mm) / 2, second)]
        return self._section(places, coplanar_gap_mm)

    def two_pairs(self, width_mm: float, gaps_mm: tuple[float, float], between_mm: float) -> Section:
        """Return the cross section of two pairs side by side, all traces of one width.

        Args:
            width_mm: of the base of each trace.
            gaps_mm: within either pair, edge to edge.
            between_mm: from pair to pair, edge to edge.

        Raises:
            GeometryError: it cannot exist.
        """
        inner = (between_mm + width_mm) / 2
        left, right = (inner + gap + width_mm for gap in gaps_mm)
        return self._section([(x, width_mm) for x in (-left, -inner, inner, right)], None)

    def _section(self, traces: list[tuple[float, float]], coplanar_gap_mm: float | None) -> Section:
        """Return the cross section of traces by their middles and widths, from left to right."""
        below = [Layer(thickness_mm=s.thickness_mm, er=s.dk) for s in self.below]
        above = [Layer(thickness_mm=s.thickness_mm, er=s.dk) for s in self.above]
        bottom = sum(layer.thickness_mm for layer in below)
        if self.base == "upper" and below:
            below[-1] = _thicker(below[-1], self.copper_mm)
        elif self.base == "lower" and above:
            above[0] = _thicker(above[0], self.copper_mm)
        strips = tuple(
            Strip(
                base_width_mm=base_mm,
                top_width_mm=base_mm - self.taper_mm,
                thickness_mm=self.copper_mm,
                bottom_mm=bottom,
                centre_mm=centre,
                base=self.base,
            )
            for centre, base_mm in traces
        )
        return Section(
            layers=(*below, *above),
            strips=strips,
            plane_below=self.reference_below is not None,
            plane_above=self.reference_above is not None,
            coplanar_gap_mm=coplanar_gap_mm,
            mask=self.mask,
        )


def _thicker(layer: Layer, by_mm: float) -> Layer:
    return Layer(thickness_mm=layer.thickness_mm + by_mm, er=layer.er)
