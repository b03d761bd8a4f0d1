"""Making a release: what is public, what is internal, and nothing left behind."""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app import running
from dpdesk.app.context import AppContext
from dpdesk.app.verifying import read_release, verify_release
from dpdesk.core.errors import Cancelled, InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Event, Note, StepProgress, StepStarted
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.io.store import DataStore
from dpdesk.report.printing import Printer
from tests.helpers import releases as town


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.write_source(tmp_path_factory.mktemp("source") / "zq-private-folder")


@pytest.fixture(scope="module")
def made(plan: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.release(plan, tmp_path_factory.mktemp("out") / "release", context).out


def load(path: Path) -> dict[str, object]:
    value = json.loads(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def test_the_folder_holds_the_documented_files_and_no_others(made: Path) -> None:
    assert sorted(path.relative_to(made).as_posix() for path in made.rglob("*")) == [
        "internal",
        "internal/evidence.json",
        "internal/report.html",
        "internal/report.pdf",
        "internal/seal.json",
        "public",
        "public/about.html",
        "public/manifest.json",
        "public/microdata.csv",
    ]


def test_the_manifest_has_the_documented_keys(made: Path) -> None:
    manifest = load(made / "public/manifest.json")
    assert set(manifest) == {
        "format", "dpdesk", "created", "title", "method", "parameters",
        "guarantee", "result", "commitment", "texts", "messages", "files",
    }  # fmt: skip
    assert manifest["format"] == 1
    assert manifest["method"] == "k-anonymity"
    assert manifest["parameters"] == {
        "k": 5,
        "max_suppression": 0.02,
        "model": "AG_TS",
        "algorithm": "optimal",
        "objective": "discernibility",
        "local": False,
        "missing_as": "category",
        "households": "ignore",
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(manifest["created"]))
    for name in ("microdata.csv", "about.html"):
        data = (made / "public" / name).read_bytes()
        entry = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        assert manifest["files"][name] == entry  # type: ignore[index]


def test_evidence_explains_the_commitment(made: Path, plan: Path) -> None:
    evidence = load(made / "internal/evidence.json")
    digest = hashlib.sha256((plan.parent / town.SOURCE).read_bytes()).hexdigest()
    source = evidence["source"]
    assert isinstance(source, dict)
    assert source["sha256"] == digest
    assert source["name"] == town.SOURCE
    assert source["rows"] == 300
    assert source["columns"] == [town.IDENTIFIER, "age", "town", "illness"]
    key = bytes.fromhex(str(evidence["commitment_key"]))
    expected = hmac.new(key, digest.encode("ascii"), "sha256").hexdigest()
    assert load(made / "public/manifest.json")["commitment"] == expected
    for section in ("plan", "result", "risk", "utility", "environment", "timings"):
        assert evidence[section], section


def test_every_release_has_its_own_key(
    made: Path, plan: Path, context: AppContext, tmp_path: Path
) -> None:
    again = town.release(plan, tmp_path / "again", context).out
    first, second = (load(path / "internal/evidence.json") for path in (made, again))
    assert first["commitment_key"] != second["commitment_key"]
    same = "public/microdata.csv"
    assert (made / same).read_bytes() == (again / same).read_bytes()


def test_nothing_public_tells_of_the_source(made: Path, plan: Path) -> None:
    evidence = load(made / "internal/evidence.json")
    source, result = evidence["source"], evidence["result"]
    assert isinstance(source, dict)
    assert isinstance(result, dict)
    told = [
        town.SOURCE,
        "zq-raw-register",
        str(plan.parent),
        plan.name,
        "zq-private-folder",
        str(source["sha256"]),
        str(evidence["commitment_key"]),
        town.IDENTIFIER,
        "zqid",
        town.SUPPRESSED_TOWN,
        town.SUPPRESSED_ILLNESS,
        str(made.parent),
        os.uname().nodename,
        os.uname().release,
        "seconds",
        "nodes_checked",
        "timings",
    ]
    for path in (made / "public").iterdir():
        text = path.read_text("utf-8")
        for fact in told:
            assert fact not in text, (path.name, fact)
        assert not re.search(r"\d\d:\d\d", text), path.name  # no time of day


def test_sources_that_differ_in_what_is_not_released_give_the_same_public_part(
    made: Path, plan: Path, context: AppContext, tmp_path: Path
) -> None:
    """Another identifier, another file name, another order of rows: only the commitment differs."""
    folder = tmp_path / "elsewhere"
    other = town.write_source(folder)
    header, *lines = (folder / town.SOURCE).read_text("utf-8").splitlines()
    changed = [line.replace("zqid", "other") for line in reversed(lines)]
    (folder / town.SOURCE).unlink()
    (folder / "renamed.csv").write_text("\n".join([header, *changed]) + "\n", "utf-8")
    other.write_text(other.read_text("utf-8").replace(town.SOURCE, "renamed.csv"), "utf-8")
    again = town.release(other, tmp_path / "out", context).out
    for name in ("microdata.csv", "about.html"):
        assert (again / "public" / name).read_bytes() == (made / "public" / name).read_bytes()
    first, second = load(made / "public/manifest.json"), load(again / "public/manifest.json")
    assert first.pop("commitment") != second.pop("commitment")
    assert first == second


def test_internal_does_hold_what_the_reviewer_needs(made: Path) -> None:
    """The facts looked for above are found where they belong, so the search can find them."""
    text = (made / "internal/evidence.json").read_text("utf-8")
    for fact in (town.SOURCE, town.IDENTIFIER, "seconds", "commitment_key"):
        assert fact in text


def test_suppressed_rows_and_identifiers_are_absent_and_the_rest_is_sorted(made: Path) -> None:
    with (made / "public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["age", "town", "illness"]
    assert len(rows) == 299
    assert rows == sorted(rows)
    assert read_release(made).manifest.result["rows_suppressed"] == 1


def test_the_facts_of_a_release_can_be_read_from_either_part(made: Path) -> None:
    whole, alone = read_release(made), read_release(made / "public")
    assert whole.manifest == alone.manifest
    assert whole.title == alone.title == "Town survey"
    assert whole.evidence.risk
    assert alone.internal is None
    assert alone.evidence.risk == {}


def test_a_cancel_at_any_event_leaves_nothing(
    plan: Path, context: AppContext, tmp_path: Path
) -> None:
    events = 0

    def count(event: Event) -> None:
        nonlocal events
        events += 1

    town.release(plan, tmp_path / "whole", context, report=count)
    assert events > 5
    for stop in range(events):
        token, seen = CancelToken(), 0

        def cancel(event: Event) -> None:
            nonlocal seen
            seen += 1
            if seen > stop:  # noqa: B023 - called within this turn of the loop
                token.cancel()  # noqa: B023

        out = tmp_path / f"out{stop}"
        try:
            town.release(plan, out, context, token, cancel)
        except Cancelled:
            assert not out.exists(), stop
        else:
            assert out.is_dir(), stop
        assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_progress_names_every_step(plan: Path, context: AppContext, tmp_path: Path) -> None:
    events: list[Event] = []
    town.release(plan, tmp_path / "out", context, report=events.append)
    started = [event.step for event in events if isinstance(event, StepStarted)]
    assert started[-1] == "Write the report"
    for event in events:
        if isinstance(event, StepProgress) and event.total is not None:
            assert 0 <= event.done <= event.total


def test_an_infeasible_plan_is_refused_and_leaves_nothing(
    plan: Path, context: AppContext, tmp_path: Path
) -> None:
    bad = plan.with_name("infeasible.toml")
    bad.write_text(plan.read_text("utf-8").replace("k = 5", "k = 301"), "utf-8")
    with pytest.raises(RefusedError):
        town.release(bad, tmp_path / "out", context)
    assert list(tmp_path.iterdir()) == []


def test_a_release_without_suppression_holds_every_row(
    plan: Path, context: AppContext, tmp_path: Path
) -> None:
    none = plan.with_name("none-suppressed.toml")
    text = plan.read_text("utf-8").replace("max_suppression = 0.02", "max_suppression = 0")
    none.write_text(text, "utf-8")
    made = town.release(none, tmp_path / "out", context)
    assert made.result["rows_suppressed"] == 0
    assert made.result["rows_out"] == 300


def test_settings_without_effect_are_not_shown(
    plan: Path, context: AppContext, tmp_path: Path
) -> None:
    by_hand = plan.with_name("by-hand.toml")
    text = plan.read_text("utf-8").replace("k = 5", "k = 5\nlevels = { age = 1, town = 0 }")
    by_hand.write_text(text, "utf-8")
    made = town.release(by_hand, tmp_path / "out", context).out
    assert load(made / "public/manifest.json")["parameters"] == {
        "k": 5,
        "max_suppression": 0.02,
        "model": "AG_TS",
        "levels": {"age": 1, "town": 0},
        "local": False,
        "missing_as": "category",
        "households": "ignore",
    }


def test_a_full_folder_is_refused_before_any_work(
    plan: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("the method must not run")

    monkeypatch.setattr(KAnonymity, "decide", never)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError) as caught:
        town.release(plan, tmp_path, context)
    assert caught.value.code == "out.not-empty"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_table_that_breaks_its_claim_is_never_released(
    plan: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = DataStore.write_recoded

    def one_row_moved(store: DataStore, recoding, path: Path, *others) -> int:  # type: ignore[no-untyped-def]
        rows = genuine(store, recoding, path, *others)
        lines = path.read_text("utf-8").splitlines()
        lines[-1] = lines[-1].replace("Zqsouthby", "Zqwestby")
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return rows

    monkeypatch.setattr(DataStore, "write_recoded", one_row_moved)
    with pytest.raises(RefusedError) as caught:
        town.release(plan, tmp_path / "out", context)
    assert caught.value.code == "release.check-failed"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", ["different rows", "other labels"])
def test_rows_that_no_count_tells_apart_are_compared_with_the_source_before_they_are_kept(
    fault: str, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = DataStore.write_recoded

    def wrong(store: DataStore, recoding, path: Path, *others) -> int:  # type: ignore[no-untyped-def]
        if fault == "other labels":  # both towns have the same rows
            north, south = recoding.mapping["town"].values()
            mapping = {**recoding.mapping, "town": {north: south, south: north}}
            recoding = replace(recoding, mapping=mapping)
        rows = genuine(store, recoding, path, *others)
        if fault == "different rows":  # every value is there as often, with another person
            head, *lines = list(csv.reader(path.read_text("utf-8").splitlines()))
            ill = [line[-1] for line in lines]
            lines = sorted([*line[:-1], ill[place - 1]] for place, line in enumerate(lines))
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([head, *lines])
        return rows

    plan = tmp_path / "in" / "plan.toml"
    plan.parent.mkdir()
    people = [f"{20 + n % 2},{'ns'[n // 2 % 2]},i{n % 8 // 3}" for n in range(48)]
    (plan.parent / "people.csv").write_text("\n".join(["age,town,illness", *people]), "utf-8")
    plan.write_text(
        'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
        'age = { role = "quasi-identifier" }\ntown = { role = "quasi-identifier" }\n'
        'illness = { role = "sensitive" }\n[protection]\nmethod = "k-anonymity"\nk = 3\n',
        "utf-8",
    )
    with monkeypatch.context() as patch:
        patch.setattr(DataStore, "write_recoded", wrong)
        with pytest.raises(RefusedError, match="not rows of the source") as caught:
            town.release(plan, tmp_path / "out", context)
    assert caught.value.code == "release.check-failed"
    assert not (tmp_path / "out").exists()
    assert town.release(plan, tmp_path / "out", context).out.is_dir()


def test_column_names_that_look_like_markup_are_escaped(
    context: AppContext, tmp_path: Path
) -> None:
    plan = town.write_source(tmp_path / "source")
    hostile = "<script>alert(1)</script>"
    source = plan.parent / town.SOURCE
    source.write_text(source.read_text("utf-8").replace("illness", f'"{hostile}"', 1), "utf-8")
    text = plan.read_text("utf-8").replace("illness =", f'"{hostile}" =')
    plan.write_text(text.replace("Town survey", "<img src=x onerror=alert(1)>"), "utf-8")
    made = town.release(plan, tmp_path / "out", context).out
    for page in ("public/about.html", "internal/report.html"):
        html = (made / page).read_text("utf-8")
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_fills_up_leaves_nothing_behind(
    small_disk: Path, context: AppContext, tmp_path: Path
) -> None:
    plan = town.write_source(tmp_path / "source", rows=40_000)
    with pytest.raises(StorageError) as caught:
        town.release(plan, small_disk / "out", context)
    assert caught.value.code == "storage.disk-full"
    assert caught.value.line.startswith(f"{small_disk}/out: the disk is full")
    assert "DPDESK_HOME" not in caught.value.line
    assert caught.value.exit_code == 2
    assert list(small_disk.iterdir()) == []


def test_a_column_released_unchanged_that_singles_rows_out_is_noted_inside_only(
    context: AppContext, tmp_path: Path
) -> None:
    plan = town.write_source(tmp_path / "source")
    role = f'{town.IDENTIFIER} = {{ role = "identifier" }}\n'
    plan.write_text(plan.read_text("utf-8").replace(role, ""), "utf-8")
    events: list[Event] = []
    out = town.release(plan, tmp_path / "out", context, report=events.append).out
    said = [event.sentence for event in events if isinstance(event, Note)]
    assert [text for text in said if f"`{town.IDENTIFIER}` is released unchanged" in text]
    notes = load(out / "internal/evidence.json")["notes"]
    assert isinstance(notes, list)
    assert sum("can find the row. Should" in text for text in notes) == 1
    assert "can find the row. Should" not in (out / "public/about.html").read_text("utf-8")


def test_columns_with_few_values_are_not_noted(made: Path) -> None:
    notes = load(made / "internal/evidence.json")["notes"]
    assert isinstance(notes, list)
    assert not any("can find the row" in text for text in notes)


def test_a_release_whose_report_cannot_be_printed_is_whole_without_it(
    plan: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PRINTER", Printer("dpdesk.no_such_module:pdf_of"))
    notes: list[Event] = []
    made = town.release(plan, tmp_path / "release", context, report=notes.append).out
    assert not (made / "internal/report.pdf").exists()
    assert verify_release(made, context.registry, CancelToken(), notes.append).ok
    assert any(isinstance(note, Note) and note.code == "report.not-printed" for note in notes)
