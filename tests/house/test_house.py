"""The house: small rooms, no circle of imports, one meaning for each class name."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"stackup_lib": ROOT, "drc_rules": ROOT, "stackwright": ROOT / "plugin"}
MOST_MODULES = 20
"""In one folder, next to its `__init__`; a family of rules has a module for each rule."""

IMPORTS_A_TEST = re.compile(r"^.*\b(?:from|import) tests\.(?:\w+\.)*test_\w+.*$", re.MULTILINE)
"""In a program that a test starts, too."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its dotted name, lazy parts and all."""
    found = {}
    for name, root in PACKAGES.items():
        for path in sorted((root / name).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return found


def imports_of(name: str) -> Iterator[str]:
    """Modules of ours that a module imports: at its top, in a function, or for its types only."""
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_room_is_crowded() -> None:
    """More modules than one can keep in mind are two subjects."""
    rooms = Counter(
        path.parent.relative_to(ROOT)
        for name, root in PACKAGES.items()
        for path in (root / name).rglob("*.py")
        if path.name != "__init__.py"
    )
    assert len(rooms) > 60
    assert {str(room): count for room, count in rooms.items() if count > MOST_MODULES} == {}


def test_no_room_of_what_tests_share_is_crowded() -> None:
    """The same holds for `tests/support`."""
    rooms = Counter(path.parent.name for path in (ROOT / "tests" / "support").rglob("*.py"))
    assert len(rooms) > 5
    assert {room: count for room, count in rooms.items() if count > MOST_MODULES} == {}


def test_no_module_imports_from_a_test_module() -> None:
    """What two test modules need is in `tests/support`: a test module can be renamed, split or left out by itself."""
    looked_at, wrong = 0, []
    for path in (*(ROOT / "tests").rglob("*.py"), *(ROOT / "plugin").rglob("*.py")):
        text = path.read_text("utf-8")
        looked_at += text.count("from tests.support")
        lines = IMPORTS_A_TEST.findall(text)
        wrong += [f"{path.relative_to(ROOT)}: {line.strip()}" for line in lines]
    assert looked_at > 400
    assert wrong == []


@pytest.mark.slow
def test_no_module_imports_itself_by_a_detour() -> None:
    """Imports inside functions and under TYPE_CHECKING count: a circle is a circle for who reads it."""
    graph = {name: {one for one in imports_of(name) if one in modules() and one != name} for name in modules()}
    assert sum(map(len, graph.values())) > 2000
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def test_a_public_class_name_means_one_thing() -> None:
    """Two classes of one name are mistaken for each other."""
    homes: dict[str, list[str]] = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    assert len(homes) > 500
    assert {name: at for name, at in homes.items() if len(at) > 1} == {}


def names_in(node: ast.expr) -> Iterator[str]:
    """Names in an annotation, but for what a function takes and returns."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Callable":
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from names_in(child)


@cache
def array_types(name: str) -> set[str]:
    """Names by which a module knows types of arrays."""
    known = {"NDArray"}
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("NDArray["):
            known.add(ast.unparse(node.targets[0]))
        elif isinstance(node, ast.ImportFrom) and node.module in modules() and node.module != name:
            known |= {alias.name for alias in node.names} & array_types(node.module)
    return known


def test_a_record_that_is_compared_by_its_fields_holds_no_array() -> None:
    """Arrays have no single answer to `==` and no hash, so such a class is an `@entity`."""
    looked_at, wrong = 0, set()
    for name, tree in modules().items():
        records = [one for one in tree.body if isinstance(one, ast.ClassDef) and is_record(one)]
        looked_at += len(records)
        arrays = array_types(name) if records else set()
        wrong |= {
            f"{name}: {one.name}.{ast.unparse(field.target)}"
            for one in records
            for field in one.body
            if isinstance(field, ast.AnnAssign) and not arrays.isdisjoint(names_in(field.annotation))
            if field.value is None or "compare=False" not in ast.unparse(field.value)
        }
    assert looked_at > 300
    assert wrong == set()


def is_record(one: ast.ClassDef) -> bool:
    return "record" in map(ast.unparse, one.decorator_list)
