"""Projects that are moved, with their data or without, and data that change meanwhile."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import pytest

from dpdesk.core.plan import HierarchyFile, SourceSpec
from dpdesk.project.file import (
    DATA,
    HIERARCHY,
    ProjectFile,
    ProjectUpdate,
    ReleaseRecord,
    SourceRecord,
    SourceStatus,
    files_of,
)
from dpdesk.project.history import History
from dpdesk.project.work import SetTitle, WorkState
from tests.helpers.projects import WHEN, Desk, candidate

HOUR = timedelta(hours=1)


def record(path: Path, kind: str = DATA) -> SourceRecord:
    facts = path.stat()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return SourceRecord(kind, path, digest, facts.st_size, facts.st_mtime_ns, WHEN)


@pytest.fixture
def place(desk: Desk, tmp_path: Path) -> Path:
    """A folder with ``study/a.dpdesk``, ``study/sex.csv`` and ``data/people.csv``."""
    (tmp_path / "all" / "study").mkdir(parents=True)
    (tmp_path / "all" / "data").mkdir()
    people, sex = tmp_path / "all/data/people.csv", tmp_path / "all/study/sex.csv"
    people.write_text("age\n1\n2\n")
    sex.write_text("m;*\nf;*\n")
    state = WorkState(
        source=SourceSpec("../data/people.csv"),
        base=tmp_path / "all/study",
        hierarchies=MappingProxyType({"sex": HierarchyFile("sex.csv")}),
    )
    history = History(state)
    history.do(SetTitle("x"))
    project = desk.new(tmp_path / "all/study/a.dpdesk", history)
    kept = replace(candidate(state=state), id=1)
    snapshot = replace(project.contents.shelf, candidates=(kept,), next_id=2)
    release = ReleaseRecord(tmp_path / "all/study/out", "1" * 64, WHEN, "k-anonymity", "", 0)
    project.save(
        ProjectUpdate(
            shelf=snapshot,
            sources=(record(people), record(sex, HIERARCHY)),
            releases=(release,),
        )
    )
    project.close()
    return tmp_path / "all"


def fates(project: ProjectFile) -> list[SourceStatus]:
    return [one.fate for one in project.found]


def check_readable(project: ProjectFile, people: Path, sex: Path) -> None:
    states = [moment.state for moment in project.contents.history.moments]
    states += [one.work for one in project.contents.shelf.candidates]
    for state in states:
        assert files_of(state) == {people: "data", sex: "hierarchy"}


def test_what_did_not_move_is_the_same_to_the_byte(desk: Desk, place: Path) -> None:
    before = (place / "study/a.dpdesk").read_bytes()
    project = desk.open(place / "study/a.dpdesk", read_only=True)
    assert fates(project) == [SourceStatus.UNCHANGED, SourceStatus.UNCHANGED]
    assert project.notes == ()
    check_readable(project, place / "data/people.csv", place / "study/sex.csv")
    assert project.contents.history.moments[0].state.base == place / "study"
    assert (place / "study/a.dpdesk").read_bytes() == before


def test_a_project_moved_with_everything_finds_everything(desk: Desk, place: Path) -> None:
    moved = place.with_name("elsewhere")
    (place / "study/out").mkdir()
    place.rename(moved)
    for _ in range(2):  # the second time from what the first has stored
        project = desk.open(moved / "study/a.dpdesk")
        check_readable(project, moved / "data/people.csv", moved / "study/sex.csv")
        state = project.contents.history.moments[0].state
        assert (state.base, state.source) == (moved / "study", SourceSpec("../data/people.csv"))
        assert [one.path for one in project.contents.releases] == [moved / "study/out"]
        project.close()
    assert fates(project) == [SourceStatus.UNCHANGED, SourceStatus.UNCHANGED]


def test_a_copy_with_data_of_its_own_uses_its_own_data(desk: Desk, place: Path) -> None:
    copy = place.with_name("copy")
    shutil.copytree(place, copy)
    project = desk.open(copy / "study/a.dpdesk")
    assert fates(project) == [SourceStatus.MOVED, SourceStatus.MOVED]
    check_readable(project, copy / "data/people.csv", copy / "study/sex.csv")
    check_readable(
        desk.open(place / "study/a.dpdesk"), place / "data/people.csv", place / "study/sex.csv"
    )


def test_a_project_moved_alone_still_reads_the_data_where_they_are(desk: Desk, place: Path) -> None:
    target = place.with_name("alone") / "deep"
    target.mkdir(parents=True)
    (place / "study/a.dpdesk").rename(target / "b.dpdesk")
    for _ in range(2):
        project = desk.open(target / "b.dpdesk")
        assert fates(project) == [SourceStatus.UNCHANGED, SourceStatus.UNCHANGED]
        check_readable(project, place / "data/people.csv", place / "study/sex.csv")
        project.close()


def test_data_put_beside_the_project_are_found_by_their_content(desk: Desk, place: Path) -> None:
    (place / "study/parts").mkdir()
    (place / "data/people.csv").rename(place / "study/parts/renamed.csv")
    (place / "study/parts/other.csv").write_text("age\n1\n3\n")
    project = desk.open(place / "study/a.dpdesk")
    assert fates(project) == [SourceStatus.MOVED, SourceStatus.UNCHANGED]
    assert "parts" in project.notes[0]
    check_readable(project, place / "study/parts/renamed.csv", place / "study/sex.csv")
    state = project.contents.history.moments[1].state
    assert state.source == SourceSpec("parts/renamed.csv")


def test_moved_and_renamed_together_is_found_too(desk: Desk, place: Path) -> None:
    moved = place.with_name("elsewhere")
    place.rename(moved)
    (moved / "data/people.csv").rename(moved / "study/people 2.csv")
    project = desk.open(moved / "study/a.dpdesk")
    assert fates(project) == [SourceStatus.MOVED, SourceStatus.MOVED]
    check_readable(project, moved / "study/people 2.csv", moved / "study/sex.csv")


def test_data_that_have_changed_are_said_to_have(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").write_text("age\n1\n2\n3\n")
    project = desk.open(place / "study/a.dpdesk")
    assert fates(project) == [SourceStatus.CHANGED, SourceStatus.UNCHANGED]
    assert project.notes == (
        f"people.csv has changed since it was read on {WHEN.astimezone():%Y-%m-%d %H:%M}.",
    )
    check_readable(project, place / "data/people.csv", place / "study/sex.csv")


def test_data_changed_without_changing_their_size_are_found_too(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").write_text("age\n1\n3\n")
    assert fates(desk.open(place / "study/a.dpdesk")) == [
        SourceStatus.CHANGED,
        SourceStatus.UNCHANGED,
    ]


def test_data_written_again_unchanged_count_as_unchanged(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").write_text("age\n1\n2\n")
    assert fates(desk.open(place / "study/a.dpdesk")) == [
        SourceStatus.UNCHANGED,
        SourceStatus.UNCHANGED,
    ]


def test_data_that_are_gone_are_said_to_be_and_the_work_stays(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").unlink()
    project = desk.open(place / "study/a.dpdesk")
    assert fates(project) == [SourceStatus.MISSING, SourceStatus.UNCHANGED]
    assert "no longer exists" in project.notes[0]
    check_readable(project, place / "data/people.csv", place / "study/sex.csv")


def test_only_the_newest_record_of_a_file_counts(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").write_text("age\n7\n")
    project = desk.open(place / "study/a.dpdesk")
    project.save(ProjectUpdate(sources=(record(place / "data/people.csv"),)))
    project.close()
    again = desk.open(place / "study/a.dpdesk")
    assert fates(again) == [SourceStatus.UNCHANGED, SourceStatus.UNCHANGED]
    assert len(again.contents.sources) == 3


def test_a_file_that_is_as_it_was_before_once_more_has_changed_back(
    desk: Desk, place: Path
) -> None:
    people = place / "data/people.csv"
    before = people.read_text()
    people.write_text("age\n7\n")
    project = desk.open(place / "study/a.dpdesk")
    project.save(ProjectUpdate(sources=(replace(record(people), seen=WHEN + HOUR),)))
    people.write_text(before)
    project.save(ProjectUpdate(sources=(replace(record(people), seen=WHEN + 2 * HOUR),)))
    project.close()
    assert fates(desk.open(place / "study/a.dpdesk")) == [
        SourceStatus.UNCHANGED,
        SourceStatus.UNCHANGED,
    ]
    people.write_text("age\n7\n")
    assert fates(desk.open(place / "study/a.dpdesk"))[0] is SourceStatus.CHANGED


def test_files_that_were_never_read_move_along_with_the_project(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/people.csv").write_text("age\n")
    history = History(WorkState(source=SourceSpec("people.csv"), base=tmp_path / "a"))
    desk.write(tmp_path / "a/a.dpdesk", history)
    (tmp_path / "a").rename(tmp_path / "b")
    state = desk.open(tmp_path / "b/a.dpdesk").contents.history.moments[0].state
    assert (state.base, state.source) == (tmp_path / "b", SourceSpec("people.csv"))


def test_an_absolute_path_stays_one_that_leads_there(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    people = tmp_path / "a/people.csv"
    people.write_text("age\n")
    history = History(WorkState(source=SourceSpec(str(people)), base=Path("/nowhere")))
    project = desk.new(tmp_path / "a/a.dpdesk", history)
    project.save(ProjectUpdate(sources=(record(people),)))
    project.close()
    (tmp_path / "a").rename(tmp_path / "b")
    state = desk.open(tmp_path / "b/a.dpdesk").contents.history.moments[0].state
    assert files_of(state) == {tmp_path / "b/people.csv": "data"}


def test_a_huge_folder_is_not_searched_without_end(desk: Desk, place: Path) -> None:
    (place / "data/people.csv").unlink()
    many = place / "study/many"
    many.mkdir()
    for number in range(2_100):
        (many / f"{number:05}").touch()
    (many / "zz.csv").write_text("age\n1\n2\n")
    assert fates(desk.open(place / "study/a.dpdesk")) == [
        SourceStatus.MISSING,
        SourceStatus.UNCHANGED,
    ]
