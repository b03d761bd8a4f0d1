from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.plan import SourceSpec
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.project.candidates import Candidate, CandidateShelf
from dpdesk.project.work import WorkState


def candidate(name: str = "", **roles: Role) -> Candidate:
    guarantee = Guarantee("k-anonymity", {"k": 5}, "Claim.", (), ())
    work = WorkState(source=SourceSpec("a.csv"), roles=roles)
    return Candidate(0, name, work, guarantee, (), (), {}, datetime(2026, 1, 1, tzinfo=UTC))


def test_candidates_are_numbered_and_named_in_turn() -> None:
    shelf = CandidateShelf()
    assert [shelf.add(candidate()).name for _ in range(2)] == ["Candidate A", "Candidate B"]
    shelf.remove(1)
    assert shelf.add(candidate()).name == "Candidate C"
    assert [kept.id for kept in shelf.candidates] == [2, 3]


def test_no_more_are_kept_than_can_be_compared() -> None:
    shelf = CandidateShelf()
    for _ in range(6):
        shelf.add(candidate())
    assert shelf.full
    with pytest.raises(InputError) as error:
        shelf.add(candidate())
    assert error.value.code == "candidates.full"


def test_a_candidate_can_be_renamed_but_not_to_nothing() -> None:
    shelf = CandidateShelf()
    shelf.add(candidate())
    assert shelf.rename(1, " mild ").name == "mild"
    assert shelf.rename(1, "  ").name == "mild"


def test_the_scope_is_the_data_and_the_quasi_identifiers() -> None:
    one = candidate(age=Role.QUASI_IDENTIFIER, sex=Role.SENSITIVE)
    same = candidate(age=Role.QUASI_IDENTIFIER)
    other = candidate(age=Role.QUASI_IDENTIFIER, sex=Role.QUASI_IDENTIFIER)
    assert one.scope == same.scope
    assert one.scope != other.scope
