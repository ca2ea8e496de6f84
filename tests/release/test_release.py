"""What a release publishes: refused without an owner, whole, hashed, and in the forms that KiCad and others read."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dev.release import build
from dev.release.build import make, notes_of, refuse_unready
from dev.release.kicad_repository import package_entry, repository_files
from dev.release.owner import FILE, ROOT, Owner, ReleaseError, project_version, read_owner, written
from dev.release.sbom import LOCK, bill_of_materials
from stackwright import __version__

SCHEMAS = (Path("/usr/share/kicad/schemas"), Path("/opt/k10/usr/share/kicad/schemas"))
HOME = "http://127.0.0.1:8765"
OWNER = Owner("A. Publisher", "a@publisher.test", f"{HOME}/home", f"{HOME}/docs", f"{HOME}/files", HOME, "r.test/s")
NOW = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package for KiCad, by a publisher."""
    target = tmp_path_factory.mktemp("package") / "stackwright-pcm.zip"
    words = ["--output", str(target), "--web", OWNER.repository, "--email", OWNER.email]
    subprocess.run([sys.executable, str(ROOT / "plugin/kicad_addon/build.py"), *words], check=True, capture_output=True)
    return target


def schema_of_kicad() -> dict[str, Any]:
    """KiCad's own schema of packages and repositories."""
    found = next((path for folder in SCHEMAS if (path := folder / "pcm.v2.schema.json").is_file()), None)
    if found is None:
        pytest.skip("no KiCad 10 with its schemas")
    schema: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return schema


def validate(document: object, definition: str) -> None:
    """Hold a document against one definition of KiCad's schema, which is written in draft 7."""
    schema = schema_of_kicad() | {"$ref": f"#/definitions/{definition}"}
    jsonschema.Draft7Validator(schema).validate(document)


def test_nothing_is_released_without_an_owner() -> None:
    """As long as a placeholder stands in owner.toml, and whatever is filled in as one again."""
    owner = read_owner()
    if owner.placeholders:
        with pytest.raises(ReleaseError, match="not filled in; name the owner before a release"):
            refuse_unready(f"v{project_version()}", owner)
    assert OWNER.placeholders == []
    for name in asdict(OWNER):
        for value in ("", " ", "OWNER", "https://example.org/x", "https://a.invalid/x", "TODO"):
            assert replace(OWNER, **{name: value}).placeholders == [name]


def test_the_command_refuses_in_one_line() -> None:
    """With exit code 2; the workflow's first job is this."""
    if not read_owner().placeholders:
        pytest.skip("the owner is named")
    command = [sys.executable, "-m", "dev.release.build", f"v{project_version()}", "--check"]
    done = subprocess.run(command, cwd=ROOT / "plugin", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: .*owner\.toml: name, .* not filled in; name the owner before a release\n", done.stderr)
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert workflow.index("--check") < workflow.index(".ci/run") < workflow.index("gh release create")


def test_a_tag_is_the_version_and_has_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else users would read of another version than they get."""
    file = tmp_path / "owner.toml"
    with pytest.raises(ReleaseError, match=r"tag v9\.9\.9: pyproject\.toml says"):
        refuse_unready("v9.9.9", OWNER, file)
    with pytest.raises(ReleaseError, match="names another owner"):
        refuse_unready(f"v{project_version()}", OWNER)
    changes = tmp_path / "CHANGELOG.md"
    monkeypatch.setattr(build, "CHANGES", changes)
    changes.write_text("# Changelog\n\n## Unreleased\n\n- x\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="no section ##"):
        refuse_unready(f"v{project_version()}", OWNER, file)
    changes.write_text(
        f"## Unreleased\n\n## {project_version()} (2027-01-02)\n\n- new\n\n## 0.0.1\n\n- old\n", encoding="utf-8"
    )
    assert refuse_unready(f"v{project_version()}", OWNER, file) == "- new\n"
    with pytest.raises(ReleaseError):
        notes_of("0.0.2", changes.read_text(encoding="utf-8"))


def test_owner_files_are_read_strictly(tmp_path: Path) -> None:
    """A value that is missing, unknown, no text or with a slash at its end is named."""
    file = tmp_path / "owner.toml"
    for text, why in (
        ("", "container, documentation"),
        (FILE.read_text("utf-8") + "\nmore = 1\n", "more missing or un"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ReleaseError, match=why):
            read_owner(file)
    file.write_text("".join(f'{name} = "x/"\n' for name in asdict(OWNER)), encoding="utf-8")
    with pytest.raises(ReleaseError, match="ends with a slash"):
        read_owner(file)


def test_urls_and_citation_name_the_owner_of_the_file() -> None:
    """`python -m dev.release.owner` renews them; the version is the project's everywhere."""
    for file, text in written(read_owner()).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python -m dev.release.owner"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["urls"]) == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert project_version() == __version__
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["version"], cited["license"]) == (__version__, project["license"])


