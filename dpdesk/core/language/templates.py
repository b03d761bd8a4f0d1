"""Templates of sentences: a finished English sentence is matched and said in another language.

``Every group has at least {k:int} rows.`` is a pattern for whole sentences. The kinds of
placeholders say what may stand there and how it is said again:

``int``, ``number``
    a number in the program's own form; its marks change, its digits do not
``name``
    names, values, code: kept as they are
``names``
    ``a, b and c`` or ``a, b and 3 more``: the names are kept, the joining words are translated
``tables``
    tables of a cube by their dimensions, with counts of cells: ``a × b and 2 of the cells of c``
``phrase``
    words that a catalogue holds itself, or a number

A placeholder that stands twice must hold the same text twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from dpdesk.core.language.numbers import INTEGER, NUMBER

KINDS = ("int", "number", "name", "names", "tables", "phrase")
_PLACEHOLDER = re.compile(r"\{(?P<name>[a-z_][a-z0-9_]*):(?P<kind>[a-z]+)\}")
_STRICTNESS = {"int": 2, "number": 2, "names": 1, "tables": 1}
_MARKS = frozenset("`“”")
_GRAMMARS = {"int": INTEGER, "number": NUMBER}
_ANYTHING = r"(?s:.+?)"
_NO_SENTENCE = r"(?:(?![.!?] [A-Z“`])(?s:.))+?"
"""Names: what looks like the end of a sentence ends them, unless marks stand around them."""

Sayer = Callable[[str, str], "str | None"]
"""From the kind of a placeholder and what stands there to what is said; None when it cannot be."""


def placeholders(text: str) -> tuple[tuple[str, str], ...]:
    """Names and kinds of the typed placeholders of a text, in order.

    ValueError for a kind that is none of :data:`KINDS`.
    """
    found = tuple((one["name"], one["kind"]) for one in _PLACEHOLDER.finditer(text))
    for name, kind in found:
        if kind not in KINDS:
            raise ValueError(f"{{{name}:{kind}}}: the kind is none of {', '.join(KINDS)}")
    return found


def bare_of(text: str) -> str:
    """A text whose typed placeholders are names alone."""
    return _PLACEHOLDER.sub(lambda one: f"{{{one['name']}}}", text)


@dataclass(frozen=True)
class Template:
    """An English sentence with typed placeholders, and the same in another language."""

    english: str
    other: str

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The fixed parts of the sentence, in order."""
        return tuple(part for part in _PLACEHOLDER.sub("\0", self.english).split("\0") if part)

    @property
    def frame(self) -> tuple[str, ...]:
        """The fixed parts with one more than there are placeholders, some of them perhaps empty."""
        return tuple(_PLACEHOLDER.sub("\0", self.english).split("\0"))

    @property
    def weight(self) -> tuple[int, int, int]:
        """How specific it is: fixed characters, strict kinds, then how few placeholders it has."""
        kinds = [kind for _, kind in placeholders(self.english)]
        strict = sum(_STRICTNESS.get(kind, 0) for kind in kinds)
        return sum(map(len, self.literals)), strict, -len(kinds)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What matches whole sentences of this form."""
        return re.compile(_pattern_of(self.english))

    def may_match(self, sentence: str) -> bool:
        """Whether the fixed parts stand in the sentence, in order: cheap, and never wrongly no."""
        start = 0
        for part in self.literals:
            start = sentence.find(part, start)
            if start < 0:
                return False
            start += len(part)
        return True

    def said(self, sentence: str, say: Sayer) -> str | None:
        """The sentence in the other language; None when it is not of this form."""
        if not self.may_match(sentence):
            return None
        found = self.pattern.fullmatch(sentence)
        if found is None:
            return None
        values: dict[str, str] = {}
        for name, kind in placeholders(self.english):
            said = say(kind, found[name])
            if said is None:
                return None
            values[name] = said
        return self.filled(values)

    def filled(self, values: Mapping[str, str]) -> str:
        """The sentence in the other language, with what is said for each placeholder."""
        return _PLACEHOLDER.sub(lambda one: values[one["name"]], self.other)


def _pattern_of(text: str) -> str:
    pieces, end, seen = [], 0, set()
    placeholders(text)
    for one in _PLACEHOLDER.finditer(text):
        pieces.append(re.escape(text[end : one.start()]))
        name, end = one["name"], one.end()
        marked = text[max(one.start() - 1, 0) : one.start()] in _MARKS
        free = one["kind"] == "phrase" or (marked and text[end : end + 1] in _MARKS)
        grammar = _GRAMMARS.get(one["kind"], _ANYTHING if free else _NO_SENTENCE)
        pieces.append(f"(?P={name})" if name in seen else f"(?P<{name}>{grammar})")
        seen.add(name)
    return "".join([*pieces, re.escape(text[end:])])
