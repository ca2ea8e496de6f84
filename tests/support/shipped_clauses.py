"""Every clause that is shipped, for any workload, interface and form factor."""

from __future__ import annotations

from functools import cache
from itertools import chain

from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import families
from drc_rules.requirements.profiles.assembly import Workload
from drc_rules.requirements.profiles.profile import BOARD, load_profile, profile_names


@cache
def clauses() -> tuple[Clause, ...]:
    """Every clause that is shipped, once for each title."""
    profiles = [load_profile(name) for name in (*profile_names(), BOARD)]
    own = chain.from_iterable((*profile.clauses, *profile.per_interface) for profile in profiles)
    workloads: tuple[Workload, ...] = ("training", "inference", "edge")
    of_links = (one.clauses(on) for family in families() for one in family.interfaces for on in workloads)
    stubs = [one.stub_clause(on) for family in families() for one in family.interfaces for on in (*workloads, BOARD)]
    of_stubs = [clause for clause in stubs if clause is not None]
    every = (
        *own,
        *chain.from_iterable(of_links),
        *of_stubs,
        *chain.from_iterable(form.clauses() for form in forms().values()),
    )
    return tuple({(clause.id, clause.title): clause for clause in every}.values())
