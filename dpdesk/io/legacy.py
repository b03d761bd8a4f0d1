"""Guessing an 8-bit encoding for a text that is not UTF-8. A guess is always told, never silent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

CANDIDATES = ("cp1252", "iso8859_2", "cp1250")
_WORD = re.compile(rb"[^\s,;|\t\"]*[\x80-\xff][^\s,;|\t\"]*")
_ENOUGH = 20_000


@dataclass(frozen=True)
class LegacyGuess:
    """The likeliest encoding, a word read with it, and how many words are valid UTF-8 instead."""

    encoding: str
    example: str
    utf8_words: int


def high_words(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Words that hold a byte above 127, from a stream, up to some thousands.

    A word cut by a chunk's end is left out, so that no half character misleads.
    """
    given = 0
    for chunk in chunks:
        if chunk.isascii():
            continue
        for found in _WORD.finditer(chunk):
            if (found.start() > 0 and found.end() < len(chunk)) or len(chunk) < 4096:
                yield found.group()
                given += 1
        if given >= _ENOUGH:
            return


def guess_legacy(words: Iterable[bytes]) -> LegacyGuess:
    """Choose the encoding in which the words look most like words of a language.

    Letters beside letters count for an encoding, signs and undefined bytes inside words against
    it; ties go to the commoner encoding (cp1252 first).
    """
    sample = list(words)
    utf8 = sum(is_utf8(word) for word in sample)
    scores = {encoding: sum(_score(w, encoding) for w in sample) for encoding in CANDIDATES}
    best = max(CANDIDATES, key=lambda encoding: scores[encoding])
    example = sample[0].decode(best, "replace")[:40] if sample else ""
    return LegacyGuess(best, example, utf8)


def is_utf8(word: bytes) -> bool:
    """Whether these bytes are a text in UTF-8."""
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _score(word: bytes, encoding: str) -> float:
    try:
        text = word.decode(encoding)
    except UnicodeDecodeError:
        return -10.0
    score = 0.0
    for position, character in enumerate(text):
        if character < "\x80":
            continue
        around = text[max(0, position - 1) : position] + text[position + 1 : position + 2]
        in_word = any(neighbour.isalpha() for neighbour in around)
        if "\x80" <= character <= "\x9f":
            score -= 5.0
        elif character.isalpha():
            score += 1.0
        elif in_word:
            score -= 1.0
    return score
