"""Locked, full, damaged, changed and foreign files: one clear sentence each, and nothing lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from dpdesk.core.errors import Cancelled, DpdeskError, InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.project import sql
from dpdesk.project.ledger import AccountKey, Ledger, check_file, file
from dpdesk.project.ledger.file import APPLICATION, SCHEMA
from dpdesk.project.ledger.records import LedgerEntry
from tests.helpers.debits import ask, open_here, pure, witness_of
from tests.helpers.hidden_objects import hidden_trigger
from tests.helpers.hostile_journals import write_hostile_journal
from tests.helpers.powerless import run_powerless

KEY = AccountKey("residents")


def filled(path: Path, count: int = 4) -> Path:
    """A ledger with an entry that begins it, and ``count`` debits of 0.1."""
    with open_here(path) as ledger:
        for _ in range(count):
            ledger.debit(ask("0.1"))
    return path


@pytest.mark.parametrize("end", ["", "-journal", "-wal"])
def test_a_pipe_in_the_place_of_a_ledger_is_not_waited_for(tmp_path: Path, end: str) -> None:
    path = tmp_path / "ledger.sqlite"
    if end:
        filled(path)
    os.mkfifo(f"{path}{end}")
    assert code_of(path) == ("ledger.damaged" if end else "ledger.not-a-ledger")


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody who knows SQLite would; the guards come back afterwards."""
    with closing(sqlite3.connect(path)) as connection:
        for name in ("entries_no_change", "entries_no_removal"):
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for statement in SCHEMA[1:]:
            connection.execute(statement)
        connection.commit()


def code_of(path: Path) -> str:
    """The code of the error that opening a ledger raises."""
    with pytest.raises(DpdeskError) as error:
        open_here(path).close()
    assert str(path) in error.value.sentence
    assert error.value.line.count("\n") == 0
    return error.value.code


def test_sqlite_itself_refuses_to_change_or_remove_an_entry(tmp_path: Path) -> None:
    with closing(sqlite3.connect(filled(tmp_path / "l.sqlite"))) as connection:
        for statement in ("UPDATE entries SET who = 'x'", "DELETE FROM entries WHERE n = 5"):
            with pytest.raises(sqlite3.IntegrityError, match="only grows"):
                connection.execute(statement)


@pytest.mark.parametrize("column", ["time", "who", "kind", "body", "previous", "hash"])
def test_an_edited_entry_is_found_where_it_is(tmp_path: Path, column: str) -> None:
    path = filled(tmp_path / "l.sqlite")
    tamper(path, f"UPDATE entries SET {column} = {column} || ' ' WHERE n = 3")
    assert code_of(path) == "ledger.broken"
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    assert found.fault.n == 3


