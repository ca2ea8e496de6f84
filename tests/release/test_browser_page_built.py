"""The page for browsers is built from a release of Pyodide that is what it should be."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from browser_page.build import PAGE, main, with_needs
from stackwright.reporters.assets import script_hash

CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
COMPILED = ("numpy", "scipy", "shapely", "pydantic_core", "markupsafe")


def release(folder: Path, *, broken: str = "") -> Path:
    """Write what stands for a release: a core, and a wheel for each compiled package."""
    folder.mkdir()
    packages = {}
    for name in (*COMPILED, "pydantic"):
        wheel = folder / f"{name}-1-{'py3-none-any' if name == 'pydantic' else 'cp313-cp313-pyodide_wasm32'}.whl"
        wheel.write_text(f"wheel of {name}", encoding="utf-8")
        sha256 = hashlib.sha256(b"another" if name == broken else wheel.read_bytes()).hexdigest()
        needs = ["pydantic_core"] if name == "pydantic" else []
        packages[name.replace("_", "-")] = {"file_name": wheel.name, "sha256": sha256, "depends": needs}
    for name in CORE:
        (folder / name).write_text(name, encoding="utf-8")
    (folder / "pyodide-lock.json").write_text(json.dumps({"packages": packages}), encoding="utf-8")
    return folder


def test_the_site_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    """Page, worker, Pyodide and our own code; no placeholder is left."""
    pyodide = release(tmp_path / "pyodide")
    for name in ("one", "two"):
        assert main(["--pyodide", str(pyodide), "--output", str(tmp_path / name), "--any-pyodide"]) == 0

    site = tmp_path / "one"
    assert {file.name for file in (site / "pyodide").iterdir()} == {file.name for file in pyodide.iterdir()}
    page, worker = ((site / name).read_text(encoding="utf-8") for name in ("index.html", "worker.js"))
    assert script_hash() in page
    assert '<option value="inference-pcie">' in page
    assert '["markupsafe", "numpy", "pydantic", "shapely"]' in worker  # SciPy waits for settings
    assert "@" not in page + worker + (site / "page.js").read_text(encoding="utf-8")
    assert (site / "stackwright.zip").read_bytes() == (tmp_path / "two" / "stackwright.zip").read_bytes()
    with zipfile.ZipFile(site / "stackwright.zip") as packed:
        names = packed.namelist()
    assert {"stackwright/browser/dropped.py", "drc_rules/engine/check.py", "click/__init__.py"} <= {*names}
    assert not [name for name in names if name.endswith((".so", ".pyc")) or name.startswith(("numpy", "pydantic"))]


def test_another_release_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the hashes in pyodide.toml; one line says which file."""
    assert main(["--pyodide", str(release(tmp_path / "pyodide")), "--output", str(tmp_path / "site")]) == 1

    said = capsys.readouterr().err
    assert "pyodide.js: SHA-256" in said
    assert said.count("\n") == 1


def test_a_wheel_that_is_not_the_listed_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the release's own list."""
    pyodide = release(tmp_path / "pyodide", broken="shapely")

    assert main(["--pyodide", str(pyodide), "--output", str(tmp_path / "site"), "--any-pyodide"]) == 1
    assert "shapely-1" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a traceback."""
    pyodide = release(tmp_path / "pyodide")
    (pyodide / "pyodide.asm.wasm").unlink()

    assert main(["--pyodide", str(pyodide), "--output", str(tmp_path / "site"), "--any-pyodide"]) == 1
    assert "pyodide.asm.wasm" in capsys.readouterr().err


def test_the_page_says_where_its_requests_may_go() -> None:
    """To its own server alone."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    assert "default-src 'none'" in page
    assert "connect-src 'self';" in page
    for name in ("page.js", "worker.js", "page.css", "index.html"):
        assert "://" not in (PAGE / name).read_text(encoding="utf-8")


def test_needs_of_needs() -> None:
    """In a ring, too."""
    needs = {"a": ["b"], "b": ["c", "a"], "c": []}

    assert with_needs(["a"], needs.__getitem__) == {"a", "b", "c"}
