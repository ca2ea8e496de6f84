"""Steps of a change of an existing stackup: another laminate, heavier copper, mirrored rows. Lengths in mm."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.words import listed
from stackup_lib.materials import FoilGrade, catalogue
from stackup_lib.materials.copper import inner_copper_mm
from stackup_lib.synthesis.build_rules import BuildRules, GapNeeds
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup, dielectric_row, facing_copper
from stackup_lib.synthesis.constructions import CatalogueProduct, cores_of, prepregs_of

SAME_THICKNESS = 0.12
"""A dielectric is swapped for one that differs by at most this share: about what the making of it varies by."""

SAME_DK = 0.05
"""Dk this share apart counts as equal: impedance goes with the root, so it moves by half of that."""

EPS_MM = 1e-6


class ChangeStep(Frozen):
    """What a step changes as text, and the stackup then; without one, the text says why there is none.

    Attributes:
        cautions: what a fab does not usually press so; to be confirmed by the fab.
    """

    words: str
    candidate: CandidateStackup | None = None
    cautions: tuple[str, ...] = ()


def rows_touched(before: CandidateStackup, after: CandidateStackup) -> int:
    """Return how many rows differ."""
    return sum(a != b for a, b in zip(before.rows, after.rows, strict=True))


def replaced(
    candidate: CandidateStackup, change: Callable[[CandidateRow], CandidateRow | None]
) -> tuple[CandidateStackup, list[str]]:
    """Return the stackup with the rows that `change` gives, and the names of those."""
    rows, names = [], []
    for row in candidate.rows:
        new = change(row)
        rows.append(new or row)
        if new is not None:
            names.append(row.name)
    return candidate.model_copy(update={"rows": tuple(rows)}), names


def in_laminate(candidate: CandidateStackup, names: Collection[str], family: str) -> ChangeStep:
    """Swap dielectrics for as thick ones of a family: the same glass style, plies and Dk as far as available."""
    missing: list[str] = []

    def other(row: CandidateRow) -> CandidateRow | None:
        if row.name not in names or row.laminate == family:
            return None
        best = _nearest(candidate, row, family)
        if best is None:
            missing.append(f"{family} has no {row.kind.value} near {row.thickness_mm:g} mm for {row.name}")
        return best

    changed, swapped = replaced(candidate, other)
    if missing:
        return ChangeStep(words=missing[0])
    return ChangeStep(words=f"{listed(swapped)} to {family}" if swapped else "", candidate=changed)


def _nearest(candidate: CandidateStackup, row: CandidateRow, family: str) -> CandidateRow | None:
    fits = [(t, one) for t, one in _pressed(candidate, row, family) if abs(t / row.thickness_mm - 1) <= SAME_THICKNESS]
    best = min(fits, key=lambda fit: _unlike(candidate, row, *fit), default=None)
    return dielectric_row(best[1], best[0], row.name) if best else None


def _pressed(candidate: CandidateStackup, row: CandidateRow, family: str) -> list[tuple[float, CatalogueProduct]]:
    """Return what a family is sold as in place of a dielectric, with its thickness between the copper there."""
    offers = cores_of(family) if row.kind is LayerKind.CORE else prepregs_of(family)
    faces = facing_copper(candidate.order, _gap(candidate, row.name), [c.thickness_mm for c in candidate.copper])
    return [(t, one) for one in offers if (t := one.pressed_mm(faces)) is not None]


def _unlike(
    candidate: CandidateStackup, row: CandidateRow, thickness_mm: float, sold: CatalogueProduct
) -> tuple[float, ...]:
    """Order offers for a row: its glass style and number of plies, one that the stackup has, nearest Dk, thickness."""
    styles = catalogue().find(row.construction).styles
    other_style = bool(styles) and sold.row is not None and sold.row.style not in styles
    off_dk = abs(sold.dk / row.dk - 1) if row.dk else 0.0
    off_mm = abs(thickness_mm / row.thickness_mm - 1)
    is_new = sold.row is not None and _product(sold.text) not in {
        _product(d.construction) for d in candidate.dielectrics
    }
    return other_style, sold.plies != row.plies, is_new, round(off_dk / SAME_DK), off_mm, sold.plies


@lru_cache(maxsize=4096)
def _product(text: str) -> tuple[object, ...]:
    """Return what makes two texts one prepreg: family, glass style, resin content."""
    match = catalogue().find(text)
    return match.laminate.family if match.laminate else text, match.styles, match.resin_content_pct


def in_foil(candidate: CandidateStackup, names: Collection[str], grade: FoilGrade) -> ChangeStep:
    """Give copper layers a foil grade where theirs is rougher or not declared.

    A core comes with one foil on both faces: a layer gets that of the other face where it is smoother than the grade,
    and a rougher one there is replaced as well.
    """
    copper = candidate.copper
    rough = {k for k, row in enumerate(copper) if row.name in names and _rank(row.foil) < grade.rank}
    foils: dict[str, str] = {}
    for k in rough:
        face = candidate.order.opposite_face(k)
        other = "" if face is None else copper[face].foil
        foil = max(grade, FoilGrade(other), key=lambda one: one.rank) if other else grade
        foils[copper[k].name] = foil.value
        if face is not None and other and _rank(other) < foil.rank:
            foils.setdefault(copper[face].name, foil.value)

    def better(row: CandidateRow) -> CandidateRow | None:
        foil = foils.get(row.name)
        return None if foil is None else row.model_copy(update={"foil": foil})

    changed, layers = replaced(candidate, better)
    by_foil: dict[str, list[str]] = {}
    for name in layers:
        by_foil.setdefault(foils[name], []).append(name)
    return ChangeStep(words="; ".join(f"{foil} on {listed(on)}" for foil, on in by_foil.items()), candidate=changed)


def _rank(foil: str) -> int:
    """Return the rank of a grade, -1 of one that is not declared."""
    return FoilGrade(foil).rank if foil else -1


def in_weight(candidate: CandidateStackup, wanted_oz: Mapping[str, float], rules: BuildRules) -> Iterator[ChangeStep]:
    """Give planes more copper, with their mirrors where these weigh the same now.

    First as fabs press it: the other side of a core gets the same weight, and a dielectric that they do not press
    between such weights becomes the nearest one of its laminate that they do. Then with the prepregs that are there, as
    far as their resin fills the copper; then with the other sides of the cores as they are. These two carry cautions.
    """
    fewer_plies = tuple(
        row.model_copy(update={"plies_one": 1, "plies_both": 1, "plies_outer": 1, "gap_mm": 0.0})
        for row in rules.weights
    )
    for kept in (rules, rules.model_copy(update={"weights": fewer_plies}), BuildRules()):
        step = _in_weight(candidate, wanted_oz, kept)
        if step.candidate is not None:
            step = step.model_copy(update={"cautions": tuple(_cautions(candidate, step.candidate, rules))})
        yield step


def _in_weight(candidate: CandidateStackup, wanted_oz: Mapping[str, float], rules: BuildRules) -> ChangeStep:
    ounces, why = _spread(candidate, wanted_oz, rules)
    if why:
        return ChangeStep(words=why)

    def heavier(row: CandidateRow) -> CandidateRow | None:
        oz = ounces.get(row.name)
        if oz is None:
            return None
        return row.model_copy(update={"copper_oz": oz, "thickness_mm": thickness_of(candidate, oz)})

    changed, names = replaced(candidate, heavier)
    by_oz: dict[float, list[str]] = {}
    for name in names:
        by_oz.setdefault(ounces[name], []).append(name)
    words = "; ".join(f"{oz:g} oz copper on {listed(layers)}" for oz, layers in sorted(by_oz.items()))
    filled = _refilled(candidate, changed, rules)
    if filled.candidate is None:
        return ChangeStep(words=f"{words}: {filled.words}")
    return ChangeStep(words="; ".join(part for part in (words, filled.words) if part), candidate=filled.candidate)


def _cautions(before: CandidateStackup, after: CandidateStackup, rules: BuildRules) -> Iterator[str]:
    """Yield what fabs do not usually press so, of what was not so before."""
    new = _odd_gaps(after, rules)
    was = _odd_gaps(before, rules)
    for what, names in new.items():
        if fresh := [name for name in names if name not in was.get(what, ())]:
            yield f"ask the fab: {listed(fresh)} {what}"


def _odd_gaps(candidate: CandidateStackup, rules: BuildRules) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    copper = candidate.copper
    for gap, row in enumerate(candidate.dielectrics):
        weights = copper[gap].copper_oz or 0.0, copper[gap + 1].copper_oz or 0.0
        needs = rules.needs(*weights, outer=gap in (0, len(copper) - 2))
        if row.kind is LayerKind.CORE and rules.equal_cladding and weights[0] != weights[1]:
            found.setdefault("with two copper weights", []).append(row.name)
        if row.kind is LayerKind.CORE and row.thickness_mm < needs.core_mm - EPS_MM:
            found.setdefault(f"below {needs.core_mm:g} mm under {max(weights):g} oz", []).append(row.name)
        if row.kind is LayerKind.PREPREG and row.plies < needs.plies:
            found.setdefault(f"of fewer than {needs.plies} sheets at {max(weights):g} oz", []).append(row.name)
    return found


def thickness_of(candidate: CandidateStackup, oz: float) -> float:
    """Return the inner thickness of a weight: as the stackup states it elsewhere, else the usual one."""
    return next((c.thickness_mm for c in candidate.copper[1:-1] if c.copper_oz == oz), inner_copper_mm(oz))


def _spread(
    candidate: CandidateStackup, wanted_oz: Mapping[str, float], rules: BuildRules
) -> tuple[dict[str, float], str]:
    """Return the weights with those of mirrors and of the cores' other faces, or why they cannot be had."""
    copper = candidate.copper
    index = {row.name: k for k, row in enumerate(copper)}
    ounces: dict[str, float] = {}
    todo = list(wanted_oz.items())
    while todo:
        name, oz = todo.pop(0)
        k = index[name]
        if ounces.get(name, copper[k].copper_oz or 0.0) >= oz:
            continue
        if copper[k].use not in ("ground", "power"):
            return {}, f"{name}, which would have to be {oz:g} oz as well, carries signals"
        ounces[name] = oz
        complement = candidate.order.opposite_face(k) if rules.equal_cladding else None
        for other in (len(copper) - 1 - k, complement):
            if other is not None and copper[other].copper_oz == copper[k].copper_oz:
                todo.append((copper[other].name, oz))
    return ounces, ""


