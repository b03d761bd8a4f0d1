from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.app import projects
from dpdesk.app.context import AppContext
from dpdesk.app.opening import open_path, open_work
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file import ProjectFile, ProjectUpdate, SourceStatus
from dpdesk.project.history import History
from dpdesk.project.work import SetTitle
from tests.helpers.projects import history, plain, shelf

STOP = CancelToken()


@pytest.fixture(autouse=True)
def local_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[ProjectFile]]:
    """Whatever disk the tests run on counts as this computer's own."""
    monkeypatch.setattr("dpdesk.core.systems._MOUNTS", tmp_path / "none")
    opened: list[ProjectFile] = []
    yield opened
    for project in opened:
        project.close(discard=True)


def create(
    context: AppContext, path: Path, local_disk: list[ProjectFile], made: History | None = None
) -> ProjectFile:
    work = (made or history()).snapshot()
    project = projects.create_project(context, path, work, shelf().snapshot(), STOP, silent)
    local_disk.append(project)
    return project


def opened(context: AppContext, path: Path, local_disk: list[ProjectFile]) -> ProjectFile:
    project = projects.open_project(context, path, STOP, silent)
    local_disk.append(project)
    return project


def test_a_new_project_holds_the_work_and_says_who_made_it(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    project = create(context, tmp_path / "study", local_disk)
    assert project.path == tmp_path / "study.dpdesk"
    project.flush()
    assert plain(project.contents.history) == plain(history().snapshot())
    assert plain(project.contents.shelf) == plain(shelf().snapshot())
    assert [entry.action for entry in project.audit()] == ["created", "opened"]


def test_a_new_project_is_never_made_on_a_network_share(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mounts").write_text(f"server:/x {tmp_path} nfs rw 0 0\n")
    monkeypatch.setattr("dpdesk.core.systems._MOUNTS", tmp_path / "mounts")
    with pytest.raises(InputError, match="NFS") as error:
        projects.create_project(
            context, tmp_path / "a", history().snapshot(), ShelfSnapshot(), STOP, silent
        )
    assert error.value.code == "project.network"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mounts"]


def test_a_copy_is_a_project_of_its_own_with_the_log_gone_on(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    project = create(context, tmp_path / "a.dpdesk", local_disk)
    (tmp_path / "sub").mkdir()
    made = History.restored(project.contents.history)
    made.do(SetTitle("not yet saved"))
    project.save(ProjectUpdate(history=made.snapshot()))
    path = projects.save_copy(context, project, tmp_path / "sub" / "b")
    copy = opened(context, path, local_disk)
    copy.flush()
    assert path == tmp_path / "sub" / "b.dpdesk"
    assert copy.read_only is None
    assert plain(copy.contents.history) == plain(made.snapshot())
    assert copy.contents.identity != project.contents.identity
    log = copy.audit()
    assert [entry.action for entry in log] == ["created", "opened", "copied", "opened"]
    assert log[2].facts == {"from": str(project.path)}
    check = copy.check_audit()
    assert check is not None
    assert check.ok


def test_a_copy_of_a_project_open_for_reading_can_be_worked_on(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    create(context, tmp_path / "a.dpdesk", local_disk).flush()
    second = opened(context, tmp_path / "a.dpdesk", local_disk)
    assert second.read_only is not None
    path = projects.save_copy(context, second, tmp_path / "b.dpdesk")
    copy = opened(context, path, local_disk)
    assert copy.read_only is None
    assert plain(copy.contents.history) == plain(history().snapshot())


def test_what_was_done_in_a_project_open_for_reading_goes_into_its_copy(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    create(context, tmp_path / "a.dpdesk", local_disk).flush()
    second = opened(context, tmp_path / "a.dpdesk", local_disk)
    made = History.restored(second.contents.history)
    made.do(SetTitle("only in memory"))
    work = ProjectUpdate(history=made.snapshot())
    path = projects.save_copy(context, second, tmp_path / "b.dpdesk", work)
    assert plain(opened(context, path, local_disk).contents.history) == plain(made.snapshot())


def test_a_copy_never_replaces_the_project_itself(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    project = create(context, tmp_path / "a.dpdesk", local_disk)
    (tmp_path / "link.dpdesk").symlink_to(project.path)
    for name in ("a.dpdesk", "link.dpdesk"):
        with pytest.raises(InputError) as error:
            projects.save_copy(context, project, tmp_path / name)
        assert error.value.code == "project.same-file"


def test_what_is_left_of_a_damaged_project_becomes_a_new_one(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    project = create(context, tmp_path / "a.dpdesk", local_disk)
    project.close()
    with closing(sqlite3.connect(project.path)) as connection:
        connection.execute("UPDATE moments SET state = '' WHERE id = 2")
        connection.commit()
    with pytest.raises(StorageError, match="damaged"):
        projects.open_project(context, project.path, STOP, silent)
    before = project.path.read_bytes()
    saved = projects.rescue_project(context, project.path, tmp_path / "b", STOP, silent)
    count = len(history().moments())
    assert (saved.lost.moments, saved.lost.moments_of) == (count - 1, count)
    again = opened(context, saved.path, local_disk)
    again.flush()
    assert len(again.contents.history.moments) == count - 1
    assert [entry.action for entry in again.audit()] == ["rescued", "opened"]
    assert project.path.read_bytes() == before


def test_a_project_is_known_by_its_ending_or_its_first_bytes(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    project = create(context, tmp_path / "a.dpdesk", local_disk)
    project.close()
    project.path.rename(tmp_path / "renamed.sqlite")
    (tmp_path / "people.csv").write_text("SQLite format 3\x00, but a table\n")
    assert projects.is_project(tmp_path / "absent.DPDESK")
    assert projects.is_project(tmp_path / "renamed.sqlite")
    assert not projects.is_project(tmp_path / "people.csv")
    assert not projects.is_project(tmp_path / "absent.csv")
    assert not projects.is_project(tmp_path)


def test_the_files_that_were_read_are_noted_and_their_change_is_noticed(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n1,m\n2,f\n")
    (tmp_path / "sex.csv").write_text("m;*\nf;*\n")
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "people.csv"\n[attributes.sex]\nrole = "quasi-identifier"\n'
        'hierarchy = "sex.csv"\n[protection]\nmethod = "plain"\nk = 2\n'
    )
    work = open_path(tmp_path / "plan.toml").work
    assert work is not None
    data = open_work(context, work, STOP, silent)
    found = projects.sources_read(work, data, STOP)
    data.close()
    assert [(one.path.name, one.kind) for one in found] == [
        ("people.csv", "data"),
        ("sex.csv", "hierarchy"),
    ]
    assert found[0].sha256 == data.sha256
    assert found[0].reading["delimiter"] == ","
    project = create(context, tmp_path / "a.dpdesk", local_disk, History(work))
    project.save(ProjectUpdate(sources=found))
    project.close()
    (tmp_path / "sex.csv").write_text("m;*\nf;*\nx;*\n")
    again = opened(context, project.path, local_disk)
    assert [one.fate for one in again.found] == [SourceStatus.UNCHANGED, SourceStatus.CHANGED]


def test_a_release_is_noted_by_the_hash_of_its_manifest(
    context: AppContext, tmp_path: Path, local_disk: list[ProjectFile]
) -> None:
    (tmp_path / "out/public").mkdir(parents=True)
    (tmp_path / "out/public/manifest.json").write_bytes(b"{}")
    made = projects.release_made(tmp_path / "out", "k-anonymity", "Title", 3)
    assert made.manifest_sha256.startswith("44136fa355b3678a")
    project = create(context, tmp_path / "a.dpdesk", local_disk)
    project.save(ProjectUpdate(releases=(made,)))
    project.close()
    assert opened(context, project.path, local_disk).contents.releases == (made,)
