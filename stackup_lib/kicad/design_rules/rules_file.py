"""Reads `.kicad_dru`: KiCad's custom design rules, with the line of everything that KiCad 10 does not accept."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from stackup_lib.board.design_rules import Constraint, DesignRule, DesignRules, RulesFault
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.plain_file import cure_of, read_plain
from stackup_lib.core.record import workpiece
from stackup_lib.kicad.design_rules.rules_syntax import condition_problem, layer_problem
from stackup_lib.kicad.design_rules.rules_values import BARE, bare_problem, limit_problem, mixed_problem

MOST_DEPTH = 64
"""KiCad's own rules need four levels."""
_PIECE = r'"(?:[^"\\\n]|\\.)*"|[()]|[^\s()"]+|"'
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_LENGTH = r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+))(?P<unit>[a-zA-Zµ\"]*)"
_MM_PER = {"mm": 1.0, "mil": 0.0254, "in": 25.4}
LENGTH_CONSTRAINTS = frozenset(
    [
        "annular_width",
        "clearance",
        "diff_pair_gap",
        "diff_pair_uncoupled",
        "edge_clearance",
        "hole_clearance",
        "hole_size",
        "hole_to_hole",
        "track_width",
        "via_diameter",
    ]
)
"""Constraints whose limits are lengths and nothing else; `length` and `skew` may be times."""
_LIMITS = ("min", "opt", "max")
_KINDS = LENGTH_CONSTRAINTS | frozenset(
    [
        "assertion",
        "bridged_mask",
        "connection_width",
        "courtyard_clearance",
        "creepage",
        "disallow",
        "length",
        "mechanical_clearance",
        "mechanical_hole_clearance",
        "min_resolved_spokes",
        "physical_clearance",
        "physical_hole_clearance",
        "silk_clearance",
        "skew",
        "solder_mask_expansion",
        "solder_mask_sliver",
        "solder_paste_abs_margin",
        "solder_paste_rel_margin",
        "text_height",
        "text_thickness",
        "thermal_relief_gap",
        "thermal_spoke_width",
        "track_angle",
        "track_segment_length",
        "via_count",
        "via_dangling",
        "zone_connection",
    ]
)
"""What KiCad 10.0.6 accepts: each was tried on it."""
_SEVERITIES = frozenset({"error", "warning", "ignore", "exclusion"})


@workpiece
class _List:
    line: int
    items: list[_Node] = field(default_factory=list)


@workpiece
class _Word:
    line: int
    text: str
    is_quoted: bool = False


_Node: TypeAlias = "_List | _Word"


class _FaultError(Exception):
    """Ends the reading of what cannot be read any further."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.fault = RulesFault(line=line, what=what)


def read_design_rules(path: Path, user_layers: Collection[str] | None = None) -> DesignRules | None:
    """Return the rules of a `.kicad_dru`; None when there is no such file.

    Args:
        path: the file.
        user_layers: names that the board's owner gave to layers; without them no name of a layer is a fault.

    Raises:
        BoardFileError: the file is there and cannot be opened.
    """
    try:
        data = read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        fix = cure_of(error, "check its permissions")
        raise BoardFileError(str(path), f"cannot be read ({error.strerror})", fix) from error
    return parse_design_rules(data.decode("utf-8", errors="replace"), path, user_layers)


def parse_design_rules(text: str, path: Path | None = None, user_layers: Collection[str] | None = None) -> DesignRules:
    """Return the rules of a text; what is wrong with it is in `fault`, never raised."""
    reader = _Rules(None if user_layers is None else frozenset(user_layers))
    try:
        reader.file(_tree(_COMMENT.sub("", text)))
    except _FaultError as error:
        reader.blame(error.fault)
    return DesignRules(
        path=path,
        rules=tuple(reader.rules),
        fault=reader.fault,
        doubts=tuple(reader.doubts),
        unknown_tokens=tuple(reader.unknown_tokens),
    )


def structure_fault(text: str) -> RulesFault | None:
    """Return where parentheses or quotes of a rules text do not match, so that KiCad ignores all of it."""
    try:
        _tree(_COMMENT.sub("", text))
    except _FaultError as error:
        return error.fault
    return None


def _tree(text: str) -> list[_Node]:
    root = _List(1)
    stack = [root]
    line, seen = 1, 0
    for match in re.finditer(_PIECE, text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        piece = match.group()
        if piece == "(":
            if len(stack) > MOST_DEPTH:
                raise _FaultError(line, "parentheses are nested too deep")
            opened = _List(line)
            stack[-1].items.append(opened)
            stack.append(opened)
        elif piece == ")":
            if len(stack) == 1:
                raise _FaultError(line, "a closing parenthesis that nothing opened")
            stack.pop()
        elif piece == '"':
            raise _FaultError(line, "a quote that is not closed on its line")
        elif piece.startswith('"'):
            stack[-1].items.append(_Word(line, re.sub(r"\\(.)", r"\1", piece[1:-1]), is_quoted=True))
        else:
            stack[-1].items.append(_Word(line, piece))
    if len(stack) > 1:
        raise _FaultError(stack[-1].line, "a parenthesis that is never closed")
    return root.items


class _Rules:
    """Gathers rules, the first fault, and what was skipped."""

    def __init__(self, user_layers: frozenset[str] | None) -> None:
        self.user_layers = user_layers
        self.rules: list[DesignRule] = []
        self.doubts: list[RulesFault] = []
        self.fault: RulesFault | None = None
        self.unknown_tokens: list[str] = []

    def blame(self, fault: RulesFault) -> None:
        if self.fault is None or fault.line < self.fault.line:
            self.fault = fault

    def wrong(self, node: _Node, what: str) -> None:
        self.blame(RulesFault(line=node.line, what=what))

    def file(self, nodes: list[_Node]) -> None:
        if nodes and _head(nodes[0]) != "version":  # an empty file has no rules that KiCad could ignore
            self.blame(RulesFault(line=nodes[0].line, what="does not begin with (version 1)"))
        for node in nodes:
            head = _head(node)
            if head == "rule" and isinstance(node, _List):
                self.rule(node)
            elif head != "version":
                self.unknown_tokens.append(f"file/{head}")
                self.wrong(node, f'"{head}" where a rule is expected')

    def rule(self, node: _List) -> None:
        name = _text(node, 1)
        if name is None:
            self.wrong(node, "a rule without a name")
            return
        stated: dict[str, str] = {}
        last: dict[str, _List] = {}
        constraints: list[Constraint] = []
        for clause in node.items[2:]:
            head = _head(clause)
            if head == "constraint" and isinstance(clause, _List):
                constraints += self.constraint(clause)
            elif head in ("layer", "condition", "severity") and isinstance(clause, _List):
                stated[head] = self.clause(clause, head, repeated=head in stated)
                last[head] = clause
            else:
                self.unknown_tokens.append(f"rule/{head}")
                self.wrong(clause, f'"{head}" in rule "{name}"')
        self.meaning(last)
        self.rules.append(
            DesignRule(
                name=name,
                layer=stated.get("layer"),
                condition=stated.get("condition"),
                severity=stated.get("severity"),
                constraints=tuple(constraints),
                line=node.line,
            )
        )

    def clause(self, node: _List, head: str, *, repeated: bool) -> str:
        text = _text(node, 1) or ""
        if head == "layer" and repeated:
            self.wrong(node, "a second (layer ...) in one rule")
        if head != "severity" and len(node.items) == 1:
            self.wrong(node, f"({head}) without a text")
        if head == "layer" and len(node.items) > 2:
            self.wrong(node, "more than one layer in (layer ...)")
        if head == "severity" and text not in _SEVERITIES:
            self.wrong(node, f'the severity "{text}"')
        return text

    def meaning(self, last: dict[str, _List]) -> None:
        """Look into layer and condition; where a rule has two, KiCad compiles the last."""
        for head, node in last.items():
            word = node.items[1] if len(node.items) > 1 else None
            if not isinstance(word, _Word) or head == "severity":
                continue
            if head == "layer":
                problem = layer_problem(word.text, is_quoted=word.is_quoted, user_names=self.user_layers)
            else:
                problem = condition_problem(word.text)
            if problem is not None and problem.is_certain:
                self.wrong(node, problem.what)
            elif problem is not None:
                self.doubts.append(RulesFault(line=node.line, what=problem.what))

    def constraint(self, node: _List) -> list[Constraint]:
        kind = _text(node, 1)
        if kind is None:
            self.wrong(node, "a constraint without a name")
            return []
        if kind not in _KINDS:
            self.unknown_tokens.append(f"constraint/{kind}")
            self.wrong(node, f'"{kind}" is no constraint that KiCad 10 knows')
        limits: dict[str, float] = {}
        if kind in BARE:
            self.bare(node, kind)
        for row in node.items[2:]:
            head = _head(row)
            if isinstance(row, _List) and head in _LIMITS and kind in _KINDS - BARE:
                self.limit(row, kind, head, limits)
            elif head not in _LIMITS or isinstance(row, _Word):
                self.unknown_tokens.append(f"{kind}/{head}")
                is_flag = kind == "skew" and head == "within_diff_pairs" and isinstance(row, _List)
                if kind in _KINDS - BARE and not is_flag:
                    self.wrong(row, f'"{head}" in the constraint {kind}')
        rows = [row for row in node.items[2:] if isinstance(row, _List)]
        if (mixed := mixed_problem(kind, [_words(row) for row in rows])) is not None:
            self.wrong(node, mixed)
        heads = [_head(row) for row in node.items[2:]]
        return [
            Constraint(
                kind=kind,
                min_mm=limits.get("min"),
                opt_mm=limits.get("opt"),
                max_mm=limits.get("max"),
                is_understood=kind not in LENGTH_CONSTRAINTS or set(heads) == set(limits),
                line=node.line,
            )
        ]

    def bare(self, node: _List, kind: str) -> None:
        """Look into a constraint that takes words instead of limits."""
        values = node.items[2:]
        words = [item.text if isinstance(item, _Word) else None for item in values]
        is_quoted = any(isinstance(item, _Word) and item.is_quoted for item in values[:1])
        problem = bare_problem(kind, words, is_quoted=is_quoted)
        if problem is not None:
            self.wrong(node, problem)

    def limit(self, row: _List, kind: str, head: str, limits: dict[str, float]) -> None:
        words = _words(row)
        is_expression = any(isinstance(item, _List) for item in row.items[1:])
        problem = None if is_expression else limit_problem(kind, head, words)
        if problem is not None:
            self.wrong(row, problem)
        found = None if is_expression else re.fullmatch(_LENGTH, "".join(words))
        if kind not in LENGTH_CONSTRAINTS:
            return
        if found is None:
            self.unknown_tokens.append(f"{kind}/{head}")  # an expression, or something we do not know
        elif found["unit"] in _MM_PER:
            limits[head] = float(found["number"]) * _MM_PER[found["unit"]]


def _head(node: _Node) -> str:
    if isinstance(node, _Word):
        return node.text
    return _text(node, 0) or "()"


def _words(node: _List) -> list[str]:
    """What stands in a limit such as `(min 0.1mm)`, without what is in parentheses."""
    return [item.text for item in node.items[1:] if isinstance(item, _Word)]


def _text(node: _List, index: int) -> str | None:
    if index >= len(node.items):
        return None
    item = node.items[index]
    return item.text if isinstance(item, _Word) else None
