"""The document for CSV on the Web says nothing that hides rows or that a validator refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dpdesk.core.labels import NO_BOOK
from dpdesk.core.release import NO_MANIFEST
from dpdesk.io.csvw import FORMS, csvw_metadata

# Metadata Vocabulary for Tabular Data, 5.6; RFC 6570, 2.3
_NAME = re.compile(r"(?!_)(?:[A-Za-z0-9_]|%[0-9A-F]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-F]{2}))*")


def document(names: list[str], **options: int) -> dict[str, Any]:
    made: dict[str, Any] = csvw_metadata("microdata.csv", names, NO_BOOK, NO_MANIFEST, **options)
    return made


def test_no_row_is_a_comment() -> None:
    assert document(["#id"])["dialect"]["commentPrefix"] is None
    for form in FORMS[1:]:
        assert "commentPrefix" not in document(["#id"], form=form)["dialect"]


@pytest.mark.parametrize(
    "name", ["hours-per-week", "_id", "__", "a..b", ".a", "a.", "x~y", "größe", "100 %", "#id", ""]
)
def test_names_of_columns_are_names_that_the_standard_allows(name: str) -> None:
    (column,) = document([name])["tableSchema"]["columns"]
    assert _NAME.fullmatch(column["name"]), column["name"]
    assert column["titles"] == name


def test_different_columns_have_different_names() -> None:
    names = ["a.b", "a-b", "a~b", "a_b", "_a", "%5Fa", "a b", "a%20b", "5Fa"]
    columns = document(names)["tableSchema"]["columns"]
    assert len({column["name"] for column in columns}) == len(names)
    earlier = document(names, form=2)["tableSchema"]["columns"]
    assert [column["name"] for column in earlier][:5] == ["a.b", "a-b", "a~b", "a_b", "_a"]
