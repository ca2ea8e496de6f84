"""Defects of the project file and of the custom design rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from drc_rules.analysis.return_path.return_paths import ReturnPaths
from tests.corpus.seeds.ground import Ground, Kind, Seed
from tests.corpus.seeds.signals import FAST


def _settings(ground: Ground) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ground.project) if ground.project else {}
    return found


def _classes(project: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.get("net_settings", {}).get("classes", [])
    return found


def small_class_via(ground: Ground) -> Iterator[Seed]:
    """A net class specifies a via below the board's own minimum."""
    project = _settings(ground)
    rules = project.get("board", {}).get("design_settings", {}).get("rules", {})
    least = float(rules.get("min_via_diameter") or 0)
    for row in _classes(project)[:1]:
        if least:
            row["via_diameter"], row["via_drill"] = round(0.8 * least, 4), round(0.4 * least, 4)
            yield Seed(names=frozenset({row["name"], f"class {row['name']}"}), project=json.dumps(project))


def class_of_another_impedance(ground: Ground) -> Iterator[Seed]:
    """The pairs of a controlled net class get half of their width."""
    judged = {name for row in ground.report.impedances if row.mean_ohm is not None for name in row.nets}
    classes = ground.board.project.net_classes_of
    for row in _classes(project := _settings(ground)):
        mine = {net for net in judged if row["name"] in classes.get(net, ())}
        if row["name"] != "Default" and mine and row.get("diff_pair_width"):
            row["diff_pair_width"] = round(0.5 * row["diff_pair_width"], 4)
            yield Seed(names=frozenset({row["name"]}), project=json.dumps(project))
            row["diff_pair_width"] *= 2


def no_classes(ground: Ground) -> Iterator[Seed]:
    """High-speed nets lose their net classes."""
    project = _settings(ground)
    settings = project.get("net_settings", {})
    classes = ground.board.project.net_classes_of
    groups = [group for group in ReturnPaths(ground.context).groups if group.family in FAST]
    fast = {ground.board.nets[net] for group in groups for net in group.nets if net in ground.board.tracks.net}
    if any(set(classes.get(net, ())) - {"Default"} for net in fast):
        settings["netclass_patterns"], settings["netclass_assignments"] = [], {}
        for row in settings.get("classes", []):
            row.pop("nets", None)
        yield Seed(names=frozenset(fast), project=json.dumps(project))


def broken_rules(ground: Ground) -> Iterator[Seed]:
    """A parenthesis is missing in the custom design rules."""
    text = '(version 1)\n(rule "width"\n\t(constraint track_width (min 0.2mm)\n'
    yield Seed(names=frozenset({"design rules", "rules", ".kicad_dru", "line 3"}), rules=text)


def idle_rule(ground: Ground) -> Iterator[Seed]:
    """A custom design rule for a net class that the board does not have."""
    text = (
        '(version 1)\n(rule "fast pairs"\n\t(condition "A.NetClass == \'PCIE_GEN9\'")\n'
        "\t(constraint track_width (min 0.1mm) (opt 0.11mm) (max 0.2mm)))\n"
    )
    yield Seed(names=frozenset({"fast pairs"}), rules=text)


def no_project(ground: Ground) -> Iterator[Seed]:
    """The project file is not handed over with the board."""
    if ground.project:
        yield Seed(names=frozenset({".kicad_pro", "project"}), project="")


KINDS = (
    Kind(name="via of a net class below the board's minimum", rules=("VIA013", "VIA014"), make=small_class_via),
    Kind(name="width of a controlled net class halved", rules=("IMP003",), make=class_of_another_impedance),
    Kind(name="high-speed nets lose their classes", rules=("NET006",), make=no_classes),
    Kind(name="design rules with a missing parenthesis", rules=("NET004",), make=broken_rules),
    Kind(name="design rule for a class that is not there", rules=("NET007",), make=idle_rule),
    Kind(name="project file missing", rules=("STK004",), make=no_project),
)
