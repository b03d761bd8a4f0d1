"""What the data panel decides and says, without widgets."""

from __future__ import annotations

import pytest

from dpdesk.app.describing import Distribution
from dpdesk.app.types import ColumnProfile, ColumnType, Reading, Role, ValueCount
from dpdesk.core.schema import RoleSuggestion
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.panels.data.presenter import (
    Page,
    Situation,
    choose_page,
    codes_text,
    distribution_chart,
    parse_codes,
    reading_sentence,
)
from dpdesk.ui.words.settings import short_share

RAGGED = JobFailed(1, "Opening", "input", "csv.ragged", "line 3", details={"line": 3})
GONE = JobFailed(1, "Opening", "storage", "storage.missing", "gone")


def column(**changes: object) -> ColumnProfile:
    values: dict[str, object] = {
        "name": "age",
        "type": ColumnType.INTEGER,
        "rows": 10,
        "missing": 2,
        "distinct": 3,
        "unique": 1,
        "top": (ValueCount("30", 5), ValueCount("31", 2)),
        "suggestion": RoleSuggestion(Role.QUASI_IDENTIFIER, "by its name"),
    }
    return ColumnProfile(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "page"),
    [
        (Situation(), Page.START),
        (Situation(loading=True), Page.LOADING),
        (Situation(has_data=True), Page.TABLE),
        (Situation(has_data=True, loading=True), Page.TABLE),
        (Situation(has_data=True, wants_reading=True), Page.READING),
        (Situation(problem=RAGGED), Page.READING),
        (Situation(problem=GONE), Page.START),
        (Situation(has_data=True, problem=RAGGED), Page.TABLE),
    ],
)
def test_the_page_follows_from_the_situation(now: Situation, page: Page) -> None:
    assert choose_page(now) is page


@pytest.mark.parametrize(
    "codes",
    [
        *((), ("?",), ("NA", "-99"), ("a,b", "c"), ("n/a", "not known"), ('say "x", y',)),
        *((" ",), (" x ", "y"), ("\t",), ("\u00a0",), ('"',), (",",), ('""', "'"), ("x ", " x")),
    ],
)
def test_missing_codes_come_back_from_the_line_that_shows_them(codes: tuple[str, ...]) -> None:
    assert parse_codes(codes_text(codes)) == codes


def test_typed_codes_are_read_without_the_blanks_around_them() -> None:
    assert parse_codes(' ?,NA , "a, b", n/a,, -99 ') == ("?", "NA", "a, b", "n/a", "-99")
    assert parse_codes('say "x", "open') == ('say "x"', '"open')


def test_the_reading_is_told_in_one_sentence() -> None:
    reading = Reading("csv", ";", "cp1252", ",", '"', True, ("", "?"))
    assert reading_sentence(reading) == (
        "Read as text: delimiter semicolon, encoding Windows-1252 (Western Europe), decimal comma, "
        'quotes double ("), '
        "column names in the first line; missing: empty field, “?”."
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0 %"), (0.0001, "<1 %"), (0.256, "26 %"), (0.9999, ">99 %"), (1.0, "100 %")],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float, words: str) -> None:
    assert short_share(share) == words


def test_the_chart_of_a_column_counts_shares_of_all_rows_and_names_the_rest() -> None:
    chart = distribution_chart(Distribution("age", ("30", "31"), (5, 2), False, 1), column())
    assert chart is not None
    assert chart.series[0].values == (0.5, 0.2, 0.2)
    assert chart.answer == (
        "The most frequent value is 30, with 62.50\u00a0% of the values that are not missing. "
        "Other values (1): 1 rows."
    )


def test_a_column_without_values_has_no_chart() -> None:
    empty = column(missing=10, distinct=0, unique=0, top=())
    assert distribution_chart(Distribution("age", (), (), False), empty) is None


def test_missing_rows_are_a_part_of_the_picture_that_looks_missing() -> None:
    holes = column(missing=3)
    chart = distribution_chart(Distribution("age", ("30", "31"), (5, 2), False), holes)
    assert chart is not None
    assert chart.categories == ("30", "31", "missing")
    assert chart.missing == {2}
    assert chart.series[0].values[2] == 3 / holes.rows
    assert chart.table.rows[-1] == ("missing", 3, round(300 / holes.rows, 2))
