"""What makers tabulate can be made: the limits of `impossible-prepreg` against every construction table."""

from drc_rules.requirements.fabs.stackups.load import named_stackups
from drc_rules.rules.stackup.impossible_prepreg import ALLOWANCE, MOST_GLASS, RICHEST_PCT
from stackup_lib.materials import catalogue
from stackup_lib.materials.model import Construction, ConstructionKind
from stackup_lib.materials.pressing import cloth_thickness_mm, solid_glass_mm, thickest_ply_mm
from stackup_lib.materials.words import written_resin_content_pct


def _tabulated() -> list[tuple[str, Construction, float, float]]:
    """Prepregs of all tables: family, row, thickness of the cloth and maximum of a ply by glass and resin, in mm."""
    found = []
    for laminate in catalogue().laminates:
        for row in laminate.constructions:
            if row.kind is not ConstructionKind.PREPREG or not row.style or not row.resin_content_pct:
                continue
            cloth, most = cloth_thickness_mm(row.style), thickest_ply_mm(row.style, row.resin_content_pct)
            if cloth and most:
                found.append((laminate.family, row, cloth, most))
    return found


def test_every_prepreg_of_the_makers_tables_can_be_made() -> None:
    """With half of the allowance, so that sheets that are not in the library pass as well."""
    rows = _tabulated()
    assert len(rows) == 184, "the page of the rule and its clause state this number"
    half = ALLOWANCE / 2
    wrong = []
    for family, row, cloth, most in rows:
        ply = row.thickness_mm / (row.plies or 1)
        if not (1 - half) * cloth <= ply <= (1 + half) * most or most < (1 - half) * cloth:
            wrong.append(f"{family} {row}: cloth {cloth:g} mm, maximum {most:.3f} mm")
    assert not wrong, "\n".join(wrong)


def test_every_prepreg_that_fabs_offer_can_be_made() -> None:
    """Pressed, as one to three sheets: OSH Park's 106 of 0.111 mm are two."""
    sheets = {row for offered in named_stackups() for row in offered.rows if row.kind == "prepreg"}
    found, shares, wrong = catalogue(), [], []
    for sheet in sheets:
        match = found.find(sheet.material)
        if not match.style or not sheet.thickness_mm:
            continue
        cloth, glass = cloth_thickness_mm(match.style), solid_glass_mm(match.style)
        most = thickest_ply_mm(match.style, match.resin_content_pct or RICHEST_PCT)
        assert cloth and glass and most, f"{sheet.material}: no weight or cloth"
        shares.append(glass / sheet.thickness_mm)
        is_thick_enough = glass / MOST_GLASS <= sheet.thickness_mm
        if not is_thick_enough or sheet.thickness_mm > 3 * (1 + ALLOWANCE) * most or most < (1 - ALLOWANCE) * cloth:
            wrong.append(f"{sheet.material}: {sheet.thickness_mm:g} mm")
    assert not wrong, "\n".join(wrong)
    most_glass = [f"{share:.2f}" for share in sorted(shares, reverse=True)[:2]]
    assert (len(shares), most_glass) == (53, ["0.49", "0.43"]), "the page of the rule states these numbers"


def test_no_prepreg_of_the_tables_is_richer_than_what_stands_for_an_unstated_content() -> None:
    assert 75 < max(row.resin_content_pct or 0 for _, row, _, _ in _tabulated()) <= RICHEST_PCT


def test_clause_states_how_thick_the_tables_are_for_their_cloth() -> None:
    ratios = [row.thickness_mm / (row.plies or 1) / cloth for _, row, cloth, _ in _tabulated()]
    assert f"{min(ratios):.2f} {max(ratios):.1f} {len({row.style for _, row, _, _ in _tabulated()})}" == "1.07 2.8 16"


def test_resin_content_is_read_as_written() -> None:
    assert written_resin_content_pct("370HR 1080 RC20%") == 20
    assert written_resin_content_pct("2116, resin content: 55") == 55
    assert written_resin_content_pct("370HR 1080 65%") is None
    assert written_resin_content_pct("RC-filter") is None


def test_every_core_of_the_tables_has_room_for_its_glass() -> None:
    cores = [
        (laminate.family, row, glass)
        for laminate in catalogue().laminates
        for row in laminate.constructions
        if row.kind is ConstructionKind.CORE and row.style and (glass := solid_glass_mm(row.style))
    ]
    wrong = [
        f"{family} {row}" for family, row, glass in cores if row.thickness_mm < (row.plies or 1) * glass / MOST_GLASS
    ]
    assert cores and not wrong, "\n".join(wrong)
