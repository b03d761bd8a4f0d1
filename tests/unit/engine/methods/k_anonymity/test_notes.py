"""Notes on a node: what is taken away altogether, and where more levels would help."""

from __future__ import annotations

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.methods.k_anonymity.notes import COARSE, REMOVED, node_notes

AGE = Hierarchy.from_rows("age", [("1", "<5", "*"), ("4", "<5", "*"), ("7", "≥5", "*")])
JOB = Hierarchy.from_rows("job", [("cook", "*"), ("nurse", "*"), ("tailor", "*")])
ONE = Hierarchy.from_rows("land", [("here", "*")])


def test_a_node_below_all_tops_needs_no_note() -> None:
    assert node_notes(("age", "job"), (AGE, JOB), (1, 0)) == ()


def test_attributes_at_the_top_are_named_with_what_every_row_shows() -> None:
    (note,) = node_notes(("age", "job"), (AGE, JOB), (2, 0))
    assert note.code == REMOVED
    assert note.sentence == "`age` is removed completely: every row shows `*`."


def test_a_hierarchy_without_levels_in_between_is_named_a_second_time() -> None:
    removed, coarse = node_notes(("age", "job"), (AGE, JOB), (2, 1))
    assert removed.sentence.startswith("`age` and `job` are removed completely")
    assert coarse.code == COARSE
    assert coarse.sentence.startswith("`job` has no level between")


def test_an_attribute_with_one_value_loses_nothing() -> None:
    assert node_notes(("land",), (ONE,), (1,)) == ()
