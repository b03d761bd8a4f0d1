"""How a run spends a budget: look ahead, debit, settle; and what happens to lost ledgers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.app import budgets, ledgers, witnessing
from dpdesk.app.context import AppContext
from dpdesk.app.ledgers import LedgerDesk, open_ledger
from dpdesk.core.budget import Debit, DebitRequest, Draws, Noise, PureEpsilon
from dpdesk.core.errors import (
    Cancelled,
    DpdeskError,
    InputError,
    RefusedError,
    StorageError,
)
from dpdesk.core.jobs import CancelToken, Event, silent
from dpdesk.project.audit import AuditLog
from dpdesk.project.ledger import DebitRecord, Ledger, Outcome, Witness
from tests.helpers.debits import OTHER, SOURCE, open_here

MILLIONTH = Fraction(1, 10**6)
BUDGET = {"population": "residents", "limit": Decimal("2.0")}


@pytest.fixture
def desk(context: AppContext, tmp_path: Path) -> LedgerDesk:
    return open_ledger(context, tmp_path, BUDGET)


def asked(desk: LedgerDesk, epsilon: str = "0.5", source: str = SOURCE) -> DebitRequest:
    return desk.request(PureEpsilon(Fraction(epsilon)), source, ["age"], "cube", title="A cube")


def records(context: AppContext, desk: LedgerDesk) -> Sequence[DebitRecord]:
    """The debits of the desk's ledger."""
    (account,) = budgets.look_at_ledger(
        context, desk.path, MILLIONTH, CancelToken(), silent
    ).accounts
    return account.debits


def test_the_plan_names_ledger_population_and_limit(context: AppContext, tmp_path: Path) -> None:
    home = open_ledger(context, tmp_path, None)
    assert home.path == (context.home / "ledger.sqlite").resolve()
    assert (home.population, home.limit) == ("", None)
    named = open_ledger(context, tmp_path, {"ledger": "own.sqlite", **BUDGET})
    assert named.path == (tmp_path / "own.sqlite").resolve()
    assert (named.population, named.limit) == ("residents", Fraction(2))
    with pytest.raises(InputError):
        open_ledger(context, tmp_path, {"ledger": ""})


def test_a_preview_makes_no_ledger_and_debits_nothing(desk: LedgerDesk) -> None:
    seen = desk.preview(asked(desk))
    assert (seen.after.pure, seen.left) == (Fraction(1, 2), PureEpsilon(Fraction(3, 2)))
    assert not desk.preview(asked(desk, "2.5")).allowed
    assert not desk.path.exists()


def test_a_release_is_settled_by_its_manifest(context: AppContext, desk: LedgerDesk) -> None:
    with desk.spending(asked(desk), silent) as spent:
        assert isinstance(spent.debit, Debit)
        assert records(context, desk)[0].outcome is Outcome.UNKNOWN
        spent.released("f" * 64)
    (record,) = records(context, desk)
    assert record.settled is not None
    assert (record.outcome, record.settled.manifest) == (Outcome.RELEASED, "f" * 64)
    assert desk.preview(asked(desk)).spent.pure == Fraction(1, 2)


def run_and_fail(desk: LedgerDesk, error: BaseException) -> None:
    with desk.spending(asked(desk), silent):
        raise error


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (Cancelled(), Outcome.CANCELLED, "cancelled"),
        (KeyboardInterrupt(), Outcome.CANCELLED, "cancelled"),
        (
            StorageError("storage.disk-full", "The disk is full."),
            Outcome.FAILED,
            "The disk is full.",
        ),
        (InputError("row.odd", "The value 4711 is odd."), Outcome.FAILED, "row.odd"),
        (ValueError("4711"), Outcome.FAILED, "ValueError"),
    ],
    ids=["cancelled", "interrupted", "full", "input", "bug"],
)
def test_what_fails_after_the_debit_stays_spent_with_a_reason_without_data(
    context: AppContext,
    desk: LedgerDesk,
    error: BaseException,
    outcome: Outcome,
    reason: str,
) -> None:
    with pytest.raises(type(error)):
        run_and_fail(desk, error)
    (record,) = records(context, desk)
    assert record.settled is not None
    assert (record.outcome, record.settled.reason) == (outcome, reason)
    assert desk.preview(asked(desk)).spent.pure == Fraction(1, 2)


