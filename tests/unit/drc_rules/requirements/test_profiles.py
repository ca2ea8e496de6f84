"""Profiles, forms and fab tiers as data, and how they come together to the clauses of one board."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from drc_rules.analysis.loss.df_limit import meets
from drc_rules.explain.accelerators import accelerators
from drc_rules.explain.workloads import choices_for, workloads
from drc_rules.requirements.clauses import Clause, Severity, Source
from drc_rules.requirements.documents import cite, document, documents
from drc_rules.requirements.fabs import Tier, track_space, track_space_source, track_spaces
from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.requirements.fabs.cam import CamLimits, cam_limits
from drc_rules.requirements.forms import forms, load_form
from drc_rules.requirements.interfaces import families, interface, interface_ids
from drc_rules.requirements.profiles.profile import Requirements, assemble, load_profile, profile_names
from stackup_lib.core.errors import ConfigError
from stackup_lib.materials import FoilGrade, LossClass, catalogue
from tests.support.each import each

ALIASES = {
    "training-h100": ("training", {"nvlink": "nvlink4", "pcie": "pcie5"}),
    "training-b200": ("training", {"nvlink": "nvlink5", "pcie": "pcie6"}),
    "training-nvswitch": ("training", {"nvlink": "nvlink5"}),
    "inference-workstation": ("inference", {}),
    "inference-pcie": ("inference", {"pcie": "pcie5"}),
    "inference-sxm-oam": ("inference", {"pcie": "pcie5", "nvlink": "nvlink4", "xgmi": "xgmi4"}),
    "inference-rack": ("training", {"nvlink": "nvlink5", "pcie": "pcie6"}),
}


def clauses_of(name: str, *interfaces: str, open_families: tuple[str, ...] = ()) -> dict[str, Clause]:
    return {c.id: c for c in assemble(load_profile(name), None, interfaces, open_families).clauses}


def own_profile(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


# --- shipped profiles ---


def test_all_profiles_are_there() -> None:
    """Workloads first, then types of boards."""
    assert profile_names() == ("edge", "inference", "training", *sorted(ALIASES))


@pytest.mark.parametrize("name", ALIASES)
def test_an_alias_is_a_workload_with_the_interfaces_of_its_boards(name: str) -> None:
    """What the documents say that such a board carries."""
    workload, carries = ALIASES[name]
    profile = load_profile(name)
    assert (profile.workload, dict(profile.interfaces)) == (workload, carries)
    assert {"board", workload} <= set(profile.extends)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("training", 20),
        ("inference", 12),
        ("edge", 4),
        ("training-h100", 20),
        ("training-b200", 24),
        ("training-nvswitch", 32),
        ("inference-workstation", 8),
        ("inference-pcie", 12),
        ("inference-sxm-oam", 16),
        ("inference-rack", 24),
    ],
)
def test_least_layer_count_by_type_of_board(name: str, least: int) -> None:
    """The type of board's own value takes the place of the workload's."""
    counts = [c for c in clauses_of(name).values() if c.kind == "layer_count" and c.severity is Severity.ERROR]
    assert [c.limit.min for c in counts] == [least]


@pytest.mark.parametrize(
    ("workload", "tg", "copper"),
    [
        ("training", [(170, "error"), (180, "warning")], [(2, "error")]),
        ("inference", [(150, "error"), (170, "warning")], [(1, "error")]),
        ("edge", [(130, "error"), (150, "info")], [(1, "info")]),
    ],
)
def test_tg_and_power_copper_by_workload(
    workload: str, tg: list[tuple[float, str]], copper: list[tuple[float, str]]
) -> None:
    """A range is two clauses; edge's upper Tg and its copper are information."""
    found = clauses_of(workload).values()
    assert [(c.limit.min, c.severity.value) for c in found if c.kind == "tg"] == tg
    weights = [c for c in found if c.kind == "power_copper_oz" and c.limit.min is not None]
    assert [(c.limit.min, c.severity.value) for c in weights] == copper


