"""``public/variables.json``, read back: labels of a release's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dpdesk.core.labels import Codebook, Variable, variable_from_plain
from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, read_canonical

_FORMAT = 1


def read_variables(path: Path, columns: Sequence[str]) -> Codebook:
    """What the file says of ``columns``, those of the release's table.

    Raises UnreadableJsonError for a file that is not in the form that a release has, or that
    describes other columns; OSError.
    """
    book = read_labels(path)
    names = [variable.name for variable in book.variables]
    if names != [name for name in columns if name in names]:
        raise UnreadableJsonError("describes columns that the table has not, or in another order")
    return book


def read_labels(path: Path) -> Codebook:
    """What the file says, of whatever columns; raises as :func:`read_variables` does."""
    return labels_of(read_canonical(path))


def labels_of(raw: Mapping[str, object]) -> Codebook:
    """What the content of such a file says; UnreadableJsonError for another form."""
    if raw.get("format") != _FORMAT or set(raw) != {"format", "variables"}:
        raise UnreadableJsonError(
            msg("is not a list of variables of format {format}", format=_FORMAT)
        )
    listed = raw["variables"]
    if not isinstance(listed, list):
        raise UnreadableJsonError("`variables` is not a list")
    return Codebook(tuple(_variable(item) for item in listed))


def _variable(raw: object) -> Variable:
    try:
        variable = variable_from_plain(raw)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableJsonError("describes a variable in a way that is not known") from error
    if variable.as_plain() != raw:
        raise UnreadableJsonError(msg("says more of `{name}` than is known", name=variable.name))
    return variable
