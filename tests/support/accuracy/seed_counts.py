"""Counts what is known of misses: seeded defects and cases per rule, from the seeds and cases themselves."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from drc_rules.requirements.interfaces import interface, interface_ids
from drc_rules.requirements.profiles.profile import assemble, load_profile, profile_names
from drc_rules.requirements.profiles.shipped import shipped_clauses
from drc_rules.rules.rule import all_rules
from tests.boards import (
    test_seeded_board,
    test_seeded_buses,
    test_seeded_defects,
    test_seeded_fabrication,
    test_seeded_intent,
    test_seeded_order,
    test_seeded_over_design,
    test_seeded_power,
    test_seeded_return_path,
    test_seeded_rules_files,
    test_seeded_stackup,
    test_seeded_stubs,
    test_seeded_supply,
    test_seeded_thermal,
    test_seeded_vias,
)
from tests.support.rule_cases import all_cases

BOARDS = Path(__file__).parents[3] / "fixtures" / "expected" / "boards.toml"


def seeds() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield (file of tests, clause -> what it turns to) of every seeded defect."""
    for group in (test_seeded_defects.THOR_SEEDS, test_seeded_defects.WREN_SEEDS, test_seeded_defects.FILE_SEEDS):
        yield from (("defects", seed.turns) for seed in group.values())
    yield from (("board", seed.turns) for seed in test_seeded_board.SEEDS.values())
    yield from (("buses", seed.turns) for seed in test_seeded_buses.SEEDS.values())
    yield from (("fabrication", seed.turns) for seed in test_seeded_fabrication.SEEDS.values())
    yield from (("intent", seed.turns) for seed in test_seeded_intent.SEEDS.values())
    yield from (("intent", turns) for _, _, turns in test_seeded_intent.NVLINK_SEEDS.values())
    yield from (("order", seed.turns) for seed in test_seeded_order.SEEDS.values())
    yield from (("over_design", seed.turns) for seed in test_seeded_over_design.SEEDS.values())
    yield "over_design", test_seeded_over_design.UNFILLED.turns
    yield from (("power", seed.turns) for seed in test_seeded_power.SEEDS)
    yield from (("return_path", seed.turns) for seed in test_seeded_return_path.SEEDS.values())
    yield from (("rules_files", turns) for _, turns in test_seeded_rules_files.SEEDS.values())
    yield from (("stackup", seed.turns) for seed in test_seeded_stackup.SEEDS.values())
    yield from (("stubs", seed.turns) for seed in test_seeded_stubs.SEEDS.values())
    yield from (("supply", seed.turns) for seed in test_seeded_supply.SEEDS.values())
    yield from (("thermal", turns) for _, _, turns in test_seeded_thermal.SEEDS.values())
    for vias in (test_seeded_vias.SEEDS, test_seeded_vias.SPANS, test_seeded_vias.LANDS, test_seeded_vias.PITCHES):
        yield from (("vias", turns) for _, turns in vias.values())


@cache
def code_of_clause() -> dict[str, str]:
    """Return clause id -> code of the rule that decides it."""
    codes = {kind: rule.code for rule in all_rules() for kind in rule.kinds}
    families = {interface(one).family for one in interface_ids()}
    clauses = [s.clause for s in shipped_clauses()]
    for name in profile_names():
        for found in (families, ()):  # what a generation decides is asked of the families that are there
            clauses += assemble(load_profile(name), None, (), found).clauses
    return {clause.id: codes[clause.kind] for clause in clauses if clause.kind in codes}


def seeds_by_rule(verdict: str) -> Counter[str]:
    """Return how many seeds turn a clause of each rule to a verdict; of one that had failed, how many add findings."""
    counts: Counter[str] = Counter()
    for _, turns in seeds():
        counts.update({code_of_clause()[c] for c, to in turns.items() if to == verdict or _adds(to, verdict)})
    return counts


@cache
def rules_that_only_ask() -> frozenset[str]:
    """Return the codes of the rules that report nothing: what they ask for stays not verifiable until it is given."""
    names = {rule.name.replace("-", "_"): rule.code for rule in all_rules()}
    return frozenset(names.values()) - {names[loaded.defect] for loaded in all_cases() if loaded.case.finds}


def tried_by_rule() -> Counter[str]:
    """Return how many seeds of each rule it must report; of a rule that only asks, how many make it ask."""
    asked = seeds_by_rule("not verifiable")
    return seeds_by_rule("failed") + Counter({code: asked[code] for code in rules_that_only_ask()})


def _adds(to: str, verdict: str) -> bool:
    found = re.fullmatch(rf"{verdict} \+(\d+) -\d+", to)
    return found is not None and int(found[1]) > 0


@cache
def boards_by_rule() -> Counter[str]:
    """Return on how many of the project's own boards a clause of each rule must fail; no other clause may."""
    counts: Counter[str] = Counter()
    for row in tomllib.loads(BOARDS.read_text(encoding="utf-8")).values():
        counts.update({code_of_clause()[clause] for clause in row["failed"]})
    return counts


@cache
def cases_by_rule() -> dict[str, tuple[int, int]]:
    """Return code -> (cases in which it fires, cases in which it stays quiet)."""
    names = {rule.name.replace("-", "_"): rule.code for rule in all_rules()}
    fires: Counter[str] = Counter()
    quiet: Counter[str] = Counter()
    for loaded in all_cases():
        asks = "not verifiable" in loaded.case.verdicts.values()
        (fires if loaded.case.finds or asks else quiet)[names[loaded.defect]] += 1
    return {code: (fires[code], quiet[code]) for code in names.values()}
