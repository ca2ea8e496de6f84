"""A planned stackup into a board's bytes: nothing else changes, and what is written reads back."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.miniboard import build
from stackup_lib.board.board import LayerKind
from stackup_lib.board.planned import PlannedRow, PlannedStackup, planned_from
from stackup_lib.board.stackup import Ply, Stackup
from stackup_lib.core.errors import NotWrittenError, StackwrightError
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from tests.support.boards import BOARDS
from tests.support.kicad.kicad_boards import EMPTY_V6, HEAD_V6, HEAD_V9, HEAD_V10, LAYERS_V6, board_text, kicad_layout

FIXTURES = [path for path in sorted(BOARDS.glob("*/*.kicad_pcb")) if b"(stackup" in path.read_bytes()]
SMALL_DEMO_BYTES = 10_000_000


def stackup_of(text: bytes) -> Stackup:
    found = read_board(Path("board.kicad_pcb"), text=text).stackup
    assert found is not None
    return found


def plan_of(text: bytes) -> PlannedStackup:
    return planned_from(stackup_of(text))


def with_row(plan: PlannedStackup, name: str, *plies: Ply, kind: LayerKind | None = None) -> PlannedStackup:
    rows = [
        row.model_copy(update={"plies": plies, "kind": kind or row.kind}) if row.name == name else row
        for row in plan.rows
    ]
    return plan.model_copy(update={"rows": tuple(rows)})


def layered(count: int) -> PlannedStackup:
    """A plan of `count` copper layers, cores and prepregs by turns."""
    rows: list[PlannedRow] = []
    for i in range(count):
        if i:
            kind = LayerKind.PREPREG if i % 2 else LayerKind.CORE
            ply = Ply(thickness_mm=0.1, material="Megtron 6", dk=3.4, df=0.002)
            rows.append(PlannedRow(kind=kind, plies=(ply,)))
        layer_type = "power" if i % 2 else "signal"
        rows.append(PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=0.018),), layer_type=layer_type))
    return PlannedStackup(rows=tuple(rows))


def mini(tmp_path: Path, **board: object) -> bytes:
    return build(board, tmp_path, "board").read_bytes()


def changed_lines(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    before, after = old.decode().splitlines(), new.decode().splitlines()
    return [line.strip() for line in before if line not in after], [
        line.strip() for line in after if line not in before
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_a_boards_own_stackup_gives_its_own_bytes(path: Path) -> None:
    """Writing what the board states already changes no byte of any fixture board."""
    content = path.read_bytes()
    assert replace_stackup(content, plan_of(content)) == content


@pytest.mark.slow
@pytest.mark.demo
def test_the_demo_boards_keep_their_bytes(demo_boards: Path) -> None:
    """Writing back their own stackup changes no byte of KiCad's demo boards, the two big ones included."""
    tried = 0
    for path in sorted(demo_boards.glob("*/*.kicad_pcb")):
        content = path.read_bytes()
        if (stackup := read_board(path, text=content).stackup) is not None:
            tried += 1
            assert replace_stackup(content, planned_from(stackup)) == content, path.name
    assert tried >= 10


@pytest.mark.slow
@pytest.mark.demo
def test_a_new_block_is_spelled_as_kicad_spells_it(demo_boards: Path) -> None:
    """Taken out of a demo board and written anew, the block has the bytes that KiCad wrote, colours of silk aside."""
    tried = 0
    for path in sorted(demo_boards.glob("*/*.kicad_pcb")):
        content = path.read_bytes()
        found = BLOCK.search(content)
        if len(content) > SMALL_DEMO_BYTES or found is None:
            continue
        stackup = stackup_of(content)
        if any(ply.dk is None or ply.df is None for row in stackup.dielectrics for ply in row.plies):
            continue
        tried += 1
        written = replace_stackup(content[: found.start()] + content[found.end() :], planned_from(stackup))
        again = BLOCK.search(written)
        assert again is not None
        assert _plain(again.group()) == _plain(found.group()), path.name
    assert tried >= 5


BLOCK = re.compile(rb"\t\t\(stackup\n.*?\n\t\t\)\n", re.DOTALL)
SILK = re.compile(rb'\t\t\t\(layer "[FB].SilkS"\n.*?\n\t\t\t\)\n', re.DOTALL)
UNSET = re.compile(rb'\t\t\t\t\((?:material ""|epsilon_r 0|loss_tangent 0)\)\n|\t\t\t\(castellated_pads yes\)\n')


