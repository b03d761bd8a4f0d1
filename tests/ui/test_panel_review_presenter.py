"""Decisions of the review panel, without a window."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.types import Candidate, Failure, Method, ReleaseFacts, VerifyReport, WorkState
from dpdesk.core.capabilities import Capabilities, Content
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.release import FIGURES_CLAIM, CheckStatus, ClaimCheck, Evidence
from dpdesk.core.schema import Role
from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.registered import default_registry
from dpdesk.ui.panels.review import presenter
from dpdesk.ui.panels.review.preparing import inspect_folder
from dpdesk.ui.panels.review.presenter import State, list_files, purpose, size_text
from tests.helpers import projects
from tests.helpers.stated import stated

WORK = WorkState(
    source=SourceSpec("people 2024.csv"),
    roles={"id": Role.IDENTIFIER, "age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER},
    method="k-anonymity",
    parameters={"k": 5},
)


def candidate(work: WorkState, result: Mapping[str, object]) -> Candidate:
    return replace(projects.candidate(state=work), result=result)


CONFIRMED = ClaimCheck("k = 5 over age", CheckStatus.CONFIRMED, "counted 3", "microdata.csv")
NEEDS = ClaimCheck("metrics, loss", CheckStatus.NEEDS_SOURCE, "says 0.2", "manifest.json")
NEVER = ClaimCheck("no one knows more", CheckStatus.NOT_CHECKABLE, "income", "microdata.csv")
BROKEN = ClaimCheck("rows_out", CheckStatus.FAILED, "counted 4, said 5", "microdata.csv")


def facts(internal: bool = True, **manifest: object) -> ReleaseFacts:
    return ReleaseFacts(
        Path("r/public"), Path("r/internal") if internal else None, stated(manifest)
    )


def test_columns_are_left_out_generalised_or_kept_as_the_result_says() -> None:
    made = candidate(WORK, {"node": {"age": 2, "sex": 0}})
    found = presenter.fates(("id", "age", "sex", "income"), made)
    assert found == presenter.Treatments(("id",), (("age", "2"),), ("sex", "income"))
    assert [text for _, text in found.lines()] == ["id", "age: level 2", "sex, income"]


def test_levels_are_named_by_a_group() -> None:
    names = {"age": ("", "30-39", "*")}
    made = replace(candidate(WORK, {"node": {"age": 1}}), level_names=names)
    lines = dict(presenter.fates(("age",), made).lines())
    assert lines["Generalised"] == "age: level 1 (30-39 …)"


@pytest.mark.parametrize(
    ("method", "key", "head"),
    [
        (LDiverted(), "sensitive", "Drawn at random"),
        (Anatomy(), "sensitive", "Apart from the rows"),
    ],
)
def test_a_drawn_column_is_not_released_as_it_is(method: Method, key: str, head: str) -> None:
    work = replace(WORK, parameters={key: ["income"]})
    found = presenter.fates(("sex", "income"), candidate(work, {}), method.capabilities)
    lines = dict(found.lines())
    assert (lines["As they are"], lines[head]) == ("sex", "income")


def test_of_tables_without_rows_no_column_is_released_as_it_is() -> None:
    parameters = {"rows": ["age"], "measure": {"sum": "income"}}
    made = candidate(replace(WORK, parameters=parameters), {})
    about = Capabilities(content=Content.CELLS)
    lines = presenter.fates(("id", "age", "sex", "income"), made, about).lines()
    assert lines == (("Left out", "id, sex"), ("Used", "age, income"))


def test_an_identifier_that_is_kept_stands_among_the_pseudonyms() -> None:
    work = replace(WORK, pseudonyms={"id": PseudonymSpec("k")})
    found = presenter.fates(("id", "age"), candidate(work, {"node": {"age": 1}}))
    assert found == presenter.Treatments((), (("age", "1"),), (), ("id",))
    assert found.lines()[-1] == ("As pseudonyms", "id")


def test_no_column_is_said_in_words_not_left_blank() -> None:
    found = presenter.fates(("sex",), candidate(WORK, {}))
    assert [text for _, text in found.lines()] == ["no column", "no column", "sex"]


def test_the_title_alone_does_not_make_another_release() -> None:
    assert presenter.same_release(WORK, replace(WORK, title="Other"))
    assert not presenter.same_release(WORK, replace(WORK, parameters={"k": 6}))
    assert not presenter.same_release(None, WORK)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("", "people-2024-release"),
        ("Town / survey: 2024", "town-survey-2024-release"),
        ("../..", "data-release"),
        ("Éire", "éire-release"),
        ("x" * 200, "x" * 60 + "-release"),
    ],
)
def test_the_folder_is_named_after_the_title_or_the_data(title: str, name: str) -> None:
    assert presenter.suggested_name(replace(WORK, title=title)) == name


def test_a_suggested_folder_is_never_one_that_exists(tmp_path: Path) -> None:
    assert presenter.free_folder(tmp_path, "a") == tmp_path / "a"
    (tmp_path / "a").mkdir()
    (tmp_path / "a-2").write_text("")
    assert presenter.free_folder(tmp_path, "a") == tmp_path / "a-3"


def test_a_folder_is_refused_when_something_is_in_the_way(tmp_path: Path) -> None:
    full, empty, file = tmp_path / "full", tmp_path / "empty", tmp_path / "file"
    full.mkdir()
    (full / "x").write_text("")
    empty.mkdir()
    file.write_text("")
    assert "already contains files" in presenter.folder_problem(str(full))
    assert "is a file" in presenter.folder_problem(str(file))
    assert "is a file" in presenter.folder_problem(str(file / "below" / "it"))
    assert "not an address" in presenter.folder_problem(f"file://{empty}")
    assert "full path" in presenter.folder_problem("relative/folder")
    assert "Name a folder" in presenter.folder_problem("  ")
    assert presenter.folder_problem(str(empty)) == ""
    assert presenter.folder_problem(str(tmp_path / "new" / "deep")) == ""


def test_what_changed_since_the_release_is_named() -> None:
    assert presenter.stale_words(WORK, WORK) == ""
    assert presenter.stale_words(None, WORK) == ""
    now = replace(WORK, parameters={"k": 9}, title="Other")
    assert "(settings, title)" in presenter.stale_words(WORK, now)


@pytest.mark.parametrize(
    ("rows", "fits"), [(None, True), (10, True), (1_048_575, True), (1_048_576, False)]
)
def test_an_excel_sheet_holds_a_header_and_the_rest_of_its_rows(
    rows: int | None, fits: bool
) -> None:
    found, note = presenter.excel_note(rows)
    assert found is fits
    assert ("1,048,576" in note) is not fits


def test_a_guarantee_is_read_from_the_manifest_and_never_made_up() -> None:
    given = {"claim": "Claim.", "assumes": ["One.", "Two."], "does_not_cover": ["Three."]}
    found = presenter.guarantee_of(facts(guarantee=given))
    assert found is not None
    assert (found.claim, found.assumes, found.does_not_cover) == (
        "Claim.",
        ("One.", "Two."),
        ("Three.",),
    )
    assert presenter.guarantee_of(facts()) is None
    assert presenter.guarantee_of(facts()) is None


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing may be written, whoever runs the test."""
    closed = tmp_path / "closed"
    closed.mkdir()
    allowed = os.access

    def access(path: str | Path, mode: int) -> bool:
        return allowed(path, mode) and Path(path) != closed

    monkeypatch.setattr(os, "access", access)
    return closed


