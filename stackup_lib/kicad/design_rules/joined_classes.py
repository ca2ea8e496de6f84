"""The net classes of a net as KiCad 10 joins them: what `A.NetClass` and `A.hasNetclass` in a rule compare with."""

from __future__ import annotations

from stackup_lib.board.project import Project

SIZES = frozenset(
    [
        "bus_width",
        "clearance",
        "diff_pair_gap",
        "diff_pair_width",
        "microvia_diameter",
        "microvia_drill",
        "track_width",
        "via_diameter",
        "via_drill",
        "wire_width",
    ]
)
"""What the classes of a net state between them, or Default is joined to them: each was tried on KiCad 10.0.6."""


def joined_classes(project: Project, net: str) -> tuple[str, ...]:
    """Return the classes of a net, highest priority first, `Default` last where the others leave a size to it.

    Classes that are named and not defined stand before `Default` (seen on KiCad 10.0.6).
    """
    own = project.class_names_of(net)
    between_them: frozenset[str] = frozenset().union(*(project.stated.get(name, frozenset()) for name in own))
    return own if own and between_them >= SIZES else (*own, "Default")
