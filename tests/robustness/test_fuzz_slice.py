"""A slice of the fuzzing of `tests/support/robustness/fuzz_campaign.py`, and every input that ever broke something."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackup_lib.core.errors import BoardFileError, StackwrightError
from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.read.project import read_project
from tests.support.hang import no_hang
from tests.support.kicad.kicad_boards import board_text
from tests.support.robustness import fuzz_targets
from tests.support.robustness.fuzz_nodes import in_one_line, mutated, parsed, written
from tests.support.robustness.fuzz_targets import check_files, mini_boards
from tests.support.robustness.fuzz_whole import REPORTS, TARGETS, known, run_check
from tests.support.robustness.fuzzing import damaged, tokens

TRIED = {
    "board": 500,
    "check": 40,
    "check_nodes": 30,
    "whole": 60,
    "whole_nodes": 30,
    "stackup_writer": 120,
    "fab": 200,
    "rules": 200,
}
"""Inputs of a target, where it is not 300."""
WHOLE = {"check", "check_nodes", "whole", "whole_nodes"}
MUTATED = {"check_nodes", "whole_nodes"}
LEAST_READABLE = 0.8
"""Of the boards that are mutated by their grammar, the share that has to end in a report."""


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    """Whatever is damaged, in whatever way: an answer that keeps its promises, or one line; never anything else."""
    target = TARGETS[name]
    taken = 0
    number = TRIED.get(name, 300)
    for seed in range(number):
        chance = Random(f"slice-{name}-{seed}")  # noqa: S311 - repeatable
        data = target.damaged(chance)
        with no_hang():
            taken += target.try_one(data, tmp_path, chance)
    assert taken > 0, "every input was refused: the damage is too coarse to reach anything"
    if name in MUTATED:
        assert taken > LEAST_READABLE * number
    else:
        assert name in ("rules", "rules_writer", "fab") or taken < number, "no input was refused"


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_sound(name: str, tmp_path: Path) -> None:
    """What is damaged works undamaged, else nothing behind its first fault would ever be reached."""
    target = TARGETS[name]
    if name in WHOLE:  # its seeds are the boards of `test_the_boards_of_the_cases_can_be_checked`
        return
    taken = [target.try_one(seed, tmp_path, Random(1)) for seed in target.seeds()]  # noqa: S311
    assert all(taken)


WORDS = st.sampled_from(["via", "zone", "pts", "xy", "net", "layer", "F.Cu", "at", "1", "-1e9", "0.2", "layers", "pad"])
LISTS = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=5).map(lambda parts: f"({' '.join(parts)})"), max_leaves=30
)
KEYS = st.sampled_from(
    ["net_settings", "classes", "name", "netclass_patterns", "pattern", "text_variables", "priority"]
)
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
JSON = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(items=st.lists(LISTS, max_size=6))
def test_any_lists_in_a_board_are_read_or_refused(items: list[str], tmp_path: Path) -> None:
    """Lists in lists of the words that a board uses, in any order."""
    TARGETS["board"].try_one(board_text(items=" ".join(items)).encode(), tmp_path, Random(1))  # noqa: S311


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.dictionaries(KEYS, JSON, max_size=4))
def test_any_json_is_a_project_or_refused(content: dict[str, object], tmp_path: Path) -> None:
    """Any type at any key; what is read can be written to."""
    data = json.dumps(content).encode()
    for name in ("project", "project_writer"):
        TARGETS[name].try_one(data, tmp_path, Random(1))  # noqa: S311


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=60), name=st.sampled_from(sorted(set(TARGETS) - WHOLE)))
def test_any_bytes_are_read_or_refused(data: bytes, name: str, tmp_path: Path) -> None:
    """Noise, for every kind of file."""
    TARGETS[name].try_one(data, tmp_path, Random(1))  # noqa: S311


def test_damage_is_repeatable_and_real() -> None:
    """The same seed damages alike, tokens lose no byte, and nearly every input differs from its seed."""
    seed = board_text().encode()
    assert b"".join(tokens(seed)) == seed
    first, second = ([damaged(Random(i), seed) for i in range(60)] for _ in range(2))  # noqa: S311
    assert first == second
    assert sum(data != seed for data in first) > 50


def test_mutated_boards_differ_and_stay_readable(tmp_path: Path) -> None:
    """More than four of five boards whose tree was changed are read; none is its seed, and a seed repeats its board."""
    seeds = [files["board.kicad_pcb"] for files in mini_boards()]
    readable, number = 0, 200
    for seed in range(number):
        board = seeds[seed % len(seeds)]
        first, second = (mutated(Random(seed), board, known()) for _ in range(2))  # noqa: S311 - repeatable
        assert first == second
        assert parsed(first) != parsed(board)
        try:
            read_board(tmp_path / "board.kicad_pcb", text=first)
        except StackwrightError as refused:
            fuzz_targets.one_line(refused)
        else:
            readable += 1
    assert readable > LEAST_READABLE * number


def test_a_tree_that_is_not_changed_is_the_board() -> None:
    """Writing what was parsed loses no word, in either layout."""
    for files in mini_boards():
        board = files["board.kicad_pcb"]
        words = [word for word in tokens(board) if not word.isspace()]
        for again in (written(parsed(board)), in_one_line(parsed(board))):
            assert [word for word in tokens(again) if not word.isspace()] == words


def test_a_file_may_end_anywhere(tmp_path: Path) -> None:
    """A board that was cut at any byte is refused in one line, the whole one is read."""
    data = board_text().encode()
    whole = len(data.rstrip())
    for end in range(0, len(data), 23):
        if end < whole:
            with pytest.raises(StackwrightError):
                read_board(tmp_path / "board.kicad_pcb", text=data[:end])
    read_board(tmp_path / "board.kicad_pcb", text=data[:whole])


DEEP = 100_000
BROKE: dict[str, tuple[str, bytes]] = {
    "a pad at 1e308 mm": ("board", board_text(items='(footprint "a" (at 1e308 0 30) (pad "1" smd rect (at 9e307 1)'
        ' (size 1 1) (layers "F.Cu")))').encode()),
    "an arc of 1e200 mm": ("board", board_text(
        items='(arc (start 0 0) (mid 1e200 1e200) (end 3e200 1) (width 1) (layer "F.Cu"))').encode()),
    "a zone's priority beyond 64 bits": ("board", board_text(
        items='(zone (layer "F.Cu") (priority 99999999999999999999) (polygon (pts (xy 0 0) (xy 1 1))))').encode()),
    "an arc that turns a billion times": ("board", board_text(
        items='(gr_arc (start 0 0) (end 1 0) (angle 999999999999) (layer "Edge.Cuts"))').encode()),
    "an arc that turns ten million times": ("board", board_text(
        items='(gr_arc (start 0 0) (end 1 0) (angle 3600000000) (layer "Edge.Cuts"))').encode()),
    "a zone of 1e19 mm": ("board", board_text(
        items='(zone (layer "F.Cu") (polygon (pts (xy 0 0) (xy 18446744073709551616 0) (xy 1 1))))').encode()),
    "quotes that nest": ("board", board_text(setup="(stackup " + "'" * DEEP + ")").encode()),
    "a copper layer 1e300 mm thick": ("board", board_text(
        setup='(stackup (layer "F.Cu" (type "copper") (thickness 1e300)))').encode()),
    "a priority of 400 digits": ("project",
        b'{"net_settings": {"classes": [{"name": "A", "priority": 1%s}]}}' % (b"0" * 400)),
    "a target of 400 digits": ("project_writer", b'{"tuning_profiles": {"tuning_profiles_impedance_geometric":'
        b' [{"profile_name": "T", "target_impedance": 1%s}]}}' % (b"0" * 400)),
    "half of a character pair": ("project_writer",
        b'{"net_settings": {"classes": [{"name": "Default", "pcb_color": "\\ud800", "clearance": 0.2}]}}'),
    "a number of 5000 digits": ("settings", b"[[rail]]\nvoltage_v = " + b"9" * 5000),
    "settings that nest": ("settings", b"profile = " + b"[" * DEEP),
    "settings with the line ends of an old Mac": ("settings", b'profile = "edge"\rform = "pcie-card"\r'),
    "settings with a byte order mark": ("settings", b'\xef\xbb\xbfprofile = "edge"\n'),
    "a key of 8000 characters": ("settings", b"[declared]\n" + b"a" * 8000 + b" = 1"),
    "a profile that rests on a name of 15000 characters": ("profile",
        b'title = "a"\nextends = ["' + b"a" * 15000 + b'"]\n'),
    "a profile that nests": ("profile", b"interfaces = " + b"{a=" * DEEP),
    "a plan with a number of 5000 digits": ("plan", b"format_version = " + b"9" * 5000),
    "cases with a number of 5000 digits": ("cases", b"[[case]]\ndk = " + b"9" * 5000),
    "a fab's table of a million empty lines": ("fab", b"Layer,Type,Thickness (mm)\n" + b"\n" * 1_000_000),
    "a fab's header of a hundred thousand blanks": ("fab",
        b"Layer,Type,Thickness (" + b" " * DEEP + b"x,Dk\nL1,Copper,1\n"),
    "a fab's thickness of 5000 digits": ("fab", b"Layer,Type,Thickness (mm)\nL1,Copper," + b"9" * 5000),
    "a rule's text over two lines": ("rules_writer", b'(version 1)\n(rule "a" (layer "\n"))'),
    "rules that nest": ("rules", b"(version 1)" + b"(" * DEEP),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKE)
def test_what_broke_once_stays_fixed(what: str, tmp_path: Path) -> None:
    """Inputs that ended in a traceback, a hang, a warning or a page of digits are read or refused in one line."""
    name, data = BROKE[what]
    with no_hang(30):
        TARGETS[name].try_one(data, tmp_path, Random(2))  # noqa: S311 - repeatable


@pytest.mark.parametrize("item", [
    '(zone (layer "F.Cu") (polygon (pts (xy 0 0) (xy 1e11 0) (xy 1 1))))',
    '(segment (start 0 0) (end 1e11 0) (width 1) (layer "F.Cu"))',
    '(segment (start 0 0) (end 99999999999 0) (width 1) (layer "F.Cu") (net 1))',
    '(via (at 1e11 0) (size 1) (drill 0.5) (layers "F.Cu" "B.Cu"))',
])  # fmt: skip
def test_no_coordinate_beyond_any_board_is_read(item: str, tmp_path: Path) -> None:
    """A number that KiCad cannot hold is refused where it stands, in the quick readers too, not met again in a rule."""
    with pytest.raises(StackwrightError, match="where a number belongs"):
        read_board(tmp_path / "board.kicad_pcb", text=board_text(items=item).encode())


ODD = {
    "tracks without length": '(segment (start 1 1) (end 1 1) (width 0.2) (layer "F.Cu") (net 1))' * 3,
    "a track without width": '(segment (start 1 1) (end 9 1) (width 0) (layer "F.Cu") (net 1))',
    "a track of a thousand kilometres": '(segment (start -1e9 1) (end 1e9 1) (width 0.2) (layer "F.Cu") (net 1))',
    "a via from a layer to itself": '(via blind (at 1 1) (size 1) (drill 0.5) (layers "F.Cu" "F.Cu") (net 1))',
    "a via whose hole is larger than its pad": '(via (at 1 1) (size 0.1) (drill 3) (layers "F.Cu" "B.Cu") (net 1))',
    "a via of no size": '(via (at 1 1) (size 0) (drill 0) (layers "F.Cu" "B.Cu") (net 1))',
    "pads without nets": '(footprint "a" (at 1 1) (pad "" smd rect (at 0 0) (size 0 0) (layers "F.Cu")))',
    "a zone of one point": '(zone (net 1) (layer "F.Cu") (polygon (pts (xy 1 1)))'
    ' (filled_polygon (layer "F.Cu") (pts (xy 1 1) (xy 1 1))))',
    "a zone that crosses itself": '(zone (net 1) (layer "In1.Cu") (polygon (pts (xy 0 0) (xy 9 9) (xy 9 0) (xy 0 9)))'
    ' (filled_polygon (layer "In1.Cu") (pts (xy 0 0) (xy 9 9) (xy 9 0) (xy 0 9))))',
    "a board of no size": '(gr_rect (start 5 5) (end 5 5) (layer "Edge.Cuts"))',
    "one uuid for all": '(segment (start 1 1) (end 9 1) (width 0.2) (layer "F.Cu") (net 1) (uuid "x"))' * 2,
    "an arc on a line": '(arc (start 0 0) (mid 1 0) (end 2 0) (width 0.2) (layer "F.Cu") (net 1))',
}  # fmt: skip
LAYERS = {
    "one copper layer": '(layers (0 "F.Cu" signal))',
    "two layers of one name": '(layers (0 "F.Cu" signal "X") (4 "In1.Cu" signal "X") (2 "B.Cu" signal "F.Cu"))',
    "32 copper layers": "(layers (0 F.Cu signal) {} (2 B.Cu signal))".format(
        " ".join(f"({2 * i + 2} In{i}.Cu power)" for i in range(1, 31))
    ),
}
SETUPS = {
    "a stackup of no thickness": "".join(
        f'(layer "{name}" (type "{kind}") (thickness 0) (epsilon_r 0) (loss_tangent 0))'
        for name, kind in (("F.Cu", "copper"), ("d1", "core"), ("In1.Cu", "copper"), ("d2", "prepreg"),
                           ("In2.Cu", "copper"), ("d3", "core"), ("B.Cu", "copper"))
    ),
    "a permittivity of a billion": '(layer "F.Cu" (type "copper") (thickness 0.035)) (layer "d" (type "core")'
    ' (thickness 1e-9) (epsilon_r 1e9) (loss_tangent 1e9)) (layer "B.Cu" (type "copper") (thickness 0.035))',
    "a stackup upside down": '(layer "B.Cu" (type "copper") (thickness 0.035)) (layer "d" (type "core")'
    ' (thickness 1)) (layer "F.Cu" (type "copper") (thickness 0.035))',
    "a stackup of dielectrics": '(layer "d" (type "core") (thickness 1))' * 3,
}  # fmt: skip


@pytest.mark.parametrize("what", [*ODD, *LAYERS, *SETUPS])
def test_no_rule_breaks_on_an_odd_board(what: str, tmp_path: Path) -> None:
    """Boards that no editor makes, but a file can state, give a report in every format, or one line."""
    text = board_text()
    if what in ODD:
        text = text[: text.index("(embedded_files")] + ODD[what] + ")"
    elif what in LAYERS:
        text = board_text(layers=LAYERS[what])
    else:
        text = board_text(setup=f"(stackup {SETUPS[what]})")
    for profile in ("inference-pcie", "training-b200"):
        files = {"board.kicad_pcb": text.encode(), "stackwright.toml": f'profile = "{profile}"\n'.encode()}
        with no_hang():
            check_files(files, tmp_path)


REFUSED = {
    "a track of negative width": (
        board_text(items='(segment (start 1 1) (end 9 1) (width -0.2) (layer "F.Cu") (net 1))'),
        "a track's width is -0.2 mm; correct it in KiCad, or restore a backup of the file",
    ),
    "a board of negative thickness": (
        board_text().replace("(thickness 1.6)", "(thickness -1)"),
        "the board's thickness is -1 mm; correct it in KiCad, or restore a backup of the file",
    ),
    "negative copper": (
        board_text(setup='(stackup (layer "F.Cu" (type "copper") (thickness -1)))'),
        'the thickness of stackup layer "F.Cu" is -1 mm; correct it in KiCad, or restore a backup of the file',
    ),
    "a negative dielectric": (
        board_text(setup='(stackup (layer "F.Cu" (type "copper")) (layer "d" (type "core") (epsilon_r -4)))'),
        'stackup layer "d": its permittivity is -4; correct it in KiCad, or restore a backup of the file',
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_sizes_that_cannot_be_are_refused_in_one_line(what: str, tmp_path: Path) -> None:
    """No answer about a board with a size below zero would mean anything."""
    text, said = REFUSED[what]
    with pytest.raises(BoardFileError) as refused:
        check_files({"board.kicad_pcb": text.encode()}, tmp_path)
    assert str(refused.value).startswith(str(tmp_path / "board.kicad_pcb"))
    assert str(refused.value).endswith(said)
    assert "\n" not in str(refused.value)


def test_sizes_of_a_project_may_be_anything(tmp_path: Path) -> None:
    """Board Setup's smallest sizes, that no part of the reader needs, cannot break a rule."""
    sizes = dict.fromkeys(("min_via_diameter", "min_through_hole_diameter", "min_via_annular_width"), 10**400)
    for rules in (sizes, dict.fromkeys(sizes, "x"), dict.fromkeys(sizes, -1), dict.fromkeys(sizes), [1]):
        project = json.dumps({"board": {"design_settings": {"rules": rules}}}).encode()
        check_files({"board.kicad_pcb": board_text().encode(), "board.kicad_pro": project}, tmp_path)


