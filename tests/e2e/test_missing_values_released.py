"""Releases whose missing values match anything, or nothing: made, verified and forged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from tests.helpers.forging import manifest_of, seal_again

_ROWS = (
    *[("Ulm", "f")] * 3, *[("Ulm", "m")] * 3, *[("Ulm", "?")] * 3, *[("", "f")] * 2,
    *[("Bonn", "m")] * 4, ("Jena", "m"),
)  # fmt: skip


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def run(context: AppContext, folder: Path, **keys: object) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [f"{town},{sex},{at}" for at, (town, sex) in enumerate(_ROWS)]
    (folder / "people.csv").write_text("\n".join(["town,sex,note", *lines]) + "\n", "utf-8")
    plan = {
        "version": 1,
        "source": {"path": "people.csv", "missing": ["", "?"]},
        "attributes": {
            "town": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
            "note": {"role": "sensitive"},
        },
        "protection": {"method": "k-anonymity", "k": 5, "max_suppression": 0.4, **keys},
    }
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    run_plan(context, folder / "plan.json", folder / "release", CancelToken(), silent)
    return folder / "release"


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


@pytest.fixture(scope="module")
def anything(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(context, tmp_path_factory.mktemp("any"), missing_as="any")


@pytest.fixture(scope="module")
def nothing(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(context, tmp_path_factory.mktemp("none"), missing_as="none", k=3)


def test_rows_with_missing_values_stand_in_for_others(context: AppContext, anything: Path) -> None:
    """At the bottom the women of Ulm match 3 + 3 + 2 rows, the men 3 + 3, those of Bonn only 4."""
    said = manifest_of(anything)
    assert said["result"]["node"] == {"town": 0, "sex": 0}
    assert said["result"]["rows_suppressed"] == 5
    assert said["result"]["smallest_class"] == 2
    assert said["result"]["proven_optimal"] is True
    facts = said["guarantee"]["parameters"]
    assert (facts["missing_as"], facts["missing"]) == ("any", {"town": [""], "sex": ["?"]})
    assert "matches at least 5 released rows" in said["guarantee"]["claim"]
    assert "chance" not in said["guarantee"]["claim"]
    public = verified(context, anything)
    assert public.ok
    whole = verified(context, anything, anything.parent / "people.csv")
    assert whole.ok
    found = {check.claim: check.status for check in whole.claims}
    assert found["each row matches k = 5 rows over town, sex"] is CheckStatus.CONFIRMED
    assert found["values that mean a missing one"] is CheckStatus.CONFIRMED


def test_rows_with_missing_values_are_left_out(context: AppContext, nothing: Path) -> None:
    said = manifest_of(nothing)
    text = (nothing / "public" / "microdata.csv").read_text("utf-8")
    assert said["result"]["node"] == {"town": 0, "sex": 0}
    assert said["result"]["rows_suppressed"] == 6
    assert "?" not in text
    assert said["guarantee"]["parameters"]["missing_as"] == "none"
    assert "Missing values match nothing" in said["guarantee"]["claim"]
    assert verified(context, nothing).ok
    assert verified(context, nothing, nothing.parent / "people.csv").ok


def weaker_words(said: dict[str, Any], public: Path) -> None:
    del said["guarantee"]["parameters"]["missing_as"]


def other_marks(said: dict[str, Any], public: Path) -> None:
    said["guarantee"]["parameters"]["missing"]["town"] = ["Rome"]


def no_marks(said: dict[str, Any], public: Path) -> None:
    said["guarantee"]["parameters"]["missing"] = {}


def more_matches(said: dict[str, Any], public: Path) -> None:
    claim = said["guarantee"]["claim"]
    said["guarantee"]["claim"] = claim.replace("at least 5 ", "at least 6 ")


def larger_k(said: dict[str, Any], public: Path) -> None:
    said["parameters"]["k"] = said["guarantee"]["parameters"]["k"] = 7


def one_more_row(said: dict[str, Any], public: Path) -> None:
    path = public / "microdata.csv"
    path.write_text(path.read_text("utf-8") + "Ulm,x,99\n", "utf-8")


@pytest.mark.parametrize(
    "forge", [weaker_words, other_marks, no_marks, more_matches, larger_k, one_more_row]
)
def test_a_forged_claim_fails(
    context: AppContext,
    anything: Path,
    tmp_path: Path,
    forge: Callable[[dict[str, Any], Path], None],
) -> None:
    release = tmp_path / "forged"
    shutil.copytree(anything, release)
    said = manifest_of(release)
    forge(said, release / "public")
    seal_again(release, said)
    assert not verified(context, release).ok


def test_a_value_that_is_not_missing_cannot_be_called_so(
    context: AppContext, anything: Path, tmp_path: Path
) -> None:
    release = tmp_path / "forged"
    shutil.copytree(anything, release)
    said = manifest_of(release)
    said["guarantee"]["parameters"]["missing"]["town"] = ["", "Ulm"]
    seal_again(release, said)
    report = verified(context, release, anything.parent / "people.csv")
    failed = {check.claim for check in report.claims if check.status is CheckStatus.FAILED}
    assert "values that mean a missing one" in failed


def test_a_row_with_a_missing_value_fails_where_it_matches_nothing(
    context: AppContext, nothing: Path, tmp_path: Path
) -> None:
    release = tmp_path / "forged"
    shutil.copytree(nothing, release)
    path = release / "public" / "microdata.csv"
    path.write_text(path.read_text("utf-8").replace("Bonn,", ","), "utf-8")
    seal_again(release, manifest_of(release))
    report = verified(context, release)
    failed = {check.claim for check in report.claims if check.status is CheckStatus.FAILED}
    assert any(claim.startswith("no released row misses") for claim in failed)


@pytest.mark.parametrize(
    "keys",
    [
        {"algorithm": "mondrian"},
        {"algorithm": "samarati"},
        {"model": "CG"},
        {"local": True},
        {"require": [{"model": "l-diversity", "attribute": "note", "l": 2}]},
    ],
)
def test_what_is_not_decided_together_is_refused(
    context: AppContext, tmp_path: Path, keys: dict[str, object]
) -> None:
    with pytest.raises(InputError, match="`missing_as` cannot be used together with"):
        run(context, tmp_path, missing_as="any", **keys)


def test_levels_by_hand_and_what_cannot_be_reached(context: AppContext, tmp_path: Path) -> None:
    release = run(context, tmp_path / "hand", missing_as="any", levels={"town": 1, "sex": 0})
    assert manifest_of(release)["result"]["rows_suppressed"] == 0
    with pytest.raises(DpdeskError, match='`missing_as = "none"`'):
        run(context, tmp_path / "few", missing_as="none", max_level={"town": 0, "sex": 0})


def test_rows_that_match_nothing_leave_before_requirements_are_measured(
    context: AppContext, tmp_path: Path
) -> None:
    """The notes are all different, so that a class needs four tenths of the rows."""
    asked = [{"model": "t-closeness", "attribute": "note", "t": 0.6}]
    release = run(context, tmp_path, missing_as="none", k=3, max_suppression=0.5, require=asked)
    assert verified(context, release).ok
    report = verified(context, release, tmp_path / "people.csv")
    assert report.ok
    found = {check.claim: check.status for check in report.claims}
    assert found["t-closeness (equal) of note in every class"] is CheckStatus.CONFIRMED
    assert found["node"] is CheckStatus.CONFIRMED