def _plain(block: bytes) -> bytes:
    """The block without silk rows and castellation, which a plan does not hold, and values that mean "not set"."""
    return UNSET.sub(b"", SILK.sub(b"", block))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_one_dk_changes_one_line(newline: str) -> None:
    """A changed Dk changes that word alone: line endings, comments, unknown words and everything else stay."""
    text = kicad_layout(board_text(head=HEAD_V10, nets="")).replace("(epsilon_r 4.5)", "(roughness 2) (epsilon_r 4.5)")
    text = "# made by hand, \u03a9\n" + text
    content = text.replace("\n", newline).encode()
    plan = plan_of(content)
    ply = Ply(thickness_mm=1.2, material="FR4", dk=4.25, df=0.02)
    written = replace_stackup(content, with_row(plan, "dielectric 2", ply))
    assert written == content.replace(b"(epsilon_r 4.5)", b"(epsilon_r 4.25)")


def test_every_word_of_a_ply_can_change(tmp_path: Path) -> None:
    """Thickness, lock, material, Dk, Df, colour, kind; the board's thickness follows the new sum, here 1.31 mm."""
    content = mini(tmp_path, stackup='F.Cu 0.035\ncore 1.53 "FR4" dk=4.5 df=0.02\nB.Cu 0.035')
    ply = Ply(
        thickness_mm=1.24, material='I "x" \\ \u00b5', dk=3.0, df=0.00005, thickness_locked=True, color="#11223344"
    )
    written = replace_stackup(content, with_row(plan_of(content), "dielectric 1", ply, kind=LayerKind.PREPREG))
    old, new = changed_lines(content, written)
    assert old == [
        "(thickness 1.6)",
        '(type "core")',
        "(thickness 1.53)",
        '(material "FR4")',
        "(epsilon_r 4.5)",
        "(loss_tangent 0.02)",
    ]
    assert new == ["(thickness 1.31)", '(type "prepreg")', '(color "#11223344")', "(thickness 1.24 locked)",
                   '(material "I \\"x\\" \\\\ \u00b5")', "(epsilon_r 3)", "(loss_tangent 0.00005)"]  # fmt: skip
    assert read_board(Path("b"), text=written).thickness_mm == 1.31


def test_what_is_not_known_is_said_so(tmp_path: Path) -> None:
    """An unknown Dk or Df of a changed or new ply is KiCad's own "not set": left out, KiCad would make it FR4's."""
    content = mini(tmp_path, stackup='F.Cu 0.035\ncore 1.53 "FR4" dk=4.5 df=0.02\nB.Cu 0.035')
    unknown = Ply(thickness_mm=1.53, material="Nelco X")
    for plies in ((unknown,), (unknown, unknown)):
        written = replace_stackup(content, with_row(plan_of(content), "dielectric 1", *plies))
        assert written.count(b"(epsilon_r 1)") == written.count(b"(loss_tangent 0)") == len(plies)
        found = stackup_of(written).dielectrics[0].plies
        assert [(ply.dk, ply.df) for ply in found] == [(None, None)] * len(plies)
    silent = content.replace(b"\t\t\t\t(epsilon_r 4.5)\n", b"").replace(b"\t\t\t\t(loss_tangent 0.02)\n", b"")
    assert replace_stackup(silent, plan_of(silent)) == silent
    written = replace_stackup(silent, with_row(plan_of(silent), "dielectric 1", unknown))
    assert b'(material "Nelco X")\n\t\t\t\t(epsilon_r 1)\n\t\t\t\t(loss_tangent 0)\n' in written


def test_apply_and_undo_give_the_same_bytes() -> None:
    """A plan applied and the former one applied again restore every byte, plies added and words taken away included."""
    content = kicad_layout(board_text(head=HEAD_V10, nets="")).replace("(thickness 1.6)", "(thickness 1.631)").encode()
    plan = plan_of(content)
    plies = [Ply(thickness_mm=0.3 + i / 10, material="IS400", dk=3.9) for i in range(3)]
    changed = with_row(plan, "dielectric 2", *plies)
    changed = with_row(changed, "dielectric 1", Ply(thickness_mm=0.2, material="2113"))
    written = replace_stackup(content, changed)
    assert [len(d.plies) for d in stackup_of(written).dielectrics] == [1, 3, 1]
    assert stackup_of(written).dielectrics[0].plies[0].color == "FR4 natural"
    assert replace_stackup(written, changed) == written
    assert plan_of(replace_stackup(written, plan)) == plan
    assert b"(thickness 1.631)" not in written


