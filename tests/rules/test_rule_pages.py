"""Every rule has a page with its sections, a code and a name that say the defect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import drc_rules
from drc_rules.rules.rule import PAGE_SECTIONS, Rule, all_rules, choose_rules, find_rule
from stackup_lib.core.errors import ConfigError
from tests.support.each import each

RULES = all_rules()
FAMILIES = {
    "stackup": "STK",
    "material": "MAT",
    "foil": "FOI",
    "copper": "CUP",
    "impedance": "IMP",
    "via": "VIA",
    "intent": "NET",
    "loss": "LOS",
    "return_path": "RET",
    "delay": "SKW",
    "power": "PDN",
    "thermal": "THM",
    "fabrication": "FAB",
    "over_design": "OVR",
}


@each(rule=RULES)
def test_a_page_has_a_summary_and_all_sections_in_order(rule: Rule) -> None:
    """`stackwright explain` prints the page; it is the only explanation there is."""
    places = [rule.page.find(f"\n{heading}\n" + "-" * len(heading) + "\n") for heading in PAGE_SECTIONS]

    assert rule.summary.endswith(".")
    assert -1 not in places
    assert places == sorted(places)
    assert all(len(rule.section(heading)) > 30 for heading in PAGE_SECTIONS)


def test_what_a_rule_cannot_see_is_short() -> None:
    """The biggest blind spots, in a length that people read."""
    words = {rule.code: len(rule.section("What it cannot see").split()) for rule in RULES}
    assert {code: count for code, count in words.items() if count > 40} == {}


@each(rule=RULES)
def test_code_and_name_fit_the_family_and_name_the_defect(rule: Rule) -> None:
    """Names say what is wrong, never what to do."""
    assert re.fullmatch(r"[A-Z]{3}\d{3}", rule.code)
    assert rule.code.startswith(FAMILIES[rule.family])
    assert not re.match(r"(use|avoid|prefer|check|no|must)-", rule.name)


def test_codes_and_kinds_are_unique() -> None:
    """A clause is decided by one rule."""
    codes = [rule.code for rule in RULES]
    kinds = [kind for rule in RULES for kind in rule.kinds]

    assert len(codes) == len(set(codes))
    assert len(kinds) == len(set(kinds))


def test_a_former_name_finds_its_rule_and_means_nothing_else() -> None:
    """Settings written before a rule was renamed still hold."""
    words = [word for rule in RULES for word in rule.words]

    assert find_rule("narrow-ring") is find_rule("FAB002")
    assert find_rule("narrow-ring").name == "small-annular-ring"
    assert choose_rules(("gap-under-fast-track",), ()) == (find_rule("RET001"),)
    assert len(words) == len(set(words))


def test_every_rule_file_declares_one_rule() -> None:
    """Nothing is forgotten by the walk; helper files begin with an underscore."""
    folder = Path(drc_rules.__file__).parent / "rules"
    files = {p.stem for p in folder.glob("*/*.py") if not p.stem.startswith("_")}

    assert files == {rule.module.rsplit(".", 1)[-1] for rule in RULES}


def test_rules_are_chosen_by_code_prefix_or_name() -> None:
    """`--select STK --ignore STK001` leaves the rest of the family."""
    chosen = {rule.code for rule in choose_rules(("STK",), ("STK001",))}

    assert "STK002" in chosen
    assert "STK001" not in chosen
    assert all(code.startswith("STK") for code in chosen)
    assert choose_rules(("rough-foil",), ()) == (find_rule("FOI001"),)


def test_an_unknown_rule_is_an_error_with_the_nearest_name() -> None:
    """A typo in --select must not silently check nothing."""
    with pytest.raises(ConfigError, match='did you mean "rough-foil"'):
        choose_rules(("rouhg-foil",), ())
