"""Findings, verdicts and a report that are made up, and the schema that a report keeps to."""

from __future__ import annotations

import copy
from pathlib import Path

from drc_rules.report.findings import Finding, FindingLimit, Location, Measured
from drc_rules.report.model import BoardFacts, Headline, Report, TakenAs
from drc_rules.report.verdicts import ClauseVerdict, Coverage, Missing, Verdict
from drc_rules.requirements.clauses import Basis, Clause, Limit, Severity, Source
from stackup_lib.core.facts import Confidence

SCHEMA = Path(__file__).parents[3] / "fixtures" / "schemas" / "report-v1.json"


def finding(net: str = "/TX0_P", **changes: object) -> Finding:
    """Return a stub finding on a net."""
    known: dict[str, object] = {
        "code": "VIA001",
        "name": "missing-backdrill",
        "clause": "training.backdrill.pcie6",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "basis": "requirement",
        "title": f"{net}: 1.36 mm stub from In1.Cu to B.Cu, not backdrilled",
        "why": "the stub is an open line beside the signal",
        "fix": "backdrill from B.Cu up to the layer next to In1.Cu",
        "measured": Measured(value=1.36, unit="mm"),
        "limit": FindingLimit(value=0.25, unit="mm", source="A guide, Table 3, row Backdrill"),
        "places": (Location(layer="B.Cu", net=net, uuid="u-1", x_mm=20.0, y_mm=10.5),),
        "key": f"VIA001-{net}",
    }
    return Finding.model_validate({**known, **changes})


def verdict(clause: str, answer: Verdict, **changes: object) -> ClauseVerdict:
    """Return a verdict on a clause of error severity."""
    demand = Clause(
        id=clause,
        kind="a_kind",
        title=f"the demand of {clause}",
        severity=Severity.ERROR,
        limit=Limit(min=4),
        source=Source(document="a-guide", table="Table 1", row="a row"),
    )
    known: dict[str, object] = {
        "clause": demand,
        "code": "VIA001",
        "verdict": answer,
        "confidence": Confidence.HIGH,
        "checked": 3,
        "source": "A guide, Table 1, a row",
    }
    return ClauseVerdict.model_validate({**known, **changes})


NEEDS_FOIL = Missing(fact="foil grade of In1.Cu", how_to_give='[declared]\nfoil = "?"')


def report(**changes: object) -> Report:
    """Return a report of a board with one failed, one open, one passed clause and one without a rule."""
    known: dict[str, object] = {
        "board": BoardFacts(
            path="boards/card.kicad_pcb",
            sha256="0" * 64,
            kicad="pcbnew 20260206",
            copper_layers=4,
            thickness_mm=1.6,
            size_mm=(80.0, 40.0),
            stackup="Megtron 6 (2 plies)",
            materials=("R-5775(N)",),
            copper="4x35 um, top to bottom",
            tracks=10,
            vias=2,
            nets=5,
            lines=("4 copper layers, 1.600 mm thick", "stackup: Megtron 6 (2 plies)"),
        ),
        "profile": "training-b200",
        "form": "hgx",
        "headline": Headline.NOT_FIT,
        "headline_why": "1 clause failed: training.backdrill.pcie6",
        "findings": (finding(),),
        "verdicts": (
            verdict("training.backdrill.pcie6", Verdict.FAILED, worst=Severity.ERROR),
            verdict("training.foil.pcie6", Verdict.NOT_VERIFIABLE, checked=0, undecided=2, missing=(NEEDS_FOIL,)),
            verdict("training.layers.min", Verdict.PASSED),
            verdict("training.loss.pcie6", Verdict.NOT_VERIFIABLE, code="", checked=0, undecided=1, has_rule=False),
        ),
        "coverage": Coverage(decided=6, total=8, clauses_without_rule=1),
        "taken_as": (
            TakenAs(
                group="PCIE_85",
                nets=16,
                interface="pcie6",
                family="pcie",
                origin="inferred",
                confidence=Confidence.MEDIUM,
                why="its name says PCIE",
            ),
        ),
        "proofs": ("[declared]", 'foil = "?"  # STD, RTF, LP, VLP or HVLP'),
    }
    return Report.model_validate({**known, **changes})


def strict(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema with no keys allowed that it does not name: what we write must be what we publish."""
    schema = copy.deepcopy(schema)
    for part in [schema, *schema["$defs"].values()]:  # type: ignore[attr-defined]
        if part.get("type") == "object":
            part["additionalProperties"] = False
    return schema


def clause(severity: Severity = Severity.ERROR, *, kind: str = "test", name: str = "t.one") -> Clause:
    return Clause(
        id=name,
        kind=kind,
        title="at least one",
        severity=severity,
        basis=Basis.FILE,
        limit=Limit(min=1),
        source=Source(document="kicad-file-format"),
    )
