"""What a plan changes in a board: rows as text, safe or not, and the facts that no longer fit."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from drc_rules.requirements.fabs.presets import presets
from drc_rules.settings.config import Config
from drc_rules.settings.config_process import ProcessDeclaration
from drc_rules.stackup_design.plan_file import Plan
from drc_rules.stackup_design.settings_edit import Key, Value, facts_of
from stackup_lib.board.board import Board, LayerKind
from stackup_lib.board.planned import PlannedRow, PlannedRule, planned_from
from stackup_lib.board.stackup import Ply
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.write.rules_writer import BEGIN, END
from stackup_lib.materials import catalogue

_ROW_BOUND = ("material", "dk", "df", "at_ghz", "dk_at_ghz", "tg_c", "tg_method")
_COPPER = re.compile(r"(?:F|B|In[0-9]+)\.Cu")
_LIMITED = ("track_width", "diff_pair_gap")


class PlanChange(Frozen):
    """One thing that changes; `is_safe` when it is only another way to write the same material."""

    row: str
    what: str
    before: str
    after: str
    is_safe: bool = False


def stackup_changes(before: Board, after: Board) -> tuple[PlanChange, ...]:
    """Return what differs between the stackups of two states of a board, top to bottom."""
    old = planned_from(before.stackup) if before.stackup else None
    new = planned_from(after.stackup) if after.stackup else None
    was = {row.name: row for row in old.rows} if old else {}
    now = {row.name: row for row in new.rows} if new else {}
    found = [change for row in now.values() for change in _row_changes(was.get(row.name), row)]
    found += [
        PlanChange(row=r.name, what="row", before=_row(r), after="removed") for r in was.values() if r.name not in now
    ]
    if before.thickness_mm != after.thickness_mm:
        sizes = (_mm(before.thickness_mm), _mm(after.thickness_mm))
        found.append(PlanChange(row="board", what="thickness", before=sizes[0], after=sizes[1]))
    options = ("copper_finish", "dielectric_constraints", "edge_connector", "edge_plating")
    for key in options if new else ():
        a, b = getattr(old, key, None), getattr(new, key)
        if a != b:
            found.append(PlanChange(row="board", what=key.replace("_", " "), before=_word(a), after=_word(b)))
    return tuple(found)


def _row_changes(old: PlannedRow | None, new: PlannedRow) -> Iterator[PlanChange]:
    if old is None:
        yield PlanChange(row=new.name, what="row", before="", after=f"added: {_row(new)}")
        return
    if old.kind is not new.kind:
        yield PlanChange(row=new.name, what="kind", before=old.kind.value, after=new.kind.value)
    if len(old.plies) != len(new.plies):
        yield PlanChange(row=new.name, what="plies", before=_row(old), after=_row(new))
        return
    for number, (a, b) in enumerate(zip(old.plies, new.plies, strict=True), start=1):
        name = new.name if len(new.plies) == 1 else f"{new.name}, ply {number}"
        if a.thickness_mm != b.thickness_mm:
            yield PlanChange(row=name, what="thickness", before=_mm(a.thickness_mm), after=_mm(b.thickness_mm))
        if (a.material or "") != (b.material or ""):
            same = new.kind is not LayerKind.COPPER and same_material(a.material, b.material)
            yield PlanChange(row=name, what="material", before=_word(a.material), after=_word(b.material), is_safe=same)
        for what, x, y in (("Dk", a.dk, b.dk), ("Df", a.df, b.df)):
            if x != y:
                yield PlanChange(row=name, what=what, before=_word(x), after=_word(y))


def same_material(a: str | None, b: str | None) -> bool:
    """Return True when two texts name the same laminate in the same construction of our catalogue."""
    one, other = catalogue().find(a or ""), catalogue().find(b or "")
    if one.laminate is None or other.laminate is None or one.laminate.generic:
        return False
    said = ((m.laminate.family if m.laminate else "", m.styles, m.plies, m.resin_content_pct) for m in (one, other))
    return next(said) == next(said)


def _row(row: PlannedRow) -> str:
    return " + ".join(_ply(ply) for ply in row.plies)


def _ply(ply: Ply) -> str:
    return " ".join(part for part in (_mm(ply.thickness_mm), ply.material or "") if part)


def _mm(value: float | None) -> str:
    return "not stated" if value is None else f"{value:.7g} mm"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not stated" if value in (None, "") else str(value)


def prove_laminates(plan: Plan, after: Board, label: str) -> None:
    """Refuse a board whose material texts would not lead our resolver back to the laminates of the plan."""
    rows = planned_from(after.stackup).rows if after.stackup else ()
    for planned, row in zip(plan.rows, rows, strict=True):
        for sheet, ply in zip(planned.sheets, row.plies, strict=True):
            match = catalogue().find(ply.material or "")
            found = match.laminate.family if match.laminate else None
            if sheet.laminate is not None and found != sheet.laminate:
                what = f'{row.name}: "{ply.material}" in the file would mean {found}, not {sheet.laminate}'
                raise NotWrittenError(label, what, "name the material as the catalogue does")


def declared_facts(plan: Plan, before: Board, after: Board, config: Config) -> tuple[dict[Key, Value], list[Key]]:
    """Return what to declare in the settings, and the keys that were declared for rows that change.

    Raises:
        NotWrittenError: the settings hold facts of yet another stackup, which a new hash would make valid.
    """
    declared = config.declared
    old = before.stackup.digest if before.stackup else None
    new = after.stackup.digest if after.stackup else None
    facts = facts_of(plan, new or "")
    retire = [*([] if old == new else _outdated(before, after)), *_of_another_fab(plan, config)]
    hashed = declared.stackup_hash is not None
    stated = {key: value for key, value in facts.items() if key[1] != "stackup_hash"}
    open_facts = {key: value for key, value in stated.items() if _declared(config, key) != value}
    if not open_facts and (old == new or not (hashed or stated)):
        return {}, retire
    if hashed and declared.stackup_hash not in (old, new):
        what = f"declares facts for another stackup ({declared.stackup_hash})"
        raise NotWrittenError("stackwright.toml", what, "check them, then take declared.stackup_hash out")
    return {(("declared",), "stackup_hash"): new or "", **stated}, retire


def _of_another_fab(plan: Plan, config: Config) -> Iterator[Key]:
    if plan.process is not None:
        yield from ((("process",), key) for key in process_keys_replaced(config.process, plan.process))


def process_keys_replaced(process: ProcessDeclaration, preset: str) -> tuple[str, ...]:
    """Return the keys of `[process]` that another fab's preset states too: they would win over that fab."""
    if preset == process.preset:
        return ()
    return tuple(key for key in presets()[preset].values if getattr(process, key) is not None)


