"""Commands that help texts print: each is valid, and does what it is printed for."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackwright.cli.app import app
from tests.support.boards import BOARDS
from tests.support.cli.commands import commands
from tests.support.in_process import run_here, run_process
from tests.support.remembered import equal_boards_checked_once
from tests.support.reports.fab_workbook import fab_workbook
from tests.support.robustness.odd_files import GERBER

FIT = "inference_pcie_gen5_fit"
SIX_LAYERS = "edge_jetson_carrier_fit"
CASES = """geometry,parameters,quantity,value_ohm
offset_stripline,"{""w"": 0.15, ""h1"": 0.1, ""h2"": 0.2, ""t"": 0.015, ""er"": 4}",Z0,41
"""


NEEDS_KICAD = re.compile("<|--kicad-drc|card.xml| mcp ")
"""Examples of files that KiCad writes; those of `release` are tried in tests/kicad. A server is in test_mcp.py."""


def examples() -> Iterator[str]:
    """Lines that begin with the program's name; what follows several blanks is a remark."""
    texts = [command.epilog or "" for _, command in commands()]
    texts.append("  " + (app.epilog or "").partition(": ")[2])
    for text in texts:
        for line in text.splitlines():
            if line.startswith("  stackwright "):
                yield line.strip().partition("   ")[0]


def test_there_are_examples() -> None:
    """Commands with many options have some."""
    assert len(list(examples())) > 30


@pytest.mark.parametrize("example", list(examples()))
def test_a_printed_example_is_valid(example: str) -> None:
    """Its options exist and take these values, and it uses no former spelling."""
    words = shlex.split(example.partition("<")[0])[1:]
    group: Any = app
    _, command, rest = group.resolve_command(group.make_context("stackwright", [], resilient_parsing=True), words)
    context = command.make_context(words[0], rest)
    hidden = {word for one in command.params if getattr(one, "hidden", False) for word in one.opts}
    assert not hidden & set(words)
    assert context.params


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the examples name, as a git repository with two commits."""
    folder = tmp_path_factory.mktemp("desk")

    def git(*words: str) -> None:
        names = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)

    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(BOARDS / FIT / f"{FIT}{suffix}", folder / f"card{suffix}")
    shutil.copy(BOARDS / FIT / "stackwright.toml", folder)
    git("init")
    for tag in ("v1.2", "v1.3"):
        git("add", ".")
        git("commit", "--allow-empty", "-m", tag)
        git("tag", tag)
    for name in ("my_board", "old", "new"):
        shutil.copy(folder / "card.kicad_pcb", folder / f"{name}.kicad_pcb")
    (folder / "my_cases.csv").write_text(CASES, encoding="utf-8")
    run_process("stackup", "card.kicad_pcb", "--format", "csv", "-o", "fab.csv", cwd=folder)
    (folder / "fab.xlsx").write_bytes(fab_workbook())
    (folder / "gerbers").mkdir()
    (folder / "gerbers" / "card-F_Cu.gbr").write_bytes(GERBER)
    with zipfile.ZipFile(folder / "fab.zip", "w") as archive:
        archive.writestr("card-F_Cu.gbr", GERBER)
    for plan in ("card", "mine"):
        run_process("stackup", "card.kicad_pcb", "--format", "plan", "-o", f"{plan}.stackwright-plan.toml", cwd=folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", [one for one in examples() if not NEEDS_KICAD.search(one)])
def test_a_printed_example_runs(example: str, desk: Path, tmp_path: Path) -> None:
    """No example is a wrong use; 1 is a finding."""
    folder = tmp_path / "desk"
    shutil.copytree(desk, folder)
    if " . " in f"{example} " and " diff " in example:  # one board is meant
        for name in ("my_board", "old", "new"):
            (folder / f"{name}.kicad_pcb").unlink()
    if example.startswith("stackwright new "):  # where nothing is yet
        for path in (*folder.glob("*.kicad_p*"), folder / "stackwright.toml"):
            path.unlink()
    if "JLC06" in example:  # the stackup of a board of six layers
        for suffix in (".kicad_pcb", ".kicad_pro"):
            shutil.copy(BOARDS / SIX_LAYERS / f"{SIX_LAYERS}{suffix}", folder / f"card{suffix}")
        shutil.copy(BOARDS / SIX_LAYERS / "stackwright.toml", folder)
    with equal_boards_checked_once():
        ran = run_here(*shlex.split(example)[1:], cwd=folder)
    assert ran.code in (0, 1), ran.err
    assert ran.out or "--output" in example


@pytest.mark.slow
def test_a_process_of_its_own_prints_the_same(desk: Path) -> None:
    """Exit code and both streams."""
    words = ("check", "card.kicad_pcb", "--profile", "inference")
    assert run_process(*words, cwd=desk) == run_here(*words, cwd=desk)
