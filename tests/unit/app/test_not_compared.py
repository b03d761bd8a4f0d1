"""What was compared with nothing is not exported unseen, and questions say so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpdesk.app import export_gate
from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.querying import open_release
from dpdesk.app.review import review_picture
from dpdesk.app.risk import assess
from dpdesk.app.running import run_plan
from dpdesk.app.texts import TEXTS_CLAIM
from dpdesk.app.verifying import verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import speaking
from dpdesk.core.query import Grouping, Query
from dpdesk.project.review.state import Status
from tests.helpers import cubes, releases
from tests.helpers.forging import canonical, manifest_of, seal_again

TEXTS = {"language": "en", "sha256": "0" * 64}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = cubes.write_register(tmp_path_factory.mktemp("data"), cubes.people())
    plan = cubes.write_plan(source, dimensions=["sex"], domains={"sex": ["f", "m"]}, levels={})
    return cubes.release(context, plan, source.parent / "release").out


@pytest.fixture
def other(genuine: Path, tmp_path: Path) -> Path:
    """A release whose page was written with other texts than this program's."""
    release = Path(shutil.copytree(genuine, tmp_path / "other"))
    page = release / "public/about.html"
    page.write_text(page.read_text("utf-8").replace("</h1>", ", k = 1,000</h1>"), "utf-8")
    seal_again(release, manifest_of(release) | {"texts": TEXTS})
    return release


def export(release: Path, out: Path, context: AppContext) -> Path:
    return export_release(release, "csv", out, context.workspace, CancelToken(), silent)


@pytest.mark.parametrize("part", ["", "public"])
def test_a_page_that_was_not_compared_is_not_exported(
    other: Path, context: AppContext, tmp_path: Path, part: str
) -> None:
    with pytest.raises(RefusedError, match="could not be compared with anything") as refused:
        export(other / part, tmp_path / "out.csv", context)
    assert refused.value.code == "export.not-compared"
    assert refused.value.exit_code == 1
    assert "accept_not_compared" in refused.value.hint
    assert not (tmp_path / "out.csv").exists()


def test_a_genuine_release_is_exported(genuine: Path, context: AppContext, tmp_path: Path) -> None:
    assert export(genuine, tmp_path / "out.csv", context).exists()


def test_the_policy_may_accept_it(other: Path, context: AppContext, tmp_path: Path) -> None:
    policy = context.home / "policy.toml"
    policy.write_text("version = 1\naccept_not_compared = true\n", "utf-8")
    try:
        assert export(other, tmp_path / "out.csv", context).exists()
    finally:
        policy.unlink()


WHY = {"verified": "I printed the page myself.", "policy": ""}


@pytest.mark.parametrize(
    ("status", "ok", "reviewers", "reasons", "passes"),
    [
        (Status.RELEASED, True, 2, (WHY, WHY), True),
        (Status.RELEASED, True, 3, (WHY, WHY, WHY), True),
        (Status.RELEASED, False, 2, (WHY, WHY), False),
        (Status.APPROVED, True, 2, (WHY, WHY), False),
        (Status.RELEASED, True, 1, (WHY,), False),  # a policy of the author's own
        (Status.RELEASED, True, 2, ({"policy": "Yes"},) * 2, False),  # a checklist likewise
        (Status.RELEASED, True, 2, (WHY, {"verified": " ."}), False),  # or its statuses
        (Status.RELEASED, True, 2, (WHY, None), False),  # a vote that is not revealed
        (Status.RELEASED, True, 2, (), False),
    ],
)
def test_reviewers_who_released_it_accepted_it(
    other: Path,
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: Status,
    ok: bool,
    reviewers: int,
    reasons: tuple[dict[str, str] | None, ...],
    passes: bool,
) -> None:
    ballots = [
        SimpleNamespace(
            late=False,
            vote=None
            if each is None
            else SimpleNamespace(
                checks={key: SimpleNamespace(comment=said) for key, said in each.items()}
            ),
        )
        for each in reasons
    ]
    current = SimpleNamespace(payload=SimpleNamespace(reviewers=reviewers), ballots=ballots)
    state = SimpleNamespace(ok=ok, status=status, current=current)
    monkeypatch.setattr(review_picture, "load", lambda *_: SimpleNamespace(state=state))
    found = review_picture.released_by_all(context, other, CancelToken())
    assert found is passes
    monkeypatch.undo()
    monkeypatch.setattr(export_gate, "released_by_all", lambda *_: found)
    if passes:
        assert export(other, tmp_path / "out.csv", context).exists()
        return
    with pytest.raises(RefusedError, match="could not be compared"):
        export(other, tmp_path / "out.csv", context)


