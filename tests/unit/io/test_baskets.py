"""Texts whose lines list items: each named item is a column of 1 and 0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec, read_source, source_format
from dpdesk.io.preview import preview_source
from dpdesk.io.reading import Reading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples
from tests.reference.baskets import rows_of

ITEMS = ("tea", "7", "jam e", "käse")
PINNED: dict[str, Any] = {"items": list(ITEMS), "delimiter": ",", "encoding": "utf-8"}


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


Rows = list[tuple[str, ...]]


def read(
    path: Path, workspace: Workspace, keys: dict[str, Any], *, private: bool = False
) -> tuple[Rows, Reading]:
    spec = read_source({"path": path.name, **keys}, "the test")
    given = spec, path.parent, workspace, CancelToken(), silent
    store = DataStore.open(*given, private=private)
    try:
        assert store.columns == spec.items
        return list(store.page(0, 1000)), store.reading
    finally:
        store.close()


def test_each_named_item_is_a_column(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text("tea,7\n\nmilk, 7 ,7,beer\njam e\nkäse,tea,jam e,\n", "utf-8")
    rows, reading = read(path, workspace, {"items": list(ITEMS)})
    assert rows == [
        ("1", "1", "0", "0"),
        ("0", "1", "0", "0"),
        ("0", "0", "1", "0"),
        ("1", "0", "1", "1"),
    ]
    assert (reading.format, reading.delimiter, reading.encoding) == ("baskets", ",", "utf-8")
    assert [note.partition(";")[0] for note in reading.notes] == [
        "The lines hold 2 entries of items that `items` does not name",
        "1 line without any text is left out",
    ]


@pytest.mark.parametrize("delimiter", [" ", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_shows_most_items(
    tmp_path: Path, workspace: Workspace, delimiter: str
) -> None:
    path = tmp_path / "baskets.txt"
    path.write_text("\n".join(delimiter.join(line) for line in ("1", "23", "321", "41")) + "\n")
    rows, reading = read(path, workspace, {"items": ["1", "2", "3"]})
    assert reading.delimiter == delimiter
    assert rows == [("1", "0", "0"), ("0", "1", "1"), ("1", "1", "1"), ("1", "0", "0")]


_LINE = st.one_of(
    st.lists(st.sampled_from([*ITEMS, "ka\u0308se", "te", "teas", "", " ", "tea "])).map(
        lambda parts: ",".join(parts).encode()
    ),
    st.binary(max_size=6).filter(lambda data: not {*b"\r\n\0\x1a\x0b\x0c\x1c\x1d\x1e"} & {*data}),
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_LINE, min_size=1, max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_lines_are_read_as_the_reference_reads_them(
    tmp_path: Path, workspace: Workspace, lines: list[bytes], end: bytes
) -> None:
    path = tmp_path / "baskets.txt"
    data = end.join(lines) + end
    path.write_bytes(data)
    wanted = rows_of(data, ITEMS, ",")
    assert read(path, workspace, PINNED, private=True)[0] == wanted
    try:
        rows, _ = read(path, workspace, PINNED)
    except InputError as error:
        lost = error.code == "baskets.text"
        assert lost == any("\U0010ffff" in row for row in wanted)
        assert lost or not any("1" in row for row in wanted)
    else:
        assert rows == wanted


def test_a_line_that_is_no_text_is_named(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "baskets.txt"
    path.write_bytes(b"titles\ntea\n\n7,\xff\ntea\n")
    with pytest.raises(InputError, match=r"baskets\.txt, line 4: found bytes") as caught:
        read(path, workspace, {"items": ["tea", "7"], "skip": 1})
    assert caught.value.details["line"] == 4


def test_a_mark_at_the_beginning_is_no_part_of_an_item(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "baskets.txt"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_text("tea,7\n7\n", encoding)
        assert read(path, workspace, {"items": ["tea", "7"]})[0] == [("1", "1"), ("0", "1")]


def test_a_source_without_any_of_the_items_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "baskets.txt"
    path.write_text("tea,7\n7\n")
    with pytest.raises(InputError, match="no line has any of the items") as caught:
        read(path, workspace, {"items": ["Tea"]})
    assert caught.value.code == "baskets.items"
    with_noise = {"items": ["Tea"], "delimiter": ",", "encoding": "utf-8"}
    assert read(path, workspace, with_noise, private=True)[0] == [("0",), ("0",)]


def test_the_head_shows_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "baskets.txt"
    path.write_text("tea,7\n\n7\n")
    spec = SourceSpec("baskets.txt", items=("tea", "7"))
    shown = preview_source(spec, tmp_path)
    assert shown.problem is None
    assert shown.columns == ("tea", "7")
    assert shown.rows == (("1", "1"), ("0", "1"))


def test_lines_of_many_lengths_may_be_lists(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("tea,7\n7,jam,beer\ntea\nbeer\n7,tea,jam,beer\n" * 4)
    with pytest.raises(InputError) as caught:
        DataStore.open(SourceSpec(path.name), tmp_path, workspace, CancelToken(), silent)
    assert "name these as `items`" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"items": "tea"}, "plan.invalid"),
        ({"items": [" tea"]}, "plan.invalid"),
        ({"items": [""]}, "plan.invalid"),
        ({"items": ["a,b"], "delimiter": ","}, "plan.invalid"),
        ({"items": ["ka\u0308se", "k\u00e4se"]}, "plan.name-forms"),
    ],
)
def test_items_are_texts_as_lines_write_them(keys: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_source({"path": "a.txt", **keys}, "the plan")
    assert caught.value.code == code


def test_items_are_columns_of_texts_and_go_as_one() -> None:
    spec = read_source({"path": "a.txt", "items": ["tea", "7"]}, "the plan")
    assert source_format(spec) == "baskets"
    assert spec.types == (("tea", "text"), ("7", "text"))
    assert spec.as_plain() == {"path": "a.txt", "items": ["tea", "7"]}
    assert spec.with_items(()) == SourceSpec("a.txt")
    assert source_format(SourceSpec("a.xlsx", items=("tea",))) == "xlsx"
