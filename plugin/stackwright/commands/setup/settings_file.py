"""The text of a `stackwright.toml`: what was answered, what was inferred, and a place for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from drc_rules.analysis.power.power_rails import largest_power_nets
from drc_rules.analysis.thermal.hot_parts import candidates
from drc_rules.facts.context import Context
from drc_rules.report.model import TakenAs
from drc_rules.requirements.fabs.presets import presets
from drc_rules.requirements.interfaces import family
from drc_rules.settings.config import parse_config
from drc_rules.settings.declaration import PLACEHOLDER
from drc_rules.settings.net_selection import toml_value
from drc_rules.settings.toml_blocks import blocks_of, put_in
from stackup_lib.core.record import record
from stackwright.text.words import clean, count


@record
class InitAnswers:
    """What the user answered; None where a fact was left open. `generations`: interface by family."""

    profile: str | None = None
    form: str | None = None
    impedance_tolerance_pct: float | None = None
    foil: str | None = None
    generations: dict[str, str] = field(default_factory=dict)


def compose_for(context: Context, profile: str, form: str | None, needed: Sequence[str]) -> str:
    """Return the text of settings for one workload: what it needs, and what was detected, as comments.

    Args:
        context: of the board under that workload.
        profile: its name.
        form: form factor, where the user named one.
        needed: lines that supply what is missing, as `proofs` returns them.
    """
    name = context.board.path.name if context.board.path else "the board"
    stackup = None if context.is_default_stackup else context.board.stackup
    lines = [
        f"# Facts about {clean(name)} that KiCad has no field for.",
        f'# "{PLACEHOLDER}" states nothing: fill it in, or leave it until you know.',
        f"profile = {_value(profile)}",
        *([f"form = {_value(form)}"] if form else []),
        "",
    ]
    tables = list(needed)
    if stackup is not None and any(line.startswith("[declared") for line in tables):
        where = tables.index("[declared]") + 1 if "[declared]" in tables else _before_first_table(tables)
        head = [] if "[declared]" in tables else ["[declared]"]
        hash_lines = [*head, "# the stackup that these facts are about; they count as unknown when it changes"]
        tables[where:where] = [*hash_lines, f"stackup_hash = {_value(stackup.digest)}"]
    for line in tables:
        lines += ["", line] if line.startswith("[") and lines[-1] else [line]
    asked = {f"# {line}" for line in _nets_of_interfaces(needed)}
    groups = _groups(_interfaces(context, InitAnswers()))
    detected = [group for group in groups if "# [[interface]]" in group and asked.isdisjoint(group)]
    text = "\n".join([*lines, *(line for group in detected for line in ("", *group))]).rstrip("\n") + "\n"
    parse_config(text)
    return text


def _nets_of_interfaces(needed: Sequence[str]) -> Iterator[str]:
    """Yield the lines that choose the nets of each `[[interface]]`."""
    table = ""
    for line in needed:
        table = line if line.startswith("[") else table
        if table.startswith("[[interface]]") and line.startswith(("nets =", "net_classes =")):
            yield line


def add_to(settings: str, profile: str, needed: Sequence[str]) -> str:
    """Return settings with a workload, where they name none, and with the needed lines that they do not have yet."""
    text = settings
    if parse_config(settings).profile is None:
        rest = re.sub(r'^profile = "\?".*\n', "", settings, flags=re.MULTILINE)
        text = f"profile = {_value(profile)}\n{rest}"
    blocks = blocks_of(text.splitlines())
    new = [block for block in put_in(blocks, needed) if block]
    text = "\n".join(line for block in blocks for line in block) + "\n"
    if new:
        text = text.rstrip("\n") + f"\n\n# Needed for {profile}:\n" + "\n\n".join("\n".join(b) for b in new) + "\n"
    parse_config(text)
    return text


def open_values(settings: str) -> int:
    """Return how many values are still to be filled in."""
    return len(re.findall(rf'^[^#\n]*= *\[?"{re.escape(PLACEHOLDER)}"', settings, flags=re.MULTILINE))


def _groups(lines: Iterable[str]) -> list[list[str]]:
    """Split lines at the empty ones."""
    found: list[list[str]] = [[]]
    for line in lines:
        found = [*found[:-1], [*found[-1], line]] if line else [*found, []]
    return found


def _before_first_table(lines: Sequence[str]) -> int:
    return next((k for k, line in enumerate(lines) if line.startswith("[")), len(lines))


def compose(context: Context, answers: InitAnswers) -> str:
    """Return the text; it is valid, and declares only what was answered."""
    board = context.board
    name = board.path.name if board.path else "the board"
    lines = [
        f"# What KiCad has no field for: facts about {clean(name)} for Stackwright.",
        f'# A value "{PLACEHOLDER}" declares nothing. Lines behind # are suggestions.',
        "",
        "# Workload, see `stackwright profiles`: training, inference, edge or a board type such as inference-pcie.",
        f"profile = {_value(answers.profile)}",
        "",
        "# Form factor, where the profile does not say it.",
        f"form = {_value(answers.form)}",
        "",
        *_declared(context, answers),
        "",
        *_materials(context),
        *_interfaces(context, answers),
        *_rails(context),
        *_hot_parts(context),
        *_process(),
        *_fab(),
    ]
    text = "\n".join(lines).rstrip("\n") + "\n"
    parse_config(text)
    return text


def _declared(context: Context, answers: InitAnswers) -> Iterator[str]:
    yield "[declared]"
    stackup = None if context.is_default_stackup else context.board.stackup
    if stackup is not None:
        yield "# The facts below hold for the stackup with this hash; when it changes, they count as unknown."
        yield f"stackup_hash = {_value(stackup.digest)}"
    yield "# Impedance tolerance that the fab notes ask for, in percent."
    yield f"impedance_tolerance_pct = {_value(answers.impedance_tolerance_pct)}"
    yield '# Foil of every copper layer: STD, RTF, LP, VLP, HVLP, or a product. One layer: [declared.copper."In1.Cu"]'
    yield f"foil = {_value(answers.foil)}"
    unstated = sorted({p.stated for p in context.plies if p.stated and not p.tg.known})
    if unstated:
        yield f"# Tg in degrees Celsius by DSC: stated by none of: {clean(', '.join(unstated))}"
        yield f"tg_c = {_value(None)}"


def _materials(context: Context) -> Iterator[str]:
    """What each material text means, as comments."""
    plies = {ply.stated: ply for ply in context.plies if ply.stated}
    if not plies:
        return
    yield "# Materials, as the stackup states them:"
    for stated, ply in plies.items():
        match = ply.match
        known = match.laminate.family if match and match.laminate else "not known"
        yield f"#   {clean(stated)}: {known}"
    nameless = next((ply for ply in context.plies if not (ply.match and ply.match.laminate)), None)
    if nameless:
        yield "# To say what one of them is (then its row needs no name in KiCad):"
        yield f"# [declared.dielectric.{_value(nameless.row)}]"
        yield f"# material = {_value(None)}"
    yield ""


def _interfaces(context: Context, answers: InitAnswers) -> Iterator[str]:
    """One block per group of nets: a comment where all is inferred; open, or answered, where the generation is not."""
    merged: dict[tuple[str, str, str], list[TakenAs]] = {}
    for row in context.assignment.taken_as():
        merged.setdefault((row.group, row.family, row.interface), []).append(row)
    for (group, of, generation), rows in merged.items():
        answered = answers.generations.get(of) if not generation else None
        front = "# " if generation else ""
        which = "" if answered or generation else f"  # {', '.join(i.id for i in family(of).interfaces)}"
        yield f"# {_counted(sum(r.nets for r in rows), clean(group))}: {clean(rows[0].why)}"
        yield f"{front}[[interface]]"
        yield f"{front}is = {_value(answered or generation or None)}{which}"
        yield f"{front}{_chosen(context, group, of, generation)}"
        yield ""


def _counted(nets: int, group: str) -> str:
    """Return e.g. `8 nets such as /TX_N`, or `8 nets of net class USB`."""
    _, named, example = group.partition("nets such as ")
    if not named:
        return f"{count(nets, 'net')} of {group}"
    return f"{count(nets, 'net')} such as {example}" if nets > 1 else f"net {example}"


def _hot_parts(context: Context) -> Iterator[str]:
    """A commented `[[hot_part]]` of the largest circuits."""
    refs = ", ".join(map(_value, candidates(context.board))) or _value(None)
    yield "# High-power components: which, and their cooling; refs = [] says that there are none. Temperatures in C."
    yield "# [[hot_part]]"
    yield f"# refs = [{clean(refs)}]"
    yield f"# power_w = {_value(None)}  # TDP; board_w is what of it leaves through the board"
    yield f"# cooling = {_value(None)}  # cold plate, immersion, heatsink, air, board"
    yield '# via_fill = "resin"  # in the thermal pad: none, resin, conductive epoxy, copper'
    yield "# via_capped = true"
    yield "# max_k_per_w = 20  # pad to the far side, or to sink; also plating_um, pads, coin, path_k_per_w"
    yield "# junction_max_c = 105  # in place of max_k_per_w, with theta_jc_k_per_w and sink_c"
    yield ""


def _process() -> Iterator[str]:
    """How the fab etches, plates and coats, all of it commented."""
    names = ", ".join(presets())
    yield "# How the fab etches, plates and coats, in um; what is not given is assumed, and leaves impedances open."
    yield "# [process]"
    yield f"# preset = {_value(None)}  # a fab's published numbers: {names}; keys next to it win"
    yield "# inner_etch_taper_um = 13  # base less top width of a trace, both sides together; also outer_etch_taper_um"
    yield "# outer_copper_um = 40  # finished; or plating_um, with copper_oz of the outer layers"
    yield "# mask_over_copper_um = 15  # 0 for bare copper"
    yield "# mask_over_laminate_um = 30  # also mask_dk, mask_df"
    yield ""


def _fab() -> Iterator[str]:
    """What one's own fab makes, all of it commented."""
    yield "# What your own fab makes; it takes the place of the three tiers of fabs. Lengths in mm."
    yield "# [fab]"
    yield '# name = "?"'
    yield "# hole_mm = 0.2  # finished; also microvia_mm, ring_mm, microvia_ring_mm, outer_track_mm, dielectric_mm"
    yield "# aspect_ratio = 10  # also microvia_aspect_ratio, thickness_mm, board_mm = [400, 550], registration_mm"
    yield "# hole_to_copper_mm = 0.2  # least distance from a hole's wall; from the board's edge: edge_to_copper_mm"
    yield "# bow_twist_pct = 0.75  # what the order holds it to"
    yield "# local_bow_um = 100  # the same under a package; max_local_bow_um = { U1 = 100 }: what a package allows"
    yield "# spread_glass = true  # specified next to high-speed layers, or the board is rotated on the panel"
    yield "# [fab.track_mm]  # least track on inner layers, by copper weight in oz"
    yield '# "0.5" = 0.1'
    yield "# [fab.space_mm]  # least space between nets on inner layers, the same; outside: outer_space_mm"
    yield '# "0.5" = 0.1'
    yield ""


