"""Elements of IPC-2581 files as a stream: a file is read once, and what the reader needs is kept.

defusedxml refuses entities and document types, so no file makes the reader fetch or expand anything.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import field
from typing import Any, NamedTuple, Protocol
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from stackup_lib.core.record import record
from stackup_lib.fab_files.facts import FabFileError, StatedNumber, StatedText, stated_number

_SCALES = {"MILLIMETER": 1.0, "MM": 1.0, "INCH": 25.4, "MICRON": 0.001}
_CHUNK = 1 << 16

Numbers = dict[str, StatedNumber]


def parse_ipc2581(content: bytes, place: str, target: XmlTarget) -> None:
    """Give a file's elements to a target with `start`, `end`, `close`, and `expat` for places.

    Raises:
        FabFileError: it is no such XML, or it declares entities or a document type.
    """
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.expat = parser.parser
    try:
        for start in range(0, len(content), _CHUNK):
            parser.feed(content[start : start + _CHUNK])
        parser.close()
    except DefusedXmlException as error:
        raise FabFileError(
            place, "declares a document type or entities", "export it again; IPC-2581 has neither"
        ) from error
    except (ParseError, ValueError) as error:
        raise FabFileError(place, f"is no XML that can be read ({error})", "export it again") from error


class XmlTarget(Protocol):
    """What takes elements; `expat` is the parser, which knows line and byte."""

    expat: Any

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        """Take an element's start."""

    def end(self, tag: str) -> None:
        """Take an element's end."""

    def close(self) -> None:
        """End of the file."""


class _Spec:
    """What one `<Spec>` says."""

    def __init__(self) -> None:
        self.material: StatedText | None = None
        self.numbers: Numbers = {}
        self.start = self.must_cut = self.must_not_cut = ""
        self.place = ""


class _Impedance:
    """What one `<Impedance>` says of the spec that it is in."""

    def __init__(
        self, ohm: StatedNumber, spec: str, tolerances: tuple[StatedNumber | None, ...] = (None, None)
    ) -> None:
        self.ohm = ohm
        self.spec = spec
        self.tolerances = tolerances
        self.sizes: dict[str, StatedNumber | None] = {}
        self.planes: list[str] = []


@record
class _Layer:
    """What one `<Layer>` says."""

    function: str
    polarity: str
    place: str


@record
class _Row:
    """What one `<StackupLayer>` says; `specs` are the names of those that it refers to."""

    layer: str
    thickness: str
    place: str
    sequence: str
    group: int
    specs: list[str] = field(default_factory=list)


class _HoleKey(NamedTuple):
    """What holes of one kind have in common."""

    layer: str
    diameter: str
    is_slot: bool
    plating: str


