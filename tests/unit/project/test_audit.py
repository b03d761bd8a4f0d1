from __future__ import annotations

import csv
import errno
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.audit import FILE, SCHEMA, AuditLog, AuditSearch
from dpdesk.project.settings import acting_user
from dpdesk.project.sql import storage_problem
from tests.helpers.audit_logs import fill_long
from tests.helpers.powerless import run_powerless

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def filled(home: Path, count: int = 5) -> Path:
    with AuditLog.open_home(home) as log:
        for number in range(count):
            when = NOON + timedelta(minutes=number)
            log.append("ran", f"plan {number}.toml", {"rows": number}, who="ann@pc", when=when)
    return home / FILE


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody who knows SQLite would; the guards come back afterwards."""
    with closing(sqlite3.connect(path)) as connection:
        for name in ("audit_no_change", "audit_no_removal"):
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for statement in SCHEMA[1:]:
            connection.execute(statement)
        connection.commit()


def test_entries_say_who_did_what_when_and_follow_each_other(tmp_path: Path) -> None:
    filled(tmp_path / "home")
    with AuditLog.open_home(tmp_path / "home") as log:
        entries = log.entries()
        assert [entry.subject for entry in entries] == [f"plan {n}.toml" for n in range(5)]
        assert (entries[1].who, entries[1].time) == ("ann@pc", "2026-01-01T12:01:00+00:00")
        assert entries[1].facts == {"rows": 1}
        assert [entry.previous for entry in entries] == ["", *(e.hash for e in entries[:-1])]
        assert log.head() == entries[-1].hash
        check = log.verify([entries[2].hash])
        assert check.ok
        assert (check.entries, check.head, check.notes) == (5, entries[-1].hash, ())


def test_entries_of_some_actions_come_in_their_order(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        for action in ("ran", "viewed", "ran", "exported"):
            log.append(action, "x")
        assert [entry.n for entry in log.entries_of("ran", "exported")] == [1, 3, 4]
        assert log.entries_of("decided") == ()


def test_an_empty_log_is_whole(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        assert log.verify().ok
        assert (log.head(), log.entries()) == ("", ())


def test_who_is_this_user_on_this_computer_unless_said_otherwise(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        assert log.append("opened", "x").who == acting_user()
        assert "@" in acting_user()


def test_sqlite_itself_refuses_to_change_or_remove_an_entry(tmp_path: Path) -> None:
    with closing(sqlite3.connect(filled(tmp_path))) as connection:
        for statement in ("UPDATE audit SET who = 'x'", "DELETE FROM audit WHERE n = 5"):
            with pytest.raises(sqlite3.IntegrityError, match="only grows"):
                connection.execute(statement)


@pytest.mark.parametrize("column", ["time", "who", "action", "subject", "details", "previous"])
def test_a_changed_field_is_found_where_it_is(tmp_path: Path, column: str) -> None:
    path = filled(tmp_path)
    tamper(path, f"UPDATE audit SET {column} = {column} || ' ' WHERE n = 3")
    with AuditLog.open_home(tmp_path) as log:
        check = log.verify()
    assert check.fault is not None
    assert (check.fault.n, check.entries) == (3, 2)
    assert "changed" in check.fault.reason


@pytest.mark.parametrize(
    ("statement", "entry", "words"),
    [
        ("DELETE FROM audit WHERE n = 2", 2, "1 entry is missing before entry 3"),
        ("DELETE FROM audit WHERE n > 3", 4, "2 entries were removed from the end"),
        ("UPDATE audit SET n = n + 10 WHERE n = 5", 5, "10 entries are missing"),
        ("UPDATE audit SET hash = 'x' WHERE n = 4", 4, "changed"),
        ("UPDATE audit SET who = x'00' WHERE n = 4", 4, "cannot be read"),
    ],
)
def test_removed_and_moved_entries_are_found(
    tmp_path: Path, statement: str, entry: int, words: str
) -> None:
    path = filled(tmp_path)
    tamper(path, statement)
    with AuditLog.open_home(tmp_path) as log:
        check = log.verify()
    assert check.fault is not None
    assert check.fault.n == entry
    assert words in check.fault.reason


def test_a_chain_cut_off_with_care_is_found_by_a_head_known_elsewhere(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        head = log.head()
    tamper(path, "DELETE FROM audit WHERE n > 3", "UPDATE sqlite_sequence SET seq = 3")
    with AuditLog.open_home(tmp_path) as log:
        assert log.verify().ok
        fault = log.verify([head]).fault
    assert fault is not None
    assert fault.n == 4


def test_a_forged_entry_breaks_the_chain_after_it(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        third = log.entries()[2]
    forged = third.__class__(*{**third.__dict__, "who": "bob@pc"}.values())
    values = f"who = 'bob@pc', hash = '{forged.expected_hash()}'"
    tamper(path, f"UPDATE audit SET {values} WHERE n = 3")
    with AuditLog.open_home(tmp_path) as log:
        fault = log.verify().fault
    assert fault is not None
    assert fault.n == 4
    assert "follow" in fault.reason


def test_a_guard_that_was_taken_away_is_noticed(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER audit_no_removal")
    with AuditLog.open_home(tmp_path) as log:
        fault = log.verify().fault
    assert fault is not None
    assert "guard" in fault.reason


def test_an_entry_after_naive_removal_leaves_the_gap_open(tmp_path: Path) -> None:
    path = filled(tmp_path)
    tamper(path, "DELETE FROM audit WHERE n > 3")
    with AuditLog.open_home(tmp_path) as log:
        log.append("opened", "x")
        fault = log.verify().fault
    assert fault is not None
    assert fault.n == 4


def test_a_clock_set_back_is_a_note_and_no_fault(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        log.append("a", "x", when=NOON)
        log.append("b", "x", when=NOON - timedelta(hours=1))
        check = log.verify()
    assert check.ok
    assert "set back" in check.notes[0]


def test_many_programs_write_one_chain(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from dpdesk.project.audit import AuditLog
for number in range(10):
    with AuditLog.open_home(Path({str(tmp_path)!r})) as log:
        log.append("ran", sys.argv[1], {{"number": number}})
"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    with AuditLog.open_home(tmp_path) as log:
        assert log.verify().entries == 40
        assert log.verify().ok


def test_the_log_is_private(tmp_path: Path) -> None:
    assert filled(tmp_path / "home").stat().st_mode & 0o777 == 0o600


def test_the_export_as_csv_has_every_field(tmp_path: Path, keeper: Workspace) -> None:
    filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        log.append("ran", 'a "b", c', {"é": 1})
        assert log.export(tmp_path / "log.csv", "csv", keeper) == 6
        with (tmp_path / "log.csv").open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        assert [row["hash"] for row in found] == [entry.hash for entry in log.entries()]
        assert found[-1]["subject"] == 'a "b", c'


def test_the_export_as_json_can_be_checked_again(tmp_path: Path, keeper: Workspace) -> None:
    filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        log.export(tmp_path / "log.json", "json", keeper)
        found = json.loads((tmp_path / "log.json").read_text("utf-8"))
        assert found["head"] == log.head()
        assert [entry["details"] for entry in found["entries"]] == [{"rows": n} for n in range(5)]


def test_an_unknown_format_and_a_place_that_cannot_be_written_are_named(
    tmp_path: Path, keeper: Workspace
) -> None:
    filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        with pytest.raises(InputError, match="xml") as error:
            log.export(tmp_path / "log.xml", "xml", keeper)
        assert error.value.code == "audit.format"
        (tmp_path / "folder").mkdir()
        with pytest.raises(StorageError, match="folder") as failed:
            log.export(tmp_path / "folder", "csv", keeper)
        assert failed.value.code == "audit-export.unwritable"


@pytest.mark.parametrize("content", [b"hello", b"SQLite format 3\x00" + b"x" * 2000])
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StorageError) as error:
        AuditLog.open_home(tmp_path)
    assert error.value.code == "audit.unreadable"
    assert (tmp_path / FILE).read_bytes() == content


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    with pytest.raises(StorageError, match="not an audit log of DPDesk"):
        AuditLog.open_home(tmp_path)


def test_a_newer_log_is_refused_kindly(tmp_path: Path) -> None:
    with closing(sqlite3.connect(filled(tmp_path))) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(StorageError, match="newer version"):
        AuditLog.open_home(tmp_path)


def test_a_log_held_by_another_program_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    monkeypatch.setattr("dpdesk.project.sql.BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError) as error, AuditLog.open_home(tmp_path) as log:
            log.append("ran", "x")
    assert error.value.code in ("audit.unwritable", "audit.unreadable")
    assert "another program" in error.value.sentence


def test_a_full_disk_adds_nothing_and_says_so(tmp_path: Path) -> None:
    filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
        log._connection.execute(f"PRAGMA max_page_count = {pages}")
        log.append("ran", "x" * 200)
        with pytest.raises(StorageError, match="the disk is full") as error:
            log.append("ran", "x" * 20_000)
        assert error.value.code == "audit.unwritable"
        assert "nothing is released" in error.value.hint
        assert log.verify().ok


def test_details_hold_no_line_breaks_and_odd_bytes_harm_nothing(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        entry = log.append("ran", "a\nb\udcff", {"path": "\udcff"})
        assert entry.subject == "a b\\udcff"
        assert log.verify().ok


def test_threads_may_each_open_the_log(tmp_path: Path) -> None:
    def write() -> None:
        with AuditLog.open_home(tmp_path) as log:
            log.append("ran", "x")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with AuditLog.open_home(tmp_path) as log:
        assert log.verify().entries == 4


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix users")
def test_without_permission_the_log_can_be_read_and_not_written(tmp_path: Path) -> None:
    path = filled(tmp_path / "home")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    code = f"""
