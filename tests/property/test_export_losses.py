"""Whatever a file reads back otherwise than its release says it, a sentence has told."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, UserMissing, Variable
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.outcolumns import About
from dpdesk.io.formats.sas.transport_writer import write_xpt
from dpdesk.io.formats.spss.writer import write_sav
from dpdesk.io.formats.stata.writer import write_dta
from dpdesk.io.published import PublishedCsv
from tests.helpers.searching import examples
from tests.helpers.stat_files import head

WRITERS: dict[str, Callable[..., list[str]]] = {
    "sav": write_sav,
    "dta": write_dta,
    "xpt": write_xpt,
}
ABOUT = About("Title", datetime.date(2026, 1, 2))

plain = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=20)
labels = st.one_of(plain.map(str.strip), st.just("é" * 100), st.just("x" * 300))
numbers = st.one_of(
    st.integers(-3, 120).map(str),
    st.sampled_from(["0.5", "1e-80", "1e+76", "2147483647", "9007199254740993", "01", "1.50"]),
    st.floats(allow_nan=False, allow_infinity=False).map(number_text),
)
letters = st.sampled_from([".a", ".Z", "._", ".é"])
dates = st.dates(datetime.date(1583, 1, 1)).map(str)
moments = st.datetimes(datetime.datetime(1583, 1, 1)).map(lambda one: str(one).rstrip("0."))
values = {
    Kind.NUMBER: st.one_of(numbers, numbers, letters, st.just("")),
    Kind.TEXT: st.one_of(plain, numbers, st.just("a ")),
    Kind.DATE: st.one_of(dates, st.just(""), st.just("20180506")),
    Kind.DATETIME: st.one_of(moments, st.just("2018-05-06 10:10:10"), st.just("")),
    Kind.TIME: st.one_of(st.times().map(lambda one: str(one).rstrip("0")), st.just("10:10:10")),
}
formats = {
    Kind.DATE: ["", "EDATE10", "QYR8", "%td", "%tdCCYY", "DATE9", "MONYY7"],
    Kind.DATETIME: ["", "DATETIME20", "%tc", "YMDHMS19"],
    Kind.TIME: ["", "TIME8", "MTIME5", "%tcHH:MM"],
    Kind.NUMBER: ["", "", "%tq", "%tm", "WKDAY9", "DTIME12"],
    Kind.TEXT: [""],
}


def bare(text: str) -> str:
    """A value without what is told: blanks at its end, the case of letters of missing values."""
    return text.rstrip(" ").lower()


@st.composite
def columns(draw: st.DrawFn) -> tuple[Variable, list[str]]:
    """A variable with anything a release may say of it, and some values."""
    kind = draw(st.sampled_from(list(Kind)))
    ends = st.sampled_from([(None, None), (None, None), (7.0, 9.0), (float("-inf"), -1.0)])
    low, high = draw(ends) if kind is Kind.NUMBER else (None, None)
    missing = tuple(draw(st.lists(values[kind].filter(bool), max_size=4, unique=True)))
    given_labels = st.dictionaries(values[kind].filter(bool), labels.filter(bool), max_size=4)
    return Variable(
        draw(st.sampled_from(["x", "Größe in cm", "with", "x" * 70])),
        draw(labels),
        kind,
        format=draw(st.sampled_from(formats[kind])),
        measure=draw(st.sampled_from(["", "nominal", "ordinal", "scale"])),
        value_labels=draw(given_labels),
        missing=UserMissing(missing, low, high),
    ), draw(st.lists(values[kind], min_size=1, max_size=4))


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=examples(40), deadline=None)
@given(column=columns())
def test_every_difference_was_told(
    form: str, column: tuple[Variable, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    said, texts = column
    folder = tmp_path_factory.mktemp("any")
    source, target = folder / "t.csv", folder / f"t.{form}"
    with source.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([[said.name, "n"], *([t, 1] for t in texts)])
    table = PublishedCsv(source, CancelToken())
    told = WRITERS[form](table, Codebook((said,)), target, ABOUT, CancelToken(), lambda rows: None)
    found = head(target)
    read, again = found.variables[0], [row[0] for row in found.head]

    def was_told(*words: str) -> bool:
        return any(all(word in text for word in words) for text in told)

    assert again == texts or was_told("Spaces at the end") or was_told("letters of missing"), told
    assert [bare(text) for text in again] == [bare(text) for text in texts]
    assert read.name == said.name or was_told("is called")
    assert read.label == (said.label or (said.name if read.name != said.name else "")) or was_told(
        "variable labels"
    )
    kept = {bare(code): label for code, label in read.value_labels.items()}
    wanted = {bare(code): label for code, label in said.value_labels.items()}
    assert kept == wanted or was_told("alue labels")
    assert read.measure == said.measure or was_told("measurement level")
    ends = [(one.missing.low, one.missing.high) for one in (read, said)]
    single = [set(map(bare, one.missing.values)) for one in (read, said)]
    assert (ends[0] == ends[1] and single[0] == single[1]) or was_told("declared missing")
    assert read.kind is said.kind or was_told("written as texts")
    shown = read.format.rstrip("0123456789.") if said.format else ""
    assert (
        shown == said.format.rstrip("0123456789.")
        or was_told("display format")
        or was_told("written as texts")
    )
