"""Net classes into a project's bytes: what is not in the plan stays, and a second time changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackup_lib.board.planned import PlannedClass
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad import read_project
from stackup_lib.kicad.write.json_spans import JsonDocument, Value
from stackup_lib.kicad.write.project_writer import set_net_classes

FIXTURES = sorted((Path(__file__).parents[4] / "fixtures" / "boards").glob("*/*.kicad_pro"))

V10 = """{
  "board": {
    "design_settings": {
      "rules": {
        "max_error": 5e-03,
        "min_clearance": 0.10
      }
    }
  },
  "net_settings": {
    "classes": [
      {
        "clearance": 0.2,
        "diff_pair_gap": 0.25,
        "name": "Default",
        "priority": 2147483647,
        "track_width": 0.2
      },
      {
        "name": "PCIE",
        "priority": 3,
        "unheard_of": [1, 2],
        "track_width": 0.150
      }
    ],
    "meta": {
      "version": 5
    },
    "net_colors": null,
    "netclass_assignments": null,
    "netclass_patterns": []
  },
  "text_variables": {
    "A": "\u00fc \\u00fc"
  }
}
"""


def edited(text: str, *classes: PlannedClass) -> tuple[str, list[str]]:
    edit = set_net_classes(text.encode(), classes)
    return edit.content.decode(), [str(change) for change in edit.changes]


def project_of(content: bytes, tmp_path: Path, nets: tuple[str, ...] = ()) -> object:
    path = tmp_path / "p.kicad_pro"
    path.write_bytes(content)
    return read_project(path, nets)


def test_a_class_that_is_there_changes_only_where_asked() -> None:
    """One number is replaced, one key is added; the spelling of everything else stays."""
    text, said = edited(V10, PlannedClass(name="PCIE", track_width_mm=0.132, diff_pair_gap_mm=0.15))
    expected = V10.replace('"track_width": 0.150\n', '"track_width": 0.132,\n        "diff_pair_gap": 0.15\n')
    assert text == expected
    assert said == ["net class PCIE: diff_pair_gap 0.15", "net class PCIE: track_width 0.15 -> 0.132"]


def test_a_key_goes_where_kicad_sorts_it() -> None:
    """Default's keys are in order, so a new one stands among them."""
    text, _ = edited(V10, PlannedClass(name="Default", diff_pair_width_mm=0.2, clearance_mm=0.1, via_drill_mm=0.3))
    expected = V10.replace('"clearance": 0.2,', '"clearance": 0.1,')
    expected = expected.replace('"diff_pair_gap": 0.25,\n', '"diff_pair_gap": 0.25,\n        "diff_pair_width": 0.2,\n')
    assert text == expected.replace('"track_width": 0.2\n', '"track_width": 0.2,\n        "via_drill": 0.3\n')


def test_what_stands_there_already_is_not_written_again() -> None:
    """The same value in another spelling, and a pattern that is there."""
    plan = PlannedClass(name="PCIE", track_width_mm=0.15, priority=3, patterns=("/PCIE*",))
    text, said = edited(V10, plan)
    assert said == ['net class PCIE: pattern "/PCIE*"']
    assert edited(text, plan) == (text, [])
    assert edited(V10) == (V10, [])
    for spelled in (V10, V10.replace('"track_width": 0.2\n', '"track_width": 0.19999999999998\n')):
        assert edited(spelled, PlannedClass(name="Default", track_width_mm=0.2000000001)) == (spelled, [])


def test_a_new_class_and_its_patterns() -> None:
    """They follow the others, laid out as KiCad lays them out; the class comes after those that are there."""
    text, said = edited(V10, PlannedClass(name="NVLINK", track_width_mm=0.11, patterns=("/NV*", "/X\u00fc*")))
    added = """      },
      {
        "name": "NVLINK",
        "pcb_color": "rgba(0, 0, 0, 0.000)",
        "priority": 4,
        "schematic_color": "rgba(0, 0, 0, 0.000)",
        "track_width": 0.11
      }
    ],
    "meta": {"""
    patterns = (
        '"netclass_patterns": [\n      {\n        "netclass": "NVLINK",\n        "pattern": "/NV*"\n      },\n'
        '      {\n        "netclass": "NVLINK",\n        "pattern": "/X\u00fc*"\n      }\n    ]\n'
    )
    expected = V10.replace('      }\n    ],\n    "meta": {', added).replace('"netclass_patterns": []\n', patterns)
    assert text == expected
    assert said == [
        "net class NVLINK: class added",
        "net class NVLINK: priority 4",
        "net class NVLINK: track_width 0.11",
        'net class NVLINK: pattern "/NV*"',
        'net class NVLINK: pattern "/X\u00fc*"',
    ]


def test_classes_without_priorities_are_whole() -> None:
    """Before KiCad 9 a class holds every field and its place decides: a new one takes Default's other fields."""
    old = V10.replace('        "priority": 2147483647,\n', "").replace('        "priority": 3,\n', "")
    text, _ = edited(old, PlannedClass(name="USB", track_width_mm=0.3))
    assert json.loads(text)["net_settings"]["classes"][-1] == {
        "name": "USB",
        "clearance": 0.2,
        "diff_pair_gap": 0.25,
        "track_width": 0.3,
    }


