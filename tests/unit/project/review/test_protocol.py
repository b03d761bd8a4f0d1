"""Locked protocols: made of a reviewed release, signed, and every departure is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from dpdesk.app.checklists import gather
from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.release import NO_EVIDENCE, Evidence, ReleaseFacts
from dpdesk.core.schema import ColumnType, Role
from dpdesk.core.shapes import ShapeError
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.events import Mode
from dpdesk.project.review.protocol import (
    Protocol,
    Signature,
    SignedProtocol,
    check_protocol,
    differences,
    protocol_of,
    read_protocol,
    require_developed,
    sign_protocol,
    signature_of,
    write_protocol,
)
from dpdesk.project.review.questions import CheckedFacts
from dpdesk.project.review.trust import RevokedAs
from dpdesk.project.review.votes import Outcome
from tests.helpers import releases as town
from tests.helpers.reviewing import AUTHOR, NOON, STRANGER, TRUST, Play, code

POLICY = code("policy")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    town.write_source(folder)
    return folder


@pytest.fixture(scope="module")
def made(context: AppContext, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "release"
    return town.release(source / "zq-plan.toml", out, context).out


@pytest.fixture(scope="module")
def facts(context: AppContext, made: Path) -> CheckedFacts:
    return gather(context, made, CancelToken(), silent)


@pytest.fixture(scope="module")
def protocol(facts: CheckedFacts) -> Protocol:
    return protocol_of(facts.release, facts.table, code("manifest"), POLICY, CancelToken())


@pytest.fixture(scope="module")
def signed(protocol: Protocol) -> SignedProtocol:
    return sign_protocol(protocol, AUTHOR, NOON)


def departing(facts: CheckedFacts, change: Mapping[str, object]) -> ReleaseFacts:
    """The release with one place of its evidence changed (``...`` removes it)."""
    evidence = deepcopy(facts.release.evidence.as_json())
    for path, value in change.items():
        *above, last = path.split(".")
        place: dict[str, object] = evidence
        for key in above:
            place = place[key]  # type: ignore[assignment]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return replace(facts.release, evidence=Evidence.from_json(evidence))


def test_a_protocol_holds_roles_types_hierarchies_and_protection(protocol: Protocol) -> None:
    assert [(each.name, each.role, each.type) for each in protocol.columns] == [
        (town.IDENTIFIER, Role.IDENTIFIER, None),
        ("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
        ("town", Role.QUASI_IDENTIFIER, ColumnType.TEXT),
        ("illness", Role.SENSITIVE, ColumnType.TEXT),
    ]
    assert set(protocol.hierarchies) == {"age", "town"}
    assert protocol.hierarchies["age"][0][-1] == "*"
    assert protocol.protection["k"] == town.K
    assert protocol.missing == ("",)
    assert protocol.release == code("manifest")
    assert town.SOURCE not in json.dumps(protocol.as_json())


def test_the_release_itself_departs_in_nothing(facts: CheckedFacts, protocol: Protocol) -> None:
    assert list(differences(protocol, facts.release, facts.table, POLICY)) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"plan.protection.k": 4}, "`k` is 4, not 5"),
        ({"plan.protection.max_suppression": 0.05}, "`max_suppression` is 0.05, not 0.02"),
        ({"plan.protection.objective": ...},
         '`objective` is missing, where the protocol has "discernibility"'),
        ({"plan.protection.levels": {"age": 1}},
         "`levels` is { age = 1 }, which differs from the protocol"),
        ({"roles.town": "sensitive"}, "`town` is sensitive, not quasi-identifier"),
        ({"roles.illness": ..., "roles.illnesses": "sensitive"},
         "the source has no column `illness`; is it `illnesses` now?"),
        ({"roles.shoe": "insensitive"}, "the column `shoe` is not in the protocol"),
        ({"hierarchies.town": [["Zqnorthby", "*"], ["New", "*"]]},
         "the hierarchy of `town` is different (values: 1 more, 3 fewer)"),
        ({"hierarchies.illness": [["cold", "*"]]},
         "`illness` has a hierarchy, but none in the protocol"),
        ({"hierarchies.age": []}, "the hierarchy of `age` is different"),
        ({"plan.source.missing": ["", "?"]}, 'the missing codes are ["", "?"], not [""]'),
        ({"source.reading.decimal": ","}, 'the decimal mark is ",", not "."'),
        ({"plan.budget": {"limit": 2}}, "`[budget]` is another"),
        ({"plan": {}}, "`method` is missing, where"),
    ],
)  # fmt: skip
def test_every_departure_is_named(
    facts: CheckedFacts, protocol: Protocol, change: Mapping[str, object], sentence: str
) -> None:
    found = list(differences(protocol, departing(facts, change), facts.table, POLICY))
    assert any(each.startswith(sentence) for each in found), found


def test_title_source_and_number_spelling_are_no_departure(
    facts: CheckedFacts, protocol: Protocol
) -> None:
    change = {"plan.title": "Next year", "plan.source.path": "other.csv", "plan.protection.k": 5}
    assert not list(differences(protocol, departing(facts, change), facts.table, POLICY))


def test_moved_leaves_and_another_policy_are_departures(
    facts: CheckedFacts, protocol: Protocol
) -> None:
    rows = [list(row) for row in protocol.hierarchies["age"]]
    rows[0][1] = rows[-1][1]
    found = list(differences(protocol, departing(facts, {"hierarchies.age": rows}), None, POLICY))
    assert found == ["the hierarchy of `age` is different (values: 1 placed elsewhere)"]
    turned = list(reversed(protocol.hierarchies["age"]))
    found = list(differences(protocol, departing(facts, {"hierarchies.age": turned}), None, POLICY))
    assert found == ["the hierarchy of `age` is different (the same values in another order)"]
    assert list(differences(protocol, facts.release, None, code("other"))) == [
        "the policy is not the one under which the protocol was made"
    ]


def test_an_unchanged_column_of_another_type_is_a_departure(
    facts: CheckedFacts, protocol: Protocol
) -> None:
    assert facts.table is not None
    columns = [
        replace(each, type=ColumnType.DATE) if each.name == "illness" else each
        for each in facts.table.columns
    ]
    table = replace(facts.table, columns=tuple(columns))
    assert list(differences(protocol, facts.release, table, POLICY)) == [
        "`illness` holds date values, not text"
    ]


def test_without_the_internal_part_nothing_can_be_compared(
    facts: CheckedFacts, protocol: Protocol
) -> None:
    bare = replace(facts.release, evidence=NO_EVIDENCE)
    assert list(differences(protocol, bare, facts.table, POLICY)) == [
        "the internal part, which holds the plan, is not available"
    ]
    with pytest.raises(InputError) as caught:
        protocol_of(bare, facts.table, code("m"), POLICY, CancelToken())
    assert caught.value.code == "protocol.no-evidence"


PLACES = (
    "plan", "source", "roles", "hierarchies", "roles.age", "hierarchies.age", "source.columns",
    "plan.source", "plan.protection", "source.reading",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", [None, 3, "x", ["x"], {"missing": 1}])
def test_no_evidence_breaks_the_comparison(
    facts: CheckedFacts, signed: SignedProtocol, place: str, value: object
) -> None:
    with suppress(ShapeError):  # such evidence is refused when it is read
        bent = departing(facts, {place: value})
        check_protocol(signed, bent, facts.table, POLICY, TRUST, NOON)
        with pytest.raises(InputError):
            protocol_of(bent, facts.table, code("m"), POLICY, CancelToken())


def test_a_protocol_is_read_as_it_was_written(
    context: AppContext, signed: SignedProtocol, tmp_path: Path
) -> None:
    path = tmp_path / "protocol.json"
    write_protocol(signed, path, context.workspace)
    found = read_protocol(path)
    assert found == signed
    assert found.id == signed.id
    assert signature_of(found, TRUST, NOON) is Signature.TRUSTED


def verdict(path: Path) -> Signature | str:
    try:
        return signature_of(read_protocol(path), TRUST, NOON)
    except InputError as error:
        return error.code


def test_a_byte_changed_anywhere_is_noticed(
    context: AppContext, signed: SignedProtocol, tmp_path: Path
) -> None:
    path = tmp_path / "protocol.json"
    write_protocol(signed, path, context.workspace)
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 300)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert verdict(path) in ("protocol.unreadable", Signature.BAD)


def test_who_writes_the_format_cannot_write_the_signature(
    signed: SignedProtocol, context: AppContext, tmp_path: Path
) -> None:
    weaker = replace(signed.protocol, protection={"method": "k-anonymity", "k": 2})
    forged = replace(signed, protocol=weaker)
    write_protocol(forged, tmp_path / "forged.json", context.workspace)
    assert signature_of(read_protocol(tmp_path / "forged.json"), TRUST, NOON) is Signature.BAD
    own = sign_protocol(weaker, STRANGER, NOON)
    assert signature_of(own, TRUST, NOON) is Signature.UNKNOWN
    borrowed = replace(own, person=AUTHOR.person)
    assert signature_of(borrowed, TRUST, NOON) is Signature.BAD


def test_a_protocol_of_tomorrow_is_not_trusted(signed: SignedProtocol) -> None:
    for minutes, worth in ((4, Signature.TRUSTED), (6, Signature.AHEAD), (99_999, Signature.AHEAD)):
        own = sign_protocol(signed.protocol, AUTHOR, NOON + timedelta(minutes=minutes))
        assert signature_of(own, TRUST, NOON) is worth


@pytest.mark.parametrize(
    ("kind", "days", "signature"),
    [
        (RevokedAs.RETIRED, 1, Signature.TRUSTED),
        (RevokedAs.RETIRED, -1, Signature.REVOKED),
        (RevokedAs.RETIRED, 3, Signature.REVOKED),
        (RevokedAs.COMPROMISED, 1, Signature.REVOKED),
    ],
)
def test_a_revoked_key_counts_only_where_it_was_retired_later(
    signed: SignedProtocol, kind: RevokedAs, days: int, signature: Signature
) -> None:
    when = NOON + timedelta(days=days)
    trust = TRUST.revoke(AUTHOR.fingerprint, when, "left", kind)
    assert signature_of(signed, trust, NOON + timedelta(days=2)) is signature


@pytest.mark.parametrize(
    ("key", "value"),
    [("format", 2), ("kind", "other"), ("columns", []), ("columns", [{"name": "a"}]),
     ("decimal", ";"), ("missing", [1]), ("hierarchies", {"a": [["x"], ["x"]]}),
     ("hierarchies", {"a": 3}), ("protection", {}), ("release", "ff"), ("time", "now"),
     ("extra", 1), ("budget", 3)],
)  # fmt: skip
def test_what_is_no_protocol_is_refused_in_one_sentence(
    signed: SignedProtocol, tmp_path: Path, key: str, value: object
) -> None:
    body = {**signed.body(), key: value}
    path = tmp_path / "protocol.json"
    path.write_bytes(canonical_json({"id": signed.id, "body": body, "signature": "00" * 64}))
    with pytest.raises(InputError) as caught:
        read_protocol(path)
    assert caught.value.code == "protocol.unreadable"
    assert caught.value.sentence.startswith(f"{path}: this is not a locked protocol")


def test_a_missing_file_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        read_protocol(tmp_path / "none.json")


def test_a_protocol_applies_to_another_source_and_gives_the_same_release(
    context: AppContext, signed: SignedProtocol, source: Path, tmp_path: Path
) -> None:
    from dpdesk.app.running import write_release

    token = CancelToken()
    work = signed.protocol.work(SourceSpec(town.SOURCE), source)
    plan, at_hand = replace(work, title="Next year").to_plan(), work.hand_made()
    with prepare_rows(context, PlacedPlan(plan, source, "plan", at_hand), token, silent) as ready:
        out = write_release(context, ready, tmp_path / "again", token, silent).out
    again = gather(context, out, token, silent)
    assert again.report.ok
    found = check_protocol(signed, again.release, again.table, POLICY, TRUST, NOON)
    assert found.differences == ()
    assert found.signature is Signature.TRUSTED


def test_only_an_approved_release_that_was_developed_can_be_locked() -> None:
    play = Play()
    with pytest.raises(RefusedError):
        require_developed(play.state)
    submitted = play.submit()
    with pytest.raises(RefusedError):
        require_developed(play.state)
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    assert require_developed(play.state) == submitted.release
    applied = Play()
    applied.submit(mode=Mode.APPLY, protocol_sha256=code("protocol"))
    applied.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    with pytest.raises(RefusedError):
        require_developed(applied.state)
