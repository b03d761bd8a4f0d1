"""Makes packages of DPDesk that need no network: a folder that runs anywhere, its archive, a .deb.

    python installer/package.py folder  OUT      make OUT/dpdesk-VERSION
    python installer/package.py archive OUT      the same as .tar.gz
    python installer/package.py deb     OUT      a Debian package (needs dpkg-deb)
    python installer/package.py check   FOLDER   run a folder in a bare root without a network
    python installer/package.py windows OUT --runtime ARCHIVE
                                                 a set-up program (needs makensis) and an archive
    python installer/package.py macos   OUT --runtime ARCHIVE
                                                 an application bundle in an archive
    python installer/package.py sign    OUT --key KEY
                                                 sign the packages in OUT (needs openssl)

Each package holds its own Python, the packages of ``requirements.lock`` (by their hashes; from
``wheelhouse/`` alone where that exists), the program, and copies of the libraries of the system
that these need, in two folders: those of Python itself, and those that nearly every desktop has,
which are used only where the computer lacks one of them. ``sbom.json`` (CycloneDX) names every part
with its version, ``SHA256SUMS`` the hash of every file. Run it with the Python that the package is
to hold; ``./installer/bootstrap package`` does so.

The packages for Windows and macOS are put together here and have been run on neither: nothing of
them can be started on Linux but the making itself. Their Python is an archive that is fetched by
hand and must be the one of ``runtimes.toml``; their libraries are those of ``requirements.lock``.

Exit codes: 0 done, 1 a step failed, 2 bad usage, 3 a tool is missing.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import platform
import plistlib
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNTIMES = ROOT / "installer" / "runtimes.toml"
LOCK = ROOT / "installer" / "requirements.lock"
WHEELHOUSE = ROOT / "wheelhouse"
DISPLAY_LIBRARIES = ROOT / "resources" / "system-libraries.txt"
ICON = ROOT / "resources" / "icon.svg"
BUILD_ONLY = frozenset({"hatchling", "editables", "pathspec", "pluggy", "trove-classifiers"})
"""Packages of the lock file that make wheels and are not part of the program."""
BASE = re.compile(r"(ld-linux|libc|libm|libdl|libpthread|librt|libresolv|libutil|libnsl)[-.].*")
"""The C library: it belongs to the kernel and to the computer, and every Linux has it."""
LEFT_OUT = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "site-packages",
    "__pycache__", "_tkinter.*", "_test*", "_ctypes_test*", "xxlimited*", "nis.*", "_gdbm.*",
    "_dbm.*",
)  # fmt: skip
"""Parts of Python's library that nothing here needs."""
QT_LEFT_OUT = (
    "qml", "libexec", "metatypes", "include", "typesystems", "glue", "doc", "scripts",
    "lib/cmake", "plugins/sqldrivers", "plugins/egldeviceintegrations", "plugins/printsupport",
    "plugins/platformthemes/libqgtk3.so", "plugins/qmltooling", "plugins/qmllint",
    "plugins/designer",
)  # fmt: skip
"""Parts of Qt that the window does not use, some of which load half a desktop."""
TOOL = re.compile(
    r"(designer|linguist|assistant|lupdate|lrelease|qml.*|balsam.*|svgtoqml|rcc|uic)(\.exe|\.app)?",
    re.IGNORECASE,
)
LAUNCHER = """#!/bin/sh
# Starts DPDesk where this folder lies; nothing of the user's own Python has a say in it.
self=$(readlink -f -- "$0")
here=$(dirname -- "$(dirname -- "$self")")
libraries=$here/runtime/lib
for library in LIBRARIES; do
    found=
    for place in /lib /usr/lib /lib64 /usr/lib64 /lib/*-linux-gnu /usr/lib/*-linux-gnu; do
        [ -e "$place/$library" ] && found=yes && break
    done
    [ -n "$found" ] || { libraries=$libraries:$here/runtime/desktop; break; }
done
export LD_LIBRARY_PATH="$libraries"
exec "$here/runtime/bin/python3" -I -m dpdesk "$@"
"""
DESKTOP = """[Desktop Entry]
Type=Application
Name=DPDesk
Comment=Publish data about people without betraying one of them
Comment[de]=Daten über Menschen veröffentlichen, ohne einen von ihnen preiszugeben
Exec=dpdesk open %f
TryExec=dpdesk
Icon=dpdesk
Terminal=false
Categories=Office;Science;
MimeType=application/x-dpdesk-project;
"""
MIME = """<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-dpdesk-project">
    <comment>DPDesk project</comment>
    <comment xml:lang="de">DPDesk-Projekt</comment>
    <glob pattern="*.dpdesk"/>
    <icon name="dpdesk"/>
  </mime-type>
</mime-info>
"""