def _rails(context: Context) -> Iterator[str]:
    """A commented `[[rail]]` of the largest power net; none where no power net has filled copper."""
    nets = largest_power_nets(context.board)
    if not nets:
        return
    yield f"# Rails: what their copper drops is solved once they are declared. Largest: {clean(', '.join(nets))}"
    yield "# Where the accelerator sits on a module with its own regulator, above all tables: core_on_module = true"
    yield "# [[rail]]"
    yield f"# net = {_value(nets[0])}"
    yield f"# voltage_v = {_value(None)}"
    yield f"# current_a = {_value(None)}  # worst continuous current, or tdp_w = power of the accelerator"
    yield f"# from = [{_value(None)}]  # what feeds it: output inductors, a shunt, a connector"
    yield f"# to = [{_value(None)}]  # what draws from it, or with amperes: to = {{ U1 = 2.5, J3 = 1 }}"
    yield "# max_drop_pct = 1  # also: core, ripple_pct, step_a, impedance_mohm, max_rise_c, max_via_a, max_a_per_mm2"
    yield "# # the ground return counts too: where these parts have no ground pads, give ground_from, ground_to"
    yield ""


def _chosen(context: Context, group: str, of: str, generation: str) -> str:
    """Return the line that chooses the nets of a group: its net class, or what their names begin with."""
    roles = enumerate(context.assignment.roles)
    same = [n for n, r in roles if r and (r.group, r.family, r.interface or "") == (group, of, generation)]
    return context.choosing_line(group, of, same)


def _value(value: str | float | None) -> str:
    """Return a TOML value; None becomes the placeholder."""
    if isinstance(value, float):
        return f"{value:g}"
    return toml_value(value or PLACEHOLDER)
