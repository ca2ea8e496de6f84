"""fixtures/reference/honesty.md cannot rot: every table and list on it is computed here and compared to the letter.

`python -m tests.boards.test_honesty_page` writes them anew; read the difference before you commit it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import groupby

import pytest

from docs.pages.markdown import prose
from drc_rules.rules.rule import Rule, all_rules
from tests.support.accuracy.judged import CALLS, USUAL, judged_boards, judgements
from tests.support.accuracy.seed_counts import boards_by_rule, cases_by_rule, seeds, seeds_by_rule, tried_by_rule
from tests.support.reports.reference_page import PAGE as REFERENCE
from tests.support.reports.reference_page import block as reference_block
from tests.support.reports.reference_page import markdown

PAGE = REFERENCE.with_name("honesty.md")
SEVERITIES = ("error", "warning", "info")
CANNOT_SEE = "What it cannot see"


@cache
def families() -> dict[str, tuple[Rule, ...]]:
    """Rules by family, in the order of their codes."""
    return {name: tuple(group) for name, group in groupby(all_rules(), key=lambda rule: rule.family)}


@cache
def calls() -> Counter[tuple[str, str, str]]:
    """Count findings by (code, severity, call), each once for each of the settings under which it comes."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for _, call, finding in judgements():
        counts[finding.code, finding.severity, call] += len(finding.settings)
    return counts


def called(call: str, *, code: str | None = None, severity: str | None = None) -> int:
    """Sum up findings of a call."""
    rows = calls().items()
    return sum(n for (c, s, k), n in rows if k == call and code in (None, c) and severity in (None, s))


def percent(part: int, whole: int) -> str:
    """Print a share without decimals."""
    return f"{100 * part / whole:.0f} %" if whole else ""


def findings_table() -> str:
    """All findings by severity."""
    rows = []
    for severity in (*SEVERITIES, None):
        counts = [called(call, severity=severity) for call in CALLS]
        total = sum(counts)
        pairs = {(board, f.code) for board, _, f in judgements() if severity in (None, f.severity)}
        shares = (percent(counts[i], total) for i in (1, 2))
        rows.append((severity or "all", str(total), str(len(pairs)), *map(str, counts), *shares))
    return markdown(("severity", "findings", "rule and board", *CALLS, "false alarms", "arguable"), rows)


def boards_table() -> str:
    """All findings by board."""
    rows = []
    for name, judged in judged_boards().items():
        counts = Counter[str]()
        for board, call, finding in judgements():
            if board == name:
                counts[call] += len(finding.settings)
        usual = len(judged.all_settings) - len(USUAL)
        checks = f"{len(USUAL)}" + (f" and {usual} of its own" if usual else "")
        rows.append((prose(judged.board), checks, *(str(counts[call]) for call in CALLS)))
    return markdown(("board", "settings", *CALLS), rows)


def arguable_list() -> str:
    """Every finding that is not plainly true, with the evidence."""
    lines = []
    for name, judged in judged_boards().items():
        for one in judged.judgement:
            if one.judged != "true":
                codes = ", ".join(sorted({f.code for f in one.findings}))
                where = ", ".join(sorted({setting for f in one.findings for setting in f.settings}))
                lines.append(f"- {codes} on {prose(name)} ({where}), {one.judged}: {prose(one.evidence)}")
    return "\n".join(sorted(lines))


def family_table(family: str) -> str:
    """Rates of the rules of a family."""
    failed, asked = seeds_by_rule("failed"), seeds_by_rule("not verifiable")
    rows = []
    for rule in families()[family]:
        counts = [called(call, code=rule.code) for call in CALLS]
        judged = " / ".join(map(str, counts)) if sum(counts) else "none came"
        planted = f"{failed[rule.code]} / {failed[rule.code]}" if failed[rule.code] else "no seed"
        fires, quiet = cases_by_rule()[rule.code]
        rows.append((rule.code, rule.name, judged, planted, str(asked[rule.code] or ""), f"{fires} / {quiet}"))
    header = (
        "code",
        "rule",
        "findings true / false / arguable",
        "seeds caught / planted",
        "asks",
        "cases fire / quiet",
    )
    return markdown(header, rows)


def blind_list(family: str) -> str:
    """What the rules of a family cannot see, each as its own page says."""
    lines = []
    for rule in families()[family]:
        text = " ".join(rule.section(CANNOT_SEE).split())
        lines.append(f"- {rule.code} {rule.name}: {prose(text) or 'not written yet.'}")
    return "\n".join(lines)


def seeds_table() -> str:
    """Seeds by the file of tests that plants them."""
    counts = Counter(file for file, _ in seeds())
    quiet = Counter(file for file, turns in seeds() if not turns)
    name = "`tests/boards/test_seeded_{}.py`"
    rows = [(name.format(file), str(count), str(quiet[file] or "")) for file, count in counts.items()]
    rows.append(("all", str(counts.total()), str(quiet.total())))
    return markdown(("planted in", "seeds", "of them harmless: nothing may turn"), rows)


