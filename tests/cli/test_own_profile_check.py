"""`check` with a profile of one's own that asks for little, or for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_here as run
from tests.support.mini import mini_file

LAYERS = (
    '[[clause]]\nid = "m.x"\nkind = "layer_count"\ntitle = "4 layers"\nseverity = "error"\n'
    'limit = { min = 4, unit = "layers" }\nsource = { document = "Acme standard 12", row = "3" }\n'
)


def checked(folder: Path, profile: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of `check`, with the blanks of wrapped lines as one."""
    board = mini_file(folder, {"copper_layers": 4})
    (folder / "stackwright.toml").write_text('profile = "mine.toml"\n', encoding="utf-8")
    (folder / "mine.toml").write_text(f'title = "Mine"\n{profile}', encoding="utf-8")
    ran = run("check", board)
    return ran.code, " ".join(ran.out.split()), ran.err


@pytest.mark.slow
def test_a_profile_without_requirements_makes_no_board_fit(tmp_path: Path) -> None:
    """It said FIT and to order the board, while stderr said that nothing was checked."""
    code, out, err = checked(tmp_path, "")
    add = "add requirements to "
    assert code == 2
    assert out.startswith("NOT PROVEN for ")
    assert "no mandatory requirement of" in out and f"next: {add}" in out
    assert f"nothing was checked; {add}" in err


@pytest.mark.slow
@pytest.mark.parametrize("extends", ["", 'extends = ["board"]\n'])
def test_a_profile_without_board_says_so(tmp_path: Path, extends: str) -> None:
    """One requirement is met; what holds for every board is checked, or a note says that it is not."""
    code, out, err = checked(tmp_path, f"{extends}{LAYERS}")
    assert (code, err) == (0, "")
    assert ('mine.toml does not rest on "board"' in out) is (not extends)
