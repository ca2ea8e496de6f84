"""Every dielectric ply of a stackup, looked up in the catalogue by the material that is declared or in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drc_rules.facts.declared import Declarations
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import lone_row, rows_at_fault
from drc_rules.settings.config import DielectricDeclaration
from stackup_lib.board.board import LayerKind, Stackup, StackupLayer
from stackup_lib.core.facts import Origin
from stackup_lib.core.stopwatch import timed
from stackup_lib.materials import Catalogue


@timed("materials")
def resolve_plies(
    stackup: Stackup | None, declarations: Declarations, catalogue: Catalogue, *, trust_file: bool
) -> tuple[DielectricPly, ...]:
    """Return every dielectric ply of a stackup, top to bottom.

    Args:
        stackup: None gives no plies.
        declarations: what the user declared; it wins over the file.
        catalogue: where material texts are looked up.
        trust_file: False for KiCad's untouched default stackup, whose material texts declare nothing.
    """
    plies: list[DielectricPly] = []
    faults = rows_at_fault(stackup) if trust_file else {}
    lone = lone_row(stackup)
    copper = -1
    for row in stackup.layers if stackup else ():
        if row.kind is LayerKind.COPPER:
            copper += 1
        elif row.is_dielectric:
            found = _plies_of(row, copper, declarations, catalogue, trust_file=trust_file)
            plies += [replace(ply, fault=faults.get(row.name, ""), is_lone=row.name == lone) for ply in found]
    return tuple(plies)


def _declared(of: Mapping[str, DielectricDeclaration], row: str, label: str) -> DielectricDeclaration:
    """Return what is declared of a ply: by its own name, else of the whole row."""
    whole, own = of.get(row, DielectricDeclaration()), of.get(label) if label != row else None
    return whole.model_copy(update=own.model_dump(include=own.model_fields_set)) if own else whole


def _plies_of(
    row: StackupLayer, copper: int, declarations: Declarations, catalogue: Catalogue, *, trust_file: bool
) -> list[DielectricPly]:
    plies = []
    for label, ply in zip(row.ply_names, row.plies, strict=True):
        declaration = _declared(declarations.config.declared.dielectric, row.name, label)
        stated, origin = declaration.material or "", Origin.DECLARED
        if not stated:
            stated, origin = (ply.material or "") if trust_file else "", Origin.FILE
        plies.append(
            DielectricPly(
                row=row.name,
                label=label,
                kind=row.kind,
                above=copper,
                below=copper + 1,
                in_file=ply,
                stated=stated,
                match=catalogue.find(stated) if stated else None,
                origin=origin,
                declaration=declaration,
                declarations=declarations,
                trusted=trust_file,
            )
        )
    return plies