def test_a_folder_that_may_not_be_written_in_is_named(read_only: Path, tmp_path: Path) -> None:
    problem = presenter.folder_problem(str(read_only / "new" / "release"))
    assert problem == f"You may not write to {read_only}: choose another place."
    assert presenter.folder_problem(str(tmp_path / "release")) == ""


def test_a_release_is_suggested_where_it_can_be_written(read_only: Path, tmp_path: Path) -> None:
    places = (read_only, tmp_path / "nowhere", tmp_path)
    found = inspect_folder("people-release", places, CancelToken(), silent)
    assert found.text == str(tmp_path / "people-release")
    assert found.problem == ""
    nothing_else = inspect_folder("people-release", (read_only,), CancelToken(), silent)
    assert "You may not write" in nothing_else.problem


def test_every_status_has_its_own_shape_and_word() -> None:
    report = VerifyReport(True, (CONFIRMED, NEEDS, NEVER), (), (), True)
    rows = presenter.check_rows(facts(), report, None)
    marks = [row.mark for row in rows]
    assert marks == [
        "✓ re-checked",
        "✓ re-checked",
        "✓ re-checked",
        "○ needs source",
        "– not checkable",
    ]
    assert rows[2].word == "re-checked from the public files"
    assert presenter.needs_source(rows)
    verdict = presenter.verdict(report, rows)
    assert verdict.kind == "ok"
    assert verdict.sentence == (
        "3 of 5 checks are confirmed, none failed. Could be settled with the source: 1. "
        "No check of files can show: 1."
    )


