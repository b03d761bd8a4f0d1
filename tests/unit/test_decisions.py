"""What the pages in ``resources/docs/decisions`` say that ours finds and a library does not.

Each test asks the library, too: where it has learnt it, the test fails, and the page says when to
think again.
"""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import closing, suppress
from datetime import datetime
from fractions import Fraction
from inspect import signature
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.canonical import UnreadableJsonError, parse_canonical
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head
from tests.helpers.written import ABOUT, WRITERS, written
from tests.unit.io.nasty_expectations import READABLE, REFUSED

DECISIONS = sorted((Path(__file__).parents[2] / "resources/docs/decisions").glob("*.md"))
PARTS = ("Context", "Decision", "What ours catches", "Consequences", "When to reconsider")


def refusal(path: Path, folder: Path) -> InputError:
    """With what the program refuses to read a file."""
    with closing(Workspace.open(folder / "home")) as workspace, pytest.raises(InputError) as caught:
        DataStore.open(SourceSpec(path.name), path.parent, workspace, CancelToken(), silent)
    return caught.value


@pytest.mark.parametrize(
    ("text", "columns", "code"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 1, "csv.ragged"),
        ('a,b\n1,"x\n2,y\n', 2, "csv.unterminated-quote"),
        ("a,a\n1,2\n", 2, "csv.duplicate-names"),
        ("a,b\n1,x\0y\n", 2, "csv.nul"),
    ],
)
def test_a_broken_text_that_duckdb_reads_is_refused(
    tmp_path: Path, text: str, columns: int, code: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode())
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT * FROM read_csv('{path}', all_varchar = true)")
        assert len(found.columns) == columns
        assert found.fetchall()
    assert refusal(path, tmp_path).code == code


def shape_by_duckdb(path: Path) -> tuple[int, int, tuple[str, ...]]:
    """Rows, columns and last row of a text as DuckDB reads it by its own detection."""
    with duckdb.connect() as connection:
        # Executed once: a relation would look at the whole file twice.
        found = connection.execute(f"SELECT * FROM read_csv('{path}', all_varchar = true)")
        width, rows = len(found.description), found.fetchall()
        return len(rows), width, tuple(cell or "" for cell in (*rows, ())[-1])


@pytest.mark.data
def test_the_page_counts_rightly_what_duckdb_makes_of_nasty_files(real_data: Path) -> None:
    folder = real_data / "nasty-csv"
    taken = other = refused = 0
    for name in REFUSED:
        with suppress(duckdb.Error):
            shape_by_duckdb(folder / name)
            taken += 1
    for name, (rows, columns, _, _, _, cells) in READABLE.items():
        try:
            found = shape_by_duckdb(folder / name)
        except duckdb.Error:
            refused += 1
            continue
        same = all(cell in ("", read) for cell, read in zip(cells, found[2], strict=False))
        other += found[:2] != (rows, columns) or not same
    page = " ".join((DECISIONS[0].parent / "csv-scan.md").read_text("utf-8").split())
    assert f"A corpus of {len(REFUSED) + len(READABLE)} nasty files" in page
    assert f"of the {len(REFUSED)} that are refused here, DuckDB 2.0 reads {taken} by" in page
    assert f"Of the {len(READABLE)} that are readable, DuckDB alone gives {other} another" in page
    assert f"other values and refuses {refused}." in page


def test_a_text_of_spss_that_the_library_changes_is_refused(tmp_path: Path) -> None:
    rows: list[list[bytes | float]] = [[1.0, b"Ulm"], [2.0, b"Aach\0Ulm"]]
    path = write_sav_bytes(tmp_path / "towns.sav", [("NUM", 0), ("TOWN", 11)], rows, "<", 0)
    frame, _ = pyreadstat.read_sav(path)
    assert list(frame["TOWN"]) == ["Ulm", "AachUlm"]
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.sentence == "towns.sav, row 2, column `TOWN`: found a NUL character, " + (
        "expected text."
    )