class Elements:
    """What the elements say; all outside the header, the holes and the profile is passed over."""

    expat: Any = None

    def __init__(self, place: str) -> None:
        self.place = place
        self.scale, self.generator = 1.0, ""
        self.specs: dict[str, _Spec] = {}
        self.spec: _Spec | None = None
        self.spec_name = ""
        self.section = ""
        self.layers: dict[str, _Layer] = {}
        self.spans: dict[str, tuple[str, str]] = {}
        self.layer = ""
        self.rows: list[_Row] = []
        self.groups = 0
        self.finish: StatedText | None = None
        self.thickness: StatedNumber | None = None
        self.impedances: list[_Impedance] = []
        self.feature = ""
        self.slot: dict[str, str] | None = None
        self.holes: Counter[_HoleKey] = Counter()
        self.hole_lines: dict[_HoleKey, str] = {}
        self.drilled: Counter[str] = Counter()
        self.drill_lines: dict[str, str] = {}
        self.pads: Counter[str] = Counter()
        self.in_profile = False
        self.points: list[tuple[float, float]] = []
        self.profile_line = ""

    def _line(self) -> str:
        return f"{self.place}:{self.expat.CurrentLineNumber}"

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        """Take an element's start."""
        handler = _STARTS.get(tag.rpartition("}")[2])
        if handler:
            handler(self, attrs)

    def end(self, tag: str) -> None:
        """Take an element's end."""
        name = tag.rpartition("}")[2]
        if name == "Spec":
            self.spec = None
        elif name == "LayerFeature":
            self.feature = ""
        elif name == "Profile":
            self.in_profile = False
        elif name == "SlotCavity":
            self.slot = None

    def close(self) -> None:
        """End of the file."""

    def _header(self, a: dict[str, str]) -> None:
        self.scale = _SCALES.get(a.get("units", ""), 1.0)

    def _software(self, a: dict[str, str]) -> None:
        self.generator = f"{a.get('name', '')} {a.get('revision', '')}"

    def _spec(self, a: dict[str, str]) -> None:
        self.spec_name = a.get("name", "")
        self.spec = self.specs.setdefault(self.spec_name, _Spec())
        self.spec.place = self._line()

    def _typed(self, a: dict[str, str]) -> None:
        self.section = a.get("type", "")

    def _impedance(self, a: dict[str, str]) -> None:
        """Take an impedance: revision C has its value here, B in a property."""
        self.section = "Z:" + a.get("type", "")
        if (number := stated_number(a.get("value", ""), self._line())) and number.value > 0:
            scale = 1.0 if a.get("tolPercent", "").lower() == "true" else 100 / number.value
            tolerances = (stated_number(a.get(key, ""), self._line(), scale) for key in ("tolPlus", "tolMinus"))
            self.impedances.append(_Impedance(number, self.spec_name, tuple(tolerances)))

    def _line_width(self, a: dict[str, str]) -> None:
        self._of_impedance("width", a)

    def _spacing(self, a: dict[str, str]) -> None:
        self._of_impedance("gap", a)

    def _of_impedance(self, key: str, a: dict[str, str]) -> None:
        if self.impedances and self.spec is not None:
            number = stated_number(a.get("value", ""), self._line(), _SCALES.get(a.get("unit", ""), self.scale))
            self.impedances[-1].sizes.setdefault(key, number)

    def _plane(self, a: dict[str, str]) -> None:
        if self.impedances and self.spec is not None:
            self.impedances[-1].planes.append(a.get("layerOrGroupRef", ""))

    def _surface(self, a: dict[str, str]) -> None:
        self.section = "FINISH"
        if a.get("type"):
            self.finish = StatedText(a["type"], self._line())

    def _finish(self, a: dict[str, str]) -> None:
        if a.get("type"):
            self.finish = StatedText(a["type"], self._line())

    def _property(self, a: dict[str, str]) -> None:
        if self.spec is None:
            return
        section, text = self.section, a.get("text", "")
        if section == "MATERIAL" and text and self.spec.material is None:
            self.spec.material = StatedText(text, self._line())
        elif section == "START_LAYER":
            self.spec.start = a.get("layerOrGroupRef", "")
        elif section == "MUST_NOT_CUT_LAYER":
            self.spec.must_not_cut = a.get("layerOrGroupRef", "")
        elif section == "OTHER" and a.get("layerOrGroupRef"):
            self.spec.must_cut = a.get("layerOrGroupRef", "")
        elif a.get("value"):
            scale = _SCALES.get(a.get("unit", ""), 1.0)
            number = stated_number(a["value"], self._line(), scale)
            if number and section == "Z:IMPEDANCE":
                self.impedances.append(_Impedance(number, self.spec_name))
            elif number:
                self.spec.numbers.setdefault(section, number)

    def _layer(self, a: dict[str, str]) -> None:
        self.layer = a.get("name", "")
        self.layers.setdefault(self.layer, _Layer(a.get("layerFunction", ""), a.get("polarity", ""), self._line()))

    def _span(self, a: dict[str, str]) -> None:
        self.spans[self.layer] = a.get("fromLayer", ""), a.get("toLayer", "")

    def _stackup(self, a: dict[str, str]) -> None:
        self.thickness = stated_number(a.get("overallThickness", ""), self._line(), self.scale)

    def _stackup_group(self, a: dict[str, str]) -> None:
        self.groups += 1

    def _stackup_layer(self, a: dict[str, str]) -> None:
        name, thickness, number = (a.get(key, "") for key in ("layerOrGroupRef", "thickness", "sequence"))
        self.rows.append(_Row(name, thickness, self._line(), number, self.groups))

    def _spec_ref(self, a: dict[str, str]) -> None:
        name = a.get("id", "")
        if self.feature:
            self.drilled[name] += 1
            self.drill_lines.setdefault(name, self._line())
        elif self.rows:
            self.rows[-1].specs.append(name)

    def _feature(self, a: dict[str, str]) -> None:
        self.feature = a.get("layerRef", "")

    def _hole(self, a: dict[str, str], *, is_slot: bool = False) -> None:
        if self.feature:
            key = _HoleKey(self.feature, a.get("diameter", ""), is_slot, a.get("platingStatus", ""))
            self.holes[key] += 1
            if key not in self.hole_lines:
                self.hole_lines[key] = self._line()

    def _slot(self, a: dict[str, str]) -> None:
        self.slot = a

    def _oval(self, a: dict[str, str]) -> None:
        if self.slot is not None:
            sides = [side for side in (a.get("width", ""), a.get("height", "")) if stated_number(side, "")]
            narrow = min(sides, key=float, default="")
            self._hole({"diameter": narrow, "platingStatus": self.slot.get("platingStatus", "")}, is_slot=True)

    def _pad(self, a: dict[str, str]) -> None:
        if self.feature:
            self.pads[self.feature] += 1

    def _profile(self, a: dict[str, str]) -> None:
        self.in_profile = True
        self.profile_line = self._line()

    def _point(self, a: dict[str, str]) -> None:
        if self.in_profile:
            self.points.append((float(a.get("x", "nan")), float(a.get("y", "nan"))))

    def _curve(self, a: dict[str, str]) -> None:
        if self.in_profile and self.points:
            self.points += _arc_points(self.points[-1], a)


