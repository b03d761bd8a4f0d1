"""Policies: what is refused and how, and that a policy is the same wherever it is read."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.project.review.policy import (
    BUILT_IN,
    LIMITS,
    MODES,
    Policy,
    PolicyRelation,
    agency_policy,
    column_pattern,
    folded,
    read_policy,
    standing_of,
)

WHOLE = """\
version = 1
title = "Public use files"
reviewers = 3
methods = ["k-anonymity", "anatomy"]
require_proven_optimal = true
require_source_verification = true

[limits]
minimum_k = 10
maximum_suppression = 0.0
maximum_t = 0.30
maximum_epsilon = 1.5
dominance = { n = 2, k = 80 }

[columns]
forbidden = ["*_id", "Name"]
required = ["age"]

[modes]
allowed = ["apply"]

[sign_offs]
data-owner = "Has the owner of the data agreed?"
"""


def save(folder: Path, text: str, name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def refused(folder: Path, text: str, name: str = "policy.toml") -> InputError:
    with pytest.raises(InputError) as caught:
        read_policy(save(folder, text, name))
    return caught.value


def test_a_policy_is_read_with_every_key_and_exact_numbers(tmp_path: Path) -> None:
    policy = read_policy(save(tmp_path, WHOLE))
    assert policy.title == "Public use files"
    assert policy.reviewers == 3
    assert policy.methods == ("k-anonymity", "anatomy")
    assert policy.limits == {
        "minimum_k": 10,
        "maximum_suppression": Fraction(0),
        "maximum_t": Fraction(3, 10),
        "maximum_epsilon": Fraction(3, 2),
        "dominance": {"n": 2, "k": Fraction(80)},
    }
    assert policy.forbidden == ("*_id", "Name")
    assert policy.required == ("age",)
    assert policy.modes == ("apply",)
    assert policy.require_proven_optimal
    assert policy.require_source_verification
    assert policy.sign_offs == {"data-owner": "Has the owner of the data agreed?"}
    assert policy.whole("minimum_k") == 10
    assert policy.share("maximum_suppression") == 0
    assert policy.share("maximum_average_risk") is None


def test_a_policy_without_a_key_asks_for_two_reviewers_and_nothing_else(tmp_path: Path) -> None:
    policy = read_policy(save(tmp_path, "version = 1\n"))
    assert policy.reviewers == 2
    assert (policy.limits, policy.forbidden, policy.required) == ({}, (), ())
    assert policy.methods is None
    assert policy.modes == MODES
    assert not policy.require_source_verification


def test_json_of_the_same_shape_is_the_same_policy(tmp_path: Path) -> None:
    policy = read_policy(save(tmp_path, WHOLE))
    text = json.dumps(policy.as_plain())
    assert read_policy(save(tmp_path, text, "policy.json")) == policy


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "policy.version", "policy.toml: `version` is missing, expected 1; a policy begins "
         "with `version = 1`."),
        ("version = 2", "policy.version", "policy.toml, line 1: `version` is 2, expected 1; a "
         "policy begins with `version = 1`."),
        ("version = true", "policy.version", "policy.toml, line 1: `version` is true, expected 1; "
         "a policy begins with `version = 1`."),
        ("version = 1\n[limits]\nminimun_k = 3", "policy.unknown-key", "policy.toml, line 3, "
         "[limits]: unknown key `minimun_k`; did you mean `minimum_k`?"),
        ("version = 1\n[colums]\n", "policy.unknown-key", "policy.toml, line 2: unknown key "
         "`colums`; did you mean `columns`?"),
        ("version = 1\n\n[limits]\n# k\nminimum_k = 1", "parameter.invalid", "policy.toml, line 5, "
         "[limits]: `minimum_k` is 1, expected a whole number of 2 or more."),
        ("version = 1\n[limits]\nminimum_k = '5'", "parameter.invalid", "policy.toml, line 3, "
         '[limits]: `minimum_k` is "5", expected a whole number of 2 or more.'),
        ("version = 1\n[limits]\nmaximum_suppression = 2", "parameter.invalid", "policy.toml, "
         "line 3, [limits]: `maximum_suppression` is 2, expected a share from 0 to 1, such as "
         "0.02."),
        ("version = 1\n[limits]\nmaximum_t = nan", "policy.invalid", "policy.toml, line 3: "
         "`limits.maximum_t` is nan, expected a finite number of at most 1,000 digits, "
         "the first 15 of which distinguish it from a whole one."),
        ("version = 1\n[limits]\nmaximum_epsilon = 0", "parameter.invalid", "policy.toml, line 3, "
         "[limits]: `maximum_epsilon` is 0, expected a number above 0."),
        ("version = 1\n[limits]\ndominance = { n = 2 }", "parameter.invalid", "policy.toml, "
         "line 3, [limits]: `dominance` is { n = 2 }, expected a table such as { n = 2, k = 80 }, "
         "k in percent."),
        ("version = 1\n[limits]\ndominance = { n = 2, k = 0.8 }", "parameter.invalid",
         "policy.toml, line 3, [limits]: `dominance` is { n = 2, k = 0.8 }, expected a table such "
         "as { n = 2, k = 80 }, k in percent."),
        ("version = 1\nlimits = 3", "policy.invalid", "policy.toml, line 2: `limits` is 3, "
         "expected a table `[limits]`."),
        ("version = 1\nreviewers = 0", "parameter.invalid", "policy.toml, line 2: `reviewers` is "
         "0, expected a whole number from 1 to 64."),
        ("version = 1\nrequire_proven_optimal = 1", "parameter.invalid", "policy.toml, line 2: "
         "`require_proven_optimal` is 1, expected true or false."),
        ("version = 1\n[modes]\nallowed = ['plan']", "policy.invalid", "policy.toml, line 3, "
         '[modes]: `allowed` is ["plan"], expected one or both of `develop` and `apply`.'),
        ("version = 1\n[columns]\nforbidden = ['a', ' ']", "policy.invalid", "policy.toml, line 3, "
         '[columns]: `forbidden` is " ", expected names of columns.'),
        ("version = 1\n[sign_offs]\n'The Owner' = 'x'", "policy.invalid", "policy.toml, line 3, "
         '[sign_offs]: `The Owner` is "x", expected a short name of small letters, digits and '
         "hyphens as its key."),
        ("version = 1\n[sign_offs]\nowner = ''", "policy.invalid", "policy.toml, line 3, "
         '[sign_offs]: `owner` is "", expected a question or a sentence on one line.'),
        ("version = 1\ntitle = open", "policy.syntax", "policy.toml, line 2, column 9: this is not "
         "valid TOML: invalid value; texts are written in quotes, such as title = "
         '"Public use files".'),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_with_file_line_and_what_was_expected(
    text: str, code: str, line: str, tmp_path: Path
) -> None:
    error = refused(tmp_path, text)
    assert error.code == code
    assert error.line == line


def test_a_fault_in_json_is_told_without_a_line(tmp_path: Path) -> None:
    error = refused(tmp_path, '{"version": 1, "limits": {"minimum_k": 1}}', "policy.json")
    assert error.sentence.startswith("policy.json, [limits]: `minimum_k` is 1")


def test_a_policy_nested_without_end_is_refused(tmp_path: Path) -> None:
    text = '{"version": 1, "limits": ' + '{"a": ' * 5_000 + "1" + "}" * 5_000 + "}"
    assert refused(tmp_path, text, "policy.json").code == "policy.syntax"


limit_values = st.fixed_dictionaries(
    {},
    optional={
        "minimum_k": st.integers(2, 10**6),
        "maximum_suppression": st.decimals(0, 1, places=6),
        "maximum_t": st.floats(0, 1, allow_subnormal=False).filter(lambda t: not 0 < t < 1e-250),
        "maximum_epsilon": st.decimals("0.0001", 100, places=4),
        "dominance": st.fixed_dictionaries(
            {"n": st.integers(1, 9), "k": st.decimals(2, 100, places=3)}
        ),
    },
)


@settings(deadline=None)
@given(limit_values, st.text(max_size=8), st.integers(1, 64))
def test_a_policy_carried_by_a_submission_is_the_same_policy(
    limits: dict[str, object], title: str, reviewers: int
) -> None:
    title = title.encode("utf-8", "ignore").decode("utf-8")
    raw = {"version": 1, "title": title, "reviewers": reviewers, "limits": limits}
    policy = Policy.from_plain(raw, "policy")
    carried = parse_canonical(canonical_json(policy.as_plain()))
    assert Policy.from_plain(carried, "submission") == policy
    assert Policy.from_plain(carried, "submission").sha256 == policy.sha256


def test_a_number_of_very_many_digits_is_the_same_policy_when_carried() -> None:
    raw = {"version": 1, "limits": {"maximum_t": Decimal("0." + "123456789" * 9)}}
    policy = Policy.from_plain(raw, "policy")
    assert Policy.from_plain(policy.as_plain(), "submission") == policy


def test_every_limit_changes_the_hash() -> None:
    values = {"dominance": {"n": 2, "k": 80}}
    found = {BUILT_IN.sha256}
    for limit in LIMITS:
        raw = {"version": 1, "limits": {limit.key: values.get(limit.key, 2)}}
        if limit.key.startswith("maximum_") and limit.key not in (
            "maximum_columns",
            "maximum_epsilon",
        ):
            raw["limits"] = {limit.key: Decimal("0.5")}
        found.add(Policy.from_plain(raw, "policy").sha256)
    assert len(found) == len(LIMITS) + 1


def test_the_agency_policy_is_the_one_in_the_home_folder(tmp_path: Path) -> None:
    assert agency_policy(tmp_path).policy == BUILT_IN
    assert agency_policy(tmp_path).given is None
    path = save(tmp_path, WHOLE)
    found = agency_policy(tmp_path)
    assert found.path == path
    assert found.policy.reviewers == 3


@pytest.mark.parametrize("text", ["version = 3", "version = 1\n[limits]\nk = 3"])
def test_an_agency_policy_that_cannot_be_read_is_never_passed_over(
    text: str, tmp_path: Path
) -> None:
    save(tmp_path, text)
    with pytest.raises(InputError):
        agency_policy(tmp_path)


def test_an_agency_policy_that_is_a_broken_link_is_never_passed_over(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(StorageError):
        agency_policy(tmp_path)


def test_how_a_policy_stands_to_that_of_this_computer() -> None:
    ours = Policy(reviewers=3)
    assert standing_of(ours, ours) is PolicyRelation.OWN
    assert standing_of(ours, Policy(reviewers=4)) is PolicyRelation.OTHER
    assert standing_of(BUILT_IN, None) is PolicyRelation.BUILT_IN
    assert standing_of(ours, None) is PolicyRelation.UNKNOWN
    assert standing_of(BUILT_IN, BUILT_IN) is PolicyRelation.OWN


@pytest.mark.parametrize(
    ("pattern", "name", "hit"),
    [
        ("*_id", "Person_ID", True),
        ("*_id", "id", False),
        ("na?e", "NAME", True),
        ("na?e", "nae", False),
        ("[ab]", "a", False),
        ("[ab]", "[AB]", True),
        ("a.c", "abc", False),
        ("*", "anything\nat all", True),
        ("stra\u00dfe", "STRASSE", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("name", " name ", True),
    ],
)
def test_column_names_match_without_regard_to_capitals(pattern: str, name: str, hit: bool) -> None:
    assert bool(column_pattern(pattern).fullmatch(folded(name))) is hit