COMMAND = """@echo off
rem Starts DPDesk where this folder lies; nothing of the user's own Python has a say in it.
"%~dp0runtime\\python.exe" -I -m dpdesk %*
exit /b %ERRORLEVEL%
"""
BUNDLE_LAUNCHER = """#!/bin/sh
# Starts DPDesk where this bundle lies; nothing of the user's own Python has a say in it.
here=$(cd -- "$(dirname -- "$0")/../Resources" && pwd -P)
exec "$here/runtime/bin/python3" -I -m dpdesk "$@"
"""
SETUP = ROOT / "installer" / "setup.nsi"
PROJECT_TYPE = "local.dpdesk.project"
"""What macOS calls a project: a uniform type identifier."""
WINDOWS_LEFT_OUT = (
    *LEFT_OUT, "tcl", "Scripts", "include", "libs", "_tkinter.pyd", "tcl8*.dll", "tk8*.dll",
)  # fmt: skip
MACOS_LEFT_OUT = (
    *LEFT_OUT, "include", "share", "pkgconfig", "libtcl*", "libtk*", "tcl8*", "tk8*", "itcl4*",
    "tdbc1*", "thread2*", "*.a", "config-*",
)  # fmt: skip


class PackageError(Exception):
    """A package cannot be made; the message is one sentence. ``code`` is the exit code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


def version() -> str:
    """The version of the program, from ``pyproject.toml``."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: str = tomllib.load(file)["project"]["version"]
    return found


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a tool; PackageError with the end of what it said when it fails."""
    done = subprocess.run(  # type: ignore[call-overload]
        [str(one) for one in command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise PackageError(f"{command[0]} failed with exit code {done.returncode}: {said[0]}")
    return done  # type: ignore[no-any-return]


def make_folder(out: Path) -> Path:
    """Make the relocatable folder below ``out``; its path. It must not be there yet."""
    folder = out / f"dpdesk-{version()}"
    if folder.exists():
        raise PackageError(f"{folder} is there already, expected no such folder", 2)
    with tempfile.TemporaryDirectory(dir=out, prefix=".dpdesk-") as scratch:
        made = Path(scratch) / folder.name
        (made / "bin").mkdir(parents=True)
        copy_python(made / "runtime")
        packages = made / "runtime" / "lib" / f"python{short_version()}" / "site-packages"
        install(packages)
        copy_libraries(made / "runtime")
        launcher = made / "bin" / "dpdesk"
        usual = " ".join(sorted(desktop_libraries("any")))
        launcher.write_text(LAUNCHER.replace("LIBRARIES", usual), encoding="utf-8")
        launcher.chmod(0o755)
        compile_all(made)
        list_parts(made, packages)
        made.rename(folder)
    return folder


def list_parts(folder: Path, packages: Path, python: str = "") -> None:
    """Write ``sbom.json`` and, last, ``SHA256SUMS`` of all files."""
    parts = json.dumps(bill_of_materials(packages, python), indent=1, ensure_ascii=False)
    (folder / "sbom.json").write_text(parts + "\n", encoding="utf-8")
    write_sums(folder)


def short_version() -> str:
    """``3.11`` and the like, of the Python that runs this."""
    return "{}.{}".format(*sys.version_info[:2])


def copy_python(runtime: Path) -> None:
    """Copy the Python that runs this, without what no program needs."""
    library = Path(sysconfig.get_path("stdlib"))
    (runtime / "bin").mkdir(parents=True)
    shutil.copy2(Path(sys.executable).resolve(), runtime / "bin" / "python3")
    target = runtime / "lib" / f"python{short_version()}"
    skip = shutil.ignore_patterns(*LEFT_OUT, "config-*", "*.a", "*.exe")
    shutil.copytree(library, target, ignore=skip, symlinks=False)
    shared = sysconfig.get_config_var("INSTSONAME")
    place = Path(sysconfig.get_config_var("LIBDIR") or "") / str(shared)
    if shared and ".so" in str(shared) and place.is_file():
        shutil.copy2(place, runtime / "lib" / str(shared))


def install(packages: Path) -> None:
    """Install the locked packages and the program into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        lock = Path(scratch) / "packages.lock"
        lock.write_text(without_build(LOCK.read_text(encoding="utf-8")), encoding="utf-8")
        source = ["--no-index", "--find-links", str(WHEELHOUSE)] if WHEELHOUSE.is_dir() else []
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        common = ["install", "-q", "--no-compile", "--target", str(packages)]
        run(*pip, *common, "--require-hashes", "--only-binary", ":all:", *source, "-r", lock)
        build = ["wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
        run(*pip, *build, "-w", scratch, ROOT)
        wheel = next(Path(scratch).glob("dpdesk-*.whl"))
        run(*pip, *common, "--no-deps", "--no-index", wheel)
    prune(packages)


def prune(packages: Path) -> None:
    """Remove parts of installed packages that the program does not use."""
    shutil.rmtree(packages / "bin", ignore_errors=True)
    qt = packages / "PySide6"
    unused = [base / part for base in (qt / "Qt", qt) for part in QT_LEFT_OUT]
    unused += [*packages.rglob("tests"), packages / "pyarrow" / "include"]
    unused += [path for path in qt.iterdir() if TOOL.fullmatch(path.name) or path.suffix == ".pyi"]
    for path in unused:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Runtime:
    """A Python for a system that packages are made for from elsewhere, as ``runtimes.toml`` has it.

    ``wheels`` are the tags of the platforms whose wheels it takes; ``system``, ``machine`` and
    ``name`` what :mod:`platform` and :data:`sys.platform` say there.
    """

    file: str
    sha256: str
    python: str
    wheels: tuple[str, ...]
    system: str
    machine: str
    name: str

    @property
    def short(self) -> str:
        """``3.12`` and the like."""
        return self.python.rsplit(".", 1)[0]

    def suits(self, marker: str) -> bool:
        """Whether a requirement with this marker (PEP 508) is for that system."""
        from packaging.markers import Marker

        there = {
            "sys_platform": self.name,
            "platform_system": self.system,
            "platform_machine": self.machine,
            "os_name": "nt" if self.name == "win32" else "posix",
            "python_version": self.short,
            "python_full_version": self.python,
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }
        return Marker(marker).evaluate(there)

    def unpack(self, archive: Path, target: Path, skip: Sequence[str]) -> None:
        """Unpack the archive, which has one folder ``python``; PackageError for another file."""
        with archive.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise PackageError(
                f"{archive} has the SHA-256 {found}, expected {self.sha256} of {self.file}", 2
            )
        with tarfile.open(archive) as packed, tempfile.TemporaryDirectory(dir=target.parent) as at:
            packed.extractall(at, filter="data")
            shutil.copytree(
                Path(at) / "python", target, symlinks=True, ignore=shutil.ignore_patterns(*skip)
            )


def runtime_of(system: str) -> Runtime:
    """The Python of ``windows`` or ``macos``."""
    with RUNTIMES.open("rb") as file:
        entry = tomllib.load(file)[system]
    return Runtime(**{**entry, "wheels": tuple(entry["wheels"])})


def install_for(runtime: Runtime, packages: Path) -> None:
    """Install the locked wheels of another system and the program into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        lock = Path(scratch) / "packages.lock"
        lock.write_text(lock_for(runtime, LOCK.read_text(encoding="utf-8")), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        common = ["install", "-q", "--no-compile", "--no-deps", "--target", str(packages)]
        tags = [part for tag in runtime.wheels for part in ("--platform", tag)]
        abis = ("cp" + runtime.short.replace(".", ""), "abi3", "none")
        tags += [part for abi in abis for part in ("--abi", abi)]
        tags += ["--implementation", "cp", "--python-version", runtime.short]
        source = ["--no-index", "--find-links", str(WHEELHOUSE)] if WHEELHOUSE.is_dir() else []
        hashed = ["--require-hashes", "--only-binary", ":all:"]
        run(*pip, *common, *hashed, *tags, *source, "-r", lock)
        build = ["wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
        run(*pip, *build, "-w", scratch, ROOT)
        run(*pip, *common, "--no-index", next(Path(scratch).glob("dpdesk-*.whl")))
    prune(packages)


def lock_for(runtime: Runtime, lock: str) -> str:
    """The lock file of another system: the requirements that are for it, without markers."""
    kept, keep = [], True
    for line in without_build(lock).splitlines(keepends=True):
        if re.match(r"[A-Za-z0-9]", line):
            pinned, _, rest = line.partition(" ; ")
            marker = rest.rstrip().removesuffix("\\").strip()
            keep = not marker or runtime.suits(marker)
            line = f"{pinned} \\\n" if marker else line
        if keep:
            kept.append(line)
    return "".join(kept)


def without_build(lock: str) -> str:
    """A lock file without the packages that only make wheels."""
    kept, keep = [], True
    for line in lock.splitlines(keepends=True):
        name = re.match(r"[A-Za-z0-9._-]+", line)
        if name is not None:
            keep = name[0].lower() not in BUILD_ONLY
        if keep:
            kept.append(line)
    return "".join(kept)


def desktop_libraries(*uses: str) -> frozenset[str]:
    """Names of the libraries that the program expects of a desktop, for some uses (all: none)."""
    lines = DISPLAY_LIBRARIES.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    found = {library for use, library, _ in rows if not uses or use in uses}
    return frozenset(found | {"libstdc++.so.6", "libgcc_s.so.1"})


def copy_libraries(runtime: Path) -> None:
    """Copy the libraries of this system that files of the package load, by what they are for."""
    own = {path.name for path in runtime.rglob("*.so*")}
    of_python = [runtime / "bin" / "python3", *(runtime / "lib").glob("python*/lib-dynload/*.so")]
    plain = {name for name, _ in _loaded(of_python)} - desktop_libraries()
    binaries = [path for path in runtime.rglob("*") if path.is_file() and _is_binary(path)]
    (runtime / "desktop").mkdir()
    for name, path in sorted(set(_loaded(binaries))):
        if name not in own and not BASE.fullmatch(name):
            target = runtime / ("lib" if name in plain else "desktop") / name
            shutil.copy2(path.resolve(), target)


def _loaded(binaries: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The libraries that binary files load, as the linker of this system finds them."""
    for path in binaries:
        said = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
        for name, place in re.findall(r"(\S+) => (/\S+)", said.stdout):
            yield name, Path(place)


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def compile_all(folder: Path) -> None:
    """Compile every module once; the compiled files are valid wherever the folder is put."""
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0"]
    where = ["--invalidation-mode", "unchecked-hash", "-s", str(folder), str(folder / "runtime")]
    subprocess.run([*command, *where], capture_output=True, check=False)


def bill_of_materials(packages: Path, python: str = "") -> dict[str, object]:
    """What the package is made of, in the form of CycloneDX 1.5.

    ``python`` is the version of its Python, when that is not the one that runs this.
    """
    parts: list[dict[str, object]] = [
        {"type": "platform", "name": "CPython", "version": python or platform.python_version()}
    ]
    for metadata in sorted(packages.glob("*.dist-info/METADATA")):
        head = metadata.read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0]
        said = dict(re.findall(r"(?m)^(Name|Version|License|License-Expression): (.*)$", head))
        part: dict[str, object] = {
            "type": "library",
            "name": said["Name"],
            "version": said["Version"],
            "purl": f"pkg:pypi/{said['Name'].lower()}@{said['Version']}",
        }
        licence = said.get("License-Expression") or said.get("License")
        if licence and len(licence) < 100:
            part["licenses"] = [{"license": {"name": licence}}]
        parts.append(part)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "dpdesk", "version": version()}},
        "components": parts,
    }


