"""What the protect panel decides, without widgets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.types import SetMethod, SetParameters, SetRoles, WorkState
from dpdesk.core.charts import Figure
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import Role
from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.panels.protect import presenter
from dpdesk.ui.words import settings
from dpdesk.ui.words.settings import Situation

METHOD = KAnonymity()
COLUMNS = ("name", "age", "sex")


@pytest.fixture
def work() -> WorkState:
    state = WorkState(source=SourceSpec("people.csv"), base=Path("/data"))
    state = SetMethod("k-anonymity", {"k": 5, "max_suppression": 0.02}).apply(state)
    return SetRoles({"age": Role.QUASI_IDENTIFIER}).apply(state)


def situation(work: WorkState, *, has_data: bool = True) -> Situation:
    return Situation(has_data, False, COLUMNS if has_data else (), work, METHOD)


def test_nothing_is_missing_with_data_and_a_quasi_identifier(work: WorkState) -> None:
    assert settings.what_is_missing(situation(work)) is None


def test_data_come_first(work: WorkState) -> None:
    missing = settings.what_is_missing(situation(work, has_data=False))
    assert missing is not None
    assert missing.panel == "data"
    reading = replace(situation(work, has_data=False), loading=True)
    found = settings.what_is_missing(reading)
    assert found is not None
    assert found.title == "The data are being read"


def test_roles_come_second(work: WorkState) -> None:
    bare = SetRoles({"age": Role.INSENSITIVE}).apply(work)
    missing = settings.what_is_missing(situation(bare))
    assert missing is not None
    assert (missing.panel, missing.title) == ("attributes", "Mark at least one quasi-identifier")


def test_a_wrong_value_of_the_form_is_no_reason_to_leave(work: WorkState) -> None:
    wrong = SetParameters({"k": 1}).apply(work)
    assert settings.what_is_missing(situation(wrong)) is None


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("hierarchy.missing-leaf", "hierarchies"),
        ("csv.ragged", "data"),
        ("storage.missing", "data"),
        ("plan.unknown-column", "attributes"),
    ],
)
def test_each_error_leads_where_it_can_be_fixed(code: str, place: str) -> None:
    problem = JobFailed(1, "Searching", "input", code, "Something.")
    assert settings.problem_place(problem, METHOD) == place


def test_an_error_of_a_parameter_stays_here() -> None:
    problem = JobFailed(1, "Searching", "input", "parameter.invalid", "k", details={"key": "k"})
    assert settings.problem_place(problem, METHOD) == ""


def test_a_role_that_no_column_has_is_given_in_attributes() -> None:
    for method in (LDiverted(), Anatomy()):
        values = parse_parameters(method.parameters, {"l": 2}, "The plan")
        with pytest.raises(InputError) as found:
            method.check(("age",), {"age": Role.QUASI_IDENTIFIER}, values, "The plan")
        problem = JobFailed(
            1, "Searching", "input", found.value.code, "", details=found.value.details
        )
        assert settings.problem_place(problem, method) == "attributes"


def test_a_fault_of_the_program_leads_nowhere() -> None:
    problem = JobFailed(1, "Searching", "internal", "internal.KeyError", "A fault.")
    assert settings.problem_place(problem, METHOD) == ""


def test_only_what_changed_becomes_an_edit(work: WorkState) -> None:
    given = {
        "k": 6,
        "max_suppression": 0.02,
        "model": "AG_TS",
        "algorithm": "optimal",
        "objective": "loss",
    }
    parameters = presenter.form_parameters(METHOD)
    assert presenter.edits(given, work, parameters) == {"k": 6}
    changed = SetParameters({"k": 6}).apply(work)
    assert presenter.edits(given, changed, parameters) == {}


def test_a_value_that_no_longer_applies_is_taken_away(work: WorkState) -> None:
    entropy = SetParameters({"objective": "entropy"}).apply(work)
    given = {"k": 5, "max_suppression": 0.02, "algorithm": "samarati"}
    found = presenter.edits(given, entropy, presenter.form_parameters(METHOD))
    assert found == {"algorithm": "samarati", "objective": None}


def test_levels_are_picked_in_a_chart_not_in_the_form(work: WorkState) -> None:
    assert "levels" not in {one.key for one in presenter.form_parameters(METHOD)}
    picked = SetParameters({"levels": {"age": 2}}).apply(work)
    assert settings.levels_words(presenter.by_hand(METHOD, picked)) == "age 2"
    assert presenter.by_hand(METHOD, work) == {}


def test_settings_in_words_leave_defaults_out(work: WorkState) -> None:
    assert settings.settings_words(METHOD, work) == "k 5 rows · rows suppressed 2\u00a0%"
    more = SetParameters({"objective": "entropy", "model": "AG_TS"}).apply(work)
    assert settings.settings_words(METHOD, more).endswith("· objective entropy")


def test_parameters_do_not_need_another_search_but_roles_do(work: WorkState) -> None:
    assert presenter.same_search(work, SetParameters({"k": 9}).apply(work))
    assert not presenter.same_search(work, SetRoles({"sex": Role.QUASI_IDENTIFIER}).apply(work))
    assert not presenter.same_search(None, work)


def test_tiles_show_headlines_or_the_first_figures() -> None:
    plain = tuple(Figure(str(n), str(n), n) for n in range(9))
    assert presenter.headline_figures(plain) == plain[:6]
    marked = (*plain, Figure("loss", "Loss", 0.5, headline=True))
    assert [one.key for one in presenter.headline_figures(marked)] == ["loss"]
