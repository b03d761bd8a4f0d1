"""Makes packages of DPDesk that need no network: a folder that runs anywhere, its archive, a .deb.

    python installer/package.py folder  OUT      make OUT/dpdesk-VERSION
    python installer/package.py archive OUT      the same as .tar.gz
    python installer/package.py deb     OUT      a Debian package (needs dpkg-deb)
    python installer/package.py check   FOLDER   run a folder in a bare root without a network

Each package holds its own Python, the packages of ``requirements.lock`` (by their hashes; from
``wheelhouse/`` alone where that exists), the program, and copies of the libraries of the system
that these need, in two folders: those of Python itself, and those that nearly every desktop has,
which are used only where the computer lacks one of them. ``sbom.json`` (CycloneDX) names every part
with its version, ``SHA256SUMS`` the hash of every file. Run it with the Python that the package is
to hold; ``./installer/bootstrap package`` does so.

Exit codes: 0 done, 1 a step failed, 2 bad usage, 3 a tool is missing.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
    "Qt/qml", "Qt/libexec", "Qt/metatypes", "include", "typesystems", "glue", "doc",
    "Qt/plugins/sqldrivers", "Qt/plugins/egldeviceintegrations", "Qt/plugins/printsupport",
    "Qt/plugins/platformthemes/libqgtk3.so", "Qt/plugins/qmltooling",
)  # fmt: skip
"""Parts of Qt that the window does not use, some of which load half a desktop."""
TOOL = re.compile(r"(designer|linguist|assistant|lupdate|lrelease|qml.*|balsam.*|svgtoqml|rcc|uic)")
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
        parts = json.dumps(bill_of_materials(packages), indent=1, ensure_ascii=False)
        (made / "sbom.json").write_text(parts + "\n", encoding="utf-8")
        write_sums(made)
        made.rename(folder)
    return folder


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
    shutil.rmtree(packages / "bin", ignore_errors=True)
    qt = packages / "PySide6"
    for part in QT_LEFT_OUT:
        place = qt / part
        if place.is_file():
            place.unlink()
        shutil.rmtree(place, ignore_errors=True)
    for place in sorted(packages.rglob("tests")):
        shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(packages / "pyarrow" / "include", ignore_errors=True)
    for path in qt.iterdir():
        if path.suffix == ".pyi" or (path.suffix == "" and TOOL.fullmatch(path.name)):
            path.unlink()


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


def bill_of_materials(packages: Path) -> dict[str, object]:
    """What the package is made of, in the form of CycloneDX 1.5."""
    parts: list[dict[str, object]] = [
        {"type": "platform", "name": "CPython", "version": platform.python_version()}
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
        made = Path(scratch) / name
        with (
            made.open("wb") as file,
            gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            for path in sorted(folder.rglob("*")):
                inside = path.relative_to(folder.parent)
                archive.add(path, inside, recursive=False, filter=_nameless)
        made.replace(out / name)
    return out / name


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Make or check a package; the exit code."""
    parser = argparse.ArgumentParser(prog="python installer/package.py")
    parser.add_argument("what", choices=("folder", "archive", "deb", "check"))
    parser.add_argument("place", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.what == "check":
            check(given.place)
        else:
            given.place.mkdir(parents=True, exist_ok=True)
            makers = {"folder": make_folder, "archive": make_archive, "deb": make_deb}
            print(makers[given.what](given.place.resolve()))
    except PackageError as problem:
        print(f"package: {problem}.", file=sys.stderr)
        return problem.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
