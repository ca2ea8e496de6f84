"""A sample for judging is even over rules and boards, repeats, and has what a judge needs."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.corpus.manifest import read_manifest
from tests.corpus.sample import draw, main, read_findings


def finding(code: str, board: str, key: str, severity: str = "warning") -> dict[str, Any]:
    return {
        "board": board, "code": code, "name": "a-rule", "clause": "c", "severity": severity, "key": key,
        "title": f"{key} is wrong", "why": "it costs", "measured": None,
        "limit": {"value": 0.1, "unit": "mm", "source": "a document"},
        "place": {"layer": "F.Cu", "net": "GND", "x_mm": 1.5, "y_mm": 2.5, "line": 7, "uuid": None}, "places": 1,
    }  # fmt: skip


MANY = [finding("A", "x/y/a.kicad_pcb", f"a{n}") for n in range(50)]
OTHERS = [finding("A", "x/y/b.kicad_pcb", "b0"), finding("B", "x/y/a.kicad_pcb", "c0"), finding("B", "z/z/z", "c1")]


def test_neither_a_rule_nor_a_board_with_many_findings_crowds_out_the_others() -> None:
    drawn = draw([*MANY, *OTHERS], 6)
    assert Counter(one["code"] for one in drawn) == {"A": 4, "B": 2}
    assert Counter(one["board"] for one in drawn if one["code"] == "A") == {"x/y/a.kicad_pcb": 3, "x/y/b.kicad_pcb": 1}


def test_the_order_of_the_input_does_not_matter_and_the_seed_does() -> None:
    assert draw([*MANY, *OTHERS], 10) == draw([*OTHERS, *reversed(MANY)], 10)
    assert draw(MANY, 10, seed=1) != draw(MANY, 10, seed=2)


def test_where_there_are_fewer_all_are_drawn() -> None:
    assert sorted(one["key"] for one in draw(OTHERS, 100)) == ["b0", "c0", "c1"]


def test_a_finding_of_two_runs_is_drawn_once_with_the_place_and_the_file(tmp_path: Path) -> None:
    entry = read_manifest()[0]
    lines = [json.dumps(finding("A", entry.name, "k", "error")), json.dumps(finding("A", entry.name, "l", "info"))]
    for run in ("inferred", "edge"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "findings.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [tmp_path / "inferred" / "findings.jsonl", tmp_path / "edge" / "findings.jsonl"]
    assert len(read_findings(files)) == 2
    main([*map(str, files), "--output", str(tmp_path / "sample.csv"), "--boards", "/cache/boards"])
    (row,) = csv.DictReader((tmp_path / "sample.csv").read_text(encoding="utf-8").splitlines())
    assert row["severity"] == "error" and row["key"] == "k" and row["profile"] == "inferred"
    assert (row["layer"], row["net"], row["x_mm"], row["y_mm"], row["line"]) == ("F.Cu", "GND", "1.5", "2.5", "7")
    assert row["limit"] == "0.1 mm" and row["message"] == "k is wrong"
    assert row["file"] == f"/cache/boards/{entry.repository.replace('/', '+')}/{entry.commit[:12]}/{entry.path}"
