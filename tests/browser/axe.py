"""The accessibility checker axe-core, fetched by npm for the run and kept nowhere: it stays its makers' own."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.browser.driven import Tab

PACKAGE = "axe-core@4.14.1"
"""Exactly this version: another one asks other questions."""

GRAVE = ("serious", "critical")
"""Impacts that fail a page, in axe's words; it knows minor and moderate ones besides."""

_ASK = """
axe.run(document, Object.assign({resultTypes: ['violations']}, %s)).then((found) => ({
  passes: found.passes.length,
  violations: found.violations.map((one) => ({
    id: one.id, impact: one.impact, help: one.help,
    nodes: one.nodes.map((node) => node.html.slice(0, 160) + '  ' + (node.any[0] || {message: ''}).message),
  })),
}))
"""


@dataclass(frozen=True)
class Violation:
    """What a page does wrong, in axe's words, and the elements concerned."""

    id: str
    impact: str
    help: str
    nodes: tuple[str, ...]

    @property
    def is_grave(self) -> bool:
        """True where a fault keeps users from the page."""
        return self.impact in GRAVE

    def __str__(self) -> str:
        """Return it with its first elements, a line each."""
        return "\n    ".join([f"{self.impact} {self.id}: {self.help} ({len(self.nodes)})", *self.nodes[:5]])


@functools.cache
def axe_source() -> str | None:
    """Return the checker's script, None where npm is missing or cannot get it."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = subprocess.run(
                [npm, "pack", PACKAGE, "--silent", "--pack-destination", folder],
                cwd=folder,
                capture_output=True,
                timeout=180,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        packed = next(Path(folder).glob("*.tgz"), None)
        if run.returncode or packed is None:
            return None
        with tarfile.open(packed) as archive:
            script = archive.extractfile("package/axe.min.js")
            assert script is not None
            return script.read().decode()


def violations(tab: Tab, *, only_colours: bool = False) -> list[Violation]:
    """Return what the page in a tab does wrong; the checker must have had something to look at.

    Args:
        tab: with the page.
        only_colours: for another scheme of a page that has been looked at: nothing else differs.
    """
    source = axe_source()
    assert source is not None
    tab.ask(f"{source}; true")
    found = tab.ask(_ASK % ("{runOnly: ['color-contrast']}" if only_colours else "{}"))
    assert found["passes"] >= (1 if only_colours else 10), found
    return [Violation(one["id"], one["impact"], one["help"], tuple(one["nodes"])) for one in found["violations"]]
