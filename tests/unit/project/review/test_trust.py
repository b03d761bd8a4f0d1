"""The list of trusted keys: who joins it, who looks like somebody else, what revoking does."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.review.cards import Card
from dpdesk.project.review.trust import RevokedAs, TrustList, TrustStore, parse_trust
from tests.helpers.reviewing import AUTHOR, BEN, CLARA, NOON, signer, trusting
from tests.unit.project.review.test_cards import SMALL

SECOND_BEN = signer("Ben", 1)


def code_of(error: pytest.ExceptionInfo[InputError]) -> str:
    return error.value.code


def test_one_person_may_have_two_keys_but_a_key_comes_once() -> None:
    trust = trusting(BEN, SECOND_BEN)
    assert trust.persons() == ("Ben",)
    with pytest.raises(InputError) as caught:
        trust.add(BEN.card, NOON)
    assert code_of(caught) == "trust.duplicate"


def test_a_key_has_one_holder() -> None:
    trust = trusting(BEN)
    other = Card("Clara", BEN.card.key, NOON, "")
    with pytest.raises(InputError) as caught:
        trust.add(other, NOON)
    assert code_of(caught) == "trust.other-person"


def test_a_look_alike_of_a_person_in_the_list_is_refused() -> None:
    trust = trusting(signer("Nora Alan"))
    with pytest.raises(InputError) as caught:
        trust.add(signer("Nora AIan").card, NOON)
    assert code_of(caught) == "trust.look-alike"
    cyrillic = signer("\u0420\u0435\u0440\u0435\u0440")
    assert trust.add(cyrillic.card, NOON).persons() == ("Nora Alan", cyrillic.person)
    with pytest.raises(InputError) as caught:
        trusting(signer("Pepep")).add(cyrillic.card, NOON)
    assert code_of(caught) == "trust.look-alike"
    with pytest.raises(InputError) as caught:
        trust.merged(trusting(signer("N0ra Alan")))
    assert code_of(caught) == "trust.look-alike"


def test_revoking_keeps_the_earlier_time_and_the_graver_kind() -> None:
    trust = trusting(BEN).revoke(BEN.fingerprint, NOON, "left", RevokedAs.RETIRED)
    later = NOON + timedelta(days=1)
    again = trust.revoke(BEN.fingerprint, later, "stolen", RevokedAs.COMPROMISED)
    entry = again.entry(BEN.fingerprint)
    assert entry is not None
    assert entry.revoked is not None
    assert (entry.revoked.time, entry.revoked.kind) == (NOON, RevokedAs.COMPROMISED)
    assert entry.revoked.reason == "stolen"
    assert again.persons() == ()
    with pytest.raises(InputError) as caught:
        trust.revoke(CLARA.fingerprint, NOON, "left")
    assert code_of(caught) == "trust.missing"
    for reason in ("", "  ", "a\nb", "x" * 501):
        with pytest.raises(InputError) as caught:
            trust.revoke(BEN.fingerprint, NOON, reason)
        assert code_of(caught) == "trust.reason"


def test_merging_lists_never_forgets_a_revocation() -> None:
    revoked = trusting(AUTHOR, BEN).revoke(BEN.fingerprint, NOON, "stolen")
    plain = trusting(BEN, CLARA)
    one, other = revoked.merged(plain), plain.merged(revoked)
    assert one == other
    assert one.persons() == ("Anna", "Clara")
    assert one.fingerprint_of_list() == other.fingerprint_of_list()


def test_a_list_reads_back_the_same() -> None:
    trust = trusting(BEN, CLARA).revoke(BEN.fingerprint, NOON, "left", RevokedAs.RETIRED)
    assert parse_trust(trust.to_bytes(), "list") == trust
    assert parse_trust(TrustList().to_bytes(), "list") == TrustList()


def test_a_changed_list_is_damaged() -> None:
    raw = json.loads(trusting(BEN, CLARA).revoke(BEN.fingerprint, NOON, "left").to_bytes())
    ben, clara = raw["entries"]
    changed = [
        [clara, ben],
        [ben, ben],
        [{**ben, "fingerprint": clara["fingerprint"]}, clara],
        [{**ben, "person": "Ben\u200b"}, clara],
        [{**ben, "added": "yesterday"}, clara],
        [{**ben, "revoked": {"time": "x", "kind": "retired", "reason": "y"}}, clara],
        [{**ben, "revoked": {**ben["revoked"], "kind": "lost"}}, clara],
        [{**ben, "revoked": True}, clara],
        [{**ben, "more": 1}, clara],
        [{key: value for key, value in ben.items() if key != "revoked"}, clara],
        [1],
        "x",
        None,
    ]
    for entries in changed:
        with pytest.raises(InputError) as caught:
            parse_trust(canonical_json({**raw, "entries": entries}), "list")
        assert code_of(caught) == "trust.damaged"
    for key, value in (("format", 2), ("format", True), ("kind", "x"), ("more", 1)):
        with pytest.raises(InputError) as caught:
            parse_trust(canonical_json({**raw, key: value}), "list")
        assert code_of(caught) == "trust.damaged"


def test_a_weak_key_does_not_come_in_by_a_file() -> None:
    raw = json.loads(trusting(BEN).to_bytes())
    fingerprint = hashlib.sha256(bytes.fromhex(SMALL[0])).hexdigest()
    raw["entries"][0] |= {"key": SMALL[0], "fingerprint": fingerprint}
    with pytest.raises(InputError) as caught:
        parse_trust(canonical_json(raw), "list")
    assert "weak" in caught.value.sentence


def test_the_store_adds_revokes_exports_and_imports(tmp_path: Path, keeper: Workspace) -> None:
    here, there = TrustStore(tmp_path / "here"), TrustStore(tmp_path / "there")
    assert here.load() == TrustList()
    here.add(BEN.card, NOON)
    here.add(CLARA.card, NOON)
    here.revoke(BEN.fingerprint, NOON, "left", RevokedAs.RETIRED)
    here.export_list(tmp_path / "list.json", keeper)
    there.add(AUTHOR.card, NOON)
    assert there.import_list(tmp_path / "list.json").persons() == ("Anna", "Clara")
    assert there.load().entry(BEN.fingerprint) == here.load().entry(BEN.fingerprint)
    here.path.write_bytes(b"{}")
    with pytest.raises(InputError) as caught:
        here.load()
    assert code_of(caught) == "trust.damaged"
    here.path.unlink()
    here.path.symlink_to(there.path)
    with pytest.raises(InputError) as caught:
        here.load()
    assert code_of(caught) == "file.kind"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Ben. Ott",
            "BenOtt",
            "Bén Ott",
            "Dr. Ben Ott",
            "Ott, Ben",
            "OTT Ben",
            "Prof. Dr. Ben Ott",
        ),
        *("Ott, Dr. Ben", "Ben Ott, Ph.D.", "Ben Ott MSc", "Herr Ben Ott", "Dr.Ben Ott"),
        *("Ben Ott, M. A.", "Dr. med. h. c. Ben Ott", "Dipl.-Ing. Bén Ott"),
    ],
)
def test_another_spelling_of_a_person_in_the_list_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        trusting(signer("Ben Ott")).add(signer(name).card, NOON)
    assert code_of(caught) == "trust.look-alike"


def test_other_people_are_not_refused() -> None:
    names = ("Ben Ott", "Benno Ott", "Ben Otto", "Ben Maria Ott", "Ida Ott", "Ben Li", "Li Ing")
    trust = TrustList()
    for name in names:
        trust = trust.add(signer(name).card, NOON)
    assert trust.spellings() == ()
    assert len({trust.identity(name) for name in names}) == len(names)


def test_titles_and_the_order_of_names_give_no_second_vote() -> None:
    names = ("Dr. Anna Weber", "Anna Weber", "Weber, Anna", "Clara Uhl")
    trust = TrustList(tuple(trusting(signer(name)).entries[0] for name in names))
    assert len({trust.identity(name) for name in names}) == 2
    assert trust.spellings() == (
        ("Dr. Anna Weber", "Anna Weber"),
        ("Dr. Anna Weber", "Weber, Anna"),
    )


def test_spellings_that_an_older_list_holds_count_as_one_person() -> None:
    entries = [trusting(signer(name)).entries[0] for name in ("Ben Ott", "Ben. Ott", "Clara Uhl")]
    trust = TrustList(tuple(entries))
    read = parse_trust(trust.merged(TrustList()).to_bytes(), "list")
    assert read.identity("Ben. Ott") == read.identity("Ben Ott") != read.identity("Clara Uhl")
    assert {frozenset(pair) for pair in read.spellings()} == {frozenset(("Ben Ott", "Ben. Ott"))}
