"""Labels of a cube's dimensions: those of the source, for declared categories alone.

A private release must not learn from the data, and a code list may have been made from them. So
labels are published only where the plan says so (``labels = "source"``): then the guarantee assumes
that the code lists were fixed before the data. Of a list only the labels of declared categories are
taken, so what is published depends on the plan and on the words of the file, never on its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dpdesk.app.labelling import plain_variable
from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import DpdeskError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_table
from dpdesk.io.canonical import UnreadableJsonError
from dpdesk.io.csvw import read_variables
from dpdesk.io.release_check import is_listed_file
from dpdesk.io.release_folder import VARIABLES
from dpdesk.project.work import THE_SETTINGS, WorkState

# The levels of a dimension's hierarchy as people choose them: how many categories, and which.


EXAMPLES = 3
_MOST_LEVELS = 31


@dataclass(frozen=True)
class LevelChoice:
    """A level of a declared hierarchy; ``categories`` is None where the data alone know them."""

    level: int
    categories: int | None
    examples: tuple[str, ...] = ()


def level_choices(work: WorkState, column: str, token: CancelToken) -> tuple[LevelChoice, ...]:
    """All levels of the hierarchy of a column; none where nothing declares them.

    Nothing of the data is looked at. Raises Cancelled.
    """
    from dpdesk.engine.private.declared import declare

    try:
        hierarchy = _declared_hierarchy(work, column, token)
    except DpdeskError:
        token.check()
        return ()
    if hierarchy is None:
        return ()
    found: list[LevelChoice] = []
    for level in range(_MOST_LEVELS):
        token.check()
        try:
            categories = declare(column, None, hierarchy, level, None, THE_SETTINGS).categories
        except DpdeskError:
            if level > 0:
                break
            found.append(LevelChoice(0, None))
            continue
        found.append(LevelChoice(level, len(categories), categories[:EXAMPLES]))
    return tuple(found) if len(found) > 1 else ()


def _declared_hierarchy(
    work: WorkState, column: str, token: CancelToken
) -> Hierarchy | HierarchyBuilder | None:
    from dpdesk.io.hierarchyfile import open_hierarchy

    choice = work.hierarchies.get(column)
    if isinstance(choice, HierarchyFile):
        token.check()
        return open_hierarchy(work.base / choice.path, column).hierarchy
    if isinstance(choice, HierarchyBuilder):
        return choice
    return None


LABELS, SOURCE = "labels", "source"


def published_dimensions(manifest: Manifest) -> dict[str, tuple[tuple[str, ...], bool]]:
    """By dimension its categories, and whether they are values of the source (level 0).

    Raises TypeError, KeyError or ValueError for a manifest of another form.
    """
    result, parameters = manifest.result, manifest.parameters
    domain = Domain.from_json(result["domains"])
    levels = as_table(parameters.get("levels", {}))
    return {
        name: (categories, levels.get(name, 0) == 0)
        for name, categories in zip(domain.dimensions, domain.categories, strict=True)
    }


def asks_labels(manifest: Manifest) -> bool:
    """Whether the plan asks for the labels of the source."""
    return manifest.parameters.get(LABELS) == SOURCE


def dimension_labels(book: Codebook, manifest: Manifest) -> tuple[Variable, ...]:
    """What is published of the dimensions, in their order; empty unless the plan asks for it."""
    if not asks_labels(manifest):
        return ()
    found = []
    for name, (categories, values) in published_dimensions(manifest).items():
        known = book.get(name)
        if known is not None:
            found.append(_declared(known, categories if values else ()))
    return tuple(found) if any(variable.described for variable in found) else ()


def _declared(variable: Variable, categories: tuple[str, ...]) -> Variable:
    """The variable with the declared categories alone; none at a coarser level."""
    known = variable.value_labels
    labels = {text: known[text] for text in categories if text in known}
    missing = UserMissing(tuple(sorted(filter(variable.missing.holds, categories))))
    kind = variable.kind if categories else Kind.TEXT
    plain = plain_variable(replace(variable, kind=kind))
    return replace(plain, value_labels=labels, missing=missing)


def read_dimension_labels(public: Path, manifest: Manifest) -> Codebook:
    """The labels of a cube's release; nothing without the file. Raises UnreadableJsonError."""
    path = public / VARIABLES
    if not is_listed_file(path):
        return NO_BOOK
    return read_variables(path, tuple(published_dimensions(manifest)))


def dimension_faults(public: Path, manifest: Manifest) -> Iterator[str]:
    """What the labels of a cube say wrongly: without being asked for, or of what is not declared.

    Raises TypeError, KeyError or ValueError for a manifest of another form.
    """
    try:
        book = read_dimension_labels(public, manifest)
    except UnreadableJsonError as error:
        yield error.reason
        return
    except OSError as error:
        yield msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__)
        return
    if book.variables and manifest.parameters.get(LABELS) != SOURCE:
        yield "holds labels, and the parameters say that none are published"
    for variable in book.variables:
        categories, values = published_dimensions(manifest)[variable.name]
        if variable != _declared(variable, categories if values else ()):
            yield msg("says more about `{name}` than its declared categories", name=variable.name)
