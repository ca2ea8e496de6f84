"""`stackwright kicad doctor`: each reason for which there is no button, found from outside, with its fix."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stackwright.kicad import doctor
from stackwright.kicad.doctor import BAD, MIND, OK, DoctorAnswer, diagnose
from stackwright.kicad.live import PLUGIN
from tests.support.in_process import run_process as run

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Home:
    """A user's home as KiCad leaves it, with everything in order."""

    def __init__(self, folder: Path, version: str = "10.0") -> None:
        self.folder = folder
        self.settings = folder / ".config/kicad" / version
        self.plugin = folder / ".local/share/kicad" / version / "3rdparty/plugins/org_stackwright_kicad"
        self.environment = folder / ".cache/kicad" / version / "python-environments" / PLUGIN
        for made in (self.settings, self.plugin, self.environment / "bin"):
            made.mkdir(parents=True)
        self.common(
            enable_server=True, interpreter_path=self.program("python3", f"print('{PYTHON.replace('.', ' ')}')")
        )
        (self.plugin / "plugin.json").write_text(json.dumps({"identifier": PLUGIN}))
        (self.plugin / "requirements.txt").write_text("kicad-python\n")
        self.packages()

    def common(self, **api: object) -> None:
        """KiCad's settings about its API."""
        (self.settings / "kicad_common.json").write_text(json.dumps({"api": api}))

    def program(self, name: str, program: str) -> str:
        """An interpreter that ignores its arguments and does this."""
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\n{program}\n")
        path.chmod(0o755)
        return str(path)

    def packages(self, program: str = "import sys; print(1 if 'find_spec' not in sys.argv[-1] else '')") -> None:
        """The environment's interpreter."""
        path = Path(self.program("env-python", program))
        path.replace(self.environment / "bin/python")

    def answers(self, **more: str) -> list[DoctorAnswer]:
        """What the doctor finds."""
        return diagnose({"HOME": str(self.folder), **more}, platform="linux")

    def fault(self) -> DoctorAnswer:
        """The one fault."""
        (found,) = [one for one in self.answers() if one.state == BAD]
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home where the button is there."""
    return Home(tmp_path)


def test_all_in_order_has_no_fault(home: Home) -> None:
    """Five things were looked at, and all are well."""
    assert [one.state for one in home.answers() if one.state != MIND] == [OK] * 5


def test_a_machine_without_kicad(tmp_path: Path) -> None:
    """Nothing of it was ever started by this user."""
    (only,) = diagnose({"HOME": str(tmp_path)}, platform="linux")
    assert (only.state, only.cure) == (BAD, "start KiCad 10 once, then come back")


def test_an_old_kicad(tmp_path: Path) -> None:
    """The newest that was used counts; nothing else is worth a look."""
    Home(tmp_path, "8.0")
    (tmp_path / ".config/kicad/9.0").mkdir()
    (only,) = diagnose({"HOME": str(tmp_path)}, platform="linux")

    assert only.what.startswith("KiCad 9.0 is the newest that was used here")
    Home(tmp_path, "10.0")
    assert diagnose({"HOME": str(tmp_path)}, platform="linux")[0].state == OK


@pytest.mark.parametrize("api", [{}, {"enable_server": False}, {"enable_server": "yes"}])
def test_the_api_is_off(home: Home, api: dict[str, object]) -> None:
    """As it is by default."""
    interpreter = json.loads((home.settings / "kicad_common.json").read_text())["api"]["interpreter_path"]
    home.common(**api, interpreter_path=interpreter)
    assert "Enable KiCad API" in home.fault().cure


def test_damaged_settings_are_settings_that_say_nothing(home: Home) -> None:
    """KiCad begins them anew, with the API off."""
    (home.settings / "kicad_common.json").write_text("{")
    assert any("API is off" in one.what for one in home.answers() if one.state == BAD)


def test_the_plugin_is_not_installed(home: Home) -> None:
    """Another plugin's file, or a damaged one, is not ours."""
    (home.plugin / "plugin.json").write_text('{"identifier": "org.example.other"}')
    (home.plugin.parent / "x").mkdir()
    (home.plugin.parent / "x" / "plugin.json").write_text("{")
    assert home.fault().what.startswith("the plugin is not installed")


def test_a_plugin_put_there_by_hand_counts(home: Home) -> None:
    """In the user's plugins folder, under any name."""
    target = home.plugin.parents[2] / "plugins" / "mine"
    target.parent.mkdir()
    home.plugin.rename(target)
    assert not [one for one in home.answers() if one.state == BAD]


def test_a_plugin_without_requirements_never_gets_ready(home: Home) -> None:
    """KiCad waits for an environment that it never makes."""
    (home.plugin / "requirements.txt").unlink()
    assert home.fault().cure == "install the whole package"