def test_a_pcie_card_of_many_layers_is_a_remark_then_a_warning() -> None:
    """17 to 20 layers are information, more than 20 a warning, none an error."""
    above = [c for c in clauses_of("inference-pcie").values() if c.kind == "layer_count_above"]
    assert {(c.limit.max, c.severity.value) for c in above} == {(16, "info"), (20, "warning")}


def test_a_board_type_drops_the_general_preference() -> None:
    """An H100 baseboard of 20 layers is as it should be; the general value of 24 does not warn there."""
    assert "training.layers.preferred" in clauses_of("training")
    assert "training.layers.preferred" not in clauses_of("training-h100")


@pytest.mark.parametrize("name", profile_names())
def test_class_words_of_limits_are_words_of_the_catalogue(name: str) -> None:
    """A loss class or a foil grade that the catalogue does not have would raise in a rule."""
    everything = clauses_of(
        name, *load_profile("inference-sxm-oam").interfaces.values(), "nvlink5", "pcie4", "pcie6", "eth112g"
    )
    for clause in everything.values():
        if clause.kind == "laminate_class":
            assert LossClass(clause.limit.at_least)
        if clause.kind == "foil":
            assert FoilGrade(clause.limit.at_least)


def test_laminates_that_rows_name_are_in_the_catalogue() -> None:
    """A row's laminate meets it by name, so the name must mean something."""
    everything = clauses_of("training", "nvlink4", "nvlink5", "pcie5", "pcie6", "eth112g", "xgmi4")
    named = {name for clause in everything.values() for name in clause.limit.named}
    assert {"Megtron 6E", "Megtron 7", "Tachyon 100G"} <= named
    assert [name for name in named if catalogue().find(name).laminate is None] == []


def test_the_df_limits_of_nvlink_are_read_at_10_ghz() -> None:
    """0.003 and 0.002; 10 % above them are allowed, and no rounding."""
    found = clauses_of("training", "nvlink4", "nvlink5")
    for name, most in (("nvlink4", 0.003), ("nvlink5", 0.002)):
        limit = found[f"training.df.{name}"].limit
        assert (limit.max, limit.at_ghz, limit.decimals) == (most, 10, None)
        assert [meets(df, most) for df in (most, 1.1 * most, 1.2 * most)] == [True, True, False]


def test_an_unknown_profile_says_which_is_nearest() -> None:
    """And that a file of one's own will do."""
    with pytest.raises(ConfigError, match=r'did you mean "training-b200"\? Or give the path'):
        load_profile("training-b20")
    with pytest.raises(ConfigError, match=r"known: edge, inference, .*training-nvswitch; or give the path"):
        load_profile("qqqq")


# --- a user's own profile ---

MINE = """
title = "Acme training board"
extends = ["training-b200"]
form = "oam"
drop = ["training.board_size", "training.backdrill.pcie6"]

[[clause]]
id = "training.tg.min"
kind = "tg"
title = "Tg of 200 C or more"
severity = "error"
limit = { min = 200, unit = "C" }
source = { document = "Acme standard 12", table = "3" }

[[clause]]
id = "training.df.nvlink5"
kind = "laminate_df"
title = "Df of 0.0015 or less"
severity = "error"
limit = { max = 0.0015, at_ghz = 10 }
interface = "nvlink5"
source = { document = "Acme standard 12", table = "4" }
"""


def test_a_users_profile_extends_replaces_and_drops(tmp_path: Path) -> None:
    """Clauses of the base and of the interfaces alike, by their ids."""
    profile = load_profile(own_profile(tmp_path, MINE))
    found = {c.id: c for c in assemble(profile, None, ["nvlink5", "pcie6"], []).clauses}

    assert (profile.workload, profile.form, profile.extends[-1]) == ("training", "oam", "training-b200")
    assert found["training.tg.min"].limit.min == 200
    assert found["training.df.nvlink5"].limit.max == 0.0015
    assert found["training.layers.min"].limit.min == 24
    assert not {"training.board_size", "training.backdrill.pcie6"} & set(found)
    assert cite(found["training.tg.min"].source) == "Acme standard 12, 3"


def test_a_dropped_clause_can_be_stated_anew(tmp_path: Path) -> None:
    """What a base drops, a profile on top of it may demand after all."""
    text = MINE.replace("training-b200", "training-h100").replace("training.tg.min", "training.layers.preferred")
    profile = load_profile(own_profile(tmp_path, text))
    assert "training.layers.preferred" in [c.id for c in assemble(profile, None, [], []).clauses]


