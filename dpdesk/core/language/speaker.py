"""Who speaks: texts, finished sentences and numbers in the language that is set."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from dpdesk.core.language.catalogue import ENGLISH, PAGES, TEXTS, Catalogue, read_catalogue
from dpdesk.core.language.numbers import NumberMarks, is_figure
from dpdesk.core.language.readings import (
    MARK,
    Reading,
    reading,
    readings,
    run,
    sentences,
    spread,
)
from dpdesk.core.language.templates import Template, placeholders
from dpdesk.core.messages import Counted, Listed, Message, bare, joined

_SENTENCES = re.compile(r"(?<=[.!?:;]) (?=\S)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST_PARTS = 40
_GRAND_TOTAL = "grand total"
_TOTAL = f"the {_GRAND_TOTAL}"
_MARKED = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"`[^`]*`(?: \([^`]*\))?")
_CELLS = re.compile(
    r"(?P<count>\d[\d,]*) (?:cell|of the cells) of (?P<table>.+?) \((?P<cells>.*)\)", re.DOTALL
)
_CELLS_MORE = re.compile(r"(.*) and (\d[\d,]*) more", re.DOTALL)
_BETWEEN = re.compile(r", (?![^(]*\))")
_AND, _MORE = " and ", re.compile(r"(\d[\d,]*) more")
_HEARD: ContextVar[list[str] | None] = ContextVar("untranslated", default=None)
_VOICE: ContextVar[Voice]


class Untranslated(str):
    """An English text that the language lacks; pages mark it as English."""

    __slots__ = ()


def message(text: str) -> str:
    """The text itself: marks a constant as a message that catalogues hold."""
    return text


class Voice:
    """Speaks one language. What it lacks stays English and is noted (see :func:`listening`)."""

    def __init__(self, catalogue: Catalogue | None = None, names: Collection[str] = ()) -> None:
        self._catalogue = catalogue
        self._names = frozenset(names)
        self._said: dict[str, str | None] = {}
        self.language = catalogue.language if catalogue else ENGLISH
        self.marks = catalogue.marks if catalogue else NumberMarks()

    def text(self, english: str, **values: object) -> str:
        """A message with its ``{placeholders}`` filled; see :meth:`filled`."""
        return self.filled(self.template(english), **values)

    def template(self, english: str) -> str:
        """A message as it stands in the catalogue, with its placeholders."""
        if self._catalogue is None:
            return english
        found = self._catalogue.plain.get(english)
        return Untranslated(self._lacks(english)) if found is None else found

    def counted(self, count: int, one: str, many: str, **values: object) -> str:
        """The message for one or for many; ``{n}`` is the count."""
        return self.filled(self.counted_template(count, one, many), n=count, **values)

    def counted_template(self, count: int, one: str, many: str) -> str:
        """The message for one or for many as it stands in the catalogue."""
        english = one if count == 1 else many
        if self._catalogue is None:
            return english
        forms = self._catalogue.plurals.get(one)
        if forms is None:
            return Untranslated(self._lacks(english))
        return forms[self._catalogue.plural_form(count)]

    def filled(self, template: str, **values: object) -> str:
        """A message with its placeholders filled.

        Whole numbers get this language's marks, all other values stand as they are. Fields in a
        text without values stay, and an :class:`Untranslated` text stays one.
        """
        if not values:
            return template
        whole = template.format(**{name: self._shown(value) for name, value in values.items()})
        return Untranslated(whole) if isinstance(template, Untranslated) else whole

    def _shown(self, value: object) -> object:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return self.count(int(str(value))) if whole else value

    def say(self, sentence: str) -> str:
        """A finished English sentence, or several, or a number, in this language."""
        said = self.known(sentence)
        return Untranslated(self._lacks(sentence)) if said is None else said

    def known(self, sentence: str) -> str | None:
        """As :meth:`say`, but None for what this language lacks."""
        if self._catalogue is None or not sentence.strip() or isinstance(sentence, Untranslated):
            return sentence
        if isinstance(sentence, Listed):
            return self._said_list(sentence)
        if isinstance(sentence, Message):
            said = self._message(sentence)
            if said is not None:
                return said
        if sentence not in self._said:
            self._said[sentence] = self._translated(sentence)
        return self._said[sentence]

    def figure(self, number: str) -> str:
        """A number as the program writes it, with this language's marks; other texts stay."""
        if self._catalogue is None or not is_figure(number):
            return number
        return self.marks.written(number)

    def count(self, number: int) -> str:
        """A whole number with marks between thousands."""
        return self.figure(f"{number:,}")

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of this language, most specific first."""
        return self._catalogue.templates if self._catalogue else ()

    def day(self, date: str) -> str:
        """A day ``YYYY-MM-DD`` as this language writes it; any other text stays."""
        if self._catalogue is None or not _DAY.fullmatch(date):
            return date
        from babel.dates import format_date

        try:
            return str(format_date(datetime.date.fromisoformat(date), "medium", self.language))
        except ValueError:
            return date

    def matches(self, sentence: str) -> list[Template]:
        """The templates that the sentence is of, most specific first."""
        return [one for one in self.templates if one.said(sentence, self._filling) is not None]

    def _lacks(self, english: str) -> str:
        heard = _HEARD.get()
        if heard is not None:
            heard.append(english)
        return english

    def _message(self, message: Message) -> str | None:
        """A message by its structure; None where the catalogue lacks it or a value of it."""
        if isinstance(message, Counted):
            said = self._plural(message)
            if said is not None:
                return said
        found = reading(message)
        if not any(map(str.isalpha, found[0].replace(MARK, ""))):
            said = self._wordless(found)
            if said is not None:
                return said
        return self._read(found) or self._sentences(found) or self._sentences(spread(found))

    def _plural(self, message: Counted) -> str | None:
        """A counted message in the form that this language has for its count."""
        assert self._catalogue is not None
        one, many = map(bare, message.forms)
        forms = self._catalogue.counted.get((one, many))
        if forms is None:
            return None
        values: dict[str, str] = {}
        for name, kind in placeholders(forms[0].english):
            said = self._value(kind, message.values[name])
            if said is None:
                return None
            values[name] = said
        return forms[self._catalogue.plural_form(message.number)].filled(values)

    def _wordless(self, found: Reading) -> str | None:
        """What has no words of its own: its values, with what stands between them."""
        said = [self._alone(value) for value in found[1]]
        if any(one is None for one in said):
            return None
        literals = found[0].split(MARK)
        ends = zip(said, literals[1:], strict=True)
        return literals[0] + "".join(f"{one}{literal}" for one, literal in ends)

    def _alone(self, value: str) -> str | None:
        if isinstance(value, Message | Listed):
            return self.known(value)
        if is_figure(value) or _MARKED.fullmatch(value):
            return self.figure(value)
        return self._catalogue.plain.get(value) if self._catalogue else value

    def _sentences(self, found: Reading) -> str | None:
        """Several sentences of one message, each as long as one that is known can be."""
        parts = sentences(found)
        if len(parts) > _MOST_PARTS:
            return None
        said, start = [], 0
        while start < len(parts):
            for end in range(len(parts), start, -1):
                whole = self._read(run(parts[start:end]))
                if whole is not None:
                    said.append(whole)
                    start = end
                    break
            else:
                return None
        return " ".join(said)

    def _read(self, found: Reading) -> str | None:
        """What the catalogue has for one of the readings of a text with marks for its values."""
        assert self._catalogue is not None
        if found[0] == MARK:
            return self._alone(found[1][0])
        for text, values in readings(found):
            said = None if values else self._catalogue.plain.get(text)
            if said is not None:
                return said
            for template in self._catalogue.framed.get(tuple(text.split(MARK)), ()):
                said = self._filled_by(template, values)
                if said is not None:
                    return said
        return None

    def _filled_by(self, template: Template, values: Sequence[str]) -> str | None:
        found: dict[str, str] = {}
        for (name, kind), value in zip(placeholders(template.english), values, strict=True):
            said = self._value(kind, value)
            if said is None or found.setdefault(name, said) != said:
                return None
        return template.filled(found)

    def _value(self, kind: str, value: str) -> str | None:
        if isinstance(value, Listed):
            return None if kind in ("int", "number") else self._said_list(value)
        if isinstance(value, Message):
            if kind in ("int", "number"):
                return None
            whole = self.known(value)
            if whole is None and not value.endswith("."):
                whole = self.known(joined([value, "."], ""))
                return None if whole is None else whole.removesuffix(".")
            return whole
        if kind in ("int", "number"):
            return self.marks.written(value) if is_figure(value) else None
        return self._filling(kind, value)

    def _said_list(self, value: Listed) -> str:
        """Names in a row, joined as this language does."""
        from babel.lists import format_list

        parts = [self.say(item) if isinstance(item, Message) else item for item in value.items]
        if value.more:
            parts.append(self.counted(value.more, "{n} more", "{n} more"))
        return str(format_list(parts, "standard", self.language))

    def _translated(self, sentence: str) -> str | None:
        return self._whole(sentence) or self._in_parts(sentence)

    def _whole(self, sentence: str) -> str | None:
        assert self._catalogue is not None
        found = self._catalogue.plain.get(sentence)
        if found is not None:
            return found
        if is_figure(sentence):
            return self.marks.written(sentence)
        for template in self._catalogue.templates:
            said = template.said(sentence, self._filling)
            if said is not None:
                return said
        return None

    def _in_parts(self, text: str) -> str | None:
        """Several sentences, each as long as one that is known can be."""
        parts = _SENTENCES.split(text)
        if not 1 < len(parts) <= _MOST_PARTS:
            return None
        said, start = [], 0
        while start < len(parts):
            for end in range(len(parts), start, -1):
                if (start, end) == (0, len(parts)):
                    continue
                whole = self._whole(" ".join(parts[start:end]))
                if whole is not None:
                    said.append(whole)
                    start = end
                    break
            else:
                return None
        return " ".join(said)

    def _filling(self, kind: str, value: str) -> str | None:
        if kind in ("int", "number"):
            return self.marks.written(value)
        if value == "(empty)":
            return self.text("(empty)")
        if kind == "names":
            return self._name_list(value)
        if kind == "tables":
            return self._table_list(value)
        return self._phrase(value) if kind == "phrase" else value

    def _phrase(self, value: str) -> str | None:
        """Words that are known, be it as a sentence whose full stop is not here."""
        said = self.known(value)
        if said is None and not value.endswith("."):
            whole = self.known(f"{value}.")
            return whole.removesuffix(".") if whole is not None else None
        return said

    def _table_list(self, value: str) -> str:
        """Tables of a cube, perhaps with cells of theirs, joined by commas and “and”.

        As with names, a table is known by its dimensions.
        """
        depth, cut = 0, -1
        for place, character in enumerate(value):
            depth += {"(": 1, ")": -1}.get(character, 0)
            if not depth and value.startswith(_AND, place):
                cut = place if self._is_table(value[place + len(_AND) :]) else cut
        if cut >= 0:
            first, last = value[:cut], self._table(value[cut + len(_AND) :])
            parts = [self._table(part) for part in _BETWEEN.split(first)]
            return self.text("{names} and {last}", names=", ".join(parts), last=last)
        return self._table(value)

    def _is_table(self, text: str) -> bool:
        found = _CELLS.fullmatch(text)
        names = (found["table"] if found else text).split(" × ")
        return all(name in self._names or name == _TOTAL for name in names)

    def _table(self, text: str) -> str:
        found = _CELLS.fullmatch(text)
        if found is None:
            return self.text(text) if text in (_TOTAL, _GRAND_TOTAL) else text
        cells = found["cells"]
        more = _CELLS_MORE.fullmatch(cells)
        if more is not None:
            cells = self.text(
                "{shown} and {n} more", shown=more[1], n=int(more[2].replace(",", ""))
            )
        return self.counted(
            int(found["count"].replace(",", "")),
            "{n} cell of {table} ({cells})",
            "{n} cells of {table} ({cells})",
            table=self._table(found["table"]),
            cells=cells,
        )

    def _name_list(self, value: str) -> str:
        """Names joined by commas and “and”, the last one perhaps “3 more”.

        Where the names are known, a name that holds “and” itself is never taken apart.
        """
        value = value.replace(f"`{_GRAND_TOTAL}`", f"`{self.text(_GRAND_TOTAL)}`")
        place = -1 if value in self._names else value.rfind(_AND)
        while place >= 0 and self._names:
            last = value[place + len(_AND) :]
            if last in self._names or _MORE.fullmatch(last) or _QUOTED.fullmatch(last):
                break
            place = value.rfind(_AND, 0, place)
        if place < 0:
            return value
        first, last = value[:place], value[place + len(_AND) :]
        more = _MORE.fullmatch(last)
        if more is not None:
            return self.text("{names} and {more} more", names=first, more=self.figure(more[1]))
        return self.text("{names} and {last}", names=first, last=last)


_ENGLISH_VOICE = Voice()
_VOICE = ContextVar("voice", default=_ENGLISH_VOICE)


@cache
def voice_of(language: str, *parts: str) -> Voice:
    """The voice of a language with these parts of its catalogue; pages and texts when none."""
    if language == ENGLISH:
        return _ENGLISH_VOICE
    return Voice(read_catalogue(language, parts or (PAGES, TEXTS)))


def voice() -> Voice:
    """Who speaks here: English, unless :func:`speaking` says otherwise."""
    return _VOICE.get()


@contextmanager
def speaking(language: str, names: Collection[str] = ()) -> Iterator[Voice]:
    """Set the language of everything that is said inside.

    ``names`` are the columns that may stand in sentences: a name is never taken apart.
    """
    speaker = voice_of(language)
    if names and language != ENGLISH:
        speaker = Voice(read_catalogue(language, (PAGES, TEXTS)), names)
    token = _VOICE.set(speaker)
    try:
        yield speaker
    finally:
        _VOICE.reset(token)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect all English texts that were asked for inside and are lacking, in order."""
    heard: list[str] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)
