"""Evidence that says otherwise than it was: how the source was read, and which notes there were."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.evidence_checks import HIERARCHY_FILES_CLAIM, RECORD_CLAIM
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.engine.methods.registered import default_registry
from tests.helpers import releases as town
from tests.helpers.forging import canonical, manifest_of, report_again, seal_again

pytestmark = pytest.mark.cheap_prints


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text with a line of nothing, which reading it notes; its encoding is named in the plan."""
    plan = town.write_source(tmp_path_factory.mktemp("source"))
    file = plan.parent / town.SOURCE
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*lines[:50], "", *lines[50:]]) + "\n", "utf-8")
    text = plan.read_text("utf-8")
    plan.write_text(text.replace("[source]\n", '[source]\nencoding = "UTF8"\n'), "utf-8")
    return file


@pytest.fixture(scope="module")
def genuine(context: AppContext, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = source.parent / "zq-plan.toml"
    return town.release(plan, tmp_path_factory.mktemp("out") / "release", context).out


def forged(genuine: Path, folder: Path, forge: Callable[[dict[str, Any]], None]) -> Path:
    """A copy with other evidence, in which the report and the seal agree with it."""
    copy = Path(shutil.copytree(genuine, folder / "release"))
    evidence = json.loads((copy / "internal/evidence.json").read_text("utf-8"))
    forge(evidence)
    (copy / "internal/evidence.json").write_bytes(canonical(evidence))
    report_again(copy, default_registry())
    seal_again(copy, manifest_of(copy))
    return copy


@pytest.mark.parametrize("change", [1, -1, None])
def test_a_size_of_the_source_that_was_forged_is_found(
    genuine: Path, source: Path, tmp_path: Path, change: int | None
) -> None:
    def forge(evidence: dict[str, Any]) -> None:
        recorded = evidence["source"]
        assert recorded["bytes"] == source.stat().st_size
        if change is None:
            del recorded["bytes"]
        else:
            recorded["bytes"] += change

    found = failures(forged(genuine, tmp_path, forge), source)
    assert any("source, bytes" in said or "expected" in said for said in found), found


def test_evidence_of_earlier_versions_knows_no_size(
    genuine: Path, source: Path, tmp_path: Path
) -> None:
    """Their texts are others too, so that the key is not asked for."""

    def forge(evidence: dict[str, Any]) -> None:
        del evidence["source"]["bytes"]

    copy = forged(genuine, tmp_path, forge)
    said = {**manifest_of(copy), "texts": {"language": "en", "sha256": "0" * 64}}
    (copy / "public/manifest.json").write_bytes(canonical(said))
    seal_again(copy, said)
    assert failures(copy, source) == []


def failures(release: Path, source: Path | None = None) -> list[str]:
    found = verify_release(release, default_registry(), CancelToken(), silent, source)
    return [failure.reason for failure in found.failures]


def test_the_genuine_release_verifies(genuine: Path, source: Path) -> None:
    assert failures(genuine) == []
    assert failures(genuine, source) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("delimiter", ";"),
        ("encoding", "cp1252"),
        ("encoding", "no-such-encoding"),
        ("decimal", ","),
        ("quote", "'"),
        ("escape", "\\"),
        ("header", False),
        ("skip", 3),
        ("missing", ["", "none"]),
    ],
)
def test_a_plan_that_asks_for_another_reading_than_was_used_is_found(
    genuine: Path, tmp_path: Path, key: str, value: object
) -> None:
    def forge(evidence: dict[str, Any]) -> None:
        evidence["plan"]["source"][key] = value

    assert any(key in reason for reason in failures(forged(genuine, tmp_path, forge)))


