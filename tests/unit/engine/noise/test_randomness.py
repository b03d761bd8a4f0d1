"""The source of randomness never repeats itself, whatever is done to it."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpdesk.engine.noise import SystemRandomness, randomness


def test_words_are_as_many_as_asked_for_and_of_64_bits() -> None:
    source = SystemRandomness()
    for n in (0, 1, 3, 70_000):
        words = source.words(n)
        assert words.dtype == np.uint64
        assert len(words) == n
    assert words.flags.owndata
    # Each of the 64 bits is fair: 70,000 bits miss the half by 6 standard deviations in 2e-9.
    ones = ((words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).sum(axis=0)
    assert abs(ones.astype(float) - 35_000).max() < 7 * np.sqrt(70_000) / 2


def test_a_negative_number_of_words_is_an_error() -> None:
    with pytest.raises(ValueError, match="negative"):
        SystemRandomness().words(-1)


def test_no_two_sources_and_no_two_calls_give_the_same_words() -> None:
    one, other = SystemRandomness(), SystemRandomness()
    words = np.concatenate([one.words(500), other.words(500), one.words(500)])
    assert len(np.unique(words)) == 1500


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"]
)
def test_a_source_cannot_be_duplicated(duplicate: object) -> None:
    with pytest.raises(TypeError, match="never copied"):
        duplicate(SystemRandomness())  # type: ignore[operator]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_goes_on_with_other_words() -> None:
    source = SystemRandomness()
    source.words(10)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of pytest may run here
        try:
            os.write(write, source.words(100).tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    ours = source.words(100)
    assert len(theirs) == 100
    assert len(np.unique(np.concatenate([ours, theirs]))) == 200


def test_a_new_key_is_taken_after_the_stated_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "WORDS_PER_KEY", 1000)
    drawn: list[int] = []

    def system(size: int) -> bytes:
        drawn.append(size)
        return bytes(size)  # the same key each time, so that the stream starts again

    monkeypatch.setattr(randomness.os, "urandom", system)
    source = SystemRandomness()
    words = source.words(2500)
    assert (words[:1000] == words[1000:2000]).all()
    assert (words[:500] == words[2000:]).all()
    assert len(np.unique(words[:1000])) == 1000
    assert drawn == [32, 16] * 3


def test_the_stream_is_aes_256_in_counter_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    # NIST SP 800-38A, F.5.5: key, counter, plaintext, ciphertext; their sum is the key stream.
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    cipher = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5")
    monkeypatch.setattr(randomness.os, "urandom", {32: key, 16: counter}.__getitem__)
    stream = SystemRandomness().words(4).tobytes()
    assert stream == bytes(a ^ b for a, b in zip(plain, cipher, strict=True))


def test_threads_that_share_a_source_get_different_words() -> None:
    source = SystemRandomness()
    with ThreadPoolExecutor(4) as pool:
        words = np.concatenate(list(pool.map(source.words, [999] * 40)))
    assert len(np.unique(words)) == len(words)
