"""Catalogues of translations: gettext PO files below ``resources/translations/<language>``.

``pages.po`` holds the words of pages, ``texts.po`` sentences that the program makes (and so does
every ``texts-….po``), ``window.po`` the words of the window. ``forms.po`` says some of the
sentences once more for the window, which has controls in the place of the keys of a plan; English
has this part alone. There a sentence need not hold all values of the plan's.

An entry of a message says of each placeholder what stands there, as in ``Every group has at least
{k:int} rows.``: an ``int`` or ``number`` gets the marks of the language, a ``phrase`` is words of
ours that are said too, a ``moment`` is a day or a time of one, a ``name`` is kept, and so are
``names`` and ``tables``, which are lists of them.
A message or a list in the place of any of these is said.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO

from dpdesk.core.errors import StorageError
from dpdesk.core.messages import Counted, Message, frame, msg
from dpdesk.core.resources import resource_files, resource_root

# Numbers as the program writes them, and the same ones with the marks of another language.
#
# The program writes ``1,234.5``: commas between thousands, a point before decimals. Only a text
# that is such a number as a whole is ever changed; digits stay what they are.


INTEGER = r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)"
NUMBER = rf"{INTEGER}(?:\.\d+)?(?:[eE][+-]?\d+)?(?:/\d+)?"
_FIGURE = re.compile(rf"(?P<sign>(?:[<>≈±×+] ?)*)(?P<number>{NUMBER})(?P<unit> ?%)?")


@dataclass(frozen=True)
class NumberMarks:
    """What a language writes before decimals and between thousands."""

    decimal: str = "."
    group: str = ","

    def written(self, text: str) -> str:
        """A number of the program's own form with these marks.

        It may have a sign such as ``±`` or ``<`` before it and ``%`` after it. ValueError for any
        other text.
        """
        found = _FIGURE.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not a number as the program writes it")
        marks = str.maketrans({",": self.group, ".": self.decimal})
        number = found["number"].translate(marks)
        return f"{found['sign']}{number}{found['unit'] or ''}"


def is_figure(text: str) -> bool:
    """Whether a text is one number as the program writes it, with its sign and ``%``."""
    return _FIGURE.fullmatch(text) is not None


ENGLISH = "en"
PAGES, TEXTS, WINDOW, FORMS = "pages", "texts", "window", "forms"
KINDS = ("int", "number", "name", "names", "tables", "phrase", "moment")
_FOLDER = "translations"
_THIN_SPACE = "\u202f"
_PLACEHOLDER = re.compile(r"\{(?P<name>[a-z_][a-z0-9_]*):(?P<kind>[a-z]+)\}")

Frame = tuple[str, ...]
"""The fixed parts of a message, one more than it has values, without blanks at both ends."""


@dataclass(frozen=True)
class Entry:
    """A message in another language, and the names and kinds of its values, by their places."""

    fields: tuple[tuple[str, str], ...]
    other: str

    def filled(self, values: Sequence[str]) -> str:
        """The message with its values, in the order of the English one."""
        named = {name: value for (name, _), value in zip(self.fields, values, strict=True)}
        return _PLACEHOLDER.sub(lambda one: named[one["name"]], self.other)


@dataclass(frozen=True)
class Catalogue:
    """All messages of one language.

    ``plain`` maps English texts to translated ones; ``plurals`` the English singular to all forms;
    ``plural_form`` chooses among them by a count. ``entries`` are the messages with values,
    ``counted`` those with a count, by the frames of both English forms.
    """

    language: str
    plain: Mapping[str, str]
    entries: Mapping[Frame, Entry] = field(default_factory=dict)
    plurals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counted: Mapping[tuple[Frame, Frame], tuple[Entry, ...]] = field(default_factory=dict)
    plural_form: Callable[[int], int] = field(default=lambda count: int(count != 1))
    marks: NumberMarks = field(default_factory=NumberMarks)

    def entry(self, message: Message) -> tuple[Entry | None, Sequence[str]]:
        """The entry of a message, in the form that its count wants, and its values in order."""
        if not isinstance(message, Counted):
            literals, names = frame(message.template)
            place, values = trimmed(literals), [message.values[name] for name in names]
            return self.entries.get(place) or self.entries.get(_stopped(place)), values
        (one, _), (many, names) = map(frame, message.forms)
        key = trimmed(one), trimmed(many)
        forms = self.counted.get(key) or self.counted.get((_stopped(key[0]), _stopped(key[1])))
        found = None if forms is None else forms[self.plural_form(message.number)]
        return found, [message.values[name] for name in names]


def _stopped(key: Frame) -> Frame:
    """The same with a full stop at the end: a sentence within another one has none."""
    return (*key[:-1], f"{key[-1]}.") if any(key) else key


def placeholders(text: str) -> tuple[tuple[str, str], ...]:
    """Names and kinds of the placeholders of an entry; ValueError for none of :data:`KINDS`."""
    found = tuple((one["name"], one["kind"]) for one in _PLACEHOLDER.finditer(text))
    for name, kind in found:
        if kind not in KINDS:
            raise ValueError(f"{{{name}:{kind}}}: the kind is none of {', '.join(KINDS)}")
    return found


def frame_of(text: str) -> Frame:
    """The frame of the English text of an entry."""
    return trimmed(tuple(_PLACEHOLDER.sub("\0", text).split("\0")))


def trimmed(literals: Frame) -> Frame:
    """Fixed parts without the blanks at both ends, which no entry has."""
    if len(literals) == 1:
        return (literals[0].strip(),)
    return (literals[0].lstrip(), *literals[1:-1], literals[-1].rstrip())


@cache
def languages() -> tuple[str, ...]:
    """The languages that there are, English first; they are looked for once."""
    folder = resource_root().joinpath(_FOLDER)
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    others = [name for name in sorted(found) if resource_files(f"{_FOLDER}/{name}", ".po")]
    return (ENGLISH, *(name for name in others if name != ENGLISH))


@cache
def read_catalogue(language: str, parts: tuple[str, ...]) -> Catalogue:
    """The catalogue of a language from these parts, such as ``("pages", "texts")``.

    What a later part says goes before what an earlier one says of the same message. Parts that the
    language lacks are empty; fuzzy and untranslated messages count as lacking.
    StorageError ``resources.missing`` when there are no resources at all, ``resources.catalogue``
    for a file that cannot be read.
    """
    files = resource_files(f"{_FOLDER}/{language}", ".po")
    wanted = [entry for part in parts for entry in files if part_of(entry.name) == part]
    try:
        return catalogue_from(language, [entry.read_bytes() for entry in wanted])
    except ValueError as error:
        raise StorageError(
            "resources.catalogue",
            msg(
                "The translations to `{language}` that come with DPDesk cannot be read: {error}.",
                language=language,
                error=error,
            ),
            hint="Install DPDesk again.",
        ) from error


def part_of(name: str) -> str:
    """The part that a file belongs to: ``texts-io.po`` is one of ``texts``."""
    return name.removesuffix(".po").partition("-")[0]


def catalogue_from(language: str, files: Sequence[bytes]) -> Catalogue:
    """The catalogue that PO files make. ValueError for one that cannot be read."""
    from babel import Locale
    from babel.messages.pofile import PoFileError, read_po

    plain: dict[str, str] = {}
    entries: dict[Frame, Entry] = {}
    plurals: dict[str, tuple[str, ...]] = {}
    counted: dict[tuple[Frame, Frame], tuple[Entry, ...]] = {}
    form: Callable[[int], int] = gettext.c2py("n != 1")
    for content in files:
        try:
            read = read_po(BytesIO(content), locale=language, abort_invalid=True)
        except PoFileError as error:
            raise ValueError(f"a catalogue of {language} cannot be read: {error}") from error
        form = gettext.c2py(read.plural_expr)
        for entry in read:
            if not entry.id or entry.fuzzy:
                continue
            if isinstance(entry.id, tuple | list):
                forms = tuple(map(str, entry.string or ()))
                if forms and all(forms):
                    one, many = map(str, entry.id)
                    plurals[one] = forms
                    fields = placeholders(many)
                    key = frame_of(one), frame_of(many)
                    counted[key] = tuple(Entry(fields, other) for other in forms)
            elif entry.string:
                english, other = str(entry.id), str(entry.string)
                if fields := placeholders(english):
                    entries[frame_of(english)] = Entry(fields, other)
                else:
                    plain[english] = other
    marks = NumberMarks()
    if language != ENGLISH:
        decimal = Locale.parse(language).number_symbols["latn"]["decimal"]
        marks = NumberMarks(decimal, _THIN_SPACE)
    return Catalogue(language, plain, entries, plurals, counted, form, marks)
