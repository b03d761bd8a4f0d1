"""Releases of whole households: made, verified and forged."""

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
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.project.pseudonym_keys import PseudonymKeys
from tests.helpers.forging import canonical, manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

_HOMES = (
    *[(f"u{at}", ("Ulm", "f"), ("Ulm", "m")) for at in range(4)],
    *[(f"b{at}", ("Bonn", "f")) for at in range(3)],
    ("j1", ("Ulm", "f"), ("Jena", "m")),
    ("b9", ("Bonn", "f"), ("Bonn", "f"), ("Bonn", "f")),
)
_LOSING = (
    *[(f"b{at}", ("Bonn", "f"), ("Ulm", "f")) for at in range(4)],
    ("u4", ("Ulm", "f")),
    ("j1", ("Bonn", "f"), ("Jena", "m")),
)
"""No class of theirs is as small as that of Bonn once the last home has left with its two rows."""

_CLAIM = "rows of at least 4 households in every class"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def run(
    context: AppContext,
    folder: Path,
    home: object = None,
    homes: tuple[Any, ...] = _HOMES,
    **keys: object,
) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [(*person, name) for name, *people in homes for person in people]
    lines = [f"{town},{sex},{name},{at}" for at, (town, sex, name) in enumerate(rows)]
    (folder / "people.csv").write_text("\n".join(["town,sex,home,note", *lines]) + "\n", "utf-8")
    plan = {
        "version": 1,
        "source": {"path": "people.csv"},
        "attributes": {
            "town": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
            "home": home or {"role": "cluster"},
            "note": {"role": "sensitive"},
        },
        "protection": {
            "method": "k-anonymity", "k": 4, "max_suppression": 0.4, "households": "whole", **keys,
        },
    }  # fmt: skip
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    run_plan(context, folder / "plan.json", folder / "release", CancelToken(), silent)
    return folder / "release"


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    place = CancelToken(), silent, source, context.workspace
    return verify_release(release, context.registry, *place)


def status(report: VerifyReport, claim: str = _CLAIM) -> CheckStatus:
    return {check.claim: check.status for check in report.claims}[claim]


