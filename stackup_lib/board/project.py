"""What the project file says: net classes, text variables, tuning profiles."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record


class NetClass(Frozen):
    """A net class; None means "not set here", the next class by priority decides, at last Default."""

    name: str
    priority: int
    clearance_mm: float | None = None
    track_width_mm: float | None = None
    via_diameter_mm: float | None = None
    via_drill_mm: float | None = None
    diff_pair_width_mm: float | None = None
    diff_pair_gap_mm: float | None = None
    tuning_profile: str | None = None


class TuningLayer(Frozen):
    """One layer of a KiCad 10 tuning profile."""

    signal_layer: str
    top_reference: str | None
    bottom_reference: str | None
    width_mm: float | None
    gap_mm: float | None


class TuningProfile(Frozen):
    """A KiCad 10 tuning profile: KiCad's own place for an impedance target."""

    name: str
    differential: bool
    target_ohm: float
    layers: tuple[TuningLayer, ...]


@record
class Project:
    """What the `.kicad_pro` says; for a KiCad 5 board, what its `(net_class ...)` blocks say.

    Attributes:
        path: the file, None when there is none.
        classes: by name; `Default` is always there.
        net_classes_of: net name -> names of its classes, highest priority first, `Default` left out.
        undefined_classes_of: net name -> names of classes that patterns or assignments give it and that no row defines.
        stated: class -> the keys of its row that hold something, as the file names them.
        limits: Board Setup's constraints, as the file states them, unchecked; callers check each.
        severities: of KiCad's own checks, by their names, where the project states one.
        exclusions: violations that the user excluded in KiCad: type of check, and the uuids of the items.
    """

    path: Path | None
    classes: Mapping[str, NetClass]
    patterns: tuple[tuple[str, str], ...]
    assignments: Mapping[str, tuple[str, ...]]
    text_variables: Mapping[str, str]
    tuning_profiles: tuple[TuningProfile, ...]
    net_classes_of: Mapping[str, tuple[str, ...]]
    undefined_classes_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, object] = field(default_factory=dict)
    severities: Mapping[str, str] = field(default_factory=dict)
    exclusions: frozenset[tuple[str, frozenset[str]]] = frozenset()

    def clearance_mm(self, net: str) -> float | None:
        """Return the clearance of a net, as `effective` finds it, None where no class sets it."""
        chain = (*self.net_classes_of.get(net, ()), "Default")
        return next((mm for name in chain if (mm := self.classes[name].clearance_mm) is not None), None)

    def class_names_of(self, net: str) -> tuple[str, ...]:
        """Return the names of a net's classes, those that no row defines last, `Default` left out."""
        return (*self.net_classes_of.get(net, ()), *self.undefined_classes_of.get(net, ()))

    def effective(self, net: str) -> NetClass:
        """Return the class that holds for a net: each field from the first of its classes that sets it."""
        chain = [self.classes[c] for c in self.net_classes_of.get(net, ())] + [self.classes["Default"]]
        merged: dict[str, object] = {}
        for net_class in chain:
            for key, value in net_class.model_dump().items():
                if value is not None:
                    merged.setdefault(key, value)
        return NetClass.model_validate(merged)
