"""A ledger that was put back from an old copy stops spending until it has everything again."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.project.ledger import AccountKey, Ledger, Outcome, Witness, check_file
from tests.helpers.debits import OTHER, ask, open_here, pure, witness_of

KEY = AccountKey("residents")


def opened(path: Path) -> Ledger:
    return open_here(path, witness=witness_of(path))


def put_back(path: Path) -> list[str]:
    """A ledger with two debits, of which an older copy with one was put back; all its hashes."""
    with opened(path) as ledger:
        ledger.debit(ask("0.4"), Fraction(2))
        old = shutil.copy(path, path.with_name("old"))
        second = ledger.debit(ask("0.4"))
        ledger.settle(second, Outcome.RELEASED, manifest="e" * 64)
        ledger.set_limit(KEY, pure("1"))
        hashes = [entry.hash for entry in ledger.entries()]
    shutil.copy(old, path)
    return hashes


def test_nothing_is_spent_on_an_old_copy_until_what_it_lost_is_entered_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "l.sqlite"
    hashes = put_back(path)
    with opened(path) as ledger:
        assert ledger.book.spending(KEY).pure == Fraction("0.4")
        for attempt in (
            lambda: ledger.debit(ask("0.4")),
            lambda: ledger.debit(ask("0.4", population="others", source=OTHER)),
            lambda: ledger.set_limit(KEY, pure("9"), "a reason"),
            lambda: ledger.require({}),
        ):
            with pytest.raises(StorageError) as error:
                attempt()
            assert error.value.code == "ledger.restored"
            assert "entries: 3, debits among them: 1, the first is entry 4" in error.value.sentence
        assert len(ledger.restore()) == 3
        assert [entry.hash for entry in ledger.entries()] == hashes
        assert ledger.restore() == ()
        assert ledger.book.spending(KEY).pure == Fraction("0.8")
        assert ledger.book.limit(KEY) == pure("1")
        assert [one.outcome for one in ledger.book.debits.values()] == [
            Outcome.UNKNOWN,
            Outcome.RELEASED,
        ]
        ledger.debit(ask("0.2"))
    assert check_file(path, lambda _: {}).ok


def test_debits_of_a_copy_that_went_on_apart_are_entered_among_the_others(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    put_back(path)
    with open_here(path) as blind:  # on a computer that has another witness
        blind.debit(ask("0.1"))
        blind.set_limit(KEY, pure("3"), "a reason")
    with opened(path) as ledger:
        with pytest.raises(StorageError):
            ledger.debit(ask("0.1"))
        assert len(ledger.restore()) == 3
        assert ledger.book.spending(KEY).pure == Fraction("0.9")
        assert ledger.book.limit(KEY) == pure("1")
        outcomes = [one.outcome for one in ledger.book.debits.values()]
        assert outcomes == [Outcome.UNKNOWN, Outcome.UNKNOWN, Outcome.RELEASED]
        ledger.debit(ask("0.1"))
    assert check_file(path, lambda _: {}).ok
    with opened(path) as again:
        assert again.book.spending(KEY).pure == 1
        again.require({})
    shutil.copy(path.with_name("old"), path)
    with opened(path) as old:
        old.restore()
        assert old.book.spending(KEY).pure == 1
        old.require({})


def test_a_ledger_with_another_id_is_never_taken_for_an_old_copy(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with opened(path) as ledger:
        ledger.debit(ask("0.4"))
    path.unlink()
    with opened(path) as ledger:
        ledger.debit(ask("0.4"))
        assert ledger.book.spending(KEY).pure == Fraction("0.4")
    assert len(witness_of(path).ledgers()) == 2


def test_a_witness_that_was_not_told_is_told_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with opened(path) as ledger:
        ledger.debit(ask("0.1"))
    with open_here(path) as ledger:
        ledger.debit(ask("0.4"))
    with opened(path) as ledger:
        ledger.debit(ask("0.1"))
        known = witness_of(path).entries(ledger.identity)
        assert [one.hash for one in known] == [one.hash for one in ledger.entries()]


def test_a_line_that_a_kill_has_cut_short_is_written_again(tmp_path: Path) -> None:
    path, witness = tmp_path / "l.sqlite", witness_of(tmp_path / "l.sqlite")
    with opened(path) as ledger:
        ledger.debit(ask("0.4"))
        content = witness.path.read_bytes()
        line = content.rfind(b"\n{")
        for cut in (len(content) - 1, len(content) - 40, line + 9, line + 1):
            witness.path.write_bytes(content[:cut])
            assert ledger.lost() == ()
            ledger.set_limit(KEY, pure("9"))
            known = {one.hash for one in witness.entries(ledger.identity)}
            assert known == {one.hash for one in ledger.entries()}


def gone(witness: Witness) -> None:
    witness.path.unlink()


def emptied(witness: Witness) -> None:
    witness.path.write_bytes(b"")


def changed(witness: Witness) -> None:
    content = witness.path.read_bytes()
    assert b"2/5" in content
    witness.path.write_bytes(content.replace(b"2/5", b"9/5"))


def garbled(witness: Witness) -> None:
    content = witness.path.read_bytes()
    witness.path.write_bytes(bytes(byte ^ 0x20 if byte > 64 else byte for byte in content))


def without_a_line(witness: Witness) -> None:
    lines = witness.path.read_bytes().splitlines(keepends=True)
    (debit,) = (line for line in lines if b"2/5" in line)
    lines.remove(debit)
    witness.path.write_bytes(b"".join(lines))


def with_a_stranger(witness: Witness) -> None:
    with witness.path.open("ab") as stream:
        stream.write(b"\xff\x00 not a line of a witness\n")


@pytest.mark.parametrize("harm", [gone, emptied, changed, garbled, without_a_line, with_a_stranger])
def test_a_witness_that_is_lost_or_damaged_stops_spending_until_that_is_accepted(
    tmp_path: Path, harm: Callable[[Witness], None]
) -> None:
    path, witness = tmp_path / "l.sqlite", witness_of(tmp_path / "l.sqlite")
    with opened(path) as ledger:
        ledger.debit(ask("0.1"))
        ledger.debit(ask("0.4"))
        ledger.debit(ask("0.1"))
        harm(witness)
        if harm is without_a_line:  # the ledger has it still, and tells it again
            ledger.debit(ask("0.1"))
            assert len(witness.entries(ledger.identity)) == 5
            return
        for attempt in (
            lambda: ledger.debit(ask("0.1")),
            lambda: ledger.set_limit(KEY, pure("9"), "a reason"),
            ledger.require_witness,
        ):
            with pytest.raises(StorageError) as error:
                attempt()
            assert error.value.code in ("witness.lost", "witness.damaged")
        ledger.tell_witness()
        with pytest.raises(StorageError):
            ledger.debit(ask("0.1"))
        assert len(ledger.book.debits) == 3
        ledger.accept("the disk broke")
        ledger.debit(ask("0.1"))
    with opened(path) as again:
        again.debit(ask("0.1"))
        known = {one.hash for one in witness.entries(again.identity)}
        assert known == {one.hash for one in again.entries()}
    assert b"the disk broke" in witness.path.read_bytes()


def test_a_damaged_witness_of_a_ledger_that_was_put_back_is_not_taken_for_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "l.sqlite"
    put_back(path)  # the witness knows a second debit of 0.4
    witness = witness_of(path)
    lines = witness.path.read_bytes().splitlines(keepends=True)
    debits = [line for line in lines if b"2/5" in line]
    lines.remove(debits[1])
    witness.path.write_bytes(b"".join(lines))
    with opened(path) as ledger:
        with pytest.raises(StorageError, match="old copy"):
            ledger.accept("nothing happened")
        ledger.restore()
        with pytest.raises(StorageError) as error:
            ledger.debit(ask("0.4"))
        assert error.value.code == "witness.damaged"
        ledger.accept("the debit is known from its release")
        ledger.debit(ask("0.4"))


def test_the_first_use_of_a_ledger_needs_no_ceremony(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with open_here(tmp_path / f"{name}.sqlite", witness=Witness(tmp_path / "w")) as ledger:
            ledger.set_limit(KEY, pure("1"))
            ledger.debit(ask("0.4"))
    with open_here(tmp_path / "one.sqlite", witness=Witness(tmp_path / "w")) as ledger:
        ledger.debit(ask("0.4"))


def test_a_place_that_was_named_must_be_there_to_spend_and_the_usual_one_need_not(
    tmp_path: Path,
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    place = blocked / "below" / "witness.jsonl"
    with open_here(tmp_path / "l.sqlite", witness=Witness(place, named=True)) as ledger:
        with pytest.raises(StorageError) as error:
            ledger.debit(ask("0.4"))
        assert error.value.code == "witness.unwritable"
        assert ledger.book.debits == {}
    with open_here(tmp_path / "l.sqlite", witness=Witness(place)) as ledger:
        ledger.debit(ask("0.4"))
        assert ledger.unwitnessed
    unreadable = Witness(tmp_path)
    with open_here(tmp_path / "l.sqlite", witness=unreadable) as ledger:
        with pytest.raises(StorageError) as error:
            ledger.debit(ask("0.4"))
        assert error.value.code == "witness.unreadable"


def full_disk(descriptor: int, content: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_of_the_witness_burns_no_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = Witness(tmp_path / "w.jsonl", named=True)
    with open_here(tmp_path / "l.sqlite", witness=witness) as ledger:
        ledger.debit(ask("0.1"))
        with monkeypatch.context() as patch:
            patch.setattr("dpdesk.project.ledger.witness.os.write", full_disk)
            ledger.debit(ask("0.1"))  # on the disk already when the witness fails: it is given out
            assert "space" in ledger.unwitnessed
            for _ in range(3):
                with pytest.raises(StorageError) as error:
                    ledger.debit(ask("0.1"))
                assert error.value.code == "witness.unwritable"
            assert len(ledger.book.debits) == 2
            assert ledger.tell_witness()  # who only looks is not refused
        ledger.debit(ask("0.1"))
        assert not ledger.unwitnessed
        known = witness.entries(ledger.identity)
        assert [one.hash for one in known] == [one.hash for one in ledger.entries()]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("failing", [1, 2])
def test_what_is_accepted_is_not_said_to_be_where_the_witness_was_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool, failing: int
) -> None:
    witness, writes = Witness(tmp_path / "w.jsonl", named=named), Counter[str]()
    write = os.write

    def fails_once(handle: int, data: bytes) -> int:
        writes["all"] += 1
        return full_disk(handle, data) if writes["all"] == failing else write(handle, data)

    with open_here(tmp_path / "l.sqlite", witness=witness) as ledger:
        ledger.debit(ask("0.1"))
        witness.path.unlink()
        with monkeypatch.context() as patch:
            patch.setattr("dpdesk.project.ledger.witness.os.write", fails_once)
            with pytest.raises(StorageError) as error:
                ledger.accept("the disk broke")
            assert error.value.code == "witness.unwritable"
    with open_here(tmp_path / "l.sqlite", witness=witness) as ledger:
        with pytest.raises(StorageError) as error:
            ledger.debit(ask("0.1"))
        assert error.value.code == "witness.lost"
        ledger.accept("the disk broke")
        ledger.debit(ask("0.1"))
        assert len(witness.entries(ledger.identity)) == len(ledger.entries())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_witness_that_is_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open_here(tmp_path / "l.sqlite", witness=Witness(tmp_path / "pipe", named=True)) as ledger:
        for attempt in (lambda: ledger.debit(ask("0.4")), lambda: ledger.require({})):
            with pytest.raises(StorageError) as error:
                attempt()
            assert error.value.code in ("witness.unwritable", "witness.unreadable")
        assert ledger.book.debits == {}


def test_its_place_is_the_one_that_is_named_or_one_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for named, found in (
        (tmp_path / "w", tmp_path / "w"),
        (tmp_path, tmp_path / "witness.jsonl"),
    ):
        monkeypatch.setenv("DPDESK_WITNESS", str(named))
        assert Witness.here() == Witness(found, named=True)
    monkeypatch.delenv("DPDESK_WITNESS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Witness.here().path.name == "witness.jsonl"
    assert not Witness.here().named


def test_a_file_that_is_no_witness_is_left_as_it_is_and_stops_spending(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("sex,age\nf,31\n", "utf-8")
    for place in (table, tmp_path / "l.sqlite"):
        with open_here(tmp_path / "l.sqlite", witness=Witness(place, named=True)) as ledger:
            before = place.read_bytes()
            for _ in range(2):
                with pytest.raises(StorageError) as error:
                    ledger.debit(ask("0.1"))
                assert error.value.code == "witness.damaged"
                ledger.tell_witness()
            assert place.read_bytes() == before
            assert not ledger.book.debits


def test_a_first_line_that_a_kill_has_cut_short_is_written_again(tmp_path: Path) -> None:
    path, witness = tmp_path / "l.sqlite", witness_of(tmp_path / "l.sqlite")
    with opened(path) as ledger:
        (line,) = [
            json.dumps(
                {"ledger": ledger.identity, "path": str(ledger.path), **one.as_plain()},
                sort_keys=True,
            )
            for one in ledger.entries()
        ]
        witness.path.write_bytes(b"\n" + line.encode("ascii")[:60])
        ledger.debit(ask("0.1"))
        assert len(witness.entries(ledger.identity)) == 2