def _refilled(before: CandidateStackup, after: CandidateStackup, rules: BuildRules) -> ChangeStep:
    """Change what lies between heavier copper as far as its weight requires."""
    rows = {row.name: row for row in after.dielectrics}
    words: list[str] = []
    for gap, row in enumerate(after.dielectrics):
        sides = after.copper[gap], after.copper[gap + 1]
        if sides == (before.copper[gap], before.copper[gap + 1]):
            continue
        weights = [side.copper_oz or 0.0 for side in sides]
        needs = rules.needs(*weights, outer=gap in (0, len(after.order.gaps) - 1))
        new = _kept(before, after, row, needs) or _thicker(after, row, needs)
        if new is None:
            family, oz = row.laminate or "its laminate", max(weights)
            return ChangeStep(words=f"{family} has no {row.kind.value} for {oz:g} oz as {row.name}")
        rows[row.name] = new
        if new.kind is LayerKind.PREPREG and (new.construction, new.plies) == (row.construction, row.plies):
            words += [f"{row.name} to {new.thickness_mm:g} mm as pressed"] if new != row else []
        elif new != row:
            sheets = f"{new.plies} x " if new.plies > 1 else ""
            words.append(f"{row.name} to {sheets}{new.construction} {new.thickness_mm:g} mm")
    changed, _ = replaced(after, lambda row: rows.get(row.name))
    return ChangeStep(words="; ".join(_merged(words)), candidate=changed)


