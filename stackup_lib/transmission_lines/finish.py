"""How etching, plating and solder mask change a line, as far as stated. Lengths in mm."""

from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.sections import Mask

MASK_DK = 3.5
"""Solder mask of which no Dk is stated: makers print 3.3 to 3.9 (KiCad assumes 3.3, a fab's calculator 3.8)."""

MASK_DF = 0.025
"""Loss tangent of solder mask, of which hardly any maker states one: 0.02 to 0.033."""

MASK_MM = 0.0152
"""Solder mask over copper where nothing states it: what a fab's calculator sends to its field solver (0.6 mil)."""

MASK_NEXT_TO_TRACE = 2.0
"""Liquid mask is thicker on the laminate than on copper: 1.2 and 0.6 mil in the same calculator."""

USUAL_MASK = Mask(
    er=MASK_DK,
    on_laminate_mm=MASK_NEXT_TO_TRACE * MASK_MM,
    on_trace_mm=MASK_MM,
    between_mm=MASK_NEXT_TO_TRACE * MASK_MM,
)


class LineFinish(Frozen):
    """A fab's etching, plating and solder mask.

    Attributes:
        inner_taper_mm, outer_taper_mm: base less top width of a trace; None takes it from the copper's thickness.
        outer_copper_mm: finished copper of the outer layers; None takes the stackup's.
        mask: over traces on the outer layers, None for bare copper.
        mask_df: its loss tangent.
    """

    inner_taper_mm: float | None = None
    outer_taper_mm: float | None = None
    outer_copper_mm: float | None = None
    mask: Mask | None = USUAL_MASK
    mask_df: float = MASK_DF

    def taper_mm(self, *, outer: bool) -> float | None:
        """Return the taper that is stated for a layer, None where none is."""
        return self.outer_taper_mm if outer else self.inner_taper_mm
