"""Histories of pseudonyms are compared as a slow count over whole histories compares them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.io.published import PublishedCsv
from dpdesk.io.published_content import Histories, histories

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["", *"PQRSTU"])),
    max_size=25,
)


def slowly(rows: list[tuple[str, str, str]], k: int) -> Histories:
    known = {p for _, _, p in rows if p}
    history = {
        p: frozenset(Counter((a, b) for a, b, other in rows if other == p).items()) for p in known
    }
    alike = Counter(history.values())
    sizes = Counter(p for _, _, p in rows if p)
    return Histories(
        len(known),
        sum(size > 1 for size in sizes.values()),
        max(sizes.values(), default=0),
        sum(alike[history[p]] < k for p in known),
        sum(alike[history[p]] == 1 for p in known),
    )


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS, st.integers(2, 4))
def test_histories_are_those_of_the_slow_count(
    tmp_path: Path, rows: list[tuple[str, str, str]], k: int
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,p,b\n" + "".join(f"{a},{p},{b}\n" for a, b, p in rows))
    published = PublishedCsv(path, CancelToken())
    assert histories(published, ["a", "b"], "p", k, CancelToken()) == slowly(rows, k)


def test_a_column_that_is_not_there_is_a_key_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,p\nx,P\n")
    with pytest.raises(KeyError):
        histories(PublishedCsv(tmp_path / "t.csv", CancelToken()), ["a"], "q", 2, CancelToken())
