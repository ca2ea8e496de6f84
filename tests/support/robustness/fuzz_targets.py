"""What is fuzzed: for each kind of file its seeds, and what is done with a damaged one.

A target may end in a `StackwrightError` of one line, or in an answer that keeps its promises. Anything else is a defect
of ours, and `Broken` says which.
"""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from random import Random

from drc_rules.engine.baseline import Baseline, load_baseline
from drc_rules.engine.check import check_up
from drc_rules.fab_exchange.answer.stackup_text import read_fab_table
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.profiles.profile import load_profile
from drc_rules.settings.config import load_config
from drc_rules.stackup_design.plan_file import parse_plan, plan_of, write_plan
from drc_rules.stackup_design.settings_edit import edit_settings
from stackup_lib.board.planned import PlannedClass, PlannedRule, planned_from
from stackup_lib.board.stackup import LayerKind, Ply
from stackup_lib.core.errors import NotWrittenError, StackwrightError
from stackup_lib.kicad.design_rules.rules_file import read_design_rules
from stackup_lib.kicad.read.project import read_project
from stackup_lib.kicad.read.reader import read_board
from stackup_lib.kicad.write.file_edit import diff_text
from stackup_lib.kicad.write.project_writer import set_net_classes
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from stackup_lib.validation.case_files import read_cases
from stackwright.commands.check.command import reporter
from stackwright.drawing.board_map import board_map
from stackwright.reporters import text as text_report
from stackwright.results.checked import Checked
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.kicad.kicad_boards import HEAD_V6, HEAD_V9, HEAD_V10, LAYERS_V6, board_text, kicad_layout
from tests.support.mini import mini_file
from tests.support.reports.junit_shape import faults
from tests.support.robustness.fuzzing import damaged
from tests.support.rule_cases import all_cases

FIXTURES = Path(__file__).parents[3] / "fixtures"
PROJECT_NETS = ("GND", "/PCIE_TX0_P", "/PCIE_TX0_N", "/A[0..3]", "/{B.x y}", "A" * 120, "\x1b[31m", "")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LONGEST_ERROR = 5_000


class Broken(AssertionError):  # noqa: N818 - it is the finding, not an error of the program
    """A promise that was not kept."""


@dataclass(frozen=True)
class Target:
    """A kind of file.

    Attributes:
        seeds: sound files; in a target of several files the name says which file it is.
        run: does everything with the bytes; a folder of its own is given. False where a command refused them.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes, Path, Random], object]

    def damaged(self, chance: Random) -> bytes:
        """Return one of the seeds, damaged."""
        seeds = self.seeds()
        return damaged(chance, chance.choice(seeds), seeds)

    def try_one(self, data: bytes, folder: Path, chance: Random) -> bool:
        """Run; returns whether the file was taken, False when it was refused in one line."""
        try:
            return self.run(data, folder, chance) is not False
        except StackwrightError as refused:
            one_line(refused)
            return False


def one_line(refused: StackwrightError) -> None:
    """Fail unless an error says what and what next, and is no page."""
    said = str(refused)
    if not refused.what or not refused.next_step:
        raise Broken(f"an error says nothing: {said[:200]!r}")
    if len(said) > LONGEST_ERROR:
        raise Broken(f"an error of {len(said)} characters: {said[:200]!r}")


def promise(*, kept: bool, what: str) -> None:
    if not kept:
        raise Broken(what)


@functools.cache
def board_seeds() -> tuple[bytes, ...]:
    """Small boards in the spelling of KiCad 4 to 10."""
    texts = [
        board_text(head=HEAD_V10, nets=""),
        kicad_layout(board_text(head=HEAD_V10, nets="")),
        kicad_layout(board_text(head=HEAD_V9)),
        board_text(head=HEAD_V6, layers=LAYERS_V6),
        board_text(setup=""),
        whole_board().text(),
    ]
    return (*(text.encode() for text in texts), *(files["board.kicad_pcb"] for files in mini_boards()[:4]))


@functools.cache
def mini_boards() -> tuple[dict[str, bytes], ...]:
    """The files of some boards of the rules' cases: the smallest of each rule, with what it declares."""
    smallest: dict[str, dict[str, bytes]] = {}
    for case in all_cases():
        with tempfile.TemporaryDirectory() as folder, suppress(StackwrightError):
            mini_file(Path(folder), case.board)
            files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
            if case.case.profile and "stackwright.toml" not in files:
                files["stackwright.toml"] = f'profile = "{case.case.profile}"\n'.encode()
            size = sum(map(len, files.values()))
            if size < 60_000 and size < sum(map(len, smallest.get(case.defect, {"": b"x" * 60_000}).values())):
                smallest[case.defect] = files
    return tuple(sorted(smallest.values(), key=lambda files: len(files["board.kicad_pcb"])))


