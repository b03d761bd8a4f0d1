"""Columns that are coded while they are read are those that are coded afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import coding, collecting, csvcheck, csvload, source
from dpdesk.io.formats import coded
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

VALUES = st.sampled_from(
    ["", "a", "b", " ", "ä", "😀", "x,y", 'q"q', '""', "n\nl", "1", "10", "a\tb", "\ufeffa"]
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path_factory.mktemp("home"))
    yield opened
    opened.close()


def read(workspace: Workspace, text: bytes, large: int, chunk: int = 1 << 20) -> list[object]:
    """All that a store tells of a text, and whether its columns were coded while it was read."""
    path = workspace.folder / "t.csv"
    path.write_bytes(text)
    known: list[bool] = []
    plain = coding.code_columns

    def watched(*given: object, **more: object) -> object:
        known.append(bool(given[-1]))
        return plain(*given, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvcheck, "_LARGE", large)
        patch.setattr(source, "CHUNK", chunk)
        patch.setattr("dpdesk.io.store.code_columns", watched)
        spec = SourceSpec("t.csv", header=True, delimiter=",", encoding="utf-8", escape="")
        store = DataStore.open(spec, path.parent, workspace, CancelToken(), silent)
    token, names = CancelToken(), store.columns
    tables = [store.frequency_table([name], token) for name in names]
    counted = [(one.domains, one.counts.tolist(), one.codes.tolist()) for one in tables]
    told = [names, store.rows, store.page(0, store.rows), counted, store.reading.as_dict()]
    store.close()
    return [*told, known == [True]]


def field(text: str, quoted: bool) -> str:
    if quoted or any(mark in text for mark in ',"\n') or text.startswith("\ufeff"):
        return '"' + text.replace('"', '""') + '"'
    return text


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(VALUES, VALUES, st.booleans()), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    chunk=st.sampled_from([1, 7, 64, 1 << 20]),
)
def test_coding_while_reading_changes_nothing(
    workspace: Workspace,
    rows: list[tuple[str, str, bool]],
    end: str,
    closed: bool,
    chunk: int,
) -> None:
    lines = ["x,y,z", *(f"{field(x, q)},{field(y, not q)},k" for x, y, q in rows)]
    text = (end.join(lines) + (end if closed else "")).encode()
    plain = read(workspace, text, 1 << 40)
    coded = read(workspace, text, 0, chunk)
    assert coded[:-1] == plain[:-1]
    assert not plain[-1]


def test_a_plain_text_is_coded_while_it_is_read(workspace: Workspace) -> None:
    text = "x,y\n" + "".join(f"v{row % 7},{row}\n" for row in range(3_100))
    found = read(workspace, text.encode(), 0)
    assert found == [*read(workspace, text.encode(), 1 << 40)[:-1], True]
    assert len(found[3][0][0][0]) == 7  # type: ignore[index]


@pytest.mark.parametrize("wrong", ["one less", "one more", "twice", "different rows"])
def test_values_that_are_not_those_of_the_table_are_not_used(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    import pyarrow as pa

    plain = collecting.Values.domains

    def changed(self: collecting.Values, width: int, rows: int, most: int) -> object:
        found = plain(self, width, rows + (wrong == "different rows"), most)
        if found is not None:
            texts = found[0].to_pylist()
            other = {"one less": texts[1:], "one more": [*texts, "zz"], "twice": texts + texts[:1]}
            found[0] = pa.array(other[wrong], pa.large_string())
        return found

    text = b"x,y\na,1\nb,2\nc,1\n"
    expected = read(workspace, text, 1 << 40)
    monkeypatch.setattr(collecting.Values, "domains", changed)
    assert read(workspace, text, 0) == expected


def test_a_column_of_too_many_values_stays_text(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x,y\n" + "".join(f"{row},{row % 3}\n" for row in range(5_000))
    for most in (100, 200_000):
        monkeypatch.setattr(coded, "MOST_VALUES", most)
        found = read(workspace, text.encode(), 0)
        assert found == [*read(workspace, text.encode(), 1 << 40)[:-1], True]


def test_columns_that_will_have_too_many_values_are_left_early(workspace: Workspace) -> None:
    lines = (f"{row},{row * 7 % 9},{row % 3000}" for row in range(60_000))
    text = ("x,y,z\n" + "\n".join(lines) + "\n").encode()
    values = collecting.Values(",", 3, 1, 200_000, len(text))
    for _ in values.watched(iter([text[at : at + 4096] for at in range(0, len(text), 4096)])):
        pass
    domains = values.domains(3, 60_000, coded.most_coded(60_000))
    assert domains is not None
    assert [each and len(each) for each in domains] == [None, 9, 3000]
    assert int(values._state[collecting._VALUES]) < 20_000  # of 60,000 of the first column
    found = read(workspace, text, 0)
    assert found == [*read(workspace, text, 1 << 40)[:-1], True]


def test_the_weights_of_coded_values_are_checked(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = csvload._weight

    def swapped(*given: object) -> tuple[int, int] | None:
        found = plain(*given)  # type: ignore[arg-type]
        return found and (found[0], found[1] + 1)

    monkeypatch.setattr(csvload, "_weight", swapped)
    with pytest.raises(Exception, match="row") as caught:
        read(workspace, b"x,y\na,1\nbb,2\n", 0)
    assert caught.value.code == "read.disagreement"  # type: ignore[attr-defined]


@pytest.mark.parametrize("most", [(10, 1 << 20), (4_000, 1 << 20), (1 << 20, 4_000)])
def test_columns_of_most_values_are_let_go_for_the_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, most: tuple[int, int]
) -> None:
    lines = [f"{row},{row % 3},{'ab'[row % 2]}{row * 7}" for row in range(5_000)]
    text = ("x,y,z\n" + "\n".join(lines)).encode()
    plain = read(workspace, text, 1 << 40)
    monkeypatch.setattr(collecting, "MOST_HELD", most[0])
    monkeypatch.setattr(collecting, "_MOST_BYTES", most[1])
    found: list[object] = []
    kept = collecting.Values.domains

    def watched(self: collecting.Values, *given: int) -> object:
        found.append(kept(self, *given))
        return found[-1]

    monkeypatch.setattr(collecting.Values, "domains", watched)
    assert read(workspace, text, 0, 4_096) == [*plain[:-1], True]
    (domains,) = found
    assert [each and each.to_pylist() for each in domains] == [None, ["0", "1", "2"], None]  # type: ignore[attr-defined]


def test_one_value_larger_than_all_that_may_be_held_is_let_go(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ("x,y\n" + "".join(f"{'a' * 500}{row},{row % 3}\n" for row in range(900))).encode()
    plain = read(workspace, text, 1 << 40)
    monkeypatch.setattr(collecting, "_MOST_BYTES", 100)
    assert read(workspace, text, 0, 4_096) == [*plain[:-1], True]
