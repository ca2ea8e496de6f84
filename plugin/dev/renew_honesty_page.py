"""Writes the tables and lists of fixtures/reference/honesty.md anew: `python plugin/dev/renew_honesty_page.py`.

They are computed from rules, cases and seeds next to the test that compares them; read the difference before you
commit.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = "test_honesty_page"


def main() -> None:
    """Run the module of the test, wherever below `tests` it lies."""
    sys.path[:0] = [str(ROOT), str(ROOT / "plugin")]
    (found,) = (ROOT / "tests").rglob(f"{TEST}.py")
    runpy.run_module(".".join(found.relative_to(ROOT).with_suffix("").parts), run_name="__main__")


if __name__ == "__main__":
    main()
