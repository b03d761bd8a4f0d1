from __future__ import annotations

import hashlib
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from dpdesk.core.charts import ChartTable
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import Role
from dpdesk.project.file import (
    DATA,
    DecisionRecord,
    ProjectUpdate,
    ReleaseRecord,
    SourceRecord,
)
from dpdesk.project.file.codec import CodecError, decode, decode_free, encode, encode_free
from dpdesk.project.file.parts import PartError, PartSink, PartSource
from dpdesk.project.file.rows import (
    STATE_KEYS,
    STATE_OPTIONAL,
    from_text,
    state_document,
    state_from,
    to_text,
)
from dpdesk.project.history import History
from dpdesk.project.work import SetTitle, WorkState
from tests.helpers.projects import AGE, Desk, candidate, history, plain, save, shelf, work


class Store:
    """Parts in memory."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.sink = PartSink(lambda name: name in self.data)

    def source(self) -> PartSource:
        self.data |= self.sink.take()
        return PartSource(self.data.get)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        10**300,
        0.1 + 0.2,
        -0.0,
        float("inf"),
        float("nan"),
        "",
        "ε\n\x00\udcff",
        Decimal("1.10"),
        Decimal("-0E-7"),
        Fraction(1, 3),
        (1, (2.0, "x")),
        [1, [2]],
        {"a": [1], "$b": (1,)},
        {1: "x", None: 2, (1, 2): 3},
        MappingProxyType({"a": MappingProxyType({})}),
        {},
    ],
    ids=repr,
)
def test_plain_values_come_back_with_their_very_types(value: object) -> None:
    store = Store()
    found = decode_free(encode_free(value, store.sink), store.source())
    assert plain(found) == plain(value)


@pytest.mark.parametrize("kind", [str, str | None, str | float])
def test_a_message_is_kept_as_the_text_that_it_is(kind: object) -> None:
    store = Store()
    raw = encode(msg("{n} rows", n=3), kind, store.sink)
    assert decode(raw, kind, store.source()) == "3 rows"


@pytest.mark.parametrize("dtype", ["<f8", "<i8", "<i4", "?"])
def test_arrays_come_back_bit_by_bit_and_may_be_written(dtype: str) -> None:
    store, array = Store(), np.arange(12).astype(dtype).reshape(3, 4)
    found = decode_free(encode_free({"x": array}, store.sink), store.source())
    assert plain(found) == plain({"x": array})
    assert found["x"].flags.writeable  # type: ignore[index]


def test_numbers_of_numpy_come_back_as_plain_numbers() -> None:
    store = Store()
    assert encode_free((np.float64(0.5), np.int64(3), np.True_), store.sink) == [0.5, 3, True]


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", 1j, np.array(["x"])], ids=lambda one: type(one).__name__
)
def test_a_value_that_is_never_stored_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        encode_free(value, Store().sink)


@pytest.mark.parametrize(
    "raw",
    [
        {"$float": "1"},
        {"$decimal": "x"},
        {"$fraction": "1/0"},
        {"$list": 1},
        {"$pairs": [[1]]},
        {"$pairs": [[{"$list": []}, 1]]},
        {"$dict": 1},
        {"$new": 1},
        {"$list": [], "x": 1},
        {"$decimal": 1},
    ],
    ids=repr,
)
def test_a_stored_value_that_makes_no_sense_is_refused(raw: object) -> None:
    with pytest.raises(CodecError):
        decode_free(raw, Store().source())


@pytest.mark.parametrize(
    "raw",
    [
        [],
        {"path": "a.csv", "color": "red"},
        {"delimiter": ";"},
        {"path": 1},
        {"path": "a.csv", "missing": "?"},
        {"path": "a.csv", "header": "yes"},
    ],
    ids=repr,
)
def test_reading_a_typed_value_is_strict(raw: object) -> None:
    with pytest.raises(CodecError):
        decode(raw, SourceSpec, Store().source())


def test_a_field_with_a_default_may_be_absent() -> None:
    assert decode({"path": "a.csv"}, SourceSpec, Store().source()) == SourceSpec("a.csv")


def test_a_value_of_another_type_than_said_is_never_stored() -> None:
    with pytest.raises(TypeError):
        encode(SourceSpec(5), SourceSpec, Store().sink)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        encode("a.csv", SourceSpec, Store().sink)


def test_a_hierarchy_is_stored_once_and_comes_back_as_one_object() -> None:
    store = Store()
    name = store.sink.add_hierarchy(AGE)
    parts = len(store.sink.take())
    assert store.sink.add_hierarchy(AGE) == name
    assert parts == 1 + len(AGE.labels) + len(AGE.parents)
    source = store.source()
    with pytest.raises(PartError, match="missing"):
        source.hierarchy(name)
    store.sink.forget()
    store.sink.add_hierarchy(AGE)
    source = store.source()
    assert plain(source.hierarchy(name)) == plain(AGE)
    assert source.hierarchy(name) is source.hierarchy(name)


@pytest.mark.parametrize("count", [0, 999, 1_000, 1_001, 5_000])
def test_long_tables_and_lists_come_back_and_leave_the_document_short(count: int) -> None:
    store = Store()
    roles = MappingProxyType({f"column {n} ε": Role.SENSITIVE for n in range(count)})
    rows = tuple((f"row {n}", n / 3, None) for n in range(count))
    state, table = replace(work(), roles=roles), ChartTable(("a", "b", "c"), rows)
    document = state_document(state, Path("/a"), store.sink)
    text = to_text({**document, "table": encode(table, ChartTable, store.sink)})
    assert len(text) < 120_000
    source = store.source()
    found = from_text(text, (*STATE_KEYS, "table"), STATE_OPTIONAL)
    assert plain(decode(found.pop("table"), ChartTable, source)) == plain(table)
    assert plain(state_from(found, source)[0]) == plain(state)


@pytest.mark.parametrize("damage", ["cut", "flip", "swap", "empty"])
def test_a_damaged_part_is_found_by_its_hash(damage: str) -> None:
    store = Store()
    name = store.sink.add_hierarchy(AGE)
    store.source()
    data = store.data[name]
    other = next(part for part in store.data.values() if part != data)
    flipped = data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]
    changed = {"cut": data[:-2], "flip": flipped, "swap": other, "empty": b""}[damage]
    store.data[name] = changed
    with pytest.raises(PartError):
        store.source().hierarchy(name)


def _is_read(source: PartSource, name: str) -> bool:
    try:
        source.items(name)
    except PartError:
        return False
    return True


@pytest.mark.parametrize("pieces", [1, 40])
def test_no_small_file_becomes_a_large_one_in_memory(pieces: int) -> None:
    """One part of 200 MB, or many whose sizes add up, of which each is stored in a thousandth."""
    size, data, names = 200_000_000 // pieces, {}, []
    for number in range(pieces):
        body = b'{"items": 1}\n["%d' % number + b"x" * size + b'"]\n'
        names.append(hashlib.sha256(body).hexdigest())
        data[names[-1]] = zlib.compress(body, 9)
    assert sum(map(len, data.values())) < 300_000
    source = PartSource(data.get)
    with pytest.raises(PartError, match="too large"):
        _ = [source.items(name) for name in names]
    refused = [name for name in names if not _is_read(source, name)]
    assert refused
    assert not any(_is_read(source, name) for name in refused for _ in range(20))


def test_what_is_the_same_over_and_over_comes_back() -> None:
    store, size = Store(), 3_000_000
    names = [store.sink.add_array(np.full(size + n, n, np.int32)) for n in range(8)]
    source = store.source()
    for number, name in enumerate(names):
        assert (source.array(name) == np.full(size + number, number, np.int32)).all()


def test_a_whole_project_comes_back_exactly(desk: Desk, tmp_path: Path) -> None:
    made, kept = history(), shelf()
    found = desk.open(desk.write(tmp_path / "a.dpdesk", made, kept)).contents
    assert plain(found.history) == plain(made.snapshot())
    assert plain(found.shelf) == plain(kept.snapshot())
    again = History.restored(found.history)
    assert again.redo_label == made.redo_label == "k = 7"
    assert again.changed is made.changed is True
    assert again.do(SetTitle("after")).id == len(made.moments())


def test_what_is_saved_bit_by_bit_comes_back_exactly(desk: Desk, tmp_path: Path) -> None:
    project = desk.new(tmp_path / "a.dpdesk", History(WorkState()))
    made = History(WorkState())
    for state in (work(), replace(work(), title="x"), replace(work(), source=None)):
        made.do(_Replace(state))
        save(project, made)
    made.undo()
    made.undo()
    save(project, made)
    project.close()
    assert plain(desk.open(project.path).contents.history) == plain(made.snapshot())


class _Replace(SetTitle):
    def __init__(self, state: WorkState) -> None:
        super().__init__(state.title)
        object.__setattr__(self, "_state", state)

    def apply(self, state: WorkState) -> WorkState:
        found: WorkState = self._state  # type: ignore[attr-defined]
        return found


def test_odd_names_survive(desk: Desk, tmp_path: Path) -> None:
    state = replace(work(Path("/data/\udcff")), title="\x00", source=SourceSpec("ä\udce4\n.csv"))
    made = History(state, "Open \udce4.csv")
    kept = shelf()
    kept.rename(2, "\udcff")
    found = desk.open(desk.write(tmp_path / "ε \udcff.dpdesk", made, kept)).contents
    assert plain(found.history) == plain(made.snapshot())
    assert plain(found.shelf) == plain(kept.snapshot())


def test_records_are_kept_and_not_twice(desk: Desk, tmp_path: Path) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    reading = MappingProxyType({"delimiter": ";", "notes": ("a",)})
    source = SourceRecord(DATA, tmp_path / "a.csv", "0" * 64, 5, 123, now, reading)
    release = ReleaseRecord(tmp_path / "out", "1" * 64, now, "k-anonymity", "Title", 0)
    decision = DecisionRecord("2" * 64, "1" * 64, "ballot", "Ann", now, MappingProxyType({"a": 1}))
    project = desk.new(tmp_path / "a.dpdesk")
    for _ in range(2):
        project.save(ProjectUpdate(sources=(source,), releases=(release,), decisions=(decision,)))
        project.flush()
    project.close()
    (tmp_path / "out").mkdir()
    found = desk.open(project.path).contents
    assert (found.sources, found.releases, found.decisions) == ((source,), (release,), (decision,))


def test_candidates_come_and_go(desk: Desk, tmp_path: Path) -> None:
    project, kept = desk.new(tmp_path / "a.dpdesk"), shelf(3)
    project.save(ProjectUpdate(shelf=kept.snapshot()))
    project.flush()
    kept.remove(2)
    kept.rename(3, "other")
    kept.add(candidate("new"))
    project.save(ProjectUpdate(shelf=kept.snapshot()))
    project.close()
    assert plain(desk.open(project.path).contents.shelf) == plain(kept.snapshot())
