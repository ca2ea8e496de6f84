"""Widths and gaps of net classes per layer as KiCad design rules, in a part of the `.kicad_dru` that is ours.

KiCad takes the last rule that fits: our part stands first, so that a user's own rules win. One error anywhere makes
KiCad ignore the whole file without a word; a file that is broken already is therefore refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from stackup_lib.board.design_rules import DesignRule, DesignRules
from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.errors import NotWrittenError
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules, structure_fault
from stackup_lib.kicad.read.reader import NEWEST_VERSION
from stackup_lib.kicad.write.spans import length_text, quoted

BEGIN = "#---- stackwright: begin; this part is replaced as a whole, write rules of your own outside of it ----"
END = "#---- stackwright: end ----"
"""No blank behind the hash: a requirement's comment always has one, so it can never look like a marker."""
_NET_CLASS_FUNCTION_SINCE = 20241229
"""KiCad 9; before, a net has one class and the condition compares its name."""
_VERSION = re.compile(r"(?:\s|#[^\n]*\n)*\(\s*version\s+\d+\s*\)")
_COPPER = re.compile(r"(?:F|B|In[1-9]\d?)\.Cu")
_OWN = "stackwright: "
_WIDTH = 100
_BREAKOUT = " || ".join(f"A.intersectsCourtyard('{references}')" for references in ("U*", "J*"))
"""Near the parts that lines neck down at: BGAs and connectors with fields of pins."""


def replace_rules(
    text: bytes | None,
    rules: Iterable[PlannedRule],
    *,
    label: str = "the rules",
    format_version: int = NEWEST_VERSION,
    layers: Collection[str] | None = None,
) -> bytes:
    """Return a rule file's bytes with our part replaced; all else stays.

    Args:
        text: the `.kicad_dru`; None or empty where there is none yet.
        rules: the rules, in order; none take our part away.
        label: what errors call the file.
        format_version: of the board, for conditions that its KiCad understands.
        layers: names of the board's copper layers: KiCad ignores a file that names another; None where not known.

    Raises:
        NotWrittenError: the file is broken, so that KiCad ignores it; or a rule cannot be written.
    """
    rules = tuple(rules)
    for rule in rules:
        _refuse_rule(rule, label, layers)
    found = _decoded(text, label)
    lines = _block(rules, label, format_version)
    if not found.strip():
        return "\n".join(["(version 1)", *lines, ""]).encode() if lines else found.encode()
    newline = "\r\n" if "\r\n" in found else "\n"
    _refuse_broken(found, label)
    span = _own_part(found, label)
    if span is None:
        version = _VERSION.match(found)
        assert version is not None  # noqa: S101 - a broken file has been refused
        span = version.end(), version.end()
    block = "".join(newline + line for line in lines)
    if lines and not re.match(r"[ \t]*(?:\r?\n|$)", found[span[1] :]):
        block += newline  # what stood on the line of the version would be part of our last comment
    new = found[: span[0]] + block + found[span[1] :]
    _prove_the_others_stand(found, new, label)
    return new.encode()


def _prove_the_others_stand(old: str, new: str, label: str) -> None:
    """Refuse a text in which the user's own rules read otherwise than before, or that KiCad would ignore."""
    before, after = (parse_design_rules(text) for text in (old, new))
    if [_read(rule) for rule in _others(before)] != [_read(rule) for rule in _others(after)]:
        raise NotWrittenError(label, "has rules that would not be kept", "put each rule on lines of its own")
    if after.fault is not None and before.fault is None:
        raise NotWrittenError(label, f"would have {after.fault.what}, so KiCad would ignore it", "correct the plan")


def _others(rules: DesignRules) -> list[DesignRule]:
    return [rule for rule in rules.rules if not rule.name.startswith(_OWN)]


def _read(rule: DesignRule) -> DesignRule:
    """Return a rule without its place in the file."""
    constraints = tuple(replace(constraint, line=0) for constraint in rule.constraints)
    return replace(rule, line=0, constraints=constraints)