def _declared(config: Config, key: Key) -> object:
    path, name = key
    if path == ("process",):
        return getattr(config.process, name)
    if len(path) == 1:
        return getattr(config.declared, name)
    row = getattr(config.declared, path[1]).get(path[2])
    return getattr(row, name) if row else None


def _outdated(before: Board, after: Board) -> Iterator[Key]:
    """Keys that may be declared for a row which is another one, or no more."""
    if before.stackup is None or after.stackup is None:
        return
    now = {row.name: row for row in planned_from(after.stackup).rows}
    materials_change = False
    for row in planned_from(before.stackup).rows:
        other = now.get(row.name)
        is_copper = row.kind is LayerKind.COPPER
        if other is not None and _figures(row) == _figures(other):
            continue
        materials_change |= not is_copper and row.kind is not LayerKind.MASK
        if is_copper:
            yield ("declared", "copper", row.name), "copper_oz"
            if other is None:
                yield ("declared", "copper", row.name), "foil"
        else:
            names = row.name, *(f"{row.name}, ply {number}" for number in range(1, len(row.plies) + 1))
            yield from ((("declared", "dielectric", name), key) for name in names for key in _ROW_BOUND)
    if materials_change:
        yield ("declared",), "tg_c"


def _figures(row: PlannedRow) -> tuple[object, ...]:
    return row.kind, *((p.thickness_mm, p.material, p.dk, p.df) for p in row.plies)


def rules_that_win(text: str, rules: Sequence[PlannedRule]) -> tuple[str, ...]:
    """Return the user's own rules that may hold instead of the plan's: KiCad takes the last one that fits."""
    start, end = text.find(BEGIN), text.find(END)
    ours = range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2) if 0 <= start < end else range(0)
    names = {rule.net_class for rule in rules}
    layers = {rule.layer for rule in rules}
    found = []
    for rule in parse_design_rules(text).rules:
        kinds = [c.kind for c in rule.constraints if c.kind in _LIMITED]
        if not kinds or rule.line in ours or not _meets(rule.layer, layers):
            continue
        condition = rule.condition or ""
        patterns = [word.lower() for word in re.findall(r"'([^']*)'", condition)]
        named = any(fnmatchcase(name.lower(), pattern) for name in names for pattern in patterns)
        if "netclass" in condition.lower() and not named:
            continue
        certain = "holds" if named or not condition else "may hold"
        found.append(f'line {rule.line}: your rule "{rule.name}" ({", ".join(kinds)}) {certain} instead of the plan\'s')
    return tuple(found)


def _meets(layer: str | None, layers: set[str]) -> bool:
    """Whether a rule's layer may be one of the plan's."""
    outer = {"F.Cu", "B.Cu"}
    if layer in ("inner", "outer"):
        return bool(layers - outer if layer == "inner" else layers & outer)
    return not _COPPER.fullmatch(layer or "") or layer in layers
