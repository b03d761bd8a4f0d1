"""`import dpdesk`: the same releases and answers as the command line, from files and DataFrames."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpdesk
from dpdesk.cli.main import main
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import Event
from tests.helpers.releases import SOURCE, public_bytes, write_source

HOME = pytest.mark.usefixtures("module_home")


def register(rows: int = 600) -> pd.DataFrame:
    """A small register with types, labels and missing values."""
    draw = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "person": [f"zqid{number:06d}" for number in range(rows)],
            "age": pd.array(draw.integers(20, 60, rows), "Int64"),
            "sex": pd.Categorical(draw.choice(["f", "m"], rows)),
            "health": pd.Categorical(
                draw.choice(["good", "fair", "bad"], rows), ["bad", "fair", "good"], ordered=True
            ),
            "income": draw.integers(1, 90, rows) * 100.0,
            "moved": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 3, rows), "D"),
            "employed": pd.array(draw.choice([True, False], rows), "boolean"),
        }
    )
    frame.loc[3, "age"], frame.loc[5, "employed"] = pd.NA, pd.NA
    frame.attrs = {"labels": {"age": "Age in years"}, "value_labels": {"sex": {"f": "female"}}}
    return frame


def anonymous(frame: Any) -> dpdesk.Plan:
    """A plan for the register."""
    return dpdesk.Plan(
        "k-anonymity",
        frame,
        {
            "person": "identifier",
            "age": dpdesk.Attribute("quasi-identifier", {"kind": "intervals", "widths": [10, 20]}),
            "sex": "quasi-identifier",
            "health": "sensitive",
        },
        title="Register",
        k=12,
        max_suppression=0.01,
    )


def noisy(frame: Any, types: dict[str, str] | None = None) -> dpdesk.Plan:
    """A cube of the register."""
    source = dpdesk.Source(frame, missing=[""], types=types or {"sex": "text", "health": "text"})
    return dpdesk.Plan(
        "dp-cube",
        source,
        dimensions=["sex", "health"],
        domains={"sex": ["f", "m"], "health": ["bad", "fair", "good"]},
        epsilon=1,
        budget={"population": "register"},
    )


@pytest.fixture(scope="module")
def released(
    tmp_path_factory: pytest.TempPathFactory, module_home: Path
) -> tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release]:
    """The register, its k-anonymous release and its cube."""
    folder, frame = tmp_path_factory.mktemp("made"), register()
    return (
        frame,
        dpdesk.run(anonymous(frame), folder / "rows"),
        dpdesk.run(noisy(frame), folder / "cube"),
    )


def test_a_plan_file_gives_the_bytes_of_the_command_line(tmp_path: Path) -> None:
    plan = write_source(tmp_path)
    assert main(["run", str(plan), "--out", str(tmp_path / "typed")]) == 0
    for number, given in enumerate((plan, str(plan), dpdesk.Plan.load(plan))):
        made = dpdesk.run(given, tmp_path / f"called-{number}")
        assert public_bytes(made.folder) == public_bytes(tmp_path / "typed")
    evidence, other = (
        json.loads((tmp_path / folder / "internal/evidence.json").read_text())
        for folder in ("typed", "called-2")
    )
    for key in ("commitment_key", "timings"):
        del evidence[key], other[key]
    del evidence["result"]["seconds"], other["result"]["seconds"]
    assert evidence == other


def test_a_frame_gives_the_rows_of_a_file_with_its_values(tmp_path: Path) -> None:
    plan = write_source(tmp_path)
    from_file = dpdesk.run(plan, tmp_path / "file")
    frame = pd.read_csv(tmp_path / SOURCE, dtype=str)
    from_frame = dpdesk.run(plan, tmp_path / "frame", source=frame)
    one, other = (
        (made.folder / "public/microdata.csv").read_bytes() for made in (from_file, from_frame)
    )
    assert one == other
    assert from_frame.result == from_file.result


@HOME
def test_the_frame_is_the_source_that_verifying_compares(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
) -> None:
    frame, rows, cube = released
    for release in (rows, cube):
        found = dpdesk.verify(release, source=frame)
        assert found, found.failures
        assert any("is the source that the evidence names" in note for note in found.notes)
        again = frame.astype({"age": "float64", "sex": "string", "person": object})
        assert dpdesk.verify(release.folder, source=again)
        changed = frame.copy()
        changed.loc[0, "income"] += 1
        for other in (changed, frame.iloc[::-1]):
            answer = dpdesk.verify(release, source=other)
            assert not answer
            assert "is not the source" in answer.failures[0].reason
        evidence = json.loads((release.folder / "internal/evidence.json").read_text())
        assert evidence["source"]["name"] == "data.frame"
        assert evidence["plan"]["source"]["path"] == "data.frame"


@HOME
def test_rows_come_back_with_types_labels_and_order(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
) -> None:
    frame, release, _ = released
    found = release.microdata()
    assert list(found.columns) == [name for name in frame.columns if name != "person"]
    assert dict(found.dtypes.astype(str)) == {
        "age": "string",
        "sex": "string",
        "health": "string",
        "income": "Int64",
        "moved": "string",
        "employed": "string",
    }
    assert found.attrs["labels"] == {"age": "Age in years"}
    assert found.attrs["value_labels"]["sex"] == {"f": "female"}
    alike = release.microdata(like=frame)
    same = [name for name in alike.columns if name != "age"]
    assert alike[same].dtypes.equals(frame[same].dtypes)
    assert alike["health"].cat.ordered
    assert alike["employed"].isna().sum() == 1
    texts = release.microdata(as_text=True)
    assert texts["age"].str.fullmatch(r"\d+-\d+|\*|").all()
    assert (texts == "").to_numpy().sum() >= 1
    with pytest.raises(RefusedError, match="holds rows, not tables"):
        release.tables()


@HOME
def test_codes_stay_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": ["007", "7"] * 4, "size": [1.5, 2.0] * 4, "big": ["1e3"] * 8})
    plan = dpdesk.Plan("k-anonymity", frame, {"code": "quasi-identifier"}, k=2)
    found = dpdesk.run(plan, tmp_path / "out").microdata()
    assert dict(found.dtypes.astype(str)) == {"code": "string", "size": "Float64", "big": "string"}


@HOME
def test_tables_are_what_was_published(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
) -> None:
    _, _, release = released
    tables = release.tables()
    assert set(tables) == {(), ("sex",), ("health",), ("sex", "health")}
    for item in release.result["cuboids"]:
        path = release.folder / "public" / item["file"]
        published = pd.read_csv(path, dtype=dict.fromkeys(item["dimensions"], str))
        table = release.table(*reversed(item["dimensions"]))
        assert table["value"].tolist() == published["value"].tolist()
        for name in item["dimensions"]:
            assert table[name].astype(str).tolist() == published[name].tolist()
        assert table["standard_error"].iloc[0] ** 2 == pytest.approx(item["variance"])
    assert list(release.table("health")["health"].cat.categories) == ["bad", "fair", "good"]
    with pytest.raises(InputError, match="there is no table of age"):
        release.table("age")
    with pytest.raises(RefusedError, match="holds tables, not rows"):
        release.microdata()


@HOME
def test_an_answer_is_that_of_the_command_line(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, rows, cube = released
    asked: list[tuple[list[str], dict[str, Any]]] = [
        (["--by", "sex", "--margins"], {"by": "sex", "margins": True}),
        (["--by", "sex", "--where", "health!=bad"], {"by": ["sex"], "where": "health!=bad"}),
        (["--where", "sex=f"], {"where": {"sex": "f"}}),
        (["--where", "health=good,fair"], {"where": {"health": ["good", "fair"]}}),
    ]
    for release in (rows, cube):
        for words, keywords in asked:
            assert main(["query", str(release.folder), *words, "--json"]) == 0
            told = json.loads(capsys.readouterr().out)
            for found in (
                dpdesk.query(release, **keywords),
                dpdesk.query(str(release.folder), **keywords),
                release.query(**keywords),
            ):
                plain = found.astype(object).where(found.notna(), None)
                assert [
                    {
                        "labels": {name: row[name] for name in told["columns"]},
                        **{key: row[key] for key in ("value", "standard_error", "low", "high")},
                        "note": row["note"],
                    }
                    for row in plain.to_dict("records")
                ] == told["rows"]
                assert found.attrs["sentence"] == told["sentence"]
                assert found.attrs["interval"] == told["interval"]


@HOME
def test_a_level_of_a_column_that_is_not_asked_for_is_refused(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
) -> None:
    with pytest.raises(InputError, match="not among `by`"):
        released[1].query(by="sex", levels={"age": 1})


@HOME
def test_risk_export_inspect_and_check_are_those_of_the_command_line(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame, rows, _ = released
    assert main(["risk", str(rows.folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(
        json.dumps(dpdesk.risk(rows).as_json())
    )
    assert dpdesk.risk(anonymous(frame)).risk == dpdesk.risk(rows).risk
    assert dpdesk.export(rows, "csv", tmp_path / "called.csv") == tmp_path / "called.csv"
    assert main(["export", str(rows.folder), "--format", "csv", "--out", str(tmp_path / "t")]) == 0
    assert (tmp_path / "t").read_bytes() == (tmp_path / "called.csv").read_bytes()
    profile = dpdesk.inspect(frame)
    assert profile.loc["age", ["label", "type", "missing"]].tolist() == [
        "Age in years",
        "integer",
        1,
    ]
    assert profile.attrs["rows"] == len(frame)
    assert dpdesk.check(anonymous(frame), frame).fits
    other = dpdesk.check(anonymous(frame), frame.rename(columns={"sex": "gender"}))
    assert not other.fits
    assert {item.column for item in other.items} >= {"sex"}


@HOME
def test_the_plan_of_a_method_with_noise_must_say_how_a_frame_is_read(tmp_path: Path) -> None:
    frame = register(60)
    plan = dpdesk.Plan("dp-cube", frame, dimensions=["sex"], domains={"sex": ["f", "m"]}, epsilon=1)
    with pytest.raises(InputError, match="`missing`, `types`, `date_order` are missing") as caught:
        dpdesk.run(plan, tmp_path / "out")
    assert caught.value.code == "plan.unpinned"
    pinned = dpdesk.pin(plan)
    assert dict(pinned.value.source.types)["age"] == "number"
    assert dpdesk.trial(pinned).ok
    assert dpdesk.run(pinned, tmp_path / "out").method == "dp-cube"


@HOME
def test_no_single_value_of_a_frame_shows_in_a_run_with_noise(tmp_path: Path) -> None:
    """Neither the type that a column gets, nor what has no text, changes anything but counts."""
    plain = register(60)[["sex", "health", "income"]]
    types = {"sex": "text", "health": "text", "income": "number"}
    odd: list[Any] = ["f", ["f"], 1e308]
    first: tuple[object, ...] | None = None
    for number, value in enumerate(odd):
        one = {"sex": value, "health": "good", "income": value}
        frame = pd.concat([plain, pd.DataFrame([one], dtype=object)], ignore_index=True)
        release = dpdesk.run(noisy(frame, types), tmp_path / str(number))
        notes = [note for note in release.notes if "budget ledger was begun" not in note]
        told = (notes, set(release.manifest), release.result["scales"], release.guarantee)
        first = told if first is None else first
        assert told == first


@HOME
def test_of_a_frame_nothing_is_left_on_the_disk(
    released: tuple[pd.DataFrame, dpdesk.Release, dpdesk.Release], module_home: Path
) -> None:
    _, rows, cube = released
    for folder in (module_home, rows.folder.parent, cube.folder.parent):
        for path in folder.rglob("*"):
            if path.is_file():
                assert b"zqid00" not in path.read_bytes(), path
    assert not list(module_home.rglob("*.frame"))


@HOME
def test_a_call_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    plan, target = anonymous(register(200)), tmp_path / "places" / "out"
    seen: list[Event] = []
    dpdesk.run(plan, tmp_path / "whole", progress=seen.append)
    for place in range(0, len(seen) - 2, max(1, len(seen) // 3)):
        left = [place]

        def interrupt(event: Event, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

        try:
            dpdesk.run(plan, target, progress=interrupt)
        except KeyboardInterrupt:
            assert not target.parent.exists()
        else:  # it was finished before it could be stopped
            assert dpdesk.verify(target)
            break


def test_data_come_from_a_database_too(tmp_path: Path) -> None:
    frame = register(40)[["age", "sex"]].fillna({"age": 40}).astype({"age": "int64", "sex": str})
    with closing(sqlite3.connect(tmp_path / "register.sqlite")) as con:
        frame.to_sql("people", con, index=False)
        frame.to_sql("others", con, index=False)
    source = dpdesk.Source(tmp_path / "register.sqlite", table="people", query="SELECT * FROM data")
    profile = dpdesk.inspect(source)
    assert profile["distinct"].to_dict() == frame.nunique().to_dict()
    with pytest.raises(InputError, match="found 2 tables"):
        dpdesk.inspect(tmp_path / "register.sqlite")


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = ("pandas", "numpy", "numba", "duckdb", "pyarrow", "scipy", "PySide6", "jinja2")
    code = (
        "import sys, dpdesk; dpdesk.__version__; dir(dpdesk); "
        f"print(sorted(set({heavy!r}) & set(sys.modules))); "
        "dpdesk.Plan('k-anonymity', 'people.csv', {'age': 'quasi-identifier'}, k=2); "
        "print(sorted({'pandas', 'numba', 'PySide6'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_what_is_no_name_of_the_interface_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'rum'"):
        dpdesk.rum  # noqa: B018
    for name in ("run", "verify", "query", "Plan", "Release", "InputError"):
        assert name in dir(dpdesk)
        assert getattr(dpdesk, name).__doc__