def _decoded(text: bytes | None, label: str) -> str:
    try:
        return (text or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise NotWrittenError(label, "is not UTF-8 text", "save it as UTF-8") from None


def _refuse_broken(text: str, label: str) -> None:
    if not _VERSION.match(text):
        raise NotWrittenError(label, "does not begin with (version 1), so KiCad ignores it", "correct it first")
    if (fault := structure_fault(text)) is not None:
        what = f"has parentheses or quotes that do not match (line {fault.line}), so KiCad ignores it"
        raise NotWrittenError(label, what, "correct it first")


def _own_part(text: str, label: str) -> tuple[int, int] | None:
    """From the line break in front of our first line to the end of our last; None when we have no part in it."""
    begins, ends = (
        [m.start() for m in re.finditer(f"^{re.escape(line)}", text, re.MULTILINE)] for line in (BEGIN, END)
    )
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise NotWrittenError(label, "has only half of Stackwright's part", f'remove the lines "{BEGIN}" and "{END}"')
    start = begins[0] - 1
    start -= start > 0 and text[start - 1] == "\r"
    return start, ends[0] + len(END)


def _block(rules: Sequence[PlannedRule], label: str, format_version: int) -> list[str]:
    if not rules:
        return []
    lines = [BEGIN]
    seen: set[tuple[str, str, bool]] = set()
    for rule in rules:
        if _key(rule) in seen:
            raise NotWrittenError(label, f"two rules for {rule.net_class} on {rule.layer}", "keep one of them")
        seen.add(_key(rule))
    for rule in rules:
        has_class = f"A.hasNetclass('{rule.net_class}')"
        condition = has_class if format_version >= _NET_CLASS_FUNCTION_SINCE else f"A.NetClass == '{rule.net_class}'"
        *place, is_pair = _key(rule)
        if is_pair:  # a class of pairs often has single lines too: side bands, resets
            condition += " && A.inDiffPair('*')"
        elif (*place, True) in seen:
            condition += " && !A.inDiffPair('*')"
        lines += _comment(rule.requirement)
        lines += _rule(rule, condition)
    if format_version >= _NET_CLASS_FUNCTION_SINCE:
        for net_class in dict.fromkeys(rule.net_class for rule in rules):
            lines += _breakout(net_class, [rule.neck_mm for rule in rules if rule.net_class == net_class])
    return [*lines, END]


def _key(rule: PlannedRule) -> tuple[str, str, bool]:
    """What a rule is for; a class may have one for its pairs and one for its single lines on a layer."""
    return rule.net_class, rule.layer, rule.gap_mm is not None


def _refuse_rule(rule: PlannedRule, label: str, layers: Collection[str] | None) -> None:
    name = rule.net_class
    if not name.isprintable() or any(c in name for c in "'\"\\"):
        raise NotWrittenError(label, f"no rule can name the net class {name!r}", "rename it without quotes")
    if not _COPPER.fullmatch(rule.layer):
        raise NotWrittenError(label, f"{rule.layer!r} is no copper layer", "name it as KiCad does, e.g. In1.Cu")
    if layers is not None and rule.layer not in layers:
        what = f"the plan has a rule for {rule.net_class} on {rule.layer}, which the board does not have"
        raise NotWrittenError(label, what, "correct the layer of that [[rule]]")


def _comment(text: str) -> list[str]:
    """A text as comment lines; whatever it holds, it cannot end the comment."""
    words, lines = "".join(c if c.isprintable() else " " for c in text).split(), ["#"]
    for word in words:
        if len(lines[-1]) + len(word) >= _WIDTH and lines[-1] != "#":
            lines.append("#")
        lines[-1] += " " + word
    return lines


def _rule(rule: PlannedRule, condition: str) -> list[str]:
    """One rule for width and gap: of two with one condition KiCad's editor warns."""
    kind = "line" if rule.gap_mm is None else "pair"
    width_min_mm, width_max_mm = rule.width_range_mm
    lines = [
        f"(rule {quoted(f'stackwright: {rule.net_class}, {kind} on {rule.layer}')}",
        f"\t(layer {quoted(rule.layer)})",
        f"\t(condition {quoted(condition)})",
        f"\t{_constraint('track_width', min=width_min_mm, opt=rule.width_mm, max=width_max_mm)}",
    ]
    if rule.gap_mm is not None and rule.least_gap_mm is not None:
        # no max: KiCad measures where a pair spreads to pads and vias, too; its router takes opt
        lines.append(f"\t{_constraint('diff_pair_gap', min=rule.least_gap_mm, opt=rule.gap_mm)}")
    return [*lines[:-1], lines[-1] + ")"]


def _breakout(net_class: str, necks_mm: Sequence[float | None]) -> list[str]:
    """A rule for the clearance of neck-downs: the classes' own would bar a field of pins; none without a neck-down."""
    stated = [neck for neck in necks_mm if neck is not None]
    if not stated:
        return []
    condition = f"A.hasNetclass('{net_class}') && ({_BREAKOUT})"
    return [
        f"(rule {quoted(f'stackwright: {net_class}, breakout')}",
        f"\t(condition {quoted(condition)})",
        f"\t(constraint clearance (min {length_text(max(stated))}mm)))",
    ]


def _constraint(name: str, **limits_mm: float) -> str:
    return f"(constraint {name} {' '.join(f'({word} {length_text(limit)}mm)' for word, limit in limits_mm.items())})"
