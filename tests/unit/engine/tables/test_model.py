"""Tables as cells and equations: nodes, sums, and cells that linked tables share."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.tables.model import Bounds, Cells, Dimension, System, Table, exact
from tests.helpers.tables import filled

REGION = Hierarchy.from_rows(
    "region", [["a1", "A", "*"], ["a2", "A", "*"], ["b", "b", "*"], ["c1", "C", "*"]]
)


def table(dimensions: list[Dimension], leaves: list[int], name: str = "t") -> Table:
    return filled(dimensions, np.array(leaves), name)


def test_children_stand_before_their_total_and_a_group_of_one_with_its_label_is_the_value() -> None:
    region = Dimension.of("region", REGION)

    assert region.labels == ("a1", "a2", "A", "b", "c1", "C", "Total")
    assert region.parents.tolist() == [2, 2, 6, 6, 5, 6, -1]
    assert [region.labels[i] for i in region.leaves] == ["a1", "a2", "b", "c1"]


def test_a_top_with_a_name_stands_below_the_total() -> None:
    rows = [["a", "Land"], ["b", "Land"]]
    region = Dimension.of("region", Hierarchy.from_rows("region", rows), total="All")

    assert region.labels == ("a", "b", "Land", "All")
    system = System.of([table([region], [1, 2])])
    assert system.variables[0].tolist() == [0, 1, 2, 2]


def test_two_groups_of_one_label_are_refused() -> None:
    rows = [["a", "X", "*"], ["b", "Y", "*"], ["X", "Y", "*"]]

    with pytest.raises(InputError, match="two groups with the label"):
        Dimension.of("region", Hierarchy.from_rows("region", rows))


def test_every_total_is_the_sum_of_its_children_along_every_dimension() -> None:
    region, size = Dimension.of("region", REGION), Dimension.flat("size", ["s", "l"])
    system = System.of([table([region, size], [1, 2, 3, 4, 5, 6, 7, 8])])

    # `C` has the one child `c1`: one variable, so the rows of the two are one equation.
    assert len(system) == 6 * 3
    assert system.matrix.shape == (6 + 2 * 3, 18)
    assert (system.matrix @ system.cells.values.astype(int) == 0).all()
    assert system.cell_of(int(system.variables[0][-1])) == (system.tables[0], ("Total", "Total"))


def test_linked_tables_share_the_cells_that_cover_the_same_values() -> None:
    region, size = Dimension.of("region", REGION), Dimension.flat("size", ["s", "l"])
    left = table([region, size], [1, 2, 3, 4, 5, 6, 7, 8], "left")
    right = table([Dimension.flat("region", ["a1", "a2", "b", "c1"])], [3, 7, 11, 15], "right")
    system = System.of([left, right])

    assert len(system) == 18
    assert system.variables[1].tolist() == system.variables[0][[2, 5, 11, 14, 20]].tolist()
    assert np.unique(system.components).size == 1


def test_cells_of_the_same_contributors_are_one_where_the_caller_found_them() -> None:
    one = Table("one", (size := Dimension.flat("size", ["s", "l"]),), cells([3, 0, 3]))
    other = Table("other", (Dimension.flat("kind", ["x", "y"]),), cells([3, 0, 3]))
    assert len(System.of([one, other])) == 5

    ids = np.array([7, 0, 7])
    linked = System.of(
        [Table("one", (size,), one.cells, ids), Table("other", other.dimensions, other.cells, ids)]
    )

    # The empty cells hold nobody: they stay apart, and nobody needs to be told that they are 0.
    assert [own.tolist() for own in linked.variables] == [[0, 1, 0], [0, 2, 0]]
    assert linked.matrix.shape[0] == 0


def cells(values: list[int]) -> Cells:
    return Cells(exact(values), np.array(values, dtype=np.int64))


def test_tables_of_another_measure_share_nothing() -> None:
    size = (Dimension.flat("size", ["s", "l"]),)
    tables = [Table(name, size, cells([1, 2, 3]), measure=name) for name in ("count", "turnover")]

    assert len(System.of(tables)) == 6


def test_a_total_that_is_not_the_sum_and_cells_that_differ_are_refused() -> None:
    size = (Dimension.flat("size", ["s", "l"]),)

    with pytest.raises(InputError, match=r"cell Total: the total is not the sum"):
        System.of([Table("t", size, cells([1, 2, 4]))])
    with pytest.raises(InputError, match=r"Table `u`, cell Total: another cell"):
        System.of([Table("t", size, cells([1, 2, 3])), Table("u", size, cells([1, 2, 4]))])


def test_what_no_linked_table_knows_is_empty_and_what_one_sets_by_hand_holds_of_all() -> None:
    size, kind = Dimension.flat("size", ["s"]), Dimension.flat("kind", ["x", "y"])
    top = exact([9] * 2).reshape(2, 1)
    first = Cells(exact([9, 9]), np.ones(2, np.int64), top=top, status=np.array(["U", ""]))
    second = Cells(exact([4, 5, 9]), np.ones(3, np.int64), cost=np.array([1.0, 2.0, 3.0]))
    system = System.of([Table("t", (size,), first), Table("u", (kind,), second)])

    assert system.cells.top is not None
    assert system.cells.top.tolist() == [[9], [0], [0]]
    assert system.cells.status is not None
    assert system.cells.status.tolist() == ["U", "", ""]
    assert system.cells.cost is not None
    assert system.cells.cost.tolist() == [3.0, 1.0, 2.0]


def test_everyone_knows_shares_of_the_value_and_nothing_where_one_is_negative() -> None:
    known = Bounds.of(exact([4, 10]), lower=0.5, upper=2.0)
    assert (known.lower.tolist(), known.upper.tolist()) == ([2.0, 5.0], [8.0, 20.0])
    assert Bounds.of(exact([4, -1])).lower.tolist() == [-np.inf, -np.inf]
    assert Bounds.of(exact([4, 1])).upper.tolist() == [np.inf, np.inf]
