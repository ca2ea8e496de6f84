"""A stricter link is never judged more mildly: what fails as one generation fails as every later one."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from drc_rules.analysis.loss.loss_shares import documented_share
from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.requirements.interfaces import Interface, families, family, interface
from drc_rules.requirements.interfaces.inherit import with_inherited
from drc_rules.requirements.interfaces.model import Family
from drc_rules.requirements.profiles.profile import assemble, load_profile, profile_names
from stackup_lib.core.errors import ConfigError
from stackup_lib.materials import FoilGrade, LossClass
from tests.support.each import each
from tests.support.mini import mini_file

FAST = tuple(of.id for of in families() if of.fast)
WORDS = {"laminate_class": LossClass, "foil": FoilGrade}
PROFILES = ("training-b200", "inference-pcie", "edge")


def steps(family_id: str) -> Iterator[tuple[Interface, Interface]]:
    """Generations of a family and the ones after them; C2C is slower than what stands before it."""
    for slower, faster in pairwise(family(family_id).interfaces):
        if faster.rate > slower.rate and (faster.nyquist_ghz or 0.0) >= (slower.nyquist_ghz or 0.0):
            yield slower, faster


def across() -> Iterator[tuple[Interface, Interface]]:
    """Links, and the ones whose electrical layer they have, or which they name within their family."""
    for of in families():
        for one in of.interfaces:
            layers = [one.electrical_layer] if one.electrical_layer else []
            named = [name for name in one.at_least_as if interface(name).family == one.family]
            yield from ((interface(name), one) for name in (*layers, *named))


STEPS = [*(step for family_id in FAST for step in steps(family_id)), *across()]
FOREIGN = [
    (interface(name), one)
    for of in families()
    for one in of.interfaces
    for name in one.at_least_as
    if interface(name).family != one.family
]
"""Links, and the slower ones of other families that they name."""


def errors_of(profile: str, one: Interface) -> list[Clause]:
    found = assemble(load_profile(profile), None, [one.id], []).clauses
    return [
        c for c in found if c.severity is Severity.ERROR and c.interface == one.id and c.kind != "interface_present"
    ]


def is_as_strict(clause: Clause, other: Clause) -> bool:
    """True where whatever meets the clause meets the other: by class, by number, by what is required."""
    mine, its, words = clause.limit, other.limit, WORDS.get(other.kind)
    if words:
        return words(mine.at_least) >= words(its.at_least)
    return (mine.max or 0.0) <= (its.max or 0.0) and mine.required == its.required


@each(step=STEPS, profile=profile_names())
def test_every_error_clause_of_a_link_has_one_as_strict_at_a_faster_link(
    step: tuple[Interface, Interface], profile: str
) -> None:
    """By kind; a Df is a stricter question than a loss class, so it answers for one."""
    slower, faster = step
    later = errors_of(profile, faster)

    for clause in errors_of(profile, slower):
        assert any(c.kind == clause.kind and is_as_strict(c, clause) for c in later), clause.id


def test_there_are_error_clauses_to_compare() -> None:
    """Guards the test above against an empty set."""
    kinds = {c.kind for slower, _ in STEPS for name in ("training", "inference") for c in errors_of(name, slower)}
    assert kinds == {"laminate_class", "laminate_df", "foil", "backdrill", "impedance_tolerance"}


@pytest.mark.parametrize("name", ["eth112g", "eth224g", "ualink200"])
@pytest.mark.parametrize("workload", ["training", "inference"])
def test_links_above_25_ghz_are_warned_of_what_nvlink_requires(workload: str, name: str) -> None:
    """Df, foil, residual stub and tolerance: each cites the row of a link that is no faster, and says so.

    The rows speak of NVLink alone, so what was an error here was one that no document states; one clause of each kind.
    """
    asked = {c.kind: c for c in interface(name).clauses(workload) if "at least as" in c.title}

    assert set(asked) == {"laminate_df", "foil", "backdrill", "impedance_tolerance"}
    assert len([c for c in interface(name).clauses(workload) if c.kind == "impedance_tolerance"]) == 1
    assert asked["laminate_df"].limit.max == (0.003 if name == "eth112g" else 0.002)
    for clause in asked.values():
        assert clause.severity is Severity.WARNING
        assert f"{interface(name).title}, at least as " in clause.title
        assert f"No document states it for {interface(name).title}, so it is no error" in clause.note
        assert clause.source.document != "engineering"


@each(step=FOREIGN, profile=profile_names())
def test_what_only_another_family_is_asked_is_never_an_error(step: tuple[Interface, Interface], profile: str) -> None:
    """An error of a link is stated for one of its own family; the others ask as much, as warnings or more."""
    slower, faster = step
    found = [c for c in assemble(load_profile(profile), None, [faster.id], []).clauses if c.interface == faster.id]

    own = {one.title for one in family(faster.family).interfaces}
    for clause in found:
        of = clause.title.partition(": ")[0].partition(", at least as ")[2]
        assert not of or of in own or clause.severity is not Severity.ERROR, clause.id
    for clause in errors_of(profile, slower):
        assert any(c.kind == clause.kind and is_as_strict(c, clause) for c in found), clause.id


@each(one=[one for of in families() for one in of.interfaces])
def test_an_inherited_clause_says_what_its_severity_says(one: Interface) -> None:
    """`no error` stands next to no error, and an error next to the minimum, or the electrical layer."""
    for row in one.clause:
        if "at least as" in row.title:
            assert ("so it is no error" in row.note) <= (row.severity is not Severity.ERROR)
            if row.severity is Severity.ERROR:
                assert "is the minimum" in row.note or "electrical" in row.note
            else:
                assert "is it an error" not in row.note


def test_cxl_is_asked_what_the_electrical_layer_of_pci_express_is_by_a_document() -> None:
    """CXL 2.0 uses the electricals of PCIe 5.0, CXL 3.0 those of 6.0: the errors stay, with that document."""
    for name, layer in (("cxl2", "pcie5"), ("cxl3", "pcie6")):
        assert interface(name).electrical_layer == layer
        for workload in ("training", "inference"):
            own, its = (
                {(c.kind, c.limit.max, c.severity) for c in interface(of).clauses(workload)} for of in (name, layer)
            )
            assert own == its
        notes = {row.note.partition(" (")[0] for row in interface(name).clause}
        assert notes == {f"{interface(name).title} has the electrical layer of {interface(layer).title}"}


def test_pcie_gen7_keeps_the_errors_of_pci_express_and_is_warned_of_nvlinks_df() -> None:
    """Ultra-low-loss laminate and backdrill are Gen6's, of its own family; Df and VLP foil are NVLink 4's."""
    asked = {c.kind: c.severity for c in interface("pcie7").clauses("training")}

    assert (asked["laminate_class"], asked["backdrill"]) == (Severity.ERROR, Severity.ERROR)
    assert (asked["laminate_df"], asked["foil"]) == (Severity.WARNING, Severity.WARNING)


def test_gen6_is_asked_what_gen5_is_in_inference() -> None:
    """The same four error clauses, with the word that the limit is Gen5's."""
    gen5, gen6 = (
        {c.id.rpartition(".")[0]: c for c in interface(name).clauses("inference") if c.severity is Severity.ERROR}
        for name in ("pcie5", "pcie6")
    )

    assert (
        set(gen6) == set(gen5) == {f"inference.{w}" for w in ("laminate_min", "backdrill", "impedance_tolerance_max")}
    )
    assert gen6["inference.backdrill"].title == "PCIe Gen6, at least as PCIe Gen5: vias backdrilled, stub <= 0.25 mm"


