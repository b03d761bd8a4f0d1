"""The list of public fields: what it lets through, and what the page on it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.public_fields import (
    COMMON,
    PublicField,
    Tells,
    unlisted,
    withdrawn,
    written,
)
from dpdesk.engine.methods import default_registry

PAGE = Path(__file__).parents[3] / "resources" / "docs" / "public-numbers.md"
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


def tables() -> Iterator[str]:
    """The tables of the page, one for what every release has and one for each method."""
    sections = [("Every release", COMMON)]
    sections += [(method.id, method.public_fields) for method in default_registry()]
    for title, fields in sections:
        yield f"## {title}\n\n| field | tells of absent people | why |\n| --- | --- | --- |"
        rows: dict[tuple[Tells, str, str], list[str]] = {}
        for field in fields:
            rows.setdefault((field.tells, field.argument, field.withdrawn), []).append(field.path)
        for (tells, argument, old), paths in rows.items():
            named = ", ".join(f"`{path}`" for path in paths)
            told = f"{argument} **No longer written:** {old}." if old else argument
            yield f"| {named} | {tells.value} | {told} |"


def test_the_page_holds_every_field_with_its_argument() -> None:
    text = "\n".join(tables()).replace("\n## ", "\n\n## ")
    assert text in PAGE.read_text("utf-8")
