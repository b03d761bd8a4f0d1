"""Public keys and signatures: weak keys, second signatures and changed cards are refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from dpdesk.core.errors import InputError
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.cards import (
    Card,
    Purpose,
    fingerprint_of,
    is_honest_key,
    key_fault,
    parse_card,
    read_card,
    signature_holds,
)
from tests.helpers.reviewing import BEN, CLARA

ORDER = 2**252 + 27742317777372353535851937790883648493
PRIME = 2**255 - 19
# The eight points of small order in their one spelling, and the second spellings of some.
SMALL = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
SECOND_SPELLINGS = [
    "0100000000000000000000000000000000000000000000000000000000000080",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def test_the_library_alone_would_take_a_forged_signature_under_a_weak_key() -> None:
    neutral = Ed25519PublicKey.from_public_bytes(bytes.fromhex(SMALL[0]))
    forged = bytes.fromhex(SMALL[0]) + bytes(32)
    neutral.verify(forged, Purpose.EVENT.message(b"anything at all"))
    assert not signature_holds(SMALL[0], Purpose.EVENT, b"anything at all", forged.hex())


@pytest.mark.parametrize("key", SMALL + SECOND_SPELLINGS)
def test_weak_keys_are_no_keys(key: str) -> None:
    assert key_fault(key)
    assert not is_honest_key(bytes.fromhex(key))


def test_a_key_with_a_part_of_small_order_is_refused() -> None:
    from dpdesk.project.review import cards as points

    honest, small = (
        points._decoded(bytes.fromhex(BEN.card.key)),
        points._decoded(bytes.fromhex(SMALL[4])),
    )
    assert honest is not None
    assert small is not None
    x, y, z, _ = points._added(honest, small)
    inverse = pow(z, -1, PRIME)
    x, y = x * inverse % PRIME, y * inverse % PRIME
    mixed = (y | (x & 1) << 255).to_bytes(32, "little")
    Ed25519PublicKey.from_public_bytes(mixed)
    assert not is_honest_key(mixed)


def test_keys_that_are_made_are_honest() -> None:
    for number in range(20):
        seed = hashlib.sha256(bytes([number])).digest()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        assert is_honest_key(
            Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        )


def test_a_signature_has_no_second_form() -> None:
    signature = bytes.fromhex(BEN.sign(Purpose.EVENT, b"body"))
    assert signature_holds(BEN.card.key, Purpose.EVENT, b"body", signature.hex())
    number = int.from_bytes(signature[32:], "little") + ORDER
    other = signature[:32] + number.to_bytes(32, "little")
    assert not signature_holds(BEN.card.key, Purpose.EVENT, b"body", other.hex())
    assert not signature_holds(BEN.card.key, Purpose.EVENT, b"body", signature.hex().upper())
    for value in (None, 5, "", signature.hex()[:-2], signature.hex() + "00", "zz" * 64):
        assert not signature_holds(BEN.card.key, Purpose.EVENT, b"body", value)


def test_a_signature_of_one_kind_is_none_of_another() -> None:
    signature = BEN.sign(Purpose.CARD, b"body")
    for purpose in (Purpose.EVENT, Purpose.PROTOCOL):
        assert not signature_holds(BEN.card.key, purpose, b"body", signature)
    lines = [purpose.message(b"") for purpose in Purpose]
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines)
    assert len(set(lines)) == len(lines)


def test_a_card_can_be_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "ben.json"
    path.write_bytes(BEN.card.to_bytes())
    assert read_card(path) == BEN.card
    assert BEN.card.fingerprint == hashlib.sha256(bytes.fromhex(BEN.card.key)).hexdigest()


@pytest.mark.parametrize("key", sorted(BEN.card.as_json()))
def test_each_field_of_a_card_is_signed(key: str) -> None:
    other: dict[str, object] = {
        "format": 2,
        "kind": "dpdesk-private-key",
        "person": "Clara",
        "key": CLARA.card.key,
        "fingerprint": CLARA.fingerprint,
        "created": "2026-01-01T00:00:00Z",
        "signature": CLARA.card.signature,
    }
    for value in (other[key], None, [], 5, True, "x"):
        with pytest.raises(InputError, match="card"):
            parse_card(canonical_json({**BEN.card.as_json(), key: value}))
    without = {name: value for name, value in BEN.card.as_json().items() if name != key}
    with pytest.raises(InputError):
        parse_card(canonical_json(without))


def test_a_card_for_a_weak_key_is_refused_however_well_it_is_signed() -> None:
    weak = Card("Ben", SMALL[0], BEN.card.created, SMALL[0] + "00" * 32)
    with pytest.raises(InputError) as caught:
        parse_card(weak.to_bytes())
    assert caught.value.code == "card.key"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": 1, "a": 2}\n',
        b"x" * 70_000,
        json.dumps(BEN.card.as_json()).encode(),
        BEN.card.to_bytes() + b"\n",
        b"\xef\xbb\xbf" + BEN.card.to_bytes(),
    ],
)
def test_bytes_that_are_no_card_are_refused(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        parse_card(data)
    assert caught.value.code == "card.unreadable"


def test_the_fingerprint_is_of_the_raw_key() -> None:
    assert fingerprint_of("00" * 32) == hashlib.sha256(bytes(32)).hexdigest()
