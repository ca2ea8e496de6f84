"""What KiCad's own design rule check (DRC) says of a board, as a report shows it: it decides no clause of ours."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from drc_rules.requirements.clauses import Severity
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.words import listed

SHOWN_TYPES = {
    "short": ("shorting_items", "tracks_crossing", "zones_intersect"),
    "open": ("unconnected_items",),
    "copper-to-edge violation": ("copper_edge_clearance", "invalid_outline"),
    "hole violation": ("hole_clearance", "hole_to_hole", "holes_co_located"),
    "clearance violation": ("clearance",),
}
"""The types of KiCad's violations that a report shows one by one and that count for the exit code, by what they are."""

LIMIT = 199
"""KiCad reports no more violations of a type than this."""


class KicadItem(Frozen):
    """One item of a violation, as KiCad describes it."""

    description: str
    uuid: str = ""
    x_mm: float
    y_mm: float


class KicadViolation(Frozen):
    """One violation, as KiCad reports it."""

    type: str
    description: str
    severity: Literal["error", "warning"]
    items: tuple[KicadItem, ...] = ()


class KicadCount(Frozen):
    """How many violations there are of a type."""

    type: str
    severity: Literal["error", "warning"]
    count: int

    @property
    def is_capped(self) -> bool:
        """True where KiCad stopped to count: there may be more."""
        return self.count >= LIMIT


class KicadDrc(Frozen):
    """One run of KiCad's check on the board as it is saved, zones as they are filled.

    Attributes:
        kicad: version of KiCad, "" where it did not run.
        violations: those of `SHOWN_TYPES`, errors first.
        others: how many there are of all other types.
        excluded: how many the user has excluded in KiCad; they are in neither.
        failed: why there is no answer; "" where there is one.
        next_step: what to do about that.
    """

    kicad: str = ""
    violations: tuple[KicadViolation, ...] = ()
    others: tuple[KicadCount, ...] = ()
    excluded: int = 0
    failed: str = ""
    next_step: str = ""

    def by_type(self) -> tuple[tuple[KicadCount, tuple[KicadViolation, ...]], ...]:
        """Return the violations type by type, errors first, then in the order of `SHOWN_TYPES`."""
        order = [name for names in SHOWN_TYPES.values() for name in names]
        found: dict[tuple[str, Literal["error", "warning"]], list[KicadViolation]] = {}
        for one in self.violations:
            found.setdefault((one.type, one.severity), []).append(one)
        keys = sorted(found, key=lambda key: (key[1] != "error", order.index(key[0])))
        return tuple((KicadCount(type=t, severity=s, count=len(found[t, s])), tuple(found[t, s])) for t, s in keys)

    def fails(self, least: Severity) -> bool:
        """Tell whether a violation that is shown is at least as bad as this."""
        return any(Severity(one.severity).rank >= least.rank for one in self.violations)

    @property
    def summary(self) -> str:
        """The outcome in a few words, e.g. `3 shorts and 1 open`; "" where KiCad found none of that."""
        if self.failed:
            return ""
        return counted(one for one in self.violations if one.severity == "error")


def counted(violations: Iterable[KicadViolation]) -> str:
    """Return how many violations there are of each sort, e.g. `3 shorts and 1 open`; "" for none."""
    types = Counter(one.type for one in violations)
    words = []
    for noun, names in SHOWN_TYPES.items():
        many = sum(types[name] for name in names)
        capped = " or more" if any(types[name] >= LIMIT for name in names) else ""
        if many:
            words.append(f"{many}{capped} {noun}{'' if many == 1 else 's'}")
    return listed(words)


def headline_why_with(why: str, drc: KicadDrc) -> str:
    """Return the reason of a headline, and what KiCad's check adds to it: no headline stands above a short untold."""
    if drc.failed:
        return f"{why}; KiCad DRC did not run"
    return f"{why}; KiCad DRC reports {drc.summary}" if drc.summary else why
