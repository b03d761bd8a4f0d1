"""Files of statistical programs whose texts the reading library must not convert.

Its converter keeps a state from one text to the next: in the code pages of Hebrew and Vietnamese it
holds a letter back that might be joined with the next one, and ISO 2022 shifts between sets of
characters. So the library is told an encoding of one byte for each character, and what it
gives is decoded here, text by text.
"""

from __future__ import annotations

import codecs
import copy
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings, codec_name
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.stat_faults import label_breaks_off, no_text, note_cut_label
from dpdesk.io.formats.table import Notes

# Names and labels of Stata and SAS files that end inside a character, looked at as plain bytes.
#
# The reading library drops such an ending. Read once more in an encoding of one byte for each
# character, names and labels give their bytes.


_BAD = "\ufffd"
PLAIN = "ISO-8859-1"
"""The encoding whose characters are bytes."""
Label = tuple[str, str]
"""What it is, and it, as characters that stand for bytes."""


def check_labels(
    file: str, names: Sequence[str], plain: Any, endings: Endings, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for a name or label in another encoding by its end.

    Those that were cut off are noted. ``names`` are those of the columns, ``plain`` is what the
    library says of the file, read in ``PLAIN``.
    """
    for j, column in enumerate(names):
        raw = plain.column_names[j]
        found = [("its name", raw), ("its label", plain.column_labels[j] or "")]
        check_texts(file, column, found, endings, notes)
        labels = plain.variable_value_labels.get(raw, {})
        check_texts(file, column, of_values(labels), endings, notes)


def check_read(
    file: str, variables: Sequence[Variable], plain: Any, endings: Endings, encoding: str
) -> None:
    """Raise InputError ``encoding.undecodable`` for a name or label that was read in part.

    Of Stata files the library reads names and labels up to the first bytes that are no text.
    """
    for j, variable in enumerate(variables):
        found = (
            ("its name", plain.column_names[j], variable.name),
            ("its label", plain.column_labels[j] or "", variable.label),
        )
        for what, raw, given in found:
            whole = "" if raw.isascii() else endings.decoded(raw.encode(PLAIN))
            before, bad, _ = whole.partition(_BAD)
            if bad and given == before.rstrip(" "):
                raise no_text(file, variable.name, what, encoding)


def of_values(labels: Mapping[Any, str]) -> Iterator[Label]:
    """Value labels, and those values that are texts."""
    for code, label in labels.items():
        if not isinstance(code, str):
            yield msg("the label of the value {value}", value=number_text(code)), label
            continue
        what = msg(
            "the label of the value `{decode}`",
            decode=code.encode(PLAIN).decode("utf-8", "replace"),
        )
        yield what, label
        yield what, code


def check_texts(
    file: str, column: str, texts: Iterator[Label] | Sequence[Label], endings: Endings, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for such a text of a column, or note it."""
    for what, text in texts:
        raw = text.encode(PLAIN)
        if not endings.breaks_off(raw):
            continue
        if endings.is_foreign(raw):
            raise label_breaks_off(file, column, what, endings.encoding)
        note_cut_label(notes, column, what)


Read = Callable[..., tuple[Any, Any]]
_CODECS = {"shift_jis": "cp932"}
"""What programs mean that name the other one: `\\` is no yen sign in a table."""
_HELD = (
    "cp1255",
    "cp1258",
    "big5hkscs",
    "shift_jis",
    "euc_jis",
    "iso2022_jp",
    "iso2022_kr",
    "hz",
    "johab",
    "mac-roman",
)
_LOST = ("iso2022", "tcvn", "utf-16", "utf_16", "utf-32", "utf_32", "utf-7", "utf_7")
_JOINED = "cp1258"
"""Its letters and their accents are two bytes each, and one character."""
_DECODED = (
    "column_names",
    "column_labels",
    "column_names_to_labels",
    "value_labels",
    "variable_to_label",
    "variable_value_labels",
    "readstat_variable_types",
    "original_variable_types",
    "variable_measure",
    "variable_storage_width",
    "missing_ranges",
)
_TOLD = ("file_label", "notes")
"""What is told of alone, and may be in another encoding."""
_KEPT = 1 << 16


def plain_codec(encoding: str, file: str) -> str:
    """The codec with which to decode texts of this encoding here; empty where the library may.

    Raises InputError ``encoding.unknown`` where neither can.
    """
    name = codec_name(encoding)
    if name.startswith(_HELD):
        return _CODECS.get(name, name)
    if name.startswith(_LOST):
        raise InputError(
            "encoding.unknown",
            msg(
                "{name}: texts in the encoding {encoding} cannot be read here without a loss.",
                name=file,
                encoding=encoding,
            ),
            hint="Save the file in UTF-8 with its program, or name the right `encoding` under "
            "[source].",
            details={"encoding": encoding},
        )
    return ""


def plain_reader(read: Read, codec: str, unreadable: str | None = None) -> Read:
    """The library's function to read with, the texts of which are decoded with this codec.

    It raises UnicodeDecodeError for bytes that are no text (of a value it gives ``unreadable``, if
    that is named), and leaves out the beginning of a character at the end of one. Asked for
    ``PLAIN``, it gives the texts undecoded.
    """
    text = _decoder(codec)
    value = text if unreadable is None else _decoder(codec, unreadable)
    names: dict[str, str] = {}

    def reading(path: str, **options: Any) -> tuple[Any, Any]:
        if options.get("encoding") == PLAIN:
            return read(path, **options)
        if "usecols" in options:
            options["usecols"] = [names[name] for name in options["usecols"]]
        data, meta = read(path, **options | {"encoding": PLAIN})
        # A damaged file may have a column without a name (None), which is refused by its place.
        named = [name for name in meta.column_names if name is not None]
        names.update((text(name), name) for name in named)
        found = copy.copy(meta)
        for name in _DECODED:
            setattr(found, name, _all(getattr(meta, name, None), text))
        for name in _TOLD:
            setattr(found, name, _all(getattr(meta, name, None), _lenient(codec)))
        if unreadable is None:
            return _all(data, text), found
        return {text(name): _all(data[name], value) for name in named if name in data}, found

    return reading


def _decoder(codec: str, unreadable: str | None = None) -> Callable[[str], str]:
    @lru_cache(_KEPT)
    def text(plain: str) -> str:
        raw = plain.encode(PLAIN)
        try:
            found = raw.decode(codec)
        except UnicodeDecodeError:
            if unreadable is not None:
                return unreadable
            found = codecs.getincrementaldecoder(codec)("strict").decode(raw)
        return unicodedata.normalize("NFC", found) if codec == _JOINED else found

    return text


def _lenient(codec: str) -> Callable[[str], str]:
    return lambda plain: plain.encode(PLAIN, "replace").decode(codec, "replace")


def _all(value: Any, text: Callable[[str], str]) -> Any:
    """Dictionaries and lists with each text decoded."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {_all(key, text): _all(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [text(item) if isinstance(item, str) else _all(item, text) for item in value]
    return value