def _kept(before: CandidateStackup, after: CandidateStackup, row: CandidateRow, needs: GapNeeds) -> CandidateRow | None:
    """Return the dielectric as it is with what the copper leaves of it; None where fabs would not press that."""
    if row.kind is LayerKind.CORE:
        return row if row.thickness_mm >= needs.core_mm - EPS_MM else None
    if row.plies < needs.plies:
        return None
    sold = next((s for s in prepregs_of(row.laminate) if (s.text, s.plies) == (row.construction, row.plies)), None)
    if sold is None:
        return row
    gap = _gap(after, row.name)
    was, now = (
        sold.pressed_mm(facing_copper(one.order, gap, [c.thickness_mm for c in one.copper])) for one in (before, after)
    )
    if was is None or now is None:
        return None
    left = round(row.thickness_mm + now - was, 4)
    return row.model_copy(update={"thickness_mm": left}) if left >= needs.gap_mm - EPS_MM else None


def _thicker(candidate: CandidateStackup, row: CandidateRow, needs: GapNeeds) -> CandidateRow | None:
    least_mm = needs.core_mm if row.kind is LayerKind.CORE else needs.gap_mm
    fits = [
        (t, one)
        for t, one in _pressed(candidate, row, row.laminate)
        if t >= least_mm - EPS_MM and (row.kind is LayerKind.CORE or one.plies >= needs.plies)
    ]
    best = min(fits, key=lambda fit: (abs(fit[0] - row.thickness_mm), _unlike(candidate, row, *fit)), default=None)
    return dielectric_row(best[1], best[0], row.name) if best else None


