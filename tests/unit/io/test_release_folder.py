"""The release folder on disk: whole or not at all, private, sealed as documented."""

from __future__ import annotations

import datetime
import errno
import hashlib
import hmac
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import NO_MANIFEST
from dpdesk.engine.methods.priview.method import PriView
from dpdesk.engine.methods.registered import default_registry
from dpdesk.io import release_folder, safewrite
from dpdesk.io.canonical import canonical_json
from dpdesk.io.release_check import check_files, read_release
from dpdesk.io.release_folder import (
    ReleaseBuilder,
    commitment,
    fresh_key,
    public_files,
    seal_bytes,
    tables_folders,
)
from dpdesk.io.workspace import Workspace
from tests.helpers.refused_places import refuse_place

TODAY = datetime.date(2026, 3, 14)
SOURCE = hashlib.sha256(b"the source").hexdigest()


@pytest.fixture
def workspace() -> Workspace:
    return Workspace.open()


def fill(build: ReleaseBuilder) -> None:
    """The smallest release that the file check accepts."""
    token, key = CancelToken(), fresh_key()
    shared = {
        "dpdesk": "0",
        "method": "k-anonymity",
        "title": "t",
        "created": "2026-03-14",
        "guarantee": NO_MANIFEST.guarantee.as_json(),
    }
    manifest = {
        **shared,
        "format": 1,
        "parameters": {},
        "result": {"rows_out": 1},
        "commitment": commitment(SOURCE, key),
    }
    build.write_public("microdata.csv", b"x\n1\n")
    build.write_public("about.html", b"<p>about</p>\n")
    build.write_public(
        "manifest.json", canonical_json({**manifest, "files": public_files(build.public, token)})
    )
    evidence = {
        **shared,
        "source": {"sha256": SOURCE},
        "commitment_key": key,
        "result": {"rows_out": 1, "seconds": 2},
    }
    build.write_internal("evidence.json", canonical_json(evidence))
    build.write_internal("report.html", b"<p>report</p>\n")
    build.write_internal("seal.json", seal_bytes(build.folder, token))


def release_to(out: Path, workspace: Workspace) -> Path:
    with ReleaseBuilder(out, workspace) as build:
        fill(build)
        return build.commit(TODAY)


def test_a_committed_release_is_complete_and_leaves_nothing_beside_it(
    tmp_path: Path, workspace: Workspace
) -> None:
    out = release_to(tmp_path / "out", workspace)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    found = check_files(out, default_registry().about, CancelToken())
    assert found.failures == []
    assert found.sealed
    assert read_release(out).title == "t"


def test_internal_is_private_and_public_follows_the_umask(
    tmp_path: Path, workspace: Workspace
) -> None:
    before = os.umask(0o027)
    try:
        out = release_to(tmp_path / "out", workspace)
    finally:
        os.umask(before)
    modes = {
        path.relative_to(out).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in [out, *out.rglob("*")]
    }
    assert modes["."] == modes["public"] == 0o750
    assert modes["internal"] == 0o700
    assert {mode for name, mode in modes.items() if name.startswith("public/")} == {0o640}
    assert {mode for name, mode in modes.items() if name.startswith("internal/")} == {0o600}


def test_times_of_public_files_tell_the_date_only(tmp_path: Path, workspace: Workspace) -> None:
    out = release_to(tmp_path / "out", workspace)
    midnight = datetime.datetime(2026, 3, 14, tzinfo=datetime.UTC).timestamp()
    for path in [out / "public", *(out / "public").iterdir()]:
        assert path.stat().st_mtime == midnight


