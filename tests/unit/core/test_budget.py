"""Exact budgets, draws, and receipts that only a ledger makes."""

from __future__ import annotations

import ast
import dataclasses
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.budget import (
    Approximate,
    Debit,
    DebitRequest,
    Draws,
    Noise,
    ProtectedUnit,
    PureEpsilon,
    ZeroConcentrated,
    amount,
    amount_text,
    budget_from,
    budget_plain,
    columns_fingerprint,
    protects,
)
from dpdesk.core.errors import InputError, RefusedError
from tests.helpers.debits import SOURCE, ask, debit_for_tests, pure

ROOT = Path(__file__).parents[3]
amounts = st.fractions(0, 1000)
budgets = st.one_of(
    st.builds(PureEpsilon, amounts),
    st.builds(ZeroConcentrated, amounts),
    st.builds(Approximate, amounts, st.fractions(0, Fraction(999, 1000))),
)


def test_ten_tenths_are_exactly_one() -> None:
    total = sum((pure("0.1") for _ in range(9)), pure("0.1"))
    assert total == pure("1")
    assert total <= pure("1")
    assert not total < pure("1")


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (Decimal("0.1"), "1/10"),
        (0.1, "1/10"),
        ("0.30", "3/10"),
        (2, "2"),
        ("1e-6", "1/1000000"),
        (Fraction(1, 3), "1/3"),
    ],
)
def test_amounts_are_read_as_exact_decimals(given: object, exact: str) -> None:
    assert amount(given, "epsilon") == Fraction(exact)


@pytest.mark.parametrize(
    "given", ["", "much", "nan", "inf", -1, True, None, "1e9999", Decimal("-0.1"), "1/0"]
)
def test_what_is_no_amount_is_refused_by_name(given: object) -> None:
    with pytest.raises(InputError, match=r"`epsilon` is .*, expected a number"):
        amount(given, "epsilon")


def test_budgets_are_told_in_the_symbols_of_the_field() -> None:
    assert str(pure("0.5")) == "ε = 0.5"
    assert str(ZeroConcentrated(Fraction("0.024356"))) == "ρ = 0.024356"
    assert str(Approximate(Fraction(1), Fraction("1e-6"))) == "ε = 1, δ = 0.000001"
    assert str(PureEpsilon(Fraction(1, 3))) == "ε = about 0.333333"


def test_an_amount_of_many_digits_is_told_as_about() -> None:
    assert amount_text(Fraction(1, 256)) == "0.00390625"
    assert amount_text(Fraction(1, 2**60)) == "about 8.67362e-19"


@given(budgets)
def test_a_budget_comes_back_from_its_stored_form_exactly(budget: PureEpsilon) -> None:
    assert budget_from(budget_plain(budget)) == budget


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": 1},
        {"kind": "pure", "epsilon": "-1"},
        {"kind": "pure", "epsilon": "1/0"},
        {"kind": "pure", "epsilon": "0.5"},
        {"kind": "pure", "epsilon": "1", "rho": "1"},
        {"kind": "other", "epsilon": "1"},
    ],
)
def test_a_stored_budget_that_makes_no_sense_is_no_budget(stored: object) -> None:
    with pytest.raises(ValueError, match="no "):
        budget_from(stored)


def test_kinds_are_not_compared_with_each_other() -> None:
    with pytest.raises(TypeError):
        assert pure("1") < ZeroConcentrated(Fraction(2))  # type: ignore[operator]
    assert pure("1") != ZeroConcentrated(Fraction(1))
    small, other = Approximate(Fraction(1), Fraction(1, 10)), Approximate(Fraction(2), Fraction(0))
    assert not small <= other
    assert not other <= small


@pytest.mark.parametrize("value", [0.5, 1, "1"])
def test_a_budget_takes_nothing_but_fractions(value: object) -> None:
    with pytest.raises(TypeError, match="fractions"):
        PureEpsilon(value)  # type: ignore[arg-type]


def test_what_draws_cost() -> None:
    cube = Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(256), 256)
    assert cube.epsilon == 1
    assert cube.rho == Fraction(256, 2 * 256**2)
    gaussian = Draws(Noise.DISCRETE_GAUSSIAN, Fraction(2), Fraction(50), 3)
    assert gaussian.epsilon is None
    assert gaussian.rho == 3 * Fraction(4, 100)
    assert Draws(Noise.CONCENTRATED, Fraction(1, 7), Fraction(1)).rho == Fraction(1, 7)


@pytest.mark.parametrize("count", [1, 7])
def test_draws_come_back_from_their_stored_form(count: int) -> None:
    draws = Draws(Noise.LAPLACE, Fraction(1, 3), Fraction(22, 7), count)
    assert Draws.from_plain(draws.as_plain()) == draws


def test_a_request_that_understates_its_draws_cannot_be_made() -> None:
    draws = [Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(2), 3)]
    assert ask("1.5", draws=draws).cost == pure("1.5")
    with pytest.raises(ValueError, match="more ε"):
        ask("1.4999999999999999", draws=draws)
    with pytest.raises(ValueError, match="more ε"):
        ask("100", draws=[Draws(Noise.GAUSSIAN, Fraction(1), Fraction(1))])
    with pytest.raises(ValueError, match="more ρ"):
        ask(ZeroConcentrated(Fraction(3, 8) - Fraction(1, 10**30)), draws=draws)
    assert ask(ZeroConcentrated(Fraction(3, 8)), draws=draws).draws == tuple(draws)


