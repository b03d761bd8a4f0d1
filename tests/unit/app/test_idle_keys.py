"""Keys of hierarchies that do not apply are told, or refused, for every kind of method."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, open_data, prepare_rows
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.io.planfile import read_plan
from tests.helpers import cubes

STOP = CancelToken()
AGE = 'age = { role = "quasi-identifier", hierarchy = { kind = "intervals", cuts = [[30, 60]] } }'


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def cube(folder: Path, age: str, more: str = "") -> Path:
    plan = cubes.write_plan(cubes.write_register(folder / "data", cubes.people(20)))
    text = plan.read_text("utf-8")
    assert AGE in text
    plan.write_text(text.replace(AGE, f"age = {{ hierarchy = {age} }}\n{more}"), "utf-8")
    return plan


def cube_notes(context: AppContext, plan: Path) -> tuple[str, ...]:
    with prepare_tables(
        context, PlacedPlan(read_plan(plan), plan.parent, "p"), STOP, silent
    ) as ready:
        return ready.notes


def test_hierarchies_are_noted_of_columns_that_no_categories_are_asked_of(
    context: AppContext, tmp_path: Path
) -> None:
    """The settings name the column, as the values of a sum, but not its categories."""
    measure = {"sum": "pay", "lower": 0, "upper": 500}
    source = cubes.write_register(tmp_path / "data", cubes.people(20))
    plan = cubes.write_plan(source, rho=0.5, measure=measure)
    assert not any("not used" in note for note in cube_notes(context, plan))
    text = plan.read_text("utf-8").replace(
        AGE, f"{AGE}\npay = {{ hierarchy = {{ kind = 'mask' }} }}"
    )
    plan.write_text(text, "utf-8")
    (note,) = (note for note in cube_notes(context, plan) if "not used" in note)
    assert "`pay`" in note
    assert "need none for this column" in note


@pytest.mark.parametrize("key", ["widths = [10]", "bottom = 20", "top = 90"])
def test_a_cube_refuses_what_cuts_would_replace(
    context: AppContext, tmp_path: Path, key: str
) -> None:
    plan = cube(tmp_path, f'{{ kind = "intervals", cuts = [[30, 60]], {key} }}')
    with pytest.raises(InputError, match="found both `cuts`") as caught:
        cube_notes(context, plan)
    assert caught.value.code == "hierarchy.options"


def test_a_cube_notes_hierarchies_and_options_that_it_does_not_use(
    context: AppContext, tmp_path: Path
) -> None:
    kept = '{ kind = "intervals", cuts = [[30, 60]] }'
    assert not any(
        "no effect" in note or "not used" in note
        for note in cube_notes(context, cube(tmp_path, kept))
    )
    plan = cube(
        tmp_path,
        '{ kind = "intervals", cuts = [[30, 60]], origin = 7 }',
        'pay = { hierarchy = { kind = "mask" } }',
    )
    notes = cube_notes(context, plan)
    assert "[attributes.age], hierarchy: `origin` has no effect together with `cuts`." in notes
    assert any("hierarchy of `pay` is not used" in note for note in notes)


def test_a_mask_notes_a_pace_beside_its_steps(context: AppContext, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,x\n1234,u\n1235,v\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """version = 1
[source]
path = "a.csv"
[attributes]
zip = { role = "quasi-identifier", hierarchy = { kind = "mask", every = 2, steps = [1, 3] } }
[protection]
method = "k-anonymity"
k = 2
""",
        "utf-8",
    )
    with prepare_rows(
        context, PlacedPlan(read_plan(plan), tmp_path, plan.name), STOP, silent
    ) as ready:
        assert (
            "[attributes.zip], hierarchy: `every` has no effect together with `steps`."
            in ready.notes
        )


def test_a_cube_tells_what_becomes_of_values_that_a_builder_keeps_apart(
    context: AppContext, tmp_path: Path
) -> None:
    plan = cube(tmp_path, '{ kind = "intervals", cuts = [[30, 60]], apart = ["99"] }')
    said = [note for note in cube_notes(context, plan) if "apart" in note]
    assert len(said) == 1
    assert said[0].startswith("Column `age`: its hierarchy keeps `99` apart. Rows with them go to")
    assert voice_of("de").known(said[0]) not in (None, said[0])


def test_a_free_query_is_refused_for_a_cube_although_the_data_are_open(
    context: AppContext, tmp_path: Path
) -> None:
    plan = cube(tmp_path, '{ kind = "intervals", cuts = [[30, 60]] }')
    read = read_plan(plan)
    free = replace(read, source=replace(read.source, query="SELECT * FROM data LIMIT 5"))
    with (
        closing(open_data(context, read, plan.parent, STOP, silent)) as data,
        pytest.raises(InputError, match="may only keep rows"),
        prepare_tables(context, PlacedPlan(free, plan.parent, "p"), STOP, silent, data),
    ):
        raise AssertionError