def test_a_users_clause_for_an_interface_waits_for_the_interface(tmp_path: Path) -> None:
    """Without NVLink nets its Df clause does not apply."""
    profile = load_profile(own_profile(tmp_path, MINE))
    found = [c.id for c in assemble(profile, None, [], []).clauses]
    assert "training.df.nvlink5" not in found


def test_profiles_extend_their_neighbours_by_path(tmp_path: Path) -> None:
    """Relative to the file that says so, not to where the command runs."""
    own_profile(tmp_path, MINE)
    near = own_profile(tmp_path, 'title = "Second"\nextends = ["mine.toml"]\n', "second.toml")
    assert {c.id: c for c in load_profile(near).clauses}["training.tg.min"].limit.min == 200


def test_what_one_base_does_not_say_another_does(tmp_path: Path) -> None:
    """A house style that names no workload, form or interfaces, after a board's profile, takes none of them away."""
    own_profile(tmp_path, 'title = "House style"\n', "house.toml")
    own_profile(tmp_path, MINE)
    profile = load_profile(own_profile(tmp_path, 'title = "x"\nextends = ["mine.toml", "house.toml"]\n', "both.toml"))
    found = {c.id: c for c in assemble(profile, None, [], []).clauses}

    assert (profile.workload, profile.form) == ("training", "oam")
    assert found["training.present.nvlink5"].source == load_profile("training-b200").interfaces_source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "x"\nextend = ["training"]', r'unknown key "extend"; did you mean "extends"\?'),
        ('title = "x"\nextends = ["trainng"]', r'did you mean "training"\?'),
        ('extends = ["training"]', '"title" is missing'),
        ('title = "x"\nextends = ["mine.toml"]', "rests on itself"),
        ('title = "x"\nextends = ["other.toml"]', "there is no such profile file"),
        ("title = ", "is not valid TOML"),
        ('title = "x"\nworkload = "mining"', '"workload"'),
        ('title = "x"\ninterfaces = { pcie = "pcie5" }', "interfaces_source"),
        (
            'title = "x"\ninterfaces = { pcie = "nvlink5" }\ninterfaces_source = { document = "d", row = "r" }',
            "nvlink5 is no pcie",
        ),
        (
            'title = "x"\n[[clause]]\nid = "a.b"\nkind = "tg"\ntitle = "t"\nseverity = "error"\n'
            'source = { document = "d" }',
            '"clause.1": its source has neither table nor row',
        ),
        (
            'title = "x"\n[[clause]]\nid = "a.b"\nkind = "tg"\ntitle = "t"\nseverity = "error"\nsource = "our rules"',
            r'"clause.1.source" is a table; write source = \{ document = ..., table = ..., row = ... \}',
        ),
        (
            'title = "x"\n[[clause]]\nid = "a.b"\nkind = "layer_cont"\ntitle = "t"\nseverity = "error"\n'
            'source = { document = "d", row = "r" }',
            r'no clause is of kind "layer_cont"; did you mean "layer_count"\?',
        ),
        (
            'title = "x"\n[[clause]]\nid = "a.b"\nkind = "foil"\ntitle = "t"\nseverity = "error"\n'
            'source = { document = "d", row = "r" }\nlimit = { at_least = "smooth" }',
            "at_least is one of STD, RTF, LP, VLP, HVLP",
        ),
        (
            'title = "x"\n[[clause]]\nid = "a.b"\nkind = "tg"\ntitel = "t"\nseverity = "error"\n'
            'source = { document = "d", row = "r" }',
            r'unknown key "clause.1.titel"; did you mean "title"\?',
        ),
    ],
)
def test_a_broken_profile_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    """File, what is wrong, what to do."""
    with pytest.raises(ConfigError, match=message) as error:
        load_profile(own_profile(tmp_path, text))
    assert "\n" not in str(error.value).replace(text, "")


# --- assembly ---


