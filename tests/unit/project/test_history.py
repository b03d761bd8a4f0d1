from __future__ import annotations

from dpdesk.core.schema import Role
from dpdesk.project.history import History
from dpdesk.project.work import SetParameters, SetRoles, SetTitle, WorkState


def titles(*names: str) -> History:
    history = History(WorkState())
    for name in names:
        history.do(SetTitle(name))
    return history


def test_undo_and_redo_walk_the_same_way_back_and_forth() -> None:
    history = titles("a", "b", "c")
    assert [history.undo().title for _ in range(4)] == ["b", "a", "", ""]
    assert [history.redo().title for _ in range(4)] == ["a", "b", "c", "c"]


def test_a_change_after_undo_keeps_the_old_branch() -> None:
    history = titles("a", "b")
    b = history.current.id
    history.undo()
    history.do(SetTitle("c"))
    fork = history.path()[-2]
    assert [moment.state.title for moment in history.branches(fork.id)] == ["b", "c"]
    assert history.go_to(b).title == "b"
    history.undo()
    assert history.redo().title == "b"


def test_redo_follows_the_branch_visited_last() -> None:
    history = titles("a", "b")
    history.undo()
    history.do(SetTitle("c"))
    history.undo()
    assert history.redo_label == "Title “c”"
    assert history.redo().title == "c"


def test_the_path_is_the_breadcrumb() -> None:
    history = titles("a")
    history.do(SetRoles({"age": Role.QUASI_IDENTIFIER}))
    assert [moment.label for moment in history.path()] == [
        "Start",
        "Title “a”",
        "age: quasi-identifier",
    ]
    history.undo()
    assert [moment.label for moment in history.ahead()] == ["age: quasi-identifier"]
    assert history.undo_label == "Title “a”"


def test_a_change_without_effect_makes_no_moment() -> None:
    history = titles("a")
    history.do(SetTitle("a"))
    assert len(history.moments()) == 2


def test_a_dragged_slider_is_one_change() -> None:
    history = titles("a")
    for k in (2, 3, 4):
        history.do(SetParameters({"k": k}), merge=True)
    assert len(history.moments()) == 3
    assert history.state.parameters == {"k": 4}
    history.undo()
    assert history.state.parameters == {}


def test_a_saved_moment_is_never_replaced() -> None:
    history = titles("a")
    history.do(SetParameters({"k": 2}), merge=True)
    history.mark_saved()
    assert not history.changed
    history.do(SetParameters({"k": 3}), merge=True)
    assert history.changed
    history.undo()
    assert not history.changed
    assert history.state.parameters == {"k": 2}


def test_the_first_moment_cannot_be_undone() -> None:
    history = History(WorkState())
    assert history.undo_label is None
    assert history.redo_label is None
    assert not history.changed