def _arc_points(start: tuple[float, float], a: dict[str, str]) -> list[tuple[float, float]]:
    """Return chord points of an arc, so that its bulge counts in the size."""
    x, y, cx, cy = (float(a.get(key, "nan")) for key in ("x", "y", "centerX", "centerY"))
    radius = math.hypot(x - cx, y - cy)
    begin, end = math.atan2(start[1] - cy, start[0] - cx), math.atan2(y - cy, x - cx)
    is_clockwise = a.get("clockwise", "false").lower() == "true"
    turn = (begin - end if is_clockwise else end - begin) % (2 * math.pi) or 2 * math.pi
    sign = -1 if is_clockwise else 1
    angles = [begin + sign * turn * k / 64 for k in range(1, 64)]
    return [(cx + radius * math.cos(t), cy + radius * math.sin(t)) for t in angles] + [(x, y)]


_STARTS: dict[str, Any] = {
    "CadHeader": Elements._header,
    "SoftwarePackage": Elements._software,
    "Spec": Elements._spec,
    "General": Elements._typed,
    "Dielectric": Elements._typed,
    "Conductor": Elements._typed,
    "Backdrill": Elements._typed,
    "Impedance": Elements._impedance,
    "LineWidth": Elements._line_width,
    "Spacing": Elements._spacing,
    "RefPlane": Elements._plane,
    "SurfaceFinish": Elements._surface,
    "Finish": Elements._finish,
    "Property": Elements._property,
    "Layer": Elements._layer,
    "Span": Elements._span,
    "Stackup": Elements._stackup,
    "StackupGroup": Elements._stackup_group,
    "StackupLayer": Elements._stackup_layer,
    "SpecRef": Elements._spec_ref,
    "LayerFeature": Elements._feature,
    "Hole": Elements._hole,
    "SlotCavity": Elements._slot,
    "Oval": Elements._oval,
    "Pad": Elements._pad,
    "Profile": Elements._profile,
    "PolyBegin": Elements._point,
    "PolyStepSegment": Elements._point,
    "PolyStepCurve": Elements._curve,
}
