"""A page per rule from its docstring, its clauses and its cases; a page per family above them."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

from docs.pages.markdown import Page, block, code, facts, folded, link, page, prose, table, title, tree
from drc_rules.requirements.profiles.shipped import Shipped, shipped_clauses
from drc_rules.rules.rule import PAGE_SECTIONS, Rule, all_rules
from stackwright.text.remarks import REMARKS
from stackwright.text.words import sentence

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "fixtures" / "rules"
SEVERITIES = ("error", "warning", "info")


def name_of(rule: Rule) -> str:
    """Name of a rule's page."""
    return f"rules/{rule.code}"


def rule_of(kind: str) -> Rule:
    """The rule that decides clauses of a kind."""
    return next(r for r in all_rules() if kind in r.kinds)


@cache
def families() -> Mapping[str, tuple[Rule, ...]]:
    """Rules by family, in the order of their codes."""
    ordered = sorted(all_rules(), key=lambda r: r.code)
    return {family: tuple(group) for family, group in groupby(ordered, key=lambda r: r.family)}


def family_title(family: str) -> str:
    """Words for a family, e.g. `Return path (RET)`."""
    return f"{family.replace('_', ' ').capitalize()} ({families()[family][0].code[:3]})"


def family_question(family: str) -> str:
    """What a family asks, as its package says."""
    said = inspect.getdoc(importlib.import_module(f"drc_rules.rules.{family}")) or ""
    text = said.partition(":")[2] if said[:3].isupper() else said
    return sentence(text.strip())


def asked(shipped: Shipped) -> str:
    """Links to the profiles and forms that ask a clause."""
    links = []
    for by in shipped.asked_by:
        name = "profiles/board" if by == "any board" else f"profiles/{by}"
        links.append(link(by, f"forms/{by.removeprefix('form ')}" if by.startswith("form ") else name))
    return ", ".join(links)


def pages() -> Iterator[Page]:
    """Index, families, rules and the two remarks about a check itself."""
    counted = [
        (link(family_title(family), f"rules/{family}"), prose(family_question(family)), str(len(rules)))
        for family, rules in families().items()
    ]
    remarks = [(f"`{r.code}` {r.name}", prose(f"{r.summary} {r.text}")) for r in REMARKS]
    yield page(
        "rules/index",
        title("Rules"),
        f"{len(all_rules())} rules decide the [clauses](/clauses/index.md). Each has a page, which "
        "`stackwright explain CODE` prints too: it is the docstring of the rule's own file.",
        table(("family", "it asks", "rules"), counted),
        title("All of them", 2),
        table(("code", "name", "it finds"), [_row(rule) for rule in all_rules()]),
        title("About a check itself", 2),
        "Two codes are next to those of the rules in SARIF:",
        table(("code", "meaning"), remarks),
        tree(f"rules/{family}" for family in families()),
    )
    for family, rules in families().items():
        yield page(
            f"rules/{family}",
            title(family_title(family)),
            prose(family_question(family)),
            table(("code", "name", "it finds"), [_row(rule) for rule in rules]),
            tree(name_of(rule) for rule in rules),
        )
    for rule in all_rules():
        yield _page(rule)


def _row(rule: Rule) -> tuple[str, str, str]:
    return link(rule.code, name_of(rule)), rule.name, prose(rule.summary)


def _page(rule: Rule) -> Page:
    decided = [s for s in shipped_clauses() if s.clause.kind in rule.kinds]
    severities = [s for s in SEVERITIES if any(d.clause.severity == s for d in decided)]
    sections = []
    for heading in PAGE_SECTIONS:
        sections += [title(heading, 2), prose(rule.section(heading))]
    rows = [
        (s.clause.severity.value, link(s.clause.id, f"clauses/{s.clause.id}"), prose(s.clause.title), asked(s))
        for s in decided
    ]
    return page(
        name_of(rule),
        title(f"{rule.code} {rule.name}"),
        prose(rule.summary),
        facts(
            [
                ("family", link(family_title(rule.family), f"rules/{rule.family}")),
                ("at most", ", ".join(severities)),
                ("since", rule.since),
                ("its file", f"`{rule.module.replace('.', '/')}.py`"),
                ("in a shell", f"`stackwright explain {rule.code}`, `stackwright check BOARD --select {rule.code}`"),
            ]
        ),
        *sections,
        *_formula(rule),
        title("Clauses it decides", 2),
        table(("severity", "clause", "it asks", "asked by"), rows),
        *_examples(rule),
    )


def _formula(rule: Rule) -> Iterator[str]:
    if rule.formula is None:
        return
    symbols = [(code(one.name), prose(one.meaning), prose(one.unit)) for one in rule.formula.symbols]
    yield title("Formula", 2)
    yield block("\n".join(rule.formula.lines))
    yield table(("symbol", "meaning", "unit"), symbols)
    yield f"`stackwright explain {rule.code} --board BOARD` shows it with a board's own numbers, step by step."


def _examples(rule: Rule) -> Iterator[str]:
    path = CASES / rule.family / f"{rule.name.replace('-', '_')}.toml"
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    cases = tomllib.loads(text)["case"]
    fires = [case for case in cases if case["finds"]]
    quiet = [case for case in cases if not case["finds"]]
    yield title("Examples", 2)
    yield "Its tests, each a board of a few lines. It fires:"
    yield "\n".join(f"- {prose(c['why'])}{_says(c)}" for c in fires)
    if quiet:
        yield "It stays quiet:"
        yield "\n".join(f"- {prose(case['why'])}" for case in quiet)
    yield folded(f"The boards of these cases: {path.relative_to(ROOT).as_posix()}", block(text, "toml"))


def _says(case: Mapping[str, list[str]]) -> str:
    return "".join(f"  \n  *{prose(found)}*" for found in case["finds"])
