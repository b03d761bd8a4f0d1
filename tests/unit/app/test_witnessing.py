"""What is known of ledgers outside of them: a home put back from a backup, other ledgers."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.app import auditing, budgets, witnessing
from dpdesk.app.context import AppContext
from dpdesk.app.ledgers import LedgerDesk, begin_ledger, open_ledger
from dpdesk.core.budget import Debit, PureEpsilon
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Event, silent
from dpdesk.core.logged import Logged
from dpdesk.io.canonical import canonical_json
from dpdesk.project.audit import FILE, AuditLog
from dpdesk.project.ledger import Outcome, Witness
from tests.helpers.debits import OTHER, SOURCE

BUDGET = {"population": "residents", "limit": Decimal("1.0")}
MILLIONTH = Fraction(1, 10**6)
MANIFEST = {
    "format": 1,
    "dpdesk": "0.1.0",
    "created": "2026-11-23",
    "title": "",
    "method": "dp-cube",
    "commitment": "a" * 64,
    "parameters": {},
    "result": {},
    "files": {},
    "guarantee": {
        "model": "differential privacy",
        "parameters": {},
        "claim": "None.",
        "assumes": [],
        "does_not_cover": [],
    },
}


@contextmanager
def desk_of(home: Path, budget: dict[str, object] = BUDGET) -> Iterator[LedgerDesk]:
    with AppContext.open(home) as context:
        yield open_ledger(context, home, budget)


def spend(desk: LedgerDesk, epsilon: str = "0.4", source: str = SOURCE) -> Debit:
    cost = PureEpsilon(Fraction(epsilon))
    return desk.debit(desk.request(cost, source, ["age"], "cube", title="A cube"), silent)


def spent(desk: LedgerDesk) -> Fraction:
    found = budgets.look_at_ledger(desk.context, desk.path, MILLIONTH, CancelToken(), silent)
    (account,) = found.accounts
    return account.spending.pure


def backed_up(folder: Path) -> tuple[Path, Debit, dict[str, object]]:
    """A home that spent 0.8 and was put back whole to where it had spent 0.4; the second debit."""
    home, backup = folder / "home", folder / "backup"
    with desk_of(home) as desk:
        spend(desk)
        desk.context.workspace.close()
    shutil.copytree(home, backup)
    with desk_of(home) as desk:
        second = spend(desk)
        paid = desk.paid(second)
    shutil.rmtree(home)
    shutil.copytree(backup, home)
    return home, second, paid


def test_a_home_put_back_from_a_backup_spends_nothing_until_it_knows_all_debits(
    tmp_path: Path,
) -> None:
    home, second, _ = backed_up(tmp_path)
    with desk_of(home) as desk:
        for attempt in (
            lambda: spend(desk),
            lambda: spend(desk, "0.1", OTHER),
            lambda: spent(desk),
            lambda: desk.preview(desk.request(PureEpsilon(Fraction(1)), SOURCE, ["age"], "x")),
            lambda: budgets.set_limit(desk.context, desk.path, None, "r", population="residents"),
        ):
            with pytest.raises(StorageError) as error:
                attempt()
            assert error.value.code == "ledger.restored"
        assert not budgets.check_ledger(desk.context, desk.path).ok
        with pytest.raises(InputError, match="needs a reason"):
            witnessing.restore_ledger(desk.context, desk.path, " ")
        found = witnessing.restore_ledger(desk.context, desk.path, "the disk broke")
        assert (found.entries, found.debits, found.id) == (1, 1, second.ledger)
        assert spent(desk) == Fraction("0.8")
        with pytest.raises(Exception, match=r"requested ε = 0\.4, limit ε = 1"):
            spend(desk)
        spend(desk, "0.2")
        assert budgets.check_ledger(desk.context, desk.path).ok
        assert auditing.check_audit(desk.context).ok
        with AuditLog.open_home(home) as log:
            (entry,) = log.entries_of(Logged.RESTORED)
        assert entry.facts["reason"] == "the disk broke"


def test_the_evidence_of_a_release_enters_a_lost_debit_where_the_witness_is_lost_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, second, paid = backed_up(tmp_path)
    assert paid["head"] == {"ledger": second.ledger, "entries": 4, "hash": second.entry}
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "new.jsonl"))
    release = tmp_path / "release"
    for name, content in (
        ("public/manifest.json", MANIFEST),
        ("internal/evidence.json", {"format": 1, "budget": paid}),
    ):
        (release / name).parent.mkdir(parents=True)
        (release / name).write_bytes(canonical_json(content))
    with desk_of(home) as desk:
        assert spent(desk) == Fraction("0.4")
        found = witnessing.restore_ledger(desk.context, desk.path, "a backup", [release])
        assert found.debits == 1
        assert spent(desk) == Fraction("0.8")
    with desk_of(tmp_path / "another") as desk:
        spend(desk)
        with pytest.raises(InputError, match="no complete entry for a debit in this ledger"):
            witnessing.restore_ledger(desk.context, desk.path, "a backup", [release])


def test_the_audit_log_enters_a_lost_debit_where_the_ledger_alone_was_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with desk_of(tmp_path / "home") as desk:
        spend(desk)
        old = shutil.copy(desk.path, tmp_path / "old")
        spend(desk)
        shutil.copy(old, desk.path)
        monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "new.jsonl"))
        with pytest.raises(StorageError, match="old copy"):
            spend(desk)
        assert witnessing.restore_ledger(desk.context, desk.path, "a slip").debits == 1
        assert spent(desk) == Fraction("0.8")


def test_an_audit_log_that_was_put_back_alone_is_noticed_by_the_ledger(tmp_path: Path) -> None:
    with desk_of(tmp_path / "home") as desk:
        spend(desk)
        old = shutil.copy(desk.context.home / "audit.sqlite", tmp_path / "old")
        spend(desk, "0.1")
        spend(desk, "0.1")
        assert auditing.check_audit(desk.context).ok
        shutil.copy(old, desk.context.home / "audit.sqlite")
        found = auditing.check_audit(desk.context)
        assert found.fault is not None
        assert "seen in this log before" in found.fault.reason


def settled(desk: LedgerDesk) -> Debit:
    debit = spend(desk, "0.1")
    desk.settle(debit, Outcome.RELEASED, manifest="a" * 64)
    return debit


def emptied(home: Path) -> None:
    (home / "audit.sqlite").write_bytes(b"")


def removed(home: Path) -> None:
    (home / "audit.sqlite").unlink()


def anothers(home: Path) -> None:
    with desk_of(home.with_name("second"), {"population": "foxes"}) as desk:
        settled(desk)
        shutil.copy(desk.context.home / "audit.sqlite", home / "audit.sqlite")


def one_debit_older(home: Path) -> None:
    shutil.copy(home.with_name("old"), home / "audit.sqlite")


def entries_deleted(home: Path) -> None:
    with closing(sqlite3.connect(home / "audit.sqlite", isolation_level=None)) as log:
        (guard,) = log.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_no_removal'")
        log.execute("DROP TRIGGER audit_no_removal")
        log.execute("DELETE FROM audit")
        log.execute("DELETE FROM sqlite_sequence")
        log.execute(guard[0])


def entries_changed(home: Path) -> None:
    with closing(sqlite3.connect(home / "audit.sqlite", isolation_level=None)) as log:
        (guard,) = log.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_no_change'")
        log.execute("DROP TRIGGER audit_no_change")
        log.execute("UPDATE audit SET who = 'another'")
        log.execute(guard[0])


def last_entry_cut_off(home: Path, counter: str = "") -> None:
    with closing(sqlite3.connect(home / "audit.sqlite", isolation_level=None)) as log:
        (guard,) = log.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_no_removal'")
        log.execute("DROP TRIGGER audit_no_removal")
        log.execute("DELETE FROM audit WHERE n = (SELECT max(n) FROM audit)")
        log.execute(counter or "SELECT 1")
        log.execute(guard[0])


@pytest.mark.parametrize("used", [False, True])
def test_the_last_entry_of_the_log_is_missed_while_its_debit_has_no_outcome(
    tmp_path: Path, used: bool
) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        settled(desk)
        debit = spend(desk, "0.2")
        last_entry_cut_off(home)
        if used:  # the next entry has the number after the one that is gone
            auditing.enter(desk.context, "opened", "a file")
        with pytest.raises(StorageError, match="are missing from the audit log") as stopped:
            spend(desk, "0.1")
        assert stopped.value.code == "ledger.audit-gap"
        assert not budgets.check_ledger(desk.context, desk.path).ok
        assert witnessing.noise_paid(home, "residents", SOURCE) == ("ε = 0.1", "ε = 0.2")
        assert witnessing.restore_ledger(desk.context, desk.path, "a reason").told == 1
        assert debit.row in witnessing.known_entries(desk.context, debit.ledger)
        spend(desk, "0.1")
        assert spent(desk) == Fraction("0.4")


def test_a_log_that_was_cut_without_a_trace_knows_the_debit_again_before_the_next_one(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        settled(desk)  # and the limit of the plan is entered
        debit = spend(desk, "0.2")
        last_entry_cut_off(home, "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'audit'")
        assert debit.row not in witnessing.known_entries(desk.context, debit.ledger)
        spend(desk, "0.1")
        assert debit.row in witnessing.known_entries(desk.context, debit.ledger)
        assert budgets.check_ledger(desk.context, desk.path).ok


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
@pytest.mark.parametrize("place", ["mention", "debit_facts"])
def test_a_run_killed_between_ledger_and_log_is_counted_everywhere(
    tmp_path: Path, place: str
) -> None:
    home = tmp_path / "home"
    code = f"""