def test_the_boards_of_the_cases_can_be_checked(tmp_path: Path) -> None:
    """The sound boards whose damaged copies are checked give sound reports."""
    for files in mini_boards()[:12]:
        check_files(files, tmp_path)


ROOM = 100_000
REPEATED = {
    "tracks": '(segment (start 1 2) (end 4 6) (width 1) (layer "F.Cu") (net 1))',
    "vias": '(via (at 1 2) (size 1) (layers "F.Cu" "B.Cu"))',
    "footprints": '(footprint "a" (at 1 1))',
    "zones": '(zone (layer "F.Cu") (polygon (pts (xy 1 1))))',
    "empty lists": "()",
    "quotes": '"',
    "line breaks": "\n",
    "huge circles": '(gr_circle (center 0 0) (end 9999 0) (layer "Edge.Cuts"))',
    "nets": '(net 7 "A")',
}


@pytest.mark.parametrize("what", REPEATED)
def test_a_board_takes_memory_as_its_file_is_long(what: str, tmp_path: Path) -> None:
    """At most a few hundred bytes of memory per byte of the file, whatever it holds."""
    room = ROOM // 10 if what == "huge circles" else ROOM
    data = board_text(items=REPEATED[what] * (room // len(REPEATED[what]))).encode()
    most = 600 if what == "huge circles" else 100
    assert _peak(lambda: _swallow(lambda: read_board(tmp_path / "board.kicad_pcb", text=data))) < most * len(data)


def test_projects_and_rules_take_memory_as_their_files_are_long(tmp_path: Path) -> None:
    """A bus of a few characters does not become millions of names, and no list a multiple of itself."""
    path = tmp_path / "board.kicad_pro"
    buses = "{" + " ".join(f"A{i}[0..4095]" for i in range(2000)) + "}"
    rows = [{"name": f"C{i}"} for i in range(8000)]
    text = json.dumps({"net_settings": {"classes": rows, "netclass_patterns": [{"pattern": buses, "netclass": "C1"}]}})
    path.write_text(text, encoding="utf-8")
    assert _peak(lambda: read_project(path, ["/A1", buses])) < 300 * len(text)
    rules = "(version 1)" + "(rule a)" * 8000
    assert _peak(lambda: parse_design_rules(rules)) < 500 * len(rules)


def _peak(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _swallow(action: Callable[[], object]) -> None:
    try:
        action()
    except StackwrightError as refused:
        fuzz_targets.one_line(refused)


RECORD = Path(__file__).parents[2] / "fixtures" / "reference" / "fuzzing.md"


def test_the_record_of_the_campaign_adds_up() -> None:
    """Every target has its row, and the sum is the sum."""
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|$", RECORD.read_text(encoding="utf-8"), re.MULTILINE)
    tried = {name: int(count) for name, count, _ in rows}
    total = tried.pop("all")
    assert set(tried) == set(TARGETS)
    assert sum(tried.values()) == total
    assert all(count > 0 and 0 <= int(share) <= 100 for _, count, share in ((n, int(c), s) for n, c, s in rows))


FUZZED = Path(__file__).parents[2] / "fixtures" / "fuzzed"
REFUSED_FUZZED = {
    "negative_copper": 'the thickness of stackup layer "In2.Cu" is -2.14748e+09 mm',
    "rail_of_negative_copper": 'the thickness of stackup layer "F.Cu" is -3.5e+07 mm',
}
"""Boards that were checked once, and that the reader refuses."""


@pytest.mark.parametrize("folder", sorted(FUZZED.iterdir()), ids=lambda folder: folder.name)
def test_a_whole_check_that_broke_once_stays_fixed(folder: Path, tmp_path: Path) -> None:
    """Boards and settings that ended in a traceback, a broken rule or gigabytes give a report in every format."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    refused = REFUSED_FUZZED.get(folder.name)
    with no_hang():
        for typed in ([], ["--profile", "training-b200"]):
            assert run_check(tmp_path, typed, REPORTS) is (refused is None)
    if refused is not None:
        errors = json.loads((tmp_path / "report.json").read_bytes())["errors"]
        assert len(errors) == 1
        assert refused in json.dumps(errors, ensure_ascii=False).replace('\\"', '"')
        assert not (tmp_path / "report.kicad").exists()
