"""KiCad's custom design rules as a `.kicad_dru` states them, and why KiCad would ignore such a file."""

from __future__ import annotations

from pathlib import Path

from stackup_lib.core.record import record


@record
class Constraint:
    """One `(constraint ...)`; limits in millimetres, None where not stated or not a length.

    `is_understood` is False where a limit is stated that could not be read, such as an expression.
    """

    kind: str
    line: int
    min_mm: float | None = None
    opt_mm: float | None = None
    max_mm: float | None = None
    is_understood: bool = True


@record
class DesignRule:
    """One `(rule ...)`.

    Attributes:
        layer: `inner`, `outer`, a layer name or wildcard; None for every layer.
        condition: KiCad's expression as written; None for a rule that always applies.
        severity: as written, None when the board's own holds.
        line: 1-based line of the rule.
    """

    name: str
    line: int
    layer: str | None = None
    condition: str | None = None
    severity: str | None = None
    constraints: tuple[Constraint, ...] = ()


@record
class RulesFault:
    """Something in the file, such as the first thing that makes KiCad ignore all of it; `line` is 1-based."""

    line: int
    what: str


@record
class DesignRules:
    """The rules in the order of the file: of rules that apply, the last one decides.

    Attributes:
        doubts: parts for which it is not known whether KiCad accepts them.
        fault: None when nothing known to make KiCad ignore the file was found.
        rules: what could be read; where there is a fault, KiCad applies none of them.
        unknown_tokens: what was skipped, `parent/token`, once per occurrence.
    """

    path: Path | None = None
    rules: tuple[DesignRule, ...] = ()
    fault: RulesFault | None = None
    doubts: tuple[RulesFault, ...] = ()
    unknown_tokens: tuple[str, ...] = ()