def test_plies_stand_as_each_version_writes_them(tmp_path: Path) -> None:
    """KiCad 8 to 10 put `addsublayer` behind the ply before it, KiCad 6 and 7 on a line of its own."""
    plies = tuple(Ply(thickness_mm=t, material="1080", dk=4.0, df=0.02) for t in (0.5, 0.7))
    plan = PlannedStackup(rows=(copper(), PlannedRow(kind=LayerKind.CORE, plies=plies), copper()))
    old = replace_stackup(EMPTY_V6.encode(), plan).decode()
    expected = """  (setup
    (stackup
      (layer "F.SilkS" (type "Top Silk Screen"))
      (layer "F.Cu" (type "copper") (thickness 0.035))
      (layer "dielectric 1" (type "core") (thickness 0.5) (material "1080") (epsilon_r 4) (loss_tangent 0.02)
        addsublayer (thickness 0.7) (material "1080") (epsilon_r 4) (loss_tangent 0.02))
      (layer "B.Cu" (type "copper") (thickness 0.035))
      (copper_finish "None")
      (dielectric_constraints no)
    )
    (pad_to_mask_clearance 0)
  )
"""
    assert expected in old
    assert "(thickness 1.27)" in old
    new = replace_stackup(mini(tmp_path, copper_layers=2), plan).decode()
    assert '\n\t\t\t\t(loss_tangent 0.02) addsublayer\n\t\t\t\t(thickness 0.7)\n\t\t\t\t(material "1080")\n' in new
    assert '\t(setup\n\t\t(stackup\n\t\t\t(layer "F.SilkS"\n\t\t\t\t(type "Top Silk Screen")\n\t\t\t)\n' in new


def copper(thickness_mm: float = 0.035) -> PlannedRow:
    return PlannedRow(kind=LayerKind.COPPER, plies=(Ply(thickness_mm=thickness_mm),))


@pytest.mark.parametrize("head", [HEAD_V6, HEAD_V9, HEAD_V10])
def test_a_file_on_one_line_stays_on_one_line(head: str) -> None:
    """A board without line breaks takes a new ply and a finish, and is read as planned."""
    layers = LAYERS_V6 if head == HEAD_V6 else None
    text = board_text(head=head, items="", **({} if layers is None else {"layers": layers})).replace("\n", " ")
    plan = plan_of(text.encode())
    two = tuple(Ply(thickness_mm=0.6, material=m, dk=4.0, df=0.01, thickness_locked=False) for m in ("A", "B"))
    plan = with_row(plan, "dielectric 2", *two).model_copy(update={"copper_finish": "Immersion silver"})
    written = replace_stackup(text.encode(), plan)
    assert b"\n" not in written
    assert plan_of(written).rows == plan.rows
    assert stackup_of(written).copper_finish == "Immersion silver"


def test_options_change_come_and_go() -> None:
    """Finish, impedance control, edge connector and plating; None leaves each as it is."""
    content = kicad_layout(board_text(head=HEAD_V10, nets="")).encode()
    plan = plan_of(content)
    untouched = plan.model_copy(
        update={"copper_finish": None, "dielectric_constraints": None, "edge_connector": None, "edge_plating": None}
    )
    assert replace_stackup(content, untouched) == content
    gone = plan.model_copy(
        update={"copper_finish": "None", "dielectric_constraints": False, "edge_connector": "no", "edge_plating": False}
    )
    written = replace_stackup(content, gone)
    found = stackup_of(written)
    assert (found.copper_finish, found.impedance_controlled) == (None, False)
    assert (found.edge_connector, found.edge_plating) == (None, None)
    assert replace_stackup(written, gone) == written
    assert replace_stackup(written, plan) == content


def test_comments_between_rows_stay() -> None:
    """KiCad reads lines that begin with a hash as comments; rows come and go around them, and take no blanks along."""
    text = kicad_layout(board_text(head=HEAD_V10, nets="", items=""))
    comment = '\n# "( thin\n'
    for row in ("In1.Cu", "dielectric 2", "B.Mask"):
        text = text.replace(f'\n\t\t\t(layer "{row}"', f'{comment}\t\t\t(layer "{row}"')
    text = text.replace('\n\t\t\t(layer "F.SilkS"', '\n#  first\n\t\t\t(layer "F.SilkS"')
    written = replace_stackup(text.encode(), layered(2), change_layers=True)
    assert written.count(b'# "( thin\n') == 3
    written = replace_stackup(written, layered(6), change_layers=True)
    assert b'\n\t\t\t(layer "In4.Cu"\n\t\t\t\t(type "copper")\n' in written
    assert written.count(b'# "( thin\n') == 3