def test_a_run_that_ends_without_a_release_has_failed(
    context: AppContext, desk: LedgerDesk
) -> None:
    with desk.spending(asked(desk), silent):
        pass
    (record,) = records(context, desk)
    assert record.settled is not None
    assert (record.outcome, record.settled.reason) == (
        Outcome.FAILED,
        "it ended without a release",
    )


def release_and_fail(desk: LedgerDesk) -> None:
    with desk.spending(asked(desk), silent) as spent:
        spent.released("f" * 64)
        raise ValueError("late")


def test_a_release_that_is_there_counts_whatever_fails_afterwards(
    context: AppContext, desk: LedgerDesk
) -> None:
    with pytest.raises(ValueError, match="late"):
        release_and_fail(desk)
    assert records(context, desk)[0].outcome is Outcome.RELEASED


def test_an_outcome_that_cannot_be_recorded_is_a_note_and_stays_unknown(
    context: AppContext, desk: LedgerDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Event] = []

    def refuse(*given: object, **more: object) -> None:
        raise StorageError("ledger.disk-full", "The disk is full.")

    monkeypatch.setattr("dpdesk.project.ledger.Ledger.settle", refuse)
    with desk.spending(asked(desk), said.append) as spent:
        spent.released("f" * 64)
    codes = [getattr(event, "code", "") for event in said]
    assert codes == ["ledger.made", "ledger.limit-set", "ledger.unsettled"]
    assert records(context, desk)[0].outcome is Outcome.UNKNOWN


def test_over_the_limit_nothing_runs(context: AppContext, desk: LedgerDesk) -> None:
    desk.debit(asked(desk, "1.75"), silent)
    ran = []
    said = r"spent ε = 1\.75, requested ε = 0\.5, limit ε = 2"
    with pytest.raises(RefusedError, match=said) as no, desk.spending(asked(desk), silent):
        ran.append(1)
    assert (no.value.exit_code, ran) == (1, [])
    assert len(records(context, desk)) == 1


def test_warnings_of_the_ledger_are_reported_with_the_debit(
    context: AppContext, tmp_path: Path
) -> None:
    desk = open_ledger(context, tmp_path, None)
    desk.debit(asked(desk), silent)
    said: list[Event] = []
    desk.debit(asked(desk, source=OTHER), said.append)
    assert [getattr(event, "code", "") for event in said] == ["ledger.same-columns"]


def test_every_debit_is_entered_in_the_audit_log(context: AppContext, desk: LedgerDesk) -> None:
    debit = desk.debit(asked(desk), silent)
    assert witnessing.known_entries(context, debit.ledger) == {debit.row: debit.entry}
    with AuditLog.open_home(context.home) as log:
        assert [entry.action for entry in log.entries()] == ["debited", "set a budget limit"]
        facts = {"limit": "ε = 2", "reason": "A cube", "account": "the population “residents”"}
        assert log.entries()[1].facts == facts


def test_without_an_audit_log_nothing_is_debited(context: AppContext, desk: LedgerDesk) -> None:
    desk.debit(asked(desk), silent)
    (context.home / "audit.sqlite").write_bytes(b"no log")
    with pytest.raises(StorageError, match="audit log"):
        desk.debit(asked(desk), silent)
    with pytest.raises(StorageError, match="audit log"):
        desk.preview(asked(desk))
    with open_here(desk.path) as ledger:
        assert len(ledger.book.debits) == 1


