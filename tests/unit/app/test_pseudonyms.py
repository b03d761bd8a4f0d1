"""Releases with pseudonyms: who can join what, what is refused, and where a key is found."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.pseudonyms import delete_key, make_key
from dpdesk.app.risk import release_risk
from dpdesk.app.running import write_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.release import MADE_AGAIN, CheckStatus, VerifyReport
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.project.pseudonym_keys import PseudonymKeys
from dpdesk.project.review.votes import ItemStatus
from tests.helpers.forging import canonical, manifest_of, seal_again
from tests.reference.pseudonyms import pseudonym

pytestmark = pytest.mark.cheap_prints

ROWS = 120
LINKED = 'scope = "domain", domain = "persons"'
PLAN = """version = 1
title = "Panel, first wave"
[source]
path = "{path}"
{more}
[attributes.age]
role = "quasi-identifier"
[attributes.person]
role = "identifier"
pseudonym = {{ key = "people"{pseudonym} }}
{attributes}
[protection]
{protection}
"""
K5 = 'method = "k-anonymity"\nk = 5'


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        make_key(opened, "people", silent)
        yield opened


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, context: AppContext) -> Path:
    """A release that joins with no other; beside it lies its source."""
    folder = tmp_path_factory.mktemp("release")
    write_csv(folder / "a.csv", people())
    return released(context, write_plan(folder, "a.csv", "length = 52"))


def people() -> list[dict[str, str]]:
    """Age, a number of seven digits, income; one person without a number."""
    return [
        {
            "age": str(30 + row % 3),
            "person": "" if row == 7 else str(7_000_000 + 31 * row),
            "income": str(row % 11),
        }
        for row in range(ROWS)
    ]


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_plan(folder: Path, source: str, pseudonym: str = "", **more: str) -> Path:
    plan = folder / f"plan-{len(list(folder.glob('plan-*')))}.toml"
    given = {"more": "", "attributes": "", "protection": K5, **more}
    extra = f", {pseudonym}" if pseudonym else ""
    plan.write_text(PLAN.format(path=source, pseudonym=extra, **given), encoding="utf-8")
    return plan


def released(context: AppContext, plan: Path, events: list[Event] | None = None) -> Path:
    found, out = read_plan(plan), plan.with_suffix(".out")
    report = silent if events is None else events.append
    with prepare_rows(
        context, PlacedPlan(found, plan.parent, plan.name), CancelToken(), report
    ) as ready:
        return write_release(context, ready, out, CancelToken(), report).out


def table(release: Path) -> list[dict[str, str]]:
    with (release / "public" / "microdata.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def pseudonyms(release: Path) -> set[str]:
    return {row["person"] for row in table(release)}


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def status_of(report: VerifyReport, claim: str) -> CheckStatus:
    return next(check.status for check in report.claims if check.claim == claim)


def secret(context: AppContext) -> bytes:
    return PseudonymKeys(context.home).open("people").secret


def test_a_linkage_domain_gives_the_pseudonyms_of_the_reference(
    tmp_path: Path, context: AppContext
) -> None:
    write_csv(tmp_path / "a.csv", people())
    release = released(context, write_plan(tmp_path, "a.csv", LINKED))
    wanted = {row["person"] and linked(context, row["person"]) for row in people()}
    assert pseudonyms(release) == wanted
    assert list(table(release)[0]) == ["age", "person", "income"]


def test_pseudonyms_of_one_release_come_from_its_salt_and_join_with_no_other(
    tmp_path: Path, context: AppContext
) -> None:
    write_csv(tmp_path / "a.csv", people())
    plan = write_plan(tmp_path, "a.csv")
    first = released(context, plan)
    evidence = json.loads((first / "internal" / "evidence.json").read_text())
    entry = evidence["pseudonyms"]["person"]
    assert entry["identifiers"] == ROWS - 1
    made = pseudonym(secret(context), "release", entry["salt"], "person", people()[0]["person"])
    assert made in pseudonyms(first)
    second = released(context, write_plan(tmp_path, "a.csv"))
    assert pseudonyms(first) & pseudonyms(second) == {""}


def test_columns_of_one_release_with_one_domain_can_be_joined(
    tmp_path: Path, context: AppContext
) -> None:
    rows = people()
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        row["mother"] = other["person"]
    write_csv(tmp_path / "a.csv", rows)
    mother = '[attributes.mother]\nrole = "identifier"\npseudonym = { key = "people", of = "group"'
    joined = write_plan(tmp_path, "a.csv", 'domain = "p"', attributes=mother + ', domain = "p" }')
    release = released(context, joined)
    assert {row["mother"] for row in table(release)} == pseudonyms(release)
    apart = released(context, write_plan(tmp_path, "a.csv", attributes=mother + " }"))
    assert {row["mother"] for row in table(apart)} & pseudonyms(apart) == {""}


def test_rows_are_sorted_by_the_pseudonyms_as_by_any_released_column(release: Path) -> None:
    rows = [tuple(row.values()) for row in table(release)]
    assert rows == sorted(rows)


def test_the_same_table_in_any_format_has_the_same_pseudonyms(
    tmp_path: Path, context: AppContext
) -> None:
    write_csv(tmp_path / "a.csv", people())
    frame = pd.DataFrame(people())
    for name in ("age", "person", "income"):
        frame[name] = pd.to_numeric(frame[name])
    whole = frame.astype({"person": "Int64"})
    whole.to_parquet(tmp_path / "a.parquet")
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"))
    frame.to_stata(tmp_path / "a.dta", write_index=False)
    with sqlite3.connect(tmp_path / "a.sqlite") as con:
        whole.to_sql("people", con, index=False)
    con.close()
    found = [made_of(context, tmp_path, f"a.{kind}") for kind in ("csv", "parquet", "sav")]
    found += [made_of(context, tmp_path, f"a.{kind}") for kind in ("dta", "sqlite")]
    assert len(found[0]) == ROWS
    assert all(other == found[0] for other in found)


def made_of(context: AppContext, folder: Path, name: str) -> dict[str, str]:
    """The pseudonym of each text of the column in a file."""
    spec = SourceSpec(name)
    store = DataStore.open(spec, folder, context.workspace, CancelToken(), silent)
    made = store.pseudonyms("person", secret(context), 26, CancelToken(), silent).table
    store.close()
    return dict(zip(made.column("v").to_pylist(), made.column("p").to_pylist(), strict=True))


def test_numbers_with_zeros_in_front_go_with_numbers_where_the_plan_says_so(
    tmp_path: Path, context: AppContext
) -> None:
    padded = [{**row, "person": row["person"] and f"000{row['person']}"} for row in people()]
    write_csv(tmp_path / "b.csv", padded)
    made = released(context, write_plan(tmp_path, "b.csv", LINKED + ', values = "number"'))
    plain = {row["person"]: linked(context, row["person"]) for row in people()}
    assert pseudonyms(made) == {plain[key] if key else "" for key in plain}


def linked(context: AppContext, person: str) -> str:
    return pseudonym(secret(context), "domain", "", "persons", person)


def test_a_release_is_verified_with_the_source_where_the_key_is_at_hand(
    tmp_path: Path, context: AppContext, release: Path
) -> None:
    source = release.parent / "a.csv"
    with_key = verified(context, release, source)
    assert with_key.ok
    assert status_of(with_key, MADE_AGAIN) is CheckStatus.CONFIRMED
    with AppContext.open(tmp_path) as other:
        without = verified(other, release, source)
        assert status_of(without, MADE_AGAIN) is CheckStatus.NOT_CHECKABLE
        make_key(other, "people", silent)
        another = verified(other, release, source)
    assert without.ok
    assert status_of(another, MADE_AGAIN) is CheckStatus.NOT_CHECKED
    claim = "at least 5 different pseudonyms of person in every class"
    assert status_of(without, claim) is CheckStatus.CONFIRMED
    assert verified(context, release / "public").ok


def test_without_the_key_who_is_linked_with_whom_is_compared_with_the_source(
    tmp_path: Path, release: Path
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(release, forged)
    table = forged / "public" / "microdata.csv"
    header, *rows = (line.split(",") for line in table.read_text("utf-8").splitlines())
    place = header.index("person")
    other = next(row for row in rows if row[place] not in ("", rows[-1][place]))
    other[place] = rows[-1][place]  # two people pass for one
    table.write_text("\n".join(",".join(row) for row in [header, *sorted(rows)]) + "\n", "utf-8")
    seal_again(forged, manifest_of(forged))
    with AppContext.open(tmp_path / "home") as context:
        found = verified(context, forged, release.parent / "a.csv")
    assert status_of(found, MADE_AGAIN) is CheckStatus.FAILED


@pytest.mark.parametrize("other", ["identifiers", "shorter ones", "one of them"])
def test_what_is_no_pseudonym_is_found_without_key_or_source(
    tmp_path: Path, release: Path, context: AppContext, other: str
) -> None:
    """One to one in place of the pseudonyms, so that who is linked with whom stays the same."""
    forged = tmp_path / "forged"
    shutil.copytree(release, forged)
    table = forged / "public" / "microdata.csv"
    header, *rows = (line.split(",") for line in table.read_text("utf-8").splitlines())
    place, number = header.index("person"), dict[str, str]()
    for row in rows:
        name = row[place]
        raw = number.setdefault(name, str(7_000_000 + 31 * len(number)))
        if name and (other != "one of them" or len(number) == 1):
            row[place] = name[:9] if other == "shorter ones" else raw
    table.write_text("\n".join(",".join(row) for row in [header, *sorted(rows)]) + "\n", "utf-8")
    seal_again(forged, manifest_of(forged))
    for found in (forged, forged / "public"):
        report = verified(context, found)
        claim = "pseudonyms of person have the form of pseudonyms"
        assert status_of(report, claim) is CheckStatus.FAILED


def test_an_evidence_that_names_the_key_otherwise_is_not_believed(
    tmp_path: Path, context: AppContext, release: Path
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(release, forged)
    evidence = forged / "internal" / "evidence.json"
    plain = json.loads(evidence.read_text("utf-8"))
    plain["plan"]["attributes"]["person"]["pseudonym"]["key"] = "others"
    evidence.write_bytes(canonical(plain))
    seal_again(forged, manifest_of(forged))
    assert not verified(context, forged, release.parent / "a.csv").ok


def test_a_deleted_key_makes_no_pseudonyms(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", people())
    with AppContext.open(tmp_path / "home") as home:
        key = make_key(home, "people", silent)
        delete_key(home, "people", key.id, silent)
        with pytest.raises(InputError) as caught:
            released(home, write_plan(tmp_path, "a.csv"))
    assert caught.value.code == "pseudonym-key.missing"


def test_keys_in_the_folder_of_the_plan_are_refused(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", people())
    plan = write_plan(tmp_path, "a.csv")
    with AppContext.open(tmp_path / "sub" / "home") as home:
        make_key(home, "people", silent)
        with pytest.raises(InputError) as caught:
            released(home, plan)
    assert caught.value.code == "pseudonym-key.place"
    assert not plan.with_suffix(".out").exists()


def test_words_and_page_say_what_others_can_join(tmp_path: Path, context: AppContext) -> None:
    write_csv(tmp_path / "a.csv", people())
    for more, says, not_says in (
        ("", "made for this release only", "linkage domain"),
        (LINKED, "linkage domain “persons”", "for this release alone"),
    ):
        release = released(context, write_plan(tmp_path, "a.csv", more))
        manifest = json.loads((release / "public" / "manifest.json").read_text())
        limits = " ".join(manifest["guarantee"]["does_not_cover"])
        assert says in limits
        assert not_says not in limits
        assert "stays secret" in " ".join(manifest["guarantee"]["assumes"])
        assert "replaced by a pseudonym" in (release / "public" / "about.html").read_text()
        assert "replaced by a pseudonym" in (release / "internal" / "report.html").read_text()


@pytest.mark.parametrize("key", ["pseudonym_domains", "pseudonyms_of_groups", "pseudonym"])
def test_a_manifest_that_is_silent_on_a_linkage_is_not_verified(
    tmp_path: Path, context: AppContext, key: str
) -> None:
    write_csv(tmp_path / "a.csv", people())
    release = released(context, write_plan(tmp_path, "a.csv", LINKED + ', of = "group"'))
    path = release / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["guarantee"]["parameters"][key]
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    assert not verified(context, release / "public").ok


def test_rows_of_too_few_persons_are_refused_and_nothing_is_written(
    tmp_path: Path, context: AppContext
) -> None:
    rows = people()
    for row in rows:
        row["person"] = "7000001" if row["age"] == "30" else row["person"]
    write_csv(tmp_path / "a.csv", rows)
    plan = write_plan(tmp_path, "a.csv")
    with pytest.raises(RefusedError) as caught:
        released(context, plan)
    assert caught.value.code == "pseudonym.few-persons"
    assert "only 1 person" in caught.value.sentence
    assert not plan.with_suffix(".out").exists()
    release = released(context, write_plan(tmp_path, "a.csv", 'of = "group"'))
    assert verified(context, release).ok
    text = (release / "public" / "manifest.json").read_text()
    assert "Groups: person shows which rows belong to the same group" in text


def test_a_copy_of_the_identifier_and_several_rows_of_a_person_are_pointed_out(
    tmp_path: Path, context: AppContext
) -> None:
    rows = [{**row, "number": f"N{row['person']}"} for row in people()]
    rows += rows[:40]
    write_csv(tmp_path / "a.csv", rows)
    events: list[Event] = []
    release = released(context, write_plan(tmp_path, "a.csv"), events)
    codes = {event.code for event in events if isinstance(event, Note)}
    assert {"pseudonym.same-column", "pseudonym.several-rows"} <= codes
    notes = json.loads((release / "internal" / "evidence.json").read_text())["notes"]
    assert any("`number` is released and corresponds one to one to" in note for note in notes)
    evidence = json.loads((release / "internal" / "evidence.json").read_text())
    found = {"pseudonyms": ROWS - 1, "several": 39, "most": 2, "few": 0, "alone": 0}
    assert evidence["risk"]["linkage"] == {"person": found}
    assert release_risk(context, release, CancelToken()).counted["linkage"] == {"person": found}
    assert verified(context, release).ok


@pytest.mark.parametrize(
    "protection",
    [
        'method = "l-diverted"\nl = 2\nsensitive = ["income"]',
        'method = "dp-cube"\nepsilon = 1\ndimensions = ["age"]\ndomains = { age = ["30", "31"] }',
    ],
)
def test_methods_whose_guarantee_a_link_would_break_refuse_pseudonyms(
    tmp_path: Path, context: AppContext, protection: str
) -> None:
    from dpdesk.app.running import run_plan

    write_csv(tmp_path / "a.csv", people())
    plan = write_plan(tmp_path, "a.csv", protection=protection)
    with pytest.raises(InputError) as caught:
        run_plan(context, plan, tmp_path / "out", CancelToken(), silent)
    assert caught.value.code == "plan.no-pseudonyms"
    assert not (tmp_path / "out").exists()


def test_a_plan_whose_key_is_not_here_is_refused_before_the_data_are_read(
    tmp_path: Path, context: AppContext
) -> None:
    plan = write_plan(tmp_path, "not-there.csv")
    plan.write_text(plan.read_text().replace('"people"', '"others"'))
    with pytest.raises(DpdeskError) as caught:
        released(context, plan)
    assert caught.value.code == "pseudonym-key.missing"


def test_the_key_lies_in_its_file_and_in_no_other_and_public_has_no_identifier(
    context: AppContext, release: Path
) -> None:
    key, value = PseudonymKeys(context.home).keys()[0], secret(context)
    forms = [value, value.hex().encode(), value.hex().upper().encode(), b64encode(value)]
    holding = [
        path
        for folder in (context.home, release.parent)
        for path in folder.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]
    assert holding == [key.path]
    public = b"".join(p.read_bytes() for p in (release / "public").rglob("*") if p.is_file())
    assert not any(row["person"].encode() in public for row in people() if row["person"])
    assert key.id.encode() not in public


def test_labels_of_an_identifier_are_not_published(tmp_path: Path, context: AppContext) -> None:
    frame = pd.DataFrame(people())
    for name in ("age", "person", "income"):
        frame[name] = pd.to_numeric(frame[name])
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "a.sav"),
        column_labels={"person": "Number of the person"},
        variable_value_labels={"person": {7_000_000: "Zora Quill"}, "age": {30: "thirty"}},
        missing_ranges={"person": [7_000_031]},
    )
    release = released(context, write_plan(tmp_path, "a.sav"))
    public = b"".join(p.read_bytes() for p in (release / "public").rglob("*") if p.is_file())
    assert b"Zora" not in public
    assert b"7000031" not in public
    assert b"thirty" in public
    variables = json.loads((release / "public" / "variables.json").read_text())["variables"]
    found = next(each for each in variables if each["name"] == "person")
    assert found["label"] == "Number of the person"
    assert sum(row["person"] == "" for row in table(release)) == 2  # one is declared missing


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "sav", "dta", "xpt"])
def test_every_format_carries_pseudonyms(
    tmp_path: Path, context: AppContext, release: Path, form: str
) -> None:
    out = tmp_path / f"again.{form}"
    export_release(release, form, out, context.workspace, CancelToken(), silent)
    store = DataStore.open(SourceSpec(out.name), tmp_path, context.workspace, CancelToken(), silent)
    name = next(column for column in store.columns if column.lower() == "person")
    found = {each.value for each in store.value_counts(name, CancelToken())}
    store.close()
    assert found == pseudonyms(release)


def test_the_checklist_asks_who_needs_the_link(context: AppContext, release: Path) -> None:
    found = check_release(context, release, CancelToken(), silent)
    item = next(each for each in found.checklist.items if each.id == "pseudonyms")
    assert item.status is ItemStatus.REVIEW
    assert f"holds {ROWS - 1} different pseudonyms of persons; no two rows" in item.evidence
    assert "for this release alone" in item.evidence
    assert "who has the key" in item.advice
