"""A DataFrame as a source: its canonical text, what is refused, what no value may decide."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import stat
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.labels import Kind
from dpdesk.core.language import voice_of
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.store import DataStore
from dpdesk.python.frames import dtype_texts, held_frame
from tests.helpers.searching import examples

TOKEN = CancelToken()
Rows = tuple[tuple[str, ...], ...]


@pytest.fixture
def context(private_home: Path) -> Iterator[AppContext]:
    with AppContext.open() as opened:
        yield opened


def written(frame: pd.DataFrame, context: AppContext, *, private: bool = False) -> bytes:
    """The canonical text of a frame."""
    with held_frame(frame, "data.frame", context, TOKEN, private) as path:
        return path.read_bytes()


def rows_of(frame: pd.DataFrame, context: AppContext) -> Rows:
    """The values as the program works with them."""
    with held_frame(frame, "data.frame", context, TOKEN, private=False) as path:
        spec = SourceSpec("data.frame", held=str(path), empty_rows="keep")
        store = DataStore.open(spec, Path(), context.workspace, TOKEN, silent)
        try:
            return store.page(0, 1_000)
        finally:
            store.close()


def refusal(frame: pd.DataFrame, context: AppContext) -> InputError:
    """With what a method without noise refuses a frame."""
    with pytest.raises(InputError) as caught:
        written(frame, context)
    return caught.value


def test_the_canonical_text_is_what_the_page_says(context: AppContext) -> None:
    frame = pd.DataFrame(
        {
            "age": pd.array([41, None], "Int64"),
            "town": ['North "End",\nold', "Süd"],
            "size": pd.Categorical(["low", None], ["low", "high"], ordered=True),
        }
    )
    frame.attrs = {"labels": {"age": "Age"}, "value_labels": {"age": {41: "in the forties"}}}
    head, _, body = written(frame, context).partition(b"\n")
    assert json.loads(head) == {
        "format": "dpdesk-frame",
        "version": 1,
        "rows": 2,
        "columns": [
            {
                "name": "age",
                "kind": "number",
                "label": "Age",
                "value_labels": {"41": "in the forties"},
            },
            {"name": "town", "kind": "text"},
            {"name": "size", "kind": "text", "measure": "ordinal", "order": ["low", "high"]},
        ],
    }
    assert body.decode() == '"41","North ""End"",\nold","low"\n,"Süd",\n'


def test_each_value_arrives_as_the_text_that_it_has(context: AppContext) -> None:
    moment = pd.Timestamp("2020-06-01 10:00:00.000000001")
    frame = pd.DataFrame(
        {
            "whole": [9007199254740993, -1],
            "float": [0.1, 3.0],
            "single": np.array([0.1, 16777216], np.float32),
            "truth": [True, False],
            "code": ["007", "NA"],
            "moment": pd.Series([moment, None], dtype="datetime64[ns]"),
            "zone": pd.Series([moment.floor("s"), None]).dt.tz_localize("Europe/Vienna"),
            "date": [datetime.date(2020, 6, 1), None],
            "decimal": [Decimal("1.50"), Decimal("100")],
            "arrow": pd.array([Decimal("1.50"), None], pd.ArrowDtype(pyarrow.decimal128(5, 2))),
            "number category": pd.Categorical([3.0, 1.0]),
        }
    )
    first, other = rows_of(frame, context)
    assert first == (
        *("9007199254740993", "0.1", "0.1", "true", "007", "2020-06-01 10:00:00.000000001"),
        *("2020-06-01 08:00:00+00", "2020-06-01", "1.5", "1.5", "3"),
    )
    assert other == ("-1", "3", "16777216", "false", "NA", "", "", "", "100", "", "1")


def test_the_type_that_holds_a_value_is_not_part_of_the_content(context: AppContext) -> None:
    whole = [1, 2, 3]
    texts = ["a", "b", "b"]
    moments = pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])
    alike = [
        pd.DataFrame({"n": whole, "t": texts, "m": moments}),
        pd.DataFrame({"n": [1.0, 2.0, 3.0], "t": pd.array(texts, "string"), "m": moments}),
        pd.DataFrame(
            {
                "n": pd.array(whole, "Int8"),
                "t": pd.Categorical(texts, ["b", "a", "never"]),
                "m": moments.astype("datetime64[s]"),
            },
            index=[7, 3, 9],
        ),
        pd.DataFrame(
            {
                "n": pd.array(whole, "int64[pyarrow]"),
                "t": pd.array(texts, "string[pyarrow]"),
                "m": pd.array(moments, "timestamp[ns][pyarrow]"),
            }
        ),
        pd.DataFrame({"n": whole, "t": texts, "m": moments}, dtype=object),
    ]
    hashes = {hashlib.sha256(written(frame, context)).hexdigest() for frame in alike}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.iloc[::-1],
        lambda frame: frame[["t", "n"]],
        lambda frame: frame.assign(n=frame["n"].astype(str)),
        lambda frame: frame.assign(t=frame["t"].astype(pd.CategoricalDtype(["b", "a"], True))),
        lambda frame: frame.rename(columns={"n": "N"}),
    ],
    ids=["rows", "columns", "numbers as texts", "an order", "a name"],
)
def test_order_names_and_kinds_are_part_of_the_content(context: AppContext, change: Any) -> None:
    frame = pd.DataFrame({"n": [1, 2], "t": ["a", "b"]})
    assert written(frame, context) != written(change(frame), context)


@pytest.mark.parametrize(
    ("column", "code", "words"),
    [
        (["a", 1, None], "frame.mixed", r"several types \(int, str\)"),
        ([True, "a", None], "frame.mixed", r"several types \(bool, str\)"),
        (["a", ["b"], None], "frame.value", "row 2, column `x`: found a value of the type list"),
        (["a", b"b", None], "frame.value", "row 2, column `x`: found a value of the type bytes"),
        (
            np.array(["a", "\ud800", None], object),
            "frame.value",
            "row 2, column `x`: found a value of the type str",
        ),
        (["a", "", None], "frame.empty", "row 2, column `x`: found an empty text, and missing"),
        (pd.to_timedelta([1, 2, 3]), "frame.type", r"type timedelta64"),
        (np.array([1j, 2, 3]), "frame.value", "complex"),
        (pd.Categorical([1, "1", None]), "frame.mixed", "several types"),
        (pd.Categorical(["a", "b", ""]), None, ""),
        (pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]), "frame.type", "type interval"),
        (pd.period_range("2020", periods=3, freq="Y"), "frame.type", "type period"),
    ],
)
def test_what_a_text_would_lose_is_refused_in_one_sentence(
    context: AppContext, column: Any, code: str | None, words: str
) -> None:
    known = {"dtype": object} if isinstance(column, np.ndarray) and column.dtype == object else {}
    frame = pd.DataFrame({"x": pd.Series(column, **known), "y": [1, 2, 3]})
    if code is None:
        written(frame, context)
        return
    found = refusal(frame, context)
    assert found.code == code
    assert found.sentence.startswith("data.frame")
    assert re.search(words, found.sentence), found.sentence
    german = voice_of("de")
    assert german.known(found.sentence)
    assert german.known(found.hint)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1]}, index=pd.Index(["a"])),
        pd.DataFrame({"x": [1]}, index=pd.Index([1], name="person")),
        pd.DataFrame({"x": [1, 2]}).set_index([[1, 2], [3, 4]]),
        pd.DataFrame({"x": [1]}, index=pd.to_datetime(["2020-01-01"])),
    ],
)
def test_an_index_that_holds_data_is_refused(context: AppContext, frame: pd.DataFrame) -> None:
    found = refusal(frame, context)
    assert (found.code, "reset_index" in found.hint) == ("frame.index", True)
    assert voice_of("de").known(found.sentence)


def test_names_must_be_texts_and_differ(context: AppContext) -> None:
    assert refusal(pd.DataFrame({0: [1]}), context).code == "frame.names"
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert refusal(twice, context).code == "source.names"


def test_labels_that_are_no_table_are_refused(context: AppContext) -> None:
    frame = pd.DataFrame({"x": [1]})
    frame.attrs["labels"] = ["Age"]
    assert refusal(frame, context).code == "frame.labels"


def test_what_has_no_label_gets_none(context: AppContext) -> None:
    frame = pd.DataFrame({"x": [1], "y": [2]})
    frame.attrs = {"labels": {"x": None}, "value_labels": {"y": {2: None, None: "refused", 3: "a"}}}
    head = json.loads(written(frame, context).partition(b"\n")[0])
    assert head["columns"] == [
        {"name": "x", "kind": "number"},
        {"name": "y", "kind": "number", "value_labels": {"3": "a"}},
    ]


def test_without_rows_a_frame_is_refused_where_it_is_read(context: AppContext) -> None:
    with pytest.raises(InputError) as caught:
        rows_of(pd.DataFrame({"x": pd.array([], "Int64")}), context)
    assert caught.value.code == "read.no-rows"


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(),
    st.text(max_size=6),
    st.binary(max_size=2),
    st.dates(),
    st.datetimes(),
    st.decimals(allow_nan=False, places=3, min_value=-(10**6), max_value=10**6),
    st.lists(st.none(), max_size=1),
)


@given(st.lists(VALUES, min_size=1, max_size=6), VALUES)
def test_for_a_method_with_noise_no_value_changes_another_one(
    values: list[Any], other: Any
) -> None:
    before = dtype_texts(pd.Series(values))
    after = dtype_texts(pd.Series([*values, other], dtype=object))
    alone = [dtype_texts(pd.Series([value], dtype=object))[0] for value in values]
    assert after[:-1] == alone
    if pd.Series(values).dtype == object:
        assert before == alone


@settings(max_examples=examples(100))
@given(st.lists(st.one_of(st.none(), st.integers(-(2**53), 2**53)), min_size=1, max_size=6))
def test_whole_numbers_have_one_text_in_every_type(values: list[int | None]) -> None:
    texts = dtype_texts(pd.Series(values, dtype=object))
    assert dtype_texts(pd.Series(values, dtype="Int64")) == texts
    assert dtype_texts(pd.Series(values, dtype="float64")) == texts


@settings(max_examples=examples(100))
@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1, max_size=6))
def test_numbers_have_one_text_in_every_type(values: list[float | None]) -> None:
    texts = dtype_texts(pd.Series(values, dtype=object))
    assert dtype_texts(pd.Series(values, dtype="Float64")) == texts


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
        min_size=1,
        max_size=6,
    )
)
def test_moments_have_one_text_in_every_type(values: list[datetime.datetime]) -> None:
    texts = dtype_texts(pd.Series(values, dtype=object))
    assert dtype_texts(pd.Series(values, dtype="datetime64[ns]")) == texts
    assert dtype_texts(pd.Series(values, dtype="datetime64[us]")) == texts


def test_for_a_method_with_noise_one_odd_value_is_unreadable_by_itself(context: AppContext) -> None:
    frame = pd.DataFrame({"x": ["a", [1], None, "\ud800", 2.0, ""]})
    body = written(frame, context, private=True).partition(b"\n")[2].decode()
    assert body == f'"a"\n"{UNREADABLE}"\n\n"{UNREADABLE}"\n"2"\n""\n'


def test_for_a_method_with_noise_a_long_row_is_unreadable_by_itself(context: AppContext) -> None:
    frame = pd.DataFrame({"x": ["a", "b" * 9_000_000], "y": ["c", "d"]})
    assert refusal(frame, context).code == "frame.long"
    with held_frame(frame, "data.frame", context, TOKEN, private=True) as path:
        types = (("x", "text"), ("y", "text"))
        spec = SourceSpec("data.frame", held=str(path), types=types, missing_named=True)
        store = DataStore.open(spec, Path(), context.workspace, TOKEN, silent, private=True)
        assert store.page(0, 9) == (("a", "c"), (UNREADABLE, UNREADABLE))
        store.close()


def test_for_a_method_with_noise_kinds_are_not_told(context: AppContext) -> None:
    frame = pd.DataFrame({"x": [1, 2]})
    frame.attrs["labels"] = {"x": "Size"}
    with held_frame(frame, "data.frame", context, TOKEN, private=True) as path:
        spec = SourceSpec("data.frame", held=str(path), types=(("x", "number"),))
        store = DataStore.open(spec, Path(), context.workspace, TOKEN, silent, private=True)
        variable = store.book.get("x")
        store.close()
    assert variable is not None
    assert (variable.kind, variable.label) == (Kind.TEXT, "Size")


def test_a_frame_lies_in_the_private_folder_alone_and_goes(context: AppContext) -> None:
    with held_frame(pd.DataFrame({"x": [1]}), "data.frame", context, TOKEN, private=False) as path:
        assert path.is_relative_to(context.workspace.folder)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.parent.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-4],
        lambda text: text.replace(b'"rows":2', b'"rows":3'),
        lambda text: text.replace(b'"version":1', b'"version":2'),
        lambda text: b"not json\n",
        lambda text: text + b'"1","2"\n',
    ],
)
def test_a_file_that_is_no_frame_is_not_read(
    context: AppContext, tmp_path: Path, change: Any
) -> None:
    path = tmp_path / "data.frame"
    path.write_bytes(change(written(pd.DataFrame({"x": [1, 2]}), context)))
    with pytest.raises(InputError) as caught:
        DataStore.open(SourceSpec(str(path)), tmp_path, context.workspace, TOKEN, silent)
    assert caught.value.code == "read.damaged"