import os, signal
from pathlib import Path
from dpdesk.app import ledgers
from tests.unit.app.test_witnessing import desk_of, spend
ledgers.{place} = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
with desk_of(Path({str(home)!r})) as desk:
    spend(desk, "0.2")
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with desk_of(home) as desk:
        assert witnessing.noise_paid(home, "residents", SOURCE) == ("ε = 0.2",)
        assert spent(desk) == Fraction("0.2")
        with AuditLog.open_home(home) as log:
            assert not log.entries_of(Logged.DEBITED)
        second = spend(desk, "0.1")
        known = witnessing.known_entries(desk.context, second.ledger)
        assert len(known) == 2
        assert second.row in known
        assert budgets.check_ledger(desk.context, desk.path).ok
        assert witnessing.noise_paid(home, "residents", SOURCE) == ("ε = 0.2", "ε = 0.1")
        assert spent(desk) == Fraction("0.3")


@pytest.mark.parametrize(
    "spoil", [emptied, removed, anothers, one_debit_older, entries_deleted, entries_changed]
)
@pytest.mark.parametrize("debits", [1, 2])
def test_a_ledger_of_which_the_audit_log_has_lost_something_passes_no_check(
    tmp_path: Path, spoil: Callable[[Path], None], debits: int
) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        auditing.enter(desk.context, "opened", "a file")
        for _ in range(debits):
            shutil.copy(home / "audit.sqlite", tmp_path / "old")
            settled(desk)
        assert budgets.check_ledger(desk.context, desk.path).ok
        spoil(home)
        found = budgets.check_ledger(desk.context, desk.path)
        assert not found.ok
        assert found.fault is None
        assert "audit log" in found.audit
        assert spoil is one_debit_older or not auditing.check_audit(desk.context).ok


