"""Queries as texts and values: conditions, spans of labels, what a release knows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.query import (
    Askable,
    AskableColumn,
    Chosen,
    Grouping,
    Match,
    Within,
    matching,
    read_condition,
    read_names,
    read_query,
)
from dpdesk.core.spans import Span, exact, span_of

AGES = ("0-19", "20-29", "30-39", "[40, 50[", "≥50", "not stated")


def test_conditions_are_read_as_they_are_written() -> None:
    assert read_condition("sex=F,M") == Chosen("sex", ("F", "M"), False, "F,M")
    assert read_condition("region != North") == Chosen("region", ("North",), True, "North")
    assert read_condition("age>=30") == Within("age", Span(low=Fraction(30)))
    assert read_condition("age<30.5") == Within("age", Span(high=Fraction("30.5"), high_open=True))
    assert read_condition("age=30..39") == Within("age", Span(Fraction(30), Fraction(39)))
    assert read_condition("age=..39") == Within("age", Span(high=Fraction(39)))
    assert read_condition('"a=b, c"="x, ""y"""') == Chosen("a=b, c", ('x, "y"',), False, 'x, "y"')
    assert read_condition("age=20-29,30-39").column == "age"


@pytest.mark.parametrize(
    "text", ["age", "=3", "age>=old", "age=9..1", "age=..", "", 'age="x', "a=x,,y", '"age=3']
)
def test_a_condition_that_cannot_be_read_says_what_was_expected(text: str) -> None:
    with pytest.raises(InputError, match="expected") as error:
        read_condition(text)
    assert error.value.code == "query.syntax"
    assert "\n" not in error.value.line


def test_names_with_commas_stand_in_quotes() -> None:
    assert read_names('age, "a, b",sex') == ("age", "a, b", "sex")
    query = read_query(["age,sex", "region"], levels=["age=2"])
    assert query.by == (Grouping("age", 2), Grouping("sex"), Grouping("region"))
    with pytest.raises(InputError, match="which --by does not name"):
        read_query(["sex"], levels=["age=1"])
    with pytest.raises(InputError, match="expected a column and a level"):
        read_query(["sex"], levels=["sex=one"])


def test_labels_stand_for_their_numbers() -> None:
    assert span_of("20-29") == Span(Fraction(20), Fraction(29))
    assert span_of("-5 to 3") == Span(Fraction(-5), Fraction(3))
    assert span_of("[20, 30[") == Span(Fraction(20), Fraction(30), False, True)
    assert span_of("]2,5; 3,5]") == Span(Fraction("2.5"), Fraction("3.5"), True, False)
    assert span_of("≥90") == span_of("90+") == Span(low=Fraction(90))
    assert span_of("<5") == Span(high=Fraction(5), high_open=True)
    assert span_of("7") == Span(Fraction(7), Fraction(7))
    assert [span_of(text) for text in ("*", "F", "9-1", "2020-01-05", "", "1" * 90)] == [None] * 6
    assert exact("1e5") is None


def test_a_span_selects_cuts_or_leaves_each_label() -> None:
    found = matching([read_condition("age>=25")], "age", AGES)
    assert [match.value for match in found] == ["no", "partly", "yes", "yes", "yes", "no"]
    both = [read_condition("age>=20"), read_condition("age<40")]
    assert [match.value for match in matching(both, "age", AGES)][:4] == ["no", "yes", "yes", "no"]
    assert matching([read_condition("age!=20-29")], "age", AGES).count(Match.NO) == 1
    assert matching([read_condition("age=[40, 50[")], "age", AGES).count(Match.YES) == 1


def test_a_value_that_is_no_category_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="no category `20-39` of `age`") as error:
        matching([read_condition("age=20-39")], "age", AGES)
    assert error.value.hint == "Did you mean `30-39`?"


numbers = st.one_of(st.none(), st.integers(-6, 6).map(Fraction))
spans = st.builds(Span, numbers, numbers, st.booleans(), st.booleans())


def _holds(span: Span, number: Fraction) -> bool:
    low = span.low is None or number > span.low or (number == span.low and not span.low_open)
    high = span.high is None or number < span.high or (number == span.high and not span.high_open)
    return low and high


@given(spans, spans)
def test_spans_lie_within_or_apart_as_their_numbers_do(first: Span, second: Span) -> None:
    fine = [Fraction(n, 2) for n in range(-20, 21)]
    inside = [n for n in fine if _holds(first, n)]
    if first.within(second):
        assert all(_holds(second, n) for n in inside)
    if first.apart(second):
        assert not any(_holds(second, n) for n in inside)
    elif inside and any(_holds(second, n) for n in fine):
        assert any(_holds(second, n) for n in inside)


def test_what_the_release_does_not_know_is_refused_by_name() -> None:
    asked = Askable((AskableColumn("age", (AGES,)), AskableColumn("sex")), ("count", "sum of pay"))
    asked.check(read_query(["age"], ["sex=F"], measure="sum of pay"))
    for query, word in [
        (read_query(["agee"]), "no column `agee`"),
        (read_query(["age,age"]), "asked for twice"),
        (read_query(["age"], levels=["age=1"]), "only level 0"),
        (read_query(measure="mean"), "no measure `mean`"),
        (read_query(estimator="em"), "takes none"),
    ]:
        with pytest.raises(InputError, match=word):
            asked.check(query)
