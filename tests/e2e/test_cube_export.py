"""A cube as observations with their structure, and as a codebook: from the plan to the file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.ddi_structure import faults
from tests.helpers.sdmx_reader import read_observations


def test_the_tables_are_exported_as_observations_with_their_structure(
    tmp_path: Path,
) -> None:
    token = CancelToken()
    register = write_register(tmp_path / "data", people())
    with AppContext.open(tmp_path / "home") as context:
        genuine = release(context, write_plan(register, "plan.toml"), tmp_path / "release").out
        _check(genuine, context, tmp_path, token)


def _check(genuine: Path, context: AppContext, tmp_path: Path, token: CancelToken) -> None:
    for form, agency in (("sdmx-csv", "ABC.D"), ("sdmx-structure", "ABC.D"), ("ddi", "")):
        export_release(genuine, form, tmp_path / form, context.workspace, token, silent, agency)
    found = read_observations(
        (tmp_path / "sdmx-csv").read_bytes(), (tmp_path / "sdmx-structure").read_bytes()
    )
    listed = json.loads((genuine / "public/manifest.json").read_text("utf-8"))["result"]["cuboids"]
    assert len(found) == sum(item["cells"] for item in listed)
    total = next(one for one in found if not one.key)
    apex = next(item["file"] for item in listed if not item["dimensions"])
    assert total.value == float((genuine / "public" / apex).read_text("utf-8").split()[1])
    assert (tmp_path / "sdmx-csv").read_text("utf-8").count("ABC.D:CUBE_") == len(found)
    assert faults((tmp_path / "ddi").read_bytes()) == []
    _check_synthetic(genuine, context, tmp_path)
    with pytest.raises(InputError, match="`A B` is not an identifier of an agency"):
        export_release(genuine, "sdmx-csv", tmp_path / "a", context.workspace, token, silent, "A B")
    with pytest.raises(InputError, match="`csvw` describes microdata"):
        export_release(genuine, "csvw", tmp_path / "a", context.workspace, token, silent)


def _check_synthetic(genuine: Path, context: AppContext, folder: Path) -> None:
    """Rows of declared categories, as many as asked for; what they are for is said."""
    notes: list[str] = []

    def note(event: Event) -> None:
        notes.append(event.sentence if isinstance(event, Note) else "")

    given = context.workspace, CancelToken()
    export_release(genuine, "synthetic", folder / "rows.csv", *given, note, rows=321)
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert len(rows) == 321
    domains = json.loads((genuine / "public/manifest.json").read_text("utf-8"))["result"]["domains"]
    for place, one in enumerate(domains):
        assert header[place] == one["dimension"]
        assert {row[place] for row in rows} <= set(one["categories"])
    said = " ".join(notes)
    assert "321 rows; scaled to" in said
    assert "no ε is spent" in said
    assert "not to look for persons" in said
    for options in ({"rows": 321}, {"agency": "XY"}):
        with pytest.raises(InputError, match="does not apply to the format `parquet`"):
            export_release(genuine, "parquet", folder / "t.parquet", *given, silent, **options)
    with pytest.raises(InputError, match="The number of rows is 0"):
        export_release(genuine, "synthetic", folder / "none.csv", *given, silent, rows=0)


def test_tables_are_told_apart_whatever_their_dimensions_are_called(tmp_path: Path) -> None:
    names = ["a", "b", "a × b", "table"]
    (tmp_path / "people.csv").write_text(",".join(names) + "\n" + "x,,x,\n" * 9, "utf-8")
    source = {"path": "people.csv", "encoding": "utf-8", "delimiter": ",", "decimal": "."}
    source |= {"quote": "", "header": True, "missing": [], "types": dict.fromkeys(names, "text")}
    cube = {"method": "dp-cube", "dimensions": names, "epsilon": 1}
    cube |= {"domains": {name: ["", "x"] for name in names}}
    plan = {"version": 1, "source": source, "protection": cube}
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    with AppContext.open(tmp_path / "home") as context:
        genuine = release(context, tmp_path / "plan.json", tmp_path / "release").out
        export_release(
            genuine, "csv", tmp_path / "all.csv", context.workspace, CancelToken(), silent
        )
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["table_2", *names, "value"]
    listed = json.loads((genuine / "public/manifest.json").read_text("utf-8"))["result"]["cuboids"]
    assert len({row[0] for row in rows}) == len(listed) == 16
    assert len({tuple(row[:-1]) for row in rows}) == len(rows) == 3 ** len(names)
