"""A checkout that brings Python files by the names of Python's modules: none of them runs, wherever we are called."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.boards import BOARDS
from tests.support.git import git
from tests.support.installed import installed_environment

ROOT = Path(__file__).parents[2]
CI = ROOT / "plugin" / "ci"
FIT, BARE = "inference_pcie_gen5_fit", "default_stackup"
PLANTED = (
    "pip",
    "venv",
    "ensurepip",
    "logging",
    "sitecustomize",
    "usercustomize",
    "site",
    "json",
    "typing",
    "multiprocessing",
    "stackwright",
    "stackup_lib",
    "numpy",
    "hatchling",
    "in_tree",
)
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="the jobs are shell scripts"),
    pytest.mark.skipif(shutil.which("git") is None or shutil.which("bash") is None, reason="no git or no bash"),
]

BACKEND = """
import zipfile, pathlib
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "stackwright-0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        wheel.writestr("stackwright/__init__.py", "")
        wheel.writestr("stackwright/ci.py", "import logging, json, typing; print('checked')")
        wheel.writestr("stackwright-0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: stackwright\\nVersion: 0\\n")
        wheel.writestr("stackwright-0.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr("stackwright-0.dist-info/RECORD", "")
    return name
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """The folder in which a planted file leaves its name when it runs."""
    folder = tmp_path / "ran"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(tmp_path: Path, ran: Path) -> Path:
    """A repository with two boards, and files that would run as modules of Python."""
    folder = tmp_path / "checkout"
    for name in (FIT, BARE):
        shutil.copytree(BOARDS / name, folder / name)
    for name in PLANTED:
        left = ran / name
        (folder / f"{name}.py").write_text(f"open({str(left)!r}, 'w').close()\n", encoding="utf-8")
    (folder / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "boards")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A stand-in for this repository that is installed without an index: one dependency with its hash, and itself."""
    folder = tmp_path / "source"
    (folder / "plugin" / "ci").mkdir(parents=True)
    (folder / "in_tree.py").write_text(BACKEND, encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "in_tree"\nbackend-path = ["."]\n', encoding="utf-8"
    )
    wheel = folder / "dependency-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("dependency.py", "")
        made.writestr("dependency-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: dependency\nVersion: 1\n")
        made.writestr("dependency-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr("dependency-1.dist-info/RECORD", "")
    sha = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = f"{wheel} --hash=sha256:{sha}\n"
    (folder / "plugin" / "ci" / "lock-run.txt").write_text(lock, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "source")
    return folder


def base_python() -> str:
    """The Python that makes environments on a runner: not one of an environment."""
    return getattr(sys, "_base_executable", sys.executable)


def bash(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does, in the checkout; nothing can be downloaded."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "python").exists():
        (tools / "python").symlink_to(base_python())
    known = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder.parent), "PIP_NO_INDEX": "1"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**known, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def steps_of_the_action() -> dict[str, str]:
    """The shell scripts of the action, by the names of their steps."""
    found = {}
    for step in (ROOT / "action.yml").read_text(encoding="utf-8").split("    - name: ")[1:]:
        name, _, rest = step.partition("\n")
        script = rest.partition("run: ")[2]
        found[name] = re.sub(r"^        ", "", script.removeprefix("|\n"), flags=re.MULTILINE)
    return found


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "place"), [("", "."), ("{source}", "."), ("", "plugin/ci")], ids=["locked", "package", "former place"]
)
def test_the_action_runs_no_file_of_the_checkout(
    checkout: Path, source: Path, ran: Path, package: str, place: str
) -> None:
    """Making the environment, both ways of installing, and the check itself."""
    tmp_path = ran.parent
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    steps = steps_of_the_action()
    variables = {
        "PYTHON": "python",
        "PACKAGE": package.format(source=source),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(source / place),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    done = bash(steps["Install Stackwright"], checkout, **variables)
    assert done.returncode == 0, done.stderr
    done = bash(steps["Check boards"], checkout, **variables)
    assert done.stdout == "checked\n", done.stderr
    assert names(ran) == []


@pytest.mark.slow
def test_the_gitlab_job_runs_no_file_of_the_checkout(checkout: Path, source: Path, ran: Path, tmp_path: Path) -> None:
    """Its Stackwright comes from a repository of its own, at a commit."""
    text = (CI / "gitlab-ci.yml").read_text(encoding="utf-8")
    script = text.partition("  script:\n")[2].partition("  artifacts:")[0]
    lines = [line.removeprefix("    - ") for line in script.splitlines()]
    place = tmp_path / "opt"
    place.mkdir()
    done = bash(
        "\n".join(lines).replace("/opt", str(place)),
        checkout,
        CI_PROJECT_DIR=str(checkout),
        STACKWRIGHT_SOURCE=f"file://{source}",
        STACKWRIGHT_COMMIT=git(source, "rev-parse", "HEAD"),
    )
    assert done.stdout.splitlines()[-1:] == ["checked"], done.stderr
    assert names(ran) == []


@pytest.mark.slow
def test_the_pre_commit_hook_runs_no_file_of_the_checkout(checkout: Path, ran: Path, tmp_path: Path) -> None:
    """pre-commit calls the entry in the repository, with the boards."""
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = re.search(r"^  entry: python (.+)$", hook, re.MULTILINE)
    assert entry
    python = installed_environment(tmp_path / "environment")
    boards = [f"{name}/{name}.kicad_pcb" for name in (FIT, BARE)]
    done = subprocess.run(
        [python, *entry[1].split(), *boards, "--jobs", "2"], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "FIT  for" in done.stdout
    assert names(ran) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_of_the_installed_command_run_no_file_of_the_current_folder(
    checkout: Path, ran: Path, tmp_path: Path, method: str
) -> None:
    """macOS, Windows and newer Pythons start workers as new processes, which look for modules where they start."""
    python = installed_environment(tmp_path / "environment")
    command = tmp_path / "environment" / "stackwright"  # as an installer writes it, with another way to start workers
    command.write_text(
        "import multiprocessing\nfrom stackwright.__main__ import main\n"
        f"if __name__ == '__main__':\n    multiprocessing.set_start_method({method!r})\n    main()\n",
        encoding="utf-8",
    )
    boards = [f"{name}/{name}.kicad_pcb" for name in (FIT, BARE)]
    done = subprocess.run(
        [python, str(command), "check", *boards, "--jobs", "2"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert names(ran) == []


@pytest.mark.parametrize("file", ["action.yml", "plugin/ci/gitlab-ci.yml"])
def test_python_is_called_in_isolated_mode_only(file: str) -> None:
    """A new line of a job has `-I`."""
    text = (ROOT / file).read_text(encoding="utf-8")
    calls = re.findall(r'^.*(?:python"?|\$PYTHON"?) (-.+)$', text, re.MULTILINE)
    assert len(calls) >= 3
    assert [call for call in calls if not call.startswith("-I ")] == []


def test_what_the_page_shows_is_pinned_by_commit() -> None:
    """A tag can be moved; a commit cannot."""
    page = (CI / "README.md").read_text(encoding="utf-8")
    pinned = re.findall(r"(?:uses:|rev:) (\S+)", page)
    assert len(pinned) >= 4
    for one in pinned:
        assert re.search(r"(^|@)([0-9a-f]{40}|COMMIT)$", one), one
