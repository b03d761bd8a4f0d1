"""Nothing unlisted is published; what earlier versions published too much is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.ledgers import ledger_path
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.public_fields import LISTED
from dpdesk.core.release import CheckStatus
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.project.ledger.ledger import Ledger
from dpdesk.project.review.policy import BUILT_IN
from dpdesk.project.review.votes import ItemStatus
from tests.helpers import cubes
from tests.helpers import releases as town
from tests.helpers.forging import canonical, manifest_of, seal_again

ENTROPY = "result.metrics.entropy"


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


def item(context: AppContext, folder: Path) -> ItemStatus:
    found = check_release(context, folder, CancelToken(), silent, BUILT_IN)
    return found.checklist.item("public-fields").status


def test_the_entropy_is_kept_inside(genuine: Path, context: AppContext) -> None:
    assert "entropy" not in json.dumps(manifest_of(genuine)["result"])
    evidence = json.loads((genuine / "internal" / "evidence.json").read_text("utf-8"))
    assert evidence["result"]["entropy"] == evidence["utility"]["entropy"] > 0
    found = verify_release(genuine, context.registry, CancelToken(), silent)
    assert {c.claim: c.status for c in found.claims}[LISTED] is CheckStatus.CONFIRMED
    assert item(context, genuine) is ItemStatus.PASS


def with_entropy(genuine: Path, place: Path) -> Path:
    """The release as an earlier version made it."""
    folder = Path(shutil.copytree(genuine, place))
    evidence: Any = json.loads((folder / "internal" / "evidence.json").read_text("utf-8"))
    manifest: Any = manifest_of(folder)
    entropy = evidence["result"].pop("entropy")
    for said in (manifest, evidence):
        said["result"]["metrics"]["entropy"] = entropy
    manifest["texts"]["sha256"] = "0" * 64
    (folder / "internal" / "evidence.json").write_bytes(canonical(evidence))
    seal_again(folder, manifest)
    return folder


def test_a_release_of_an_earlier_version_verifies_and_says_so(
    genuine: Path, plan: Path, context: AppContext, tmp_path: Path
) -> None:
    folder = with_entropy(genuine, tmp_path / "release")
    source = plan.parent / town.SOURCE
    for path, given in ((folder, None), (folder, source), (folder / "public", None)):
        found = verify_release(
            path, context.registry, CancelToken(), silent, given, context.workspace
        )
        assert found.ok, found.failures
        claim = next(c for c in found.claims if c.claim == LISTED)
        assert claim.status is CheckStatus.NOT_CHECKABLE
        assert ENTROPY in claim.found
    assert manifest_of(folder)["result"]["rows_suppressed"]  # type: ignore[index]
    assert item(context, folder) is ItemStatus.FAIL


def test_without_suppressed_rows_a_person_decides(context: AppContext, tmp_path: Path) -> None:
    plan = town.write_source(tmp_path / "data")
    text = plan.read_text("utf-8").replace("max_suppression = 0.02\n", "")
    plan.write_text(text, "utf-8")
    made = town.release(plan, tmp_path / "made", context).out
    folder = with_entropy(made, tmp_path / "old")
    assert item(context, folder) is ItemStatus.REVIEW


def test_a_field_that_nobody_listed_is_refused_before_anything_is_written(
    plan: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [each for each in KAnonymity.public_fields if each.path != "result.classes"]
    monkeypatch.setattr(KAnonymity, "public_fields", tuple(fields))
    with pytest.raises(RefusedError) as refused:
        town.release(plan, tmp_path / "out", context)
    assert refused.value.code == "release.unlisted-field"
    assert "`result.classes`" in refused.value.sentence
    assert list(tmp_path.iterdir()) == []


def test_a_field_that_nobody_listed_is_refused_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = cubes.write_plan(cubes.write_register(tmp_path / "data", cubes.people(50)))
    fields = [each for each in DpCube.public_fields if each.path != "result.max_variance"]
    with AppContext.open(tmp_path / "home") as context:
        monkeypatch.setattr(DpCube, "public_fields", tuple(fields))
        with pytest.raises(RefusedError) as refused:
            cubes.release(context, plan, tmp_path / "out")
        assert refused.value.code == "release.unlisted-field"
        assert not (tmp_path / "out").exists()
        with Ledger.open(ledger_path(context, plan.parent)) as ledger:
            assert ledger.book.accounts() == ()