def test_the_bill_of_materials_is_the_lock() -> None:
    """Every package with its version and hashes, once; the same lock gives the same bytes."""
    text = LOCK.read_text(encoding="utf-8")
    document: Any = bill_of_materials(text, "1.2.3")
    pinned = re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE)
    assert [(one["name"], one["version"]) for one in document["components"]] == pinned
    hashes = [one["content"] for part in document["components"] for one in part["hashes"]]
    assert hashes == re.findall(r"sha256:([0-9a-f]{64})", text)
    references = [one["bom-ref"] for one in document["components"]]
    assert len({*references}) == len(references)
    assert document == bill_of_materials(text, "1.2.3") != bill_of_materials(text, "1.2.4")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (root,) = document["dependencies"]
    named = {one.removeprefix("pkg:pypi/").partition("@")[0] for one in root["dependsOn"]}
    assert named == {re.split(r"\W", need)[0] for need in project["dependencies"]}
    assert set(root["dependsOn"]) <= {*references}
    excluded = {one["name"] for one in document["components"] if one["scope"] == "excluded"}
    assert excluded >= {"hatchling", "pluggy"}
    assert not excluded & {"numpy", "scipy", "pydantic"}


def test_the_bill_of_materials_is_cyclonedx() -> None:
    """By the validator of CycloneDX' own library, where it is installed."""
    validation = pytest.importorskip("cyclonedx.validation.json")
    from cyclonedx.schema import SchemaVersion

    document = json.dumps(bill_of_materials(LOCK.read_text(encoding="utf-8"), "1.2.3"))
    assert validation.JsonStrictValidator(SchemaVersion.V1_6).validate_str(document) is None


def test_what_the_repository_says_is_true_of_the_package(package: Path) -> None:
    """Hash and sizes are the archive's; KiCad refuses one that differs."""
    (version,) = package_entry(package, OWNER)["versions"]
    data = package.read_bytes()
    assert version["download_sha256"] == hashlib.sha256(data).hexdigest()
    assert version["download_size"] == len(data)
    with zipfile.ZipFile(package) as archive:
        assert version["install_size"] == sum(len(archive.read(name)) for name in archive.namelist())
        inside = json.loads(archive.read("metadata.json"))
    assert version["download_url"] == f"{HOME}/files/v{__version__}/stackwright-pcm.zip"
    assert inside["author"]["contact"] == {"web": OWNER.repository, "email": OWNER.email}
    assert inside["resources"] == {"homepage": OWNER.repository}
    assert len(inside["versions"]) == 1
    assert not [key for key in inside["versions"][0] if key.startswith("download") or key == "install_size"]


