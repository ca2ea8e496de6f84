"""What was left out and why: every one by name, and grouped by reason."""

from dataclasses import dataclass, field

from stackup_lib.core.frozen import Frozen


class RejectedGroup(Frozen):
    """What was left out for one reason, in the order of the search.

    Attributes:
        reason: without a name and without what differs from one to another.
        names: laminates, or candidates by their name.
    """

    reason: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{len(self.names)} x {self.reason}" if len(self.names) > 1 else f"{self.names[0]}: {self.reason}"


@dataclass
class Rejections:
    """Collects what was left out."""

    _entries: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, name: str, words: str, reason: str | None = None) -> None:
        """Add one: `words` hold its own numbers, `reason` is what it has in common with others."""
        self._entries.setdefault((name, words), reason or words)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence each."""
        return tuple(f"{name}: {words}" for name, words in self._entries)

    @property
    def groups(self) -> tuple[RejectedGroup, ...]:
        """Grouped by reason, the largest group first."""
        names: dict[str, list[str]] = {}
        for (name, _), reason in self._entries.items():
            names.setdefault(reason, []).append(name)
        groups = [RejectedGroup(reason=r, names=tuple(dict.fromkeys(n))) for r, n in names.items()]
        return tuple(sorted(groups, key=lambda g: (-len(g.names), g.reason)))
