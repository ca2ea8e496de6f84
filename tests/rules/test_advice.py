"""Commands in fixes run as printed; sources are of the named interface; nothing that is there is asked again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.findings import Finding
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.documents import documents
from drc_rules.requirements.interfaces import families
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.rules.rule import find_rule
from stackwright.cli.app import run
from tests.support.kicad.kicad5_boards import Kicad5
from tests.support.rule_cases import Loaded, all_cases, cases_of

BOARDS = sorted(Path("fixtures/boards").glob("*/*.kicad_pcb"))
OF_IMPEDANCE = ("IMP002", "IMP003")
CASES = [
    one for one in all_cases() if one.defect in ("off_target_impedance", "off_target_net_class") and one.case.finds
]
PCIE = ((10, 3), (11, 4))
"""Where the tracks of /PCIE_TX0 run, and the numbers of its nets."""

FIELDS = ("impedance_diff_ohm", "impedance_diff_limit_ohm", "impedance_single_ohm")


OFFERS_A_GAP = "or the gap that it takes"


def commands(report: Report) -> Iterator[list[str]]:
    """What the fixes print, without the words that follow; every command is followed by what it gives."""
    for finding in report.findings:
        found = re.findall(r"stackwright (impedance .+?) gives ", finding.fix)
        assert len(found) == len(re.findall(r"\bstackwright [a-z]+ ", finding.fix)), finding.fix
        yield from map(shlex.split, found)


def is_its_own(finding: Finding) -> bool:
    """Tell whether the source of a finding's target is of the interface in its title, or no document at all."""
    source = finding.limit.source if finding.limit else ""
    assert source
    cited = [key for key, document in documents().items() if f": {document.title}" in source and key != ENGINEERING]
    owners = [one for of in families() for one in of.interfaces for key in cited for field in FIELDS
              if one.document_of(field) == key]  # fmt: skip
    return not cited or any(one.title in finding.title and source.startswith(one.title) for one in owners)


def verdict_of(report: Report, clause: str) -> Verdict:
    return next(verdict.verdict for verdict in report.verdicts if verdict.clause.id == clause)


def of_impedance(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.code in OF_IMPEDANCE]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_findings_of_rule_cases_print_commands_that_run_and_sources_of_their_own(
    case: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pasted into a shell, in a folder whose name has a blank: exit code 0, and the layer is in the answer.

    Where the fix says that the answer may be the gap that the target takes, the code may be 1: no width reaches it.
    """
    folder = tmp_path / "my boards"
    folder.mkdir()

    report = case.check(folder)
    printed = list(dict.fromkeys(map(tuple, commands(report))))

    assert [finding.title for finding in of_impedance(report) if not is_its_own(finding)] == []
    assert printed
    offers_a_gap = any(OFFERS_A_GAP in finding.fix for finding in of_impedance(report))
    for words in printed:
        code = run(list(words))
        shown = capsys.readouterr().out
        assert code in ((0, 1) if offers_a_gap else (0,)), shlex.join(words)
        assert words[words.index("--layer") + 1] in shown
        assert code == 0 or re.search(r"gap|no width", shown), shown


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS, ids=lambda path: path.stem)
def test_findings_of_fixtures_print_commands_that_run_and_sources_of_their_own(board: Path) -> None:
    """Boards as they lie in a repository."""
    report = check_board(board)

    assert [finding.title for finding in of_impedance(report) if not is_its_own(finding)] == []
    assert [words for words in map(tuple, commands(report)) if run(list(words)) != 0] == []


@pytest.mark.parametrize(
    "version,host", [("4", 'pcbnew "(2015-12-07 BZR 6352)-product"'), ("20171130", "pcbnew 5.1.12")]
)
def test_boards_of_kicad_4_and_5_are_not_asked_for_a_project_file(version: str, host: str, tmp_path: Path) -> None:
    """Their net classes are in the board, and Default is one."""
    path = tmp_path / "old.kicad_pcb"
    items = tuple(f"  (segment (start 10 {y}) (end 60 {y}) (width 0.2) (layer F.Cu) (net {net}))" for y, net in PCIE)
    path.write_text(Kicad5(version=version, host=host, items=items).text(), encoding="utf-8")

    report = check_board(path)
    asked = [missing.how_to_give for verdict in report.verdicts for missing in verdict.missing]

    assert verdict_of(report, "board.nets.in_classes") is Verdict.FAILED  # they are looked at: in Default alone
    assert not [finding for finding in report.findings if "kicad_pro" in finding.title + finding.fix]
    assert not [line for line in (*asked, *report.proofs) if "kicad_pro" in line]


def test_a_board_of_kicad_6_without_its_project_is_asked_for_it() -> None:
    """Its net classes are there and nowhere else."""
    report = check_board(Path("fixtures/boards/missing_project/missing_project.kicad_pcb"))

    assert [finding.code for finding in report.findings if "kicad_pro" in finding.fix] == ["STK004"]


@pytest.mark.parametrize("loaded", cases_of(find_rule("PDN008")), ids=lambda loaded: loaded.name)
def test_mask_is_advised_where_it_changes_the_class(loaded: Loaded, tmp_path: Path) -> None:
    """Not inside, not where mask covers one side, not of pads, and not under IPC-9592, which has one figure for all."""
    for finding in loaded.decide(tmp_path, find_rule("PDN008")).findings:
        bare = "bare copper" in finding.title and "IPC-2221B" in finding.title

        assert ("solder mask" in finding.fix) == bare, finding.title
