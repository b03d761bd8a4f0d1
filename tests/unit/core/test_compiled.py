"""The cache of compiled kernels: what goes wrong with it costs time, never the work."""

from __future__ import annotations

import errno

from dpdesk.core.compiled import _ForgivingCache


class Cache:
    """A cache of numba on a disk that refuses."""

    cache_path = "here"

    def __init__(self) -> None:
        self.flushed = 0

    def load_overload(self, signature: object, context: object) -> object:
        raise EOFError("Ran out of input")

    def save_overload(self, signature: object, data: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        self.flushed += 1


def test_a_damaged_cache_is_emptied_and_the_kernel_compiled_again() -> None:
    inner = Cache()
    assert _ForgivingCache(inner).load_overload("int64(int64)", None) is None
    assert inner.flushed == 1


def test_a_full_disk_only_keeps_the_kernel_from_being_kept() -> None:
    inner = Cache()
    _ForgivingCache(inner).save_overload("int64(int64)", b"code")
    assert inner.flushed == 0


def test_numba_asks_the_cache_for_the_rest_itself() -> None:
    assert _ForgivingCache(Cache()).cache_path == "here"
