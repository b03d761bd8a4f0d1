"""The set-up script, run against stand-ins for the system's tools: nothing gets installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKS = (ROOT / "installer/requirements.lock", ROOT / "installer/requirements-test.lock")

_PYTHON = """#!/bin/sh
echo "python $*" >>"$TRACE"
case "$*" in
    *"-m venv"*)
        for last; do :; done
        mkdir -p "$last/bin"
        touch "$last/pyvenv.cfg"
        cp "$0" "$last/bin/python" ;;
    *"dpdesk demo"*)
        for last; do :; done
        mkdir -p "$last/one/public"
        touch "$last/one/public/manifest.json" ;;
esac
"""
_TABLE = ROOT / "resources/system-libraries.txt"
_LINES = [line.split() for line in _TABLE.read_text("utf-8").splitlines() if line[:1] != "#"]
_LIBRARIES = tuple(library for use, library, _ in _LINES if use == "any")


@dataclass
class Checkout:
    """A copy of the set-up script in a folder with a blank, and the tools that it sees."""

    root: Path
    tools: Path

    def tool(self, name: str, text: str) -> None:
        path = self.tools / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"$TRACE"\n{text}\n')
        path.chmod(0o755)

    def libraries(self, *names: str) -> None:
        listing = "".join(f"\t{name} (libc6,x86-64) => /lib/{name}\n" for name in names)
        (self.tools / "libraries").write_text(listing)

    def bootstrap(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        (self.root / "trace").write_text("")
        path = f"{self.tools}:/usr/bin:/bin"
        environment = {"PATH": path, "TRACE": str(self.root / "trace"), "HOME": "/"} | more
        return subprocess.run(
            [self.root / "installer/bootstrap", *arguments],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def trace(self) -> str:
        return (self.root / "trace").read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, tools = tmp_path / "a checkout", tmp_path / "tools"
    (root / "installer").mkdir(parents=True)
    tools.mkdir()
    for name in ("bootstrap", "requirements.lock", "requirements-test.lock"):
        shutil.copy2(ROOT / "installer" / name, root / "installer" / name)
    shutil.copy2(ROOT / "pyproject.toml", root)
    (root / "resources").mkdir()
    shutil.copy2(_TABLE, root / "resources")
    made = Checkout(root, tools)
    made.tool("id", "echo 1000")
    made.tool("ldconfig", f'cat "{tools}/libraries"')
    made.tool("apt-get", "")
    made.tool("apt-cache", "case $2 in *t64) exit 1;; esac")
    for version in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        (tools / version).write_text(_PYTHON)
        (tools / version).chmod(0o755)
    made.libraries(*_LIBRARIES)
    return made


def pip_calls(trace: str) -> list[str]:
    return [line for line in trace.splitlines() if "-m pip install" in line]


def test_unknown_command_is_bad_usage_and_shows_the_commands(checkout: Checkout) -> None:
    for arguments in ((), ("sing",)):
        done = checkout.bootstrap(*arguments)
        assert done.returncode == 2
        assert "usage: ./installer/bootstrap" in done.stderr
        assert checkout.trace == ""


def test_missing_libraries_without_root_are_one_command_to_ask_for(checkout: Checkout) -> None:
    without = {"libglib-2.0.so.0", "libgthread-2.0.so.0", "libGL.so.1"}
    checkout.libraries(*(name for name in _LIBRARIES if name not in without))
    done = checkout.bootstrap("setup")
    assert done.returncode == 3
    command = done.stderr.strip().splitlines()[-1].strip()
    assert command == "sudo apt-get install -y --no-install-recommends libgl1 libglib2.0-0"
    assert "apt-get install" not in checkout.trace
    assert not (checkout.root / ".venv").exists()


def test_a_library_whose_name_merely_begins_alike_does_not_count(checkout: Checkout) -> None:
    others = (name for name in _LIBRARIES if name != "libfontconfig.so.1")
    checkout.libraries(*others, "libfontconfig.so.12")
    assert checkout.bootstrap("setup").returncode == 3


def test_root_updates_then_installs_what_is_missing_and_goes_on(checkout: Checkout) -> None:
    checkout.libraries(*(name for name in _LIBRARIES if name != "libfontconfig.so.1"))
    checkout.tool("id", "echo 0")
    line = "printf '\\tlibfontconfig.so.1 (libc6) => /x\\n'"
    checkout.tool(
        "apt-get",
        f'case "$*" in *libfontconfig1*) {line} >>"{checkout.tools}/libraries";; esac',
    )
    done = checkout.bootstrap("setup")
    assert done.returncode == 0, done.stderr
    calls = [line for line in checkout.trace.splitlines() if line.startswith("apt-get")]
    assert calls[0].startswith("apt-get update")
    assert calls[1].endswith("libfontconfig1")
    assert len(pip_calls(checkout.trace)) == 2


def test_a_display_asks_for_the_libraries_of_a_real_window(checkout: Checkout) -> None:
    done = checkout.bootstrap("run", DISPLAY=":7")
    assert done.returncode == 3
    assert "libxcb-cursor0" in done.stderr
    assert "libwayland-cursor0" not in done.stderr
    done = checkout.bootstrap("run", WAYLAND_DISPLAY="wayland-0")
    assert done.returncode == 3
    assert "libwayland-cursor0" in done.stderr
    assert checkout.bootstrap("run").returncode == 0


def test_packages_come_by_hash_as_wheels_and_the_project_without_the_network(
    checkout: Checkout,
) -> None:
    assert checkout.bootstrap("setup").returncode == 0
    packages, project = pip_calls(checkout.trace)
    assert "--require-hashes --only-binary :all:" in packages
    assert packages.endswith("installer/requirements.lock")
    assert "--no-deps --no-index --no-build-isolation" in project


def test_a_wheelhouse_replaces_the_network(checkout: Checkout) -> None:
    (checkout.root / "wheelhouse").mkdir()
    assert checkout.bootstrap("setup").returncode == 0
    packages = pip_calls(checkout.trace)[0]
    assert f"--no-index --find-links {checkout.root}/wheelhouse" in packages


def test_a_second_set_up_installs_nothing(checkout: Checkout) -> None:
    checkout.bootstrap("setup")
    assert checkout.bootstrap("setup").returncode == 0
    assert "python" not in checkout.trace


def test_a_changed_lock_or_a_moved_checkout_sets_up_again(checkout: Checkout) -> None:
    checkout.bootstrap("setup")
    with (checkout.root / "installer/requirements.lock").open("a") as lock:
        lock.write("\n")
    checkout.bootstrap("setup")
    assert len(pip_calls(checkout.trace)) == 2
    moved = Checkout(checkout.root.rename(checkout.root.parent / "elsewhere"), checkout.tools)
    moved.bootstrap("setup")
    assert len(pip_calls(moved.trace)) == 2


def test_the_test_environment_serves_a_run_but_not_the_reverse(checkout: Checkout) -> None:
    checkout.bootstrap("setup")
    checkout.bootstrap("test")
    assert pip_calls(checkout.trace)[0].endswith("requirements-test.lock")
    assert checkout.bootstrap("run").returncode == 0
    assert pip_calls(checkout.trace) == []


def test_an_environment_made_by_hand_is_brought_to_the_lock_and_kept(checkout: Checkout) -> None:
    own = checkout.root / ".venv"
    (own / "bin").mkdir(parents=True)
    shutil.copy2(checkout.tools / "python3", own / "bin/python")
    (own / "pyvenv.cfg").touch()
    (own / "mine").touch()
    assert checkout.bootstrap("setup").returncode == 0
    assert (own / "mine").exists()
    assert len(pip_calls(checkout.trace)) == 2


def test_a_folder_that_is_no_environment_is_not_removed(checkout: Checkout) -> None:
    (checkout.root / ".venv").mkdir()
    (checkout.root / ".venv/thesis.txt").touch()
    done = checkout.bootstrap("setup")
    assert done.returncode == 2
    assert (checkout.root / ".venv/thesis.txt").exists()


def test_a_failed_installation_leaves_no_stamp(checkout: Checkout) -> None:
    checkout.bootstrap("setup")
    stamp = checkout.root / ".venv/dpdesk.stamp"
    assert stamp.exists()
    failing = _PYTHON.replace('case "$*" in', 'case "$*" in *"pip install"*) exit 1;;', 1)
    (checkout.root / ".venv/bin/python").write_text(failing)
    assert checkout.bootstrap("test").returncode == 1
    assert not stamp.exists()


def test_too_old_a_python_is_refused_with_what_to_ask_for(checkout: Checkout) -> None:
    for path in checkout.tools.glob("python3*"):
        path.write_text("#!/bin/sh\nexit 1\n")
    done = checkout.bootstrap("setup")
    assert done.returncode == 3
    assert "sudo apt-get install" in done.stderr
    assert "python3" in done.stderr


def test_a_chosen_python_that_does_not_suit_is_refused_not_replaced(checkout: Checkout) -> None:
    checkout.tool("old", "exit 1")
    done = checkout.bootstrap("setup", DPDESK_PYTHON=str(checkout.tools / "old"))
    assert done.returncode == 2
    assert "DPDESK_PYTHON" in done.stderr
    assert not (checkout.root / ".venv").exists()
    assert checkout.bootstrap("setup", DPDESK_PYTHON="python3.12").returncode == 0


def test_run_replaces_earlier_demo_releases(checkout: Checkout) -> None:
    demo = checkout.root / "demo-release"
    (demo / "earlier/public").mkdir(parents=True)
    (demo / "earlier/public/manifest.json").touch()
    done = checkout.bootstrap("run")
    assert done.returncode == 0, done.stderr
    assert "There is no display here" in done.stderr
    assert [path.name for path in demo.iterdir()] == ["one"]


def test_run_never_removes_what_is_not_a_demo_release(checkout: Checkout) -> None:
    (checkout.root / "demo-release").mkdir()
    thesis = checkout.root / "demo-release/thesis.txt"
    thesis.touch()
    done = checkout.bootstrap("run")
    assert done.returncode == 2
    assert thesis.exists()


def test_one_failed_check_fails_the_tests_and_is_named(checkout: Checkout) -> None:
    failing = _PYTHON.replace('case "$*" in', 'case "$*" in *"-m mypy") exit 1;;', 1)
    (checkout.tools / "python3").write_text(failing)
    done = checkout.bootstrap("test")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("failed: types")
    assert "-m pytest" in checkout.trace


def requirements(lock: Path) -> dict[str, str]:
    """Each locked requirement with its hashes, by its line ``name==version ; marker``."""
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    return {line: hashes for line, _, hashes in (entry.partition(" \\\n") for entry in entries)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_package_has_hashes_and_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text()
    for line, hashes in requirements(lock).items():
        assert re.match(r"[a-z0-9-]+==[\w.]+", line), line
        assert "--hash=sha256:" in hashes, line


def test_a_run_uses_exactly_the_packages_that_are_tested() -> None:
    run, test = (requirements(lock) for lock in LOCKS)
    assert run.items() <= test.items()


def test_the_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for lock, asked in zip(LOCKS, (extras["build"], extras["build"] + extras["test"]), strict=True):
        locked = [Requirement(line) for line in requirements(lock)]
        for text in project["dependencies"] + asked:
            wanted = Requirement(text)
            found = [given for given in locked if given.name == wanted.name.lower()]
            assert found, text
            for given in found:
                (version,) = [pin.version for pin in given.specifier]
                assert wanted.specifier.contains(version), (text, version)


def test_scripts_are_executable() -> None:
    for name in ("installer/bootstrap", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK), name
