"""Key files: what opens them, what is said when they are damaged, and that nothing leaks."""

from __future__ import annotations

import copy
import json
import pickle
import stat
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.review.cards import Purpose, read_card, signature_holds
from dpdesk.project.review.keys import (
    COST,
    LEAST_COST,
    MOST_COST,
    Argon2Cost,
    KeyStore,
    check_of,
    checked_passphrase,
)
from tests.helpers.reviewing import BEN, NOON

pytestmark = pytest.mark.costly_keys
CHEAP = Argon2Cost(time=1, lanes=1, kib=8)
GOOD, OTHER = "four words of nothing", "some other long phrase"
ROOT = Path(__file__).parents[4]


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path, cheap_for_tests=CHEAP)


def code_of(error: pytest.ExceptionInfo[InputError]) -> str:
    return error.value.code


def test_a_new_key_signs_after_its_passphrase_was_given(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD, NOON)
    signer = keys.unlock(card.fingerprint, GOOD)
    assert signer.card == card
    signature = signer.sign(Purpose.EVENT, b"body")
    assert signature_holds(card.key, Purpose.EVENT, b"body", signature)


def test_keys_are_for_their_user_alone(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    assert stat.S_IMODE(keys.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in keys.folder.iterdir()] == [path.name]


def test_a_wrong_passphrase_is_told_from_a_damaged_file(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    with pytest.raises(InputError) as caught:
        keys.unlock(card.fingerprint, OTHER)
    assert code_of(caught) == "key.passphrase"
    path = keys.folder / f"{card.fingerprint}.json"
    data = bytearray(path.read_bytes())
    place = data.index(b'"sealed": "') + len(b'"sealed": "')
    data[place] = ord("0") if data[place] != ord("0") else ord("1")
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        keys.unlock(card.fingerprint, GOOD)
    assert code_of(caught) == "key.damaged"
    assert str(path) in caught.value.sentence


def test_every_field_of_a_key_file_is_guarded_even_with_a_new_check(keys: KeyStore) -> None:
    card, clara = keys.create("Ben", GOOD, NOON), keys.create("Clara", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    raw = json.loads(path.read_bytes())
    other = json.loads((keys.folder / f"{clara.fingerprint}.json").read_bytes())
    other |= {"format": 2, "kind": "dpdesk-public-key"}
    other["argon2"] = {**other["argon2"], "time": 2}
    for key in raw.keys() - {"check"}:
        forged = {**raw, key: other[key]}
        path.write_bytes(canonical_json({**forged, "check": check_of(forged)}))
        with pytest.raises(InputError) as caught:
            keys.unlock(card.fingerprint, GOOD)
        assert code_of(caught) in ("key.damaged", "key.passphrase"), key


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff", b'{"a": 1, "a": 1}\n', b"[" * 70_000, b"[" * 10_000]
)
def test_a_key_file_that_cannot_be_read_is_named(keys: KeyStore, data: bytes) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        keys.unlock(card.fingerprint, GOOD)
    assert str(path) in caught.value.sentence
    stored = keys.keys()[0]
    assert stored.card is None
    assert str(path) in stored.problem
    with pytest.raises(InputError) as caught:
        keys.find("Ben")
    assert (code_of(caught), caught.value.sentence) == ("key.damaged", stored.problem)


def test_a_key_that_others_can_read_is_closed_when_it_is_used(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    path.chmod(0o666)
    keys.folder.chmod(0o777)
    keys.unlock(card.fingerprint, GOOD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.folder.stat().st_mode) == 0o700


def test_costs_outside_the_limits_are_not_tried(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    raw = json.loads(path.read_bytes())
    for name, value in (
        ("kib", 2**31),
        ("time", 10**6),
        ("lanes", 10**6),
        ("time", 0),
        ("kib", 1.5),
    ):
        forged = {**raw, "argon2": {**raw["argon2"], name: value}}
        path.write_bytes(canonical_json({**forged, "check": check_of(forged)}))
        with pytest.raises(InputError) as caught:
            keys.unlock(card.fingerprint, GOOD)
        assert code_of(caught) == "key.damaged"


def test_a_store_that_is_not_for_tests_takes_no_cheap_key(keys: KeyStore, tmp_path: Path) -> None:
    card = keys.create("Ben", GOOD)
    with pytest.raises(InputError) as caught:
        KeyStore(tmp_path).unlock(card.fingerprint, GOOD)
    assert code_of(caught) == "key.damaged"
    assert COST.within(LEAST_COST, MOST_COST)
    assert (COST.time, COST.lanes, COST.kib) == (3, 4, 65536)


def test_no_code_of_the_program_asks_for_cheap_keys() -> None:
    users = {
        path.name
        for path in (ROOT / "dpdesk").rglob("*.py")
        if "cheap_for_tests" in path.read_text("utf-8")
    }
    assert users == {"keys.py"}


def test_the_full_cost_opens_what_it_closed(tmp_path: Path) -> None:
    store = KeyStore(tmp_path)
    card = store.create("Ben", GOOD)
    assert store.unlock(card.fingerprint, GOOD).card == card


def test_a_missing_key_is_named(keys: KeyStore, keeper: Workspace) -> None:
    for text in (BEN.fingerprint, "../../etc/passwd", "", "x"):
        with pytest.raises(InputError) as caught:
            keys.unlock(text, GOOD)
        assert code_of(caught) == "key.missing"
    with pytest.raises(InputError) as caught:
        keys.export_card(BEN.fingerprint, keys.folder / "card.json", keeper)
    assert code_of(caught) == "key.missing"


@pytest.mark.parametrize(
    "passphrase", ["", "short", "eleven char", "aaaaaaaaaaaaaaaa", "abababababababab", "ä" * 600]
)
def test_passphrases_that_are_easily_guessed_are_refused(keys: KeyStore, passphrase: str) -> None:
    with pytest.raises(InputError) as caught:
        keys.create("Ben", passphrase)
    assert code_of(caught) == "key.passphrase-rule"
    assert keys.keys() == ()


def test_a_passphrase_is_the_same_in_either_form_of_its_accents(keys: KeyStore) -> None:
    card = keys.create("Ben", "caf\u00e9 au lait tous les jours")
    assert keys.unlock(card.fingerprint, "cafe\u0301 au lait tous les jours").card == card
    assert checked_passphrase("e\u0301" + GOOD) == ("\u00e9" + GOOD).encode()


def test_an_odd_passphrase_is_wrong_and_nothing_else(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    for passphrase in ("", "\ud800", "x" * 5000, "\x00"):
        with pytest.raises(InputError) as caught:
            keys.unlock(card.fingerprint, passphrase)
        assert code_of(caught) == "key.passphrase"


def test_changing_the_passphrase_shuts_the_old_one_out(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    before = (keys.folder / f"{card.fingerprint}.json").read_bytes()
    with pytest.raises(InputError):
        keys.change_passphrase(card.fingerprint, OTHER, GOOD)
    with pytest.raises(InputError):
        keys.change_passphrase(card.fingerprint, GOOD, "short")
    assert (keys.folder / f"{card.fingerprint}.json").read_bytes() == before
    keys.change_passphrase(card.fingerprint, GOOD, OTHER)
    assert keys.unlock(card.fingerprint, OTHER).card == card
    with pytest.raises(InputError):
        keys.unlock(card.fingerprint, GOOD)


def test_two_files_of_one_key_share_no_random_part(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    one = json.loads(path.read_bytes())
    keys.change_passphrase(card.fingerprint, GOOD, GOOD)
    other = json.loads(path.read_bytes())
    assert one["argon2"]["salt"] != other["argon2"]["salt"]
    assert one["nonce"] != other["nonce"]
    assert one["sealed"] != other["sealed"]


def test_the_private_part_is_nowhere_to_be_seen(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    signer = keys.unlock(card.fingerprint, GOOD)
    seed = signer._secret()
    assert seed.hex() not in repr(signer)
    assert seed.hex().encode() not in (keys.folder / f"{card.fingerprint}.json").read_bytes()
    for pass_on in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            pass_on(signer)
    signer.forget()
    with pytest.raises(InputError) as caught:
        signer.sign(Purpose.EVENT, b"body")
    assert code_of(caught) == "key.locked"


def test_keys_are_found_by_person_or_by_the_first_digits(keys: KeyStore) -> None:
    ben, clara = keys.create("Ben Okri", GOOD), keys.create("Clara", GOOD)
    assert keys.find("ben  OKRI") == ben
    assert keys.find(clara.fingerprint[:8]) == clara
    spaced = " ".join(clara.fingerprint[i : i + 4] for i in range(0, 20, 4))
    assert keys.find(spaced.upper()) == clara
    for text in ("Dora", clara.fingerprint[:7], ""):
        with pytest.raises(InputError) as caught:
            keys.find(text)
        assert code_of(caught) == "key.missing"
    keys.create("Clara", GOOD)
    with pytest.raises(InputError) as caught:
        keys.find("Clara")
    assert code_of(caught) == "key.ambiguous"


def test_a_card_is_exported_for_others(keys: KeyStore, tmp_path: Path, keeper: Workspace) -> None:
    card = keys.create("Ben", GOOD)
    assert keys.export_card(card.fingerprint, tmp_path / "ben.json", keeper) == card
    assert read_card(tmp_path / "ben.json") == card


def test_a_private_part_that_belongs_to_another_key_is_not_used(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    path.write_bytes(keys._sealed(card, BEN._secret(), checked_passphrase(GOOD)))
    with pytest.raises(InputError) as caught:
        keys.unlock(card.fingerprint, GOOD)
    assert code_of(caught) == "key.damaged"
    assert "another key" in caught.value.sentence


def test_a_file_under_another_name_or_a_link_is_not_used(keys: KeyStore) -> None:
    card = keys.create("Ben", GOOD)
    path = keys.folder / f"{card.fingerprint}.json"
    renamed = keys.folder / f"{BEN.fingerprint}.json"
    path.rename(renamed)
    with pytest.raises(InputError) as caught:
        keys.unlock(BEN.fingerprint, GOOD)
    assert code_of(caught) == "key.damaged"
    path.symlink_to(renamed)
    with pytest.raises(InputError) as caught:
        keys.unlock(card.fingerprint, GOOD)
    assert "link" in caught.value.sentence
