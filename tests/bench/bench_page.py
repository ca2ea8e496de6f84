"""How heavy the report's page is, and how soon one can work with it, in a headless Chromium.

Run by hand or by CI: `python tests/bench/bench_page.py [BOARD]`. BOARD is by default the largest demo board that KiCad
brings. `interactive_s` is the time until the document can be worked with (`domInteractive` of the browser's own
timing), `answer_s` from pressing Tab until the next picture; both the best of three. The exit code is 1 when a bound is
missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_reader import largest_demo
from tests.browser.chromium import chromium_path
from tests.browser.driven import Tab, driven

RUNS = 3
LARGEST_MB, INTERACTIVE_S = 2.0, 2.0

_TIMING = """
(() => {
  const found = performance.getEntriesByType('navigation')[0];
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return [found.domInteractive, paint ? paint.startTime : 0, document.querySelectorAll('*').length];
})()
"""
_BEGIN = "addEventListener('keydown', () => { window.begun = performance.now(); }, {capture: true, once: true})"
_ANSWERED = "new Promise((done) => requestAnimationFrame(() => done(performance.now() - window.begun)))"


def once(tab: Tab, page: Path) -> tuple[float, float, float, float]:
    """Open a page; return seconds until it is interactive, is painted, answers a key; and its elements."""
    tab.open("about:blank")
    tab.open(page.as_uri())
    tab.wait_for("document.readyState === 'complete'")
    interactive_ms, paint_ms, elements = tab.ask(_TIMING)
    tab.ask(_BEGIN)
    tab.press("Tab")
    return interactive_ms / 1000, paint_ms / 1000, tab.ask(_ANSWERED) / 1000, elements


def measure(board: Path) -> dict[str, float]:
    """Return megabytes and seconds by name."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "report.html"
        command = [sys.executable, "-m", "stackwright", "check", str(board), "--profile", "training"]
        run = subprocess.run([*command, "--format", "html", "--output", page], check=False, stdout=subprocess.DEVNULL)
        if run.returncode not in (0, 1):
            sys.exit(f"{board.name} could not be checked")
        with driven(Path(name) / "chromium") as tab:
            runs = [once(tab, page) for _ in range(RUNS)]
        return {
            "board_mb": board.stat().st_size / 1e6,
            "page_mb": page.stat().st_size / 1e6,
            "elements": runs[0][3],
            "interactive_s": min(one[0] for one in runs),
            "first_paint_s": min(one[1] for one in runs),
            "answer_s": min(one[2] for one in runs),
        }


def main() -> int:
    """Measure, print, and compare with the bounds."""
    if chromium_path() is None:
        sys.exit("no Chromium on the PATH (set STACKWRIGHT_CHROMIUM)")
    board = Path(sys.argv[1]) if len(sys.argv) > 1 else largest_demo()
    found = measure(board)
    bounds = (("page_mb", LARGEST_MB), ("interactive_s", INTERACTIVE_S))
    missed = [f"MISSED: {key} is above {bound:g}" for key, bound in bounds if found[key] > bound]
    lines = [board.name, *(f"{key:>18} {value:12.3f}" for key, value in found.items()), *missed]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
