"""The locks: what CI, the action and the audit install is pinned, hashed, within the ranges, and named by no place."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "plugin" / "ci"
LOCKS = ("lock.txt", "lock-run.txt", "lock-audit.txt")
PYTHONS = ("3.11.4", "3.11.9", "3.12.8", "3.13.1", "3.14.0")
SYSTEMS = ({"sys_platform": "linux", "os_name": "posix"}, {"sys_platform": "win32", "os_name": "nt"})
BLOCK = re.compile(r"([a-z0-9][a-z0-9-]*)==(\S+)(?: ; ([^\\]*))?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


@dataclass(frozen=True)
class Pin:
    """A line of a lock."""

    name: str
    version: str
    marker: str

    def holds(self, python: str, system: dict[str, str]) -> bool:
        """Tell whether a Python on a system installs it."""
        here = {"python_full_version": python, "python_version": ".".join(python.split(".")[:2]), **system}
        more = {"platform_python_implementation": "CPython", "implementation_name": "cpython", "extra": ""}
        return not self.marker or Marker(self.marker).evaluate({**here, **more})


def pins(lock: str) -> list[Pin]:
    """Return what a lock pins; fails on anything that is neither a pin with hashes nor a comment."""
    text = (FOLDER / lock).read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    rest = BLOCK.sub("", text)
    assert not rest, f"neither pinned nor hashed: {rest[:200]!r}"
    return [Pin(name, version, (marker or "").strip()) for name, version, marker, _ in BLOCK.findall(text)]


def asked(*groups: str) -> list[Requirement]:
    """Return what pyproject.toml requires, to build, to run and in these extras."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = data["project"]["optional-dependencies"]
    wanted = [*data["build-system"]["requires"], *data["project"]["dependencies"]]
    wanted += [one for group in groups for one in extras[group]]
    return [one for one in map(Requirement, wanted) if one.name != "stackwright"]


def extras() -> tuple[str, ...]:
    """Return the names of all extras."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return tuple(data["project"]["optional-dependencies"])


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system["sys_platform"])
@pytest.mark.parametrize("python", PYTHONS)
def test_every_dependency_is_locked_within_its_range(python: str, system: dict[str, str]) -> None:
    """On every Python that is promised, CI's lock has one version of each dependency and extra, in its range."""
    for lock, groups in (("lock.txt", extras()), ("lock-run.txt", ())):
        held = [pin for pin in pins(lock) if pin.holds(python, system)]
        versions = {canonicalize_name(pin.name): pin.version for pin in held}
        assert len(versions) == len(held), f"{lock}: two versions of one package for Python {python}"
        for requirement in asked(*groups):
            version = versions.get(canonicalize_name(requirement.name))
            assert version, f"{requirement.name} is not in {lock}: run .ci/lock"
            assert requirement.specifier.contains(version), f"{lock} has {version} of {requirement}: run .ci/lock"


def test_what_ci_calls_is_locked() -> None:
    """Tools that CI runs are pinned too: `build` for the packages, `pip-audit` for the audit."""
    assert "build" in {pin.name for pin in pins("lock.txt")}
    assert "pip-audit" in {pin.name for pin in pins("lock-audit.txt")}


def test_the_action_runs_what_ci_tested() -> None:
    """Users of the action get versions that the tests ran with."""
    tested = set(pins("lock.txt"))
    loose = [pin for pin in pins("lock-run.txt") if pin not in tested]
    assert {pin.name for pin in loose} <= {"colorama"}, loose  # markers of more packages
    assert all(any(pin.version == other.version for other in tested if other.name == pin.name) for pin in loose)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place_to_install_from(lock: str) -> None:
    """Where packages come from is the business of who installs them: no index, no host, no file."""
    text = (FOLDER / lock).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert not [line for line in lines if re.search(r"://| @ |^-|index|find-links|trusted", line)]
    assert not re.search(r"\b[\w-]+\.(org|com|net|io|dev|local|internal)\b|/simple", text)


SCRIPTS = ("run", "pythons", "packages", "audit", "lock")


@pytest.mark.parametrize("script", SCRIPTS)
def test_ci_installs_by_hash(script: str) -> None:
    """Every `pip install` of CI takes hashes, or nothing but the project; what does not is what a user would do."""
    text = re.sub(r"\\\n\s*", "", (ROOT / ".ci" / script).read_text(encoding="utf-8"))
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in (line for line in code.splitlines() if re.search(r"\bpip\"? install\b", line)):
        as_a_user = '"$work/empty/bin/pip" install' in line or "'uv>=" in line
        assert as_a_user or "--require-hashes" in line or "--no-deps --no-build-isolation" in line, line
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / script)], check=False).returncode == 0


def test_nobody_is_told_that_an_audit_ran_which_did_not() -> None:
    """Without advisory services the summary says that nothing was audited, and what cannot be looked up fails."""
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert run.count("NOT AUDITED") == 1
    assert run.index("NOT AUDITED") < run.index(".ci/audit\n") < run.index('audit="audited')
    assert "--strict" in (ROOT / ".ci" / "audit").read_text(encoding="utf-8")


FIXED = {
    "filelock": ("3.20.3", "CVE-2026-22701"),
    "idna": ("3.15", "CVE-2026-45409"),
    "jinja2": ("3.1.6", "CVE-2025-27516"),
    "pip": ("26.2", "PYSEC-2026-3721"),
    "protobuf": ("5.29.6", "CVE-2026-0994"),
    "pygments": ("2.20.0", "CVE-2026-4539"),
    "pytest": ("9.0.3", "CVE-2025-71176"),
    "requests": ("2.33.0", "CVE-2026-25645"),
    "soupsieve": ("2.9", "CVE-2026-85999"),
    "urllib3": ("2.7.0", "CVE-2026-44432"),
}
"""Advisories on what is locked, as read on 21 November 2026, and the first release without: no audit, for nobody
can ask here; what an audit finds is renewed by `.ci/lock --upgrade-package`, and its row added."""


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_goes_back_behind_an_advisory_that_was_read(lock: str) -> None:
    """On no Python: a lock has older versions for older Pythons."""
    held = [pin for pin in pins(lock) if pin.name in FIXED]
    assert lock == "lock-run.txt" or len(held) >= 6
    assert not [(pin, FIXED[pin.name]) for pin in held if Version(pin.version) < Version(FIXED[pin.name][0])]


WORKFLOWS = (".github/workflows/ci.yml", ".github/workflows/release.yml", "action.yml")


@pytest.mark.parametrize("file", WORKFLOWS)
def test_actions_are_pinned_by_commit(file: str) -> None:
    """A tag can be moved to other code, a commit cannot; the tag stands behind it for who reads."""
    used = re.findall(r"uses: (.*)", (ROOT / file).read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used), used


@pytest.mark.parametrize("file", ["action.yml", "plugin/ci/gitlab-ci.yml"])
def test_users_jobs_install_by_hash(file: str) -> None:
    """What the jobs for users install is the lock's, wheels only, and then nothing but Stackwright."""
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(r"pip\S* .*--require-hashes --only-binary :all: -r \S*lock-run\.txt", text)
    assert re.search(r"pip\S* .*--no-deps --no-build-isolation \S+", text)
