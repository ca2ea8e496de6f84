"""Validation: every reference value of the physics next to ours, drawn with error bars and printed beneath.

What is drawn is what the tests hold: solved by the function behind `stackwright validate`, or by the tests' own where a
comparison needs more than a cross section.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache

from docs.pages.charts import Mark, chart, group_axis, in_groups, log_axis, percent_axis
from docs.pages.markdown import Page, folded, link, number, page, prose, table, title, tree
from docs.pages.project import FUZZING, HONESTY, MUTATION, REFERENCE, taken
from docs.pages.validation.loss import blocks as loss_blocks
from docs.pages.validation.misses import blocks as misses
from stackup_lib.validation.case_files import ReferenceCase, read_cases
from stackup_lib.validation.compare import CaseOutcome, summarize, validate
from tests.support.physics.published_cases import GROUPS, group_of, outcomes

FOLDER = REFERENCE.parent
EXACT, SKIN, PUBLISHED = (FOLDER / f"{name}_cases.toml" for name in ("exact", "loss", "published"))
LIMIT_PCT = 0.5
FLOOR_PCT = 1e-8
"""Differences below are drawn here: a logarithm has no zero."""

HEADER = ("case", "figure", "reference", "± %", "ours", "ours less reference, %", "our own estimate, %", "verdict")


def pages() -> Iterator[Page]:
    """The charts with their tables, then the page that tells what they mean."""
    yield page(
        "validation/index",
        title("Validation"),
        "Each dot is a value of ours next to one that was found without us: by an exact solution, another program, or "
        "a measurement. The bar about it is what is not known: our own error estimate and the uncertainty of the "
        "reference, or for measured boards what foil, Df and finish leave open. All of it is solved anew whenever "
        "these pages are built.",
        f"{link('What the physics is held against', 'validation/reference')} tells how the references were made, what "
        "is missed and why. To repeat it, or to do the same with your own numbers: `stackwright validate FILE`. "
        f"{link('How far Stackwright can be trusted', 'validation/honesty')} has the judged findings, the seeded "
        "defects and what each rule cannot see. On public boards: "
        f"{link('which seeded defects are caught', 'validation/recall')}, and "
        f"{link('what is said of defects that they once had', 'validation/history')}.",
        *misses(),
        *_exact(),
        *_skin(),
        *_published(),
        *loss_blocks(),
        tree([f"validation/{name}" for name in ("reference", "honesty", "recall", "history", "fuzzing", "mutation")]),
    )
    yield page("validation/reference", taken(REFERENCE))
    for name, file in (("honesty", HONESTY), ("fuzzing", FUZZING), ("mutation", MUTATION)):
        yield page(f"validation/{name}", taken(file))


@cache
def _cases(name: str) -> dict[tuple[str, str, str], ReferenceCase]:
    return {(c.id, c.geometry, c.quantity): c for c in read_cases(FOLDER / name)}


def sizes(*parts: float | None) -> float:
    """Sum of what is known."""
    return math.fsum(part or 0.0 for part in parts)


def rows_of(outcomes: Sequence[CaseOutcome]) -> str:
    """Every outcome in a table."""
    rows = []
    for o in outcomes:
        mode = f" {o.mode}" if o.mode in ("odd", "even") else ""
        rows.append(
            (
                prose(o.id),
                prose(o.quantity + mode),
                f"{o.reference:.8g}",
                number(o.uncertainty_pct, ".1g"),
                number(o.value, ".8g"),
                number(o.difference_pct, "+.2g"),
                number(o.estimate_pct, ".1g"),
                prose(o.verdict + (f": {o.reason}" if o.reason else "")),
            )
        )
    return table(HEADER, rows)


def _sum_up(outcomes: Sequence[CaseOutcome], limit_pct: float) -> str:
    found = summarize(outcomes, limit_pct)
    counts = [
        (found.within, "within the uncertainty of the reference and our own estimate"),
        (found.in_limit, f"inside {limit_pct:g} %"),
        (found.explained, "off for a reason that is told"),
        (found.off, "off"),
        (found.not_solved, "not solved"),
        (found.skipped, "incomplete or no board line, skipped"),
    ]
    said = ", ".join(f"{count} {words}" for count, words in counts if count)
    return f"{found.rows} values: {said}."


def _kind(case: ReferenceCase) -> str:
    return re.split(r"[,(;]", case.source)[0].strip()


def _log_marks(outcomes: Sequence[CaseOutcome], groups: Sequence[str]) -> list[Mark]:
    """Differences by size, over all that they may be: own estimate and uncertainty of the reference."""
    marks = []
    for o, group in sorted(zip(outcomes, groups, strict=True), key=lambda pair: list(groups).index(pair[1])):
        far, may_be = abs(o.difference_pct or 0.0), sizes(o.uncertainty_pct, o.estimate_pct)
        tip = f"{o.id} {o.quantity}: {far:.2g} % off, may be {may_be:.2g} %"
        marks.append(Mark(0, max(far, FLOOR_PCT), FLOOR_PCT, max(may_be, FLOOR_PCT), tip=tip, group=group))
    return in_groups(marks)


def _exact() -> Iterator[str]:
    outcomes = [o for o in validate(read_cases(EXACT), 0.1) if o.difference_pct is not None]
    kinds = [_kind(_cases(EXACT.name)[o.id, o.geometry, o.quantity]) for o in outcomes]
    marks = _log_marks(outcomes, kinds)
    yield title("Impedance against exact solutions", 2)
    yield _sum_up(outcomes, 0.1)
    yield chart(
        "Impedance and effective permittivity against exact solutions, difference in per cent by case",
        "A dot within its bar is met. Hammerstad and Jensen's formula is itself good to 0.1 %.",
        (group_axis(marks), log_axis(FLOOR_PCT, 1, "difference, %", [1e-8, 1e-6, 1e-4, 1e-2, 1])),
        marks,
        keys=[("met", "our difference"), ("bars", "our own error estimate and the reference's uncertainty")],
    )
    yield folded(f"All {len(outcomes)} values", rows_of(outcomes))


def _skin() -> Iterator[str]:
    outcomes = [o for o in validate(read_cases(SKIN), LIMIT_PCT) if o.difference_pct is not None]
    words = {"Z": "impedance", "R_signal": "crowding\non the trace", "R_return": "crowding\non the return"}
    groups = [words.get(o.quantity, "shares of\ndielectrics") for o in outcomes]
    marks = _log_marks(outcomes, groups)
    yield title("Loss against exact solutions", 2)
    yield _sum_up(outcomes, LIMIT_PCT) + " The reference states no uncertainty per value."
    yield chart(
        "Crowding of the current and shares of dielectrics against exact solutions, difference in per cent by case",
        "In the skin limit. Shares are parts of the whole, and so are their differences.",
        (group_axis(marks), log_axis(FLOOR_PCT, 1, "difference, %", [1e-8, 1e-6, 1e-4, 1e-2, 1])),
        marks,
        keys=[("met", "our difference"), ("bars", "our own error estimate")],
    )
    yield folded(f"All {len(outcomes)} values", rows_of(outcomes))


@cache
def _last_digits() -> dict[tuple[str, str], float]:
    """Half a unit of the last digit that was published, in per cent, by case and value."""
    text = PUBLISHED.read_text(encoding="utf-8")
    found = {}
    for case in tomllib.loads(text, parse_float=Decimal)["case"]:
        for quantity, value in (case.get("values") or {}).items():
            exponent = value.as_tuple().exponent if isinstance(value, Decimal) else 0
            found[case["id"], quantity] = 50.0 * 10.0 ** int(exponent) / float(value)
    return found


def _published() -> Iterator[str]:
    solved = [o for o in outcomes() if o.difference_pct is not None]
    order = list(GROUPS)
    marks = []
    for o in sorted(solved, key=lambda one: order.index(group_of(one))):
        off = o.difference_pct or 0.0
        about = sizes(_last_digits()[o.id, o.quantity], o.estimate_pct)
        kind = "explained" if o.verdict == "explained" else "met"
        tip = f"{o.id} {o.quantity}: {off:+.3g} % ± {about:.2g} %{'; ' + o.reason if o.reason else ''}"
        marks.append(Mark(0, off, off - about, off + about, kind, tip, group_of(o)))
    placed = in_groups(marks, gap=6.0)
    yield title("Impedance against other programs", 2)
    yield (
        _sum_up(outcomes(), LIMIT_PCT) + " Nobody publishes an uncertainty: the bar is half of the last digit printed."
    )
    yield chart(
        "Impedances that other programs publish, ours less theirs in per cent by case",
        "Linear to 0.2 %, by powers beyond. Shaded: 0.5 %.",
        (
            group_axis(placed),
            percent_axis((-10, 10), "ours less theirs, %", [-10, -5, -2, -0.5, -0.1, 0, 0.1, 0.5, 2, 5, 10], 0.2),
        ),
        placed,
        band=(-LIMIT_PCT, LIMIT_PCT),
        height=330,
        keys=[
            ("met", "met"),
            ("explained", "off, explained in the table"),
            ("bars", "last digit printed and our own error estimate"),
        ],
    )
    rows = [(f"`{name}`", prose(group["solver"]), prose(group["source"])) for name, group in GROUPS.items()]
    yield folded("Who they are", table(("key", "program", "published in"), rows))
    yield folded(f"All {len(outcomes())} values", rows_of(outcomes()))