def test_a_ledger_that_is_gone_is_not_replaced_by_a_fresh_one(
    context: AppContext, desk: LedgerDesk
) -> None:
    desk.debit(asked(desk), silent)
    moved = desk.path.rename(desk.path.with_name("moved.sqlite"))
    for attempt in (
        lambda: desk.debit(asked(desk), silent),
        lambda: desk.preview(asked(desk)),
        lambda: budgets.look_at_ledger(context, desk.path, MILLIONTH, CancelToken(), silent),
        lambda: budgets.set_limit(context, desk.path, None, "", population="residents"),
        lambda: budgets.check_ledger(context, desk.path),
    ):
        with pytest.raises(StorageError) as error:
            attempt()
        assert error.value.code == "ledger.lost"
        assert "2 debits and limits were entered" in error.value.sentence
        assert not desk.path.exists()
    moved.rename(desk.path)
    desk.debit(asked(desk), silent)
    assert len(records(context, desk)) == 2


def test_a_new_ledger_in_the_place_of_a_lost_one_is_begun_on_purpose_only(
    context: AppContext, desk: LedgerDesk
) -> None:
    desk.debit(asked(desk), silent)
    with pytest.raises(InputError, match="already a ledger") as error:
        ledgers.begin_ledger(context, desk.path, "wanted")
    assert "another" not in str(error.value.hint)  # two ledgers of one population
    desk.path.unlink()
    ledgers.begin_ledger(context, desk.path, "the disk burnt")
    desk.debit(asked(desk), silent)
    assert len(records(context, desk)) == 1
    with AuditLog.open_home(context.home) as log:
        begun = [entry for entry in log.entries() if entry.action == "began a ledger"]
    assert [entry.facts for entry in begun] == [{"reason": "the disk burnt"}]


def test_a_ledger_that_was_just_begun_is_begun_again_after_a_kill(
    context: AppContext, desk: LedgerDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.debit(asked(desk), silent)
    desk.path.unlink()

    def die(_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dpdesk.project.ledger.Ledger.tell_witness", die)
        with pytest.raises(KeyboardInterrupt):
            ledgers.begin_ledger(context, desk.path, "the disk burnt")
    identity = ledgers.begin_ledger(context, desk.path, "once more")
    desk.debit(asked(desk), silent)
    assert len(records(context, desk)) == 1
    with pytest.raises(InputError, match="already a ledger"):
        ledgers.begin_ledger(context, desk.path, "again")
    with closing(Ledger.open(desk.path)) as ledger:
        assert ledger.identity == identity


def test_neither_another_file_nor_an_old_copy_is_begun_again(
    context: AppContext, desk: LedgerDesk
) -> None:
    with closing(Ledger.open(desk.path, witness=Witness.here())) as ledger:
        ledger.tell_witness()
    empty = shutil.copy(desk.path, desk.path.with_name("empty"))
    desk.debit(asked(desk), silent)
    shutil.copy(empty, desk.path)
    with pytest.raises(InputError, match="already a ledger"):
        ledgers.begin_ledger(context, desk.path, "wanted")
    desk.path.write_text("notes")
    with pytest.raises(InputError, match="already a file"):
        ledgers.begin_ledger(context, desk.path, "wanted")


def test_an_old_copy_that_was_put_back_stops_debits(context: AppContext, desk: LedgerDesk) -> None:
    desk.debit(asked(desk), silent)
    old = shutil.copy(desk.path, desk.path.with_name("old"))
    desk.debit(asked(desk), silent)
    shutil.copy(old, desk.path)
    attempts: list[Callable[[], object]] = [
        lambda: desk.debit(asked(desk), silent),
        lambda: budgets.look_at_ledger(context, desk.path, MILLIONTH, CancelToken(), silent),
    ]
    for attempt in attempts:
        with pytest.raises(DpdeskError) as error:
            attempt()
        assert error.value.code == "ledger.restored"
    assert not budgets.check_ledger(context, desk.path).ok


def test_the_picture_shows_the_simple_beside_the_advanced_and_the_tight_figure(
    context: AppContext, desk: LedgerDesk
) -> None:
    cube = Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(256), 256)
    request = desk.request(PureEpsilon(Fraction(1)), SOURCE, ["age"], "cube", draws=[cube])
    desk.debit(request, silent)
    (account,) = budgets.look_at_ledger(
        context, desk.path, MILLIONTH, CancelToken(), silent
    ).accounts
    assert account.figures.simple == 1
    assert account.figures.advanced == pytest.approx(0.3305, abs=1e-3)
    assert account.figures.tight == pytest.approx(0.2392, abs=1e-4)
    with pytest.raises(InputError, match="δ must lie"):
        budgets.look_at_ledger(context, desk.path, Fraction(0), CancelToken(), silent)


def test_a_picture_can_be_cancelled(context: AppContext, desk: LedgerDesk) -> None:
    for scale in (2, 3):
        draws = [Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(scale))]
        cost = PureEpsilon(Fraction(1, scale))
        desk.debit(desk.request(cost, SOURCE, ["age"], "x", draws=draws), silent)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        budgets.look_at_ledger(context, desk.path, MILLIONTH, token, silent)