def write_sums(folder: Path) -> None:
    """``SHA256SUMS``, as ``sha256sum --check`` reads it."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            lines.append(f"{found}  ./{path.relative_to(folder).as_posix()}\n")
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def make_archive(out: Path) -> Path:
    """Make the archive of the folder; the same bytes for the same folder."""
    name = f"dpdesk-{version()}-linux-{platform.machine()}.tar.gz"
    with tempfile.TemporaryDirectory(dir=out, prefix=".dpdesk-") as scratch:
        folder = make_folder(Path(scratch))
        made = pack(folder, Path(scratch) / name)
        made.replace(out / name)
    return out / name


def pack(folder: Path, target: Path) -> Path:
    """Pack a folder as ``.tar.gz``; ``target``. The same bytes for the same folder."""
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder.parent)
            archive.add(path, inside, recursive=False, filter=_nameless)
    return target


def _nameless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without the names and the clock of this computer."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = "root"
    return entry


def make_deb(out: Path) -> Path:
    """Make a Debian package that puts the folder to ``/opt/dpdesk``."""
    if shutil.which("dpkg-deb") is None:
        raise PackageError("dpkg-deb is missing; on Debian it is in the package dpkg", 3)
    machine = run("dpkg", "--print-architecture").stdout.strip()
    name = f"dpdesk_{version()}_{machine}.deb"
    with tempfile.TemporaryDirectory(dir=out, prefix=".dpdesk-") as scratch:
        tree = Path(scratch) / "tree"
        (tree / "opt").mkdir(parents=True)
        make_folder(Path(scratch)).rename(tree / "opt" / "dpdesk")
        _place(tree / "usr/share/applications/dpdesk.desktop", DESKTOP)
        _place(tree / "usr/share/mime/packages/dpdesk.xml", MIME)
        icon = ICON.read_text(encoding="utf-8")
        _place(tree / "usr/share/icons/hicolor/scalable/apps/dpdesk.svg", icon)
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/bin/dpdesk").symlink_to("/opt/dpdesk/bin/dpdesk")
        size = sum(path.lstat().st_size for path in tree.rglob("*")) // 1024
        _place(tree / "DEBIAN/control", control(machine, size))
        tree.chmod(0o755)
        made = Path(scratch) / name
        run("dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", tree, made)
        made.replace(out / name)
    return out / name


def control(machine: str, size: int) -> str:
    """What Debian has to know of the package; ``size`` is in KiB."""
    return (
        f"Package: dpdesk\nVersion: {version()}\nArchitecture: {machine}\nSection: science\n"
        f"Priority: optional\nInstalled-Size: {size}\nDepends: libc6\n"
        "Maintainer: DPDesk <dpdesk@localhost>\n"
        "Description: statistical disclosure control, by window and command line\n"
        " DPDesk protects microdata and tables about people before they are published:\n"
        " k-anonymity, diverted values, tables with differential privacy, review and\n"
        " sign-off. It needs no network.\n"
    )


def make_windows(out: Path, archive: Path) -> Sequence[Path]:
    """Make the folder for Windows as an archive, and its set-up program where makensis is at hand.

    The program is installed for one user, without an administrator; removing it leaves projects,
    ledgers and keys where they are. Neither file is signed as Windows asks for.
    """
    runtime, name = runtime_of("windows"), f"dpdesk-{version()}-windows-x86_64"
    with tempfile.TemporaryDirectory(dir=out, prefix=".dpdesk-") as scratch:
        folder = Path(scratch) / f"dpdesk-{version()}"
        folder.mkdir()
        runtime.unpack(archive, folder / "runtime", WINDOWS_LEFT_OUT)
        packages = folder / "runtime" / "Lib" / "site-packages"
        install_for(runtime, packages)
        (folder / "dpdesk.cmd").write_text(COMMAND, encoding="ascii", newline="\r\n")
        (folder / "dpdesk.ico").write_bytes(icon_file("ico"))
        list_parts(folder, packages, runtime.python)
        made = [pack_zip(folder, Path(scratch) / f"{name}.zip")]
        if shutil.which("makensis"):
            made.append(set_up_program(folder, Path(scratch) / f"{name}-setup.exe"))
        return [one.replace(out / one.name) for one in made]


def pack_zip(folder: Path, target: Path) -> Path:
    """Pack the files of a folder as ``.zip``; ``target``. The same bytes for the same folder."""
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def set_up_program(folder: Path, target: Path) -> Path:
    """The folder as a program that installs it, made by makensis; ``target``."""
    size = sum(path.lstat().st_size for path in folder.rglob("*")) // 1024
    given = {"OUT": target, "FOLDER": folder, "VERSION": version(), "SIZE": size}
    said = [f"-D{name}={value}" for name, value in given.items()]
    run("makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8", *said, SETUP)
    return target


def make_macos(out: Path, archive: Path) -> Sequence[Path]:
    """Make the application bundle for macOS on Apple processors, in an archive.

    It is neither signed nor notarised: macOS asks before it opens it for the first time.
    """
    runtime = runtime_of("macos")
    with tempfile.TemporaryDirectory(dir=out, prefix=".dpdesk-") as scratch:
        bundle = Path(scratch) / f"dpdesk-{version()}" / "DPDesk.app"
        inside = bundle / "Contents" / "Resources"
        inside.mkdir(parents=True)
        runtime.unpack(archive, inside / "runtime", MACOS_LEFT_OUT)
        packages = inside / "runtime" / "lib" / f"python{runtime.short}" / "site-packages"
        install_for(runtime, packages)
        (inside / "dpdesk.icns").write_bytes(icon_file("icns"))
        launcher = bundle / "Contents" / "MacOS" / "DPDesk"
        _place(launcher, BUNDLE_LAUNCHER)
        launcher.chmod(0o755)
        (bundle / "Contents" / "Info.plist").write_bytes(plistlib.dumps(bundle_properties()))
        list_parts(bundle.parent, packages, runtime.python)
        made = pack(bundle.parent, Path(scratch) / f"dpdesk-{version()}-macos-arm64.tar.gz")
        return [made.replace(out / made.name)]


def bundle_properties() -> dict[str, object]:
    """What macOS has to know of the bundle, and of the projects that it opens."""
    return {
        "CFBundleName": "DPDesk",
        "CFBundleDisplayName": "DPDesk",
        "CFBundleIdentifier": "local.dpdesk",
        "CFBundleExecutable": "DPDesk",
        "CFBundleIconFile": "dpdesk.icns",
        "CFBundlePackageType": "APPL",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleShortVersionString": version(),
        "CFBundleVersion": version(),
        "CFBundleDevelopmentRegion": "en",
        "CFBundleLocalizations": ["en", "de"],
        "LSMinimumSystemVersion": "14.0",
        "LSArchitecturePriority": ["arm64"],
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "DPDesk project",
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [PROJECT_TYPE],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": PROJECT_TYPE,
                "UTTypeDescription": "DPDesk project",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {"public.filename-extension": ["dpdesk"]},
            }
        ],
    }


ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = {"ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}


def icon_file(kind: str) -> bytes:
    """The icon as ``ico`` (Windows) or ``icns`` (macOS): a directory of PNG pictures."""
    if kind == "ico":
        pictures = [picture(size) for size in ICO_SIZES]
        place = 6 + 16 * len(pictures)
        head = struct.pack("<HHH", 0, 1, len(pictures))
        for size, png in zip(ICO_SIZES, pictures, strict=True):
            head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), place)
            place += len(png)
        return head + b"".join(pictures)
    parts = [(name.encode("ascii"), picture(size)) for name, size in ICNS_KINDS.items()]
    body = b"".join(name + struct.pack(">I", 8 + len(png)) + png for name, png in parts)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def picture(size: int) -> bytes:
    """The icon as a PNG of so many pixels each way."""
    from PySide6.QtCore import QBuffer, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(ICON)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def sign(out: Path, key: Path) -> Path:
    """Sign the packages in a folder: ``SHA256SUMS`` of them, and its signature ``SHA256SUMS.sig``.

    ``key`` is a private key for Ed25519 in PEM; openssl asks for its passphrase. Whoever has the
    public key checks it with openssl, then the packages with ``sha256sum --check``.
    """
    if shutil.which("openssl") is None:
        raise PackageError("openssl is missing; on Debian it is in the package openssl", 3)
    sums = out / "SHA256SUMS"
    sums.unlink(missing_ok=True)
    signature = out / "SHA256SUMS.sig"
    signature.unlink(missing_ok=True)
    if not any(path.is_file() for path in out.iterdir()):
        raise PackageError(f"{out} holds no packages, expected the folder of those to sign", 2)
    write_sums(out)
    said = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", sums, "-out", signature]
    try:
        run(*said)
    except PackageError:
        sums.unlink()
        signature.unlink(missing_ok=True)
        raise
    return signature


def _place(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


SHELL = ("sh", "readlink", "dirname")
"""All that the launcher asks of a system, besides the C library."""


def check(folder: Path) -> None:
    """Run a folder in a root that holds a shell and the C library alone, without a network.

    ``--help``, then the demo releases, each of which verifies itself. Needs to be root.
    """
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise PackageError("checking needs root and the tool unshare", 3)
    with tempfile.TemporaryDirectory(prefix="dpdesk-root-") as scratch:
        root = Path(scratch)
        for name in SHELL:
            found = shutil.which(name)
            if found is None:
                raise PackageError(f"{name} is missing", 3)
            _copy_with_libraries(Path(found).resolve(), root / "bin" / name, root)
        for name in ("libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"):
            _copy_base(name, root)
        for path in ("tmp", "dev", "proc", "root"):
            (root / path).mkdir(exist_ok=True)
        shutil.copytree(folder, root / "elsewhere", symlinks=True)
        inside = "mount -t proc proc {0}/proc && mount --rbind /dev {0}/dev && exec chroot {0} "
        home = "/bin/sh -c 'export HOME=/root PATH=/bin QT_QPA_PLATFORM=offscreen; {1}'"
        for what in ("/elsewhere/bin/dpdesk --help", "/elsewhere/bin/dpdesk demo --out /tmp/demo"):
            command = (inside + home).format(root, what)
            said = run("unshare", "--net", "--mount", "--pid", "--fork", "sh", "-c", command)
            print("\n".join(said.stdout.strip().splitlines()[-6:]))


def _copy_with_libraries(path: Path, target: Path, root: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)
    said = run("ldd", path).stdout
    for place in re.findall(r"(/\S+\.so\S*)", said):
        copy = root / place.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(place).resolve(), copy)


def _copy_base(name: str, root: Path) -> None:
    for place in ("/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib/aarch64-linux-gnu"):
        path = Path(place) / name
        if path.exists():
            copy = root / place.lstrip("/") / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path.resolve(), copy)


MAKERS: Mapping[str, Callable[[Path], Path]] = {
    "folder": make_folder,
    "archive": make_archive,
    "deb": make_deb,
}
FOREIGN: Mapping[str, Callable[[Path, Path], Sequence[Path]]] = {
    "windows": make_windows,
    "macos": make_macos,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, check or sign packages; the exit code."""
    parser = argparse.ArgumentParser(prog="python installer/package.py")
    parser.add_argument("what", choices=(*MAKERS, *FOREIGN, "check", "sign"))
    parser.add_argument("place", type=Path)
    parser.add_argument("--runtime", type=Path, help="the Python for windows and macos")
    parser.add_argument("--key", type=Path, help="the private key of the signature (PEM)")
    given = parser.parse_args(arguments)
    for option, whats in (("runtime", tuple(FOREIGN)), ("key", ("sign",))):
        if (getattr(given, option) is not None) != (given.what in whats):
            parser.error(f"--{option} goes with {' and '.join(whats)}, and with nothing else")
    try:
        for made in _made(given.what, given.place, given.runtime or given.key):
            print(made)
    except PackageError as problem:
        print(f"package: {problem}.", file=sys.stderr)
        return problem.code
    except OSError as problem:
        print(f"package: {problem.filename}: {problem.strerror}.", file=sys.stderr)
        return 1
    return 0


def _made(what: str, place: Path, other: Path | None) -> Sequence[Path]:
    if what == "check":
        check(place)
        return ()
    place.mkdir(parents=True, exist_ok=True)
    place = place.resolve()
    if other is None:
        return (MAKERS[what](place),)
    return (sign(place, other),) if what == "sign" else FOREIGN[what](place, other)


if __name__ == "__main__":
    sys.exit(main())
