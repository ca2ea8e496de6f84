"""What would prove what is not verifiable: the lines to paste into `stackwright.toml`."""

from __future__ import annotations

from collections.abc import Iterable

from drc_rules.analysis.targets.unknown_pairs import unknown_pairs
from drc_rules.engine.headline import NOTHING_PLACED, NOTHING_ROUTED, not_laid_out
from drc_rules.engine.one_clause import Outcome
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import open_generations
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import Config
from drc_rules.settings.declaration import PLACEHOLDER
from stackup_lib.core.files.toml_text import TomlError, read_toml
from stackup_lib.core.words import count

FILL_IN = "# fill in "
"""How the comment of `with_open_values` begins."""

LAY_OUT = {
    NOTHING_PLACED: "in KiCad, place the parts and route the board, then check it again",
    NOTHING_ROUTED: "in KiCad, route the board, then check it again",
}
"""What to do about a board without a layout, by what is said of it."""

MOST_ROWS = 3
"""A fact that is missing for more rows than this is asked of the user once, for all of them."""

TG_OF_ALL = '[declared]\ntg_c = "?"  # by DSC, of every dielectric: it or the data sheet counts, whichever is lower'
FOIL_OF_ALL = '[declared]\nfoil = "?"  # of every copper layer: product, Rz such as "Rz 2 um", or grade'

GENERAL = (("[declared.dielectric.", "tg_c", TG_OF_ALL), ("[declared.copper.", "foil", FOIL_OF_ALL))