def test_the_button_is_switched_off(home: Home) -> None:
    """In the preferences of the PCB editor."""
    (home.settings / "pcbnew.json").write_text(json.dumps({"plugins": {"actions": [{f"{PLUGIN}.check": False}]}}))
    assert home.fault().cure == "tick it in Preferences > PCB Editor > Plugins"


@pytest.mark.parametrize("version", ["3 10", "3 15"])
def test_a_python_without_wheels(home: Home, version: str) -> None:
    """Too old or too new: KiCad's pip builds nothing."""
    home.common(enable_server=True, interpreter_path=home.program("python3", f"print('{version}')"))
    assert "the packages are there for 3.11 to 3.14" in home.fault().what


def test_a_python_that_is_gone(home: Home) -> None:
    """The path in the preferences does not exist."""
    home.common(enable_server=True, interpreter_path="/nowhere/python3")
    assert home.fault().what.startswith("/nowhere/python3, with which KiCad makes environments, does not run")


def test_venv_is_missing(home: Home) -> None:
    """As on Debian without python3-venv: the half-made folder has to go, too."""
    program = "import sys; sys.exit('venv' in sys.argv[-1]) if 'venv' in sys.argv[-1] else print('3 12')"
    home.common(enable_server=True, interpreter_path=home.program("python3", program))
    fault = home.fault()

    assert "cannot make environments" in fault.what
    assert fault.cure == f"install python3-venv, delete {home.environment}, and start KiCad again"


def test_an_environment_that_was_never_made(home: Home) -> None:
    """KiCad has not been online since, or not been started."""
    (home.environment / "bin/python").unlink()
    (home.environment / "bin").rmdir()
    home.environment.rmdir()
    assert home.fault().what == "KiCad has not made the plugin's environment yet"


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("raise SystemExit(1)", "is half made: it has no pip"),
        (
            "import sys; print('kipy\\nscipy' if 'find_spec' in sys.argv[-1] else 1)",
            "packages are missing in the environment (kipy, scipy): pip could not fetch them",
        ),
        (
            "import sys; sys.exit(1) if 'import kipy' in sys.argv[-1] else print('' if 'find' in sys.argv[-1] else 1)",
            "the environment's packages cannot be loaded",
        ),
    ],
)
def test_a_half_made_environment_has_to_go(home: Home, program: str, what: str) -> None:
    """KiCad would not make it anew by itself."""
    home.packages(program)
    fault = home.fault()

    assert what in fault.what
    assert f"delete {home.environment}" in fault.cure


def test_a_real_environment_without_the_packages_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """With this very interpreter, which has no package of that name."""
    (home.environment / "bin/python").unlink()
    (home.environment / "bin/python").symlink_to(sys.executable)
    monkeypatch.setattr(doctor, "PACKAGES", ("no_such_package_at_all",))

    assert "(no_such_package_at_all)" in home.fault().what


def test_a_proxy_of_ones_own_is_a_hint(home: Home) -> None:
    """KiCad starts pip without it."""
    said = [one.what for one in home.answers(HTTPS_PROXY="http://proxy:3128") if one.state == MIND]
    assert any("KiCad's pip does not see it" in what for what in said)


def test_kicads_own_variables_name_its_folders(home: Home, tmp_path: Path) -> None:
    """As KiCad reads them: the settings folder as it is, the others with `kicad` below."""
    place = doctor.newest(
        {
            "HOME": "/nowhere",
            "KICAD_CONFIG_HOME": str(home.settings.parent),
            "KICAD_DOCUMENTS_HOME": "/d",
            "KICAD_CACHE_HOME": "/c",
        },
        "linux",
    )

    assert place is not None
    assert (place.settings, place.documents, place.cache) == (
        home.settings,
        Path("/d/kicad/10.0"),
        Path("/c/kicad/10.0"),
    )


@pytest.mark.slow
def test_the_command_says_it_and_changes_nothing(home: Home) -> None:
    """Exit code 1 with a fault, 0 without."""
    folders = ("CONFIG", "DOCUMENTS", "CACHE")
    names = (*(f"KICAD_{name}_HOME" for name in folders), "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    settings = {"HOME": str(home.folder), **dict.fromkeys(names, "")}
    files = sorted(home.folder.rglob("*"))
    fine = run("kicad", "doctor", cwd=home.folder, **settings)
    (home.settings / "kicad_common.json").write_text("{}")
    faulty = run("kicad", "doctor", cwd=home.folder, **settings)

    assert (fine.code, faulty.code) == (0, 1)
    assert "FAULT  KiCad's API is off" in faulty.out
    assert sorted(home.folder.rglob("*")) == files
