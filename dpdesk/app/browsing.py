"""Open a released cube for browsing, look at it, and export what is looked at.

The cube is opened from its public files alone; nothing of these functions takes a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.querying import told
from dpdesk.core.browsing import BrowseState
from dpdesk.core.cube_grid import CubeGrid
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.pivot import Pivot, pivot_of
from dpdesk.core.query import Askable, Grouping

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.released import ReleasedContent
    from dpdesk.engine.olap.cube import ReleasedCube

CUBE = "dp-cube"
FORMATS = ("csv", "xlsx")
MOST_SHOWN = 200_000
_FEW = 12


@dataclass(frozen=True)
class OpenCube:
    """A released cube whose files were found intact, ready to be looked at."""

    folder: Path
    title: str
    claim: str
    askable: Askable
    cube: ReleasedCube
    content: ReleasedContent

    def members(self, column: str, level: int, label: str) -> tuple[str, ...]:
        """The categories of a dimension, as released, that a label of a level stands for."""
        place = self.cube.domain.dimensions.index(column)
        base, labels = self.cube.levels[place][0], self.cube.levels[place][level]
        return tuple(each for each, one in zip(base, labels, strict=True) if one == label)

    def look(self, state: BrowseState, token: CancelToken, report: Report) -> Pivot:
        """The numbers of one view. InputError ``query.*``, RefusedError ``query.*``, Cancelled."""
        from dpdesk.engine.olap.answering import cube_grid

        report(StepStarted("Read the table", 1, 1))
        with told(self.folder):
            grid: CubeGrid = cube_grid(
                self.cube, state.query(), self.content, token, most=MOST_SHOWN
            )
        return pivot_of(grid, len(state.rows))


def open_cube(context: AppContext, folder: Path, token: CancelToken, report: Report) -> OpenCube:
    """Check the files of a released cube and open it.

    Raises InputError ``release.missing``, ``release.unreadable``; RefusedError
    ``release.not-intact``, ``browse.no-cube``; Cancelled.
    """
    from dpdesk.engine.olap.cube import ReleasedCube
    from dpdesk.engine.olap.selection import askable_cube
    from dpdesk.io.release_content import ReleaseContent

    report(StepStarted("Check the files", 1, 1))
    content = ReleaseContent.open(folder, token)
    manifest = content.manifest
    if manifest["method"] != CUBE:
        raise RefusedError(
            "browse.no-cube",
            f"{folder}: the release holds rows and no cube of tables, so there is nothing to "
            "browse.",
            hint=f"Ask it for numbers with `dpdesk query {folder.name}`.",
        )
    with told(folder):
        cube = ReleasedCube.from_manifest(manifest)
        guarantee = manifest["guarantee"]
        claim = str(guarantee["claim"]) if isinstance(guarantee, Mapping) else ""
        return OpenCube(folder, str(manifest["title"]), claim, askable_cube(cube), cube, content)


def first_view(cube: OpenCube) -> BrowseState:
    """What is shown at first: two dimensions of a published table, the longer one on rows."""
    names = [column.name for column in cube.askable.columns]
    sizes = {column.name: len(column.categories) for column in cube.askable.columns}
    pairs = [cube.cube.names(mask) for mask in cube.cube.published if mask.bit_count() == 2]
    fitting = [pair for pair in pairs if max(sizes[name] for name in pair) <= _FEW] or pairs
    if not fitting:
        single = next((cube.cube.names(m) for m in cube.cube.published if m), ())
        return BrowseState(rows=tuple(Grouping(name) for name in single[:1]))
    pair = min(fitting, key=lambda each: [names.index(name) for name in each])
    longer, shorter = sorted(pair, key=lambda name: -sizes[name])
    return BrowseState((Grouping(longer),), (Grouping(shorter),))


def export_view(
    context: AppContext,
    cube: OpenCube,
    state: BrowseState,
    out: Path,
    token: CancelToken,
    report: Report,
) -> Path:
    """Write a view to a new or replaced file, ``.csv`` (rows with errors) or ``.xlsx`` (as shown).

    Raises InputError ``export.format``, ``export.inside``; StorageError; Cancelled.
    """
    from dpdesk.io.view_files import write_view_csv, write_view_xlsx

    kind = out.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError("export.format", f"{out}: expected a name that ends in .csv or .xlsx.")
    if out.absolute().resolve().is_relative_to(cube.folder.resolve()):
        raise InputError(
            "export.inside",
            f"{out}: lies inside the release, which nothing may be added to.",
            hint="Choose a place outside the release folder.",
        )
    pivot = cube.look(state, token, report)
    write = write_view_csv if kind == "csv" else write_view_xlsx
    write(pivot, _about(cube, state, pivot), out, context.workspace, token)
    return out


def _about(cube: OpenCube, state: BrowseState, pivot: Pivot) -> list[tuple[str, str]]:
    lines = [("Title", cube.title), ("Release", cube.folder.name), ("Numbers", pivot.grid.sentence)]
    lines += [("Only", condition.words()) for condition in state.query().where]
    lines += [("Note", warning) for warning in pivot.grid.warnings]
    return [*lines, ("Guarantee", cube.claim)]