def proofs(context: Context, outcome: Outcome, also: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the lines that would prove what is not verifiable, error-tier clauses first, as TOML ready to paste.

    Actions that are no TOML (fill the zones, enter the stackup) come before, as comments. The lines load below those of
    the settings: keys of a table that is there already are comments too. `also` are further tables to add.
    """
    profile = context.purpose.profile
    open_verdicts = sorted(unproven(outcome.verdicts), key=lambda v: -v.clause.severity.rank)
    wanted = [*(m for v in open_verdicts for m in (*v.missing, *v.guesses)), context.get(unknown_pairs).missing]
    hints = list(dict.fromkeys(m.how_to_give for m in wanted if m and m.how_to_give))
    if profile.value is None:
        hints.insert(0, profile.how_to_give)
    if profile.value is None or any(v.guesses for v in open_verdicts):
        hints += [one.how_to_give for one in open_generations(context)]
    if lacking := not_laid_out(context.board):
        hints.insert(0, LAY_OUT.get(lacking, LAY_OUT[NOTHING_ROUTED]))
    tables = ["\n".join(table) for hint in [*hints, *also] for table in _tables(hint)]
    return paste_lines(in_general(tables), context.declarations.config.text)


def with_open_values(lines: tuple[str, ...], config: Config, asked: str | None) -> tuple[str, ...]:
    """Put before the lines of `proofs` how many values of the settings file the user has not yet filled in.

    Where the file is for another workload than the requested one, `init` would add nothing to it: the lines
    have to be entered by hand.
    """
    marked = sum(f'"{PLACEHOLDER}"' in line.partition("#")[0] for line in config.text.splitlines())
    if not lines:
        return lines
    where = config.path.as_posix() if config.path else FILE_NAME
    if not marked:
        is_of_another = config.profile and asked not in (None, config.profile)
        has_lines = any(not line.startswith("#") for line in lines)
        other = f"{FILL_IN}by hand what -v lists: {where} is for {config.profile}, and init adds lines for that alone"
        return (other, *lines) if is_of_another and has_lines else lines
    return (f'{FILL_IN}{count(marked, "value")} marked "{PLACEHOLDER}" in {where}, then check again', *lines)


def unproven(verdicts: Iterable[ClauseVerdict]) -> list[ClauseVerdict]:
    """Return the clauses that wait for a fact, and those of severity error that were decided on a guess only."""
    return [
        v
        for v in verdicts
        if v.has_rule and (v.verdict is Verdict.NOT_VERIFIABLE or (v.guesses and v.clause.severity is Severity.ERROR))
    ]


def in_general(hints: Iterable[str]) -> list[str]:
    """Offer one line for all rows where the same fact is missing of more than a few of them, or needed for all."""
    kept = list(dict.fromkeys(hints))
    for start, key, line in GENERAL:
        rows = [h for h in kept if h.startswith(start) and h.partition("\n")[2].startswith(key)]
        if len(rows) > MOST_ROWS or (rows and line in kept):
            at = kept.index(rows[0])
            kept = [*kept[:at], line, *(h for h in kept[at:] if h not in (*rows, line))]
    return kept


def paste_lines(hints: Iterable[str], settings: str = "") -> tuple[str, ...]:
    """Merge hints into one TOML text: actions as comments, bare keys, then each table once, each of its keys once.

    Args:
        hints: how to give each fact.
        settings: text that the lines are pasted below. TOML opens no table twice, and a key below a table is that
            table's: what would not load there becomes a comment that says where it goes.
    """
    actions: list[str] = []
    bare: list[str] = []
    tables: dict[str, list[str]] = {}
    repeated: list[list[str]] = []
    for hint in hints:
        for head, *rest in _tables(hint):
            if head.startswith("[["):
                if [_bare(head), *rest] not in [[_bare(first), *more] for first, *more in repeated]:
                    repeated.append([head, *rest])
            elif head.startswith("["):
                rows = tables.setdefault(head, [])
                rows += [line for line in rest if line not in rows and _key(line) not in {_key(row) for row in rows}]
            elif "=" in head and head.split("=")[0].strip().isidentifier():
                bare.append(head)
            elif f"# {head}" not in actions:
                actions.append(f"# {head}")
    blocks = [*([line] for line in bare), *([head, *rows] for head, rows in tables.items()), *repeated]
    return _fitted(actions, [[line for line in block if line] for block in blocks], settings)


def _fitted(actions: list[str], blocks: list[list[str]], settings: str) -> tuple[str, ...]:
    """Return the lines of the blocks, those that cannot stand below the settings as comments before the others."""
    pasted: list[str] = []
    text = settings
    for block in blocks:
        longer = "\n".join((text, *block))
        if _loads_as_meant(text, longer, block[0]):
            pasted, text = [*pasted, *block], longer
            continue
        head = _bare(block[0])
        rows = block[1:] if head.startswith("[") else block
        where = f"add to {head} in {FILE_NAME}" if head.startswith("[") else f"add above all tables of {FILE_NAME}"
        if taken := _taken(settings, block):
            where += f", in place of its {' and '.join(taken)}"
        actions += [f"# {where}:", *(f"# {row}" for row in rows)]
    return (*actions, *pasted)


def _loads_as_meant(text: str, longer: str, head: str) -> bool:
    """Tell whether a text still loads with a block below it, a bare key at the top level."""
    try:
        before, after = read_toml(text), read_toml(longer)
    except TomlError:
        return False
    return head.startswith("[") or before.keys() != after.keys()


def _taken(settings: str, block: list[str]) -> list[str]:
    """Return the keys of a table's block that the settings give already: TOML takes none twice."""
    try:
        here: object = read_toml(settings)
        path: object = read_toml(_bare(block[0]))
    except TomlError:
        return []
    while isinstance(path, dict) and path:
        name, path = next(iter(path.items()))
        here = here.get(name) if isinstance(here, dict) else None
    return [key for row in block[1:] if isinstance(here, dict) and (key := _key(row)) in here]


def _bare(head: str) -> str:
    """Return the head of a table without its comment."""
    return head.partition("  #")[0]


def _tables(hint: str) -> list[list[str]]:
    """Return a hint's tables, each with its head first; what stands before the first is one too."""
    found: list[list[str]] = []
    for line in hint.splitlines():
        if line.startswith("[") or not found:
            found.append([])
        found[-1].append(line)
    return found


def _key(line: str) -> str:
    """Return the key that a line gives, or the line itself where it gives none."""
    key, sign, _ = line.partition("=")
    return key.strip() if sign and not line.startswith("#") else line