def test_the_command_ends_with_one_sentence(
    other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    code = main(["export", str(other / "public"), "--format", "csv", "--out", str(out)])
    *_, last = capsys.readouterr().err.splitlines()
    assert code == 1
    assert "so nothing is exported" in last


def test_an_answer_says_what_was_not_compared(
    genuine: Path, other: Path, context: AppContext
) -> None:
    query = Query((Grouping("sex"),))

    def warnings(release: Path) -> tuple[str, ...]:
        opened = open_release(context, release / "public", CancelToken(), silent)
        return opened.ask(query, CancelToken(), silent).warnings

    assert [text for text in warnings(other) if text not in warnings(genuine)] == [
        next(text for text in warnings(other) if "were not compared" in text)
    ]


@pytest.mark.parametrize(
    ("key", "texts", "ok"),
    [
        ("labels", TEXTS, True),
        ("neighbours", TEXTS, False),
        ("labels", None, False),
        ("levels", TEXTS, False),
        ("epsilon", TEXTS, False),
    ],
)
def test_a_setting_that_came_after_a_release_was_made_is_not_missed(
    genuine: Path, context: AppContext, tmp_path: Path, key: str, texts: object, ok: bool
) -> None:
    release = Path(shutil.copytree(genuine, tmp_path / "old"))
    place = release / "internal/evidence.json"
    evidence: Any = json.loads(place.read_text("utf-8"))
    manifest: Any = manifest_of(release)
    del evidence["parameters"][key], manifest["parameters"][key]
    place.write_bytes(canonical(evidence))
    seal_again(release, manifest | ({} if texts is None else {"texts": texts}))
    found = verify_release(release, context.registry, CancelToken(), silent)
    assert found.ok is ok, found.failures


def test_words_that_were_compared_with_nothing_are_not_told_as_a_promise(
    genuine: Path, context: AppContext, tmp_path: Path
) -> None:
    release = Path(shutil.copytree(genuine, tmp_path / "old"))
    place = release / "internal/evidence.json"
    evidence: Any = json.loads(place.read_text("utf-8"))
    manifest: Any = manifest_of(release)
    for said in (evidence, manifest):
        said["guarantee"]["claim"] = "No one learns anything about anybody."
        del said["messages"]
    place.write_bytes(canonical(evidence))
    seal_again(release, manifest | {"texts": TEXTS})
    notes: list[object] = []
    assess(context, release, CancelToken(), notes.append)
    assert "release.not-compared" in [getattr(note, "code", "") for note in notes]
    notes.clear()
    assess(context, genuine, CancelToken(), notes.append)
    assert "release.not-compared" not in [getattr(note, "code", "") for note in notes]


TABLE = """version = 1
[source]
path = "zq-raw-register.csv"
[protection]
method = "table"
rows = ["town"]
rule = [{ rule = "threshold", n = 7 }]
"""


@pytest.fixture(scope="module")
def of_each_kind(
    genuine: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Genuine releases of rows, of cubes and of cells."""
    plan = releases.write_source(tmp_path_factory.mktemp("town"))
    rows = releases.release(plan, plan.parent / "rows", context).out
    table = plan.with_name("table.toml")
    table.write_text(TABLE, "utf-8")
    cells = run_plan(context, table, plan.parent / "cells", CancelToken(), silent).out
    return {"rows": rows, "cubes": genuine, "cells": cells}


def _sha(stated: dict[str, Any]) -> None:
    stated["texts"] = {**stated["texts"], "sha256": "0" * 64}


def _capitals(stated: dict[str, Any]) -> None:
    stated["texts"] = {**stated["texts"], "sha256": stated["texts"]["sha256"].upper()}


def _unknown(stated: dict[str, Any]) -> None:
    stated["texts"] = {**stated["texts"], "language": "../../sample"}


@pytest.mark.parametrize("kind", ["rows", "cubes", "cells"])
@pytest.mark.parametrize("part", ["", "public"])
@pytest.mark.parametrize(
    ("change", "passes"),
    [
        (_sha, None),
        (_capitals, None),
        (_unknown, None),
        (lambda stated: stated.pop("texts"), None),
        (lambda stated: stated.pop("messages"), False),
    ],
)
def test_texts_that_are_not_this_programs_are_not_passed_with_genuine_words(
    of_each_kind: dict[str, Path],
    context: AppContext,
    tmp_path: Path,
    kind: str,
    part: str,
    change: Callable[[dict[str, Any]], None],
    passes: bool | None,
) -> None:
    """``passes``: None for what is not checked, False for what fails."""
    release = Path(shutil.copytree(of_each_kind[kind], tmp_path / "copy"))
    stated: Any = manifest_of(release)
    change(stated)
    seal_again(release, stated)
    found = verify_release(release / part, context.registry, CancelToken(), silent)
    assert found.ok is (passes is None), found.failures
    if passes is None:
        assert TEXTS_CLAIM in [check.claim for check in found.not_checked()]


def test_the_checklist_says_in_every_language_what_was_not_compared(
    other: Path, context: AppContext
) -> None:
    found = check_release(context, other, CancelToken(), silent).checklist.item("verified")
    assert "could not be compared" in found.evidence
    with speaking("de") as speaker:
        said = speaker.say(found.evidence)
    assert "Texte des Programms, das sie erstellt hat" in said
    assert "texts of" not in said