@pytest.mark.parametrize("spoil", [emptied, removed, anothers, one_debit_older, entries_deleted])
def test_nothing_is_spent_while_the_audit_log_misses_debits(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        settled(desk)
        shutil.copy(home / "audit.sqlite", tmp_path / "old")
        settled(desk)
        spoil(home)
        request = desk.request(PureEpsilon(Fraction("0.1")), SOURCE, ["age"], "cube")
        for attempt in (
            lambda: desk.debit(request, silent),
            lambda: open_ledger(desk.context, home, BUDGET).preview(request),
            lambda: budgets.set_limit(desk.context, desk.path, None, "x", population="p"),
        ):
            with pytest.raises(StorageError, match="are missing from the audit log") as stopped:
                attempt()
            assert stopped.value.code == "ledger.audit-gap"
        assert spent(desk) == Fraction("0.2")
        look = budgets.look_at_ledger(desk.context, desk.path, MILLIONTH, CancelToken(), silent)
        assert "are missing from the audit log" in look.doubts[0]
        found = witnessing.restore_ledger(desk.context, desk.path, "the disk broke")
        assert (found.entries, found.told) == (0, 1 if spoil is one_debit_older else 2)
        assert budgets.check_ledger(desk.context, desk.path).ok
        assert auditing.check_audit(desk.context).ok
        assert len(witnessing.known_entries(desk.context, found.id)) == 2
        settled(desk)
        assert budgets.check_ledger(desk.context, desk.path).ok


def test_the_loss_of_an_audit_log_may_be_accepted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        settled(desk)
        settled(desk)
        removed(home)
        assert not budgets.check_ledger(desk.context, desk.path).ok
        witnessing.accept_witness(desk.context, desk.path, "the disk broke")
        assert budgets.check_ledger(desk.context, desk.path).ok
        assert auditing.check_audit(desk.context).ok
        settled(desk)
        assert budgets.check_ledger(desk.context, desk.path).ok
        removed(home)
        assert not budgets.check_ledger(desk.context, desk.path).ok


def test_a_home_that_was_put_back_and_whose_debits_were_entered_again_is_whole(
    tmp_path: Path,
) -> None:
    home, _, _ = backed_up(tmp_path)
    with desk_of(home) as desk:
        witnessing.restore_ledger(desk.context, desk.path, "backup of 3 May")
        assert budgets.check_ledger(desk.context, desk.path).ok
        assert auditing.check_audit(desk.context).ok


def test_a_home_folder_that_was_moved_keeps_its_audit_log(tmp_path: Path) -> None:
    with desk_of(tmp_path / "home") as desk:
        settled(desk)
        settled(desk)
    shutil.move(tmp_path / "home", tmp_path / "moved")
    with desk_of(tmp_path / "moved") as desk:
        assert budgets.check_ledger(desk.context, desk.path).ok
        emptied(tmp_path / "moved")
        assert not budgets.check_ledger(desk.context, desk.path).ok


def test_the_audit_log_of_another_home_folder_is_not_asked_for(tmp_path: Path) -> None:
    with desk_of(tmp_path / "third") as desk:
        settled(desk)
        at_home = {**BUDGET, "ledger": str(desk.path)}
    for home in ("fourth", "fifth"):
        with desk_of(tmp_path / home, at_home) as desk:
            settled(desk)
    for home in ("third", "fourth", "sixth"):
        with desk_of(tmp_path / home, at_home) as desk:
            assert budgets.check_ledger(desk.context, desk.path).ok
            assert auditing.check_audit(desk.context).ok
    shared = str(tmp_path / "shared.sqlite")
    for home in ("first", "second"):
        with desk_of(tmp_path / home, {**BUDGET, "ledger": shared}) as desk:
            settled(desk)
            settled(desk)
    for home in ("first", "second"):
        with desk_of(tmp_path / home, {**BUDGET, "ledger": shared}) as desk:
            assert budgets.check_ledger(desk.context, desk.path).ok
    emptied(tmp_path / "first")
    with desk_of(tmp_path / "second", {**BUDGET, "ledger": shared}) as desk:
        assert budgets.check_ledger(desk.context, desk.path).ok
    with desk_of(tmp_path / "first", {**BUDGET, "ledger": shared}) as desk:
        assert not budgets.check_ledger(desk.context, desk.path).ok


@pytest.mark.parametrize(
    "named", ["witness.jsonl", "folder/witness.jsonl", ".", "  ", "~no-such-user/w"]
)
def test_a_witness_that_is_another_one_in_every_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPDESK_WITNESS", named)
    with desk_of(tmp_path / "home") as desk:
        with pytest.raises(StorageError, match="expected an absolute path") as error:
            spend(desk)
        assert error.value.code == "witness.relative"
        with pytest.raises(StorageError, match="expected an absolute path"):
            begin_ledger(desk.context, desk.path, "the disk broke")
        assert not desk.path.exists()


def test_another_ledger_for_the_same_people_is_a_warning_and_never_a_stop(tmp_path: Path) -> None:
    with desk_of(tmp_path / "first") as desk:
        spend(desk, "0.3")
    said: list[Event] = []
    with desk_of(tmp_path / "second") as desk:
        request = desk.request(PureEpsilon(Fraction("0.2")), OTHER, ["age"], "cube")
        assert [note.code for note in desk.preview(request).notes] == ["ledger.elsewhere"]
        debit = desk.debit(request, said.append)
        assert "ledger.elsewhere" in [getattr(event, "code", "") for event in said]
        assert spent(desk) == Fraction("0.2")
        found = budgets.look_at_ledger(desk.context, desk.path, MILLIONTH, CancelToken(), silent)
        assert "ε = 0.3 in " in found.notes[0]
        assert desk.paid(debit)["elsewhere"] == [
            {"ledger": str(tmp_path / "first" / "ledger.sqlite"), "cost": "ε = 0.3"}
        ]
    with desk_of(tmp_path / "second", {"population": "foxes"}) as desk:
        request = desk.request(PureEpsilon(Fraction("0.2")), "c" * 64, ["tail"], "cube")
        assert desk.preview(request).notes == ()


def test_a_home_put_back_to_before_its_ledger_begins_no_fresh_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        spend(desk)
        path = desk.path
    shutil.rmtree(home)
    with desk_of(home) as desk:
        for attempt in (
            lambda: spend(desk),
            lambda: spent(desk),
            lambda: desk.preview(desk.request(PureEpsilon(Fraction(1)), SOURCE, ["age"], "x")),
        ):
            with pytest.raises(StorageError, match="2 debits and limits were") as error:
                attempt()
            assert error.value.code == "ledger.lost"
        assert not path.exists()
        begin_ledger(desk.context, path, "the disk burnt, nothing was kept")
        path.unlink()  # a new one without debits has nothing to lose
        spend(desk)
        assert spent(desk) == Fraction("0.4")


@pytest.mark.parametrize("gone", ["deleted", "emptied", "replaced"])
@pytest.mark.parametrize("known_to", ["witness", "audit log"])
def test_a_limit_is_not_forgotten_with_its_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, known_to: str
) -> None:
    """Nothing was spent yet; a fresh ledger would take any limit without a reason."""
    with desk_of(tmp_path / "other", {}) as fresh:
        spend(fresh, "0.1", OTHER)
    with desk_of(tmp_path / "home", {}) as desk:
        path = desk.path
        budgets.set_limit(desk.context, path, PureEpsilon(Fraction(2)), "", population="people")
        path.unlink()
        if gone == "emptied":
            path.touch()
        elif gone == "replaced":
            shutil.copy(fresh.path, path)
        if known_to == "audit log":
            Witness.here().path.unlink()
        else:
            (desk.context.home / FILE).unlink()
        with pytest.raises(StorageError) as error:
            budgets.set_limit(desk.context, path, PureEpsilon(Fraction(9)), "", population="people")
        if gone != "replaced":
            assert error.value.code == "ledger.lost"
            begin_ledger(desk.context, path, "lost for good")
        elif known_to == "witness":
            assert error.value.code == "ledger.another"
        if gone != "replaced":
            budgets.set_limit(desk.context, path, PureEpsilon(Fraction(9)), "", population="people")


