"""An anatomised release from the plan to the verified folder, asked questions, and forgeries."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pyreadstat
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.page_checks import public_page
from dpdesk.app.querying import open_release
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.core.release import CheckStatus, Manifest, VerifyReport
from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.registered import default_registry
from dpdesk.io.published import PublishedCsv
from tests.helpers import clinic
from tests.helpers.forging import manifest_of, report_again, seal_again
from tests.helpers.refused_places import refuse_place
from tests.helpers.stat_files import write_people

pytestmark = pytest.mark.cheap_prints

Rows = list[list[str]]
ASKED = 'l = 3\nsensitive = "illness"'


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("clinic")
    clinic.write_source(made)
    return made


@pytest.fixture(scope="module")
def made(context: AppContext, folder: Path) -> Path:
    plan = clinic.write_plan(folder, ASKED, method="anatomy")
    return clinic.release(plan, folder / "release", context).out


def table(release: Path, name: str = "microdata.csv") -> Rows:
    with (release / "public" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def test_rows_are_those_of_the_source_and_groups_hold_different_values(made: Path) -> None:
    header, *rows = table(made)
    assert header == ["age", "town", "job", "group"]
    assert rows == sorted(rows)
    source = clinic.people()
    assert Counter(tuple(row[:3]) for row in rows) == Counter(
        (row[1], row[2], row[4]) for row in source
    )
    head, *values = table(made, "sensitive.csv")
    assert head == ["group", "value", "count"]
    assert {row[2] for row in values} == {"1"}
    assert Counter(row[1] for row in values) == Counter(row[3] for row in source)
    assert Counter(row[0] for row in values) == Counter(row[3] for row in rows)
    assert len({(row[0], row[1]) for row in values}) == len(values)
    assert {row[0] for row in values} == {str(number) for number in range(1, 403 // 3 + 1)}
    assert manifest_of(made)["result"] == {"rows_out": 403, "groups": 134, "smallest_group": 3}


def test_each_row_stands_in_a_group_with_its_own_value(made: Path) -> None:
    values = {tuple(row[:2]) for row in table(made, "sensitive.csv")[1:]}
    own: dict[tuple[str, ...], set[str]] = {}
    for row in clinic.people():
        own.setdefault((row[1], row[2], row[4]), set()).add(row[3])
    for *cells, group in table(made)[1:]:
        assert any((group, value) in values for value in own[tuple(cells)])


def test_two_runs_of_one_plan_have_other_groups(
    context: AppContext, folder: Path, made: Path
) -> None:
    plan = clinic.write_plan(folder, ASKED, method="anatomy")
    assert table(clinic.release(plan, folder / "again", context).out) != table(made)


def test_another_column_may_be_sensitive_and_released_as_it_is(
    context: AppContext, tmp_path: Path
) -> None:
    clinic.write_source(tmp_path)
    other = '[attributes.job]\nrole = "sensitive"\n'
    plan = clinic.write_plan(tmp_path, ASKED, other, method="anatomy")
    made = clinic.release(plan, tmp_path / "release", context).out
    assert manifest_of(made)["guarantee"]["parameters"]["sensitive"] == ["job"]
    assert verified(context, made).ok
    assert verified(context, made, tmp_path / clinic.SOURCE).ok


def test_the_release_verifies_with_and_without_its_source(
    context: AppContext, folder: Path, made: Path, tmp_path: Path
) -> None:
    alone = verified(context, made)
    assert alone.ok
    assert any(c.status is CheckStatus.NEEDS_SOURCE for c in alone.claims)
    settled = verified(context, made, folder / clinic.SOURCE)
    assert settled.ok
    assert not any(c.status is CheckStatus.NEEDS_SOURCE for c in settled.claims)
    shutil.copytree(made / "public", tmp_path / "public")
    assert verified(context, tmp_path / "public").ok


def test_bounds_hold_the_truth(made: Path, context: AppContext) -> None:
    release = open_release(context, made, CancelToken(), silent)
    query = Query((Grouping("illness"),), (Chosen("town", ("town 1",)),), margins=True)
    answer = release.ask(query, CancelToken(), silent)
    assert answer.interval == "certain"
    true = Counter(row[3] for row in clinic.people() if row[2] == "town 1")
    assert {row.labels[0] for row in answer.rows} == {*clinic.ILLNESSES, None}
    for row in answer.rows:
        count = true.total() if row.labels[0] is None else true[str(row.labels[0])]
        assert row.low is not None
        assert row.high is not None
        assert row.value is not None
        assert row.low <= count <= row.high
        assert row.low <= row.value <= row.high
    (whole,) = release.ask(Query((), ()), CancelToken(), silent).rows
    assert (whole.value, whole.low, whole.high) == (403, 403, 403)


def rewrite(path: Path, lines: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([lines[0], *sorted(lines[1:])])


def forged(
    made: Path, target: Path, name: str, change: Callable[[Rows], Rows], **result: int
) -> Path:
    """A copy with a changed table; manifest, pages and seal are made to fit it."""
    shutil.copytree(made, target)
    public = target / "public"
    rewrite(public / name, change(table(target, name)))
    manifest = manifest_of(target)
    manifest["result"] |= result
    with suppress(AssertionError, KeyError):
        published = PublishedCsv(public / "microdata.csv", CancelToken())
        page = public_page(Manifest.from_json(manifest), Anatomy(), published, CancelToken())
        (public / "about.html").write_bytes(page)
    seal_again(target, manifest)
    with suppress(AssertionError):
        report_again(target, default_registry())
    seal_again(target, manifest)
    return target


def put(row: int, column: int, value: str) -> Callable[[Rows], Rows]:
    def change(lines: Rows) -> Rows:
        lines[row][column] = value
        return lines

    return change


def without_the_own_value(made: Path) -> Callable[[Rows], Rows]:
    """Two groups exchange a value each: one was that of a row which no other row equals."""
    seen = Counter((row[1], row[2], row[4]) for row in clinic.people())
    own = {(row[1], row[2], row[4]): row[3] for row in clinic.people()}

    def change(lines: Rows) -> Rows:
        held: dict[str, dict[str, list[str]]] = {}
        for line in lines[1:]:
            held.setdefault(line[0], {})[line[1]] = line
        for *cells, group in table(made)[1:]:
            value, mine = own[tuple(cells)], held[group]
            if seen[tuple(cells)] > 1:
                continue
            for other in held.values():
                new = next((each for each in other if each not in mine), None)
                if value not in other and new is not None:
                    mine[value][1], other[new][1] = other[new][1], mine[value][1]
                    return lines
        raise AssertionError

    return change


FORGERIES: dict[str, tuple[str, Callable[[Rows], Rows], dict[str, int], bool]] = {
    # which table, what is done, a result that fits, and whether it shows without the source
    "a row too few": ("microdata.csv", lambda lines: lines[:-1], {"rows_out": 402}, True),
    "a row in another group": (
        "microdata.csv",
        lambda lines: put(1, 3, "2" if lines[1][3] == "1" else "1")(lines),
        {},
        True,
    ),
    "a group that there is not": ("microdata.csv", put(1, 3, "135"), {"groups": 135}, True),
    "a value twice in a group": (
        "sensitive.csv",
        lambda lines: put(2, 1, lines[1][1])(lines),
        {},
        True,
    ),
    "a count of two": ("sensitive.csv", put(3, 2, "2"), {}, True),
    "a value too few": ("sensitive.csv", lambda lines: lines[:-1], {}, True),
    "other columns": ("sensitive.csv", put(0, 1, "values"), {}, True),
    "a value that no one has": ("sensitive.csv", put(2, 1, "plague"), {}, False),
    "groups without the own value": ("sensitive.csv", lambda lines: lines, {}, False),
    "another age": ("microdata.csv", put(7, 0, "99"), {}, False),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_tables_are_found_out(
    context: AppContext, folder: Path, made: Path, tmp_path: Path, name: str
) -> None:
    file, change, result, shows = FORGERIES[name]
    if name == "groups without the own value":
        change = without_the_own_value(made)
    copy = forged(made, tmp_path / "copy", file, change, **result)
    assert verified(context, copy).ok is not shows
    assert not verified(context, copy, folder / clinic.SOURCE).ok


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "parameters", "l"), 2),
        (("guarantee", "parameters", "l"), 4),
        (("guarantee", "parameters", "separated"), ["job"]),
        (("guarantee", "parameters", "insensitive"), ["age"]),
        (("guarantee", "claim"), "No one can learn anything."),
        (("guarantee", "does_not_cover"), []),
        (("guarantee", "model"), "k-anonymity"),
        (("parameters", "l"), 6),
        (("parameters", "sensitive"), "job"),
        (("result", "groups"), 133),
        (("result", "smallest_group"), 4),
        (("result",), {}),
    ],
)
def test_forged_manifests_are_found_out(
    context: AppContext, made: Path, tmp_path: Path, path: tuple[str, ...], value: object
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    manifest = manifest_of(copy)
    place = manifest
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    seal_again(copy, manifest)
    assert not verified(context, copy).ok


def test_forged_templates_of_sentences_are_found_out(
    context: AppContext, made: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    manifest = manifest_of(copy)
    said = next(each for each in manifest["messages"].values() if "one" in each)
    said["one"] = "No one finds {names}."  # what another number would have called for
    seal_again(copy, manifest)
    assert not verified(context, copy).ok


@pytest.mark.parametrize("what", ["missing", "ragged", "unsorted", "unlisted"])
def test_a_broken_table_of_values_is_found_out(
    context: AppContext, made: Path, tmp_path: Path, what: str
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    path, manifest = copy / "public/sensitive.csv", manifest_of(copy)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    if what == "ragged":
        path.write_text(text + "1\n", "utf-8")
    if what == "unsorted":
        path.write_text("".join([lines[0], *reversed(lines[1:])]), "utf-8")
    if what == "missing":
        path.unlink()
    seal_again(copy, manifest)
    if what == "unlisted":
        listed = json.loads((copy / "public/manifest.json").read_text("utf-8"))
        del listed["files"]["sensitive.csv"]
        (copy / "public/manifest.json").write_text(json.dumps(listed), "utf-8")
    found = verified(context, copy)
    assert not found.ok
    assert any("sensitive.csv" in f"{each.path} {each.reason}" for each in found.failures)


def test_what_cannot_be_released_is_refused(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    plan = clinic.write_plan(folder, 'l = 8\nsensitive = "illness"', method="anatomy")
    with pytest.raises(RefusedError) as caught:
        clinic.release(plan, tmp_path / "never", context)
    assert caught.value.details["key"] == "l"
    assert not (tmp_path / "never").exists()
    for protection, code in (
        ("l = 2", "anatomy.sensitive"),
        ('l = 2\nsensitive = "ilness"', "plan.unknown-column"),
        (f'l = 2\nsensitive = "{clinic.IDENTIFIER}"', "anatomy.role"),
    ):
        plan = clinic.write_plan(folder, protection, method="anatomy")
        with pytest.raises(InputError) as wrong:
            clinic.release(plan, tmp_path / "never", context)
        assert wrong.value.code == code
    source = folder / clinic.SOURCE
    with_group = tmp_path / clinic.SOURCE
    with_group.write_text(source.read_text("utf-8").replace("town", "group", 1), "utf-8")
    plan = clinic.write_plan(tmp_path, ASKED, method="anatomy")
    with pytest.raises(InputError, match="group"):
        clinic.release(plan, tmp_path / "never", context)


@pytest.mark.parametrize("file_format", ["csv", "parquet", "xlsx"])
def test_exports_hold_both_tables(
    context: AppContext, made: Path, tmp_path: Path, file_format: str
) -> None:
    out = tmp_path / f"rows.{file_format}"
    export_release(made, file_format, out, context.workspace, CancelToken(), silent)
    beside = tmp_path / f"rows-sensitive.{file_format}"
    assert {path.name for path in tmp_path.iterdir()} == {out.name, beside.name}
    if file_format == "csv":
        assert beside.read_bytes() == (made / "public/sensitive.csv").read_bytes()
    if file_format == "parquet":
        read = pyarrow.parquet.read_table(beside)
        assert read.column_names == ["group", "value", "count"]
        assert read.num_rows == 403
    whole = beside.read_bytes()
    out.unlink()  # as after a kill between the two
    export_release(made, file_format, out, context.workspace, CancelToken(), silent)
    assert beside.read_bytes() == whole
    out.unlink()
    beside.write_bytes(b"theirs")
    with pytest.raises(InputError, match=beside.name):
        export_release(made, file_format, out, context.workspace, CancelToken(), silent)
    assert (list(tmp_path.iterdir()), beside.read_bytes()) == ([beside], b"theirs")


def test_an_export_of_which_one_file_cannot_take_its_place_leaves_none(
    context: AppContext, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "rows.csv"
    with monkeypatch.context() as patch:
        refuse_place(patch, out)
        with pytest.raises(StorageError):
            export_release(made, "csv", out, context.workspace, CancelToken(), silent)
    assert list(tmp_path.iterdir()) == []
    export_release(made, "csv", out, context.workspace, CancelToken(), silent)
    assert len(list(tmp_path.iterdir())) == 2


def test_labels_of_the_source_are_those_of_the_rows_alone(
    context: AppContext, tmp_path: Path
) -> None:
    source = write_people(tmp_path / "people.sav")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'version = 1\n[source]\npath = "{source.name}"\n[protection]\nmethod = "anatomy"\n'
        'l = 3\nsensitive = "town"\n',
        "utf-8",
    )
    out = clinic.release(plan, tmp_path / "release", context).out
    assert verified(context, out, source).ok
    described = json.loads((out / "public/variables.json").read_text("utf-8"))
    assert "Sex of the person" in json.dumps(described)
    assert "Town" not in json.dumps(described)
    export_release(out, "sav", tmp_path / "rows.sav", context.workspace, CancelToken(), silent)
    frame, _ = pyreadstat.read_sav(tmp_path / "rows-sensitive.sav")
    assert list(frame.columns) == ["group", "value", "count"]
    assert len(frame) == 24


def test_value_labels_that_no_file_of_the_release_has_are_mentioned(
    context: AppContext, tmp_path: Path
) -> None:
    rows = [(n % 7, n % 5) for n in range(60)]
    pyreadstat.write_sav(
        pd.DataFrame(rows, columns=["ward", "illness"]),
        str(tmp_path / "wards.sav"),
        variable_value_labels={"illness": {n: f"Illness {n}" for n in range(5)}},
    )
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "wards.sav"\n[protection]\nmethod = "anatomy"\n'
        'l = 3\nsensitive = "illness"\n',
        "utf-8",
    )
    told = list[Event]()
    out = run_plan(context, plan, tmp_path / "release", CancelToken(), told.append).out
    notes = [event.sentence for event in told if isinstance(event, Note)]
    (said,) = [note for note in notes if note.startswith("The value labels of `illness`")]
    evidence = json.loads((out / "internal/evidence.json").read_text("utf-8"))
    assert said in evidence["recorded_notes"]
    assert verified(context, out, tmp_path / "wards.sav").ok
