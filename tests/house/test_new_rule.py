"""What `plugin/dev/new_rule.py` writes is a rule that the other tests accept, once a person has filled it in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dev.new_rule import CASES, PROFILES, ROOT, RULES, planned
from docs.pages.development import pages
from docs.pages.rooms import TITLES, floors
from drc_rules.rules.rule import all_rules
from tests.support.rule_cases import FOLDER

COPIED = ("drc_rules", "stackup_lib", "plugin", "tests", "fixtures", "pyproject.toml")
GUARDS = ("test_rule_pages", "test_rules", "test_honesty_page", "test_requirements_map")
WRITTEN = (RULES, CASES, PROFILES)


def todos(root: Path) -> set[str]:
    """Return the files of rules, cases and profiles in which a TODO is left."""
    files = [path for folder in WRITTEN for path in (root / folder).rglob("*.*") if path.suffix in (".py", ".toml")]
    return {path.relative_to(root).as_posix() for path in files if "TODO" in path.read_text(encoding="utf-8")}


def test_no_todo_is_left_in_rules_cases_and_profiles() -> None:
    """What `new_rule.py` leaves open is filled in before it is committed."""
    assert todos(ROOT) == set()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the project."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "build"))
        else:
            shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy of the project, with nothing of this run's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHONPATH"))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=kept, capture_output=True, text=True, check=False, timeout=300
    )


def contents(tree: Path) -> dict[str, bytes]:
    """Return what stands in the files of a tree."""
    paths = [path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in paths}


def guards(tree: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Run the tests that a new rule has to pass, as far as they concern it."""
    files = [str(path) for guard in GUARDS for path in (tree / "tests").rglob(f"{guard}.py")]
    assert len(files) == len(GUARDS)
    words = " or ".join([*names, "codes_and_kinds", "declares_one_rule", "honesty", "requirements"])
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "-rN", "--tb=short")
    return run(tree, "-m", "pytest", *options, "-k", words, *files)


@pytest.mark.slow
def test_a_written_rule_is_accepted_once_it_is_filled_in(tree: Path) -> None:
    """Three files are touched and the honesty page is made again; each TODO is in one of them."""
    before = contents(tree)
    made = run(tree, "plugin/dev/new_rule.py", "stackup", "excess-layer-count")
    assert made.returncode == 0, made.stderr
    touched = {path for path, data in contents(tree).items() if before.get(path) != data}
    rule, case = RULES / "stackup" / "excess_layer_count.py", CASES / "stackup" / "excess_layer_count.toml"
    assert touched == {path.as_posix() for path in (rule, case, PROFILES / "board.toml")}
    assert touched == todos(tree)
    assert all(path in made.stdout for path in touched)

    for path in touched:
        text = (tree / path).read_text(encoding="utf-8")
        (tree / path).write_text(text.replace("TODO: ", ""), encoding="utf-8")
    renewed = run(tree, "plugin/dev/renew_honesty_page.py")
    assert renewed.returncode == 0, renewed.stderr
    code = re.search(r"rule ([A-Z]{3}\d{3})", made.stdout)
    assert code is not None
    accepted = guards(tree, code[1], "excess_layer_count")
    assert accepted.returncode == 0, accepted.stdout


def test_a_rule_gets_the_code_behind_the_highest_of_its_family() -> None:
    """A code is never given twice."""
    taken = {rule.code for rule in all_rules()}
    for family in {rule.family for rule in all_rules()}:
        new = planned(family, "odd-new-defect", "training")
        assert new.code not in taken
        assert f"{new.code[:3]}{int(new.code[3:]) - 1:03}" in taken
        assert (FOLDER / family).is_dir()
        assert new.clause == f"training.{family}.odd_new_defect"


@pytest.mark.parametrize(
    ("family", "name", "profile", "why"),
    [
        ("stackups", "odd-new-defect", "board", "no family stackups: copper, "),
        ("stackup", "odd-new-defect", "trainin", "no profile trainin: board, "),
        ("stackup", "odd layer", "board", "named after the defect"),
        ("stackup", "../odd", "board", "named after the defect"),
        ("stackup", "avoid-odd-layers", "board", "named after the defect"),
        ("via", "odd-layer-count", "board", "there is a rule or a kind"),
        ("via", "layer-count", "board", "there is a rule or a kind"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(family: str, name: str, profile: str, why: str) -> None:
    """Before anything is written."""
    with pytest.raises(ValueError, match=re.escape(why)):
        planned(family, name, profile)


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    """Neither the rule nor the clause comes on top of a case file that was begun."""
    new = planned("stackup", "odd-new-defect", "board")
    for path in (new.rule_file, new.profile_file):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / new.rule_file).write_text("mine")

    with pytest.raises(FileExistsError):
        new.write(tmp_path)

    assert (tmp_path / new.rule_file).read_text() == "mine"
    assert not (tmp_path / new.profile_file).exists()


# ------------------------------------------------------------------------------------ pages for developers


def test_the_pages_for_developers_name_what_is_there() -> None:
    """A file that they name exists (else they are not written), and every room is drawn and says what it is for."""
    text = {page.name: page.text for page in pages()}["development/architecture"]
    for package in TITLES:
        for room in (room for floor in floors(package) for room in floor):
            assert room.about.endswith("."), room.name
            assert f">{room.short}</text>" in text
            assert f"`{room.name}`" in text