def test_a_ledger_that_the_witness_has_never_seen_spends_nothing_until_that_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _, _ = backed_up(tmp_path)
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "of-a-new-computer.jsonl"))
    with desk_of(home) as desk:
        for attempt in (
            lambda: spend(desk, "0.1"),
            lambda: desk.preview(desk.request(PureEpsilon(Fraction(1)), SOURCE, ["age"], "x")),
            lambda: budgets.set_limit(desk.context, desk.path, None, "r", population="residents"),
        ):
            with pytest.raises(StorageError, match="does not know this ledger") as error:
                attempt()
            assert error.value.code == "witness.lost"
        found = budgets.look_at_ledger(desk.context, desk.path, MILLIONTH, CancelToken(), silent)
        assert "does not know this ledger" in found.doubts[0]
        checked = budgets.check_ledger(desk.context, desk.path)
        assert "does not know this ledger" in checked.notes[-2]
        with pytest.raises(InputError, match="needs a reason"):
            witnessing.accept_witness(desk.context, desk.path, "")
        witnessing.accept_witness(desk.context, desk.path, "a new computer")
        spend(desk, "0.1")
        assert spent(desk) == Fraction("0.5")
        with AuditLog.open_home(home) as log:
            (entry,) = log.entries_of(Logged.ACCEPTED)
        assert entry.facts["reason"] == "a new computer"


