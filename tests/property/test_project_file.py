"""Whatever is stored in a project comes back exactly, for any values and any way of working."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import MappingProxyType

from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.project.file import ProjectUpdate
from dpdesk.project.file.codec import decode_free, encode_free
from dpdesk.project.file.parts import PartSink, PartSource
from dpdesk.project.file.rows import STATE_KEYS, from_text, state_document, state_from, to_text
from dpdesk.project.history import History
from dpdesk.project.work import SetHierarchy, SetParameters, SetTitle, WorkState
from tests.helpers.projects import AGE, Desk, at_one_time, plain, work

texts = st.text(st.characters(exclude_categories=[]), max_size=8)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    texts,
    st.decimals(allow_nan=False, allow_infinity=False),
    st.fractions(),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(texts, inner, max_size=3),
        st.dictionaries(texts, inner, max_size=3).map(MappingProxyType),
        st.dictionaries(st.one_of(st.integers(), st.booleans(), texts), inner, max_size=2),
    ),
    max_leaves=12,
)


@given(values)
def test_any_plain_value_comes_back_with_its_very_type(value: object) -> None:
    data: dict[str, bytes] = {}
    sink = PartSink(data.__contains__)
    text = to_text({"value": encode_free(value, sink)})
    assert text.isascii()
    data |= sink.take()
    found = decode_free(from_text(text, ("value",))["value"], PartSource(data.get))
    assert plain(found) == plain(value)


@given(
    st.dictionaries(
        texts, st.one_of(st.integers(), texts, st.decimals(allow_nan=False)), max_size=4
    ),
    texts,
    st.dictionaries(texts, st.sampled_from(list(work().hierarchies.values())), max_size=4),
    st.sampled_from([Path("/a/b"), Path(), Path("x"), Path("/ε")]),
)
def test_any_state_of_the_work_comes_back(
    parameters: dict[str, object],
    title: str,
    hierarchies: dict[str, object],
    base: Path,
) -> None:
    state = WorkState(
        base=base,
        title=title,
        parameters=MappingProxyType(parameters),
        hierarchies=MappingProxyType(hierarchies),  # type: ignore[arg-type]
    )
    data: dict[str, bytes] = {}
    sink = PartSink(data.__contains__)
    text = to_text(state_document(state, Path("/a"), sink))
    data |= sink.take()
    found, _ = state_from(from_text(text, STATE_KEYS), PartSource(data.get))
    assert plain(found) == plain(state)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("title"), st.integers(0, 4)),
        st.tuples(st.just("slide"), st.integers(0, 9)),
        st.tuples(st.just("hierarchy"), st.integers(0, 2)),
        st.tuples(st.sampled_from(["undo", "redo", "mark", "save"]), st.just(0)),
        st.tuples(st.just("go"), st.integers(0, 99)),
    ),
    max_size=25,
)


def _step(history: History, kind: str, number: int) -> None:
    if kind == "title":
        history.do(SetTitle(str(number)))
    elif kind == "slide":
        history.do(SetParameters({"k": number}), merge=True)
    elif kind == "hierarchy":
        history.do(SetHierarchy(str(number), AGE))
    elif kind == "undo":
        history.undo()
    elif kind == "redo":
        history.redo()
    elif kind == "mark":
        history.mark_saved()
    elif kind == "go":
        history.go_to(number % len(history.moments()))


@settings(max_examples=15, deadline=None)
@given(steps)
def test_any_way_of_working_saved_at_any_points_is_there_when_opened_again(
    taken: list[tuple[str, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder, "home"))
        try:
            history = History(work())
            project = desk.new(Path(folder, "a.dpdesk"), history)
            for kind, number in taken:
                _step(history, kind, number)
                if kind == "save":
                    project.save(ProjectUpdate(history=history.snapshot()))
                    project.flush()
            project.save(ProjectUpdate(history=history.snapshot()))
            project.close()
            found = History.restored(desk.open(project.path).contents.history)
            assert plain(at_one_time(found).snapshot()) == plain(at_one_time(history).snapshot())
            assert found.redo_label == history.redo_label
            assert found.undo_label == history.undo_label
        finally:
            desk.close()
