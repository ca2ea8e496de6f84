"""What IPC-2581 revision C allows in specifications, layers and stackup, and what of a file breaks it.

Names, values and order are those of IPC-2581C.xsd, as KiCad keeps it in qa/data/pcbnew/ipc2581. Here stands what KiCad
and the corrected file use of it, in a form of our own: an element or attribute outside of it counts as a fault. Steps,
parts and nets are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

NAMESPACE = "{http://webstds.ipc.org/2581}"

Check = Callable[[str], bool]


def _number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


def _size(text: str) -> bool:
    return _number(text) and float(text) >= 0


def _name(text: str) -> bool:
    return re.fullmatch(r"[^:]+(:[^:]+)?", text) is not None


def _any(text: str) -> bool:
    return True


def _one_of(words: str) -> Check:
    allowed = set(words.split())
    return lambda text: text in allowed


_YES_OR_NO = _one_of("true false 0 1")
_TOLERANCES: dict[str, Check] = {"tolPlus!": _size, "tolMinus!": _size, "tolPercent": _YES_OR_NO}
_ASKED_TOLERANCES: dict[str, Check] = {"tolPlus": _size, "tolMinus": _size, "tolPercent": _YES_OR_NO}
_LENGTH: dict[str, Check] = {"value": _number, "unit": _one_of("MM INCH MICRON MILS"), **_ASKED_TOLERANCES}
_STRUCTURES = (
    "STRIPLINE_SYMMETRIC STRIPLINE_ASYMMETRIC STRIPLINE_PLANE_LESS MICROSTRIP_EMBEDDED MICROSTRIP_MASK_COVERED"
    " MICROSTRIP_DUAL_MASKED_COVERED OTHER"
)


def _structure(text: str) -> bool:
    """The schema has a blank after one of the names."""
    return text == "MICROSTRIP_NO_MASK " or text in _STRUCTURES.split()


ATTRIBUTES: dict[str, dict[str, Check]] = {
    "CadHeader": {"units!": _one_of("MILLIMETER MICRON INCH")},
    "Spec": {"name!": _any},
    "General": {
        "type!": _one_of("ELECTRICAL THERMAL MATERIAL INSTRUCTION STANDARD CONFIGURATION OTHER"),
        "comment": _any,
    },
    "Dielectric": {
        "type!": _one_of(
            "DIELECTRIC_CONSTANT LOSS_TANGENT GLASS_STYLE RESIN_CONTENT Tg_DSC Tg_DMA Tg_TMA Td SLASH_NUM_IPC4101"
            " SLASH_NUM_IPC4103 PRODUCT_NAME OTHER"
        ),
        "comment": _any,
    },
    "Conductor": {"type": _one_of("CONDUCTIVITY ETCH_FACTOR FINISHED_HEIGHT WEIGHT OTHER"), "comment": _any},
    "Backdrill": {"type!": _one_of("START_LAYER MUST_NOT_CUT_LAYER MAX_STUB_LENGTH OTHER"), "comment": _any},
    "SurfaceFinish": {
        "type!": _one_of(
            "S b1 T X TLU G GS GWB-1-G GWB-1-N GWB-2-G GWB-2-N N NB OSP HT_OSP ENIG-N ENIG-G ENEPIG-N ENEPIG-G ENEPIG-P"
            " DIG IAg ISn C OTHER"
        ),
        "comment": _any,
    },
    "Impedance": {"value!": _number, **_ASKED_TOLERANCES, "comment": _any},
    "SingleEnded": {"structure!": _structure},
    "EdgeCoupled": {"structure!": _structure},
    "LineWidth": _LENGTH,
    "Spacing": _LENGTH,
    "RefPlane": {"layerOrGroupRef": _name},
    "Property": {
        **dict.fromkeys(("name", "text", "comment", "refText"), _any),
        "value": _number,
        "refValue": _number,
        "unit": _one_of("MM INCH MICRON MILS OHMS MHO/CM SIEMENS/M PERCENT Hz DEGREES OZ OZ/SQ-FT OTHER"),
        **_ASKED_TOLERANCES,
        "layerOrGroupRef": _name,
    },
    "Layer": {
        "name!": _name,
        "layerFunction!": _one_of(
            "ASSEMBLY BOARD_OUTLINE CONDUCTOR COURTYARD DIELBASE DIELCORE DIELPREG DOCUMENT DRILL GLUE GRAPHIC HOLEFILL"
            " COATINGCOND COATINGNONCOND LEGEND MIXED OTHER PASTEMASK PLANE SIGNAL SILKSCREEN SOLDERMASK SOLDERPASTE"
        ),
        "side!": _one_of("TOP BOTTOM BOTH INTERNAL ALL NONE"),
        "polarity!": _one_of("POSITIVE NEGATIVE"),
    },
    "Span": {"fromLayer": _name, "toLayer": _name},
    "SpecRef": {"id!": _name},
    "Stackup": {
        "name!": _name,
        "overallThickness!": _size,
        **_TOLERANCES,
        "whereMeasured!": _one_of("LAMINATE METAL MASK OTHER"),
        "stackupStatus!": _one_of("SPECIFIED PROPOSED APPROVED"),
        "comment": _any,
    },
    "StackupGroup": {"name!": _name, "thickness!": _size, **_TOLERANCES, "comment": _any},
    "StackupLayer": {
        "layerOrGroupRef!": _name,
        "thickness!": _size,
        **_TOLERANCES,
        "sequence": _size,
        "comment": _any,
    },
}
"""Attributes of each element; "!" marks a required one."""

CHILDREN: dict[str, str] = {
    "CadHeader": "(Spec )*(ChangeRec )*",
    "Spec": "((General|Dielectric|Conductor|Backdrill|SurfaceFinish|Impedance) )*(Outline )?",
    "General": "(Property )*((Color|ColorTerm) )?",
    "Dielectric": "(Property )*",
    "Conductor": "(Property )*",
    "Backdrill": "(Property )*",
    "SurfaceFinish": "(Product )*",
    "Impedance": "((SingleEnded|EdgeCoupled) )?",
    "SingleEnded": "LineWidth (RefPlane ){0,2}",
    "EdgeCoupled": "LineWidth Spacing (RefPlane ){0,2}",
    "Layer": "(SpecRef )*(Span )?(Profile )*",
    "Stackup": "(SpecRef )*(StackupGroup )*",
    "StackupGroup": "(StackupLayer )*(CADDataLayerRef )*(SpecRef )*",
    "StackupLayer": "(SpecRef )*",
}
"""Order and number of the elements in each; the others are empty."""


def ipc2581_faults(content: bytes) -> list[str]:
    """Return what in the parts named above breaks the schema."""
    root = fromstring(content)
    header, data = (root.find(f"{NAMESPACE}Ecad/{NAMESPACE}{name}") for name in ("CadHeader", "CadData"))
    if header is None or data is None:
        return ["no CadHeader or no CadData"]
    layers = data.findall(f"{NAMESPACE}Layer")
    stackups = data.findall(f"{NAMESPACE}Stackup")
    order = "".join(f"{_tag(one)} " for one in data)
    faults = [] if re.fullmatch("(Layer )+(Stackup )*(Step )+", order) else ["CadData: Layer, Stackup, Step expected"]
    for part in (header, *layers, *stackups):
        faults += _faults_in(part)
    groups = [group for stackup in stackups for group in stackup]
    faults += _wrong_references(root, header, [one.get("name", "") for one in (*layers, *groups)])
    return faults


def _tag(element: Element) -> str:
    return element.tag.removeprefix(NAMESPACE)


def _faults_in(element: Element) -> Iterator[str]:
    tag = _tag(element)
    if tag in ("Outline", "Profile", "ChangeRec", "Product", "Color", "ColorTerm"):
        return
    allowed = ATTRIBUTES.get(tag)
    if allowed is None:
        yield f"{tag} is not known"
        return
    for name in allowed:
        if name.endswith("!") and name[:-1] not in element.attrib:
            yield f"{tag} lacks {name[:-1]}"
    for name, value in element.attrib.items():
        check = allowed.get(name) or allowed.get(f"{name}!")
        if check is None or not check(value):
            yield f'{tag} {name}="{value}"'
    inside = "".join(f"{_tag(one)} " for one in element)
    if re.fullmatch(CHILDREN.get(tag, ""), inside) is None:
        yield f"{tag} holds {inside.strip()}"
    for one in element:
        yield from _faults_in(one)


def _wrong_references(root: Element, header: Element, places: list[str]) -> Iterator[str]:
    specs = [spec.get("name", "") for spec in header]
    for kind, names in (("Spec", specs), ("Layer or StackupGroup", places)):
        for name in {name for name in names if names.count(name) > 1}:
            yield f"{kind} {name} is there twice"
    for element in root.iter():
        tag = _tag(element)
        if tag == "SpecRef" and element.get("id") not in specs:
            yield f"SpecRef {element.get('id')} names no Spec"
        if tag in ("RefPlane", "Property", "StackupLayer") and element.get("layerOrGroupRef", places[0]) not in places:
            yield f"{tag} {element.get('layerOrGroupRef')} names no layer"
