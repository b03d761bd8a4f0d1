"""Value labels of SAS: they lie in a catalogue beside the tables, by the name of a format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.moments import is_own_format
from dpdesk.io.formats.plain_labels import PLAIN, check_texts, of_values
from dpdesk.io.formats.plain_reading import plain_codec, plain_reader
from dpdesk.io.formats.sas.ranges import Code, Format, read_formats
from dpdesk.io.formats.table import Notes, listed

_WIDTHS = ".0123456789"
_SYSTEM = "."
"""The missing value without a letter, in a format."""

Labels = Mapping[Any, str]


def labels_of_columns(
    displays: Mapping[str, str], named: str | None, path: Path, encoding: str | None, notes: Notes
) -> dict[str, Labels]:
    """Value labels by column; ``displays`` are the formats of the columns, ``""`` for none.

    ``named`` is the catalogue that the plan names; without one, that of the file's own name
    beside ``path`` is taken. Noted: where the labels come from if nobody named it, and columns
    whose labels are not to be found. ``encoding`` is as iconv names it.
    Raises what :func:`read_catalog` does.
    """
    formats = {name: display.rstrip(_WIDTHS) for name, display in displays.items()}
    catalog = Path(named) if named is not None else path.with_suffix(".sas7bcat")
    if named is None and not catalog.is_file():
        _note_none(formats, notes)
        return {}
    by_format, plain, endings = read_catalog(catalog, encoding)
    if named is None:
        notes.add("catalog", f"Value labels come from {catalog.name} beside the file.")
    found: dict[str, Labels] = {}
    more = read_formats(catalog, {name.upper() for name in formats.values()} & by_format.keys())
    for name, format_name in formats.items():
        key = format_name.upper()
        if format_name and key in by_format:
            own = more.get(key, Format(odd=True))
            found[name] = _of_single(by_format[key], plain[key], own)
            _note_others(name, format_name, own, len(found[name]), notes)
            texts = of_values(plain[key])
            check_texts(catalog.name, name, texts, endings, notes)
        elif is_own_format(format_name):
            notes.add(
                f"format {name}",
                f"Column `{name}`: the catalogue {catalog.name} lacks its value labels, called "
                f"{format_name}; the values are read without.",
            )
    return found


def _of_single(labels: Labels, plain: Labels, own: Format) -> Labels:
    """Labels of single values; ``plain`` are all labels as plain bytes, in the same order."""
    if own.odd or len(labels) != len(plain):
        return {}
    return {
        code: label
        for (code, label), (raw, text) in zip(labels.items(), plain.items(), strict=True)
        if _key(raw) not in own.doubled and own.labels.get(_key(raw)) == text.rstrip(" ")
    }


def _key(code: Any) -> Code:
    """A labelled value as a :class:`~dpdesk.io.formats.sas.ranges.Format` has it."""
    if isinstance(code, str):
        return code.rstrip(" ")
    return float(code) if code == code else _SYSTEM


def _note_others(column: str, name: str, own: Format, taken: int, notes: Notes) -> None:
    """Note labels of ranges, of all other values, and of missing, and those that are unclear."""
    if own.ranges:
        notes.add(
            f"ranges {column}",
            f"Column `{column}`: the format {name} has labels of ranges of values; they are "
            "left out.",
        )
    if own.rest:
        notes.add(
            f"others {column}",
            f"Column `{column}`: the format {name} has a label for all other values; it is "
            "left out.",
        )
    if _SYSTEM in own.labels:
        notes.add(
            f"label nan {column}",
            f"Column `{column}`: the missing value has a label; it is left out.",
        )
    if own.odd or taken < len(own.labels):
        notes.add(
            f"unclear {column}",
            f"Column `{column}`: the format {name} is built in a way that is not known here; "
            "labels that cannot be assigned with certainty are left out.",
        )


def _note_none(formats: Mapping[str, str], notes: Notes) -> None:
    own = [name for name, format_name in formats.items() if is_own_format(format_name)]
    if own:
        notes.add(
            "catalog",
            f"The value labels of {listed(own)} lie in a catalogue that is not here; the values "
            "are read without. Name it as `catalog`.",
        )


def read_catalog(
    path: Path, encoding: str | None
) -> tuple[dict[str, Labels], dict[str, Labels], Endings]:
    """Value labels by the name of their format in capitals, from a SAS catalogue.

    The second are the same labels as plain bytes (see :mod:`dpdesk.io.formats.plain_labels`); the
    third tells whether they end inside a character.
    Raises InputError ``catalog.unreadable``, StorageError ``storage.missing``.
    """
    if not path.is_file():
        raise StorageError(
            "storage.missing",
            f"{path}: there is no such file, expected a SAS catalogue.",
            hint="Check `catalog`; paths in a plan are relative to the plan.",
        )
    meta = _read(path, encoding)
    known = encoding or str(meta.file_encoding or "")
    codec = plain_codec(known, path.name)
    if codec:
        meta = _read(path, encoding, codec)
    endings = Endings(known, by_plan=encoding is not None)
    return _by_format(meta), _by_format(_read(path, PLAIN)), endings


def _by_format(meta: Any) -> dict[str, Labels]:
    return {str(key).upper(): labels for key, labels in meta.value_labels.items()}


def _read(path: Path, encoding: str | None, codec: str = "") -> Any:
    import pyreadstat

    read = pyreadstat.read_sas7bcat
    try:
        read = plain_reader(read, codec) if codec else read
        return read(str(path), encoding=encoding, output_format="dict")[1]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError) as error:
        raise InputError(
            "catalog.unreadable",
            f"{path.name}: the catalogue of value labels cannot be read ({error}).",
            hint="Name the right `catalog` under [source], or move the file away to read the "
            "table without value labels.",
        ) from error