def coverage_table() -> str:
    """How many rules have been tried how."""
    codes = [rule.code for rule in all_rules()]
    judged = {code for code, _, _ in calls()}
    tried = tried_by_rule()
    fires = sum(cases_by_rule()[code][0] for code in codes)
    quiet = sum(cases_by_rule()[code][1] for code in codes)
    neither = [code for code in codes if code not in judged and not tried[code] and not boards_by_rule()[code]]
    rows = [
        ("rules", str(len(codes))),
        ("with a finding on a demo board", str(len(judged))),
        (
            "with a seeded defect that they must report, or ask about where they only ask",
            str(sum(bool(tried[code]) for code in codes)),
        ),
        ("that must fail on one of our own boards", str(sum(bool(boards_by_rule()[code]) for code in codes))),
        ("with none of these: known by their cases alone", f"{len(neither)} {', '.join(neither)}".strip()),
        ("cases that must fire, cases that must stay quiet", f"{fires}, {quiet}"),
    ]
    return markdown(("what", "count"), rows)


def physics_table() -> str:
    """The bounds of the reference page, whose own tests hold its tables."""
    exact, skin, published, loss, measured = map(_rows, ("exact", "skin", "published", "solver-loss", "measured"))
    board_lines = [row for row in exact if not row[0].startswith("Hammerstad")]
    met = [row for row in published if row[2]]
    inside = [tuple(map(int, row[5].split(" of "))) for row in measured if row[1] == "in range"]
    beyond = [tuple(map(int, row[5].split(" of "))) for row in measured if row[1] != "in range"]
    errors = [float(part) for row in measured if row[1] == "in range" for part in row[3].split(" to ")]
    far = [float(part) for row in measured if row[1] != "in range" for part in row[3].split(" to ")]
    theirs = [float(part) for row in loss for part in row[3].split(" to ")]
    rows = [
        ("impedance against exact solutions", _sum(board_lines, 1), f"below {_largest(board_lines, 3)} %"),
        ("crowding and shares against exact solutions", _sum(skin, 1), f"below {_largest(skin, 2)} %"),
        ("impedance against other programs", _sum(met, 1), f"within {_largest(met, 2)} %"),
        ("the same, further off and explained", _sum([r for r in published if r[4]], 4), "listed with the reason"),
        ("loss of smooth lines against other programs", _sum(loss, 1), _span(theirs)),
        ("loss of measured lines, in range", str(sum(n for _, n in inside)), _span(errors)),
        ("the same, inside our interval", f"{sum(k for k, _ in inside)} of {sum(n for _, n in inside)}", ""),
        ("loss of measured lines, beyond the range", str(sum(n for _, n in beyond)), _span(far)),
        ("the same, inside our interval", f"{sum(k for k, _ in beyond)} of {sum(n for _, n in beyond)}", ""),
    ]
    return markdown(("what", "values", "ours less theirs"), rows)


def _rows(name: str) -> list[list[str]]:
    found = reference_block(name).search(REFERENCE.read_text(encoding="utf-8"))
    assert found is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2].strip().splitlines()[2:]]


def _sum(rows: list[list[str]], column: int) -> str:
    return str(sum(int(row[column]) for row in rows))


def _largest(rows: list[list[str]], column: int) -> str:
    return max((row[column] for row in rows), key=float)


def _span(errors: list[float]) -> str:
    return f"{min(errors):+g} to {max(errors):+g} %"


BLOCKS: dict[str, Callable[[], str]] = {
    "findings": findings_table,
    "boards": boards_table,
    "arguable": arguable_list,
    "coverage": coverage_table,
    "seeds": seeds_table,
    **{f"rates-{name}": partial(family_table, name) for name in families()},
    **{f"blind-{name}": partial(blind_list, name) for name in families()},
    "physics": physics_table,
}


def place(name: str) -> re.Pattern[str]:
    """Return the pattern of a block's place on the page."""
    return re.compile(rf"(<!-- computed: {name} -->\n\n)(.*?)(\n\n<!-- end -->)", re.DOTALL)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_page_prints_what_is_computed(name: str) -> None:
    """Each table and list of the page is the one that comes out today."""
    found = place(name).search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[2] == BLOCKS[name]()


def test_the_page_has_no_other_tables() -> None:
    """A table that nothing computes would be a number that can rot."""
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<!-- computed: (\S+) -->", text) == list(order())
    for name in BLOCKS:
        text = place(name).sub("", text)
    assert not [line for line in text.splitlines() if line.startswith("|")]


def order() -> list[str]:
    """Return the blocks in the order of the page: each family's rates before what its rules cannot see."""
    pairs = [f"{kind}-{name}" for name in families() for kind in ("rates", "blind")]
    return ["findings", "boards", "arguable", "coverage", "seeds", *pairs, "physics"]


def test_every_seed_turns_clauses_that_a_rule_decides() -> None:
    """A seed that cannot be attributed would be missing from the rates."""
    assert seeds_by_rule("failed").total() > 80
    assert seeds_by_rule("not verifiable").total() > 80


def rewrite() -> None:
    """Write the page's tables and lists anew."""
    text = PAGE.read_text(encoding="utf-8")
    for name, computed in BLOCKS.items():
        found = place(name).search(text)
        assert found is not None, name
        text = f"{text[: found.start(2)]}{computed()}{text[found.end(2) :]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
