"""Tables of JSON with known keys: read as a whole, every wrong field named, written again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from dpdesk.core.language import speaking, voice
from dpdesk.core.release import NO_MANIFEST, Manifest
from dpdesk.core.shapes import Shape, ShapeError
from dpdesk.io.canonical import canonical_json, parse_canonical
from tests.helpers.stated import stated


@dataclass(frozen=True)
class Part(Shape):
    size: int | float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whole(Shape):
    count: int
    parts: Mapping[str, Part]
    rest: Mapping[str, object]
    said: str | None = None
    sure: bool = field(default=True)


GOOD: dict[str, Any] = {
    "count": 10**30,
    "parts": {"a": {"size": 1, "names": ["x"]}, "b": {"size": 0.1, "names": []}},
    "rest": {"deep": [1, 1.0, {"none": None, "yes": True}], "sum": 0.1 + 0.2},
    "sure": False,
}


def test_what_was_read_is_written_again_byte_for_byte() -> None:
    found = Whole.from_json(GOOD)
    assert found.parts["a"] == Part(1, ("x",))
    assert json.dumps(found.as_json(), sort_keys=True) == json.dumps(GOOD, sort_keys=True)
    assert "said" not in found.as_json()
    assert canonical_json(found) == canonical_json(GOOD)
    with pytest.raises(FrozenInstanceError):
        found.count = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda raw: raw.pop("count"), "`count` is missing"),
        (lambda raw: raw.update(count=True), "`count` is true, expected a whole number"),
        (lambda raw: raw.update(count=1.5), "`count` is 1.5, expected a whole number"),
        (lambda raw: raw.update(count="5"), '`count` is "5", expected a whole number'),
        (lambda raw: raw.update(sure=1), "`sure` is 1, expected true or false"),
        (lambda raw: raw.update(said=5), "`said` is 5, expected a text"),
        (lambda raw: raw.update(rest=[]), "`rest` is [], expected a table"),
        (lambda raw: raw.update(more=1), "`more` is not expected there"),
        (lambda raw: raw["parts"].update(a=5), "`parts, a` is 5, expected a table"),
        (
            lambda raw: raw["parts"]["a"].update(size="1"),
            '`parts, a, size` is "1", expected a number',
        ),
        (
            lambda raw: raw["parts"]["a"].update(names="x"),
            '`parts, a, names` is "x", expected a list',
        ),
        (
            lambda raw: raw["parts"]["a"].update(names=["x", 2]),
            "`parts, a, names, 2` is 2, expected a text",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_was_found_and_what_is_expected(
    change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    raw = json.loads(json.dumps(GOOD))
    change(raw)
    with pytest.raises(ShapeError) as caught:
        Whole.from_json(raw)
    assert caught.value.faults == (fault,)
    with speaking("de"):
        assert voice().say(caught.value.faults[0]) != fault


def test_all_wrong_fields_of_a_manifest_are_named_at_once() -> None:
    raw = {**NO_MANIFEST.as_json(), "title": 5, "files": {"about.html": {"sha256": "ab"}}, "by": 1}
    del raw["method"]
    with pytest.raises(ShapeError) as caught:
        Manifest.from_json(raw)
    assert set(caught.value.faults) == {
        "`title` is 5, expected a text",
        "`method` is missing",
        "`files, about.html, bytes` is missing",
        "`by` is not expected there",
    }


def test_a_manifest_keeps_its_bytes_whether_it_names_texts_or_not() -> None:
    for texts in ({}, {"texts": {"language": "de", "sha256": "0" * 64}}):
        made = stated({"title": "t", "result": {"b": 1.0, "a": [1]}, **texts})
        data = canonical_json(made)
        assert canonical_json(Manifest.from_json(parse_canonical(data))) == data
        assert ("texts" in parse_canonical(data)) == bool(texts)
