"""A key of [source] that would be ignored is refused, whatever the format and the way in."""

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.describing import inspected_source
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import (
    FORMATS,
    Coarsened,
    FixedColumn,
    SourceSpec,
    applies,
    check_options,
    given_keys,
    read_source,
    source_format,
    without_ignored,
)
from dpdesk.io.planfile import read_plan
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

VALUES = {
    "delimiter": ";",
    "encoding": "cp1252",
    "decimal": ",",
    "quote": "'",
    "header": False,
    "skip": 2,
    "escape": "\\",
    "empty_rows": "keep",
    "allow": ("uneven-lines",),
    "missing": ("", "?"),
    "table": "people",
    "query": "SELECT * FROM data",
    "metadata": "people.rda",
    "catalog": "formats.sas7bcat",
    "engine": "postgresql",
    "columns": (FixedColumn("sex", 1, 1),),
    "types": (("sex", "text"), ("born", "date")),
    "date_order": "dmy",
    "items": ("sex", "age"),
    "coarsen": (("age", Coarsened(top=Fraction(90))),),
}
PATHS = {
    "csv": "people.csv",
    "parquet": "people.parquet",
    "xlsx": "people.xlsx",
    "sav": "people.sav",
    "dta": "people.dta",
    "sas7bdat": "people.sas7bdat",
    "xpt": "people.xpt",
    "fixed": "people.asc",
    "jj": "cells.jj",
    "baskets": "baskets.txt",
    "frame": "people.frame",
    "sqlite": "people.sqlite",
    "duckdb": "people.duckdb",
    "postgresql": "postgresql://localhost/people",
    "spark": "local[2]",
}


def of_format(known: str, **keys: Any) -> SourceSpec:
    """A source of a format; some are said by a key, and not by an ending."""
    told = {"spark": {"engine": "spark"}, "baskets": {"items": ("tea",)}}
    return SourceSpec(PATHS[known], **told.get(known, {}) | keys)


FIXED = ("columns", "metadata")
PLAN = 'version = 1\n[source]\npath = "{0}"\n{1}\n[protection]\nmethod = "k-anonymity"\nk = 2\n'


def test_every_key_of_a_source_and_every_format_is_in_the_table() -> None:
    fields = {item.name for item in dataclasses.fields(SourceSpec)}
    fields -= {"path", "missing_named", "held"}
    assert fields == set(VALUES)
    assert {key for one in FORMATS.values() for key in one.keys} == fields | {"widths"}
    assert set(PATHS) == set(FORMATS)
    assert {name: source_format(of_format(name)) for name in PATHS} == {
        name: name for name in PATHS
    }


@pytest.mark.parametrize("key", VALUES)
@pytest.mark.parametrize("known", PATHS)
def test_a_key_is_taken_where_it_applies_and_refused_elsewhere(key: str, known: str) -> None:
    if key == "engine" and known == "spark":
        return  # without it, it is no source of Spark
    types = VALUES["types"] if key == "date_order" else ()
    spec = of_format(known, **{"types": types, key: VALUES[key]})
    described = known == "csv" and key in FIXED  # it is fixed-width text then
    if applies(key, known) or described:
        check_options(spec, "plan.toml")
        return
    with pytest.raises(InputError) as caught:
        check_options(spec, "plan.toml, [source]")
    error = caught.value
    assert (error.code, error.exit_code) == ("source.option", 2)
    assert error.sentence.startswith(f"plan.toml, [source]: the key `{key}` does not apply to ")
    assert key != "columns" or "`widths`" in error.hint
    for name in (FORMATS[known].name, *(one.name for one in FORMATS.values() if key in one.keys)):
        assert f"`{name}`" in error.sentence


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("people.parquet", "encoding", "cp1252"),
        ("people.csv", "table", "people"),
        ("people.csv", "catalog", "formats.sas7bcat"),
        ("people.xlsx", "delimiter", ";"),
        ("people.sav", "columns", (FixedColumn("sex", 1, 1),)),
    ],
)
def test_no_way_in_reads_a_file_with_a_key_that_it_would_ignore(
    tmp_path: Path, private_home: Path, path: str, key: str, value: object
) -> None:
    (tmp_path / path).write_bytes(b"sex,age\nm,3\n")
    spec = dataclasses.replace(SourceSpec(path), **{key: value})
    workspace = Workspace.open(private_home)
    try:
        with pytest.raises(InputError, match=f"`{key}` does not apply") as caught:
            DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert caught.value.code == "source.option"
    finally:
        workspace.close()
    shown = preview_source(spec, tmp_path)
    assert shown.problem is not None
    assert shown.problem.code == "source.option"
    assert shown.rows == ()
    line = "widths = [1, 2]" if key == "columns" else f'{key} = "{value}"'
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(path, line))
    with pytest.raises(InputError, match=r"plan.toml, \[source\]: the key"):
        read_plan(plan)


