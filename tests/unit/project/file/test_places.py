from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.project.file.locking import inside, network_share

MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
server:/home /net nfs4 rw 0 0
/dev/sdb1 /net/local ext4 rw 0 0
//server/share /mnt/Our\040Files cifs rw 0 0
ann@host:/ /ssh fuse.sshfs rw 0 0
host /host 9p rw 0 0
drive /cloud fuse.rclone rw 0 0
vault /vault fuse.gocryptfs rw 0 0
tmpfs /over tmpfs rw 0 0
server:/over /over nfs rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/a.dpdesk", ""),
        ("/net/ann/a.dpdesk", "NFS"),
        ("/net", "NFS"),
        ("/network/a.dpdesk", ""),
        ("/net/local/a.dpdesk", ""),
        ("/mnt/Our Files/x/a.dpdesk", "Windows share"),
        ("/ssh/a.dpdesk", "sshfs"),
        ("/host/a.dpdesk", "9P"),
        ("/cloud/a.dpdesk", "rclone"),
        ("/vault/a.dpdesk", ""),
        ("/over/a.dpdesk", "NFS"),
    ],
)
def test_network_shares_are_told_by_their_mounts(path: str, kind: str) -> None:
    assert network_share(Path(path), MOUNTS) == kind


def test_a_link_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/net/ann")
    assert network_share(tmp_path / "link" / "a.dpdesk", MOUNTS) == "NFS"


def test_the_own_table_of_mounts_is_read(tmp_path: Path) -> None:
    assert isinstance(network_share(tmp_path), str)


def test_a_place_beside_a_folder() -> None:
    assert inside(Path("/a/b"), "../c/d.csv") == Path("/a/c/d.csv")
    assert inside(Path("/a/b"), None) is None
