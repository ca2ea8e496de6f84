"""What a report tells of the process that its impedances rest on."""

from stackup_lib.core.frozen import Frozen


class ProcessNumber(Frozen):
    """One number of the process.

    Attributes:
        stated: False where it is assumed, or is KiCad's own default.
        source: where it stands, or what it is assumed from.
    """

    name: str
    value: float
    unit: str = ""
    stated: bool
    source: str


class ProcessView(Frozen):
    """What inner and outer lines were solved with.

    Attributes:
        preset: the fab whose numbers are taken, where one is named.
        numbers: inner lines first; only what some line rests on.
        inner_pct, outer_pct: what the process leaves open of an impedance, the larger side of the worst line.
        inner_total_pct, outer_total_pct: the same with all that is not known, Dk among it.
        line: all of it in one line.
    """

    preset: str = ""
    numbers: tuple[ProcessNumber, ...]
    inner_pct: float | None = None
    outer_pct: float | None = None
    inner_total_pct: float | None = None
    outer_total_pct: float | None = None
    line: str
