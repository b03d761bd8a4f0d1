"""What differs between operating systems: the only module that asks on which one it runs.

Locks on open files, the syncing of folders, network shares, rights of others, names and lengths of
paths, streams of a console, and how a program with its children is ended. Everything that is
particular to Windows is here; a test forbids it elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import re
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import subprocess

BINARY: int = getattr(os, "O_BINARY", 0)
"""For :func:`os.open`: no byte is changed, as Windows would do with line ends."""
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
"""For :func:`os.open`: a link is refused, where the system can."""
NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)
"""For :func:`os.open`: a pipe is not waited for."""


def on_windows() -> bool:
    """Whether the rules of Windows hold for names and paths."""
    return os.name == "nt"


def planted(path: Path) -> bool:
    """Whether a path is a link that another user made; the administrator's are trusted."""
    try:
        facts = path.lstat()
    except (OSError, ValueError):
        return False
    user = getattr(os, "geteuid", lambda: facts.st_uid)()
    return stat.S_ISLNK(facts.st_mode) and facts.st_uid not in (0, user)


# Locks. A lock belongs to the open file: it ends when the file is closed or its process dies. It
# keeps out whoever else opened the file, in this process or in another one.

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, 36)  # 36: Windows waited ten seconds in vain


def hold(handle: int) -> None:
    """Lock an open file; waits as long as another holder has it. Raises OSError."""
    system = _locks()
    if hasattr(system, "flock"):
        system.flock(handle, system.LOCK_EX)
        return
    while not _lock_byte(system, handle, system.LK_LOCK):
        pass  # the system has waited ten seconds itself


