"""Fixed-width numbers whose decimal point is not written, as a private method reads them."""

from __future__ import annotations

import re
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import NUMBER, FixedColumn, SourceSpec
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

_WIDTH = 6
texts = st.text("0123456789+-. x", min_size=_WIDTH, max_size=_WIDTH)


def point_moved(text: str, decimals: int) -> str:
    """The number at a place of a line, in whole digits or with its own point."""
    bare = text.strip()
    if not re.fullmatch(r"[+-]?[0-9]+", bare):
        written = bare == "" or re.fullmatch(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)", bare)
        return bare if written else UNREADABLE
    number = Decimal(bare).scaleb(-decimals)
    return "0" if number == 0 else format(number, "f").rstrip("0").rstrip(".")


@given(st.lists(texts, min_size=1, max_size=60), st.sampled_from([1, 2, 7, 30]))
@example(["000150", "-00150", "  1.50", "   -00", "  +015", "--0005", " 1.5.2", "9" * 6], 2)
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_point_is_where_the_plan_says(
    tmp_path: Path, private_home: Path, found: list[str], decimals: int
) -> None:
    (tmp_path / "a.asc").write_text("".join(f"k{text}\n" for text in found), encoding="utf-8")
    spec = SourceSpec(
        "a.asc",
        encoding="utf-8",
        columns=(FixedColumn("key", 1, 1), FixedColumn("x", 2, _WIDTH, decimals)),
        types=(("key", "text"), ("x", NUMBER)),
    )
    with closing(Workspace.open(private_home)) as workspace:
        opened = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        with closing(opened) as store:
            rows = store.page(0, 100)
    assert [row[1] for row in rows] == [point_moved(text, decimals) for text in found]


@pytest.mark.parametrize("decimals", [2, 100])
def test_both_ways_of_reading_agree(tmp_path: Path, private_home: Path, decimals: int) -> None:
    (tmp_path / "a.asc").write_text("k000150\nk  -150\nk  1.50\nk000000\nk\n", encoding="utf-8")
    columns = (FixedColumn("key", 1, 1), FixedColumn("x", 2, _WIDTH, decimals))
    types = (("key", "text"), ("x", NUMBER))
    spec = SourceSpec("a.asc", encoding="utf-8", columns=columns, types=types)
    told = []
    with closing(Workspace.open(private_home)) as workspace:
        for private in (False, True):
            with closing(
                DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=private)
            ) as store:
                told.append(store.page(0, 10))
    assert told[0] == told[1]