@pytest.fixture(scope="module")
def dropped(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(context, tmp_path_factory.mktemp("dropped"))


@pytest.fixture(scope="module")
def kept(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(context, tmp_path_factory.mktemp("kept"), household_id="keep")


def test_a_household_leaves_with_its_rows_in_large_classes(
    context: AppContext, dropped: Path
) -> None:
    """Jena has one household; its woman in Ulm leaves too, and four households are left there."""
    said = manifest_of(dropped)
    assert said["result"]["node"] == {"town": 0, "sex": 0}
    assert (said["result"]["rows_suppressed"], said["result"]["smallest_class"]) == (2, 4)
    assert said["result"]["proven_optimal"] is True
    text = (dropped / "public" / "microdata.csv").read_text("utf-8")
    assert text.splitlines()[0] == "town,sex,note"
    risk = json.loads((dropped / "internal" / "evidence.json").read_text("utf-8"))["risk"]
    assert risk["rows_alone"] == len({*text.splitlines()[1:]})
    assert "home" not in json.dumps(risk["telling"])
    assert text.count("Ulm,f") == 4
    assert "cluster" not in said["guarantee"]["parameters"]
    assert "rows of at least 4 households" in said["guarantee"]["claim"]
    public, whole = (
        verified(context, dropped),
        verified(context, dropped, dropped.parent / "people.csv"),
    )
    assert public.ok
    assert whole.ok
    assert status(public) is CheckStatus.NEEDS_SOURCE
    assert status(whole) is CheckStatus.CONFIRMED
    risk = json.loads((dropped / "internal" / "evidence.json").read_text("utf-8"))["risk"]
    assert risk["households"] == {
        "households": 9, "rows_without_one": 0, "kept": 8, "fewest_in_a_class": 4,
        "unique_makeup": 1, "makeup_below_k": 4,
    }  # fmt: skip


def test_a_class_is_as_large_as_the_rows_that_stay_in_it(
    context: AppContext, tmp_path: Path
) -> None:
    """Bonn has five rows before the last home leaves, and Ulm has five: the smallest is of four."""
    made = run(context, tmp_path / "made", homes=_LOSING)
    said = manifest_of(made)
    assert (said["result"]["rows_suppressed"], said["result"]["smallest_class"]) == (2, 4)
    assert "(the smallest covers 4)" in said["guarantee"]["claim"]
    assert verified(context, made, made.parent / "people.csv").ok


def test_households_are_counted_in_the_table_where_they_are_named(
    context: AppContext, kept: Path
) -> None:
    said = manifest_of(kept)
    assert said["guarantee"]["parameters"]["cluster"] == ["home"]
    assert any("home links rows" in limit for limit in said["guarantee"]["does_not_cover"])
    assert status(verified(context, kept)) is CheckStatus.CONFIRMED
    assert verified(context, kept, kept.parent / "people.csv").ok


def test_households_may_have_pseudonyms(tmp_path: Path) -> None:
    with AppContext.open(tmp_path / "own") as context:
        PseudonymKeys(context.home).create("homes")
        home = {"role": "identifier", "pseudonym": {"key": "homes", "of": "group"}}
        release = run(context, tmp_path / "work", home, household_id="pseudonym")
        said = manifest_of(release)
        assert said["guarantee"]["parameters"]["pseudonyms_of_groups"] == ["home"]
        assert said["result"]["rows_suppressed"] == 2
        assert status(verified(context, release)) is CheckStatus.CONFIRMED
        assert verified(context, release, tmp_path / "work" / "people.csv").ok


@pytest.mark.parametrize(
    ("keys", "classes"),
    [
        ({"algorithm": "samarati", "prefer": "maximum-distribution"}, 3),
        ({"algorithm": "incognito", "prefer": "maximum-distribution"}, 3),
        ({"algorithm": "genetic"}, 3),
        ({"objective": "discernibility"}, 3),
        ({"objective": "average-class-size"}, 3),
        ({"levels": {"town": 1, "sex": 0}, "max_suppression": 0}, 2),
        ({"model": "TS"}, 3),
    ],
)
def test_every_search_of_levels_knows_households(
    context: AppContext, tmp_path: Path, keys: dict[str, object], classes: int
) -> None:
    release = run(context, tmp_path, **keys)
    assert manifest_of(release)["result"]["classes"] == classes
    assert verified(context, release, tmp_path / "people.csv").ok


def test_no_group_loses_more_rows_than_it_may(context: AppContext, tmp_path: Path) -> None:
    """Jena has one row, which leaves at the bottom: of none of its rows that is too many."""
    release = run(context, tmp_path / "town", max_suppression_of={"town": 0.5})
    said = manifest_of(release)
    assert said["result"]["node"] == {"town": 1, "sex": 0}
    assert said["parameters"]["max_suppression_of"] == {"town": 0.5}
    claim = "suppression of each value of town within its limit"
    report = verified(context, release, tmp_path / "town" / "people.csv")
    assert (report.ok, status(report, claim)) == (True, CheckStatus.CONFIRMED)
    rows = run(context, tmp_path / "note", households="ignore", max_suppression_of={"home": 0.5})
    assert manifest_of(rows)["result"]["rows_suppressed"] == 1
    assert verified(context, rows, tmp_path / "note" / "people.csv").ok
    loose = run(context, tmp_path / "loose", households="ignore", max_suppression_of={"note": 0})
    assert manifest_of(loose)["result"]["rows_suppressed"] == 0
    with pytest.raises(InputError, match="`home` is not a quasi-identifier"):
        run(context, tmp_path / "home", max_suppression_of={"home": 0.5})
    with pytest.raises(InputError, match="`city` is not a column of the data"):
        run(context, tmp_path / "city", max_suppression_of={"city": 0.5})


def test_a_larger_loss_of_a_group_than_the_plan_allows_fails(
    context: AppContext, dropped: Path, tmp_path: Path
) -> None:
    """The evidence says that Jena may lose nothing, and the release has lost all of it."""
    release = tmp_path / "forged"
    shutil.copytree(dropped, release)
    said = manifest_of(release)
    said["parameters"]["max_suppression_of"] = {"town": 0.1}
    evidence = release / "internal" / "evidence.json"
    facts = json.loads(evidence.read_text("utf-8"))
    facts["plan"]["protection"]["max_suppression_of"] = {"town": 0.1}
    evidence.write_bytes(canonical(facts))
    seal_again(release, said)
    report = verified(context, release, dropped.parent / "people.csv")
    failed = {check.claim for check in report.claims if check.status is CheckStatus.FAILED}
    assert "suppression of each value of town within its limit" in failed


def fewer_words(said: dict[str, Any], public: Path) -> None:
    claim = said["guarantee"]["claim"]
    said["guarantee"]["claim"] = claim.replace("at least 4 households", "at least 5 households")


def one_home(said: dict[str, Any], public: Path) -> None:
    path = public / "microdata.csv"
    text = path.read_text("utf-8")
    for name in ("u1", "u2", "u3"):
        text = text.replace(f",{name},", ",u0,")
    path.write_text(text, "utf-8")


def no_homes(said: dict[str, Any], public: Path) -> None:
    del said["guarantee"]["parameters"]["households"]


def no_setting(said: dict[str, Any], public: Path) -> None:
    said["parameters"]["households"] = "ignore"


def said_dropped(said: dict[str, Any], public: Path) -> None:
    said["parameters"]["household_id"] = "drop"


@pytest.mark.parametrize("forge", [fewer_words, one_home, no_homes, no_setting, said_dropped])
def test_a_forged_claim_fails(
    context: AppContext, kept: Path, tmp_path: Path, forge: Callable[[dict[str, Any], Path], None]
) -> None:
    release = tmp_path / "forged"
    shutil.copytree(kept, release)
    said = manifest_of(release)
    forge(said, release / "public")
    seal_again(release, said)
    assert not verified(context, release).ok


def test_a_household_that_is_released_in_part_fails_with_the_source(
    context: AppContext, dropped: Path, tmp_path: Path
) -> None:
    """The woman of Ulm whose husband in Jena is left out is put back."""
    release = tmp_path / "forged"
    shutil.copytree(dropped, release)
    path, said = release / "public" / "microdata.csv", manifest_of(release)
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], *sorted([*lines[1:], "Ulm,f,11"])]) + "\n", "utf-8")
    said["result"] |= {"rows_out": 16, "rows_suppressed": 1}
    seal_again(release, said)
    assert not verified(context, release, dropped.parent / "people.csv").ok


@pytest.mark.parametrize(
    "keys",
    [
        {"algorithm": "mondrian"},
        {"model": "CG"},
        {"local": True},
        {"missing_as": "none"},
        {"require": [{"model": "l-diversity", "attribute": "note", "l": 2}]},
    ],
)
def test_what_is_not_decided_together_is_refused(
    context: AppContext, tmp_path: Path, keys: dict[str, object]
) -> None:
    with pytest.raises(InputError, match="`households` cannot be used together with"):
        run(context, tmp_path, **keys)


def test_a_column_of_households_is_asked_for(context: AppContext, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="households are none, expected one column with the role"):
        run(context, tmp_path / "none", {"role": "insensitive"})
    with pytest.raises(InputError, match="expected one identifier with `pseudonym"):
        run(context, tmp_path / "other", household_id="pseudonym")
    with pytest.raises(RefusedError, match="households"):
        run(context, tmp_path / "few", model="AG", max_level={"town": 0, "sex": 0})
