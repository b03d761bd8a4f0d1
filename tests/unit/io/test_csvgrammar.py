"""A strict CSV read line by line and byte by byte: the same is found, and the same refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.io import csvgrammar
from dpdesk.io.csvgrammar import Lines, UnreadableTableError, read_lines

WHOLE = 1 << 20
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.text("ab,\n", max_size=60).map(str.encode),
    st.lists(st.sampled_from(["a,b", "a,b", "c,", "", "a", '"a",b', "\ufeffa,b"]), max_size=30).map(
        lambda lines: "".join(f"{line}\n" for line in lines).encode()
    ),
)


def same(one: Lines, other: Lines) -> None:
    """Both say the same of the table, whatever of equal lines each of them keeps."""
    assert (one.fields, one.rows, one.header) == (other.fields, other.rows, other.header)
    assert (one.data is None) == (other.data is None)
    if one.data is not None:
        assert unfolded(one) == unfolded(other)


def unfolded(found: Lines) -> list[bytes]:
    """All data rows again."""
    lines = found.data.tobytes().splitlines(keepends=True)
    return [line for line, times in zip(lines, found.counts, strict=True) for _ in range(times)]


@given(text=TEXTS, most=st.sampled_from([0, WHOLE]), taken=st.sampled_from([1, 7, WHOLE]))
def test_a_table_without_quotes_is_read_as_the_automaton_reads_it(
    text: bytes, most: int, taken: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvgrammar, "_TAKEN", taken)
        path = Path(folder) / "t.csv"
        path.write_bytes(text)
        try:
            found = csvgrammar._by_byte(path, CancelToken(), most)
        except UnreadableTableError:
            assert csvgrammar._by_line(path, CancelToken(), most) is None
            return
        quick = csvgrammar._by_line(path, CancelToken(), most)
        assert (quick is None) == (b'"' in text)
        same(quick or found, found)


@pytest.mark.parametrize(
    ("most", "kept"), [(len(b"a,b\n1,2\n"), True), (len(b"a,b\n1,2\n") - 1, False)]
)
def test_lines_are_kept_up_to_a_size(tmp_path: Path, most: int, kept: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + 3 * b"1,2\n")
    found = read_lines(path, CancelToken(), most)
    assert (found.data is not None) == kept
    assert found.rows == 3
    if kept:
        assert found.counts.tolist() == [3]


def test_a_line_that_never_ends_is_left_to_the_automaton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csvgrammar, "_TAKEN", 4)
    monkeypatch.setattr(csvgrammar, "_LONGEST", 8)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + 20 * b"1" + b",2\n")
    assert csvgrammar._by_line(path, CancelToken(), WHOLE) is None
    assert read_lines(path, CancelToken(), WHOLE).rows == 1


def test_nothing_is_compiled_for_a_table_without_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise AssertionError("the automaton was loaded")

    monkeypatch.setattr(csvgrammar, "_scanner", refused)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n")
    found = read_lines(path, CancelToken(), WHOLE)
    assert np.array_equal(found.counts, [1])
