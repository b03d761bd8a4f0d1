"""Where random bits come from.

A release takes its bits from :class:`SystemRandomness`. The protocol exists so that tests can hand
in streams they know; nothing in the program itself implements it a second time.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS_PER_KEY = 1 << 23
"""After this many 64-bit words (64 MiB, 2^22 cipher blocks) a new key is taken.

Blocks of a counter-mode stream never repeat under one key, blocks of truly random bits would. That
is the only difference by which such a stream is known to be told apart without breaking AES, and
with b blocks it shows with probability below b²/2^129: here 2^−85 for each key.
"""

_PIECE = 1 << 16  # words: how much is encrypted at once, so that nobody waits long for it
_ZEROS = bytes(8 * _PIECE)

# Grows in every process that is forked off: process numbers alone could come round again.
_forks: list[None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(None))


class RandomSource(Protocol):
    """A stream of independent, uniformly distributed bits."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """The next ``n`` words of 64 bits each, in an array of their own."""
        ...


class SystemRandomness:
    """AES-256 in counter mode, keyed by the operating system; safe to use from several threads.

    Every object has a key of its own (256 bits, with 128 bits for the first counter). After
    :data:`WORDS_PER_KEY` words it takes a new one from the operating system, so what leaks of a
    key never tells later numbers, nor more than that many earlier ones. A process that was forked
    off takes a new key before its first word. Objects can be neither copied nor pickled. (A virtual
    machine that is set back to a snapshot taken while it draws is beyond this; nothing in the
    process can notice.)
    """

    def __init__(self) -> None:
        self._key = _Key()

    def words(self, n: int) -> NDArray[np.uint64]:
        """The next ``n`` words of 64 bits each, in an array of their own."""
        import numpy as np

        if n < 0:
            raise ValueError("the number of words must not be negative")
        found = np.empty(n, np.uint64)
        done = 0
        while done < n:
            done += self._current().fill(found[done : done + _PIECE])
        return found

    def _current(self) -> _Key:
        """The key in use, or a new one where it is used up or of another process."""
        key = self._key
        if key.spent or key.foreign:
            # Two threads may each come here and make one: both are fresh, either may stay.
            self._key = key = _Key()
        return key

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of randomness is never copied: the copy would repeat its numbers")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.__reduce__()


class _Key:
    """One key, what is left of it, and the process it belongs to."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # Noted first: a fork after this line makes the key foreign to the child.
        self._process = (os.getpid(), len(_forks))
        self._lock = threading.Lock()
        self._left = WORDS_PER_KEY
        cipher = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(os.urandom(16)))
        self._stream = cipher.encryptor()

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    @property
    def foreign(self) -> bool:
        """Whether this process is another one than the key was made in."""
        return self._process != (os.getpid(), len(_forks))

    def fill(self, target: NDArray[np.uint64]) -> int:
        """Fill the beginning of an array; how many words it was, 0 when the key cannot be used."""
        with self._lock:
            count = max(0, min(len(target), self._left))
            if count:
                self._left -= count
                place = target[:count].data.cast("B")
                self._stream.update_into(memoryview(_ZEROS)[: 8 * count], place)
        # A signal may have forked this process since the key was chosen.
        return 0 if self.foreign else count
