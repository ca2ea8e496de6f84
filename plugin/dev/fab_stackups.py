"""Takes a fab's stackups from a CSV of rows: `python plugin/dev/fab_stackups.py ROWS.csv FOLDER`.

FOLDER is `FAB_DATE` below `drc_rules/requirements/fabs/stackups`. Its `fab.toml`, which says whose the stackups are and
where they come from, is written by hand; `sheets.csv` and `stackups.csv` are written here. ROWS.csv has one copper or
dielectric row a line, top to bottom, with the columns of `COLUMNS`. Prints the stackups that contradict themselves:
each of them needs a `[[misfit]]` in `fab.toml`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "plugin")]

from dev.fab_stackup_misfits import misfits_of  # noqa: E402
from drc_rules.requirements.fabs.stackups.load import ABOUT, SHEETS, STACKUPS, read_edition  # noqa: E402
from stackwright.text.output import show, write_file  # noqa: E402

ORDER = ("template", "copper_layers", "board_thickness_mm", "outer_oz", "inner_oz")
SHEET = (
    "kind",
    "thickness_mm",
    "weight_oz",
    "manufacturer",
    "laminate",
    "construction",
    "resin_content_pct",
    "dk",
    "df",
    "tg_c",
)
COLUMNS = (*ORDER, "row", *SHEET)
UM = 1000


def main(rows: Path, folder: Path) -> int:
    """Write the two tables; exit code 2 where the CSV or `fab.toml` is missing."""
    if not (folder / ABOUT).is_file():
        show(f"{folder / ABOUT} is missing: say there whose stackups these are, and where they come from\n")
        return 2
    with rows.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or (missing := [name for name in COLUMNS if name not in lines[0]]):
        show(f"{rows}: column {missing[0] if lines else COLUMNS[0]} is missing\n")
        return 2
    keys: dict[tuple[str, ...], str] = {}
    stackups: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        sheet = tuple(line[name] for name in SHEET)
        keys.setdefault(sheet, _key(line, set(keys.values())))
        stackups.setdefault(tuple(line[name] for name in ORDER), []).append(keys[sheet])
    write_file(folder / SHEETS, _csv([("key", *SHEET), *((key, *sheet) for sheet, key in sorted(keys.items()))]))
    head = ("name", "copper_layers", "thickness_mm", "outer_oz", "inner_oz", "rows")
    write_file(
        folder / STACKUPS,
        _csv([head, *((*order, " ".join(rows)) for order, rows in sorted(stackups.items(), key=_by_number))]),
    )
    read = read_edition(folder)
    show(f"{folder.name}: {len(read)} stackups of {len(keys)} sheets\n")
    for stackup in read:
        for what in misfits_of(stackup):
            show(f"  misfit: {what}: {stackup.order} ({stackup.sum_mm} mm)\n")
    return 0


def _key(line: Mapping[str, str], taken: set[str]) -> str:
    """A short name of a sheet: glass style, `core` or copper weight, and micrometres."""
    what = f"cu{line['weight_oz']}" if line["kind"] == "copper" else line["construction"] or line["kind"]
    size = f"{UM * float(line['thickness_mm']):.6g}" if line["thickness_mm"] else "open"
    plain = f"{what.replace(' ', '')}-{size}".lower()
    return next(key for key in (plain, *(f"{plain}-{n}" for n in range(2, 100))) if key not in taken)


def _by_number(item: tuple[tuple[str, ...], list[str]]) -> tuple[str, list[float]]:
    name, *numbers = item[0]
    return name, [float(number or 0) for number in numbers]


def _csv(rows: list[tuple[str, ...]]) -> str:
    def cell(text: str) -> str:
        return f'"{text}"' if "," in text else text

    return "".join(",".join(map(cell, row)) + "\n" for row in rows)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
