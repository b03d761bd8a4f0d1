"""Labels go through protection and come back, tell nothing of absent rows, and survive export."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import pytest
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.labelling import label_faults, released_variables
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.running import write_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.labels import Codebook, Kind, UserMissing, Variable
from dpdesk.core.recoding import Recoding
from dpdesk.io.canonical import canonical_json, read_canonical
from dpdesk.io.csvw import csvw_metadata, read_labels, read_variables
from dpdesk.io.planfile import read_plan
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_folder import CSVW
from tests.helpers.forging import manifest_of, seal_again, stated_in
from tests.helpers.postgres import postgres_server
from tests.helpers.stat_files import head, opened, real

pytestmark = pytest.mark.cheap_prints

PLAN = """version = 1
title = "Same table"
[source]
path = "{path}"
{more}
[attributes]
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", widths = [10, 40] }} }}
sex = {{ role = "quasi-identifier" }}
[protection]
method = "k-anonymity"
k = 3
max_suppression = {share}
"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def released(
    folder: Path, path: str, context: AppContext, more: str = "", share: float = 0
) -> Path:
    """The release of a source."""
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(path=path, more=more, share=share), encoding="utf-8")
    found = read_plan(plan)
    out = folder / f"out-{len(list(folder.iterdir()))}"
    prepared = prepare_rows(
        context, PlacedPlan(found, plan.parent, plan.name), CancelToken(), silent
    )
    with prepared:
        return write_release(context, prepared, out, CancelToken(), silent).out


def exported(release: Path, form: str, context: AppContext) -> Path:
    out = release.parent / f"again.{form}"
    return export_release(release, form, out, context.workspace, CancelToken(), silent)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, 120),
            "sex": rng.choice([1, 2, 9], 120, p=[0.45, 0.45, 0.1]),
            "job": rng.choice(["clerk", "nurse", ""], 120),
            "pay": np.round(rng.normal(2_000, 300, 120), 2),
        }
    )