def mirrored(candidate: CandidateStackup, pairs: Collection[tuple[str, str]]) -> Iterator[ChangeStep]:
    """Copy upper rows to their mirrors, or lower ones; first what leaves fewer cores with two weights."""
    rows = {row.name: row for row in candidate.rows}
    steps = []
    for take in (0, 1):
        source = {pair[1 - take]: rows[pair[take]] for pair in pairs if pair[0] in rows and pair[1] in rows}

        def copied(row: CandidateRow, source: Mapping[str, CandidateRow] = source) -> CandidateRow | None:
            model = source.get(row.name)
            if model is None:
                return None
            kept = {"name": row.name} | ({"use": row.use, "foil": row.foil} if row.use else {})
            return model.model_copy(update=kept)

        changed, _ = replaced(candidate, copied)
        words = [f"{name} as its mirror {model.name}, {_described(model)}" for name, model in source.items()]
        if words:
            steps.append(ChangeStep(words="; ".join(words), candidate=changed))
    was_mm = candidate.thickness_mm

    def order(step: ChangeStep) -> tuple[float, ...]:
        new = step.candidate or candidate
        return unequal_cores(new), abs(new.thickness_mm - was_mm)

    yield from sorted(steps, key=order)


def unequal_cores(candidate: CandidateStackup) -> int:
    """Return how many cores have another copper weight above than below."""
    copper = candidate.copper
    sides = [(copper[k], copper[k + 1]) for k, gap in enumerate(candidate.order.gaps) if gap == "c"]
    return sum(upper.copper_oz != lower.copper_oz for upper, lower in sides)


def _described(row: CandidateRow) -> str:
    if row.kind is LayerKind.COPPER:
        weight = f"{row.copper_oz:g} oz, " if row.copper_oz else ""
        return f"{weight}{row.thickness_mm:g} mm"
    sheets = f"{row.plies} x " if row.plies > 1 else ""
    return f"{sheets}{row.construction} {row.thickness_mm:g} mm"


def _gap(candidate: CandidateStackup, name: str) -> int:
    return next(k for k, row in enumerate(candidate.dielectrics) if row.name == name)


def _merged(words: list[str]) -> list[str]:
    """Join rows that become the same: `dielectric 3 and dielectric 9 to ...`."""
    names: dict[str, list[str]] = {}
    for one in words:
        name, _, to = one.partition(" to ")
        names.setdefault(to, []).append(name)
    return [f"{listed(rows)} to {to}" for to, rows in names.items()]
