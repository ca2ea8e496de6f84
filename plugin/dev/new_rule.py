"""Writes the files of a new rule: `python plugin/dev/new_rule.py FAMILY NAME [--profile PROFILE]`.

FAMILY is a folder of `drc_rules/rules`, NAME the defect with dashes (`thick-prepreg`). Three files are touched: the
rule, its cases, and the profile that gets the clause. What is written works as it stands, with a sample check of the
number of layers; every place that a person has to fill says TODO, and a test refuses a TODO that is left.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "plugin")]

from drc_rules.requirements.profiles.profile import BOARD, known_kinds, profile_names  # noqa: E402 - by the path above
from drc_rules.rules.rule import PAGE_SECTIONS, Rule, all_rules  # noqa: E402
from stackwright import __version__  # noqa: E402

RULES = Path("drc_rules/rules")
CASES = Path("fixtures/rules")
PROFILES = Path("drc_rules/requirements/profiles")

SECTIONS = {
    "What it checks": "TODO: what is measured on which objects, and against what it is compared. Without jargon.",
    "Why it matters": "TODO: what goes wrong on a board that has the defect, with the mechanism in one sentence.",
    "How to fix": "TODO: what the designer changes, the cheapest first, each as an instruction.",
    "What it cannot see": "TODO: defects that pass and good boards that fail, in 40 words at most.",
    "Sources": "TODO: the documents behind the limit, each with its section or page.",
}
"""What the skeleton says under each section of a rule's page."""

RULE = '''"""TODO: the defect in one short sentence, as it is on the board.

{sections}
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.facts.context import Context
from drc_rules.report.findings import Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import whole_board
from stackup_lib.board.board import Board

FORMULA = """
n ≤ n_max

n: TODO: what is measured [layers]
n_max: its limit [layers]
"""


# TODO: `over` gives the objects that are judged one by one; scopes.py has those that several rules share.
@rule("{code}", kinds=("{name}",), over=whole_board, since="{since}", formula=FORMULA)
def {name}(ctx: Context, clause: Clause, board: Board) -> Iterator[DraftFinding]:
    """Yield one finding where the limit is exceeded."""
    # TODO: measure. Results that are shared or slow are analyses: ctx.get(analysis, ...); facts come by ctx.need(fact).
    measured, limit = board.layer_count, clause.limit.max
    if limit is None:
        return
    ctx.shows("board", n=measured, n_max=limit)
    if measured > limit:
        yield DraftFinding(
            title=f"{{measured}} copper layers, {{limit:g}} at most",  # TODO: measured value, unit, limit
            why="TODO: the consequence, in half a sentence",
            fix="TODO: what to do, in half a sentence",
            ids=("layers",),  # TODO: names of the objects, which the finding's key is made of
            measured=Measured(value=measured, unit="layers"),
            limit_value=limit,
        )
'''

CASE = """[[case]]
why = "TODO: what is wrong with this board, and by how much"
board = {{ copper_layers = 42 }}
finds = ["42 copper layers, 40 at most"]
measured = [42.0]
limits = [40.0]
severities = ["warning"]
objects = [["layers"]]
verdicts = {{ "{clause}" = "failed" }}
confidence = "high"{profile}

[[case]]
why = "TODO: the same board just inside the limit"
board = {{ copper_layers = 40 }}
finds = []
verdicts = {{ "{clause}" = "passed" }}{profile}
"""

CLAUSE = """
[[clause]]
id = "{clause}"
kind = "{name}"
title = "TODO: what a good board has, with the number: at most 40 copper layers"
severity = "warning"
basis = "physics"
limit = {{ max = 40, unit = "layers" }}
source = {{ document = "engineering", row = "TODO: what is known, or the row of a document of documents.toml" }}
"""


