"""A chance of 95 % is stated only of numbers that have it: where later steps move them, of none."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language.speaker import voice_of
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.methods.dp_cube.exploration import CubeExploration
from dpdesk.engine.private.method import PrivateInput

DOMAINS = {"a": ["a0", "a1"], "b": ["b0", "b1", "b2"]}
PAY: dict[str, object] = {"sum": "pay", "lower": 0, "upper": 100, "step": 1}
MOVED = [
    {"nonnegative": True},
    {"consistency": "linf"},
    {"consistency": "l1"},
    {"nonnegative": True, "measure": ["count", PAY]},
    {"consistency": "linf", "measure": ["count", PAY]},
]
CHANCE = re.compile(r"95[  ]%|95 of 100")
SAYS_OF_WHAT = ("before negative", "if tables agreed by least squares")


def explored(changes: Mapping[str, object]) -> tuple[CubeExploration, dict[str, Any]]:
    given = {"dimensions": ["a", "b"], "domains": DOMAINS, "planner": "all", "epsilon": 1}
    roles = {"a": Role.QUASI_IDENTIFIER, "b": Role.QUASI_IDENTIFIER, "pay": Role.INSENSITIVE}
    found = CubeExploration(PrivateInput(roles, {}, {}), CancelToken())
    return found, parse_parameters(PARAMETERS, given | dict(changes), "the plan")


def texts(thing: object) -> Iterator[str]:
    """Every text that hangs on a view, heads and cells of tables too."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Mapping):
        for each in thing.values():
            yield from texts(each)
    elif isinstance(thing, (tuple, list)):
        for each in thing:
            yield from texts(each)
    elif dataclasses.is_dataclass(thing):
        names = [each.name for each in dataclasses.fields(thing)]
        for name in [*names, *(["table"] if hasattr(thing, "table") else [])]:
            value = getattr(thing, name)
            if not isinstance(value, np.ndarray):
                yield from texts(value)


@pytest.mark.parametrize("changes", MOVED, ids=str)
def test_nothing_states_a_chance_that_later_steps_take_away(changes: dict[str, object]) -> None:
    found, given = explored(changes)
    view = found.grow(given, CancelToken(), silent)
    cells = (found.detail(given, "cube-tables", mask) for mask in range(4))
    said = {*texts(view), *texts(found.example(given, 3, 40.0, CancelToken())), *texts([*cells])}
    stated = {text for text in said if CHANCE.search(text)}
    assert {text for text in stated if not any(of in text for of in SAYS_OF_WHAT)} == set()
    german = voice_of("de")
    unknown = {text for text in said if "±" in text and german.known(text) is None}
    assert unknown == set()


def test_the_chance_is_stated_where_the_numbers_have_it() -> None:
    found, given = explored({})
    said = {*texts(found.view(given)), *texts(found.example(given, 3, 40.0, CancelToken()))}
    assert sum(bool(CHANCE.search(text)) for text in said) >= 6


def test_an_error_below_what_rounding_adds_is_refused_in_a_sentence() -> None:
    found, given = explored({"integral": True})
    with pytest.raises(RefusedError) as refused:
        found.needed(given, -1, 0.3, CancelToken())
    assert refused.value.code == "cube.accuracy"
    assert "rounding to whole numbers alone adds ± " in refused.value.sentence
    german = voice_of("de")
    assert german.known(refused.value.sentence) not in (None, refused.value.sentence)
    _, needed = found.needed(given, -1, 5.0, CancelToken())
    assert needed > 0