def test_inspect_refuses_the_table_of_a_text() -> None:
    with pytest.raises(InputError, match="the command line: the key `table` does not apply"):
        inspected_source(Path("people.csv"), "people", None)


@pytest.mark.parametrize("types", [(), (("sex", "text"), ("age", "number"))])
def test_an_order_of_dates_is_refused_where_no_column_is_declared_a_date(
    types: tuple[tuple[str, str], ...],
) -> None:
    for known in PATHS:
        if not applies("date_order", known):
            continue
        spec = of_format(known, types=types, date_order="dmy")
        with pytest.raises(InputError, match="`types` declares no column a date") as caught:
            check_options(spec, "plan.toml, [source]")
        assert caught.value.code == "source.option"
        assert without_ignored(spec) == of_format(known, types=types)
        assert spec.without_types() == of_format(known)


def test_dates_that_could_be_written_in_two_orders_are_of_the_order_of_the_plan(
    tmp_path: Path, private_home: Path
) -> None:
    rows = [f"0{n},0{n + 1}/0{n + 2}/2020" for n in range(1, 7)]
    (tmp_path / "a.csv").write_text("\n".join(["n,born", *rows]))
    workspace, found = Workspace.open(private_home), {}
    for order in ("dmy", "mdy"):
        spec = SourceSpec("a.csv", types=(("born", "date"),), date_order=order)
        data = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        found[order] = data.profile(CancelToken(), silent).columns[1].date_order
        data.close()
    workspace.close()
    assert found == {"dmy": "dmy", "mdy": "mdy"}


@pytest.mark.parametrize(
    "raw",
    [
        {"path": "people.rda", "metadata": "other.rda"},
        {"path": "people.rda", "widths": [1, 2]},
        {"path": "people.asc", "metadata": "other.rda", "widths": [1, 2]},
    ],
)
def test_columns_are_described_once(raw: dict[str, object]) -> None:
    with pytest.raises(InputError, match="both describe the columns") as caught:
        check_options(read_source(raw, "plan.toml"), "plan.toml")
    assert caught.value.details["key"] in ("metadata", "columns")


@pytest.mark.parametrize("known", PATHS)
def test_without_ignored_keys_a_source_keeps_all_others(known: str) -> None:
    otherwise = (*FIXED, "items") if known == "csv" else ()  # with these it is no such text
    told = {key: value for key, value in VALUES.items() if key not in otherwise}
    told["engine"] = "spark" if known == "spark" else "postgresql"
    spec = without_ignored(of_format(known, **told))
    assert given_keys(spec) == tuple(key for key in given_keys(spec) if applies(key, known))
    assert set(given_keys(spec)) == {key for key in told if applies(key, known)}


def test_keys_that_are_not_set_are_not_given() -> None:
    assert given_keys(SourceSpec("people.csv")) == ()
    assert given_keys(read_source({"path": "p", "missing": [], "header": False}, "")) == (
        "header",
        "missing",
    )


def test_the_home_of_a_user_that_is_not_there_is_a_path_like_any_other(tmp_path: Path) -> None:
    for spec in (
        SourceSpec("~no-such-user/people.csv"),
        SourceSpec("people.sas7bdat", catalog="~no-such-user/formats.sas7bcat"),
    ):
        problem = preview_source(spec, tmp_path).problem
        assert problem is not None
        assert problem.code == "storage.missing"