def test_files_of_the_repository_are_those_that_it_names(package: Path) -> None:
    """By address, hash and time; the icon lies under the package's identifier."""
    files = repository_files(package, OWNER, NOW)
    assert set(files) == {"repository.json", "packages.json", "resources.zip"}
    repository = json.loads(files["repository.json"])
    for key, name in (("packages", "packages.json"), ("resources", "resources.zip")):
        assert repository[key]["url"] == f"{HOME}/{name}"
        assert repository[key]["sha256"] == hashlib.sha256(files[name]).hexdigest()
        assert (repository[key]["update_time_utc"], repository[key]["update_timestamp"]) == (
            "2027-01-02 03:04:05",
            int(NOW.timestamp()),
        )
    with zipfile.ZipFile(io.BytesIO(files["resources.zip"])) as archive:
        assert archive.namelist() == ["org.stackwright.kicad/icon.png"]
    assert files == repository_files(package, OWNER, NOW)


def test_former_versions_stay(package: Path) -> None:
    """A user may go back; the same version is listed once."""
    first = json.loads(repository_files(package, OWNER, NOW)["packages.json"])
    first["packages"][0]["versions"][0]["version"] = "0.0.9"
    again = json.loads(repository_files(package, OWNER, NOW, first)["packages.json"])
    assert [one["version"] for one in again["packages"][0]["versions"]] == [__version__, "0.0.9"]
    third = json.loads(repository_files(package, OWNER, NOW, again)["packages.json"])
    assert third == again


def test_kicads_schema_takes_all_of_it(package: Path) -> None:
    """Metadata in the archive and in the repository, and the repository, by the schema that KiCad 10 validates with."""
    files = repository_files(package, OWNER, NOW)
    validate(json.loads(files["repository.json"]), "Repository")
    packages = json.loads(files["packages.json"])
    validate(packages, "PackageArray")
    validate(packages["packages"][0], "Package")
    with zipfile.ZipFile(package) as archive:
        validate(json.loads(archive.read("metadata.json")), "Package")
    broken = json.loads(files["packages.json"])
    broken["packages"][0]["versions"][0]["download_sha256"] = "none"
    with pytest.raises(jsonschema.ValidationError):
        validate(broken, "PackageArray")


@pytest.mark.slow
def test_a_release_is_whole(tmp_path: Path) -> None:
    """Built as the workflow does: packages that hold each other's version, sums that are right, KiCad's files."""
    folder = tmp_path / "dist"
    make(folder, OWNER, "- new\n")
    names = {path.name for path in folder.iterdir()}
    wheel, sdist = f"stackwright-{__version__}-py3-none-any.whl", f"stackwright-{__version__}.tar.gz"
    summed = {wheel, sdist, "stackwright-pcm.zip", "stackwright.cdx.json"}
    assert names == {*summed, "SHA256SUMS", "notes.md", "kicad"}
    lines = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in lines} == summed
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha for sha, name in lines)
    with tarfile.open(folder / sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CITATION.cff", "Dockerfile", "action.yml", "plugin/ci/lock-run.txt", "LICENSE"} <= inside
    with zipfile.ZipFile(folder / wheel) as archive:
        metadata = archive.read(f"stackwright-{__version__}.dist-info/METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert "Project-URL: Homepage, " in metadata
    packages = json.loads((folder / "kicad" / "packages.json").read_text())
    zipped = (folder / "stackwright-pcm.zip").read_bytes()
    assert packages["packages"][0]["versions"][0]["download_sha256"] == hashlib.sha256(zipped).hexdigest()
    with pytest.raises(ReleaseError, match="is not empty"):
        make(folder, OWNER, "")


def test_the_image_runs_without_rights_and_installs_by_hash() -> None:
    """Nothing of the build tools is left in it, and no file of a board's folder is imported."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    last = text[text.rindex("\nFROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert last.index("USER") < last.index("ENTRYPOINT")
    assert "pip" not in last
    assert re.search(r"pip install .*--require-hashes --only-binary :all: -r /source/plugin/ci/lock-run\.txt", text)
    assert not re.search(r"pip install (?!.*(--require-hashes|--no-deps))", text)
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for name in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
