"""``public/variables.json``: what a release tells of its columns beside their values.

A source with labels gives its release labels too. They are chosen so that they tell nothing of
the rows that are not there:

- Variable labels, measures and date formats are words about a column; they do not depend on rows.
- When no row was left out, by the method or by a ``query`` of the plan, and a column is released as
  it is, every code of the source occurs in the release. Its whole code list is published then,
  codes that nobody has included.
- Otherwise a code list is cut down to the codes that occur in the release. A label of another code
  might be that of a person who was left out, since many code lists are made from the data.
- So it is where numbers were made coarser, and none that others may have become has a label.
- That numbers were cut at ends or rounded before anything else (``coarsen`` of the plan) is said of
  their column: the plan decides it, and readers must know that 90 means 90 and above.
- A recoded value keeps its label only while it is still the one code that it was. Codes for
  "no answer" stay with their labels as long as they are released as themselves.

A column of pseudonyms keeps nothing but its variable label: value labels of an identifier may be
names of persons.

Widths, storage types and number formats are left out: programs choose them by the largest value.
Formats that show days, periods or times stay: they tell what a number means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, UserMissing, Variable, is_calendar
from dpdesk.core.messages import listed, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import quoted
from dpdesk.core.release import Manifest
from dpdesk.io.canonical import UnreadableJsonError, canonical_json
from dpdesk.io.csvw import FORMS, csvw_metadata, read_variables
from dpdesk.io.release_check import is_listed_file
from dpdesk.io.release_folder import CSVW, MICRODATA, VARIABLES

if TYPE_CHECKING:
    from dpdesk.core.recoding import AnyRecoding
    from dpdesk.io.published import PublishedCsv

VARIABLES_FORMAT = 1
_MOMENTS = (Kind.DATE, Kind.DATETIME, Kind.TIME)


def released_variables(
    book: Codebook,
    recoding: AnyRecoding | None,
    published: PublishedCsv,
    complete: bool,
    token: CancelToken,
    replaced: Collection[str] = (),
) -> tuple[Variable, ...]:
    """What is published of the columns of ``published``, in their order; see the module.

    ``complete`` says that every row of the file was released, and every column that is not
    recoded as it is; ``replaced`` are columns of pseudonyms. Empty when the source says nothing of
    the columns.
    """  # fmt: skip
    found: list[Variable] = []
    for name in published.columns:
        known = book.get(name)
        if known is None:
            continue
        if name in replaced:
            found.append(Variable(name, known.label))
            continue
        pairs = () if recoding is None else tuple(recoding.pairs(name))
        same = all(value == label for value, label in pairs)
        if complete and same and not known.coarsened:
            found.append(plain_variable(known))
            continue
        occurring = published.value_counts(name, token) if _has_codes(known) else {}
        found.append(_cut_down(known, pairs, occurring, same))
    return tuple(found) if any(variable.described for variable in found) else ()


def labels_left_out(
    book: Codebook, sensitive: Iterable[str], columns: Collection[str]
) -> tuple[Note, ...]:
    """A note on sensitive columns with value labels that are released apart from the rows.

    Labels are published of the columns of the rows alone; elsewhere their codes stand without.
    """
    known = [book.get(name) for name in sensitive if name not in columns]
    names = [one.name for one in known if one is not None and one.value_labels]
    if not names:
        return ()
    sentence = msg(
        "The value labels of {names} are in no file of the release, which holds the codes alone: "
        "pass the code list on as well.",
        names=listed([quoted(name) for name in names]),
    )
    return (Note("labels.left-out", sentence),)


def _has_codes(variable: Variable) -> bool:
    return bool(variable.value_labels or variable.missing.declared)


def plain_variable(variable: Variable) -> Variable:
    """The variable without what depends on the values of the source."""
    counts = variable.kind is Kind.NUMBER and is_calendar(variable.format)
    display = variable.format if counts or variable.kind in _MOMENTS else ""
    return replace(variable, storage="", width=0, format=display, role="", hierarchy="")


def _cut_down(
    variable: Variable,
    pairs: Iterable[tuple[str, str]],
    occurring: Mapping[str, int],
    same: bool,
) -> Variable:
    """The variable with the codes alone that occur in the release as themselves."""
    sources: dict[str, set[str]] = {}
    for value, label in pairs:
        sources.setdefault(label, set()).add(value)

    def is_code(text: str) -> bool:
        alone = sources.get(text, {text}) == {text} and not _may_be_others(variable, text)
        return alone and text in occurring

    labels = {code: text for code, text in variable.value_labels.items() if is_code(code)}
    missing = variable.missing
    if not same:
        kept = [text for text in occurring if missing.holds(text) and is_code(text)]
        missing = UserMissing(tuple(sorted(kept)), letters=missing.letters)
    if same:
        return replace(plain_variable(variable), value_labels=labels, missing=missing)
    # Ranges of numbers have an order, and no distances.
    measure = "ordinal" if variable.measure == "scale" else variable.measure
    return replace(
        plain_variable(replace(variable, kind=Kind.TEXT)),
        value_labels=labels, missing=missing, measure=measure,
    )  # fmt: skip


def _may_be_others(variable: Variable, code: str) -> bool:
    """Whether other numbers may have become this one before anything else was done."""
    done = variable.coarsened
    if not done or variable.missing.holds(code):
        return False
    ends = [exact_number(done[key]) for key in ("bottom", "top") if key in done]
    return "round" in done or exact_number(code) in ends


def variables_as_json(variables: tuple[Variable, ...]) -> dict[str, object]:
    """The content of ``variables.json``."""
    return {
        "format": VARIABLES_FORMAT,
        "variables": [variable.as_plain() for variable in variables],
    }


def stated_labels(public: Path, columns: Sequence[str]) -> Codebook:
    """What a release says of its columns; nothing where it does not, or where it cannot be read,
    which :func:`label_faults` tells. Raises OSError.
    """
    path = public / VARIABLES
    try:
        return read_variables(path, columns) if is_listed_file(path) else NO_BOOK
    except UnreadableJsonError:
        return NO_BOOK


def strange_labels(
    public: Path, columns: Sequence[str], book: Codebook, expected: Sequence[Variable] | None
) -> str:
    """Why the published labels are not those of the source, whose are ``book``; empty if they are.

    ``expected`` is what this program publishes of them; None where that is not known: then no
    label may say otherwise than the source. To be asked where :func:`label_faults` found nothing.
    """
    there = stated_labels(public, columns).variables
    if expected is not None:
        same = variables_as_json(there) == variables_as_json(tuple(expected))
        return "" if same else "is not what the source says of its columns"
    for one in there:
        known = book.get(one.name) or Variable(one.name)
        codes = one.value_labels.items() <= known.value_labels.items()
        if one.label not in ("", known.label) or not codes or one.coarsened != known.coarsened:
            return msg("says something about `{name}` that the source does not say", name=one.name)
    return ""


def label_faults(public: Path, manifest: Manifest, columns: Sequence[str]) -> list[tuple[str, str]]:
    """File and fault of what the labels of a release say wrongly; there may be none of them.

    ``variables.json`` must be of ``columns``, and the document for CSV on the Web must say the
    same.
    """
    labels, document = public / VARIABLES, public / CSVW
    found: list[tuple[str, str]] = []
    if not is_listed_file(labels):
        return (
            [(CSVW, msg("is present without {variables}", variables=VARIABLES))]
            if is_listed_file(document)
            else []
        )
    if not is_listed_file(document):
        return [(VARIABLES, msg("is present without {csvw}", csvw=CSVW))]
    try:
        book = read_variables(labels, columns)
        known = {
            canonical_json(csvw_metadata(MICRODATA, columns, book, manifest, form))
            for form in FORMS
        }
        # Sizes first: a changed document may be of any size.
        sizes = {len(one) for one in known}
        if document.stat().st_size not in sizes or document.read_bytes() not in known:
            found.append(
                (CSVW, msg("is not what manifest and {variables} give", variables=VARIABLES))
            )
    except UnreadableJsonError as error:
        found.append((VARIABLES, error.reason))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        found.append((VARIABLES, msg("cannot be read ({reason})", reason=reason)))
    return found