def test_a_note_that_was_taken_out_is_found_where_the_source_gives_it_again(
    genuine: Path, source: Path, tmp_path: Path
) -> None:
    evidence = json.loads((genuine / "internal/evidence.json").read_text("utf-8"))
    read = [f"{source.name}: {note}" for note in evidence["source"]["reading"]["notes"]]
    assert read
    assert set(read) <= set(evidence["notes"])

    def forge(said: dict[str, Any]) -> None:
        said["notes"] = [note for note in said["notes"] if note != read[0]]

    copy = forged(genuine, tmp_path, forge)
    assert any("`notes` do not say" in reason for reason in failures(copy, source))


def test_a_hierarchy_that_the_plan_makes_of_values_is_compared_whatever_texts_are_named(
    genuine: Path, source: Path, tmp_path: Path
) -> None:
    said = {**manifest_of(genuine), "texts": {"language": "en", "sha256": "0" * 64}}

    def found(forge: Callable[[list[list[str]]], object], folder: Path) -> list[str]:
        copy = Path(shutil.copytree(genuine, folder))
        place = copy / "internal/evidence.json"
        evidence = json.loads(place.read_text("utf-8"))
        assert "hierarchy" not in evidence["plan"]["attributes"]["town"]
        forge(evidence["hierarchies"]["town"])
        place.write_bytes(canonical(evidence))
        seal_again(copy, said)
        return failures(copy, source)

    def another(rows: list[list[str]]) -> None:
        """Another label at the top, which is not the level of the release."""
        rows[:] = [[*row[:-1], "anywhere"] for row in rows]

    assert found(lambda rows: None, tmp_path / "genuine") == []
    reasons = found(another, tmp_path / "forged")
    assert any("`hierarchies, town`" in reason for reason in reasons), reasons


@pytest.mark.parametrize("above", [False, True], ids=["beside the plan", "above the plan"])
def test_hierarchies_are_compared_with_the_files_of_the_plan_where_these_are_found(
    context: AppContext, tmp_path: Path, above: bool
) -> None:
    plan = town.write_source(tmp_path / "study")
    source, groups = plan.parent / town.SOURCE, plan.parent / "towns.csv"
    with source.open(encoding="utf-8", newline="") as stream:
        names = sorted({row["town"] for row in csv.DictReader(stream)})
    rows = [f"{name};{'north' if place % 2 else 'south'};*" for place, name in enumerate(names)]
    groups.write_text("\n".join([*rows, ""]), "utf-8")
    text = plan.read_text("utf-8")
    given = 'town = { role = "quasi-identifier", hierarchy = "towns.csv" }'
    text = text.replace('town = { role = "quasi-identifier" }', given)
    if above:
        plan = plan.parent / "plans" / plan.name
        plan.parent.mkdir()
        text = text.replace(f'"{town.SOURCE}"', f'"../{town.SOURCE}"')
        text = text.replace("towns.csv", "../towns.csv")
    plan.write_text(text, "utf-8")
    made = town.release(plan, tmp_path / "release", context).out

    def found() -> ClaimCheck:
        report = verify_release(made, context.registry, CancelToken(), silent, source)
        assert report.ok is (report.failures == ())
        return next(one for one in report.claims if one.claim == HIERARCHY_FILES_CLAIM)

    assert found().status is CheckStatus.CONFIRMED
    swapped = groups.read_text("utf-8").replace("north", "#").replace("south", "north")
    groups.write_text(swapped.replace("#", "south"), "utf-8")
    assert found().status is CheckStatus.FAILED
    assert "either the file or the release was changed since" in found().found
    groups.unlink()
    assert found().status is CheckStatus.NEEDS_SOURCE


def test_recorded_notes_that_may_have_been_taken_away_are_named(
    genuine: Path, source: Path, tmp_path: Path
) -> None:
    def forge(evidence: dict[str, Any]) -> None:
        evidence["recorded_notes"] = []

    release = forged(genuine, tmp_path, forge)
    found = verify_release(release, default_registry(), CancelToken(), silent, source)
    (record,) = (claim for claim in found.claims if claim.claim == RECORD_CLAIM)
    assert "recorded_notes" in record.found