def test_c2c_and_slow_links_inherit_nothing() -> None:
    """NVLink-C2C stands last in its family and is slower than NVLink 4; Gen4 requires no backdrill."""
    assert interface("nvlink-c2c").clauses("training") == ()
    assert [c for c in interface("pcie4").clauses("training") if c.severity is Severity.ERROR] == []
    assert "training.stub.pcie5" not in {c.id for c in interface("pcie5").clauses("training")}


def test_a_future_generation_inherits_by_construction() -> None:
    """A PCIe Gen8 without a row of its own has the requirements of Gen7; one that names a faster link is refused."""
    pcie = family("pcie")
    gen7 = pcie.interfaces[-1]
    gen8 = gen7.model_copy(
        update={"id": "pcie8", "title": "PCIe Gen8", "rate": 256.0, "nyquist_ghz": 64.0, "clause": ()}
    )
    others = [of for of in families() if of.id != "pcie"]

    grown = with_inherited([*others, Family(**{**dict(pcie), "interface": (*pcie.interfaces, gen8)})])

    found = next(of for of in grown if of.id == "pcie").interfaces[-1]
    assert {c.kind for c in found.clauses("training")} == {c.kind for c in gen7.clauses("training")}
    slow = gen8.model_copy(update={"nyquist_ghz": 20.0})
    with pytest.raises(ConfigError, match="no slower link"):
        with_inherited([*others, Family(**{**dict(pcie), "interface": (*pcie.interfaces, slow)})])


# --- on a board ---