def test_the_seal_is_as_documented_by_an_independent_reading(
    tmp_path: Path, workspace: Workspace
) -> None:
    out = release_to(tmp_path / "out", workspace)
    raw = (out / "internal/seal.json").read_text("utf-8")
    seal = json.loads(raw)
    emptied = raw.replace(f'"self": "{seal["self"]}"', '"self": ""')
    assert hashlib.sha256(emptied.encode()).hexdigest() == seal["self"]
    expected = {"public/manifest.json", "internal/evidence.json", "internal/report.html"}
    assert set(seal["files"]) == expected
    for name, digest in seal["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest


def test_the_commitment_is_hmac_over_the_hexadecimal_text() -> None:
    key = fresh_key()
    expected = hmac.digest(bytes.fromhex(key), SOURCE.encode(), "sha256").hex()
    assert commitment(SOURCE, key) == expected
    assert len(bytes.fromhex(key)) == 32
    assert fresh_key() != key


@pytest.mark.parametrize("existing", [False, True])
def test_any_error_leaves_the_target_as_it_was(
    tmp_path: Path, workspace: Workspace, existing: bool
) -> None:
    out = tmp_path / "out"
    if existing:
        out.mkdir(mode=0o711)

    def interrupted() -> None:
        with ReleaseBuilder(out, workspace) as build:
            fill(build)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.exists() == existing
    assert [path.name for path in tmp_path.rglob("*")] == (["out"] if existing else [])


def test_an_empty_folder_is_taken_and_keeps_its_permissions(
    tmp_path: Path, workspace: Workspace
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o711)
    release_to(out, workspace)
    assert stat.S_IMODE(out.stat().st_mode) == 0o711
    assert check_files(out, default_registry().about, CancelToken()).failures == []


@pytest.mark.parametrize("inside", ["second", "public/second", "internal", "link/second"])
def test_a_release_is_not_written_into_another_one(
    tmp_path: Path, workspace: Workspace, inside: str
) -> None:
    first = tmp_path / "first"
    for part in ("public", "internal"):
        (first / part).mkdir(parents=True)
    (first / "public" / "manifest.json").write_text("{}")
    (first / "link").symlink_to(first / "public")
    with pytest.raises(InputError, match="inside a release") as error:
        ReleaseBuilder(first / inside, workspace)
    assert error.value.code == "out.inside"
    assert ReleaseBuilder(tmp_path / "second", workspace).out == tmp_path / "second"


def test_a_link_to_an_empty_folder_is_followed(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert release_to(tmp_path / "link", workspace) == (tmp_path / "real").resolve()
    assert (tmp_path / "link/public/manifest.json").is_file()


def test_a_link_that_another_user_made_is_not_followed(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    link, document = tmp_path / "link", tmp_path / "plan.toml"
    link.symlink_to("real")
    document.symlink_to("other.toml")
    user = os.geteuid()
    if user:
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    else:
        for path in (link, document):
            os.lchown(path, 12345, -1)
    with pytest.raises(InputError, match="another user") as caught:
        ReleaseBuilder(link, workspace)
    assert caught.value.code == "out.link"
    refused = pytest.raises(InputError, match="is a link to")
    with refused, safewrite.replacing(document, workspace, follow=True):
        pytest.fail("nothing may be written")
    assert [path.name for path in (tmp_path / "real").iterdir()] == []


def test_missing_folders_above_are_made_and_removed_again_on_failure(
    tmp_path: Path, workspace: Workspace
) -> None:
    out = tmp_path / "a/b/out"
    with pytest.raises(ZeroDivisionError), ReleaseBuilder(out, workspace):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    assert release_to(out, workspace).is_dir()


@pytest.mark.parametrize("name", ["file", "folder"])
def test_anything_in_the_way_is_refused_and_untouched(
    tmp_path: Path, workspace: Workspace, name: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/mine.txt").write_text("mine")
    with pytest.raises(InputError) as caught:
        ReleaseBuilder(tmp_path / name, workspace)
    assert caught.value.exit_code == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "mine.txt"]


def test_what_appears_at_the_target_meanwhile_is_not_overwritten(
    tmp_path: Path, workspace: Workspace
) -> None:
    out = tmp_path / "out"

    def overtaken() -> None:
        with ReleaseBuilder(out, workspace) as build:
            fill(build)
            out.mkdir()
            (out / "theirs.txt").write_text("theirs")
            build.commit(TODAY)

    with pytest.raises(StorageError):
        overtaken()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "theirs.txt"]


@pytest.mark.parametrize("call", ["write_new", "sync_file", "rename"])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if call == "rename" else release_folder, call, full)
    with pytest.raises(StorageError) as caught:
        release_to(tmp_path / "a/out", workspace)
    assert caught.value.sentence.startswith(f"{tmp_path}/a/out: the disk is full")
    assert "DPDESK_HOME" not in caught.value.hint
    assert caught.value.code == "storage.disk-full"
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a read-only place for root")
def test_a_place_that_is_not_writable_is_named(workspace: Workspace) -> None:
    with pytest.raises(StorageError), ReleaseBuilder(Path("/proc/dpdesk-out"), workspace):
        pass


def test_half_written_releases_of_a_killed_process_go_at_the_next_start(
    tmp_path: Path, private_home: Path
) -> None:
    dies_while_writing = """
import os, sys
from pathlib import Path
from dpdesk.io.release_folder import ReleaseBuilder
from dpdesk.io.workspace import Workspace
from tests.helpers.refused_places import refuse_place
build = ReleaseBuilder(Path(sys.argv[1]), Workspace.open())
build.__enter__()
build.write_public("microdata.csv", b"x\\n1\\n")
os.kill(os.getpid(), 9)
"""
    out = str(tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", dies_while_writing, out], check=False)
    assert done.returncode == -signal.SIGKILL
    left = list(tmp_path.iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o700]
    Workspace.open(private_home).close()
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_file_appears_whole_or_stays_as_it_was(
    tmp_path: Path, workspace: Workspace
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full() -> None:
        with safewrite.replacing(target, workspace) as fresh:
            fresh.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError):
        full()
    assert target.read_text() == "old"
    with safewrite.replacing(target, workspace) as fresh:
        fresh.write_text("new")
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("refused", ["a.csv", "b.csv", "c.csv"])
def test_files_that_belong_together_come_together_or_not_at_all(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    names = ("a.csv", "b.csv", "c.csv")

    def write() -> None:
        with safewrite.together(workspace) as begin:
            for name in names:
                begin(tmp_path / name).write_text(name)

    with monkeypatch.context() as patch:
        refuse_place(patch, tmp_path / refused)
        with pytest.raises(StorageError, match=refused):
            write()
    assert list(tmp_path.iterdir()) == []
    write()
    assert sorted(path.name for path in tmp_path.iterdir()) == list(names)


def test_of_files_that_belong_together_none_of_others_is_taken_away(
    tmp_path: Path, workspace: Workspace
) -> None:
    def fail() -> None:
        with safewrite.together(workspace) as begin:
            begin(tmp_path / "a.csv").write_text("new")
            begin(tmp_path / "b.csv").write_text("new")
            (tmp_path / "a.csv").write_text("made by others meanwhile")
            raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "b.csv").write_text("old")
    with pytest.raises(StorageError):
        fail()
    assert (tmp_path / "a.csv").read_text() == "made by others meanwhile"
    assert (tmp_path / "b.csv").read_text() == "old"


KILLED = """
import os, sys
from pathlib import Path
from dpdesk.io import safewrite
from dpdesk.io.workspace import Workspace

folder, most = Path(sys.argv[1]), int(sys.argv[2])

def dying(real):
    def move(*given, **how):
        global most
        if Path(given[-1]).parent == folder:
            most -= 1
            if most < 0:
                os._exit(9)
        return real(*given, **how)
    return move

os.link, Path.replace = dying(os.link), dying(Path.replace)
with safewrite.together(Workspace.open(Path(sys.argv[3]))) as begin:
    for name in ("a.csv", "b.csv", "c.csv"):
        begin(folder / name, new=name == "c.csv").write_text("new " + name)
os._exit(0)
"""


@pytest.mark.parametrize("placed", [0, 1, 2, 3])
def test_files_that_belong_together_are_no_mixture_after_a_kill(
    tmp_path: Path, placed: int
) -> None:
    """Killed before the next of three takes its place, two of them over old ones."""
    folder, home = tmp_path / "out", tmp_path / "home"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("old " + name)
    before = {"a.csv": "old a.csv", "b.csv": "old b.csv"}
    given = (str(folder), str(placed), str(home))
    ended = subprocess.run([sys.executable, "-c", KILLED, *given], check=False)
    assert ended.returncode == (0 if placed == 3 else 9)
    Workspace.open(home).close()
    there = {path.name: path.read_text() for path in folder.iterdir()}
    new = {name: "new " + name for name in ("a.csv", "b.csv", "c.csv")}
    assert there == (new if placed == 3 else before)


def test_what_others_put_in_a_place_after_a_kill_stays(tmp_path: Path) -> None:
    folder, home = tmp_path / "out", tmp_path / "home"
    folder.mkdir()
    (folder / "b.csv").write_text("old")
    subprocess.run([sys.executable, "-c", KILLED, str(folder), "2", str(home)], check=False)
    assert (folder / "b.csv").read_text() == "new b.csv"
    (folder / "mine.csv").write_text("mine")
    (folder / "mine.csv").replace(folder / "b.csv")
    Workspace.open(home).close()
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"b.csv": "mine"}


def test_a_folder_is_no_target_for_a_file(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(InputError), safewrite.replacing(tmp_path, workspace):
        pass


@pytest.mark.parametrize("leads", ["there.csv", "gone.csv"])
def test_a_file_is_not_written_through_a_link_unless_asked(
    tmp_path: Path, workspace: Workspace, leads: str
) -> None:
    (tmp_path / "there.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / leads)
    refused = pytest.raises(InputError, match=f"is a link to .*{leads}")
    with refused as caught, safewrite.replacing(link, workspace):
        pytest.fail("nothing may be written")
    assert caught.value.code == "out.link"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix) == [
        "link.csv",
        "there.csv",
    ]
    with safewrite.replacing(link, workspace, follow=True) as fresh:
        fresh.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / leads).read_text() == "new"


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path: Path, workspace: Workspace) -> None:
    pipe = tmp_path / "out.csv"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for target, follow in ((pipe, False), (pipe, True), (tmp_path / "link", True)):
        with (
            pytest.raises(InputError, match="is a device or a pipe") as caught,
            safewrite.replacing(target, workspace, follow=follow),
        ):
            pass
        assert caught.value.code == "out.device"
        assert pipe.is_fifo()


def test_a_link_that_comes_up_while_a_file_is_written_is_replaced_and_not_followed(
    tmp_path: Path, workspace: Workspace
) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out.csv"
    elsewhere.write_text("old")
    with safewrite.replacing(out, workspace) as fresh:
        fresh.write_text("new")
        out.symlink_to(elsewhere)
    assert elsewhere.read_text() == "old"
    assert not out.is_symlink()
    assert out.read_text() == "new"


def test_a_folder_is_wanted_where_a_table_in_it_is_listed() -> None:
    about = PriView.capabilities
    assert tables_folders(about, ["views/a.csv"]) == ("views",)
    assert tables_folders(about, ["views/a.csv", "marginals/a.csv"]) == ("views", "marginals")
    assert tables_folders(about, []) == ("views",)