from pathlib import Path
from dpdesk.core.errors import StorageError
from dpdesk.project.audit import AuditLog
with AuditLog.open_home(Path({str(tmp_path / "home")!r})) as log:
    assert log.verify().ok
    try:
        log.append("ran", "x")
    except StorageError as error:
        print(error.code, error.sentence)
"""
    printed = run_powerless(code, path.parent)
    path.parent.chmod(0o755)
    assert printed.startswith("audit.unwritable")
    assert "no permission" in printed


@pytest.mark.parametrize("count", [0, 1, 501])
def test_the_json_export_is_canonical_however_many_entries_there_are(
    tmp_path: Path, keeper: Workspace, count: int
) -> None:
    fill_long(tmp_path / "home", count)
    with AuditLog.open_home(tmp_path / "home") as log:
        log.append("opened", 'Züge, \u2028 and "quotes".csv', {"a": [1, {"b": "é"}]}, when=NOON)
        assert log.export(tmp_path / "log.json", "json", keeper) == count + 1
    written = (tmp_path / "log.json").read_bytes()
    assert canonical_json(json.loads(written)) == written


def test_an_empty_log_is_exported_in_canonical_form(tmp_path: Path, keeper: Workspace) -> None:
    with AuditLog.open_home(tmp_path / "home") as log:
        assert log.export(tmp_path / "log.json", "json", keeper) == 0
    written = (tmp_path / "log.json").read_bytes()
    assert canonical_json({"entries": [], "format": 1, "head": ""}) == written


def test_an_export_stops_when_cancelled_and_leaves_nothing(
    tmp_path: Path, keeper: Workspace
) -> None:
    filled(tmp_path / "home")
    token = CancelToken()
    token.cancel()
    with AuditLog.open_home(tmp_path / "home") as log, pytest.raises(Cancelled):
        log.export(tmp_path / "out" / "log.csv", "csv", keeper, token)
    assert not list((tmp_path / "out").glob("*"))


def test_a_search_takes_words_as_they_are_written(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        log.append("opened", "100%_sure!.csv", {"out": "Zürich"})
        log.append("exported", "100 sure.csv")
        last = log.size().last
        assert log.size().actions == ("exported", "opened")
        for words, found in (("100%", 1), ("sure!", 1), ("_", 1), ("zürich", 1), ("Zürich", 1),
                             ("100 CSV", 2), ("", 2)):  # fmt: skip
            assert log.count(AuditSearch(words), last) == found, words
        assert log.count(AuditSearch("sure", "exported"), last) == 1
        assert [entry.n for entry in log.page(AuditSearch("csv"), last, 0, 1)] == [2]
        assert [entry.n for entry in log.page(AuditSearch("csv"), 1, 0, 9)] == [1]


def test_what_is_entered_while_the_chain_is_checked_is_no_removal(tmp_path: Path) -> None:
    fill_long(tmp_path, 1_200)

    def enter(event: object) -> None:
        with AuditLog.open_home(tmp_path) as other:
            other.append("viewed", "meanwhile")

    with AuditLog.open_home(tmp_path) as log:
        check = log.verify((), CancelToken(), enter)
        assert check.ok
        assert check.entries == 1_200
        assert log.verify().entries == 1_203


def test_checking_stops_when_cancelled(tmp_path: Path) -> None:
    filled(tmp_path)
    token = CancelToken()
    token.cancel()
    with AuditLog.open_home(tmp_path) as log, pytest.raises(Cancelled):
        log.verify((), token)


def test_who_looks_is_told_what_holds_the_log_and_does_not_wait_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.project.audit.LOOK_SECONDS", 0.05)
    path = filled(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError) as caught:
            AuditLog.open_home(tmp_path, looking=True)
    assert caught.value.code == "audit.unreadable"
    assert "could not be opened: another program is holding it" in caught.value.sentence


def test_a_home_that_is_read_only_can_be_looked_at_and_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    filled(home)
    (home / FILE).chmod(0o444)
    bare = tmp_path / "bare"
    bare.mkdir()
    for folder in (home, bare):
        folder.chmod(0o555)
    said = run_powerless(
        f"""
