"""A text that would do harm in a page, and a stackup that has it everywhere."""

from __future__ import annotations

from drc_rules.report.findings import Location
from drc_rules.report.model import Report, RuleCrash, TakenAs
from drc_rules.report.stackup_rows import Carried, StackupRow, StackupView, Stated, ViaSpan
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.facts import Confidence
from tests.support.reports.made_reports import finding, report

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "one\ntwo\r\nthree",
    "\u202egnp.\u2066x",
    "]]></title><style>*{display:none}</style>",
    "a|b `c` [d](http://e.example) @octocat **f**",
    "\x1b[2J\x00\x07",
    "\ufffe\U0010ffff",
]


def hostile_view(text: str) -> StackupView:
    """Return a stackup with the text wherever a board file can put one."""
    carried = Carried(interface="pcie5", title=text, nets=2, longest_mm=10.0, inferred=True)
    return StackupView(
        stated=Stated.FILE,
        thickness_mm=0.2,
        rows=(
            StackupRow(
                name="F.Cu",
                user_name=text,
                kind=LayerKind.COPPER,
                thickness_mm=0.035,
                role=LayerRole.POWER,
                main_net=text,
                carries=(carried,),
            ),
            StackupRow(name=text, kind=LayerKind.CORE, thickness_mm=0.13, material=text, laminate=text),
            StackupRow(name="B.Cu", kind=LayerKind.COPPER, thickness_mm=0.035, role=LayerRole.SIGNAL),
        ),
        spans=(ViaSpan(kind="through", top="F.Cu", bottom="B.Cu", count=3, drill_min_mm=0.2, drill_max_mm=0.3),),
        notes=(text,),
    )


def hostile_report(text: str) -> Report:
    """Return a report with the text wherever a board, its settings or its path can put one."""
    plain = report()
    return plain.model_copy(
        update={
            "board": plain.board.model_copy(update={"path": text, "lines": (f"stackup: {text}", text), "kicad": text}),
            "profile": text,
            "headline_why": text,
            "findings": (
                finding().model_copy(
                    update={"title": text, "fix": text, "places": (Location(layer=text, net=text, line=3),)}
                ),
            ),
            "taken_as": (
                TakenAs(
                    group=text,
                    nets=2,
                    interface="pcie5",
                    family="pcie",
                    origin="inferred",
                    confidence=Confidence.LOW,
                    why=text,
                ),
            ),
            "proofs": (f"# {text}", "[declared]", f"nets = {text}"),
            "crashes": (RuleCrash(code="VIA001", name="missing-backdrill", error=text),),
            "notes": (text,),
            "stackup": hostile_view(text),
        }
    )
