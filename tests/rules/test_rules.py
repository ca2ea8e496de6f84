"""Every rule does in its cases what they say, and every rule has cases that fire and cases that stay quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from drc_rules.rules.rule import Rule, all_rules, find_rule
from drc_rules.settings.config import parse_config
from tests.support.rule_cases import FOLDER, Loaded, all_cases, holds

CASES = list(all_cases())
BOARDS = sorted((Path(__file__).parents[2] / "fixtures" / "boards").glob("*/*.kicad_pcb"))


@pytest.mark.parametrize("loaded", CASES, ids=lambda loaded: loaded.name)
def test_a_rule_finds_what_its_case_says_and_nothing_else(loaded: Loaded, tmp_path: Path) -> None:
    """The titles contain the expected pieces, one each; all else that the case states is so."""
    rule = find_rule(loaded.defect.replace("_", "-"))

    holds(loaded.case, rule, loaded.decide(tmp_path, rule))


def loads_with_what_is_pasted(settings: str, report: Report) -> None:
    """The lines that a report offers load below the settings, and offer no block twice."""
    pasted = "\n".join((settings, *report.proofs))

    parse_config(pasted)
    blocks = [block.strip() for block in f"\n{pasted.removeprefix(settings)}".split("\n[[")[1:]]
    assert len(blocks) == len(set(blocks)), report.proofs


@pytest.mark.slow
@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_what_a_report_offers_to_paste_loads_below_the_settings_of_a_board(path: Path) -> None:
    """Whatever tables the settings have already."""
    settings = (path.parent / "stackwright.toml").read_text(encoding="utf-8")

    loads_with_what_is_pasted(settings, check_board(path))


NEVER_FIND = {"NET001", "NET002"}
"""Rules that only ask: firing means that their clause is not verifiable."""


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_has_a_case_that_fires_and_one_that_stays_quiet(rule: Rule) -> None:
    """A rule without both is not known to work."""
    name = rule.name.replace("-", "_")
    mine = [loaded.case for loaded in CASES if loaded.defect == name]

    assert (FOLDER / rule.family / f"{name}.toml").exists()
    if rule.code in NEVER_FIND:
        fires = ["not verifiable" in case.verdicts.values() for case in mine]
    else:
        fires = [bool(case.finds) for case in mine]
    assert any(fires)
    assert not all(fires)


@pytest.mark.slow
@pytest.mark.parametrize("loaded", CASES, ids=lambda loaded: loaded.name)
def test_a_whole_check_says_the_same_and_each_finding_has_a_key_of_its_own(loaded: Loaded, tmp_path: Path) -> None:
    """With all rules on: no finding hides another one's, and what the report offers to paste loads."""
    report = loaded.check(tmp_path)

    holds(loaded.case, find_rule(loaded.defect.replace("_", "-")), report)
    loads_with_what_is_pasted(str(loaded.board.get("config", "")), report)
    keys = [f.key for f in report.findings]
    assert len(keys) == len(set(keys))
