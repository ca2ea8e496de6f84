"""What KiCad runs when the button is pressed; everything else is in `stackwright.kicad`, which lies next to this file.

What this process writes to its error stream is what KiCad shows to the user.
"""

from __future__ import annotations

import io
import sys
from importlib.util import find_spec
from pathlib import Path

INCOMPLETE = 2


def own_packages_first() -> None:
    """Look for packages in the plugin's own environment before the system's.

    KiCad sets PYTHONPATH to the system's packages on some systems, which would shadow ours with other versions.
    """
    here, prefix = Path(__file__).resolve().parent, Path(sys.prefix).resolve()
    own = [entry for entry in sys.path if Path(entry).name == "site-packages" and _inside(entry, prefix)]
    others = [entry for entry in sys.path if entry not in own and Path(entry).resolve() != here]
    sys.path[:] = [str(here), *own, *others]


def _inside(entry: str, folder: Path) -> bool:
    return Path(entry).resolve().is_relative_to(folder)


def main() -> int:
    """Check the open board."""
    if sys.stderr is None:  # pythonw.exe, by which KiCad runs plugins on Windows, has no console
        sys.stderr = io.StringIO()
    own_packages_first()
    try:
        import kipy  # noqa: F401, PLC0415 - a part of the environment that is imported later

        from stackwright.__main__ import guarded  # noqa: PLC0415 - the path has to be put right first
        from stackwright.kicad.button import run  # noqa: PLC0415
        from stackwright.kicad.doctor import PACKAGES  # noqa: PLC0415
    except ImportError as error:
        return incomplete(str(error))
    absent = [name for name in PACKAGES if find_spec(name) is None]  # the check imports them later
    return incomplete(f"no package {', '.join(absent)}") if absent else guarded(run)


def incomplete(what: str) -> int:
    """Say that KiCad could not make the whole environment, and what to do."""
    cure = f"delete the folder {sys.prefix}, be online and start KiCad again"
    sys.stderr.write(f"error: Stackwright's Python environment is not complete ({what}); {cure}\n")
    return INCOMPLETE


if __name__ == "__main__":
    sys.exit(main())
