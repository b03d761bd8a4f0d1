"""An attacker with nothing but released columns, and what the program says of it beforehand."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore
from dpdesk.app.opening import open_path, open_work
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import FIGURES_CLAIM, CheckStatus
from dpdesk.project.review.votes import ItemStatus as Status

BRANCHES = {"mine": ["miner"], "shop": ["clerk", "buyer"], "farm": ["grower", "driver", "vet"]}
PLANS = {
    "drawn": 'method = "l-diverted"\nl = 3\nsensitive = ["job"]',
    "alike": 'method = "k-anonymity"\nk = 3\nlevels = { job = 1 }',
}


def people() -> list[dict[str, str]]:
    rows = []
    for number in range(600):
        branch = ["shop", "farm", "farm", "mine"][number % 4]
        jobs = BRANCHES[branch]
        job = jobs[number * 7 // 4 % len(jobs)]
        rows.append(
            {"town": f"t{number % 9}", "branch": branch, "job": job, "age": str(number % 50)}
        )
    return rows


def write(folder: Path, name: str) -> Path:
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["town", "branch", "job", "age"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(people())
    (folder / "job.csv").write_text(
        "".join(f"{job};*\n" for jobs in BRANCHES.values() for job in jobs), encoding="utf-8"
    )
    role = 'role = "sensitive"' if name == "drawn" else 'role = "quasi-identifier"'
    (folder / "plan.toml").write_text(
        'version = 1\n[source]\npath = "people.csv"\nencoding = "utf-8"\n'
        f'[attributes]\njob = {{ {role}, hierarchy = "job.csv" }}\n[protection]\n{PLANS[name]}\n',
        encoding="utf-8",
    )
    return folder / "plan.toml"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module", params=PLANS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp(request.param)
    write(made, request.param)
    return made


@pytest.fixture(scope="module")
def release(context: AppContext, folder: Path) -> Path:
    return run_plan(context, folder / "plan.toml", folder / "out", CancelToken(), silent).out


def given_away() -> int:
    """Rows whose job follows from the branch for someone who has learnt how the two go together."""
    jobs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in people():
        jobs[row["branch"]][row["job"]] += 1
    return sum(sum(each.values()) for each in jobs.values() if len(each) == 1)


def test_the_window_warns_before_the_release(context: AppContext, folder: Path) -> None:
    work = open_path(folder / "plan.toml").work
    assert work is not None
    with closing(open_work(context, work, CancelToken(), silent)) as data:
        explored = explore(context, data, work, CancelToken(), silent)
        notes = [note.sentence for note in explored.view(dict(work.parameters)).notes]
    expected = f"For {given_away()} of 600 rows (25 %), the column `branch` alone reveals `job`."
    assert expected in notes


def test_evidence_report_and_checklist_have_the_number(context: AppContext, release: Path) -> None:
    evidence = json.loads((release / "internal" / "evidence.json").read_text("utf-8"))
    (told,) = [each for each in evidence["risk"]["telling"] if each["column"] == "job"]
    assert told["by_one_column"][0] == {
        "columns": ["branch"], "certain": 150, "nearly": 150, "guessed": 325,
    }  # fmt: skip
    assert any("`branch` alone reveals `job`" in note for note in evidence["notes"])
    report = (release / "internal" / "report.html").read_text("utf-8")
    assert "alone reveals" in report
    item = check_release(context, release, CancelToken(), silent).checklist.item("telling")
    assert item.status is Status.REVIEW
    assert "For 150 of 600 rows (25 %), `branch` alone reveals `job`" in item.evidence


def test_the_report_has_the_picture_of_it_which_checking_makes_again(
    context: AppContext, folder: Path, release: Path
) -> None:
    evidence = json.loads((release / "internal" / "evidence.json").read_text("utf-8"))
    (chart,) = [each for each in evidence["charts"] if each["id"] == "telling"]
    row = next(each for each in chart["table"]["rows"] if each[:2] == ["branch", "job"])
    assert row[2] == given_away() == 150
    assert "What do other columns give away?" in (
        (release / "internal" / "report.html").read_text("utf-8")
    )
    source = folder / str(evidence["plan"]["source"]["path"])
    report = verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )
    assert report.ok, report.failures
    (figures,) = [each for each in report.claims if each.claim == FIGURES_CLAIM]
    assert figures.status is CheckStatus.CONFIRMED


def test_rows_that_are_alone_in_all_released_columns_are_counted(
    context: AppContext, release: Path
) -> None:
    """A class of k rows is one by its quasi-identifiers; the other columns tell its rows apart."""
    with (release / "public" / "microdata.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    told = Counter((row["town"], row["branch"], row["age"]) for row in rows)  # job is one, or drawn
    alone = sum(times == 1 for times in told.values())
    evidence = json.loads((release / "internal" / "evidence.json").read_text("utf-8"))
    assert evidence["risk"]["rows_alone"] == alone > 0
    assert any(f"{alone:,} of 600 rows" in note for note in evidence["notes"])
    asked = "rows-alone" if evidence["plan"]["protection"]["method"] == "k-anonymity" else "linkage"
    item = check_release(context, release, CancelToken(), silent).checklist.item(asked)
    assert item.status is Status.REVIEW
    assert f"{alone:,} of 600 rows" in item.evidence


def test_no_public_file_says_how_much_is_given_away(release: Path) -> None:
    for path in (release / "public").rglob("*"):
        text = path.read_text("utf-8") if path.is_file() else ""
        assert "reveals" not in text
        assert '"telling"' not in text
    manifest = json.loads((release / "public" / "manifest.json").read_text("utf-8"))
    claim, limits = manifest["guarantee"]["claim"], manifest["guarantee"]["does_not_cover"]
    assert claim.startswith("For someone who knows")
    assert "reveal nothing" in claim
    assert any(each.startswith("What ") and "columns reveal" in each for each in limits)


def test_noise_that_was_paid_for_about_the_same_people_is_named(
    context: AppContext, tmp_path: Path
) -> None:
    plan = write(tmp_path, "drawn")
    (tmp_path / "noise.toml").write_text(
        'version = 1\n[source]\npath = "people.csv"\nencoding = "utf-8"\ndelimiter = ","\n'
        'quote = "\\""\nheader = true\ndecimal = "."\nmissing = [""]\n'
        'types = { branch = "text" }\n'
        '[protection]\nmethod = "dp-cube"\ndimensions = ["branch"]\nepsilon = 0.5\n'
        '[protection.domains]\nbranch = ["mine", "shop", "farm"]\n',
        encoding="utf-8",
    )
    before = run_plan(context, plan, tmp_path / "first", CancelToken(), silent).out
    run_plan(context, tmp_path / "noise.toml", tmp_path / "noise", CancelToken(), silent)
    after = run_plan(context, plan, tmp_path / "second", CancelToken(), silent).out
    notes = [
        json.loads((out / "internal" / "evidence.json").read_text("utf-8"))["notes"]
        for out in (before, after)
    ]
    assert not any("paid for" in note for note in notes[0])
    assert any("were paid for on this computer (ε = 0.5)" in note for note in notes[1])
    checked = check_release(context, after, CancelToken(), silent).checklist
    assert checked.item("verified").status is Status.PASS
    assert "were paid for: ε = 0.5" in checked.item("assumptions").evidence
    work = open_path(plan).work
    assert work is not None
    with closing(open_work(context, work, CancelToken(), silent)) as data:
        view = explore(context, data, work, CancelToken(), silent).view(dict(work.parameters))
    said = [note.sentence for note in view.notes if note.code == "release.noise-paid"]
    assert len(said) == 1
    assert "were paid for on this computer (ε = 0.5)" in said[0]
