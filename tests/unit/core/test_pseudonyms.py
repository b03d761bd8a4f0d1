"""What plans say of pseudonyms, and the encoding from which keys of domains are made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.plan import Plan
from dpdesk.core.pseudonyms import PseudonymSpec, domain_frame, framed, is_key_name
from dpdesk.core.schema import Role

TEXTS = st.lists(st.text(max_size=12), max_size=5)


def plan(attribute: dict[str, object]) -> Plan:
    raw = {
        "version": 1,
        "source": {"path": "a.csv"},
        "attributes": {"id": attribute},
        "protection": {"method": "k-anonymity", "k": 3},
    }
    return Plan.from_plain(raw, "p.toml")


@given(TEXTS, TEXTS)
def test_different_texts_have_different_frames(one: list[str], other: list[str]) -> None:
    assert (framed(*one) == framed(*other)) is (one == other)


@given(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9), st.integers(0, 9))
def test_moving_a_letter_from_one_field_to_the_next_changes_the_frame(
    a: str, b: str, c: str, cut: int
) -> None:
    moved = framed(a + b[:cut], b[cut:], c)
    assert (moved == framed(a, b, c)) is (b[:cut] == "")


def test_a_plan_reads_back_what_it_says_of_a_pseudonym() -> None:
    table = {
        "key": "people 2026",
        "scope": "domain",
        "domain": "persons",
        "length": 40,
        "of": "group",
        "values": "number",
    }
    read = plan({"role": "identifier", "pseudonym": table})
    assert read.pseudonyms == {
        "id": PseudonymSpec("people 2026", "domain", "persons", 40, "group", "number")
    }
    assert read.as_plain()["attributes"] == {"id": {"role": "identifier", "pseudonym": table}}
    assert read.column_roles(["id", "x"]) == {"id": Role.PSEUDONYM, "x": Role.INSENSITIVE}


def test_defaults_are_of_this_release_alone_and_are_not_written() -> None:
    read = plan({"role": "identifier", "pseudonym": {"key": "k"}})
    assert read.pseudonyms["id"] == PseudonymSpec("k", "release", "", 26, "person", "text")
    assert read.pseudonyms["id"].as_plain() == {"key": "k"}


@pytest.mark.parametrize(
    ("attribute", "code", "says"),
    [
        ({"role": "sensitive", "pseudonym": {"key": "k"}}, "plan.pseudonym-role", "sensitive"),
        ({"role": "pseudonym"}, "plan.invalid", "one of"),
        ({"role": "identifier", "pseudonym": "k"}, "plan.invalid", "table"),
        ({"role": "identifier", "pseudonym": {}}, "plan.missing-key", "`key`"),
        ({"role": "identifier", "pseudonym": {"key": "../k"}}, "plan.invalid", "name"),
        ({"role": "identifier", "pseudonym": {"key": "k", "lenght": 30}}, "plan.unknown-key", ""),
        ({"role": "identifier", "pseudonym": {"key": "k", "length": 25}}, "plan.invalid", "26"),
        ({"role": "identifier", "pseudonym": {"key": "k", "length": 53}}, "plan.invalid", "52"),
        ({"role": "identifier", "pseudonym": {"key": "k", "length": True}}, "plan.invalid", ""),
        ({"role": "identifier", "pseudonym": {"key": "k", "scope": "all"}}, "plan.invalid", ""),
        (
            {"role": "identifier", "pseudonym": {"key": "k", "scope": "domain"}},
            "plan.missing-key",
            "`domain`",
        ),
    ],
)
def test_a_plan_that_is_wrong_about_a_pseudonym_is_refused(
    attribute: dict[str, object], code: str, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        plan(attribute)
    assert caught.value.code == code
    assert says in caught.value.sentence
    assert "[attributes.id]" in caught.value.sentence


@pytest.mark.parametrize("name", ["", " a", "a ", "a/b", "..\\a", "x" * 61, "a\nb"])
def test_a_key_cannot_be_called_what_is_no_name(name: str) -> None:
    assert not is_key_name(name)


def test_a_salt_goes_with_pseudonyms_of_one_release_and_with_no_others() -> None:
    release, domain = PseudonymSpec("k"), PseudonymSpec("k", "domain", "d")
    assert domain_frame(release, "id", "aa") != domain_frame(release, "id", "ab")
    assert domain_frame(domain, "id", "") == domain_frame(domain, "other", "")
    for spec, salt in ((release, ""), (domain, "aa")):
        with pytest.raises(ValueError, match="salt"):
            domain_frame(spec, "id", salt)