def test_what_other_texts_wrote_is_said_to_be_not_checked() -> None:
    unchecked = ClaimCheck("about.html", CheckStatus.NOT_CHECKED, "other texts", "about.html")
    report = VerifyReport(True, (CONFIRMED, unchecked), (), (), True)
    rows = presenter.check_rows(facts(), report, None)
    assert rows[-1].mark == "? not checked"
    assert rows[-1].word == "not checked: not compared"
    sentence = presenter.verdict(report, rows).sentence
    assert sentence.endswith("Not checked, because this program has other texts: 1.")


def test_a_check_with_the_source_says_so() -> None:
    report = VerifyReport(True, (CONFIRMED,), (), (), True)
    rows = presenter.check_rows(facts(), report, Path("people.csv"))
    assert rows[-1].word == "re-checked, with the source"
    assert not presenter.needs_source(rows)


def test_what_even_the_source_leaves_open_does_not_ask_for_it_again() -> None:
    report = VerifyReport(True, (CONFIRMED, NEEDS), (), (), True)
    rows = presenter.check_rows(facts(), report, Path("people.csv"))
    assert rows[-1].mark == "○ needs a new run"
    assert not presenter.needs_source(rows)
    assert "Only a new run could settle: 1." in presenter.verdict(report, rows).sentence


def test_failures_stand_first_once_each_and_forbid_the_rest() -> None:
    failures = (
        Failure("public/microdata.csv", "was changed"),
        Failure("public/microdata.csv", f"{BROKEN.claim}: {BROKEN.found}"),
    )
    report = VerifyReport(False, (CONFIRMED, BROKEN), failures, (), True)
    rows = presenter.check_rows(facts(), report, None)
    assert [row.state for row in rows[:2]] == [State.FAILED, State.FAILED]
    assert [row.claim for row in rows].count("public/microdata.csv") == 1
    verdict = presenter.verdict(report, rows)
    assert verdict.kind == "fail"
    assert "public/microdata.csv: was changed." in verdict.sentence
    assert "(1 more)" in verdict.sentence


def test_a_public_part_alone_is_unsealed_and_asks_for_caution_not_for_the_source() -> None:
    report = VerifyReport(True, (CONFIRMED,), (), ("manifest unsealed",), False)
    rows = presenter.check_rows(facts(internal=False), report, None)
    assert rows[1].mark == "○ unsealed"
    assert not presenter.needs_source(rows)
    assert presenter.verdict(report, rows).kind == "caution"


def test_a_broken_seal_of_a_whole_release_is_a_failure() -> None:
    failure = Failure("internal/seal.json", "was changed")
    report = VerifyReport(False, (), (failure,), (), False)
    rows = presenter.check_rows(facts(), report, None)
    assert all(row.state is State.FAILED for row in rows)