def test_columns_are_the_same_in_any_order_and_never_by_gluing() -> None:
    assert columns_fingerprint(["a", "b"]) == columns_fingerprint(["b", "a"])
    assert columns_fingerprint(["a", "b"]) != columns_fingerprint(["ab"])
    assert columns_fingerprint(["a,b"]) != columns_fingerprint(["a", "b"])


def test_the_unit_is_told_in_words() -> None:
    assert str(ProtectedUnit()) == "one row"
    assert str(ProtectedUnit(3)) == "one person, at most 3 rows"
    assert str(ProtectedUnit(3, "household")) == "all rows with the same household, at most 3 rows"


def test_nobody_makes_a_debit_by_hand() -> None:
    fields = ("x", 1, "h", "p", SOURCE, pure("1"), (), "t", "why")
    with pytest.raises(TypeError):
        Debit(*fields)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="only a ledger"):
        Debit(*fields, seal=object())
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(debit_for_tests(), cost=pure("0"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        debit_for_tests().cost = pure("0")  # type: ignore[misc]


def test_nothing_but_the_ledger_and_one_helper_of_the_tests_issues_debits() -> None:
    callers, meant = set(), {"issue_debit", "_LEDGER_SEAL"}
    for folder in ("dpdesk", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            names = {
                getattr(node, "id", getattr(node, "attr", getattr(node, "name", "")))
                for node in (ast.walk(ast.parse(text)) if any(map(text.count, meant)) else ())
                if isinstance(node, ast.Name | ast.Attribute | ast.alias)
            }
            if names & meant:
                callers.add(path.relative_to(ROOT).as_posix())
    assert callers == {
        "dpdesk/core/budget.py",
        "dpdesk/project/ledger/ledger.py",
        "tests/helpers/debits.py",
    }


def test_a_debit_is_good_for_one_draw() -> None:
    debit = debit_for_tests()
    debit.redeem()
    with pytest.raises(RefusedError) as error:
        debit.redeem()
    assert error.value.code == "ledger.debit-used"


def test_a_debit_is_not_good_for_more_noise_than_was_debited() -> None:
    draws = [Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(2), 2)]
    debit = debit_for_tests("1", draws)
    with pytest.raises(ValueError, match="more ε"):
        debit.redeem([Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(2), 3)])
    debit.redeem(draws)
    with pytest.raises(RefusedError):
        debit.redeem(draws)


def test_a_cost_is_told_as_rho_by_its_draws_where_they_are_many() -> None:
    draws = [Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(256), 256)]
    assert ask("1", draws=draws).rho == Fraction(1, 512)
    assert ask("1").rho == Fraction(1, 2)
    assert ask(ZeroConcentrated(Fraction(1, 7))).rho == Fraction(1, 7)
    assert ask(Approximate(Fraction(1), Fraction(1, 100))).rho is None


def test_of_many_threads_one_alone_gets_the_debit() -> None:
    debit, won = debit_for_tests(), []

    def try_it() -> None:
        try:
            debit.redeem()
        except RefusedError:
            return
        won.append(1)

    threads = [threading.Thread(target=try_it) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [1]


def test_a_debit_goes_to_a_worker_process_and_stays_used() -> None:
    debit = debit_for_tests()
    assert pickle.loads(pickle.dumps(debit)) == debit
    debit.redeem()
    with pytest.raises(RefusedError):
        pickle.loads(pickle.dumps(debit)).redeem()


def test_a_request_without_draws_is_a_mechanism_of_which_the_cost_alone_is_known() -> None:
    assert ask("0.5").draws == (Draws(Noise.PURE, Fraction(1, 2), Fraction(1)),)
    assert ask("0").draws == ()
    approximate = Approximate(Fraction(1), Fraction(1, 100))
    assert isinstance(ask(approximate), DebitRequest)


def test_a_budget_that_buys_nothing_is_told_from_one_that_does() -> None:
    small = (PureEpsilon(Fraction(3)), ZeroConcentrated(Fraction(1)), PureEpsilon(Fraction(20)))
    assert all(map(protects, small))
    large = (
        PureEpsilon(Fraction(10**30)),
        PureEpsilon(Fraction(21)),
        ZeroConcentrated(Fraction(10**30)),
        Approximate(Fraction(50), Fraction(1, 10**6)),
    )
    assert not any(map(protects, large))


def test_amounts_that_nobody_can_mean_are_refused_and_shown_all_the_same() -> None:
    for value in ("1e101", "1e400", 10**400, Fraction(10**101)):
        with pytest.raises(InputError, match=r"above 10\^100"):
            amount(value, "limit")
    for value in ("1_0", "\u0663", "1/3", "nan"):
        with pytest.raises(InputError, match="expected a number of 0 or more"):
            amount(value, "limit")
    assert amount("1e100", "limit") == 10**100
    assert str(PureEpsilon(Fraction(10**400))) == "ε = above 10^100"
