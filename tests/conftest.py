"""What tests share: a real KiCad where there is one, KiCad's demo boards, and an honest count of what was skipped."""

from __future__ import annotations

import functools
import gc
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

# The field solver's matrices are small: threads only get in each other's way. It counts before NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No result depends on what this user's runs have solved before.
os.environ["STACKWRIGHT_NO_CACHE"] = "1"
# Commands that print to a pipe honour it; expected output is 100 columns wide.
os.environ.pop("COLUMNS", None)

from tests.browser.chromium import chromium_path
from tests.support.kicad.kicad_editor import editor_command
from tests.support.kicad.kicad_python import kicad_python
from tests.support.once_per_run import shared_results

DEMO_PLACES = (
    "${STACKWRIGHT_DEMOS}",
    "${KICAD_ROOT}/usr/share/kicad/demos",
    "/usr/share/kicad/demos",
    "/usr/local/share/kicad/demos",
    "/Applications/KiCad/KiCad.app/Contents/SharedSupport/demos",
    "C:/Program Files/KiCad/10.0/share/kicad/demos",
)
SKIPPED_WITHOUT = {
    "browser": "no Chromium on the PATH (set STACKWRIGHT_CHROMIUM)",
    "kicad": "no kicad-cli 10 on the PATH",
    "demo": "no KiCad demo boards (set STACKWRIGHT_DEMOS)",
    "pcbnew": "no Python with KiCad's pcbnew (set STACKWRIGHT_KICAD_PYTHON)",
    "editor": "no kicad-pcbnew-api on the PATH (set STACKWRIGHT_KICAD_EDITOR)",
}


@functools.cache
def kicad_cli_path() -> str | None:
    """Return the kicad-cli of a KiCad 10 or later, None when there is none."""
    path = shutil.which("kicad-cli")
    if path is None:
        return None
    run = subprocess.run([path, "version"], capture_output=True, text=True, timeout=120, check=False)
    version = re.match(r"\d+", run.stdout.strip())
    return path if version and int(version[0]) >= 10 else None


@functools.cache
def demo_folder() -> Path | None:
    """Return KiCad's demo boards, None when they are not installed."""
    named = [Path(os.path.expandvars(place)) for place in DEMO_PLACES]
    places = [*named, *sorted(Path("/opt").glob("*/usr/share/kicad/demos"))]
    return next((place for place in places if place.is_dir() and any(place.glob("*/*.kicad_pcb"))), None)


TIERS = {
    "physics": "slow",
    "boards": "slow",
    "robustness": "slow",
    "kicad": "external",
    "browser": "external",
}
"""Folders of tests that are not run by default, and the marker that selects them."""

QUICK = "not slow and not external"
"""The default of `-m`: what a change is tried with."""

SLOW = "slow or external"
"""The `-m` of all others."""

SLOW_FILE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)

HERE = Path(__file__).parent


def _tier(path: Path) -> str | None:
    folder = path.relative_to(HERE)
    return next((marker for name, marker in TIERS.items() if folder.is_relative_to(name)), None)


def _is_slow_file(path: Path) -> bool:
    """Tell whether all tests of a file are marked slow, without importing it."""
    return path.suffix == ".py" and bool(SLOW_FILE.search(path.read_text(encoding="utf-8")))


