"""Where a project lies: which file systems keep no promises of locks and syncs, and folders."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

# File systems over a network, or between a virtual machine and its host: locks and syncs may be
# emulated or missing there.
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
    if sys.platform == "win32":
        return _windows_share(path)
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


def _windows_share(path: Path) -> str:
    anchor = path.absolute().anchor
    if anchor.startswith("\\\\"):
        return "Windows share"
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import ctypes

        if ctypes.windll.kernel32.GetDriveTypeW(anchor) == _REMOTE_DRIVE:  # type: ignore[attr-defined,unused-ignore]
            return "Windows share"
    return ""


def inside(folder: Path, relative: str | None) -> Path | None:
    """The path that lies at ``relative`` from ``folder``; None without one."""
    return None if relative is None else Path(os.path.normpath(folder / relative))