def test_spss_through_protection_to_spss_keeps_labels_and_missing_values(
    tmp_path: Path, context: AppContext
) -> None:
    pyreadstat.write_sav(
        frame().astype({"age": float, "sex": float}), tmp_path / "a.sav",
        column_labels={"sex": "Sex", "age": "Age", "pay": "Pay"},
        variable_value_labels={"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}},
        missing_ranges={"sex": [9.0], "pay": [{"lo": -9.0, "hi": -1.0}]},
        variable_measure={"sex": "nominal", "pay": "scale"},
    )  # fmt: skip
    release = released(tmp_path, "a.sav", context)
    again = exported(release, "sav", context)
    before, after = head(tmp_path / "a.sav"), head(again)
    old = {variable.name: variable for variable in before.variables}
    new = {variable.name: variable for variable in after.variables}
    for name in old:
        assert (new[name].label, new[name].measure) == (old[name].label, old[name].measure)
    assert new["sex"].value_labels == {"1": "male", "2": "female", "9": "refused"}
    assert (new["sex"].missing, new["pay"].missing) == (old["sex"].missing, old["pay"].missing)
    with (release / "public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        assert [tuple(row) for row in csv.reader(stream)][1:] == list(after.head)


def test_a_user_missing_code_needs_no_leaf_and_stays_itself_below_the_top(
    tmp_path: Path, context: AppContext
) -> None:
    people = pd.DataFrame({"age": 30.0, "sex": [1.0, 2.0, 9.0] * 5 + [1.0], "x": 1.0})
    pyreadstat.write_sav(people, tmp_path / "a.sav", missing_ranges={"sex": [9.0]})
    (tmp_path / "sex.csv").write_text("1;any;*\n2;any;*\n", encoding="utf-8")
    plan = (
        PLAN.format(path="a.sav", more="", share=0)
        .replace('age = { role = "quasi-identifier", hierarchy = { kind = "intervals", '
                 'widths = [10, 40] } }', 'age = { role = "insensitive" }')
        .replace('sex = { role = "quasi-identifier" }',
                 'sex = { role = "quasi-identifier", hierarchy = "sex.csv" }')
        .replace("k = 3", "k = 5")
    )  # fmt: skip
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    found = read_plan(tmp_path / "plan.toml")
    with prepare_rows(
        context, PlacedPlan(found, tmp_path, "plan.toml"), CancelToken(), silent
    ) as ready:
        given = ready.given.source.frequency_table(["sex"], CancelToken())
        assert [given.domains[0][code] for code in given.missing[0]] == ["9"]
        out = write_release(context, ready, tmp_path / "out", CancelToken(), silent).out
    text = (out / "public/microdata.csv").read_text("utf-8")
    assert {line.split(",")[1] for line in text.splitlines()[1:]} == {"1", "2", "9"}
    (tmp_path / "plan.toml").write_text(plan.replace("k = 5", "k = 6"), encoding="utf-8")
    found = read_plan(tmp_path / "plan.toml")
    with prepare_rows(
        context, PlacedPlan(found, tmp_path, "plan.toml"), CancelToken(), silent
    ) as ready:
        out = write_release(context, ready, tmp_path / "more", CancelToken(), silent).out
    text = (out / "public/microdata.csv").read_text("utf-8")
    assert {line.split(",")[1] for line in text.splitlines()[1:]} == {"*"}


def test_stata_through_protection_to_stata_keeps_labels_and_letters(
    tmp_path: Path, context: AppContext
) -> None:
    people = frame()
    people["job"] = np.where(people["job"] == "", 3, 1)
    pyreadstat.write_dta(
        people, tmp_path / "a.dta", column_labels={"sex": "Sex", "job": "Job"},
        variable_value_labels={"sex": {1: "male", 2: "female", 9: "refused"}},
    )  # fmt: skip
    again = exported(released(tmp_path, "a.dta", context), "dta", context)
    new = {variable.name: variable for variable in head(again).variables}
    assert new["sex"].value_labels == {"1": "male", "2": "female", "9": "refused"}
    assert (new["sex"].label, new["job"].label) == ("Sex", "Job")


@pytest.mark.data
@pytest.mark.parametrize("form", ["sav", "dta"])
def test_labels_of_a_real_survey_come_back(form: str, tmp_path: Path, context: AppContext) -> None:
    source = real("misc", f"SD2011_labelled.{form}")
    release = released(tmp_path, str(source), context)
    old = {item.name: item for item in head(source, limit=1).variables}
    new = {item.name: item for item in head(exported(release, form, context), limit=1).variables}
    assert new.keys() == old.keys()
    assert verify_release(release, context.registry, CancelToken(), silent).ok
    same = [name for name in old if name not in ("age", "sex")]
    assert {name: new[name].value_labels for name in same} == {
        name: old[name].value_labels for name in same
    }
    assert {name: new[name].label for name in same} == {name: old[name].label for name in same}


def test_labels_go_through_parquet_and_damaged_ones_are_told(
    tmp_path: Path, context: AppContext
) -> None:
    pyreadstat.write_sav(
        frame().astype({"age": float, "sex": float}), tmp_path / "a.sav",
        column_labels={"sex": "Sex", "pay": "Pay"},
        variable_value_labels={"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}},
        missing_ranges={"sex": [9.0], "pay": [{"lo": -9.0, "hi": -1.0}]},
    )  # fmt: skip
    first = released(tmp_path, "a.sav", context)
    path = exported(first, "parquet", context)
    said = read_labels(first / "public/variables.json")
    assert said.variables[1].value_labels == {"1": "male", "2": "female", "9": "refused"}
    with closing(opened(path, context.workspace)) as store:
        assert store.book == said
        assert "Labels and values declared missing come" in " ".join(store.reading.notes)
    table = parquet.read_table(path)
    broken = table.replace_schema_metadata({"dpdesk.variables": b'{"format": 1}'})
    parquet.write_table(broken, tmp_path / "b.parquet")
    with closing(opened(tmp_path / "b.parquet", context.workspace)) as store:
        assert not store.book
        assert "The labels in the metadata" in " ".join(store.reading.notes)


def test_one_table_gives_one_release_whatever_it_is_kept_in(
    tmp_path: Path, context: AppContext
) -> None:
    people = frame()
    people["id"] = [f"{number:03d}" for number in range(len(people))]
    rows = [tuple("" if v == "" else v for v in row) for row in people.astype(object).to_numpy()]
    people.map(lambda v: f"{v:.15g}" if isinstance(v, float) else v).to_csv(
        tmp_path / "a.csv", index=False
    )
    people.to_parquet(tmp_path / "a.parquet")
    pyreadstat.write_sav(people, tmp_path / "a.sav")
    kinds = "age INTEGER, sex INTEGER, job TEXT, pay DOUBLE PRECISION, id TEXT"
    light = sqlite3.connect(tmp_path / "a.sqlite")
    light.execute(f"CREATE TABLE people ({kinds})")
    light.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    light.commit()
    light.close()
    with duckdb.connect(str(tmp_path / "a.duckdb")) as duck:
        duck.execute(f"CREATE TABLE people ({kinds})")
        duck.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    sources = ["a.csv", "a.parquet", "a.sav", "a.sqlite", "a.duckdb"]
    found = {name: public_part(released(tmp_path, name, context)) for name in sources}
    assert all(part == found["a.csv"] for part in found.values())
    assert set(found["a.csv"]) == {"manifest.json", "microdata.csv", "about.html"}
    with postgres_server() as address:
        import psycopg

        with psycopg.connect(address) as con, con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE people ({kinds})")  # type: ignore[call-overload]
            cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s)", rows)
        more = 'table = "people"'
        assert public_part(released(tmp_path, address, context, more)) == found["a.csv"]


def public_part(release: Path) -> dict[str, bytes]:
    """The public files; of the manifest all but the commitment, which must differ."""
    files = {path.name: path.read_bytes() for path in (release / "public").iterdir()}
    manifest = json.loads(files["manifest.json"])
    assert len(manifest.pop("commitment")) == 64
    return files | {"manifest.json": canonical_json(manifest)}


def table_of(folder: Path, text: str) -> PublishedCsv:
    path = folder / "microdata.csv"
    path.write_text(text, encoding="utf-8")
    return PublishedCsv(path, CancelToken())


BOOK = Codebook(
    (
        Variable("sex", "Sex", Kind.NUMBER, "double", 0, "F8.2", "nominal",
                 {"1": "male", "2": "female", "9": "refused", "7": "nobody"},
                 UserMissing(("9",))),
        Variable("job", "Job", Kind.TEXT, "string", 40, "A40",
                 value_labels={"c": "clerk", "b": "bishop"}),
        Variable("name", "Name"),
    )
)  # fmt: skip


def recoded(mapping: dict[str, dict[str, str]]) -> Recoding:
    none = np.zeros((0, len(mapping)), np.int32)
    return Recoding(tuple(mapping), mapping, ((),) * len(mapping), none, ("name",), 2, 0)


def test_code_lists_are_whole_only_when_no_row_is_missing(tmp_path: Path) -> None:
    table, token = table_of(tmp_path, "sex,job\n1,c\n9,c\n"), CancelToken()
    same = recoded({"sex": {"1": "1", "9": "9"}})
    whole = released_variables(BOOK, same, table, True, token)
    assert [variable.name for variable in whole] == ["sex", "job"]
    assert whole[0].value_labels == BOOK.variables[0].value_labels
    cut = released_variables(BOOK, same, table, False, token)
    assert cut[0].value_labels == {"1": "male", "9": "refused"}
    assert cut[1].value_labels == {"c": "clerk"}
    assert cut[0].missing.values == ("9",)
    for variable in (*whole, *cut):
        assert (variable.storage, variable.width, variable.format) == ("", 0, "")


def test_a_recoded_column_keeps_labels_of_values_that_are_still_codes(tmp_path: Path) -> None:
    table = table_of(tmp_path, "sex,job\n*,c\n9,c\n")
    merged = recoded({"sex": {"1": "*", "2": "*", "9": "9"}})
    sex = released_variables(BOOK, merged, table, True, CancelToken())[0]
    assert sex.value_labels == {"9": "refused"}
    assert (sex.missing.values, sex.kind, sex.label) == (("9",), Kind.TEXT, "Sex")
    table = table_of(tmp_path, "sex,job\n1,c\n1,c\n")
    swallowed = recoded({"sex": {"1": "1", "2": "1"}})
    assert not released_variables(BOOK, swallowed, table, True, CancelToken())[0].value_labels


@pytest.mark.parametrize(
    ("kind", "display"), [(Kind.DATE, "QYR8"), (Kind.NUMBER, "WKDAY9"), (Kind.NUMBER, "%tq")]
)
def test_a_format_of_periods_goes_with_values_and_not_with_groups(
    tmp_path: Path, kind: Kind, display: str
) -> None:
    published = table_of(tmp_path, "when\n5\n6\n")
    book = Codebook((Variable("when", "", kind, format=display, width=8),))
    grouped = recoded({"when": {"5": "5–6", "6": "5–6"}})
    for recoding, expected in ((None, display), (grouped, "")):
        found = released_variables(book, recoding, published, False, CancelToken())
        assert [one.format for one in found] == ([expected] if expected else [])


def test_ranges_of_a_measured_column_are_ordered_and_no_longer_measured(tmp_path: Path) -> None:
    book = Codebook((Variable("age", "Age", Kind.NUMBER, measure="scale"),))
    table, ranges = table_of(tmp_path, "age\n20-29\n"), recoded({"age": {"21": "20-29"}})
    age = released_variables(book, ranges, table, True, CancelToken())[0]
    assert (age.kind, age.measure) == (Kind.TEXT, "ordinal")


def test_suppressed_codes_and_their_labels_are_not_in_the_public_part(
    tmp_path: Path, context: AppContext
) -> None:
    people = frame()
    people.loc[60, ["age", "sex"]] = [99, 5]
    pyreadstat.write_sav(
        people.astype({"age": float, "sex": float}), tmp_path / "a.sav",
        variable_value_labels={"sex": {1.0: "male", 5.0: "zq only one person"}},
    )  # fmt: skip
    release = released(tmp_path, "a.sav", context, share=0.05)
    for path in (release / "public").iterdir():
        assert b"zq only one" not in path.read_bytes()
    for form in ("sav", "csvw", "xlsx"):
        assert b"zq only one" not in exported(release, form, context).read_bytes()


def test_codes_of_rows_that_a_query_leaves_out_have_no_label_in_the_public_part(
    tmp_path: Path, context: AppContext
) -> None:
    people = frame().assign(consent=1)
    people.loc[60, ["sex", "consent"]] = [5, 0]
    pyreadstat.write_sav(
        people.astype({"age": float, "sex": float, "consent": float}), tmp_path / "a.sav",
        variable_value_labels={
            "sex": {1.0: "male", 5.0: "zq only one person"}, "consent": {0.0: "zq no", 1.0: "yes"},
        },
    )  # fmt: skip
    release = released(tmp_path, "a.sav", context, "query = 'SELECT * FROM data WHERE consent = 1'")
    for path in (release / "public").iterdir():
        assert b"zq" not in path.read_bytes()
    given = release, context.registry, CancelToken(), silent, tmp_path / "a.sav", context.workspace
    assert verify_release(*given).ok
    path = release / "public/variables.json"
    said = read_canonical(path)
    said["variables"][0 if said["variables"][0]["name"] == "sex" else 1]["value_labels"]["5"] = "zq"
    path.write_bytes(canonical_json(said))
    assert not verify_release(*given).ok


def test_a_number_that_others_became_has_no_label_and_others_that_occur_keep_theirs(
    tmp_path: Path, context: AppContext
) -> None:
    people = frame().astype({"age": float, "sex": float})
    people["sick"] = [float(1 + row % 4) for row in range(len(people))]
    labels = {1.0: "flu", 2.0: "cold", 3.0: "zq three alone", 4.0: "zq four", 7.0: "zq nobody"}
    pyreadstat.write_sav(people, tmp_path / "a.sav", variable_value_labels={"sick": labels})
    for more, kept in (("top = 3", {"1": "flu", "2": "cold"}), ("round = 2", {})):
        source = f"coarsen = {{ sick = {{ {more} }} }}"
        release = released(tmp_path, "a.sav", context, source)
        found = read_labels(release / "public/variables.json")
        (sick,) = (one for one in found.variables if one.name == "sick")
        assert sick.value_labels == kept
        given = release, context.registry, CancelToken(), silent
        assert verify_release(*given, tmp_path / "a.sav", context.workspace).ok


def test_labels_of_a_release_are_checked_and_exported(tmp_path: Path, context: AppContext) -> None:
    labels = {"sex": {9.0: "refused", 10.0: "unknown", 2.0: "female", 1.0: "male"}}
    people = frame().astype({"age": float, "sex": float})
    pyreadstat.write_sav(
        people, tmp_path / "a.sav", variable_value_labels=labels, column_labels={"job": "Job"}
    )
    release = released(tmp_path, "a.sav", context)
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert report.ok
    table = parquet.read_schema(exported(release, "parquet", context))
    assert b"female" in table.metadata[b"dpdesk.variables"]
    document = json.loads(exported(release, "csvw", context).read_bytes())
    columns = {column["titles"]: column for column in document["tableSchema"]["columns"]}
    assert columns["job"]["dc:description"] == "Job"
    assert columns["sex"]["dc:subject"][2]["skos:prefLabel"] == "female"
    path = release / "public/variables.json"
    raw = read_canonical(path)
    for broken in ({**raw, "variables": [{"name": "nobody", "kind": "text"}]}, {"format": 1}):
        path.write_bytes(canonical_json(broken))
        report = verify_release(release, context.registry, CancelToken(), silent)
        reasons = [item.reason for item in report.failures if item.path.endswith("bles.json")]
        assert len(reasons) == 2, reasons
    path.write_bytes(canonical_json(raw))
    document = release / "public/microdata.csv-metadata.json"
    document.write_bytes(document.read_bytes().replace(b"female", b"femail"))
    report = verify_release(release, context.registry, CancelToken(), silent)
    reasons = [item.reason for item in report.failures if item.path.endswith("metadata.json")]
    assert any("is not what manifest and variables.json give" in reason for reason in reasons)
    manifest = stated_in(release)
    columns = tuple(table.names)
    book = read_variables(path, columns)
    for form in (1, 2):  # as releases of earlier versions have it
        earlier = csvw_metadata("microdata.csv", columns, book, manifest, form=form)
        document.write_bytes(canonical_json(earlier))
        assert label_faults(release / "public", manifest, columns) == []
    path.unlink()
    assert not verify_release(release, context.registry, CancelToken(), silent).ok


@pytest.mark.parametrize("texts", ["same", "other"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_labels_are_those_of_the_source_whatever_texts_a_release_names(
    texts: str, share: float, tmp_path: Path, context: AppContext
) -> None:
    labels = {"sex": {9.0: "refused", 2.0: "female", 1.0: "male"}}
    people = frame().astype({"age": float, "sex": float})
    pyreadstat.write_sav(
        people, tmp_path / "a.sav", variable_value_labels=labels, column_labels={"job": "Job"}
    )
    release = released(tmp_path, "a.sav", context, share=share)
    manifest = manifest_of(release)
    if texts == "other":
        manifest["texts"] = {"language": "en", "sha256": "0" * 64}
    path, document = release / "public/variables.json", release / f"public/{CSVW}"
    genuine = path.read_bytes()

    def failures(content: bytes) -> list[str]:
        path.write_bytes(content)
        columns = tuple(PublishedCsv(release / "public/microdata.csv", CancelToken()).columns)
        said = csvw_metadata(
            "microdata.csv", columns, read_variables(path, columns), stated_in(release)
        )
        document.write_bytes(canonical_json(said))
        seal_again(release, manifest)
        found = verify_release(
            release, context.registry, CancelToken(), silent, tmp_path / "a.sav", context.workspace
        )
        return [each.reason for each in found.failures if each.path.endswith("variables.json")]

    assert failures(genuine) == []
    for old, new in ((b'"female"', b'"male"'), (b'"Job"', b'"Certified"')):
        assert old in genuine
        (reason,) = failures(genuine.replace(old, new))
        assert "source" in reason
