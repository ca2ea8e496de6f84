"""What a real KiCad 10 makes of conditions on tracks, on which widths and gaps that rules intend rest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.joined_classes import joined_classes
from stackup_lib.kicad.design_rules.rules_conditions import TrackOfNet, holds
from tests.conftest import KicadCli
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

CONDITIONS = (
    "A.NetClass == 'FAST'",
    "A.NetClass == 'WIDE'",
    "A.NetClass == 'fast'",
    "A.NetClass == 'FAST,WIDE'",
    "A.NetClass == 'FAST,WIDE,Default'",
    "A.NetClass == 'F*'",
    "A.NetClass != 'FAST'",
    "A.NetClass == 'Default'",
    "A.NetClass != 'Default'",
    "A.NetClass == 'SLOW'",
    "A.hasNetclass('FAST')",
    "A.hasNetclass('WIDE')",
    "A.hasNetclass('fast')",
    "A.hasNetclass('F*')",
    "A.hasNetclass('Default')",
    "A.hasNetclass('SLOW')",
    "A.hasExactNetclass('FAST')",
    "A.hasExactNetclass('FAST,WIDE')",
    "A.hasExactNetclass('FAST,WIDE,Default')",
    "A.Type == 'Track'",
    "A.Type == 'Via'",
    "A.Layer == 'F.Cu'",
    "A.Layer == 'In1.Cu'",
    "A.Layer != 'In1.Cu'",
    "!(A.Layer == 'F.Cu')",
    "A.NetClass == 'FAST' && A.Layer == 'F.Cu'",
    "A.NetClass == 'SLOW' || A.hasNetclass('WIDE')",
    "A.Type == 'Track' || A.Type == 'Via' && A.Type == 'Via'",
    "A.Type == 'Via' && A.Type == 'Via' || A.Type == 'Track'",
    "A.Type == 'Track' || (A.Type == 'Via' && A.Type == 'Via')",
    "A.Type == 'Via' || A.Type == 'Track' && A.Type == 'Track' || A.Type == 'Via'",
    "!A.Type == 'Via'",
    "!A.Type != 'Track'",
    "!!A.Type == 'Track'",
    "!!(A.Type == 'Track')",
    "A.Layer == 'top side'",
    "A.Layer == 'top*'",
    "A.Layer != 'top side'",
    "A.Layer == 'Top side'",
    "A.Layer == 'f.cu'",
    "A.NetClass == 'GHOST'",
    "A.hasNetclass('GHOST')",
    "A.hasExactNetclass('FAST,WIDE,GHOST,Default')",
)


def test_kicad_decides_conditions_on_a_track_as_we_do(tmp_path: Path, kicad_cli: KicadCli) -> None:
    """One track and one rule per condition, each on a net of two classes and one undefined; none is left open by us."""
    nets = [f"N{number}x" for number in range(10, 10 + len(CONDITIONS))]
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[10, 5 + 3 * row], [50, 5 + 3 * row]]}
        for row, net in enumerate(nets)
    ]
    classes = [{"name": name, "patterns": ["N*"], "track_width_mm": 0.15} for name in ("FAST", "WIDE")]
    data = {"stackup": "default", "copper_layers": 4, "size_mm": [60, 140], "tracks": tracks, "net_classes": classes}
    board = mini_file(tmp_path, data, "b")
    text = board.read_text(encoding="utf-8")
    assert '"F.Cu" signal' in text
    board.write_text(text.replace('"F.Cu" signal', '"F.Cu" signal "top side"'), encoding="utf-8")
    settings = json.loads(board.with_suffix(".kicad_pro").read_text(encoding="utf-8"))
    settings["net_settings"].setdefault("netclass_patterns", []).append({"pattern": "N*", "netclass": "GHOST"})
    board.with_suffix(".kicad_pro").write_text(json.dumps(settings), encoding="utf-8")
    rules = "".join(
        f'(rule "r_{net}_" (condition "A.NetName == \'{net}\' && ({text})") (constraint track_width (min 5mm)))\n'
        for net, text in zip(nets, CONDITIONS, strict=True)
    )
    board.with_suffix(".kicad_dru").write_text("(version 1)\n" + rules, encoding="utf-8")

    kicad_cli("pcb", "drc", "--format", "json", "-o", tmp_path / "report.json", board)

    said = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["violations"]
    acts = {found for one in said for found in re.findall(r"r_(N\d+x)_", one["description"])}
    read = read_board(board)
    ours = {
        text: holds(
            text, TrackOfNet(net, joined_classes(read.project, net), read.copper_layers[0].names, in_pair=False)
        )
        for net, text in zip(nets, CONDITIONS, strict=True)
    }
    assert ours == {text: net in acts for net, text in zip(nets, CONDITIONS, strict=True)}