from pathlib import Path
from dpdesk.core.errors import StorageError
from dpdesk.project.audit import AuditLog
with AuditLog.open_home(Path({str(home)!r}), looking=True) as log:
    print(log.size().entries, log.writable, log.verify().ok)
try:
    AuditLog.open_home(Path({str(bare)!r}), looking=True)
except StorageError as error:
    print(error.sentence)
""",
        tmp_path,
    )
    for folder in (home, bare):
        folder.chmod(0o755)
    whole, refused = said.splitlines()
    assert whole == "5 False True"
    assert refused == f"{bare / FILE}: the audit log could not be opened: permission denied."


def test_a_log_with_a_foreign_trigger_is_not_written(tmp_path: Path) -> None:
    with AuditLog.open_home(tmp_path) as log:
        log.append("exported", "a.csv")
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(
            "CREATE TRIGGER forget BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END"
        )
    with pytest.raises(StorageError, match="the trigger `forget`, which DPDesk did not make"):
        AuditLog.open_home(tmp_path)


def test_a_password_in_an_address_that_was_given_for_a_file_is_not_kept(tmp_path: Path) -> None:
    """Commands are entered before anyone looks at what they name."""
    address = "postgresql://me:s3cret@host/people"
    with AuditLog.open_home(tmp_path) as log:
        kept = log.append("ran", str(Path(address).absolute()), {"out": address})
        assert log.verify().ok
    assert "s3cret" not in kept.subject + kept.details
    assert kept.subject.endswith("postgresql:/me:…@host/people")
    assert b"s3cret" not in (tmp_path / FILE).read_bytes()


def test_a_pipe_in_the_place_of_the_log_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    for looking in (False, True):
        with pytest.raises(StorageError, match="something else than a file"):
            AuditLog.open_home(tmp_path, looking=looking)


def test_too_many_open_files_are_told_as_such(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    filled(tmp_path)
    with AuditLog.open_home(tmp_path) as log:
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        with open(os.devnull) as following:
            none_left = following.fileno()
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (none_left, before[1]))
            with pytest.raises(StorageError) as error:
                log.append("ran", "x")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert os.strerror(errno.EMFILE).lower() in error.value.sentence.lower()
        assert log.verify().ok


def test_what_keeps_sqlite_from_opening_a_file_is_asked_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **named: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    refused = sqlite3.OperationalError("unable to open database file")
    refused.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    monkeypatch.setattr(os, "open", full)
    found = storage_problem(refused, tmp_path / "ledger.sqlite", "ledger")
    assert found.code == "ledger.disk-full"


def test_a_file_that_could_not_be_opened_once_lacks_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    path.touch()
    refused = sqlite3.OperationalError("unable to open database file")
    refused.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    for found in (
        storage_problem(refused, path, "ledger"),
        *told_when_an_entry_fails(tmp_path, refused),
    ):
        assert found.code.endswith(".unwritable")
        assert "could not open it, and can now" in found.sentence


def told_when_an_entry_fails(folder: Path, refused: sqlite3.Error) -> Iterator[StorageError]:
    class Refusing(sqlite3.Connection):
        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
            if statement == "BEGIN IMMEDIATE" and log is not None:
                raise refused
            return super().execute(statement, *values)

    log = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Refusing))
        with AuditLog.open_home(folder) as log:
            with pytest.raises(StorageError) as error:
                log.append("ran", "x")
            yield error.value


def test_a_limit_on_the_size_of_files_is_told_as_such(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    with AuditLog.open_home(tmp_path) as log:
        log.append("ran", "x")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
            with pytest.raises(StorageError) as error:
                log.append("ran", "x", {"long": "x" * 50_000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "the system lets no file grow that large" in error.value.sentence
        log.append("ran", "x")
        assert log.verify().ok
    told = storage_problem(OSError(errno.EFBIG, "File too large"), tmp_path, "project")
    assert "lets no file grow" in told.sentence
    assert "ulimit" in told.hint