def test_an_empty_block_is_filled() -> None:
    """`(stackup)` takes rows where KiCad indents them."""
    text = kicad_layout(board_text(head=HEAD_V10, setup="(stackup)", nets="", items=""))
    written = replace_stackup(text.encode(), layered(4))
    assert b'\t\t(stackup\n\t\t\t(layer "F.Cu"\n\t\t\t\t(type "copper")\n' in written
    assert plan_of(written).copper_names == layered(4).copper_names


def test_a_board_without_a_setup_gets_one() -> None:
    """The setup follows the layer table, with the stackup in it; the rest of the file stays."""
    text = kicad_layout(
        f'(kicad_pcb {HEAD_V10} (general (thickness 1.6)) (layers (0 "F.Cu" signal) (2 "B.Cu" signal)))'
    )
    written = replace_stackup(text.encode(), layered(2)).decode()
    assert '\n\t)\n\t(setup\n\t\t(stackup\n\t\t\t(layer "F.Cu"\n' in written
    assert read_board(Path("b"), text=written.encode()).thickness_mm == pytest.approx(0.136)


def test_layers_are_added_to_an_unrouted_board(tmp_path: Path) -> None:
    """With KiCad's numbers for the version, of the planned types; taken away again the bytes are as before."""
    content = mini(tmp_path, stackup='F.Cu 0.035\ncore 1.53 "FR4" dk=4.5 df=0.02\nB.Cu 0.035')
    with pytest.raises(NotWrittenError, match="the plan has 6 copper layers, the board 2"):
        replace_stackup(content, layered(6))
    written = replace_stackup(content, layered(6), change_layers=True)
    assert b'(0 "F.Cu" signal)\n\t\t(4 "In1.Cu" power)\n\t\t(6 "In2.Cu" signal)\n\t\t(8 "In3.Cu" power)\n' in written
    board = read_board(Path("b"), text=written)
    assert [c.name for c in board.copper_layers] == ["F.Cu", "In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu", "B.Cu"]
    assert plan_of(written).rows == tuple(r.model_copy(update={"layer_type": "signal"}) for r in _unlocked(layered(6)))
    assert replace_stackup(written, plan_of(content), change_layers=True) == content


def _unlocked(plan: PlannedStackup) -> tuple[PlannedRow, ...]:
    return tuple(
        row.model_copy(update={"plies": tuple(p.model_copy(update={"thickness_locked": False}) for p in row.plies)})
        for row in plan.rows
    )


def test_kicad_6_numbers_its_layers_its_own_way() -> None:
    """In1.Cu is layer 1 and B.Cu layer 31 before KiCad 9."""
    written = replace_stackup(EMPTY_V6.encode(), layered(4), change_layers=True)
    assert b'(0 "F.Cu" signal)\n    (1 "In1.Cu" power)\n    (2 "In2.Cu" signal)\n    (31 "B.Cu" signal)\n' in written


@pytest.mark.parametrize(
    "use",
    [
        {"tracks": [{"layer": "In1.Cu", "path_mm": [[5, 5], [9, 5]]}]},
        {"zones": [{"layer": "In2.Cu", "net": "GND", "rect_mm": [1, 1, 9, 9]}]},
        {"vias": [{"at_mm": [5, 5], "kind": "blind", "span": ["In2.Cu", "B.Cu"]}]},
        {"vias": [{"at_mm": [5, 5], "backdrill": {"from": "B.Cu", "size_mm": 0.4, "must_cut": "In2.Cu"}}]},
    ],
)
@pytest.mark.parametrize("count", [2, 8])
def test_layers_in_use_do_not_move(use: dict[str, object], count: int, tmp_path: Path) -> None:
    """A track, a zone, a blind via or a backdrill on an inner layer forbids more or fewer layers, and says where."""
    content = mini(tmp_path, copper_layers=4, **use)
    with pytest.raises(NotWrittenError, match=r"line \d+: In[12].Cu is in use"):
        replace_stackup(content, layered(count), change_layers=True)


