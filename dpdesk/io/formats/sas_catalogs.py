"""Value labels of SAS: they lie in a catalogue beside the tables, by the name of a format."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.moments import is_own_format
from dpdesk.io.formats.plain_labels import PLAIN, check_texts, of_values
from dpdesk.io.formats.plain_reading import plain_codec, plain_reader
from dpdesk.io.formats.sas_ranges import Format, formats_of
from dpdesk.io.formats.table import Notes, listed

_WIDTHS = ".0123456789"

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
    more = _formats(catalog, notes)
    for name, format_name in formats.items():
        if format_name and format_name.upper() in by_format:
            labels = by_format[format_name.upper()]
            found[name] = _of_single(name, labels, more.get(format_name.upper()), notes)
            texts = of_values(plain.get(format_name.upper(), {}))
            check_texts(catalog.name, name, texts, endings, notes)
        elif is_own_format(format_name):
            notes.add(
                f"format {name}",
                f"Column `{name}`: the catalogue {catalog.name} lacks its value labels, called "
                f"{format_name}; the values are read without.",
            )
    return found


def _formats(catalog: Path, notes: Notes) -> Mapping[str, Format]:
    """What the formats hold beside labels of single values; noted when that cannot be told."""
    try:
        return formats_of(catalog)
    except (ValueError, IndexError, struct.error):
        notes.add(
            "ranges",
            f"The catalogue {catalog.name} could not be looked through for ranges of values; the "
            "label of one is read as that of its first value.",
        )
        return {}


def _of_single(column: str, labels: Labels, more: Format | None, notes: Notes) -> Labels:
    """Labels of single values; noted are those of ranges, of all other values, and of missing."""
    if more is not None and more.ranges:
        notes.add(
            f"ranges {column}",
            f"Column `{column}`: the format {more.name} has labels of ranges of values; they are "
            "left out.",
        )
    if more is not None and more.others:
        notes.add(
            f"others {column}",
            f"Column `{column}`: the format {more.name} has a label for all other values; it is "
            "left out.",
        )
    if any(code != code for code in labels):
        notes.add(
            f"label nan {column}",
            f"Column `{column}`: the missing value has a label; it is left out.",
        )
    ranges = () if more is None else more.ranges
    return {code: text for code, text in labels.items() if code not in ranges}


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

    The second are the same labels as plain bytes (see :mod:`dpdesk.io.formats.plain_labels`) where
    they may end inside a character, else empty; the third tells whether they do.
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
    plain = _by_format(_read(path, PLAIN)) if endings.looks else {}
    return _by_format(meta), plain, endings


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