def try_hold(handle: int) -> bool:
    """Lock an open file unless another holder has it; whether it is ours now. Raises OSError."""
    system = _locks()
    if not hasattr(system, "flock"):
        return _lock_byte(system, handle, system.LK_NBLCK)
    try:
        system.flock(handle, system.LOCK_EX | system.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locks() -> Any:
    """The module of the standard library: ``fcntl``, or ``msvcrt`` on Windows."""
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return importlib.import_module("msvcrt")


def _lock_byte(system: Any, handle: int, mode: int) -> bool:
    """Lock the first byte, which need not exist; Windows has no lock for a whole file."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        system.locking(handle, mode, 1)
    except OSError as problem:
        if problem.errno in _BUSY:
            return False
        raise
    return True


def remove_held(path: Path, file: IO[bytes]) -> None:
    """Remove a lock file that is open; Windows cannot, so it is emptied there. Raises OSError."""
    if on_windows():
        file.truncate(0)
    else:
        path.unlink()


# Files that are nothing but files: a pipe would be waited for, and a device has no end.


class NotAFileError(OSError):
    """A pipe, a device or a folder is where a file was expected."""


def open_plain(path: Path) -> IO[bytes]:
    """A file, to be read; links are followed. Raises OSError (:class:`NotAFileError`)."""
    return os.fdopen(_plain(os.open(path, os.O_RDONLY | BINARY | NO_WAIT), path), "rb")


def open_lock(path: Path) -> IO[bytes]:
    """A file to be locked, made where there is none; no link. Raises OSError as above."""
    flags = os.O_WRONLY | os.O_CREAT | BINARY | NO_LINK | NO_WAIT
    return os.fdopen(_plain(os.open(path, flags, 0o600), path), "wb")


def _plain(handle: int, path: Path) -> int:
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise NotAFileError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))


# Folders.


def sync_folder(path: Path) -> None:
    """Make sure that the names in a folder are on the disk, where that can be. Raises OSError."""
    if on_windows():  # it opens no folders; names are written with the file system's own journal
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def put_in_place(folder: Path, target: Path) -> None:
    """Rename a finished folder to ``target``, absent or an empty folder. Raises OSError."""
    existed = target.exists()
    if existed and on_windows():  # elsewhere a rename takes the place of an empty folder
        target.rmdir()
    try:
        folder.rename(target)
    except OSError:
        if existed:
            target.mkdir(exist_ok=True)
        raise


def open_to_others(path: Path) -> bool:
    """Whether other users of this computer may read or change a file, as far as its mode says.

    On Windows the folder of a user is closed to others by the system, and modes say nothing: False.
    """
    if on_windows() or not path.exists():
        return False
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


# Network shares: file systems over a network, or between a virtual machine and its host, where
# locks and syncs may be emulated or missing.

_SHARES = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "cifs": "Windows share",
    "smb": "Windows share",
    "smb2": "Windows share",
    "smb3": "Windows share",
    "smbfs": "Windows share",
    "ncpfs": "NetWare share",
    "afs": "AFS",
    "openafs": "AFS",
    "9p": "9P",
    "ceph": "Ceph",
    "glusterfs": "GlusterFS",
    "lustre": "Lustre",
    "gpfs": "GPFS",
    "beegfs": "BeeGFS",
    "davfs": "WebDAV",
    "vboxsf": "shared folder",
    "prl_fs": "shared folder",
    "virtiofs": "shared folder",
}
_FUSE_SHARES = re.compile(
    r"fuse\.(sshfs|rclone|s3fs|gcsfuse|davfs2?|gvfsd-fuse|glusterfs|ceph|smbnetfs|curlftpfs|"
    r"vmhgfs-fuse|onedriver|google-drive-ocamlfuse|juicefs|seadrive|afs|nfs)"
)
_MOUNTS = Path("/proc/mounts")
_REMOTE_DRIVE = 4


def network_share(path: Path, mounts: str | None = None) -> str:
    """The kind of network share on which ``path`` lies, in a few words; empty when on none.

    ``mounts`` is the table of mounts (None: the system's own).
    """
    if on_windows():
        return _windows_share(os.path.abspath(path))
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:  # no such table: nothing is known, so nothing is said
            return ""
    kind = _file_system(os.path.realpath(path), mounts)
    if kind in _SHARES:
        return _SHARES[kind]
    found = _FUSE_SHARES.fullmatch(kind)
    return "" if found is None else found.group(1)


def _file_system(path: str, mounts: str) -> str:
    """The type of the file system mounted last at the nearest folder above ``path``."""
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), fields[1])
        below = point.rstrip("/") + "/"
        if (path == point or path.startswith(below)) and len(below) >= longest:
            longest, kind = len(below), fields[2]
    return kind


def _windows_share(path: str) -> str:
    """The same for an absolute path of Windows: a share by its name, or a drive mapped to one."""
    plain = path.removeprefix("\\\\?\\")
    if plain.startswith(("\\\\", "UNC\\")):
        return "Windows share"
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import ctypes

        drives = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
        if drives.GetDriveTypeW(plain[:3]) == _REMOTE_DRIVE:
            return "Windows share"
    return ""


# Names and lengths of paths. Releases are carried from one system to another, so names in them
# are fit for every one.

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)
_LONG = 180  # Windows opens 260 characters; a release needs some 80 below its folder
_EXTENDED = "\\\\?\\"


def is_device_name(name: str) -> bool:
    """Whether Windows takes a file's name for a device, whatever its ending (``con.csv``)."""
    return _RESERVED.match(name) is not None


def reachable(path: PurePath) -> str:
    r"""A path as the system can open it however long it is; elsewhere and when short, as it is.

    Windows opens paths of more than 260 characters only when they are absolute and begin with
    ``\\?\``.
    """
    text = str(path)
    if not on_windows() or text.startswith(_EXTENDED) or len(os.path.abspath(text)) < _LONG:
        return text
    absolute = os.path.abspath(text)
    if absolute.startswith("\\\\"):
        return f"{_EXTENDED}UNC{absolute[1:]}"
    return f"{_EXTENDED}{absolute}"


# Consoles.


def prepare_streams(*streams: TextIO | None) -> None:
    """Let no character that a terminal cannot show be a reason to fail.

    On Windows what goes into a file or another program is UTF-8, as elsewhere, and not in the code
    page of the console, which has no ε.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if on_windows() and not stream.isatty() else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


# Memory.

_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory() -> int:
    """Bytes of memory that this program may use on this computer; 0 where that is not known."""
    if on_windows():
        return _windows_memory()
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0
    with contextlib.suppress(OSError, ValueError):
        whole = min(whole, int(_GROUP_LIMIT.read_text(encoding="ascii")))
    return max(0, whole)


def _windows_memory() -> int:
    """GlobalMemoryStatusEx: sixteen words of 32 bits, of which 2 and 3 are the memory in bytes."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import ctypes

        status = (ctypes.c_uint32 * 16)(64)
        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
        if kernel.GlobalMemoryStatusEx(status):
            return status[2] | status[3] << 32
    return 0


# Programs that are started.


def limited(command: Sequence[str], memory: int, file_size: int) -> list[str]:
    """A command with limits of memory and of the size of its files (bytes), where there are any."""
    if on_windows():
        return list(command)
    limits = f"ulimit -v {memory >> 10} 2>/dev/null; ulimit -f {file_size >> 9} 2>/dev/null"
    return ["/bin/sh", "-c", f'{limits}; exec "$0" "$@"', *command]


def end_with_children(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started in a session of its own, with all that it started."""
    if not on_windows():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def name_of() -> str:
    """The system as Python names it: ``linux``, ``win32``, ``darwin``."""
    return sys.platform
