"""The checklist of a release with drawn values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.policy import Policy
from dpdesk.project.review.votes import ItemStatus as Status
from tests.helpers import clinic
from tests.helpers.forging import manifest_of, seal_again

ROLES = 'age = { role = "quasi-identifier" }\ntown = { role = "quasi-identifier" }'


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
    return clinic.release(clinic.write_plan(folder, attributes=ROLES), folder / "out", context).out


def checklist(
    context: AppContext, path: Path, source: Path | None = None, **policy: Any
) -> Checklist:
    rules = Policy.from_plain({"version": 1, **policy}, "policy") if policy else None
    return check_release(context, path, CancelToken(), silent, rules, source).checklist


def test_the_questions_are_those_of_drawn_values(context: AppContext, made: Path) -> None:
    found = checklist(context, made)
    stands = {item.id: item.status for item in found.items}
    assert stands["verified"] is Status.PASS
    assert stands["drawn-values"] is Status.REVIEW
    assert "33.3" in found.item("drawn-values").evidence
    assert "the rarest value of" in found.item("drawn-values").evidence
    assert stands["known-others"] is Status.REVIEW
    assert stands["only-release"] is Status.REVIEW
    assert stands["removed"] is Status.PASS
    assert "1 row was removed" in found.item("removed").evidence
    assert not {"homogeneous", "diversity", "smallest-class", "uniques"} & set(stands)


def test_linkage_counts_whom_unchanged_columns_single_out(context: AppContext, made: Path) -> None:
    item = checklist(context, made).item("linkage")
    assert item.status is Status.REVIEW
    assert "can be distinguished from all others" in item.evidence
    assert "give `k` in the plan" in item.advice


def test_drawn_columns_are_not_called_unchanged(context: AppContext, made: Path) -> None:
    found = checklist(context, made, limits={"maximum_unique_rows": 0})
    for item in found.items:
        assert "`illness` is released unchanged" not in item.evidence
        if item.id == "own-values":
            assert "illness" not in item.evidence
            assert "job" not in item.evidence


def test_the_policy_may_ask_for_a_larger_l(context: AppContext, made: Path) -> None:
    assert checklist(context, made, limits={"minimum_l": 4}).item("drawn-values").status is (
        Status.FAIL
    )
    assert checklist(context, made, limits={"minimum_l": 3}).item("drawn-values").status is (
        Status.REVIEW
    )


def test_drawing_has_no_optimum(context: AppContext, made: Path) -> None:
    found = checklist(context, made, require_proven_optimal=True)
    assert found.item("optimum").status is Status.NOT_APPLICABLE


def test_the_source_settles_the_rows(context: AppContext, folder: Path, made: Path) -> None:
    assert checklist(context, made).item("source").status is Status.REVIEW
    item = checklist(context, made, folder / clinic.SOURCE).item("source")
    assert item.status is Status.PASS
    assert "row by row" in item.evidence


def test_with_k_the_questions_about_classes_are_asked_too(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    lines = 'l = 3\nsensitive = ["illness"]\nk = 3\nmax_suppression = 0.3'
    plan = clinic.write_plan(folder, lines, ROLES)
    found = checklist(context, clinic.release(plan, tmp_path / "out", context).out)
    stands = {item.id: item.status for item in found.items}
    assert {"smallest-class", "uniques", "suppression", "one-column-more"} <= set(stands)
    assert "homogeneous" not in stands


@pytest.mark.parametrize(("role", "status"), [("identifier", "PASS"), ("insensitive", "REVIEW")])
def test_k_does_not_pass_for_columns_that_others_may_know(
    context: AppContext, tmp_path: Path, role: str, status: str
) -> None:
    """k makes rows alike in the quasi-identifiers; a column beside them still finds each person."""
    rows = [f"p{number},{number % 2},{'abcd'[number % 4]}" for number in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(["code,sex,ill", *rows, ""]), "utf-8")
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "d.csv"\n[attributes]\nsex = { role = "quasi-identifier" }\n'
        f'code = {{ role = "{role}" }}\n[protection]\n'
        'method = "l-diverted"\nl = 2\nk = 2\nsensitive = ["ill"]\n',
        "utf-8",
    )
    made = run_plan(context, tmp_path / "plan.toml", tmp_path / "out", CancelToken(), silent).out
    item = checklist(context, made).item("linkage")
    assert item.status is Status[status]
    assert ("40 of 40 rows (100 %) can be distinguished from all others" in item.evidence) is (
        role == "insensitive"
    )
    assert ("`code` is released unchanged" in item.evidence) is (role == "insensitive")


def test_a_manifest_without_its_claim_fails_in_words(
    context: AppContext, made: Path, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    manifest = manifest_of(copy)
    manifest["guarantee"]["parameters"] = {}  # type: ignore[index]
    manifest["result"] = {}
    seal_again(copy, manifest)
    found = checklist(context, copy)
    assert found.item("drawn-values").status is Status.FAIL
    assert found.item("removed").status is Status.FAIL