def test_without_a_workload_only_the_board_itself_is_judged() -> None:
    """Nothing is demanded without a source, whatever interfaces are there."""
    found = assemble(None, None, ["pcie5", "nvlink5"], ["pcie"])
    assert {c.id.split(".")[0] for c in found.clauses} == {"board"}


def test_interface_clauses_come_with_their_interface() -> None:
    """No NVLink on the board, no NVLink clause but the question where it is."""
    assert [c for c in clauses_of("training-b200", "pcie6") if "nvlink5" in c] == ["training.present.nvlink5"]
    with_it = clauses_of("training-b200", "pcie6", "nvlink5")
    assert {"training.df.nvlink5", "training.foil.nvlink5", "training.backdrill.nvlink5"} <= set(with_it)
    assert "training.present.nvlink5" not in with_it


def test_an_unknown_generation_is_a_question_with_its_answer() -> None:
    """One clause per family; it names the generations. Slow families ask nothing."""
    found = assemble(load_profile("inference"), None, [], ["pcie", "usb3", "displayport"])

    asked = [c for c in found.clauses if c.kind == "interface_generation"]
    assert [(c.id, c.interface, c.severity.value) for c in asked] == [("inference.generation.pcie", "pcie", "error")]
    assert asked[0].limit.choices == ("pcie1", "pcie2", "pcie3", "pcie4", "pcie5", "pcie6", "pcie7")


def test_a_family_of_unknown_generation_is_not_absent() -> None:
    """NVLink nets are there; only which NVLink is open."""
    found = clauses_of("training-b200", "pcie6", open_families=("nvlink",))
    assert "training.present.nvlink5" not in found
    assert "training.generation.nvlink" in found


def test_edge_boards_are_asked_for_the_generation_of_pcie_only_and_never_as_an_error() -> None:
    """What Gen5 asks holds whatever the workload, but the edge column says otherwise: a warning."""
    found = clauses_of("edge", open_families=("pcie", "usb3"))
    assert [c for c in found if "generation" in c] == ["edge.generation.pcie"]
    assert found["edge.generation.pcie"].severity is Severity.WARNING


def test_what_such_a_board_may_carry_is_not_missed() -> None:
    """An OAM baseboard has xGMI or NVLink, not both; only PCIe is expected of each."""
    absent = [c for c in clauses_of("inference-sxm-oam") if ".present." in c]
    assert absent == ["inference.present.pcie5"]


def test_a_profile_row_speaks_for_interfaces_without_their_own() -> None:
    """xGMI at 16 GHz gets the profile's laminate and foil; PCIe Gen5 has its own, SATA is too slow."""
    found = clauses_of("training", "xgmi4", "pcie5", "sata3", "nvlink5")
    assert found["training.laminate.xgmi4"].severity is Severity.WARNING
    assert found["training.laminate.xgmi4"].interface == "xgmi4"
    assert found["training.foil.xgmi4"].limit.at_least == "VLP"
    assert found["training.laminate.pcie5"].severity is Severity.ERROR
    assert not {"training.laminate.sata3", "training.foil.sata3", "training.laminate.nvlink5"} & set(found)
    assert "training.laminate" not in found


def test_ids_are_unique_and_order_is_stable() -> None:
    """The same demands, the same report."""
    first = assemble(load_profile("training-b200"), load_form("oam"), ["nvlink5", "pcie6", "eth112g"], ["usb3"])
    second = assemble(load_profile("training-b200"), load_form("oam"), {"pcie6", "eth112g", "nvlink5"}, {"usb3"})
    ids = [c.id for c in first.clauses]
    assert len(ids) == len(set(ids))
    assert first == second


def test_an_empty_requirement_set_is_a_value() -> None:
    """Callers may build one for a board without any demand."""
    assert Requirements(()).form is None


# --- forms ---


def test_a_pcie_card_is_62_mil_give_or_take_6() -> None:
    """1.57 mm nominal; Intel's guide allows 56 to 68 mil."""
    limit = next(c.limit for c in load_form("pcie-fhhl").clauses() if c.kind == "form_thickness")
    assert limit.min == pytest.approx(56 * 0.0254, abs=0.005)
    assert limit.max == pytest.approx(68 * 0.0254, abs=0.005)
    assert load_form("pcie-fhhl").size_mm == (167.65, 111.15)


