"""What goes into a package, as far as nothing has to be installed; the rest is a long test."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package() -> ModuleType:
    spec = importlib.util.spec_from_file_location("package", ROOT / "installer" / "package.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_packages_that_make_wheels_stay_out(package: ModuleType) -> None:
    lock = "a==1 \\\n    --hash=sha256:1\nhatchling==2 \\\n    --hash=sha256:2\nz==3\n"
    assert package.without_build(lock) == "a==1 \\\n    --hash=sha256:1\nz==3\n"
    kept = package.without_build(package.LOCK.read_text("utf-8"))
    assert "\nnumpy==" in kept
    assert "\nhatchling==" not in kept


def test_the_launcher_finds_itself_and_names_the_libraries_of_a_desktop(
    package: ModuleType, tmp_path: Path
) -> None:
    usual = package.desktop_libraries("any")
    assert {"libEGL.so.1", "libstdc++.so.6"} <= usual
    assert "libxcb-cursor.so.0" in package.desktop_libraries() - usual
    folder = tmp_path / "with a blank"
    (folder / "bin").mkdir(parents=True)
    (folder / "runtime/bin").mkdir(parents=True)
    launcher, python = folder / "bin/dpdesk", folder / "runtime/bin/python3"
    launcher.write_text(package.LAUNCHER.replace("LIBRARIES", "libnone.so.1"))
    python.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH" "$@"\n')
    for path in (launcher, python):
        path.chmod(0o755)
    (tmp_path / "link").symlink_to(launcher)
    said = subprocess.run([tmp_path / "link", "inspect", "x"], capture_output=True, text=True)
    libraries = f"{folder}/runtime/lib:{folder}/runtime/desktop"
    assert said.stdout == f"{libraries} -I -m dpdesk inspect x\n"


def test_parts_and_sums_are_listed(package: ModuleType, tmp_path: Path) -> None:
    one = tmp_path / "runtime" / "one-1.0.dist-info"
    one.mkdir(parents=True)
    head = "Metadata-Version: 2.1\nName: One\nVersion: 1.0\nLicense-Expression: MIT\n\nText\n"
    (one / "METADATA").write_text(head)
    found = package.bill_of_materials(tmp_path / "runtime")
    assert json.loads(json.dumps(found))["components"][1] == {
        "type": "library",
        "name": "One",
        "version": "1.0",
        "purl": "pkg:pypi/one@1.0",
        "licenses": [{"license": {"name": "MIT"}}],
    }
    package.write_sums(tmp_path)
    digest = hashlib.sha256(head.encode()).hexdigest()
    listed = (tmp_path / "SHA256SUMS").read_text()
    assert listed == f"{digest}  ./runtime/one-1.0.dist-info/METADATA\n"


def test_the_debian_package_says_what_it_is(package: ModuleType) -> None:
    text = package.control("amd64", 1234)
    fields = dict(line.split(": ", 1) for line in text.splitlines() if line[:1] != " ")
    assert fields["Version"] == package.version()
    assert fields["Depends"] == "libc6"
    assert fields["Installed-Size"] == "1234"
    assert "%f" in package.DESKTOP
    assert "*.dpdesk" in package.MIME
    assert package.ICON.read_text("utf-8").startswith("<svg")


def test_a_folder_that_is_there_is_not_replaced(
    package: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"dpdesk-{package.version()}").mkdir()
    assert package.main(["folder", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
