"""Readings of a message: its text with marks for its values, some of them written out as words.

A message may be in the catalogue as a whole, with its inner messages as values of their own, or
with the words of these written out. All are found by their fixed parts; no value is ever searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product

from dpdesk.core.messages import Message, frame

MARK = "\ue000"
"""Marks the place of a value."""

Reading = tuple[str, tuple[str, ...]]
"""A text with marks, and the values that these stand for, in order."""

_SENTENCES = re.compile(r"(?<=[.!?:;]) (?=\S)")
_MOST_READINGS = 600
_LONGEST_WORDS = 200
_WRAPPED = ((re.compile("`[^`]*`"), "`", "`"), (re.compile(r".*\d %"), "", " %"))
"""Values whose quotation marks or per cent signs are part of the words of an entry."""


def reading(message: Message) -> Reading:
    """The message with all its values marked."""
    literals, names = frame(message.template)
    return MARK.join(literals), tuple(message.values[name] for name in names)


def spread(found: Reading) -> Reading:
    """The same with all messages in it written out."""
    return _put(found[0], [_written_out(value) for value in found[1]])


def readings(found: Reading) -> Iterator[Reading]:
    """All readings, the given one first: each value marked, or as words where it may be words."""
    text, values = found
    choices = product(*map(_choices, values))
    return (_put(text, chosen) for chosen in islice(choices, _MOST_READINGS))


def sentences(found: Reading) -> list[Reading]:
    """The sentences of a reading; what looks like the end of one inside a value is not."""
    parts, start = [], 0
    for text in _SENTENCES.split(found[0]):
        end = start + text.count(MARK)
        parts.append((text, found[1][start:end]))
        start = end
    return parts


def run(parts: Sequence[Reading]) -> Reading:
    """Sentences one after another as one reading."""
    return " ".join(text for text, _ in parts), tuple(one for _, held in parts for one in held)


def _choices(value: str) -> list[Reading]:
    found: list[Reading] = [(MARK, (value,))]
    if isinstance(value, Message):
        found += readings(reading(value))
    elif type(value) is str and len(value) <= _LONGEST_WORDS and MARK not in value:
        found += [_inside(value, one) for one in _WRAPPED if one[0].fullmatch(value)]
        found.append((value, ()))
    return found


def _inside(value: str, wrapped: tuple[re.Pattern[str], str, str]) -> Reading:
    _, before, after = wrapped
    return f"{before}{MARK}{after}", (value[len(before) : len(value) - len(after)],)


def _written_out(value: str) -> Reading:
    return spread(reading(value)) if isinstance(value, Message) else (MARK, (value,))


def _put(text: str, chosen: Sequence[Reading]) -> Reading:
    literals = text.split(MARK)
    ends = zip(chosen, literals[1:], strict=True)
    whole = literals[0] + "".join(f"{words}{literal}" for (words, _), literal in ends)
    return whole, tuple(value for _, held in chosen for value in held)