@pytest.mark.parametrize("ledger", [1, 2, 3])
@pytest.mark.parametrize("log", [1, 2, 3])
@pytest.mark.parametrize("witness", [1, 2, 3])
def test_files_put_back_from_any_days_spend_nothing_before_the_newest_is_known_everywhere(
    tmp_path: Path, ledger: int, log: int, witness: int
) -> None:
    with desk_of(tmp_path / "home") as desk:
        places = (desk.path, desk.context.home / "audit.sqlite", Witness.here().path)
        for day in (1, 2, 3):
            spend(desk, "0.1")
            for place in places:
                shutil.copy(place, tmp_path / f"{place.name}-{day}")
        for place, day in zip(places, (ledger, log, witness), strict=True):
            shutil.copy(tmp_path / f"{place.name}-{day}", place)
        newest = max(ledger, log, witness)
        if ledger < newest:
            for attempt in (lambda: spend(desk, "0.1"), lambda: spent(desk)):
                with pytest.raises(StorageError, match="old copy"):
                    attempt()
            found = witnessing.restore_ledger(desk.context, desk.path, "a backup was put back")
            assert found.debits == newest - ledger
        assert spent(desk) == Fraction(newest, 10)
        # Each debit names the log's end before it, so the loss of the last entry alone is not seen
        # while the outcome of its debit is not known.
        if ledger == newest and log < newest - 1:
            with pytest.raises(StorageError, match="are missing from the audit log"):
                spend(desk, "0.1")
            witnessing.restore_ledger(desk.context, desk.path, "a backup was put back")
        spend(desk, "0.1")
        assert spent(desk) == Fraction(newest + 1, 10)
        assert budgets.check_ledger(desk.context, desk.path).ok


