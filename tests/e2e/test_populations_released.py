"""Releases that match a file of the population: made, verified with and without it, and forged."""

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
from dpdesk.cli.main import main
from dpdesk.core.errors import DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from tests.helpers.forging import canonical, manifest_of, seal_again

_SAMPLE = (*[("Ulm", "f")] * 4, *[("Ulm", "m")] * 4, *[("Bonn", "f")] * 3, *[("Bonn", "m")] * 3)
_OTHERS = (
    *[("Ulm", "f")] * 6, *[("Ulm", "m")] * 1, *[("Bonn", "f")] * 5, *[("Bonn", "m")] * 4,
    *[("Jena", "m")] * 2,
)  # fmt: skip
_CLAIM = "in the population, every class has 6 matching rows or more"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def run(context: AppContext, folder: Path, **keys: object) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [f"{town},{sex},{at}" for at, (town, sex) in enumerate(_SAMPLE)]
    (folder / "people.csv").write_text("\n".join(["town,sex,note", *lines]) + "\n", "utf-8")
    people = [f"{at};{sex};{town}" for at, (town, sex) in enumerate(_SAMPLE + _OTHERS)]
    (folder / "all.csv").write_text("\n".join(["id;sex;town", *people]) + "\n", "utf-8")
    plan = {
        "version": 1,
        "source": {"path": "people.csv"},
        "attributes": {
            "town": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
            "note": {"role": "sensitive"},
        },
        "protection": {
            "method": "k-anonymity",
            "k": 2,
            "max_suppression": 0.4,
            "population": "all.csv",
            **keys,
        },
    }
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    run_plan(context, folder / "plan.json", folder / "release", CancelToken(), silent)
    return folder / "release"


def verified(
    context: AppContext, release: Path, source: Path | None = None, population: Path | None = None
) -> VerifyReport:
    place = CancelToken(), silent, source, context.workspace
    return verify_release(release, context.registry, *place, population=population)


def test_how_the_population_was_read_is_told_and_kept(context: AppContext, tmp_path: Path) -> None:
    run(context, tmp_path)
    people = [f"{at};{sex};{town}" for at, (town, sex) in enumerate(_SAMPLE + _OTHERS)]
    lines = ["id;sex;town", *people, ";;", "x;f;K\xf6ln"]
    (tmp_path / "all.csv").write_bytes("\n".join([*lines, ""]).encode("latin-1"))
    told: list[object] = []
    again = tmp_path / "again"
    run_plan(context, tmp_path / "plan.json", again, CancelToken(), told.append)
    notes = [str(each.sentence) for each in told if isinstance(each, Note)]
    found = [note for note in notes if note.startswith("Population file all.csv: ")]
    assert any("read as cp1252, a guess" in note for note in found), notes
    assert any("holds no value and was left out" in note for note in found), notes
    evidence = (again / "internal/evidence.json").read_text("utf-8")
    assert all(json.dumps(note, ensure_ascii=False) in evidence for note in found)
    assert "all.csv" not in (again / "public/manifest.json").read_text("utf-8")
    assert verified(context, again, tmp_path / "people.csv", tmp_path / "all.csv").ok


def status(report: VerifyReport, claim: str = _CLAIM) -> CheckStatus:
    return {check.claim: check.status for check in report.claims}[claim]


