"""A corrected IPC-2581 C: plies, materials, impedances and backdrills; every other byte stays as it was.

Element names and enumerations are those of the schema IPC-2581C.xsd that KiCad's own tests validate against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

from stackup_lib.board.stackup import LayerKind, Ply
from stackup_lib.core.record import record
from stackup_lib.fab_files.facts import FabFileError
from stackup_lib.fab_files.ipc2581 import KINDS
from stackup_lib.fab_files.ipc2581_elements import parse_ipc2581

_IS_DIELECTRIC = (LayerKind.CORE, LayerKind.PREPREG)
_AGAIN = "export it from this board: kicad-cli pcb export ipc2581 --version C ..."


@record
class ImpedanceSpec:
    """One controlled geometry; layers are counted from 0 at the top, `gap_mm` is None of a single trace."""

    layer: int
    ohm: float
    tolerance_pct: float | None
    width_mm: float
    gap_mm: float | None
    references: tuple[int, ...]
    structure: str
    title: str


@record
class BackdrillSpec:
    """Backdrills from an outer layer; the file names the layer that must stay, and gets what it leaves out."""

    start: int
    must_cut: int
    must_not_cut: int
    diameter_mm: float


@dataclass
class _Element:
    name: str
    at: int
    attrs: dict[str, str]
    refs: list[str] = field(default_factory=list)
    end: int = 0
    start_layer: str = ""
    must_not_cut: str = ""


class _Places:
    """Where in the bytes specs, layers and rows stand."""

    expat: Any = None

    def __init__(self) -> None:
        self.revision = ""
        self.functions: dict[str, str] = {}
        self.specs: dict[str, _Element] = {}
        self.rows: list[_Element] = []
        self.inside: _Element | None = None
        self.section = ""
        self.header_end = 0

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        handler = _STARTS.get(tag.rpartition("}")[2])
        if handler:
            handler(self, attrs)

    def _root(self, a: dict[str, str]) -> None:
        self.revision = a.get("revision", "")

    def _layer(self, a: dict[str, str]) -> None:
        self.functions.setdefault(a.get("name", ""), a.get("layerFunction", ""))

    def _spec(self, a: dict[str, str]) -> None:
        self.inside = self.specs[a.get("name", "")] = _Element("Spec", self.expat.CurrentByteIndex, a)

    def _row(self, a: dict[str, str]) -> None:
        self.inside = _Element("StackupLayer", self.expat.CurrentByteIndex, a)
        self.rows.append(self.inside)

    def _spec_ref(self, a: dict[str, str]) -> None:
        if self.inside is not None:
            self.inside.refs.append(a.get("id", ""))

    def _backdrill(self, a: dict[str, str]) -> None:
        if self.inside is not None:
            self.section = a.get("type", "")

    def _property(self, a: dict[str, str]) -> None:
        if self.inside is None:
            return
        if self.section == "START_LAYER":
            self.inside.start_layer = a.get("layerOrGroupRef", "")
        elif self.section == "MUST_NOT_CUT_LAYER":
            self.inside.must_not_cut = a.get("layerOrGroupRef", "")

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name in ("Spec", "StackupLayer") and self.inside is not None:
            self.inside.end, self.inside = self.expat.CurrentByteIndex, None
        elif name == "Backdrill":
            self.section = ""
        elif name == "CadHeader":
            self.header_end = self.expat.CurrentByteIndex

    def close(self) -> None:
        """End of the file."""


_STARTS: dict[str, Any] = {
    "IPC-2581": _Places._root,
    "Layer": _Places._layer,
    "Spec": _Places._spec,
    "StackupLayer": _Places._row,
    "SpecRef": _Places._spec_ref,
    "Backdrill": _Places._backdrill,
    "Property": _Places._property,
}

Edit = tuple[int, int, bytes]


def corrected_ipc2581(
    content: bytes,
    place: str,
    sheets: Sequence[tuple[LayerKind, Ply]],
    impedances: Sequence[ImpedanceSpec],
    backdrills: Sequence[BackdrillSpec],
) -> bytes:
    """Return the file with the board's stackup, impedances and backdrills in it.

    Args:
        content: an IPC-2581 C in millimetres.
        place: its name, for messages.
        sheets: copper, dielectric plies and masks of the board from the top.
        impedances: controlled geometries.
        backdrills: what the file's own backdrill specs lack.

    Raises:
        FabFileError: it is another revision, was corrected before, or has other rows than the board.
    """
    found = _Places()
    parse_ipc2581(content, place, found)
    if not found.revision.startswith("C"):
        raise FabFileError(place, f"is IPC-2581 revision {found.revision or 'unknown'}, not C", _AGAIN)
    if any(name.startswith(_IMPEDANCE) for name in found.specs):
        raise FabFileError(place, "was corrected before", _AGAIN)
    rows = [(row, kind) for row in found.rows if (kind := _kind(found, row)) is not None]
    if [kind for _, kind in rows] != [kind for kind, _ in sheets]:
        raise FabFileError(place, "has other rows in its stackup than the board", _AGAIN)
    edits: list[Edit] = []
    for (row, kind), (_, ply) in zip(rows, sheets, strict=True):
        edits += _row(content, found, row, kind, ply)
    copper = [row for row, kind in rows if kind is LayerKind.COPPER]
    names = [row.attrs.get("layerOrGroupRef", "") for row in copper]
    edits += _impedances(copper, names, impedances, found)
    edits += _backdrills(names, backdrills, found)
    return _applied(content, edits)


_IMPEDANCE = "IMPEDANCE_"


def _kind(found: _Places, row: _Element) -> LayerKind | None:
    return KINDS.get(found.functions.get(row.attrs.get("layerOrGroupRef", ""), ""))


def _row(content: bytes, found: _Places, row: _Element, kind: LayerKind, ply: Ply) -> Iterator[Edit]:
    if ply.thickness_mm is not None and abs(float(row.attrs.get("thickness", "nan")) - ply.thickness_mm) >= 5e-7:
        yield _attribute(content, row.at, "thickness", _number(ply.thickness_mm))
    spec = next((found.specs[ref] for ref in row.refs if ref in found.specs), None)
    if kind in _IS_DIELECTRIC and spec is not None:
        old = content[spec.at : spec.end]
        new = _material(spec, kind, ply, old)
        if new is not None:
            yield spec.at, spec.end, new


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _attribute(content: bytes, at: int, name: str, value: str) -> Edit:
    start = content.index(f' {name}="'.encode(), at) + len(name) + 3
    return start, content.index(b'"', start), value.encode()


def _material(spec: _Element, kind: LayerKind, ply: Ply, old: bytes) -> bytes | None:
    """Return a dielectric's spec anew where it does not say what the board does; None where it does."""
    wanted = {"DIELECTRIC_CONSTANT": ply.dk, "LOSS_TANGENT": ply.df}
    parts = []
    is_right = ply.material is None or f"<Property text={quoteattr(ply.material)}".encode() in old
    for name, value in wanted.items():
        if value is None:
            continue
        number = f'          <Property value="{_number(value)}"/>\n'
        parts.append(f'        <Dielectric type="{name}">\n{number}        </Dielectric>\n')
        at = old.find(f'<Dielectric type="{name}">'.encode())
        is_right = is_right and at >= 0 and abs(_value_after(old, at) - value) < 5e-7
    if is_right:
        return None
    material = f"          <Property text={quoteattr(ply.material)}/>\n" if ply.material else ""
    text = (
        f"<Spec name={quoteattr(spec.attrs['name'])}>\n"
        f'        <General type="MATERIAL">\n{material}'
        f'          <Property text="Type : {kind.value}"/>\n        </General>\n{"".join(parts)}      '
    )
    return text.encode()


