"""What goes into a package, as far as nothing has to be installed; the rest is a long test."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import plistlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tomllib
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
    sys.modules[spec.name] = module
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


# Packages for other systems: what can be seen of them here.


def archive_of(path: Path, names: dict[str, bytes]) -> str:
    """A Python as it is downloaded, of a few files; its SHA-256."""
    with tarfile.open(path, "w:gz") as packed:
        for name, content in names.items():
            entry = tarfile.TarInfo(f"python/{name}")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("system", ["windows", "macos"])
def test_a_python_for_another_system_is_named_with_its_hash(
    package: ModuleType, system: str
) -> None:
    runtime = package.runtime_of(system)
    assert re.fullmatch(r"[0-9a-f]{64}", runtime.sha256)
    assert runtime.python in runtime.file
    with (ROOT / "pyproject.toml").open("rb") as file:
        least = tomllib.load(file)["project"]["requires-python"].removeprefix(">=")
    assert tuple(map(int, runtime.short.split("."))) >= tuple(map(int, least.split(".")))


def test_the_lock_file_is_read_with_the_eyes_of_the_other_system(package: ModuleType) -> None:
    lock = (
        "a==1 ; sys_platform == 'win32' \\\n    --hash=sha256:1\n"
        "b==2 ; sys_platform != 'win32' and python_version < '4' \\\n    --hash=sha256:2\n"
        "hatchling==3 \\\n    --hash=sha256:3\n"
        "c==4 \\\n    --hash=sha256:4\n"
    )
    windows, macos = (package.runtime_of(name) for name in ("windows", "macos"))
    c = "c==4 \\\n    --hash=sha256:4\n"
    assert package.lock_for(windows, lock) == "a==1 \\\n    --hash=sha256:1\n" + c
    assert package.lock_for(macos, lock) == "b==2 \\\n    --hash=sha256:2\n" + c
    whole = package.lock_for(windows, package.LOCK.read_text("utf-8"))
    assert ";" not in whole
    assert "\nnumpy==" in whole


def test_another_archive_than_the_named_one_is_refused(
    package: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive_of(tmp_path / "python.tar.gz", {"python.exe": b"other"})
    given = ["windows", str(tmp_path / "out"), "--runtime", str(tmp_path / "python.tar.gz")]
    assert package.main(given) == 2
    assert "has the SHA-256" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


def test_an_option_that_is_missing_or_for_another_package_is_refused(
    package: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in (["windows"], ["folder", "--runtime", "x"], ["sign"], ["deb", "--key", "x"]):
        with pytest.raises(SystemExit) as ended:
            package.main([given[0], str(tmp_path / "out"), *given[1:]])
        assert ended.value.code == 2
    assert "--runtime goes with windows and macos" in capsys.readouterr().err


def other_system(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, python: str
) -> Path:
    """The archive of a Python that holds nothing, taken for the named one; libraries stay out."""
    archive = tmp_path / "python.tar.gz"
    names = {python: b"a program", "Lib/os.py": b"", "Lib/threading.py": b"", "Lib/test/x.py": b""}
    found = archive_of(archive, {**names, "tcl/x": b"", "lib/thread2.8/x": b"", "LICENSE.txt": b""})
    entry = package.runtime_of(system)
    entry = type(entry)(**{**vars(entry), "sha256": found})
    monkeypatch.setattr(package, "runtime_of", lambda name: entry)

    def install(runtime: object, packages: Path) -> None:
        (packages / "dpdesk").mkdir(parents=True)
        (packages / "dpdesk" / "__main__.py").touch()

    monkeypatch.setattr(package, "install_for", install)
    return archive


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_the_set_up_program_for_windows_is_made(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = other_system(package, monkeypatch, tmp_path, "windows", "python.exe")
    out = tmp_path / "out"
    assert package.main(["windows", str(out), "--runtime", str(archive)]) == 0
    name = f"dpdesk-{package.version()}-windows-x86_64"
    made = sorted(path.name for path in out.iterdir())
    assert made == [f"{name}-setup.exe", f"{name}.zip"]
    assert (out / f"{name}-setup.exe").read_bytes()[:2] == b"MZ"


def test_the_folder_for_windows_has_a_python_and_a_command(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = other_system(package, monkeypatch, tmp_path, "windows", "python.exe")
    monkeypatch.setattr(package.shutil, "which", lambda name: None)
    (tmp_path / "out").mkdir()
    (made,) = package.make_windows(tmp_path / "out", archive)
    shutil.unpack_archive(made, tmp_path / "there")
    folder = tmp_path / "there" / f"dpdesk-{package.version()}"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.relative_to(folder).as_posix() for path in files) == [
        "SHA256SUMS",
        "dpdesk.cmd",
        "dpdesk.ico",
        "runtime/LICENSE.txt",
        "runtime/Lib/os.py",
        "runtime/Lib/site-packages/dpdesk/__main__.py",
        "runtime/Lib/threading.py",
        "runtime/lib/thread2.8/x",
        "runtime/python.exe",
        "sbom.json",
    ]
    command = (folder / "dpdesk.cmd").read_bytes()
    assert b'"%~dp0runtime\\python.exe" -I -m dpdesk %*\r\n' in command
    listed = (folder / "SHA256SUMS").read_text("utf-8")
    assert hashlib.sha256(command).hexdigest() in listed
    parts = json.loads((folder / "sbom.json").read_text("utf-8"))["components"]
    assert parts[0]["version"] == package.runtime_of("windows").python


def test_the_bundle_for_macos_starts_what_is_in_it(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = b'#!/bin/sh\necho "$@"\n'
    archive = other_system(package, monkeypatch, tmp_path, "macos", "bin/python3")
    (tmp_path / "out").mkdir()
    (made,) = package.make_macos(tmp_path / "out", archive)
    shutil.unpack_archive(made, tmp_path / "with a blank")
    bundle = tmp_path / "with a blank" / f"dpdesk-{package.version()}" / "DPDesk.app" / "Contents"
    python = bundle / "Resources" / "runtime" / "bin" / "python3"
    assert python.read_bytes() == b"a program"
    assert (bundle / "Resources" / "runtime" / "Lib" / "threading.py").is_file()
    assert not (bundle / "Resources" / "runtime" / "lib" / "thread2.8").exists()
    python.write_bytes(said)
    python.chmod(0o755)
    started = subprocess.run(
        [bundle / "MacOS" / "DPDesk", "inspect", "a b"], capture_output=True, text=True
    )
    assert started.stdout == "-I -m dpdesk inspect a b\n"
    known = plistlib.loads((bundle / "Info.plist").read_bytes())
    assert known["CFBundleExecutable"] == "DPDesk"
    assert (bundle / "Resources" / known["CFBundleIconFile"]).is_file()
    kinds = known["CFBundleDocumentTypes"][0]["LSItemContentTypes"]
    assert kinds == [known["UTExportedTypeDeclarations"][0]["UTTypeIdentifier"]]


def test_icons_hold_a_picture_of_each_size(package: ModuleType) -> None:
    ico = package.icon_file("ico")
    kind, count = struct.unpack("<HH", ico[2:6])
    assert (kind, count) == (1, len(package.ICO_SIZES))
    for i, size in enumerate(package.ICO_SIZES):
        length, place = struct.unpack("<II", ico[6 + 16 * i + 8 : 6 + 16 * i + 16])
        png = ico[place : place + length]
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", png[16:24]) == (size, size)
    assert place + length == len(ico)
    icns = package.icon_file("icns")
    assert icns[:4] == b"icns"
    assert struct.unpack(">I", icns[4:8]) == (len(icns),)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_packages_are_signed_so_that_openssl_and_sha256sum_check_them(
    package: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, public, out = tmp_path / "key.pem", tmp_path / "public.pem", tmp_path / "out"
    made = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", key]
    subprocess.run(made, check=True, capture_output=True)
    shown = ["openssl", "pkey", "-in", key, "-pubout", "-out", public]
    subprocess.run(shown, check=True, capture_output=True)
    out.mkdir()
    assert package.main(["sign", str(out), "--key", str(key)]) == 2
    (out / "a.tar.gz").write_bytes(b"a package")
    assert package.main(["sign", str(out), "--key", str(tmp_path / "none.pem")]) == 1
    assert sorted(path.name for path in out.iterdir()) == ["a.tar.gz"]
    assert package.main(["sign", str(out), "--key", str(key)]) == 0
    check = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", str(public)]
    check += ["-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"]
    assert subprocess.run(check, cwd=out, capture_output=True).returncode == 0
    sums = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(sums, cwd=out, capture_output=True).returncode == 0
    (out / "SHA256SUMS").write_text("0  ./a.tar.gz\n")
    assert subprocess.run(check, cwd=out, capture_output=True).returncode != 0
