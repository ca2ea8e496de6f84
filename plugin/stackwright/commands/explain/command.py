"""`stackwright explain` and `stackwright rules`: a rule's page is its docstring; a clause is its data."""

from __future__ import annotations

import tomlkit
from rich.text import Text

from drc_rules.report.formula import Formula
from drc_rules.requirements.clauses import Limit, Severity
from drc_rules.requirements.documents import cite, documents
from drc_rules.requirements.interfaces.inherit import is_inherited
from drc_rules.requirements.profiles.shipped import Shipped, shipped_clauses
from drc_rules.rules.rule import PAGE_SECTIONS, Rule, all_rules
from stackup_lib.core.errors import ConfigError
from stackwright.commands.explain.subject import nearest
from stackwright.tables.counts import SEVERITY_STYLE
from stackwright.text.output import show
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.remarks import REMARKS
from stackwright.text.words import some

SHOWN = 12


def list_rules() -> int:
    """Print code, name and summary of every rule."""
    page = Page()
    rules = all_rules()
    page.line(styled("Rules", "bold"), f"  {len(rules)}")
    page.rows([Column(), Column(), Column(wraps=True)], [(styled(r.code, "bold"), r.name, r.summary) for r in rules])
    page.gap()
    page.line(f"next: stackwright explain {rules[0].code}")
    show(page.text(terminal_console()))
    return 0


def explain_word(word: str) -> int:
    """Print a rule's page, or a clause.

    Raises:
        ConfigError: the word is neither; says what is nearest.
    """
    page = Page()
    rule = next((r for r in all_rules() if word.lower() in r.words), None)
    remark = next((r for r in REMARKS if word.lower() in (r.code.lower(), r.name)), None)
    clauses = [s for s in shipped_clauses() if s.clause.id == word.lower()]
    if rule:
        _rule(page, rule)
    elif clauses:
        _clause(page, clauses)
    elif remark:
        page.line(styled(f"{remark.code} {remark.name}", "bold"), "  about the check itself, in SARIF")
        page.line(f"{remark.summary} {remark.text}")
    else:
        known = {text for one in all_rules() for text in (one.code, one.name)}
        known |= {text for one in REMARKS for text in (one.code, one.name)}
        known |= {s.clause.id for s in shipped_clauses()}
        raise ConfigError(word, "no such rule or requirement", nearest(word, known))
    show(page.text(terminal_console()))
    return 0


def _rule(page: Page, rule: Rule) -> None:
    page.line(styled(f"{rule.code} {rule.name}", "bold"), f"  since {rule.since}")
    page.line(rule.summary)
    for heading in PAGE_SECTIONS:
        page.heading(heading)
        for paragraph in rule.section(heading).split("\n\n"):
            page.line(" ".join(paragraph.split()), indent=2)
    if rule.formula:
        page.heading("Formula")
        formula_rows(page, rule.formula)
    decided = [s for s in shipped_clauses() if s.clause.kind in rule.kinds]
    page.heading("Requirements it decides", f"{len(decided)}")
    own = [s for s in decided if not is_inherited(s.clause.title)]
    rows: list[tuple[str | Text, ...]] = []
    for shipped in own[:SHOWN]:
        rows.append((_severity(shipped.clause.severity), shipped.clause.title))
        rows.append(("", styled(f"{shipped.clause.id}  {some(shipped.asked_by, 3)}", "dim")))
    page.rows([Column(), Column(wraps=True)], rows)
    if len(own) > SHOWN:
        page.line(f"and {len(own) - SHOWN} more", indent=2)
    if len(own) < len(decided):
        page.line(
            f"and {len(decided) - len(own)} by which a faster link meets at least what a slower one must", indent=2
        )
    page.gap()
    example = own[0].clause.id if own else rule.code
    page.line("next, or with --board FILE for the numbers of a board:")
    page.verbatim([f"stackwright explain {example}"])


def formula_rows(page: Page, formula: Formula) -> None:
    """Add a formula and what its symbols mean."""
    for line in formula.lines:
        page.line(*([styled("passes where  ", "dim")] if line in formula.criteria else []), line, indent=2)
    rows = [
        (styled(symbol.name, "cyan"), f"{symbol.meaning}{f', {symbol.unit}' if symbol.unit else ''}")
        for symbol in formula.symbols
    ]
    page.rows([Column(min_width=4), Column(wraps=True)], rows, indent=4)


def _clause(page: Page, found: list[Shipped]) -> None:
    page.line(styled(found[0].clause.id, "bold"))
    for shipped in found:
        clause = shipped.clause
        rule = next((r for r in all_rules() if clause.kind in r.kinds), None)
        document = documents().get(clause.source.document)
        trust = f" ({document.trust.value} source)" if document else ""
        page.gap()
        rows: list[tuple[str, str | Text]] = [
            ("requires", styled(clause.title, "bold")),
            ("kind", clause.kind),
            ("limit", _limit(clause.limit)),
            ("interface", clause.interface or ""),
            ("severity", _severity(clause.severity)),
            ("basis", clause.basis.value),
            ("source", f"{cite(clause.source)}{trust}"),
            ("link", document.url if document else ""),
            ("required by", ", ".join(shipped.asked_by)),
            ("rule", f"{rule.code} {rule.name}" if rule else "no rule yet: a later version decides it"),
            ("note", clause.note),
        ]
        page.rows([Column(min_width=10), Column(wraps=True)], [row for row in rows if str(row[1])])
    rule = next((r for r in all_rules() if found[0].clause.kind in r.kinds), None)
    page.gap()
    page.line(f"next: stackwright explain {rule.code}" if rule else "next: stackwright rules")


def _limit(limit: Limit) -> str:
    """A limit as a profile states it, to be copied into one's own."""
    table = tomlkit.inline_table()
    for key, value in limit.model_dump(mode="json", exclude_defaults=True).items():
        table[key] = int(value) if isinstance(value, float) and value.is_integer() else value
    return table.as_string() if table else ""


def _severity(severity: Severity) -> Text:
    return styled(severity.value, SEVERITY_STYLE[severity])