@dataclass(frozen=True)
class NewRule:
    """A rule that is to be written.

    Attributes:
        family: folder of `drc_rules/rules`.
        name: name of the defect with underscores: module, function, case file and kind of clause.
        code: next code of the family.
        profile: profile that gets the clause.
        since: version that brings it.
    """

    family: str
    name: str
    code: str
    profile: str
    since: str

    @property
    def clause(self) -> str:
        """Id of its clause."""
        return f"{self.profile}.{self.family}.{self.name}"

    @property
    def rule_file(self) -> Path:
        """The rule and its page."""
        return RULES / self.family / f"{self.name}.py"

    @property
    def case_file(self) -> Path:
        """Boards that fire and boards that stay quiet."""
        return CASES / self.family / f"{self.name}.toml"

    @property
    def profile_file(self) -> Path:
        """Where its clause stands."""
        return PROFILES / f"{self.profile}.toml"

    def write(self, root: Path) -> None:
        """Write the rule and its cases and append the clause, below the folder of the project."""
        under = "" if self.profile == BOARD else f'\nprofile = "{self.profile}"'
        sections = "\n\n".join(f"{name}\n{'-' * len(name)}\n{SECTIONS[name]}" for name in PAGE_SECTIONS)
        rule = RULE.format(sections=sections, code=self.code, name=self.name, since=self.since)
        _new(root / self.rule_file, rule)
        _new(root / self.case_file, CASE.format(clause=self.clause, profile=under))
        with (root / self.profile_file).open("a", encoding="utf-8", newline="\n") as profile:
            profile.write(CLAUSE.format(clause=self.clause, name=self.name))


def _new(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def planned(family: str, name: str, profile: str) -> NewRule:
    """Return the rule with the next code of its family.

    Raises:
        ValueError: no such family or profile, or the name does not name a defect or is taken.
    """
    family, name = family.replace("-", "_"), name.replace("-", "_")
    rules = all_rules()
    in_family = [rule for rule in rules if rule.family == family]
    if not in_family:
        raise ValueError(f"no family {family}: {', '.join(sorted({rule.family for rule in rules}))}")
    if profile not in (BOARD, *profile_names()):
        raise ValueError(f"no profile {profile}: {', '.join((BOARD, *profile_names()))}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or re.match(r"(use|avoid|prefer|check|no|must)_", name):
        raise ValueError(f"{name}: a rule is named after the defect, in small letters with dashes, e.g. thick-prepreg")
    if name in {rule.name.replace("-", "_") for rule in rules} | known_kinds():
        raise ValueError(f"{name}: there is a rule or a kind of clause of this name")
    return NewRule(family, name, _next_code(in_family), profile, _version())


def _next_code(in_family: list[Rule]) -> str:
    """Return the code behind the highest: one that is gone is never given again, because suppressions may name it."""
    highest = max(rule.code for rule in in_family)
    return f"{highest[:3]}{int(highest[3:]) + 1:03}"


def _version() -> str:
    return ".".join(__version__.split(".")[:2])


def main(arguments: list[str]) -> None:
    """Write the files and say what is left to do."""
    parser = argparse.ArgumentParser(description="Write rule, cases and clause of a new rule.")
    parser.add_argument("family", help="folder of drc_rules/rules, e.g. stackup")
    parser.add_argument("name", help="the defect, with dashes, e.g. thick-prepreg")
    parser.add_argument(
        "--profile", default=BOARD, help="profile that gets the clause; default: %(default)s, any board"
    )
    asked = parser.parse_args(arguments)
    try:
        new = planned(asked.family, asked.name, asked.profile)
        new.write(ROOT)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{error}\n")
    print(
        f"{new.rule_file}: rule {new.code}; its docstring is its page\n"
        f"{new.case_file}: boards that fire and that stay quiet\n"
        f"{new.profile_file}: clause {new.clause}, at the end\n\n"
        "Replace the sample and every TODO in these three. Then:\n"
        "  python plugin/dev/renew_honesty_page.py\n"
        f'  pytest -k "{new.name} or {new.code} or requirements or clause_coverage or no_todo"\n'
        '  pytest -m slow -k "honesty or judged or boards"   (some minutes: the clause on whole boards)\n'
        f"  stackwright explain {new.code}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
