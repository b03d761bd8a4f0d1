"""Risk figures against a plain reference, and known answers on real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.metrics import bin_edges, histogram, summarise_risk
from tests.helpers.memory_tables import MemorySource
from tests.reference import risk as reference

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=40)


def sizes_of(rows: list[tuple[str, ...]]) -> np.ndarray:
    return np.array(list(reference.classes(rows).values()), dtype=np.int64)


@given(ROWS, st.integers(2, 12))
@settings(deadline=None)
def test_figures_are_those_of_the_definitions(rows: list[tuple[str, ...]], k: int) -> None:
    found = summarise_risk(sizes_of(rows), k)
    risks = reference.risks(rows)
    assert found.rows == len(rows)
    assert found.exposed == sum(1 for risk in risks if risk > 1 / k)
    assert found.uniques == reference.violations(rows, 2)
    assert found.highest == max(risks, default=0.0)
    assert found.average == pytest.approx(sum(risks) / len(rows) if rows else 0.0)
    assert dict(found.violations) == {
        each: reference.violations(rows, each) for each in (2, 3, 5, k)
    }


@given(ROWS, st.integers(2, 30))
@settings(deadline=None)
def test_bins_hold_every_row_once_and_k_begins_one(rows: list[tuple[str, ...]], k: int) -> None:
    bins = summarise_risk(sizes_of(rows), k).bins
    assert k in [each.lowest for each in bins]
    for each in bins:
        highest = float("inf") if each.highest is None else each.highest
        assert each.rows == reference.rows_with_size(rows, each.lowest, highest)
    assert sum(each.rows for each in bins) == len(rows)
    assert sum(each.classes for each in bins) == len(reference.classes(rows))


def test_bins_are_named_by_their_sizes() -> None:
    bins = histogram(np.array([1, 1, 2, 4, 7, 25], dtype=np.int64), bin_edges(7))
    assert [each.label for each in bins] == ["1", "2", "3–4", "5–6", "7–9", "10–19", "20+"]
    assert [each.rows for each in bins] == [2, 2, 4, 0, 7, 0, 25]
    assert [each.classes for each in bins] == [2, 1, 1, 0, 1, 0, 1]


def test_a_large_k_splits_the_last_bin() -> None:
    labels = [each.label for each in histogram(np.array([20, 2000]), bin_edges(1000))]
    assert labels[-2:] == ["20–999", "1,000+"]


@pytest.mark.data
def test_survey_has_the_published_numbers_of_violations(real_data: Path) -> None:
    source = MemorySource.from_csv(real_data / "sdcmicro" / "testdata.csv")
    table = source.frequency_table(KEYS, CancelToken())
    found = summarise_risk(table.counts, 3)
    assert dict(found.violations)[2] == 157
    assert dict(found.violations)[3] == 281
    assert found.uniques == 157
