"""The catalogue of laminates: iterable, searchable by what people type."""

from __future__ import annotations

from functools import cache, cached_property

from stackup_lib.core.record import record
from stackup_lib.materials.data import read_toml
from stackup_lib.materials.entries import LaminateEntry, laminate_entries
from stackup_lib.materials.glass import glass_kinds, glass_styles
from stackup_lib.materials.lookup import AliasIndex, Match, MaterialRemark, resolve
from stackup_lib.materials.model import Laminate
from stackup_lib.materials.words import Vocabulary, key_of


@record
class Catalogue:
    """All laminates, sorted by maker and family, and the remarks on names that need one."""

    entries: tuple[LaminateEntry, ...]
    remarks: tuple[MaterialRemark, ...]
    vocabulary: Vocabulary

    @cached_property
    def laminates(self) -> tuple[Laminate, ...]:
        """All of them, read in full."""
        return tuple(entry.laminate for entry in self.entries)

    def get(self, family: str) -> Laminate | None:
        """Return a laminate by its exact family name."""
        return next((entry.laminate for entry in self.entries if entry.family == family), None)

    def find(self, text: str) -> Match:
        """Resolve what a user typed into family, glass style and resin content; never guesses silently."""
        if text not in self._found:
            self._found[text] = resolve(text, self._index)
        return self._found[text]

    def search(self, query: str) -> list[Laminate]:
        """Return the laminates that a query may mean: part of a name, an alias, a maker or a loss class; all for ""."""
        match = self.find(query)
        key = key_of(query)
        hits = [x for x in self.laminates if any(key in key_of(word) for word in _words(x))]
        first = [match.laminate] if match.laminate else [x for x in map(self.get, match.alternatives) if x]
        return list({x.family: x for x in [*first, *hits]}.values()) if key else list(self.laminates)

    @cached_property
    def _found(self) -> dict[str, Match]:
        return {}

    @cached_property
    def _index(self) -> AliasIndex:
        return AliasIndex(
            by_key={key_of(alias): entry for entry in self.entries for alias in entry.aliases},
            remarks={key_of(remark.name): remark for remark in self.remarks},
            vocabulary=self.vocabulary,
        )


def _words(laminate: Laminate) -> tuple[str, ...]:
    label = laminate.loss_class.label if laminate.loss_class else ""
    return (laminate.family, laminate.maker, *laminate.aliases, *([f"{label} loss"] if label else []))


@cache
def catalogue() -> Catalogue:
    """Return the catalogue; the names in its files are read at the first call, a laminate when it is looked up."""
    names = read_toml("names.toml")
    return Catalogue(
        entries=tuple(laminate_entries()),
        remarks=tuple(MaterialRemark.model_validate(row) for row in names["remark"]),
        vocabulary=Vocabulary(
            styles=frozenset(glass_styles()),
            maker_words=frozenset(names["maker_words"]),
            filler_words=frozenset([*names["filler_words"], *names["fab_words"]]),
            stackup_names=tuple(names["stackup_names"]),
            glass_words={word: kind for kind, row in glass_kinds().items() for word in row.words},
        ),
    )