@each(name=sorted(forms()))
def test_a_form_never_fails_a_board(name: str) -> None:
    """Edges can be milled and outlines cut: warnings at most. Every source is a known document."""
    form = load_form(name)
    assert {c.severity for c in form.clauses()} <= {Severity.WARNING}
    assert {c.source.document for c in form.clauses()} | set(form.sources.values()) <= set(documents())
    assert [field for field in form.sources if not getattr(form, field)] == []
    if form.thickness_mm and form.thickness_range_mm:
        assert form.thickness_range_mm[0] < form.thickness_mm < form.thickness_range_mm[1]


def test_forms_that_documents_name_are_there() -> None:
    """Those that profiles and users write; an unknown one says which is nearest."""
    promised = {"pcie-fhfl", "pcie-fhhl", "pcie-hhhl", "m2-2280", "oam", "ubb", "sxm", "hgx", "jetson-carrier"}
    assert promised <= set(forms())
    with pytest.raises(ConfigError, match=r'did you mean "pcie-fhfl"'):
        load_form("pcie-fhf")


@pytest.mark.parametrize("name", profile_names())
def test_the_form_of_a_profile_exists(name: str) -> None:
    """A profile that names a form names one of ours; none has unpublished dimensions."""
    form = load_profile(name).form
    if form is not None:
        assert load_form(form)
    assert load_form("sxm").clauses() == ()


# --- fabs ---


def test_track_and_space_grow_with_copper_and_shrink_with_the_tier() -> None:
    """Thicker copper etches coarser; a better fab etches finer."""
    rows = track_spaces()
    assert [r.copper_oz for r in rows] == sorted(r.copper_oz for r in rows)
    for lighter, heavier in itertools.pairwise(rows):
        assert all(heavier.least_mm(tier) > lighter.least_mm(tier) for tier in Tier)
    for row in rows:
        assert row.least_mm(Tier.BEST) <= row.least_mm(Tier.ADVANCED) <= row.least_mm(Tier.STANDARD)


def test_track_and_space_as_fabs_print_them() -> None:
    """1 oz: 5 mil standard, 0.1 mm at Multi-CB, 3.5 mil at Optima; no row for what is not stated."""
    row = track_space(1)
    assert row is not None
    assert (row.standard_mm, row.advanced_mm, row.best_mm) == (0.127, 0.100, 0.089)
    assert track_space(5) is None
    assert track_space_source() in documents()


# --- documents ---


def test_a_source_is_cited_in_words() -> None:
    """Publisher, title, table, row."""
    source = Source(document="intel-41210", table="stackup", row="62 mil")
    assert cite(source) == "Intel: 41210 PCI bridge design guide, add-in card stackup, stackup, 62 mil"


def test_every_document_is_referred_to() -> None:
    """A document that nothing rests on is dead weight, or the sign of a misspelt key."""
    used = {"engineering", track_space_source(), build_rules().source}
    used |= {getattr(cam_limits(), name).source.document for name in CamLimits.model_fields}
    used |= {one for form in forms().values() for one in form.sources.values()}
    for one in map(interface, interface_ids()):
        used |= {*one.sources.values(), *(row.source.document for row in one.clause)}
    used |= {one.swap for one in families()}
    for name in profile_names():
        profile = load_profile(name)
        used |= {c.source.document for c in (*profile.clauses, *profile.per_interface)}
    used |= {accelerator.source.document for accelerator in accelerators()}
    used |= {row.source.document for word in workloads() for row in choices_for(word, None)}
    assert sorted(set(documents()) - used) == []


def test_a_single_document_is_read_as_in_the_whole_file() -> None:
    """A check cites a few and reads no others."""
    assert {key: document(key) for key in documents()} == documents()
    assert document("none") is None


def test_documents_are_graded_by_who_wrote_them() -> None:
    """NextPCB's pages sell boards; a standard and a maker's guide do not."""
    assert {d.trust.value for key, d in documents().items() if key.startswith("nextpcb")} == {"marketing-grade"}
    assert documents()["intel-41210"].trust.value == "primary"