@pytest.mark.parametrize(
    "text",
    [
        "{}\n",
        '{"net_settings":{}}',
        '{"net_settings": {"classes": null, "netclass_patterns": null}}',
        '{\n\t"meta": {},\n\t"net_settings": null\n}\n',
        V10.replace("\n", "\r\n"),
        V10.replace("  ", "\t"),
        "\ufeff" + V10,
    ],
    ids=["empty", "compact", "null", "tabs", "windows", "tabbed", "byte order mark"],
)
def test_any_layout_takes_a_class(text: str, tmp_path: Path) -> None:
    """An empty project, one on a single line, tabs, Windows line ends, a byte order mark; all read back as planned."""
    plan = PlannedClass(name="A", track_width_mm=0.1, diff_pair_width_mm=0.09, diff_pair_gap_mm=0.12, patterns=("/A*",))
    edit = set_net_classes(text.encode(), [plan])
    project = read_project(_saved(edit.content, tmp_path), ("/A1", "/B"))
    found = project.effective("/A1")
    assert (found.track_width_mm, found.diff_pair_width_mm, found.diff_pair_gap_mm) == (0.1, 0.09, 0.12)
    assert project.net_classes_of == {"/A1": ("A",)}
    assert set_net_classes(edit.content, [plan]).content == edit.content
    assert edit.content.count(b"\r\n") == (edit.content.count(b"\n") if "\r\n" in text else 0)
    assert ("\n" in text) == (b"\n" in edit.content)


def _saved(content: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "p.kicad_pro"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_kicads_layout_survives(path: Path) -> None:
    """In a file laid out as KiCad does, the result is what writing the whole JSON anew would give."""
    content = path.read_bytes()
    assert _dumped(json.loads(content)) == content
    plans = [
        PlannedClass(name="Default", track_width_mm=0.123),
        PlannedClass(name="NEW", priority=0, track_width_mm=0.1, patterns=("/a", "/b")),
    ]
    written = set_net_classes(content, plans).content
    assert written != content
    assert _dumped(json.loads(written)) == written


def _dumped(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


@pytest.mark.demo
def test_the_demo_projects_keep_all_else(demo_boards: Path) -> None:
    """KiCad's own projects: without our class and its patterns they hold what they held."""
    tried = 0
    plan = PlannedClass(name="Stackwright test", track_width_mm=0.1, patterns=("/x*",))
    for path in sorted(demo_boards.glob("*/*.kicad_pro")):
        content = path.read_bytes()
        if (before := json.loads(content)).get("net_settings") is None:
            continue
        tried += 1
        after = json.loads(set_net_classes(content, [plan], label=str(path)).content)
        assert after["net_settings"]["classes"].pop()["name"] == plan.name
        assert after["net_settings"]["netclass_patterns"].pop() == {"netclass": plan.name, "pattern": "/x*"}
        before["net_settings"].setdefault("netclass_patterns", [])
        assert after == before
    assert tried >= 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"net_settings": {"classes": {}}}', "net_settings.classes is not a list"),
        ('{"net_settings": {"classes": [1]}}', "net_settings.classes is not a list"),
        ('{"net_settings": {"netclass_patterns": "x"}}', "net_settings.netclass_patterns is not a list"),
    ],
)
def test_what_is_no_project_is_refused(text: str, says: str) -> None:
    """Broken JSON, endless nesting, wrong types: one line, and nothing is written over them."""
    with pytest.raises(NotWrittenError, match=re.escape(says)):
        set_net_classes(text.encode(), [PlannedClass(name="A")])


def test_bytes_that_are_no_text_are_refused() -> None:
    """A project in another encoding would be damaged."""
    with pytest.raises(NotWrittenError, match="is not valid JSON"):
        set_net_classes(b'{"a": "\xfc"}', [])


@pytest.mark.parametrize(
    "plan", [PlannedClass(name="Default", patterns=("*",)), PlannedClass(name="Default", priority=1)]
)
def test_default_takes_no_patterns_and_no_priority(plan: PlannedClass) -> None:
    """It is the class of every net that no other names."""
    with pytest.raises(NotWrittenError, match="Default takes neither"):
        set_net_classes(V10.encode(), [plan])


VALUES: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    holder=st.dictionaries(st.text(max_size=4), VALUES, max_size=4),
    key=st.text(max_size=4),
    value=VALUES,
    indent=st.sampled_from([None, 2, "\t"]),
)
def test_a_member_set_is_what_a_dictionary_would_say(
    holder: dict[str, Value], key: str, value: Value, indent: int | str | None
) -> None:
    """For any JSON: a member set gives the JSON of the changed dictionary, an element added that of the longer list."""
    document = JsonDocument.of(json.dumps(holder, indent=indent).encode(), "x")
    assert json.loads(document.with_member((), key, value).encoded()) == {**holder, key: value}
    listed = document.with_member((), "l", [1]).with_element(("l",), value)
    assert json.loads(listed.encoded()) == {**holder, "l": [1, value]}
