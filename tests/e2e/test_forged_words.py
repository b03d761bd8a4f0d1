"""Whoever seals a release again cannot promise more than was checked, nor keep quiet on limits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.risk import assess
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from tests.helpers import releases as town
from tests.helpers.forging import canonical, manifest_of, report_again, seal_again

Forge = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def genuine(plan: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.release(plan, tmp_path_factory.mktemp("made") / "release", context).out


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(genuine, tmp_path / "release"))


def check(path: Path, context: AppContext, source: Path | None = None) -> VerifyReport:
    return verify_release(path, context.registry, CancelToken(), silent, source, context.workspace)


def reasons(report: VerifyReport) -> str:
    return "\n".join(f"{failure.path}: {failure.reason}" for failure in report.failures)


WORDS: dict[str, Forge] = {
    "a sentence added": lambda g: g.update(claim=g["claim"] + " No one learns anything."),
    "a number in words": lambda g: g.update(claim=g["claim"].replace("1 in 5", "one in a million")),
    "assumptions left out": lambda g: g.update(assumes=[]),
    "limits left out": lambda g: g.update(does_not_cover=g["does_not_cover"][1:]),
    "limits removed": lambda g: g.pop("does_not_cover"),
    "limits of another kind": lambda g: g.update(does_not_cover=3),
    "another promise": lambda g: g.update(also="every class holds 5 different illnesses"),
    "another parameter": lambda g: g["parameters"].update(l=5),
    "a column under two roles": lambda g: g["parameters"].update(weight=["illness"]),
    "a column under another role": lambda g: g["parameters"].update(
        insensitive=g["parameters"].pop("sensitive")
    ),
    "a column that is not there": lambda g: g["parameters"].update(weight=["nothing"]),
    "a role that is not a list": lambda g: g["parameters"].update(sensitive=7),
}


@pytest.mark.parametrize("name", WORDS)
def test_changed_words_of_the_guarantee_fail_even_when_sealed(
    copy: Path, context: AppContext, name: str
) -> None:
    manifest: Any = manifest_of(copy)
    WORDS[name](manifest["guarantee"])
    seal_again(copy, manifest)
    for place in (copy, copy / "public"):
        report = check(place, context)
        assert not report.ok
        assert any(failure.path.endswith("manifest.json") for failure in report.failures) or (
            "role" in reasons(report)
        )


def test_a_column_that_the_guarantee_does_not_name_fails_even_when_sealed(
    copy: Path, context: AppContext
) -> None:
    path = copy / "public/microdata.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([f"{header},nickname", *(f"{row},x" for row in rows)]) + "\n")
    seal_again(copy, manifest_of(copy))
    for place in (copy, copy / "public"):
        report = check(place, context)
        assert "gives `nickname` 0 roles" in reasons(report)


def test_a_page_that_says_something_else_fails_even_when_sealed(
    copy: Path, context: AppContext
) -> None:
    page = copy / "public/about.html"
    page.write_text(page.read_text("utf-8").replace("</h1>", ", k = 50</h1>"))
    seal_again(copy, manifest_of(copy))
    for place in (copy, copy / "public"):
        report = check(place, context)
        assert [failure.path.rpartition("/")[2] for failure in report.failures] == ["about.html"]


def test_a_page_of_other_texts_is_said_to_be_unchecked(copy: Path, context: AppContext) -> None:
    page = copy / "public/about.html"
    page.write_text(page.read_text("utf-8").replace("</h1>", " in other words</h1>"))
    seal_again(copy, manifest_of(copy) | {"texts": {"language": "en", "sha256": "0" * 64}})
    statuses = {c.claim: c.status for c in check(copy, context).claims}
    assert statuses["about.html says what the manifest and the table say"] is (
        CheckStatus.NOT_CHECKED
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("objective", "magic"), ("algorithm", "magic"), ("max_suppression", True), ("model", 7)],
)
def test_settings_that_no_plan_could_have_fail_even_when_sealed(
    copy: Path, context: AppContext, key: str, value: object
) -> None:
    manifest: Any = manifest_of(copy)
    manifest["parameters"][key] = value
    seal_again(copy, manifest)
    assert "manifest.json" in reasons(check(copy / "public", context))


def test_public_fields_that_are_not_listed_fail_even_when_sealed(
    copy: Path, context: AppContext
) -> None:
    manifest: Any = manifest_of(copy)
    seal_again(copy, manifest | {"approved_by": "everybody"})
    fault = "manifest.json: `approved_by` is not expected there"
    assert fault in reasons(check(copy / "public", context))
    manifest["parameters"]["l"] = 5
    seal_again(copy, manifest)
    found = check(copy / "public", context)
    assert not found.ok
    statuses = {c.claim: c.status for c in found.claims}
    assert statuses["parameters.l"] is CheckStatus.FAILED


EVIDENCE: dict[str, Forge] = {
    "other roles": lambda e: e["roles"].update(illness="identifier"),
    "no roles": lambda e: e.pop("roles"),
    "another k": lambda e: e["plan"]["protection"].update(k=6),
    "another share": lambda e: e["plan"]["protection"].update(max_suppression=1),
    "another role in the plan": lambda e: (
        e["plan"]["attributes"]["illness"].update(role="quasi-identifier"),
        e["roles"].update(illness="quasi-identifier"),
    ),
    "no plan": lambda e: e.pop("plan"),
    "a plan that is none": lambda e: e.update(plan={"version": 1}),
    "no columns": lambda e: e["source"].pop("columns"),
    "fewer rows of the source": lambda e: e["source"].update(rows=e["source"]["rows"] - 1),
    "rows of the source that are not a number": lambda e: e["source"].update(rows=True),
    "a smaller risk": lambda e: e["risk"]["after"].update(highest_risk=0.001),
    "no risk": lambda e: e.pop("risk"),
    "another figure": lambda e: next(
        figure for figure in e["figures"] if figure["key"] == "loss"
    ).update(value=0.0),
    "a figure left out": lambda e: e.update(
        figures=[figure for figure in e["figures"] if figure["key"] != "classes"]
    ),
    "another version": lambda e: e.update(dpdesk="9.9.9"),
    "fewer rows alone": lambda e: e["risk"].update(rows_alone=e["risk"]["rows_alone"] - 1),
    "no rows above the threshold": lambda e: e["risk"]["after"].update(rows_above_threshold=1),
    "another threshold": lambda e: e["risk"]["after"].update(threshold=0.01),
    "rows that are alone": lambda e: e["risk"]["after"].update(sample_uniques=1),
    "rows in small classes": lambda e: e["risk"]["after"]["violations"].update({"50": 0}),
    "sizes of classes": lambda e: e["risk"]["after"]["class_sizes"][-1].update(classes=0),
    "a size of classes left out": lambda e: e["risk"]["after"]["class_sizes"].pop(),
    "other columns at risk": lambda e: e["risk"].update(quasi_identifiers=["age"]),
    "fewer rows at risk before": lambda e: e["risk"]["before"].update(rows=299),
    "a smaller loss": lambda e: e["utility"].update(loss=0.0),
    "fewer rows left out": lambda e: e["utility"].update(suppressed_share=0.0),
    "another level": lambda e: e["utility"]["attributes"][0].update(level=1),
    "another height": lambda e: e["utility"]["attributes"][0].update(height=7),
    "another column recoded": lambda e: e["recoded"][0].update(attribute="town"),
    "another label": lambda e: e["recoded"][0]["groups"][0].update(released="18-99"),
    "other widths of the plan": lambda e: e["plan"]["attributes"]["age"]["hierarchy"].update(
        widths=[10, 20]
    ),
    "a label of the hierarchy": lambda e: e["hierarchies"]["age"][0].__setitem__(1, "18-99"),
    "other values of the hierarchy": lambda e: e["hierarchies"].update(
        age=[[f"about {leaf}", *more] for leaf, *more in e["hierarchies"]["age"]]
    ),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_that_cannot_have_led_to_the_manifest_fails_even_when_sealed(
    copy: Path, context: AppContext, name: str
) -> None:
    path = copy / "internal/evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    EVIDENCE[name](evidence)
    path.write_bytes(canonical(evidence))
    seal_again(copy, manifest_of(copy))
    assert "internal/evidence.json" in reasons(check(copy, context))


@pytest.mark.parametrize("level", [1, 2, 9])
def test_a_level_that_the_released_values_do_not_have_is_found_in_the_evidence(
    copy: Path, context: AppContext, level: int
) -> None:
    """The levels are public and the hierarchies are not; the page and the seal fit."""
    manifest: Any = manifest_of(copy)
    assert manifest["result"]["node"]["age"] == 0
    manifest["result"]["node"]["age"] = level
    path = copy / "internal/evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    for entry in (evidence["recoded"][0], evidence["utility"]["attributes"][0]):
        assert entry["attribute"] == "age"
        entry["level"] = level
    path.write_bytes(canonical(evidence))
    seal_again(copy, manifest)
    found = reasons(check(copy, context))
    assert any(words in found for words in ("of this level", "the level of", "of the hierarchies"))


@pytest.mark.parametrize("version", ["<script>", "", "version 7", "1" * 100])
def test_a_version_that_is_none_fails_even_when_sealed(
    copy: Path, context: AppContext, version: str
) -> None:
    seal_again(copy, manifest_of(copy) | {"dpdesk": version})
    assert "public/manifest.json: `dpdesk` is" in reasons(check(copy, context))


def test_with_the_source_a_change_in_any_column_is_found(
    copy: Path, plan: Path, context: AppContext
) -> None:
    path = copy / "public/microdata.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    changed = [
        row.removesuffix(",cold") + ",none" if row.endswith(",cold") else row for row in rows
    ]
    path.write_text("\n".join([header, *sorted(changed)]) + "\n", "utf-8")
    seal_again(copy, manifest_of(copy))
    source = plan.parent / town.SOURCE
    assert "made again from the source, the table is different" in reasons(
        check(copy, context, source)
    )


def test_with_the_source_checks_that_were_never_made_are_found(
    copy: Path, plan: Path, context: AppContext
) -> None:
    path = copy / "internal/evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    evidence["checks"][0]["found"] = "counted by someone"
    path.write_bytes(canonical(evidence))
    report_again(copy, context.registry)
    seal_again(copy, manifest_of(copy))
    found = check(copy, context)
    assert found.ok
    statuses = {each.claim: each.status for each in found.claims}
    assert statuses["figures of the evidence are those of the source"] is CheckStatus.NEEDS_SOURCE
    assert "`checks` are not those" in reasons(check(copy, context, plan.parent / town.SOURCE))


def test_with_the_source_the_genuine_table_is_made_again(
    genuine: Path, plan: Path, context: AppContext
) -> None:
    report = check(genuine, context, plan.parent / town.SOURCE)
    statuses = {c.claim: c.status for c in report.claims}
    assert statuses["microdata.csv is what the source gives"] is CheckStatus.CONFIRMED
    assert not list(context.workspace.folder.rglob("*.csv"))


def test_the_risk_of_a_forged_release_is_not_told(copy: Path, context: AppContext) -> None:
    told = assess(context, copy, CancelToken(), silent)
    assert told.counted
    manifest: Any = manifest_of(copy)
    manifest["guarantee"]["claim"] += " No one learns anything."
    seal_again(copy, manifest)
    with pytest.raises(RefusedError) as caught:
        assess(context, copy, CancelToken(), silent)
    assert caught.value.code == "risk.not-verified"
    assert "public/manifest.json" in caught.value.sentence


def test_a_column_may_have_the_name_of_a_sentence_of_the_evidence(
    plan: Path, context: AppContext, tmp_path: Path
) -> None:
    """What is a name in one place may be made of parts in another one."""
    name, near = f"k = {town.K}", Path(shutil.copytree(plan.parent, tmp_path / "near"))
    source, other = near / town.SOURCE, near / plan.name
    source.write_text(source.read_text("utf-8").replace(",age,", f",{name},", 1), "utf-8")
    other.write_text(plan.read_text("utf-8").replace("age = {", f'"{name}" = {{'), "utf-8")
    made = town.release(other, tmp_path / "release", context).out
    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    assert name in evidence["messages"]  # else nothing is tried
    for given in (None, source):
        report = check(made, context, given)
        assert report.ok, reasons(report)
        assert not report.not_checked()