def _is_quick_file(path: Path) -> bool:
    """Tell whether no test of a file is marked, by its text: without importing it."""
    if not path.name.startswith("test_") or path.suffix != ".py" or _tier(path):
        return False
    text = path.read_text(encoding="utf-8")
    return not any(f"mark.{name}" in text for name in ("slow", "external", *SKIPPED_WITHOUT))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let several machines share the tests."""
    parser.addoption("--share", metavar="K/N", help="run the Kth of N shares of the selected test files")


def pytest_configure(config: pytest.Config) -> None:
    """Who names a file or folder of tests wants all of it; all processes of a run share some results."""
    sharing = ExitStack()
    sharing.enter_context(shared_results())
    config.add_cleanup(sharing.close)
    if config.option.markexpr == QUICK and any(HERE in _path_of(word).parents for word in config.args):
        config.option.markexpr = ""


def _path_of(word: str) -> Path:
    return Path(word.partition("::")[0]).resolve()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the slow tests where only the quick ones are required, and the other way round."""
    if config.option.markexpr == QUICK:
        return True if _tier(collection_path) or _is_slow_file(collection_path) else None
    if config.option.markexpr == SLOW:
        return True if _is_quick_file(collection_path) else None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark and skip tests; once `-m` and `-k` have chosen, keep the share that is asked for."""
    _mark(items)
    yield
    if share := config.getoption("--share"):
        _keep_share(items, share, config)


def _mark(items: list[pytest.Item]) -> None:
    """Mark tests by their folder and by what they need, and skip those for which it is not there."""
    there: dict[str, Callable[[], object]] = {
        "kicad": kicad_cli_path,
        "browser": chromium_path,
        "editor": editor_command,
        "pcbnew": kicad_python,
        "demo": demo_folder,
    }
    for item in items:
        marker = _tier(item.path)
        if marker:
            item.add_marker(marker)
        for name in SKIPPED_WITHOUT.keys() & {mark.name for mark in item.iter_markers()}:
            item.add_marker("external")
            if there[name]() is None:
                item.add_marker(pytest.mark.skip(reason=SKIPPED_WITHOUT[name]))


def _keep_share(items: list[pytest.Item], share: str, config: pytest.Config) -> None:
    """Keep every Nth file by name, which spreads the tests of a folder evenly."""
    number, count = (int(word) for word in share.split("/"))
    if not 1 <= number <= count:
        raise pytest.UsageError(f"--share {share}: K runs from 1 to N")
    mine = set(sorted({item.path for item in items})[number - 1 :: count])
    config.hook.pytest_deselected(items=[item for item in items if item.path not in mine])
    items[:] = [item for item in items if item.path in mine]


def pytest_collection_finish() -> None:
    """Keep thousands of tests out of garbage collection, which is a sixth of the work of checks in one process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly how many tests against the real thing did not run."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if hasattr(report, "keywords")]
    for marker, reason in SKIPPED_WITHOUT.items():
        count = sum(marker in report.keywords and reason in str(report.longrepr) for report in skipped)
        if count:
            text = f"NOT TESTED: {count} test(s) marked {marker} were skipped: {reason}"
            terminalreporter.write_line(text, red=True, bold=True)


@dataclass(frozen=True)
class KicadCli:
    """Runs kicad-cli; KiCad writes next to a board, so give it copies (`copy_board`)."""

    path: str

    def __call__(self, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run it and return what it said; with `check` a non-zero exit fails the test with that."""
        command = [self.path, *map(str, arguments)]
        with tempfile.TemporaryDirectory() as own:  # two exports of ODB++ at a time write into one folder otherwise
            environment = {**os.environ, "TMPDIR": own}
            run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
        if check and run.returncode:
            pytest.fail(f"{' '.join(command)}: exit {run.returncode}\n{run.stdout}\n{run.stderr}")
        return run


@pytest.fixture(scope="session")
def kicad_cli() -> KicadCli:
    """The real kicad-cli; for tests marked `kicad`."""
    path = kicad_cli_path()
    if path is None:
        pytest.skip(SKIPPED_WITHOUT["kicad"])
    return KicadCli(path)


@pytest.fixture(scope="session")
def demo_boards() -> Path:
    """The folder of KiCad's demo boards, to be read only; for tests marked `demo`."""
    folder = demo_folder()
    if folder is None:
        pytest.skip(SKIPPED_WITHOUT["demo"])
    return folder


@pytest.fixture(scope="module")
def sections_solved_once() -> Iterator[None]:
    """Solve equal cross sections once for all tests of a module, for those that look at what comes of them."""
    from tests.support.remembered import equal_sections_solved_once

    with equal_sections_solved_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def rails_solved_once() -> Iterator[None]:
    """Solve equal rails and equal cross sections once for all tests of a process; `remembered.forget` begins anew."""
    from tests.support.remembered import equal_rails_solved_once, equal_sections_solved_once

    with equal_rails_solved_once(), equal_sections_solved_once():
        yield


@pytest.fixture
def copy_board(tmp_path: Path) -> Iterator[functools.partial[Path]]:
    """Copy a board with its project into a folder of the test's own; returns the copy."""
    yield functools.partial(_copy_board, tmp_path)


def _copy_board(folder: Path, board: Path) -> Path:
    target = folder / board.stem
    target.mkdir()
    for suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
        if (source := board.with_suffix(suffix)).exists():
            shutil.copyfile(source, target / source.name)
    return target / board.name