def _files(pattern: str, most: int = 12) -> tuple[bytes, ...]:
    found = sorted({path.read_bytes() for path in FIXTURES.parent.glob(pattern)}, key=lambda data: (len(data), data))
    return tuple(found[:most])


def _read_board(data: bytes, folder: Path, _: Random) -> None:
    board = read_board(folder / "board.kicad_pcb", text=data)
    for column in (board.tracks, board.vias, board.pads, board.zones):
        promise(kept=all(0 <= net < len(board.nets) for net in column.net), what="a net that is none")
    promise(kept=all(board.line_of(int(at)) >= 1 for at in board.tracks.offset), what="a line below 1")


@functools.cache
def project_seeds() -> tuple[bytes, ...]:
    return (*_files("fixtures/boards/*/*.kicad_pro", 4), _PROJECT.encode())


_PROJECT = """{"board": {"design_settings": {"rules": {"min_track_width": 0.1,
 "min_via_diameter": 0.4, "min_through_hole_diameter": 0.2, "min_via_annular_width": 0.1}}},
 "net_settings": {"classes": [
 {"name": "Default", "priority": 2147483647, "clearance": 0.2, "track_width": 0.2, "nets": ["GND"]},
 {"name": "85ohm", "priority": 3, "diff_pair_gap": 0.15, "diff_pair_width": 0.1, "tuning_profile": "T"}],
 "netclass_patterns": [{"netclass": "85ohm", "pattern": "/PCIE_*"}, {"netclass": "85ohm", "pattern": "/(P|N)[0-9]+"},
  {"netclass": "85ohm", "pattern": "/D{A B}[0..7]"}, {"netclass": "85ohm", "pattern": "^/U?S?B?.*_[PN]$"}],
 "netclass_assignments": {"GND": ["85ohm"], "/A": "Default", "/B": null}},
 "text_variables": {"STACKWRIGHT_PROFILE": "edge", "STACKWRIGHT_FORM": "?"}, "tuning_profiles": {
 "tuning_profiles_impedance_geometric": [{"profile_name": "T", "type": 1, "target_impedance": 85.0, "layer_entries": [
  {"signal_layer": "F.Cu", "top_reference_layer": "UNDEFINED", "bottom_reference_layer": "In1.Cu", "width": 150000,
   "diff_pair_gap": 150000, "delay": 7000}], "via_overrides": []}]}}
"""
RULES = """(version 1)
# a comment
(rule "85 ohm on F.Cu" (layer "F.Cu") (condition "A.NetClass == '85ohm' && A.inDiffPair('/PCIE*')")
  (constraint track_width (min 0.1mm) (opt 4mil) (max 0.2mm)) (constraint diff_pair_gap (opt 0.15mm)))
(rule holes (layer outer) (severity warning) (condition "A.Type == 'Via' || !(B.Type != 'Pad') && A.Width < 1mm")
  (constraint hole_size (min 0.2mm)) (constraint disallow track via) (constraint assertion "A.Width > 0.1mm"))
"""
_FAB = """Layer,Type,Thickness (mm),Material,Dk,Df,Copper oz,Width (mm),Gap (mm),Impedance
Top mask,Solder mask,0.02,,3.5,,,,,
L1,Copper,0.035,,,,1,0.15,0.15,85
,Prepreg,0.1,370HR 1080,3.9,0.02,,,,
L2,Plane,0.018,,,,1/2,,,
,Core,1.2,370HR,4.2,0.02,,,,
L3,Signal,35 um,,,,1,4 mil,,50
Bottom mask,Solder mask,0.8 mil,,3.5,,,,,
Total,,1.4,,,,,,,
"""
_PROFILE = """title = "our board"
extends = ["inference-pcie"]
form = "pcie-card"
drop = ["inference.layers.min"]

[interfaces]
pcie = "pcie5"

[interfaces_source]
document = "nextpcb-design-differences"
table = "FAQ"
row = "ours"

[[clause]]
id = "own.layers"
kind = "layer_count"
title = "14 copper layers or more"
severity = "warning"
limit = { min = 14, unit = "layers" }
source = { document = "nextpcb-design-differences", table = "ours", row = "ours" }
"""
_PLAN = """
[[net_class]]
name = "85ohm"
track_width_mm = 0.1
diff_pair_gap_mm = 0.15
patterns = ["/PCIE_*"]

[[rule]]
net_class = "85ohm"
layer = "F.Cu"
width_mm = 0.1
gap_mm = 0.15
requirement = "85 ohm"
"""
_CASES = """geometry,parameters,quantity,value_ohm,source
microstrip,"{""w"": 0.1, ""h"": 0.1, ""t"": 0.035, ""er"": 4.2}",Z0,60.0,ours
"edge_coupled_stripline","{""w"":0.1,""s"":0.2,""b"":0.4,""t"":0.018,""er"":4}",Zdiff,95,ours
"""