def test_debits_in_another_ledger_are_warned_of(context: AppContext, tmp_path: Path) -> None:
    first = open_ledger(context, tmp_path, {"ledger": "first.sqlite", **BUDGET})
    first.debit(asked(first), silent)
    said: list[Event] = []
    second = open_ledger(context, tmp_path, {"ledger": "second.sqlite", **BUDGET})
    second.debit(asked(second, source=OTHER), said.append)
    codes = [getattr(event, "code", "") for event in said]
    assert codes == ["ledger.made", "ledger.elsewhere", "ledger.limit-set"]
    assert "ε = 0.5 in " in getattr(said[1], "sentence", "")
    assert "first.sqlite" in getattr(said[1], "sentence", "")


def test_a_preview_sees_every_change_at_once(context: AppContext, desk: LedgerDesk) -> None:
    other = open_ledger(context, desk.path.parent, BUDGET)
    for spent in range(4):
        assert desk.preview(asked(desk, "0.1")).spent.pure == Fraction(spent, 10)
        assert desk.preview(asked(desk, "0.1")).spent.pure == Fraction(spent, 10)
        other.debit(asked(other, "0.1"), silent)


def test_a_ledger_beside_the_plan_may_be_shared_and_that_of_the_home_folder_not(
    context: AppContext, tmp_path: Path, desk: LedgerDesk
) -> None:
    beside = open_ledger(context, tmp_path, {"ledger": "own.sqlite"})
    for one in (desk, beside):
        one.debit(asked(one), silent)
    assert desk.path.stat().st_mode & 0o777 == 0o600
    usual = tmp_path / "usual"
    usual.touch()
    assert beside.path.stat().st_mode & 0o777 == usual.stat().st_mode & 0o777


def test_limits_are_set_for_populations_and_sources(context: AppContext, tmp_path: Path) -> None:
    desk = open_ledger(context, tmp_path, None)
    desk.debit(asked(desk), silent)
    path = desk.path
    one = PureEpsilon(Fraction(1))
    budgets.set_limit(context, path, one, "first", source=SOURCE[:8])
    with pytest.raises(RefusedError, match="set by the owner"):
        desk.debit(asked(desk, "0.75"), silent)
    picture = budgets.set_limit(context, path, one, "", population=" new  people ")
    assert picture.accounts[0].key.population == "new people"
    for digits in ("aaa", "ffffff"):
        with pytest.raises(InputError, match="content hash"):
            budgets.set_limit(context, path, one, "", source=digits)
    found = budgets.look_at_ledger(context, path, MILLIONTH, CancelToken(), silent, "NEW people")
    assert len(found.accounts) == 1
    with pytest.raises(InputError, match="no population “new poeple”"):
        budgets.look_at_ledger(context, path, MILLIONTH, CancelToken(), silent, "new poeple")