def test_keys_of_the_result_get_names_and_symbols_keep_their_case() -> None:
    def said(claim: str, label: str = "") -> str:
        return presenter.claim_words(ClaimCheck(claim, CheckStatus.CONFIRMED, "", label=label))

    assert said("rows_out", "Rows in the table") == "Rows in the table"
    assert said("rows_out") == "Rows out"
    assert said("k = 5 over age") == "k = 5 over age"
    assert said("the sentence") == "The sentence"
    assert said("values of birth_date") == "Values of birth_date"
    assert said("about.html says it") == "about.html says it"


def test_the_picture_needs_the_evidence_of_both_states() -> None:
    bins = [{"size": "1", "rows": 8, "classes": 8}, {"size": "2+", "rows": 2, "classes": 1}]
    after = [{"size": "1", "rows": 0, "classes": 0}, {"size": "2+", "rows": 9, "classes": 1}]
    risk = {"before": {"class_sizes": bins}, "after": {"class_sizes": after}}
    told = replace(facts(), evidence=Evidence(risk=risk))
    figures = ClaimCheck(FIGURES_CLAIM, CheckStatus.CONFIRMED, "the same")
    sound = VerifyReport(True, (figures,), (), (), True)
    chart = presenter.risk_picture(told, sound)
    assert chart is not None
    assert chart.answer == "8 rows of the original were in classes of 1; in the release 0 are."
    unseen = replace(sound, claims=(replace(figures, status=CheckStatus.NEEDS_SOURCE),))
    other = presenter.risk_picture(told, unseen)
    assert other is not None
    assert other.answer.endswith(" not compared with the source.")
    assert presenter.risk_picture(told, replace(sound, ok=False)) is None
    assert [one.values for one in chart.series] == [(0.8, 0.2), (0.0, 0.9)]
    assert chart.table.rows == (("1", 8, 0), ("2+", 2, 9))
    assert presenter.risk_picture(facts(), sound) is None
    broken = replace(facts(), evidence=Evidence(risk={"before": {"class_sizes": [1]}, "after": {}}))
    assert presenter.risk_picture(broken, sound) is None


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (13_194, "13.2 kB"),
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (1_410_704, "1.41 MB"),
        (5 * 10**15, "5,000 TB"),
    ],
)
def test_sizes_are_short(size: int | None, text: str) -> None:
    assert size_text(size) == text


def test_an_unknown_file_is_called_unknown() -> None:
    assert purpose("microdata.csv", {}).startswith("The protected table")
    assert purpose("raw.csv", {}).startswith("Not a file that")


@pytest.mark.parametrize("method", list(default_registry()), ids=lambda method: method.id)
def test_every_file_that_a_method_releases_is_explained(method: Method, tmp_path: Path) -> None:
    says = method.capabilities
    names = [*says.tables, *(f"{folder}/a.csv" for folder in says.folders or ())]
    names += {Content.ROWS: ["microdata.csv"], Content.CELLS: ["table.csv", "tables/b.csv"]}.get(
        says.content or Content.TABLES, []
    )
    held = [name for name in names if says.content is Content.CELLS]
    for part, files in (("public", names), ("internal", [*held, "evidence.json", "review.json"])):
        for name in files:
            path = tmp_path / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("a\n")
    manifest = stated({"files": {name: {"sha256": "", "bytes": 2} for name in names}})
    facts = ReleaseFacts(tmp_path / "public", tmp_path / "internal", manifest)
    (tmp_path / "public" / "other.csv").write_text("a\n")
    found = list_files(tmp_path, facts, says.content, CancelToken(), silent)
    said = {line.name: line.sentence for line in (*found.public, *(found.internal or ()))}
    assert said.keys() == {*names, "other.csv", "evidence.json", "review.json"}
    unknown = [name for name, sentence in said.items() if sentence.startswith("Not a file")]
    assert unknown == ["other.csv"]
