"""Who is meant by a name: the same data, or nearly the same name, under another one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.core.budget import DebitRequest, ZeroConcentrated
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.project.ledger import UNDECLARED, AccountKey, Ledger, check_file
from dpdesk.project.ledger.people import alike
from tests.helpers.debits import OTHER, SOURCE, ask, open_here, pure, witness_of

PRINT, SECOND = "1" * 64, "2" * 64
SOURCES = {"townsfolk": SOURCE, "resident": OTHER}
"""Names that may mean “residents”: the same file, nearly the same name."""


def on(*content: str, population: str = "townsfolk", source: str = OTHER) -> DebitRequest:
    return replace(ask("0.4", population=population, source=source), content=content)


def refused(ledger: Ledger, request: DebitRequest) -> str:
    seen = ledger.preview(request).refusal
    with pytest.raises(RefusedError) as error:
        ledger.debit(request)
    assert seen is not None
    assert seen.sentence == error.value.sentence
    return error.value.code


def test_the_same_file_under_another_name_spends_no_more_than_if_they_were_the_same_people(
    tmp_path: Path,
) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.8"))
        ledger.set_limit(AccountKey("residents"), pure("1"))
        for name in ("townsfolk", "zzz"):
            assert refused(ledger, ask("0.3", population=name)) == "ledger.people-unknown"
        ledger.declare_people("townsfolk", "residents", same=True, reason="both are the register")
        assert refused(ledger, ask("0.4", population="townsfolk")) == "ledger.exhausted"
        assert refused(ledger, ask("0.4", population="townsfolk", source=OTHER)) == (
            "ledger.exhausted"
        )
        ledger.debit(ask("0.2", population="Townsfolk"))
        for name in ("residents", "townsfolk"):
            assert ledger.book.spending(AccountKey(name)).pure == 1
        assert refused(ledger, ask("0.1")) == "ledger.exhausted"
        ledger.declare_people("zzz", "townsfolk", same=False, reason="a test file, by mistake")
        ledger.debit(ask("0.1", population="zzz"))
        assert ledger.book.spending(AccountKey("residents")).pure == 1
        notes = [note.code for note in ledger.preview(ask("0.1", population="zzz")).notes]
        assert "ledger.different-people" in notes
    assert check_file(tmp_path / "l.sqlite", lambda _: {}).ok


def test_without_a_limit_another_name_spends_with_a_warning(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.8"))
        for name in ("townsfolk", "resident"):
            seen = ledger.preview(ask("5", population=name, source=SOURCES[name]))
            assert seen.allowed
            assert {note.code for note in seen.notes} & UNDECLARED
            ledger.debit(ask("5", population=name, source=SOURCES[name]))
        assert ledger.book.spending(AccountKey("residents")).pure * 5 == 4


def test_a_limit_of_the_plan_or_of_either_name_binds_both_while_it_is_open_who_they_are(
    tmp_path: Path,
) -> None:
    for name, source in SOURCES.items():
        with open_here(tmp_path / f"{name}.sqlite") as ledger:
            ledger.debit(ask("0.8"))
            request = ask("0.4", population=name, source=source)
            with pytest.raises(RefusedError, match="people") as error:
                ledger.debit(request, Fraction(1))
            assert error.value.code == "ledger.people-unknown"
            assert "spent ε = 0.8, requested ε = 0.4" in error.value.sentence
            ledger.set_limit(AccountKey(name), pure("1"))
            assert refused(ledger, request) == "ledger.people-unknown"
            ledger.set_limit(AccountKey(name), pure("1.2"), "a reason")
            ledger.debit(request)
            # Neither may go on alone: together they are at the limit, in either name.
            assert refused(ledger, ask("0.1")) == "ledger.people-unknown"
            ledger.declare_people("residents", name, same=False, reason="two towns")
            ledger.debit(ask("5"))


def test_a_third_name_and_a_longer_file_begin_no_fresh_budget_either(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5"), Fraction(1))
        ledger.debit(ask("0.4", population="townsfolk"))
        assert refused(ledger, ask("0.2", population="third")) == "ledger.people-unknown"
        longer = ask("0.2", population="townsfolk", source=OTHER)
        assert refused(ledger, longer) == "ledger.people-unknown"
        ledger.debit(ask("0.1", population="townsfolk", source=OTHER))
        # The third has the longer file in common with the second alone.
        assert refused(ledger, ask("0.1", population="third", source=OTHER)) == (
            "ledger.people-unknown"
        )
        assert refused(ledger, ask("0.1", population="")) == "ledger.people-unknown"
        ledger.debit(ask("9", population="third", source="c" * 64))


def test_those_in_doubt_are_not_supposed_to_be_two_different_people_at_once(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.declare_people("residents", "townsfolk", same=False, reason="two towns")
        ledger.debit(ask("0.5"), Fraction(1))
        ledger.debit(ask("0.3", population="townsfolk"), Fraction(1))
        assert refused(ledger, ask("0.6", population="third")) == "ledger.people-unknown"
        ledger.debit(ask("0.5", population="third"))


def test_what_cannot_be_counted_together_waits_for_a_declaration(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(ask("0.5"), Fraction(9))
        assert refused(ledger, ask(ZeroConcentrated(Fraction(1, 8)), population="townsfolk")) == (
            "ledger.people-unknown"
        )


def test_the_same_rows_in_another_format_are_the_same_data(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(on(PRINT, SECOND, population="residents", source="c" * 64), Fraction("0.5"))
        assert refused(ledger, on(SECOND)) == "ledger.people-unknown"
        ledger.set_limit(AccountKey("residents"), pure("1"), "a reason")
        ledger.debit(on("3" * 64))
        nameless = replace(on(PRINT, population=""), source="d" * 64)
        ledger.debit(nameless)
        assert ledger.book.spending(AccountKey("residents")).pure * 5 == 4


def test_data_without_a_name_have_one_budget_in_every_format(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.debit(on(PRINT, population="", source="c" * 64))
        ledger.set_limit(AccountKey(source="c" * 64), pure("0.5"))
        assert refused(ledger, on(PRINT, population="")) == "ledger.exhausted"
        assert refused(ledger, on(PRINT, population="residents")) == "ledger.exhausted"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("residents 2024", "residents-2024"),
        ("residents 2024", "2024 Residents"),
        ("residents 2024", "residents2024"),
        ("residents", "resident"),
        ("residents", "resdients"),
        ("residents", "rеsidеnts"),
        ("Bevölkerung", "Bevolkerung"),
        ("Einwohner Köln", "Einwohner Koeln"),
        ("households", "house_holds"),
        ("residents 2024", "residents 2O24"),
        ("Stand 2011", "Stand 20ll"),
        ("ministry", "mınıstry"),
        ("MINISTRY", "ΜΙΝΙSTRY"),
        ("households", "һоusеһоlds"),
        ("willow hill", "vvillow hi11"),
        ("østre øer", "ostre oer"),
        ("residents 2024", "residents ٢٠٢٤"),
        ("museum", "rnuseurn"),
    ],
)
def test_names_that_are_spelled_nearly_alike_are_asked_about(
    tmp_path: Path, one: str, other: str
) -> None:
    assert alike(one, other)
    assert alike(other, one)
    with open_here(tmp_path / "l.sqlite") as ledger:
        ledger.set_limit(AccountKey(one), pure("1"))
        (note,) = ledger.preview(ask("1", population=other)).notes
        assert note.code == "ledger.names-alike"
        assert refused(ledger, ask("1.1", population=other)) == "ledger.people-unknown"
        ledger.declare_people(one, other, same=True, reason="a slip")
        assert refused(ledger, ask("2", population=other)) == "ledger.exhausted"
        ledger.debit(ask("1", population=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("residents 2023", "residents 2024"),
        ("school a", "school b"),
        ("residents", "households"),
        ("men", "women"),
        ("residents of Bonn", "residents"),
    ],
)
def test_other_names_are_other_people(one: str, other: str) -> None:
    assert not alike(one, other)
    assert not alike(other, one)


def test_what_was_declared_needs_a_reason_and_cannot_contradict_itself(tmp_path: Path) -> None:
    with open_here(tmp_path / "l.sqlite") as ledger:
        for one, other, reason in (("a", "b", " "), ("a", " A ", "r"), ("a", "", "r")):
            with pytest.raises(InputError):
                ledger.declare_people(one, other, True, reason)
        ledger.declare_people("a", "b", True, "r")
        ledger.declare_people("b", "c", True, "r")
        with pytest.raises(InputError, match=r"“[abc]” and “[abc]” were declared to be the same"):
            ledger.declare_people("a", "c", False, "r")
        ledger.declare_people("c", "b", False, "they are not")
        assert ledger.book.people.settled("a", "c")
        with pytest.raises(InputError, match="“c” and “b” were declared to be different people"):
            ledger.declare_people("a", "c", True, "r")
        assert [key.population for key in ledger.book.kin(AccountKey("a"))] == ["b"]
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


def test_that_people_are_the_same_comes_back_with_a_lost_entry_and_different_ones_do_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "l.sqlite"
    witness = witness_of(path)
    with open_here(path, witness=witness) as ledger:
        ledger.debit(ask("0.1", population="a"))
    old = path.read_bytes()
    with open_here(path, witness=witness) as ledger:
        ledger.declare_people("a", "b", True, "r")
        ledger.declare_people("a", "c", False, "r")
    path.write_bytes(old)
    with open_here(path) as blind:
        blind.debit(ask("0.1", population="a"))
    with open_here(path, witness=witness) as ledger:
        assert len(ledger.restore()) == 2
        assert ledger.book.people.settled("a", "b")
        assert not ledger.book.people.settled("a", "c")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