def test_layers_go_between_routed_outer_layers(tmp_path: Path) -> None:
    """Tracks outside and through vias stay what they are: on F.Cu and B.Cu, from the first layer to the last."""
    tracks = [{"net": "/A", "layer": layer, "path_mm": [[5, 5], [9, 5]]} for layer in ("F.Cu", "B.Cu")]
    content = mini(tmp_path, copper_layers=2, tracks=tracks, vias=[{"net": "/A", "at_mm": [9, 5]}])
    board = read_board(Path("b"), text=replace_stackup(content, layered(4), change_layers=True))
    assert board.tracks.layer.tolist() == [0, 3]
    assert (board.vias.start_layer.tolist(), board.vias.end_layer.tolist()) == ([0], [3])


TOKENS = ["(", ")", '"', "\\", "addsublayer", "(addsublayer (thickness 0.1))", '(layer "dielectric 1")', "(layer)",
          "locked", "\n#x(\n", "(thickness)", "(material)", "0", "nan", "(stackup)", '(type "core")', "\r\n", "1e999",
          "\x00", "(dielectric_constraints)", "F.Cu", "(version 20211014)"]  # fmt: skip
CUTS = st.tuples(st.floats(0, 1), st.integers(0, 25), st.sampled_from(["", *TOKENS]))


@settings(max_examples=120, deadline=None)
@given(cuts=st.lists(CUTS, min_size=1, max_size=3), tabs=st.booleans())
def test_no_damaged_board_is_damaged_further(cuts: list[tuple[float, int, str]], tabs: bool) -> None:
    """Whatever is torn out of, or put into, the head of a board: one clear error, or a board that reads as planned."""
    text = board_text(head=HEAD_V10, nets="")
    text = kicad_layout(text) if tabs else text
    until = text.index("(pad_to_mask")
    for place, length, token in cuts:
        at = int(place * until)
        text = text[:at] + token + text[at + length :]
    content = text.encode()
    plans = [layered(2), layered(4), layered(8)]
    with contextlib.suppress(StackwrightError):
        stackup = read_board(Path("b"), text=content).stackup
        if stackup is not None:
            plans.append(planned_from(stackup))
            assert replace_stackup(content, plans[-1]) == content
    for plan in plans:
        with contextlib.suppress(StackwrightError):
            written = replace_stackup(content, plan, change_layers=True)
            assert [row.name for row in plan_of(written).rows] == [row.name for row in plan.rows]
            assert replace_stackup(written, plan, change_layers=True) == written


def test_a_stackup_that_contradicts_the_layers_can_be_fixed(tmp_path: Path) -> None:
    """A plan with the layer table's own layers needs no permission: the table stays, whatever is routed."""
    stackup = 'F.Cu 0.035\ncore 1.53 "FR4" dk=4.5 df=0.02\nB.Cu 0.035'
    track = {"layer": "In1.Cu", "path_mm": [[5, 5], [9, 5]]}
    content = mini(tmp_path, stackup=stackup, copper_layers=4, tracks=[track])
    written = replace_stackup(content, layered(4))
    assert plan_of(written).copper_names == ("F.Cu", "In1.Cu", "In2.Cu", "B.Cu")


@pytest.mark.parametrize(
    ("version", "says"),
    [("20171130", "older than KiCad 6"), ("20270101", "newer than KiCad 10"), ("x", "older than KiCad 6")],
)
def test_versions_that_are_not_known_are_refused(version: str, says: str) -> None:
    """Neither KiCad 5, which has no stackup, nor a KiCad that does not exist yet."""
    text = board_text(head=f"(version {version})")
    with pytest.raises(NotWrittenError, match=says):
        replace_stackup(text.encode(), layered(4))


@pytest.mark.parametrize("text", ["", "(kicad_pcb (version 20260206)", "(" * 500 + ")" * 500])
def test_what_is_no_board_is_refused(text: str) -> None:
    """An empty file, one that is cut short, and a nesting that no board has."""
    with pytest.raises(NotWrittenError):
        replace_stackup(text.encode(), layered(2))


