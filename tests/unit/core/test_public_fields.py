"""The list of public fields: what it lets through, and what the page on it says."""

from __future__ import annotations

import pytest

from dpdesk.core.public_fields import (
    COMMON,
    PublicField,
    Tells,
    unlisted,
    withdrawn,
    written,
)
from dpdesk.engine.methods.registered import default_registry
from tests.tools.public_numbers import PAGE, page

NAMED = PublicField("result.node.*", Tells.CHOICE, "…")
LISTED = PublicField("result.tables[].cells", Tells.NOTHING, "…")
NESTED = PublicField("parameters.publish.**", Tells.AUTHOR, "…")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"result": {"node": {"age": 1, "a.b": 2}}}, ()),
        ({"result": {"node": {"age": {"deep": 1}}}}, ("result.node.age.deep",)),
        ({"result": {"node": [1, 2]}}, ("result.node[]",)),
        ({"result": {"node": 1}}, ("result.node",)),
        ({"result": {"node": {}, "tables": []}}, ()),
        (
            {"result": {"tables": [{"cells": 1}, {"cells": 2, "rows": 3}]}},
            ("result.tables[].rows",),
        ),
        ({"result": {"tables": {"[]": {"cells": 1}}}}, ("result.tables[].cells",)),
        ({"parameters": {"publish": [["a"], {"b": 1}]}}, ()),
        ({"parameters": {"publish": "all"}}, ()),
        ({"parameters": {"published": "all"}}, ("parameters.published",)),
        ({"extra": None, "result": {}}, ("extra",)),
    ],
)
def test_only_listed_fields_pass(content: dict[str, object], expected: tuple[str, ...]) -> None:
    assert unlisted(content, (NAMED, LISTED, NESTED)) == expected


def test_a_field_that_is_no_longer_written_is_known_and_not_written() -> None:
    old = PublicField("result.entropy", Tells.CHOICE, "…", withdrawn="it tells too much")
    content = {"result": {"entropy": 1.5}}
    assert unlisted(content, (old,)) == ()
    assert withdrawn(content, (old, NAMED)) == (old,)
    assert unlisted(content, written((old,))) == ("result.entropy",)


@pytest.mark.parametrize("method", list(default_registry()), ids=lambda method: method.id)
def test_every_public_setting_is_listed_and_no_field_twice(method: object) -> None:
    fields = (*COMMON, *method.public_fields)  # type: ignore[attr-defined]
    paths = [field.path for field in fields]
    assert len(paths) == len(set(paths))
    keys = {path.split(".")[1].partition("[")[0] for path in paths if path.startswith("parameters")}
    assert keys == {each.key for each in method.parameters if each.public}  # type: ignore[attr-defined]


def test_the_page_holds_every_field_with_its_argument() -> None:
    text = PAGE.read_text("utf-8")
    assert page(text) == text, "python -m tests.tools.public_numbers writes the page again"
