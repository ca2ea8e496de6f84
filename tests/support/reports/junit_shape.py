"""What Jenkins takes for a JUnit report: its elements, where they may stand, their attributes and how those look.

Facts of Jenkins' schema (xunit plugin, junit-10), put down here because the schema itself is not ours to ship. Plain
counts are held to more than it asks: Jenkins takes any text for a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

TEXT, COUNT, TIME = r"(?s).*", r"\d+", r"\d*(\.\d{0,3})?"


@dataclass(frozen=True)
class Element:
    """An element: its attributes by the pattern of their values, those that must be there, what may stand in it."""

    attributes: dict[str, str]
    required: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()
    has_text: bool = False


SAID = Element({"type": TEXT, "message": TEXT}, has_text=True)
OUTPUT = Element({}, has_text=True)
COUNTS = {"tests": COUNT, "failures": COUNT, "errors": COUNT}
ELEMENTS = {
    "testsuites": Element({"name": TEXT, "time": TIME, **COUNTS}, children=frozenset({"testsuite"})),
    "testsuite": Element(
        {"name": TEXT, "time": TIME, "skipped": COUNT, **COUNTS}
        | dict.fromkeys(("group", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"), TEXT),
        required=frozenset({"name", *COUNTS}),
        children=frozenset({"testsuite", "properties", "testcase", "system-out", "system-err"}),
    ),
    "properties": Element({}, children=frozenset({"property"})),
    "property": Element({"name": TEXT, "value": TEXT}, required=frozenset({"name", "value"})),
    "testcase": Element(
        {"name": TEXT, "time": TEXT, "classname": TEXT, "group": TEXT},
        required=frozenset({"name"}),
        children=frozenset({"skipped", "error", "failure", "system-out", "system-err"}),
    ),
    "failure": SAID,
    "error": SAID,
    "skipped": SAID,
    "system-out": OUTPUT,
    "system-err": OUTPUT,
}
ROOTS = ("testsuites", "testsuite")


def faults(text: str) -> list[str]:
    """Return what Jenkins would refuse, in the order of the report; nothing for a report that it takes."""
    root = ET.fromstring(text)  # noqa: S314 - our own output
    return [*([] if root.tag in ROOTS else [f"the root is <{root.tag}>"]), *_faults(root)]


def _faults(node: ET.Element) -> Iterator[str]:
    known = ELEMENTS.get(node.tag)
    if known is None:
        yield f"<{node.tag}> is no element"
        return
    for name, value in node.attrib.items():
        if name not in known.attributes:
            yield f"<{node.tag}> has no {name}"
        elif not re.fullmatch(known.attributes[name], value):
            yield f'{name}="{value}" of <{node.tag}>'
    for name in sorted(known.required - node.attrib.keys()):
        yield f"<{node.tag}> lacks {name}"
    texts = [node.text, *(child.tail for child in node)]
    if not known.has_text and any(text and text.strip() for text in texts):
        yield f"text in <{node.tag}>"
    for child in node:
        if child.tag not in known.children:
            yield f"<{child.tag}> in <{node.tag}>"
        else:
            yield from _faults(child)
