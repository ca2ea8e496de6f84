"""Defects of the stackup; only on boards whose stackup is the designer's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stackup_lib.board.stackup import LayerKind, StackupLayer
from stackup_lib.kicad.write.spans import Edit, number_text, quoted
from tests.corpus.seeds.ground import Ground, Kind, Maker, Seed, set_field


def _rows(ground: Ground, kind: str, of: Callable[[StackupLayer], bool]) -> Iterator[StackupLayer]:
    stackup = ground.board.stackup
    if stackup is None or not ground.has_stackup:
        return
    rows = [row for row in stackup.layers if of(row) and len(row.plies) == 1]
    for index in ground.shuffled(range(len(rows)), kind):
        yield rows[index]


def _is_dielectric(row: StackupLayer) -> bool:
    return row.is_dielectric


def _set(kind: str, field: str, value: str, of: Callable[[StackupLayer], bool] = _is_dielectric) -> Maker:
    """A maker that gives a field of one row another value."""

    def make(ground: Ground) -> Iterator[Seed]:
        for row in _rows(ground, kind, of):
            yield Seed(edits=(set_field(ground.row(row), field, value),), names=frozenset({row.name}))

    return make


def thicker_core(ground: Ground) -> Iterator[Seed]:
    """A core that is 0.2 mm thicker than the board's thickness has it."""
    for row in _rows(ground, "sum", lambda one: one.kind is LayerKind.CORE and one.thickness_mm is not None):
        value = number_text((row.thickness_mm or 0) + 0.2)
        yield Seed(edits=(set_field(ground.row(row), "thickness", value),), names=frozenset({"stackup", "thickness"}))


def one_sided(ground: Ground) -> Iterator[Seed]:
    """The first dielectric is twice as thick, and its mirror is not."""
    stackup = ground.board.stackup
    if stackup is None or not ground.has_stackup:
        return
    rows = [row for row in stackup.layers if row.is_dielectric]
    if len(rows) > 2 and rows[0].thickness_mm:
        edit = set_field(ground.row(rows[0]), "thickness", number_text(2 * rows[0].thickness_mm))
        yield Seed(edits=(edit,), names=frozenset({rows[0].name}))


def other_dk_on_one_side(ground: Ground) -> Iterator[Seed]:
    """The last dielectric has a Dk of another material: the defect of sinara-hw/Urukul#54."""
    stackup = ground.board.stackup
    if stackup is None or not ground.has_stackup:
        return
    rows = [row for row in stackup.layers if row.is_dielectric]
    if len(rows) > 2 and rows[-1].plies[0].dk:
        edit = set_field(ground.row(rows[-1]), "epsilon_r", number_text(1.15 * rows[-1].plies[0].dk))
        yield Seed(edits=(edit,), names=frozenset({rows[-1].name}))


def without_thickness(ground: Ground) -> Iterator[Seed]:
    """A dielectric without thickness."""
    for row in _rows(ground, "complete", _is_dielectric):
        found = ground.row(row).find("thickness")
        if found is not None:
            yield Seed(edits=(Edit(found.start, found.end, ""),), names=frozenset({row.name}))


def without_copper_row(ground: Ground) -> Iterator[Seed]:
    """An inner copper layer is missing from the stackup."""
    for row in _rows(ground, "layers", lambda one: one.kind is LayerKind.COPPER and one.name.startswith("In")):
        yield Seed(edits=(ground.removed(row.offset),), names=frozenset({row.name}))


def all_cores(ground: Ground) -> Iterator[Seed]:
    """Every prepreg is called a core: nothing holds the layers together."""
    stackup = ground.board.stackup
    if stackup is None or not ground.has_stackup:
        return
    rows = [row for row in stackup.layers if row.kind is LayerKind.PREPREG]
    edits = tuple(set_field(ground.row(row), "type", '"core"') for row in rows)
    if edits:
        yield Seed(edits=edits, names=frozenset(row.name for row in stackup.layers if row.is_dielectric))


def low_dk_laminate(ground: Ground) -> Iterator[Seed]:
    """A row names Megtron 6, and the Dk stays that of FR4."""
    for row in _rows(ground, "laminate", _is_dielectric):
        item = ground.row(row)
        edits = (set_field(item, "material", quoted("Megtron 6")), set_field(item, "epsilon_r", "4.6"))
        yield Seed(edits=edits, names=frozenset({row.name, "Megtron 6"}))


SHEET_MM = 0.4
"""No glass style is thicker: a prepreg that is was broken before."""


def _is_sheet(row: StackupLayer) -> bool:
    return row.kind is LayerKind.PREPREG and (row.thickness_mm or 1.0) <= SHEET_MM


def thin_prepreg(ground: Ground) -> Iterator[Seed]:
    """A prepreg of 0.03 mm; a finding names the copper layers on its sides."""
    stackup = ground.board.stackup
    for row in _rows(ground, "thin", _is_sheet):
        assert stackup is not None
        names = [one.name for one in stackup.layers]
        above, below = names[names.index(row.name) - 1], names[names.index(row.name) + 1]
        edit = set_field(ground.row(row), "thickness", "0.03")
        yield Seed(edits=(edit,), names=frozenset({row.name, f"{above} to {below}"}))


KINDS = (
    Kind(name="core 0.2 mm thicker than the board has room", rules=("STK005",), make=thicker_core),
    Kind(name="first dielectric twice as thick as the last", rules=("STK006",), make=one_sided),
    Kind(name="Dk of the last dielectric 15 % higher", rules=("STK006",), make=other_dk_on_one_side),
    Kind(name="Dk of 46 for 4.6", rules=("STK012",), make=_set("dk", "epsilon_r", "46")),
    Kind(name="Df of 0.2 for 0.02", rules=("STK013",), make=_set("df", "loss_tangent", "0.2")),
    Kind(
        name="solder mask of 0.1 mm",
        rules=("STK014",),
        make=_set("mask", "thickness", "0.1", lambda row: row.kind is LayerKind.MASK),
    ),
    Kind(name="prepreg sheet of 0.7 mm", rules=("STK015",), make=_set("sheet", "thickness", "0.7", _is_sheet)),
    Kind(name="prepreg of 0.03 mm", rules=("FAB007",), make=thin_prepreg),
    Kind(name="prepregs called cores", rules=("STK016",), make=all_cores),
    Kind(
        name="inner copper of 0.025 mm",
        rules=("STK017",),
        make=_set("foil", "thickness", "0.025", lambda row: row.name.startswith("In") and not row.is_dielectric),
    ),
    Kind(name="dielectric without thickness", rules=("STK003",), make=without_thickness),
    Kind(name="copper layer missing from the stackup", rules=("STK002",), make=without_copper_row),
    Kind(name="Megtron 6 with the Dk of FR4", rules=("MAT005",), make=low_dk_laminate),
)
