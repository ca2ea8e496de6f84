"""The base of every model that crosses a room's border: immutable, and strict about keys it does not know."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable; an unknown key is an error.

    A model's validator is built when the first one is made: a command makes a few of the many there are. Modules with
    models do not postpone their annotations (no `from __future__ import annotations`): Pydantic would compile each of
    them from text again at every start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:  # noqa: ANN401 - as in pydantic
        """Build the validator as pydantic does, without the names around the call that makes the first one.

        Models are defined with all that they name. Python 3.13.0 crashes where pydantic reads these names in a
        comprehension (found in `suggest`).
        """
        return super().model_rebuild(**{"_types_namespace": {}, **options})