STACKUP = "\n".join(
    [
        "F.Cu 0.0175",
        *(f'{"core" if i % 2 else "prepreg"} 0.2 "370HR"\nIn{i}.Cu 0.0175' for i in range(1, 7)),
        'prepreg 0.2 "370HR"',
        "B.Cu 0.0175",
    ]
)


@functools.cache
def judged(one: str, profile: str) -> dict[str, list[ClauseVerdict]]:
    """Verdicts by kind on a board of 370HR with standard foil and no backdrill, requested at +-15 %."""
    nets = [f"/X_TX0_{sign}" for sign in "PN"]
    role = 'role = "add_in_card"' if one in ("pcie5", "pcie6") else ""
    board = {
        "size_mm": (340, 60),
        "stackup": STACKUP,
        "planes": {"In1.Cu": "GND", "In3.Cu": "GND", "In5.Cu": "GND"},
        "tracks": [
            {"net": net, "layer": "In2.Cu", "width_mm": 0.1, "path_mm": [[20, 10 + k], [320, 10 + k]]}
            for k, net in enumerate(nets)
        ],
        "vias": [{"net": net, "at_mm": [x, 10 + k]} for k, net in enumerate(nets) for x in (20, 320)],
        "parts": [pads("U1", 20, nets), pads("J1", 320, nets)],
        "config": (
            f'[declared]\nfoil = "STD"\nimpedance_tolerance_pct = 15\n[[interface]]\nis = "{one}"\n'
            f'nets = ["/X_*"]\n{role}\n'
            '[[impedance]]\nohm = 100\nkind = "differential"\nnets = ["/X_*"]\n'  # targets differ, not strictness
        ),
    }
    path = mini_file(Path(tempfile.mkdtemp()), board)
    found: dict[str, list[ClauseVerdict]] = {}
    for verdict in check_board(path, overrides=Overrides(profile=profile)).verdicts:
        found.setdefault(verdict.clause.kind, []).append(verdict)
    return found


def pads(reference: str, x_mm: float, nets: list[str]) -> dict[str, object]:
    """A part whose pads lie on the vias of the pair."""
    one = {"size_mm": [0.3, 0.3], "layers": ["F.Cu"]}
    rows = [{"number": f"{k}", "net": net, "at_mm": [0, k], **one} for k, net in enumerate(nets)]
    return {"reference": reference, "at_mm": [x_mm, 10], "pads": rows}


def failed(one: str, profile: str) -> set[str]:
    return {
        kind
        for kind, verdicts in judged(one, profile).items()
        if any(v.verdict is Verdict.FAILED and v.worst is Severity.ERROR for v in verdicts)
    }


def undecided(one: str, profile: str) -> set[str]:
    return {
        kind
        for kind, verdicts in judged(one, profile).items()
        if any(v.verdict is Verdict.NOT_VERIFIABLE for v in verdicts)
    }


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[0].id}-{step[1].id}")
def test_what_fails_as_one_generation_fails_as_the_next(step: tuple[Interface, Interface], profile: str) -> None:
    """The same board: an error clause that failed does not pass, nor vanish, as a faster link.

    Of a faster link no document may state the board's share of its loss: then the user has to state it.
    """
    slower, faster = step

    gone = failed(slower.id, profile) - failed(faster.id, profile) - {"interface_present"}

    assert gone <= {"link_loss"}, gone
    if gone:
        assert {"link_loss", "link_loss_assumed"} & undecided(faster.id, profile)


def test_the_board_fails_as_gen6_what_it_fails_as_gen5() -> None:
    """Laminate, backdrill and tolerance, in inference as in training; there is something to lose."""
    for profile in ("inference-pcie", "training-b200"):
        assert {"laminate_class", "backdrill", "impedance_tolerance"} <= failed("pcie5", profile)
        assert failed("pcie5", profile) - {"interface_present"} <= failed("pcie6", profile)


def test_the_loss_share_of_gen5_is_the_most_that_gen6_may_have() -> None:
    """No document states Gen6's 8.5 dB, so it only warns; beyond Gen5's 9.5 dB at the same Nyquist it is an error."""
    assert "link_loss" in failed("pcie5", "inference-pcie")
    assert "link_loss" in failed("pcie6", "inference-pcie")
    gen6 = documented_share(interface("pcie6"), "add_in_card", None)
    assert gen6 is not None
    assert (gen6.db, gen6.document, gen6.interface.id) == (9.5, "nvidia-connectx8", "pcie5")
    assert documented_share(interface("pcie7"), "add_in_card", None) is None
    assert documented_share(interface("pcie4"), "add_in_card", None) is None
