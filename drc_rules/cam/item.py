"""One line of a CAM report."""

from collections.abc import Iterable

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.documents import cite
from stackup_lib.core.frozen import Frozen

OK, ASK = "ok", "ask the fab"


class CamItem(Frozen):
    """What a fab's CAM desk looks at, with its value.

    Attributes:
        topic: in a word or two, e.g. `foil`.
        where: layers or dielectrics, top to bottom; () for the whole board.
        figure: what the stackup has.
        limit: what fabs build without a question; "" where there is no such value.
        asks: outside of that, so the fab has to confirm it; else its normal answer is yes.
        source: where the limit stands.
    """

    topic: str
    where: tuple[str, ...] = ()
    figure: str
    limit: str = ""
    asks: bool = False
    source: str = ""

    @property
    def answer(self) -> str:
        """`ok` or `ask the fab`."""
        return ASK if self.asks else OK


def source_of(document: str, row: str) -> str:
    """Return a source as text, by the key of its document."""
    return cite(Source(document=document, row=row))


OWN_SOURCE = source_of("own-fab", "[fab] of stackwright.toml")


def merged(items: Iterable[CamItem]) -> tuple[CamItem, ...]:
    """Return items that differ in their layers alone as one, in the order of the first of each."""
    groups: dict[CamItem, list[str]] = {}
    for one in items:
        groups.setdefault(one.model_copy(update={"where": ()}), []).extend(one.where)
    return tuple(one.model_copy(update={"where": tuple(dict.fromkeys(where))}) for one, where in groups.items())
