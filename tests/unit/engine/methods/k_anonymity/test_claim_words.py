"""Claims are said in plain words, and no more is said of an optimum than the search claims."""

from __future__ import annotations

import pytest

from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.verifiers.promises import in_words


def label(claim: str, algorithm: str = "optimal", *, proven: bool = True) -> str:
    result = {"proven_optimal": proven, "node": {"age": 1}}
    manifest = {"result": result, "parameters": {"algorithm": algorithm}}
    check = ClaimCheck(claim, CheckStatus.CONFIRMED, "", "manifest.json")
    return in_words((check,), manifest)[0].label


def test_keys_get_words_and_sentences_stay_as_they_are() -> None:
    assert label("rows_out") == "Rows in the table"
    assert label("k = 5 over age") == ""


@pytest.mark.parametrize(
    ("algorithm", "proven", "words"),
    [
        ("optimal", True, "No other levels are better by the objective"),
        ("samarati", True, "No fewer generalisation steps are enough"),
        ("optimal", False, "Better levels may exist: no optimum is claimed"),
        ("something new", True, "The search found its optimum"),
    ],
)
def test_an_optimum_is_what_the_search_claims(algorithm: str, proven: bool, words: str) -> None:
    assert label("proven_optimal", algorithm, proven=proven) == words


def test_a_manifest_without_a_result_claims_nothing() -> None:
    check = ClaimCheck("proven_optimal", CheckStatus.FAILED, "")
    assert in_words((check,), {})[0].label.startswith("Better levels may exist")