def test_a_ledger_that_is_gone_is_missed_where_its_home_was_moved(tmp_path: Path) -> None:
    """Debits name the folder of the log that lies beside their ledger, wherever both went."""
    with desk_of(tmp_path / "home") as desk:
        spend(desk)
        spend(desk, "0.2")
    (tmp_path / "home").rename(tmp_path / "moved")
    ledger = tmp_path / "moved" / desk.path.name
    whole = ledger.read_bytes()
    ledger.unlink()
    with desk_of(tmp_path / "moved") as desk:
        assert desk.path == ledger
        with pytest.raises(StorageError, match="the ledger is gone; 3 debits and limits") as error:
            spend(desk, "0.1")
        assert error.value.code == "ledger.lost"
        found = witnessing.restore_ledger(desk.context, ledger, "deleted by mistake")
        assert (found.entries, found.debits) == (3, 2)
        assert spent(desk) == Fraction("0.6")
        ledger.write_bytes(whole)
        assert budgets.check_ledger(desk.context, ledger).ok
        spend(desk, "0.1")
    with desk_of(tmp_path / "fresh") as desk:
        spend(desk, "0.1")
    shutil.copy(tmp_path / "fresh" / ledger.name, ledger)
    (tmp_path / "moved").rename(tmp_path / "home")
    ledger = tmp_path / "home" / ledger.name
    with desk_of(tmp_path / "home") as desk, pytest.raises(StorageError) as error:
        spend(desk, "0.1")
    assert error.value.code in ("ledger.audit-gap", "ledger.another")
    (tmp_path / "home").rename(tmp_path / "moved")
    ledger = tmp_path / "moved" / ledger.name
    ledger.unlink()
    with desk_of(tmp_path / "moved") as desk:
        begin_ledger(desk.context, ledger, "another survey")
        spend(desk, "0.1")
        assert spent(desk) == Fraction("0.1")


def test_a_ledger_that_is_gone_is_made_again_from_the_witness(tmp_path: Path) -> None:
    with desk_of(tmp_path / "home") as desk:
        spend(desk)
        spend(desk, "0.2")
        before = desk.path.read_bytes()
        for empty in (False, True):
            desk.path.unlink()
            if empty:
                desk.path.touch()
            for attempt in (
                lambda: spend(desk, "0.1"),
                lambda: spent(desk),
                lambda: witnessing.accept_witness(desk.context, desk.path, "r"),
            ):
                with pytest.raises(StorageError, match="the ledger is gone") as error:
                    attempt()
                assert error.value.code == "ledger.lost"
            found = witnessing.restore_ledger(desk.context, desk.path, "deleted by mistake")
            assert (found.entries, found.debits) == (3, 2)
            assert spent(desk) == Fraction("0.6")
            assert budgets.check_ledger(desk.context, desk.path).ok
        shutil.copy(desk.path, tmp_path / "made")
        desk.path.write_bytes(before)
        assert budgets.check_ledger(desk.context, desk.path).ok
        with pytest.raises(Exception, match=r"requested ε = 0\.5, limit ε = 1"):
            spend(desk, "0.5")