@pytest.mark.data
def test_a_text_of_a_real_file_that_the_library_shortens_is_noted(real_data: Path) -> None:
    path = real_data / "statfiles/pyreadstat/basic/tegulu.sav"
    found, _ = pyreadstat.read_sav(path, output_format="dict")
    plain, _ = pyreadstat.read_sav(path, output_format="dict", encoding="ISO-8859-1")
    name = list(found)[1]
    given, there = found[name][0].encode(), plain[name][0].encode("ISO-8859-1")
    assert there == given + b"\xe0\xb1"
    note = "the text is cut off inside its last character, which is left out."
    assert head(path).notes == (f"Row 1, column `{name}`: {note}",)


@pytest.mark.parametrize("form", WRITERS)
def test_an_export_bears_the_day_of_its_release_and_not_the_clock(
    form: str, tmp_path: Path
) -> None:
    """So that window and command line write the same bytes, and two exports do not differ."""
    paths = [tmp_path / name for name in ("first", "again")]
    for path in paths:
        path.mkdir()
    first, again = (written(path, form, ["x"], [["1"], ["2"]]).read_bytes() for path in paths)
    assert first == again
    library = tmp_path / f"library.{form}"
    write, read = {
        "sav": (pyreadstat.write_sav, pyreadstat.read_sav),
        "dta": (pyreadstat.write_dta, pyreadstat.read_dta),
        "xpt": (pyreadstat.write_xport, pyreadstat.read_xport),
    }[form]
    assert not {name for name in signature(write).parameters if "time" in name or "date" in name}
    before = datetime.now().replace(second=0, microsecond=0)
    write(pd.DataFrame({"x": [1.0, 2.0]}), library)
    assert read(library)[1].creation_time >= before
    assert read(paths[0] / f"t.{form}")[1].creation_time.date() == ABOUT.created


def test_the_notes_of_a_stata_file_hold_the_guarantee(tmp_path: Path) -> None:
    path = written(tmp_path, "dta", ["x"], [["1"]])
    assert [line.encode() in path.read_bytes() for line in ABOUT.lines] == [True, True]
    assert "note" not in signature(pyreadstat.write_dta).parameters


@pytest.mark.parametrize("text", ['{\n  "a": 1,\n  "a": 2\n}\n', '{\n  "a": NaN\n}\n', '{"a": 1}'])
def test_json_that_can_be_read_in_two_ways_or_was_written_by_another_is_refused(text: str) -> None:
    assert "a" in json.loads(text)
    with pytest.raises(UnreadableJsonError):
        parse_canonical(text.encode())


def test_ten_tenths_of_a_budget_are_one(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'version = 1\nsource.path = "a"\nprotection = { method = "m", epsilon = 0.1 }\n'
    )
    written = tomllib.loads(plan.read_text())["protection"]["epsilon"]
    exact = read_plan(plan).protection.parameters["epsilon"]
    assert sum([written] * 10) != 1
    assert sum([Fraction(str(exact))] * 10) == 1


def test_codes_stay_as_they_are_written(tmp_path: Path) -> None:
    text = "code,answer,number\n007,NA,9007199254740993\n,none,\n"
    frame = pd.read_csv(StringIO(text))
    assert frame["code"][0] == 7
    assert frame["answer"].isna()[0]
    assert int(frame["number"][0]) == 9007199254740992
    (tmp_path / "a.csv").write_text(text)
    with (
        closing(Workspace.open(tmp_path / "home")) as workspace,
        closing(
            DataStore.open(SourceSpec("a.csv"), tmp_path, workspace, CancelToken(), silent)
        ) as data,
    ):
        assert data.page(0, 1)[0] == ("007", "NA", "9007199254740993")


def test_noise_made_from_floats_tells_the_true_value() -> None:
    """Results near 0 of the true value 1 lie on the grid of floats near 1; those of 0 seldom do."""
    draws = np.random.default_rng(1).laplace(size=2_000_000)
    of_zero, of_one = (found[(found > 0) & (found < 2**-6)] for found in (draws, draws + 1))
    assert min(len(of_zero), len(of_one)) > 1_000
    assert np.all(of_one % 2.0**-53 == 0)
    assert np.mean(of_zero % 2.0**-53 == 0) < 0.05


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_every_decision_says_what_a_newcomer_asks(page: Path) -> None:
    heads = re.findall(r"^## (.+)$", page.read_text("utf-8"), re.MULTILINE)
    assert heads == list(PARTS) or page.stem == "README"