def _value_after(text: bytes, at: int) -> float:
    start = text.find(b'value="', at) + 7
    try:
        return float(text[start : text.index(b'"', start)])
    except ValueError:
        return float("nan")


def _impedances(
    copper: list[_Element], names: list[str], impedances: Sequence[ImpedanceSpec], found: _Places
) -> Iterator[Edit]:
    refs: dict[int, list[str]] = {}
    text = ""
    for number, one in enumerate(impedances, start=1):
        name = f"{_IMPEDANCE}{number}"
        refs.setdefault(one.layer, []).append(name)
        tolerance = ""
        if one.tolerance_pct is not None:
            tolerance = f' tolPlus="{one.tolerance_pct:g}" tolMinus="{one.tolerance_pct:g}" tolPercent="true"'
        kind = "SingleEnded" if one.gap_mm is None else "EdgeCoupled"
        gap = "" if one.gap_mm is None else f'            <Spacing value="{_number(one.gap_mm)}" unit="MM"/>\n'
        planes = "".join(f"            <RefPlane layerOrGroupRef={quoteattr(names[k])}/>\n" for k in one.references)
        text += (
            f'      <Spec name="{name}">\n'
            f'        <Impedance value="{one.ohm:g}"{tolerance} comment={quoteattr(one.title)}>\n'
            f'          <{kind} structure="{one.structure}">\n'
            f'            <LineWidth value="{_number(one.width_mm)}" unit="MM"/>\n{gap}{planes}'
            f"          </{kind}>\n        </Impedance>\n      </Spec>\n"
        )
    if text:
        last = max((spec.end + len(b"</Spec>") for spec in found.specs.values()), default=found.header_end)
        yield last, last, b"\n" + text.rstrip("\n").encode()
    for layer, specs in refs.items():
        at = copper[layer].end
        added = "".join(f'  <SpecRef id="{name}"/>\n          ' for name in specs)
        yield at, at, added.encode()


def _backdrills(names: list[str], backdrills: Sequence[BackdrillSpec], found: _Places) -> Iterator[Edit]:
    for one in backdrills:
        start, kept, cut = names[one.start], names[one.must_not_cut], names[one.must_cut]
        for spec in found.specs.values():
            if (spec.start_layer, spec.must_not_cut) == (start, kept):
                text = (
                    '  <Backdrill type="OTHER" comment="must cut">\n'
                    f"          <Property layerOrGroupRef={quoteattr(cut)}/>\n        </Backdrill>\n"
                    '        <Backdrill type="OTHER" comment="drill diameter">\n'
                    f'          <Property value="{_number(one.diameter_mm)}" unit="MM"/>\n        </Backdrill>\n      '
                )
                yield spec.end, spec.end, text.encode()


def _applied(content: bytes, edits: list[Edit]) -> bytes:
    parts, last = [], 0
    for start, end, new in sorted(edits):
        parts += [content[last:start], new]
        last = end
    return b"".join([*parts, content[last:]])