def test_a_cheaper_debit_with_a_hash_of_its_own_breaks_the_chain(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger:
        old = ledger.entries()[2]
    body = old.body.replace('"1/10"', '"1/1000"')
    assert body != old.body
    fake = LedgerEntry(3, old.time, old.who, old.kind, body, old.previous, "")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER entries_no_change")
        connection.execute(
            "UPDATE entries SET body = ?, hash = ? WHERE n = 3", (body, fake.expected_hash())
        )
        connection.execute(SCHEMA[1])
        connection.commit()
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    assert (found.fault.n, found.fault.reason) == (
        4,
        "the entry does not follow the one before it",
    )


def test_an_entry_of_a_kind_that_a_later_version_may_know_stops_spending(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite", 1)
    with open_here(path) as ledger:
        last = ledger.entries()[-1]
    new = LedgerEntry(last.n + 1, last.time, last.who, "refund", "{}", last.hash, "")
    with closing(sqlite3.connect(path)) as connection:
        fields = (new.n, new.time, new.who, new.kind, new.body, new.previous, new.expected_hash())
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", fields)
        connection.commit()
    assert code_of(path) == "ledger.broken"
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    assert found.fault.reason == "this version knows no entries of the kind “refund”"


@pytest.mark.parametrize("row", [1, 3, 5])
def test_a_removed_entry_is_missed(tmp_path: Path, row: int) -> None:
    path = filled(tmp_path / "l.sqlite")
    tamper(path, f"DELETE FROM entries WHERE n = {row}")
    assert code_of(path) == "ledger.broken"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 4")
        connection.commit()
    found = check_file(path, lambda _: {5: "f" * 64})
    assert found.fault is not None


def test_an_open_ledger_notices_what_is_changed_under_it(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger:
        tamper(path, "DELETE FROM entries WHERE n = 5")
        with pytest.raises(StorageError, match="broken at entry 5"):
            ledger.debit(ask("0.1"))


def test_a_guard_that_was_taken_away_is_told(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER entries_no_change")
        connection.commit()
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    assert "guard" in found.fault.reason


def test_an_old_copy_put_back_is_noticed_by_what_is_known_elsewhere(tmp_path: Path) -> None:
    path, old = filled(tmp_path / "l.sqlite", 2), tmp_path / "old"
    shutil.copy(path, old)
    with open_here(path) as ledger:
        debit = ledger.debit(ask("0.1"))
    shutil.copy(old, path)
    known = {debit.row: debit.entry}
    with open_here(path) as ledger:
        with pytest.raises(StorageError, match="an old copy that was put back"):
            ledger.debit(ask("0.1"), known=known)
        assert len(ledger.entries()) == 3
        other = ledger.debit(ask("0.1"))
        assert other.row == debit.row
        with pytest.raises(StorageError, match="debits among them: 1, the first is entry 4"):
            ledger.debit(ask("0.1"), known=known)


def test_an_outcome_without_its_debit_makes_no_sense(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite", 1)
    with open_here(path) as ledger:
        last = ledger.entries()[-1]
    body = '{"debit": 9, "manifest": "", "outcome": "failed", "reason": ""}'
    draft = LedgerEntry(3, last.time, "x", "settled", body, last.hash, "")
    with closing(sqlite3.connect(path)) as connection:
        row = (3, last.time, "x", "settled", body, last.hash, draft.expected_hash())
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    assert "no open debit" in found.fault.reason
    assert code_of(path) == "ledger.broken"


def test_a_clock_that_was_set_back_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path / "l.sqlite", 1)
    with open_here(path) as ledger:
        last = ledger.entries()[-1]
    body, early = last.body, "2001-01-01T00:00:00+00:00"
    draft = LedgerEntry(3, early, "x", "debit", body, last.hash, "")
    with closing(sqlite3.connect(path)) as connection:
        row = (3, early, "x", "debit", body, last.hash, draft.expected_hash())
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    found = check_file(path, lambda _: {})
    assert found.ok
    assert "clock was set back" in found.notes[0]


def test_a_ledger_that_somebody_holds_is_waited_for_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.project.sql.BUSY_SECONDS", 0.05)
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError) as error:
            ledger.debit(ask("0.1"))
        assert error.value.code == "ledger.busy"
        other.execute("ROLLBACK")
        assert ledger.debit(ask("0.1")).row == 6


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_waiting_for_a_ledger_that_somebody_holds_can_be_cancelled(
    tmp_path: Path, lock: str
) -> None:
    path, token = filled(tmp_path / "l.sqlite"), CancelToken()
    with (
        Ledger.open(path, token=token, share=lambda _: "") as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute(f"BEGIN {lock}")
        threading.Timer(0.2, token.cancel).start()
        with pytest.raises(Cancelled):
            ledger.debit(ask("0.1"))
        with pytest.raises(Cancelled):
            Ledger.open(path, token=token, share=lambda _: "")
        other.execute("ROLLBACK")
    with open_here(path) as ledger:
        assert len(ledger.book.debits) == 4


def test_a_commit_waits_for_those_who_only_look(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM entries").fetchone()
        end = threading.Timer(0.4, other.close)
        end.start()
        assert ledger.debit(ask("0.1")).row == 6
        end.join()


@pytest.mark.parametrize("look", ["entries", "tell_witness", "require_witness", "debit"])
def test_whoever_looks_waits_for_a_program_that_is_just_committing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """What is entered already must reach the witness, and no debit end with an error after it."""
    path = filled(tmp_path / "ledger.sqlite")
    witness = witness_of(path)
    with open_here(path, witness=witness) as ledger:
        ledger.accept("first seen here")
        kind, commit = sql.kind_of, file.committing

        def released(error: sqlite3.Error) -> str:
            other.rollback()
            return kind(error)

        @contextmanager
        def taken(connection: sqlite3.Connection) -> Iterator[None]:
            with commit(connection):
                yield
            other.execute("BEGIN EXCLUSIVE")

        monkeypatch.setattr(sql, "kind_of", released)
        with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other:
            if look == "debit":
                monkeypatch.setattr("dpdesk.project.ledger.ledger.committing", taken)
                assert ledger.debit(ask("0.1")).row == 6
            else:
                other.execute("BEGIN EXCLUSIVE")
                getattr(ledger, look)()
            assert not other.in_transaction
        assert {one.hash for one in ledger.entries()} == {
            one.hash for one in witness.entries(ledger.identity)
        }


def test_a_ledger_that_is_held_is_busy_and_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.project.sql.BUSY_SECONDS", 0.05)
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for attempt in (ledger.check, lambda: check_file(path, lambda _: {})):
            with pytest.raises(StorageError) as error:
                attempt()
            assert error.value.code == "ledger.busy"
        other.execute("ROLLBACK")


def debit_until_full(ledger: Ledger) -> int:
    """How many debits found room."""
    for given in range(200):
        try:
            ledger.debit(ask("0.1"))
        except StorageError as error:
            if error.code != "ledger.disk-full":
                raise
            return given
    raise AssertionError("the disk is never full")


def test_on_a_full_disk_nothing_is_debited_and_later_all_goes_on(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with open_here(path) as ledger:
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
        given = debit_until_full(ledger)
        assert ledger.book.spending(KEY).pure == Fraction(4 + given, 10)
        ledger._connection.execute("PRAGMA max_page_count = 100000")
        ledger.debit(ask("0.1"))
        assert ledger.check().ok
        assert ledger.book.spending(KEY).pure == Fraction(5 + given, 10)


class FailsAtTheEnd(sqlite3.Connection):
    """A disk that fails once, before a commit or when its journal has gone already."""

    failing = ""

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
        failing = self.failing if statement == "COMMIT" else ""
        if failing:
            self.failing = ""
        if failing == "after":
            super().execute(statement)
        if failing:
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(statement, *values)


def test_a_disk_that_fails_at_the_end_of_a_commit_is_told_with_what_it_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, usual = filled(tmp_path / "l.sqlite"), sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(usual, factory=FailsAtTheEnd))
    with open_here(path) as ledger:
        assert isinstance(ledger._connection, FailsAtTheEnd)
        for when, code in (("before", "ledger.unwritable"), ("after", "ledger.unsure")):
            spent, entries = ledger.book.spending(KEY).pure, len(ledger.entries())
            for change in (
                lambda: ledger.debit(ask("0.1")),
                lambda: ledger.set_limit(KEY, pure("9"), "more room"),
            ):
                ledger._connection.failing = when
                with pytest.raises(StorageError) as error:
                    change()
                assert error.value.code == code
            kept = when == "after"
            assert len(ledger.entries()) == entries + 2 * kept
            assert ledger.book.spending(KEY).pure == spent + kept * Fraction(1, 10)
        assert ledger.check().ok


@pytest.mark.parametrize(
    ("when", "code"), [("before", "ledger.unwritable"), ("after", "ledger.unsure")]
)
def test_a_disk_that_fails_when_a_ledger_has_begun_is_told_with_what_it_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, code: str
) -> None:
    path, usual = tmp_path / "l.sqlite", sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(usual, factory=FailsAtTheEnd))
        patch.setattr(FailsAtTheEnd, "failing", when)
        with pytest.raises(StorageError) as error:
            open_here(path)
    assert error.value.code == code
    with closing(sqlite3.connect(path)) as found:
        tables = found.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    assert bool(tables) is (when == "after")
    with open_here(path) as ledger:
        assert len(ledger.entries()) == 1


def test_a_damaged_file_is_never_taken_for_a_fresh_ledger(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite", 40)
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 2000] = b"\xff" * 2000
    path.write_bytes(content)
    assert code_of(path) in ("ledger.damaged", "ledger.broken")
    path.write_bytes(b"no ledger at all, but some text")
    assert code_of(path) == "ledger.not-a-ledger"
    assert path.read_bytes() == b"no ledger at all, but some text"
    path.write_bytes(content[:3000])
    assert code_of(path) in ("ledger.damaged", "ledger.broken", "ledger.not-a-ledger")


def test_other_databases_and_newer_ledgers_are_left_alone(tmp_path: Path) -> None:
    other, newer = tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
    assert code_of(other) == "ledger.not-a-ledger"
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("PRAGMA user_version = 4")
        connection.execute("CREATE TABLE entries (x)")
        connection.commit()
    assert code_of(newer) == "ledger.newer"
    for path in (other, newer):
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert len(tables) == 1


def test_folders_and_missing_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert code_of(tmp_path / "folder") == "ledger.not-a-ledger"
    assert code_of(tmp_path / "none" / "l.sqlite") == "ledger.no-folder"
    with pytest.raises(StorageError) as error:
        open_here(tmp_path / "gone.sqlite", create=False)
    assert error.value.code == "ledger.missing"
    assert not (tmp_path / "gone.sqlite").exists()


def test_a_named_ledger_is_made_in_a_folder_that_is_there(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        assert ledger.made
        assert len(ledger.identity) == 32
    with open_here(tmp_path / "l.sqlite") as again:
        assert not again.made
        assert again.identity == ledger.identity


def test_nothing_is_debited_on_a_network_share_but_it_can_be_looked_at(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    with pytest.raises(StorageError) as error:
        Ledger.open(path, share=lambda _: "NFS")
    assert error.value.code == "ledger.network"
    with Ledger.open(path, create=False, share=lambda _: "NFS") as ledger:
        assert len(ledger.book.debits) == 4


def test_a_file_that_cannot_be_written_can_be_looked_at_and_not_debited(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    path.chmod(0o444)
    code = f"""
from pathlib import Path
from dpdesk.core.errors import StorageError
from dpdesk.project.ledger import AccountKey, Ledger
with Ledger.open(Path({str(path)!r})) as ledger:
    print(ledger.read_only, len(ledger.book.debits))
    try:
        ledger.set_limit(AccountKey("x"), None)
    except StorageError as error:
        print(error.code, error.sentence)
"""
    printed = run_powerless(code, path.parent)
    assert printed.startswith("True 4\nledger.forbidden")
    assert "no permission" in printed


def test_an_unknown_entry_of_this_layout_is_refused_whole(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite", 1)
    with open_here(path) as ledger:
        last = ledger.entries()[-1]
    draft = LedgerEntry(3, last.time, "x", "refund", "{}", last.hash, "")
    with closing(sqlite3.connect(path)) as connection:
        row = (3, last.time, "x", "refund", "{}", last.hash, draft.expected_hash())
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    assert code_of(path) == "ledger.broken"


def test_a_refused_debit_leaves_no_trace_and_no_lock(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite")
    before = path.read_bytes()
    with open_here(path) as ledger, open_here(path) as other:
        with pytest.raises(RefusedError):
            ledger.debit(ask("10"), Fraction(1))
        assert path.read_bytes() == before
        other.debit(ask("0.1"), Fraction(1))
        with pytest.raises(RefusedError, match=r"spent ε = 0\.5"):
            ledger.debit(ask("0.51"), Fraction(1))


def test_a_hash_of_something_else_is_no_source(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(ValueError, match="SHA-256"):
            ledger.debit(ask("0.1", source="people.csv"))
        assert ledger.book.debits == {}


def test_texts_of_any_kind_are_kept_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with open_here(path) as ledger:
        name = "a\nb\u2028c\udcff" + "x" * 2000
        ledger.debit(ask("0.1", population=name))
        ledger.set_limit(AccountKey("p"), pure("1"), "line\nline\x00")
    with open_here(path) as ledger:
        assert ledger.check().ok
        (record,) = ledger.book.debits.values()
        assert len(record.request.population) == 500
        assert "\n" not in record.request.population
        with pytest.raises(RefusedError):
            ledger.debit(ask("1", population=name), Fraction(1))


def test_an_input_error_names_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="expected a ledger of DPDesk"):
        open_here(tmp_path / "x")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER forget BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER copy AFTER INSERT ON entries BEGIN SELECT 1; END",
        "DROP TRIGGER entries_no_change; CREATE TRIGGER entries_no_change AFTER INSERT ON entries "
        "BEGIN SELECT 1; END",
        "CREATE VIEW spent AS SELECT * FROM entries",
        hidden_trigger("entries", "SELECT RAISE(IGNORE);"),
    ],
)
def test_a_ledger_with_a_foreign_trigger_or_view_is_not_used(
    tmp_path: Path, statement: str
) -> None:
    path = filled(tmp_path / "l.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    with pytest.raises(StorageError, match="such a change can alter what is entered") as caught:
        open_here(path)
    assert caught.value.code == "ledger.damaged"


def test_an_index_that_points_elsewhere_is_found_and_nothing_is_debited(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with open_here(path) as ledger:
        for _ in range(3):
            ledger.debit(ask("0.1"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master "
            "WHERE name = 'sqlite_sequence') WHERE name = 'sqlite_autoindex_entries_1'"
        )
        connection.commit()
    found = check_file(path, lambda _: {})
    assert found.fault is not None
    with pytest.raises(StorageError) as error, open_here(path) as ledger:
        ledger.debit(ask("0.1"))
    assert error.value.code == "ledger.damaged"


def test_a_layout_that_no_version_numbers_so_is_called_damaged(tmp_path: Path) -> None:
    path = filled(tmp_path / "l.sqlite", 1)
    for version in (-1, 0):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        assert code_of(path) == "ledger.damaged"


def test_a_journal_that_lies_beside_a_ledger_deletes_no_file(tmp_path: Path) -> None:
    path, victim = filled(tmp_path / "ledger.sqlite"), tmp_path / "thesis.odt"
    victim.write_text("years of work")
    journal = write_hostile_journal(path, victim)
    assert code_of(path) == "ledger.damaged"
    assert victim.read_text() == "years of work"
    journal.unlink()
    with open_here(path) as ledger:
        assert ledger.check().ok