@pytest.mark.parametrize(
    ("ply", "says"),
    [
        (Ply(thickness_mm=0.1, dk=4.0), "names no material"),
        (Ply(material="A"), "has no thickness"),
        (Ply(thickness_mm=-0.1, material="A"), "thickness of -0.1"),
        (Ply(thickness_mm=float("nan"), material="A"), "thickness of nan"),
        (Ply(thickness_mm=0.1, material="", df=0.1), "names no material"),
        (Ply(thickness_mm=0.1, material="A", dk=0.9), "Dk of 0.9"),
        (Ply(thickness_mm=0.1, material="A", df=0.0), "Df of 0"),
        (Ply(thickness_mm=0.1, material="A\x1b[31m"), "not printable"),
    ],
)
def test_a_ply_that_kicad_would_not_keep_is_refused(ply: Ply, says: str) -> None:
    """No material (KiCad makes it FR4), no or a senseless thickness, Dk, Df, or a control character."""
    content = kicad_layout(board_text(head=HEAD_V10, nets="")).encode()
    with pytest.raises(NotWrittenError, match=says):
        replace_stackup(content, with_row(plan_of(content), "dielectric 2", ply))


def test_a_mask_needs_its_layer() -> None:
    """On a board without B.Mask KiCad would make a dielectric of the row."""
    bare = EMPTY_V6.replace('    (38 "B.Mask" user)\n', "").encode()
    plies = (Ply(thickness_mm=0.02),)
    masks = [PlannedRow(kind=LayerKind.MASK, name=name, plies=plies) for name in ("F.Mask", "B.Mask")]
    front = PlannedStackup(rows=(masks[0], *layered(2).rows))
    assert stackup_of(replace_stackup(bare, front)).layers[1].kind is LayerKind.MASK
    with pytest.raises(NotWrittenError, match=r"the board has no layer B\.Mask"):
        replace_stackup(bare, PlannedStackup(rows=(*front.rows, masks[1])))


@pytest.mark.parametrize(
    ("ply", "says"), [(Ply(thickness_mm=0.02, dk=3.5), "without a material"), (Ply(), "has no thickness")]
)
def test_a_mask_that_kicad_would_not_keep_is_refused(ply: Ply, says: str) -> None:
    """Dk without a material is dropped by KiCad, a missing thickness made up."""
    content = kicad_layout(board_text(head=HEAD_V10, nets="")).encode()
    with pytest.raises(NotWrittenError, match=f"F.Mask .*{says}"):
        replace_stackup(content, with_row(plan_of(content), "F.Mask", ply))


@pytest.mark.parametrize("count", [3, 34])
def test_layer_counts_that_kicad_refuses_are_refused(count: int, tmp_path: Path) -> None:
    """Odd ones, and more than 32."""
    with pytest.raises(NotWrittenError, match=f"{count} copper layers"):
        replace_stackup(mini(tmp_path, copper_layers=2), layered(count), change_layers=True)


PLIES = st.builds(
    Ply,
    thickness_mm=st.floats(0.001, 3).map(lambda v: round(v, 6)),
    material=st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12),
    dk=st.none() | st.floats(1.5, 12).map(lambda v: float(f"{v:.8g}")),
    df=st.none() | st.floats(1e-6, 0.1).map(lambda v: float(f"{v:.4g}")),
    thickness_locked=st.booleans(),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(plies=st.lists(st.lists(PLIES, min_size=1, max_size=4), min_size=3, max_size=3), tabs=st.booleans())
def test_any_plan_reads_back_and_can_be_undone(plies: list[list[Ply]], tabs: bool) -> None:
    """Whatever plies are planned, they read back, a second time changes nothing, and outside the block nothing does."""
    text = board_text(head=HEAD_V10, nets="")
    content = (kicad_layout(text) if tabs else text).encode()
    before = plan = plan_of(content)
    for i, row in enumerate(plies):
        plan = with_row(plan, f"dielectric {i + 1}", *row)
    written = replace_stackup(content, plan)
    again = plan_of(written)
    assert [r.plies for r in again.rows if r.name.startswith("d")] == [
        tuple(p.model_copy(update={"color": q.color}) for p, q in zip(r.plies, s.plies, strict=True))
        for r, s in zip(plan.rows, again.rows, strict=True)
        if r.name.startswith("d")
    ]
    assert replace_stackup(written, plan) == written
    assert plan_of(replace_stackup(written, before)) == before
    assert _outside(written) == _outside(content)


def _outside(content: bytes) -> tuple[bytes, bytes]:
    head, _, rest = content.partition(b"(stackup")
    tail = rest[rest.index(b"(pad_to_mask_clearance") :]
    return re.sub(rb"\(thickness [^)]*\)", b"", head), tail