def _read_project(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "board.kicad_pro"
    path.write_bytes(data)
    read_project(path, PROJECT_NETS)


def _read_rules(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "board.kicad_dru"
    path.write_bytes(data)
    promise(kept=read_design_rules(path, ("Top",)) is not None, what="a rules file that is there is not read")


@functools.cache
def settings_seeds() -> tuple[bytes, ...]:
    """Settings of fixture boards, and one of each declaration that the rules' cases use."""
    cases = {files["stackwright.toml"] for files in mini_boards() if "stackwright.toml" in files}
    return (*_files("fixtures/boards/*/stackwright.toml"), *sorted(cases, key=lambda data: (-len(data), data))[:20])


def _read_settings(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "stackwright.toml"
    path.write_bytes(data)
    load_config(path)
    text = data.decode("utf-8-sig")
    edited = edit_settings(text, {(("declared",), "foil"): "HVLP"}, [(("declared",), "tg_c")])
    path.write_text(edited.text, encoding="utf-8", newline="")
    promise(kept=load_config(path).declared.foil == "HVLP", what="a fact that was set does not stand in the settings")


@functools.cache
def profile_seeds() -> tuple[bytes, ...]:
    return (_PROFILE.encode(), *_files("drc_rules/requirements/profiles/*.toml", 6))


def _read_profile(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "own.toml"
    path.write_bytes(data)
    load_profile(str(path))


@functools.cache
def baseline_seeds() -> tuple[bytes, ...]:
    row = {"key": "STK006-0123456789ab", "code": "STK006", "clause": "board.stackup.symmetry", "title": "uneven"}
    return (
        Baseline().text().encode(),
        json.dumps({**json.loads(Baseline().text()), "boards": {"a/b": [row]}}).encode(),
    )


def _read_baseline(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "stackwright-baseline.json"
    path.write_bytes(data)
    load_baseline(path).text()


def _read_fab(data: bytes, _folder: Path, _: Random) -> None:
    read_fab_table(data.decode("utf-8", "replace"), "fab.csv")


@functools.cache
def plan_seeds() -> tuple[bytes, ...]:
    files = mini_boards()[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "board.kicad_pcb"
        path.write_bytes(board_text(head=HEAD_V10, nets="").encode())
        plan = plan_of(read_board(path), load_config(_config_of(files, Path(folder))))
    text, as_json = write_plan(plan).encode(), json.dumps(plan.model_dump(mode="json", exclude_none=True)).encode()
    return (text, text + _PLAN.encode(), as_json)


def _config_of(files: dict[str, bytes], folder: Path) -> Path:
    path = folder / "stackwright.toml"
    path.write_bytes(files.get("stackwright.toml", b""))
    return path


def _read_plan(data: bytes, _folder: Path, _: Random) -> None:
    parse_plan(data.decode("utf-8", "replace"), "plan")


def _read_cases(data: bytes, folder: Path, chance: Random) -> None:
    is_toml = (b"[[case]]" in data) != (chance.random() < 0.02)
    path = folder / ("cases.toml" if is_toml else "cases.csv")
    path.write_bytes(data)
    read_cases(path)


@functools.cache
def case_seeds() -> tuple[bytes, ...]:
    cases = (data.partition(b"[[case]]") for data in _files("fixtures/reference/*cases.toml", 9))
    shortened = (mark + b"".join(rest.partition(b"\n[[case]]")[:1]) for _, mark, rest in cases)
    return (
        _CASES.encode(),
        *(case for case in shortened if re.search(rb"^(values|trace_per_mm) *=", case, re.MULTILINE)),
    )


def _write_stackup(data: bytes, folder: Path, chance: Random) -> None:
    """Writing what stands there changes nothing; another stackup reads back, and outside the edit nothing moves."""
    path = folder / "board.kicad_pcb"
    stackup = read_board(path, text=data).stackup
    if stackup is None:
        return
    before = planned_from(stackup)
    with suppress(NotWrittenError):
        promise(kept=replace_stackup(data, before) == data, what="writing the board's own stackup changes it")
    rows = list(before.rows)
    if rows:
        at = chance.randrange(len(rows))
        ply = Ply(thickness_mm=round(chance.uniform(0.01, 2), 4), material="Megtron 6", dk=3.5, df=0.002)
        plies = (Ply(thickness_mm=0.05),) if rows[at].kind is LayerKind.COPPER else (ply,) * chance.choice((1, 2))
        rows[at] = rows[at].model_copy(update={"plies": plies})
    plan = before.model_copy(update={"rows": tuple(rows)})
    try:
        written = replace_stackup(data, plan)
    except NotWrittenError:
        return
    promise(kept=replace_stackup(written, plan) == written, what="applied twice, the plan changes the board again")
    again = read_board(path, text=written)
    promise(kept=again.stackup is not None, what="the stackup that was written is not there")
    undone = replace_stackup(written, before)
    restored = read_board(path, text=undone).stackup
    promise(kept=restored is not None and planned_from(restored) == before, what="undone, the stackup is another one")
    diff_text(data, written, name="board")


def _write_project(data: bytes, folder: Path, _: Random) -> None:
    path = folder / "board.kicad_pro"
    path.write_bytes(data)
    read_project(path, ())
    planned = PlannedClass(name="85ohm", track_width_mm=0.11, diff_pair_gap_mm=0.13, patterns=("/PCIE_*",))
    edit = set_net_classes(data, [planned])
    path.write_bytes(edit.content)
    found = read_project(path, ()).classes["85ohm"]
    promise(kept=(found.track_width_mm, found.diff_pair_gap_mm) == (0.11, 0.13), what="a net class is not as planned")
    promise(kept=set_net_classes(edit.content, [planned]).content == edit.content, what="a net class changes again")


def _write_rules(data: bytes, folder: Path, _: Random) -> None:
    rule = PlannedRule(net_class="85ohm", layer="F.Cu", width_mm=0.11, gap_mm=0.13, requirement="a test")
    written = replace_rules(data, [rule])
    promise(kept=replace_rules(written, [rule]) == written, what="a rule changes again")
    (folder / "board.kicad_dru").write_bytes(written)
    found = read_design_rules(folder / "board.kicad_dru")
    promise(kept=found is not None and len(found.rules) > 0, what="a rule that was written is not there")


FORMATS = ("html", "markdown", "json", "sarif", "junit", "github", "gitlab", "kicad")
DAY = date(2027, 1, 1)


def check_all(folder: Path, chance: Random | None = None) -> None:
    """Check the board of a folder, and render every report, or one by chance besides the text."""
    path = folder / "board.kicad_pcb"
    profile = None if chance is None else chance.choice((None, "inference-pcie", "training-b200", "edge"))
    checked = check_up(path, overrides=Overrides(profile=profile), today=DAY)
    if checked.report.crashes:
        crash = checked.report.crashes[0]
        raise Broken(f"rule {crash.code} broke: {crash.error[:200]}")
    pinned = board_map(checked.context, checked.report.findings)
    outcome = Checked(checked.report, None, "digest", "error", map=pinned)
    shown = text_report.page(checked.report, full=True).text()
    promise(kept=not CONTROL.search(shown), what="a control character in the text")
    for name in FORMATS if chance is None else (chance.choice(FORMATS),):
        harmless(name, reporter(name)([outcome]))


def harmless(name: str, rendered: str) -> None:
    """Fail unless a report is well formed and holds nothing that its readers would obey."""
    promise(kept=not CONTROL.search(rendered), what=f"a control character in {name}")
    rendered.encode("utf-8")
    if name in ("json", "sarif", "gitlab", "kicad"):
        json.loads(rendered, parse_constant=_no_constant)
    elif name == "junit":
        promise(kept=not faults(rendered), what=f"no JUnit report: {faults(rendered)[:1]}")
    elif name == "github":
        odd = [line for line in rendered.splitlines() if line.startswith("::") and not _COMMAND.match(line)]
        promise(kept=not odd, what=f"a command that is not ours: {odd[:1]}")
    elif name == "html":
        page = _Elements()
        page.feed(rendered)
        promise(kept=not page.alive, what=f"markup out of the board: {page.alive[:1]}")
    elif name == "markdown":
        found = _ALIVE_MARKDOWN.search(_FENCED.sub("", rendered))
        promise(kept=found is None, what=f"markup out of the board in {name}: {found and found[0]!r}")


_COMMAND = re.compile(r"::(error|warning|notice)( [a-zA-Z]+=[^,\r\n]*(,[a-zA-Z]+=[^,\r\n]*)*)?::")
_FENCED = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n.*?^\1 *$", re.MULTILINE | re.DOTALL)
"""What stands between fences is shown as it is."""
_ALIVE_MARKDOWN = re.compile(r"(?<!\\)<script>alert|(?<!\\)<img src=x")


class _Elements(HTMLParser):
    """Collects what a page of ours never holds: elements that load or run something, and attributes that do."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        if (tag, attrs) == ("link", [("rel", "icon"), ("href", "data:,")]):  # says that there is no icon to fetch
            return
        loads = any(key in ("src", "srcset", "data", "action") or key.startswith("on") for key, _ in attrs)
        leads = [value for key, value in attrs if key in ("href", "xlink:href") and value and not _LINK.match(value)]
        if loads or leads or tag in ("img", "iframe", "object", "embed", "base", "form", "link"):
            self.alive.append(f"{tag} {attrs}"[:200])


_LINK = re.compile(r"#|https://")


def _no_constant(word: str) -> object:
    raise Broken(f"{word} is no JSON")


NAMES = {"pcb": "board.kicad_pcb", "pro": "board.kicad_pro", "toml": "stackwright.toml", "dru": "board.kicad_dru"}


def check_damaged(_: bytes, folder: Path, chance: Random) -> None:
    """Take one of the cases' boards, damage one of its files, mostly the board, and check it."""
    files = dict(chance.choice(mini_boards()))
    which = chance.choice(sorted(files)) if chance.random() < 0.4 else "board.kicad_pcb"
    files[which] = damaged(chance, files[which], (board_seeds()[chance.randrange(6)], files["board.kicad_pcb"]))
    if chance.random() < 0.2:
        files["board.kicad_dru"] = damaged(chance, RULES.encode())
    check_files(files, folder, chance)


def check_files(files: dict[str, bytes], folder: Path, chance: Random | None = None) -> None:
    """Check the board that these files make."""
    for name in NAMES.values():
        (folder / name).unlink(missing_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    check_all(folder, chance)


def _none() -> tuple[bytes, ...]:
    return (b"",)


TARGETS = {
    target.name: target
    for target in (
        Target("board", board_seeds, _read_board),
        Target("project", project_seeds, _read_project),
        Target("rules", lambda: (RULES.encode(),), _read_rules),
        Target("settings", settings_seeds, _read_settings),
        Target("profile", profile_seeds, _read_profile),
        Target("baseline", baseline_seeds, _read_baseline),
        Target("fab", lambda: (_FAB.encode(), _FAB.replace(",", ";").encode()), _read_fab),
        Target("plan", plan_seeds, _read_plan),
        Target("cases", case_seeds, _read_cases),
        Target("stackup_writer", board_seeds, _write_stackup),
        Target("project_writer", project_seeds, _write_project),
        Target("rules_writer", lambda: (RULES.encode(), b""), _write_rules),
        Target("check", _none, check_damaged),
    )
}
