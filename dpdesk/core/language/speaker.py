"""Who speaks: texts, messages and numbers in the language that is set."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from dpdesk.core.language.catalogue import (
    ENGLISH,
    FORMS,
    PAGES,
    TEXTS,
    Catalogue,
    NumberMarks,
    is_figure,
    languages,
    read_catalogue,
)
from dpdesk.core.messages import Listed, Message, frame

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORDS = re.compile(r"[^\W\d_]{2}")
_HEARD: ContextVar[list[str] | None] = ContextVar("untranslated", default=None)
_VOICE: ContextVar[Voice]


class Untranslated(str):
    """An English text that the language lacks; pages mark it as English."""

    __slots__ = ()


def message(text: str) -> str:
    """The text itself: marks a constant as a message that catalogues hold."""
    return text


class Voice:
    """Speaks one language. What it lacks stays English and is noted (see :func:`listening`).

    English has a catalogue only of what is said in another way, so that it never lacks anything.
    """

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue
        self.language = catalogue.language if catalogue else ENGLISH
        self.marks = catalogue.marks if catalogue else NumberMarks()

    def text(self, english: str, **values: object) -> str:
        """A message with its ``{placeholders}`` filled; see :meth:`filled`."""
        return self.filled(self.template(english), **values)

    def template(self, english: str) -> str:
        """A message as it stands in the catalogue, with its placeholders."""
        if self._catalogue is None or self.language == ENGLISH:
            return english
        found = self._catalogue.plain.get(english)
        return Untranslated(self._lacks(english)) if found is None else found

    def counted(self, count: int, one: str, many: str, **values: object) -> str:
        """The message for one or for many; ``{n}`` is the count."""
        return self.filled(self.counted_template(count, one, many), n=count, **values)

    def counted_template(self, count: int, one: str, many: str) -> str:
        """The message for one or for many as it stands in the catalogue."""
        english = one if count == 1 else many
        if self._catalogue is None or self.language == ENGLISH:
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

    def say(self, text: str) -> str:
        """A message, constant text or number of the program in this language."""
        said = self.known(text)
        return Untranslated(self._lacks(text)) if said is None else said

    def known(self, text: str) -> str | None:
        """As :meth:`say`, but None for what this language lacks."""
        if self._catalogue is None or not text.strip() or isinstance(text, Untranslated):
            return text
        if self.language == ENGLISH:
            return self._english(text)
        if isinstance(text, Listed):
            return self._said_list(text)
        words = text.strip()
        if not isinstance(text, Message) or not text.values:
            said = self._catalogue.plain.get(words) or self._stopped(words)
            if said is None and not _WORDS.search(words):
                said = self.figure(words)
        else:
            said = self._message(text)
        if said is None or words == text:
            return said
        return f"{text[: len(text) - len(text.lstrip())]}{said}{text[len(text.rstrip()) :]}"

    def _english(self, text: str) -> str:
        """A text in which what is said in another way here is said so: it, or messages in it."""
        assert self._catalogue is not None
        if isinstance(text, Listed):
            return Listed(map(self._english, text.items), text.more)
        if not isinstance(text, Message) or not text.values:
            return self._catalogue.plain.get(text) or self._stopped(text) or text
        entry, values = self._catalogue.entry(text)
        if entry is not None:
            whole = entry.filled([*map(self._english, values)])
            return whole if text.endswith(".") else whole.removesuffix(".")
        literals, names = frame(text.template)
        said = [self._english(text.values[name]) for name in names]
        return literals[0] + "".join(map("".join, zip(said, literals[1:], strict=True)))

    def _stopped(self, words: str) -> str | None:
        """Words whose entry ends with a full stop that is not here."""
        found = self._catalogue.plain.get(f"{words}.") if self._catalogue else None
        return None if found is None else found.removesuffix(".")

    def figure(self, number: str) -> str:
        """A number as the program writes it, with this language's marks; other texts stay."""
        if self._catalogue is None or not is_figure(number):
            return number
        return self.marks.written(number)

    def count(self, number: int) -> str:
        """A whole number with marks between thousands."""
        return self.figure(f"{number:,}")

    def day(self, date: str) -> str:
        """A day ``YYYY-MM-DD`` as this language writes it; any other text stays."""
        if self.language == ENGLISH or not _DAY.fullmatch(date):
            return date
        from babel.dates import format_date

        try:
            return str(format_date(datetime.date.fromisoformat(date), "medium", self.language))
        except ValueError:
            return date

    def moment(self, time: str) -> str:
        """A time ``YYYY-MM-DD HH:MM`` with whatever follows, its day as this language writes it."""
        return self.day(time[:10]) + time[10:].replace("T", " ", 1)

    def _lacks(self, english: str) -> str:
        heard = _HEARD.get()
        if heard is not None:
            heard.append(english)
        return english

    def _message(self, message: Message) -> str | None:
        """A message by its template and values; None where the catalogue has none of its words."""
        assert self._catalogue is not None
        entry, values = self._catalogue.entry(message)
        if entry is not None:
            kinds = (kind for _, kind in entry.fields)
            whole = entry.filled([*map(self._value, kinds, values)])
            return whole if message.rstrip().endswith(".") else whole.removesuffix(".")
        literals = frame(message.template)[0]
        if any(map(_WORDS.search, literals)):
            return None
        said = [self._value("name", value) for value in values]
        whole = literals[0] + "".join(map("".join, zip(said, literals[1:], strict=True)))
        return whole.strip()

    def _value(self, kind: str, value: str) -> str:
        """What stands in the place of a placeholder; words of ours that are lacking stay."""
        if isinstance(value, Message | Listed) or kind == "phrase":
            return self.say(value)
        if value == "(empty)":
            return self.text(value)
        if kind == "moment":
            return self.moment(value)
        return self.figure(value) if kind in ("int", "number") else value

    def _said_list(self, value: Listed) -> str:
        """Names in a row, joined as this language does."""
        from babel.lists import format_list

        parts = [self.say(item) if isinstance(item, Message) else item for item in value.items]
        if value.more:
            parts.append(self.counted(value.more, "{n} more", "{n} more"))
        return str(format_list(parts, "standard", self.language))


_ENGLISH_VOICE = Voice()
_VOICE = ContextVar("voice", default=_ENGLISH_VOICE)


@cache
def voice_of(language: str, *parts: str) -> Voice:
    """The voice of a language with these parts of its catalogue; pages and texts when none."""
    if language == ENGLISH and FORMS not in parts:
        return _ENGLISH_VOICE
    return Voice(read_catalogue(language, parts or (PAGES, TEXTS)))


def voice() -> Voice:
    """Who speaks here: English, unless :func:`speaking` says otherwise."""
    return _VOICE.get()


@contextmanager
def speaking(language: str) -> Iterator[Voice]:
    """Set the language of everything that is said inside."""
    speaker = voice_of(language)
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


def is_said(text: str) -> bool:
    """Whether a text is one that the program says, whatever fills it.

    Other languages than English hold all of its sentences. What has no words of its own is said
    where all its parts are.
    """
    if isinstance(text, Listed):
        return all(map(is_said, text.items))
    if isinstance(text, Message) and not any(map(_WORDS.search, frame(text.template)[0])):
        return all(map(is_said, text.values.values()))
    others = [voice_of(language) for language in languages() if language != ENGLISH]
    return not others or any(other.known(text) is not None for other in others)
