"""Debits: exact, durable, never over a limit."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.core.budget import Approximate, Neighbours, PureEpsilon, ZeroConcentrated
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.language import voice_of
from dpdesk.core.messages import msg
from dpdesk.project.ledger import AccountKey, Outcome, Spending, unit_words
from tests.helpers.debits import COLUMNS, OTHER, SOURCE, ask, open_here, pure

KEY = AccountKey("residents")


def zcdp(text: str) -> ZeroConcentrated:
    return ZeroConcentrated(Fraction(text))


def test_a_debit_is_there_for_everybody_once_it_is_given_out(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_here(path) as ledger, open_here(path) as other:
        debit = ledger.debit(ask("0.25"))
        assert (debit.row, debit.cost, debit.ledger) == (2, pure("0.25"), other.identity)
        record = other.book.debits[2]
        assert record.entry == debit.entry
        assert record.outcome is Outcome.UNKNOWN
        assert record.request == ask("0.25")
        assert other.book.spending(KEY).pure == Fraction(1, 4)
        assert other.check({2: debit.entry}).ok


def test_every_commit_waits_for_the_disk_and_its_folder(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        settings = [
            ledger._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        ]
    assert settings == ["delete", 3]  # 3 is EXTRA: FULL, and a sync of the folder


def test_debits_fill_a_limit_exactly_and_not_one_digit_more(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        for _ in range(10):
            ledger.debit(ask("0.1"), Fraction(1))
        with pytest.raises(RefusedError) as error:
            ledger.debit(ask("0.0000000001"), Fraction(1))
        assert error.value.exit_code == 1
        assert error.value.code == "ledger.exhausted"
        assert error.value.line == (
            f"{ledger.path}: the budget of the population “residents” is not enough: spent "
            "ε = 1, requested ε = 0.0000000001, limit ε = 1 (set by an earlier plan); nothing is "
            "left; have the owner raise the limit, with a reason (`dpdesk ledger limit`)."
        )
        assert len(ledger.book.debits) == 10


def test_what_is_left_may_still_be_asked(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1.5"), Fraction(2))
        with pytest.raises(
            RefusedError, match=r"spent ε = 1.5, requested ε = 0.75, limit ε = 2"
        ) as no:
            ledger.debit(ask("0.75"), Fraction(2))
        assert "at most ε = 0.5" in no.value.hint
        ledger.debit(ask("0.5"), Fraction(2))


def test_the_stricter_of_both_limits_counts(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(KEY, pure("1"), "decided by the board")
        with pytest.raises(RefusedError, match=r"limit ε = 1 \(set by the owner\)"):
            ledger.debit(ask("1.5"), Fraction(2))
        with pytest.raises(RefusedError, match=r"limit ε = 0.5 \(of the plan\)"):
            ledger.debit(ask("0.75"), Fraction("0.5"))
        assert ledger.preview(ask("0.75"), Fraction("0.5")).limit == pure("0.5")
        assert ledger.preview(ask("0.75"), Fraction(2)).limit == pure("1")
        ledger.debit(ask("1"), Fraction(2))
        ledger.set_limit(KEY, None, "a census is due")
        ledger.debit(ask("1"), Fraction(2))


def test_the_limit_of_a_plan_binds_every_later_debit_of_the_same_people(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5"), Fraction(2))
        assert ledger.book.limit(KEY) == pure("2")
        for limit in (None, Fraction(9)):
            with pytest.raises(RefusedError, match=r"limit ε = 2 \(set by an earlier plan\)"):
                ledger.debit(ask("5"), limit)
        with pytest.raises(RefusedError, match="limit ε = 2"):
            ledger.debit(ask("5", population=""))
        ledger.debit(ask("0.5"))
        assert ledger.book.limit(KEY) == pure("2")


def test_a_plan_lowers_the_limit_of_its_people_and_never_raises_it(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.25"), Fraction(2))
        with pytest.raises(RefusedError):
            ledger.debit(ask("1"), Fraction(1))
        assert ledger.book.limit(KEY) == pure("2")
        for limit, left in (("1", "1"), ("3", "1"), ("1", "1"), ("0.9", "0.9")):
            ledger.debit(ask("0.125"), Fraction(limit))
            assert ledger.book.limit(KEY) == pure(left)
        assert [one.content.by_plan for one in ledger.book.history(KEY)] == [True] * 3
        with pytest.raises(InputError, match="needs a reason"):
            ledger.set_limit(KEY, pure("2"))
        with pytest.raises(InputError, match="needs a reason"):
            ledger.set_limit(KEY, zcdp("0.1"), " ")
        with pytest.raises(InputError, match="needs a reason"):
            ledger.set_limit(KEY, None)
        ledger.set_limit(KEY, pure("0.8"))
        ledger.set_limit(KEY, pure("2"), "one more table")
        ledger.debit(ask("1"))


def test_a_limit_of_a_file_without_a_name_binds_those_who_name_its_people_later(
    tmp_path: Path,
) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5", population=""), Fraction(2))
        for name in ("residents", "inhabitants"):
            with pytest.raises(RefusedError, match=r"spent ε = 0\.5, requested ε = 5, limit ε = 2"):
                ledger.debit(ask("5", population=name))
        ledger.debit(ask("1", population="residents"))
        ledger.declare_people("inhabitants", "residents", same=False, reason="a mix-up")
        with pytest.raises(RefusedError, match=r"spent ε = 1\.5, requested ε = 1, limit ε = 2"):
            ledger.debit(ask("1", population="inhabitants"), Fraction(9))
        ledger.debit(ask("1", population="residents", source=OTHER))


def test_without_a_limit_everything_is_recorded_and_nothing_refused(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1000"))
        assert ledger.book.spending(KEY).pure == 1000


def test_a_limit_of_nothing_refuses_everything(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(RefusedError, match="limit ε = 0"):
            ledger.debit(ask("0.001"), Fraction(0))
        assert ledger.book.debits == {}


def test_a_preview_debits_nothing_and_says_what_a_debit_would_do(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5"), Fraction(2))
        seen = ledger.preview(ask("1"), Fraction(2))
        assert (seen.spent.pure, seen.asked.pure, seen.after.pure) == (
            Fraction(1, 2),
            1,
            Fraction(3, 2),
        )
        assert (seen.allowed, seen.limit, seen.left) == (True, pure("2"), pure("0.5"))
        assert not ledger.preview(ask("1.6"), Fraction(2)).allowed
        assert [entry.kind for entry in ledger.entries()] == ["begun", "debit", "limit"]


def test_a_resaved_file_does_not_reset_the_budget_of_a_population(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1.5", source=SOURCE), Fraction(2))
        with pytest.raises(RefusedError, match=r"spent ε = 1.5"):
            ledger.debit(ask("1", source=OTHER), Fraction(2))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Residents",
            " residents ",
            "residents\u00a0",
            "ＲＥＳＩＤＥＮＴＳ",
            "resi\u00addents\u200b",
        ),
        *("residents\u3164", "resi\u2800dents", "residents\ufe0f", "\u115fresidents\uffa0"),
    ],
)
def test_a_slip_in_a_name_does_not_begin_a_fresh_budget(tmp_path: Path, name: str) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1.5"), Fraction(2))
        with pytest.raises(RefusedError, match=r"spent ε = 1.5"):
            ledger.debit(ask("1", population=name), Fraction(2))


def test_a_reason_that_shows_nothing_raises_no_limit(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(KEY, pure("2"))
        for reason in ("", " . ", "\u3164", "\u115f \u2800"):
            with pytest.raises(InputError) as error:
                ledger.set_limit(KEY, pure("3"), reason)
            assert error.value.code == "ledger.reason"
        ledger.set_limit(KEY, pure("3"), "ny")


@pytest.mark.parametrize("nothing", ["", " ", "\u200b", "\u3164 \u2800"])
def test_leaving_the_population_out_does_not_begin_a_fresh_budget(
    tmp_path: Path, nothing: str
) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(KEY, pure("2"))
        ledger.debit(ask("1.5"))
        with pytest.raises(RefusedError, match="population “residents” is not enough"):
            ledger.debit(ask("1", population=nothing))
        ledger.debit(ask("0.5", population=nothing))
        assert ledger.book.spending(KEY).pure == 2
        assert ledger.book.spending(AccountKey(source=SOURCE)).pure == 2


def test_what_a_file_spent_before_its_population_was_named_counts(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1.5", population=""))
        with pytest.raises(RefusedError, match=r"spent ε = 1.5"):
            ledger.debit(ask("1"), Fraction(2))
        ledger.debit(ask("0.5"), Fraction(2))
        assert ledger.book.spending(KEY).pure == 2


def test_a_changed_file_with_the_same_columns_is_warned_of(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        assert ledger.preview(ask("1", population="")).notes == ()
        ledger.debit(ask("1", population=""))
        (note,) = ledger.preview(ask("1", population="", source=OTHER)).notes
        assert note.code == "ledger.same-columns"
        assert "have spent ε = 1 already" in note.sentence
        assert ledger.preview(ask("1", population="", source=OTHER, columns="d" * 64)).notes == ()


def test_another_name_for_the_same_people_is_warned_of(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1"))
        (note,) = ledger.preview(ask("1", population="residents 2024")).notes
        assert note.code == "ledger.two-names"
        (note,) = ledger.preview(ask("1", population="other", source=OTHER)).notes
        assert note.code == "ledger.same-columns"
        assert "use the same name" in note.sentence


def test_noise_that_is_not_made_for_earlier_exact_numbers_is_warned_of(tmp_path: Path) -> None:
    exact = "tables; without protection: age and sex, published exactly"
    with open_here(tmp_path / "l.sqlite") as ledger:
        assert ledger.preview(ask("1", purpose=exact)).notes == ()
        ledger.debit(ask("1", purpose=exact))
        assert ledger.preview(ask("1", purpose=exact)).notes == ()
        (note,) = ledger.preview(ask("1")).notes
        assert note.code == "ledger.exact-before"
        assert "without protection: age and sex, published exactly" in note.sentence
        (note,) = ledger.preview(ask("1", purpose=exact.replace("age and sex", "age"))).notes
        assert note.code == "ledger.exact-before"
        (note,) = ledger.preview(ask("1", population="other")).notes
        assert note.code == "ledger.two-names"


def test_gaussian_and_laplace_noise_add_up_as_rho(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("1"))
        ledger.debit(ask(zcdp("0.5")), Fraction(1))
        assert ledger.book.spending(KEY).all_rho == 1
        with pytest.raises(RefusedError, match=r"spent ρ = 1, requested ρ = 0.1, limit ρ = 1"):
            ledger.debit(ask(zcdp("0.1")), Fraction(1))


def test_no_epsilon_without_delta_is_claimed_after_gaussian_noise(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask(zcdp("0.01")))
        with pytest.raises(RefusedError) as error:
            ledger.debit(ask("0.1"), Fraction(2))
        assert error.value.code == "ledger.incomparable"
        ledger.set_limit(KEY, Approximate(Fraction(2), Fraction(1, 10**6)))
        ledger.debit(ask("0.1"))
        with pytest.raises(RefusedError, match=r"ε = about [0-9.]+ at δ = 0.000001"):
            ledger.debit(ask("2"))


def test_a_limit_in_epsilon_and_delta_takes_pure_costs_exactly(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(KEY, Approximate(Fraction(1), Fraction(0)))
        for _ in range(10):
            ledger.debit(ask("0.1"))
        with pytest.raises(RefusedError):
            ledger.debit(ask("0.1"))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("rows", [1, 3])
def test_whom_a_sum_holds_for_is_said_in_german(neighbours: Neighbours, rows: int) -> None:
    unit = unit_words(Spending(rows=rows, neighbours=neighbours))
    note = msg(
        "The debits of this account protect different units; all are counted for {unit}.", unit=unit
    )
    said = voice_of("de").say(note)
    assert "gerechnet werden alle für eine " in said
    assert not {"row", "rows", "or", "added", "replaced", "with"} & set(re.findall(r"\w+", said))


def test_people_with_several_rows_are_counted_for_all_of_them(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5", rows=1))
        seen = ledger.preview(ask("0.5", rows=3), Fraction(2))
        assert (seen.spent.pure, seen.after.pure) == (Fraction(3, 2), 2)
        assert [note.code for note in seen.notes] == ["ledger.mixed-units"]
        ledger.debit(ask("0.5", rows=3), Fraction(2))
        ledger.set_limit(KEY, pure("2.5"), "one more table")
        with pytest.raises(RefusedError, match="a person with up to 3 rows") as error:
            ledger.debit(ask("0.25", rows=1), Fraction("2.5"))
        assert "at most ε = about 0.166667" in error.value.hint
        ledger.debit(ask("1/6".replace("1/6", "0.1666"), rows=1), Fraction("2.5"))


def test_neighbours_by_replacement_count_additions_twice(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5"))
        ledger.debit(ask(zcdp("0.1")))
        seen = ledger.preview(ask("0.5", neighbours=Neighbours.REPLACE))
        assert seen.after.pure == Fraction(3, 2)
        assert seen.after.rho == Fraction(4, 10)


def test_a_debit_is_settled_once_and_stays_spent(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        released, failed = ledger.debit(ask("0.5")), ledger.debit(ask("0.5"))
        ledger.settle(released, Outcome.RELEASED, manifest="e" * 64)
        ledger.settle(failed, Outcome.FAILED, reason="the disk was full")
        records = ledger.book.debits
        assert records[2].outcome is Outcome.RELEASED
        assert records[3].settled is not None
        assert records[3].settled.reason == "the disk was full"
        assert ledger.book.spending(KEY).pure == 1
        for again in (released, 3, 99):
            with pytest.raises(RefusedError) as error:
                ledger.settle(again, Outcome.FAILED)
            assert error.value.code == "ledger.settled"
        with open_here(tmp_path / "other.sqlite") as other:
            other.debit(ask())
            with pytest.raises(RefusedError):
                other.settle(released, Outcome.FAILED)


def test_a_debit_that_cannot_be_written_is_not_given_out(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with open_here(path) as ledger:
        ledger.debit(ask("0.5"))
        with closing(sqlite3.connect(path)) as other:
            other.execute(
                "CREATE TRIGGER broken BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'x'); END"
            )
        with pytest.raises(Exception, match="ledger"):
            ledger.debit(ask("0.5"))
        assert ledger.book.spending(KEY).pure == Fraction(1, 2)
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TRIGGER broken")
        ledger.debit(ask("0.25"))
        assert ledger.book.spending(KEY).pure == Fraction(3, 4)


def test_the_entries_hold_no_column_names_but_their_fingerprint(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask())
        text = "".join(entry.body for entry in ledger.entries())
        assert COLUMNS in text
        assert "age" not in text


def test_limits_are_entries_of_the_chain(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(KEY, PureEpsilon(Fraction(2)), "board of 3 May")
        ledger.set_limit(AccountKey("RESIDENTS"), pure("1"), "lowered")
        assert ledger.book.limit(KEY) == pure("1")
        assert [entry.kind for entry in ledger.entries()] == ["begun", "limit", "limit"]
        assert "board of 3 May" in ledger.entries()[1].body