@pytest.fixture(scope="module")
def mapped(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(context, tmp_path_factory.mktemp("mapped"), k_map=6)


def test_a_class_that_matches_too_few_of_the_population_leaves(
    context: AppContext, mapped: Path, tmp_path: Path
) -> None:
    """The men of Ulm match 5 rows, the others 7 and more."""
    said = manifest_of(mapped)
    assert said["result"]["node"] == {"town": 0, "sex": 0}
    assert (said["result"]["rows_suppressed"], said["result"]["proven_optimal"]) == (4, True)
    assert said["guarantee"]["parameters"]["k_map"] == 6
    assert "matches at least 6 rows of the population file" in said["guarantee"]["claim"]
    assert "all.csv" not in json.dumps(said)
    recorded = json.loads((mapped / "internal" / "evidence.json").read_text("utf-8"))["result"]
    assert (recorded["population"]["name"], recorded["population"]["rows"]) == ("all.csv", 32)
    source, people = mapped.parent / "people.csv", mapped.parent / "all.csv"
    assert status(verified(context, mapped)) is CheckStatus.NEEDS_SOURCE
    alone = verified(context, mapped, None, people)
    assert (alone.ok, status(alone)) == (True, CheckStatus.CONFIRMED)
    assert status(alone, "node") is CheckStatus.NEEDS_SOURCE
    for report in (verified(context, mapped, source, people), verified(context, mapped, source)):
        assert report.ok
        assert status(report) is status(report, "node") is CheckStatus.CONFIRMED
    moved = tmp_path / "people.csv"
    shutil.copy(source, moved)
    report = verified(context, mapped, moved)
    assert (report.ok, status(report, "node")) == (True, CheckStatus.NEEDS_SOURCE)
    assert any("needs the population file" in note for note in report.notes)


def test_the_command_line_takes_a_population(
    mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = str(mapped.parent / "all.csv")
    assert main(["verify", str(mapped), "--population", people]) == 0
    assert "counted in its file" in capsys.readouterr().out
    assert main(["verify", str(mapped), "--population", str(mapped.parent / "people.csv")]) == 1
    assert "is not the population file of this release" in capsys.readouterr().err


def test_without_a_number_k_counts_in_the_population_too(
    context: AppContext, tmp_path: Path
) -> None:
    release = run(context, tmp_path, k=3)
    assert manifest_of(release)["guarantee"]["parameters"]["k_map"] == 3
    assert verified(context, release, tmp_path / "people.csv").ok


def test_shares_of_the_population_are_bounded(context: AppContext, tmp_path: Path) -> None:
    """Of the men of Ulm 4 of 5 are in the sample, so they leave at 1/2; 1/5 of each is too much."""
    release = run(context, tmp_path / "most", delta_max=0.5)
    said = manifest_of(release)
    assert (
        said["guarantee"]["parameters"] | {"delta_min": 0, "delta_max": 0.5}
        == (said["guarantee"]["parameters"])
    )
    assert said["result"]["rows_suppressed"] == 4
    assert verified(context, release, tmp_path / "most" / "people.csv").ok
    assert verified(context, release, None, tmp_path / "most" / "all.csv").ok
    both = run(context, tmp_path / "both", delta_min=0.3, delta_max=0.6)
    assert manifest_of(both)["result"]["node"] == {"town": 1, "sex": 0}
    assert manifest_of(both)["result"]["rows_suppressed"] == 0
    assert verified(context, both, tmp_path / "both" / "people.csv").ok
    with pytest.raises(RefusedError, match=r"`delta_min = 0.5, delta_max = 0.6`"):
        run(context, tmp_path / "none", delta_min=0.5, delta_max=0.6)


def larger(said: dict[str, Any], public: Path) -> None:
    said["parameters"]["k_map"] = said["guarantee"]["parameters"]["k_map"] = 8
    other_words(said, public)


def other_words(said: dict[str, Any], public: Path) -> None:
    claim = said["guarantee"]["claim"]
    said["guarantee"]["claim"] = claim.replace(
        "at least 6 rows of the population", "at least 8 rows of the population"
    )


def men_of_ulm(said: dict[str, Any], public: Path) -> None:
    path = public / "microdata.csv"
    path.write_text(path.read_text("utf-8") + "".join(f"Ulm,m,{at}\n" for at in (4, 5, 6, 7)))
    said["result"] |= {"rows_out": 14, "rows_suppressed": 0, "classes": 4}
    said["result"]["metrics"] |= {"average_class_size": 1.75, "discernibility": 50}


@pytest.mark.parametrize("forge", [larger, other_words, men_of_ulm])
def test_a_forged_claim_fails_with_the_population(
    context: AppContext, mapped: Path, tmp_path: Path, forge: Callable[[dict[str, Any], Path], None]
) -> None:
    release = tmp_path / "forged"
    shutil.copytree(mapped, release)
    said = manifest_of(release)
    forge(said, release / "public")
    seal_again(release, said)
    report = verified(context, release, None, mapped.parent / "all.csv")
    assert not report.ok
    if forge is not other_words:
        failed = [check.claim for check in report.claims if check.status is CheckStatus.FAILED]
        assert any(claim.startswith("in the population") for claim in failed)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"population": "", "k_map": 3}, "`k_map` is given without a population"),
        ({"delta_min": 0.5, "delta_max": 0.4}, "`delta_min` is 0.5, expected at most 0.4"),
        ({"missing_as": "any"}, "`population` cannot be used together with `missing_as`"),
        ({"model": "CG", "delta_max": 0.5}, "`delta_max` cannot be used together with `model"),
        ({"algorithm": "k-optimize"}, "`population` cannot be used together with `algorithm"),
        ({"population": "other.csv"}, r"other\.csv: there is no such file"),
        ({"population": "plan.json"}, r"plan\.json"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    context: AppContext, tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    with pytest.raises(DpdeskError, match=said):
        run(context, tmp_path, **keys)


def test_a_plan_that_cannot_be_read_is_a_failure_of_the_evidence(
    context: AppContext, mapped: Path, tmp_path: Path
) -> None:
    for number, population in enumerate(("all.csv", "x" * 5000)):
        forged = Path(shutil.copytree(mapped, tmp_path / str(number)))
        evidence = json.loads((forged / "internal/evidence.json").read_text("utf-8"))
        evidence["plan"]["attributes"]["town"]["forged"] = 1 - number
        evidence["plan"]["protection"]["population"] = population
        (forged / "internal/evidence.json").write_bytes(canonical(evidence))
        seal_again(forged, manifest_of(forged))
        files = mapped.parent / "people.csv", mapped.parent / "all.csv"
        for at in (files[:1], files, (None, files[1])):
            report = verified(context, forged, *at)
            assert any(failure.path.endswith("evidence.json") for failure in report.failures)
