"""A browser per file, and a count of the tests that need axe-core and did not run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.axe import PACKAGE, axe_source
from tests.browser.driven import Tab, driven

NO_AXE = f"no {PACKAGE} to be had: npm is missing, or has no network"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A browser of its own."""
    with driven(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe() -> None:
    """Skip where axe-core cannot be had."""
    if axe_source() is None:
        pytest.skip(NO_AXE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly how many pages were not looked at."""
    skipped = [one for one in terminalreporter.stats.get("skipped", []) if NO_AXE in str(getattr(one, "longrepr", ""))]
    if skipped:
        text = f"NOT TESTED: {len(skipped)} test(s) of accessibility were skipped: {NO_AXE}"
        terminalreporter.write_line(text, red=True, bold=True)