def test_another_ledger_in_the_place_of_one_with_debits_is_used_on_purpose_only(
    tmp_path: Path,
) -> None:
    with desk_of(tmp_path / "other", {}) as fresh:
        spend(fresh, "0.1", OTHER)
    with desk_of(tmp_path / "home") as desk:
        spend(desk, "0.9")
        shutil.copy(fresh.path, desk.path)
        for attempt in (
            lambda: spend(desk, "0.9"),
            lambda: desk.preview(desk.request(PureEpsilon(Fraction(1)), SOURCE, ["age"], "x")),
        ):
            with pytest.raises(StorageError, match="a different ledger was here before") as error:
                attempt()
            assert error.value.code == "ledger.another"
        witnessing.accept_witness(desk.context, desk.path, "the other one was a trial")
        spend(desk, "0.9")


def test_a_usual_place_that_cannot_be_written_is_said_with_every_debit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("DPDESK_WITNESS")
    monkeypatch.setattr("platformdirs.user_state_dir", lambda *_, **__: str(tmp_path / "file"))
    said: list[Event] = []
    with desk_of(tmp_path / "home") as desk:
        request = desk.request(PureEpsilon(Fraction("0.2")), SOURCE, ["age"], "cube")
        desk.debit(request, said.append)
    assert "ledger.unwitnessed" in [getattr(event, "code", "") for event in said]


def test_a_witness_in_the_home_folder_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with desk_of(home) as desk:
        assert witnessing.witness_notes(desk.context) == ()
        (tmp_path / "alias").symlink_to(home)
        for place in (home / "w.jsonl", tmp_path / "alias" / "w.jsonl"):
            monkeypatch.setenv("DPDESK_WITNESS", str(place))
            (note,) = witnessing.witness_notes(desk.context)
            assert note.code == "witness.at-home"


@pytest.mark.parametrize("reason", ["", "  ", "\u200b", "…", "\u2060\u00ad"])
def test_what_says_nothing_is_not_a_reason(tmp_path: Path, reason: str) -> None:
    from dpdesk.app import ledgers

    with desk_of(tmp_path / "home") as desk:
        with pytest.raises(InputError, match="needs a reason"):
            ledgers.begin_ledger(desk.context, desk.path, reason)
        spend(desk)
        for attempt in (
            lambda: witnessing.accept_witness(desk.context, desk.path, reason),
            lambda: witnessing.restore_ledger(desk.context, desk.path, reason),
            lambda: budgets.declare_people(desk.context, desk.path, "residents", "b", True, reason),
            lambda: budgets.set_limit(
                desk.context, desk.path, None, reason, population="residents"
            ),
        ):
            with pytest.raises(InputError, match="needs a reason"):
                attempt()


@pytest.mark.parametrize("leads_to", ["nothing", "another ledger", "the same ledger"])
def test_a_link_in_the_place_of_a_ledger_with_debits_begins_no_fresh_one(
    tmp_path: Path, leads_to: str
) -> None:
    with desk_of(tmp_path / "home") as desk:
        spend(desk, "0.9")
    place, elsewhere = tmp_path / "home/ledger.sqlite", tmp_path / "elsewhere.sqlite"
    if leads_to == "the same ledger":
        shutil.move(place, elsewhere)
    else:
        place.unlink()
    if leads_to == "another ledger":
        with desk_of(tmp_path / "other", {}) as fresh:
            spend(fresh, "0.1", OTHER)
        shutil.copy(fresh.path, elsewhere)
    place.symlink_to(elsewhere)
    with desk_of(tmp_path / "home") as desk:
        if leads_to == "the same ledger":
            spend(desk, "0.1")
            return
        with pytest.raises(StorageError) as error:
            spend(desk, "0.9")
        lost = leads_to == "nothing"
        assert error.value.code == ("ledger.lost" if lost else "ledger.another")
        assert elsewhere.exists() is not lost
        if lost:
            witnessing.restore_ledger(desk.context, desk.path, "the disk broke")
        else:
            witnessing.accept_witness(desk.context, desk.path, "the other one was a trial")
        spend(desk, "0.1" if lost else "0.9")


def test_a_pipe_in_the_place_of_a_ledger_is_not_taken_for_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with AppContext.open(tmp_path / "home") as context:
        (tmp_path / "home/ledger.sqlite").symlink_to(tmp_path / "pipe")
        desk = open_ledger(context, tmp_path, BUDGET)
        with pytest.raises(InputError) as error:
            budgets.look_at_ledger(context, desk.path, MILLIONTH, CancelToken(), silent)
    assert error.value.code == "ledger.not-a-ledger"
