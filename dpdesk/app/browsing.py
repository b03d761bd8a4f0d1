"""Open a released cube for browsing, look at it, and export what is looked at.

A released cube is opened from its public files alone; nothing of these functions reads a source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dpdesk.app.querying import cautions_of, open_listed, told
from dpdesk.app.shops import Shop
from dpdesk.core.capabilities import Capabilities, Content, Use
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import msg
from dpdesk.core.pivot import BrowseState, CubeGrid, Pivot, in_order, in_percent, pivot_of
from dpdesk.core.query import Askable, AskableColumn, Grouping

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.engine.cubes.olap.cube import ReleasedCube
    from dpdesk.engine.cubes.olap.grids import SumReader

FORMATS = ("csv", "xlsx")
MOST_SHOWN = 200_000
_FEW = 12
Levels: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class OpenCube:
    """A cube ready to be looked at: one release, several read as one, or none as yet.

    ``pieces`` are the folders of the releases, whose files were found intact; with a plan alone
    there are none. ``askable`` and ``levels`` (for each dimension the labels of its categories at
    each level) may know more dimensions than the releases do. ``cautions`` come with every view,
    ``book`` has the labels that the first release publishes, ``sold`` says that further tables can
    be bought.
    """

    title: str
    claim: str
    askable: Askable
    levels: Mapping[str, Levels]
    pieces: tuple[Path, ...]
    cautions: tuple[str, ...] = ()
    reader: SumReader | None = None
    book: Codebook = NO_BOOK
    sold: bool = False

    @property
    def name(self) -> str:
        """How the cube is called: by its title, else by its folder."""
        return self.title or (self.pieces[0].name if self.pieces else "")

    @property
    def cube(self) -> ReleasedCube | None:
        """What the releases say of the cube; None while there is none."""
        return None if self.reader is None else self.reader.cube

    def members(self, column: str, level: int, label: str) -> tuple[str, ...]:
        """The categories of a dimension, as released, that a label of a level stands for."""
        base, labels = self.levels[column][0], self.levels[column][level]
        return tuple(each for each, one in zip(base, labels, strict=True) if one == label)

    def look(self, state: BrowseState, token: CancelToken, report: Report) -> Pivot:
        """The numbers of one view.

        InputError ``query.*``; RefusedError ``query.*``, of which ``query.refused`` says that no
        table has the dimensions together; Cancelled.
        """
        from dpdesk.engine.cubes.olap.grids import read_grid

        report(StepStarted("Read the table", 1, 1))
        wanted, cube = state.query().columns(), self.cube
        if self.reader is None or cube is None:
            raise _nothing_has(wanted)
        if not set(wanted) <= set(cube.domain.dimensions):
            raise _nothing_has(wanted)
        with told(self.pieces[0]):
            grid: CubeGrid = read_grid(self.reader, state.query(), token, MOST_SHOWN)
        warnings = (*grid.warnings, *self.cautions)
        found = pivot_of(replace(grid, warnings=warnings), len(state.rows))
        codes = [one for one in self.book.variables if state.level_of(one.name) == 0]
        found = replace(found, book=Codebook(tuple(codes)))
        if state.percent and found.grid.measure == COUNT:
            found = in_percent(found, state.percent)
        return (
            found
            if state.order is None
            else in_order(found, state.order[0], falling=state.order[1])
        )


def _nothing_has(wanted: Sequence[str]) -> RefusedError:
    names = " × ".join(wanted) or msg("the total")
    return RefusedError(
        "query.refused", msg("No release has {names} yet, so none can answer.", names=names)
    )


def open_cube(
    context: AppContext,
    folder: Path,
    token: CancelToken,
    report: Report,
    beside: Sequence[Path] = (),
    known: OpenCube | None = None,
) -> OpenCube:
    """Check the files of a released cube and open it, read as one with those ``beside`` it.

    ``known`` is what was open: dimensions of it that the releases lack stay askable. Raises
    InputError ``release.missing``, ``release.unreadable``, ``query.twice``, ``query.combine``;
    RefusedError ``release.not-intact``, ``browse.no-cube``, ``query.no-cube``; Cancelled.
    """
    from dpdesk.app.combining import check_combinable, related_words
    from dpdesk.app.private.labelling import read_dimension_labels
    from dpdesk.engine.cubes.guarantee import together_claim
    from dpdesk.engine.cubes.olap.combined import combine
    from dpdesk.engine.cubes.olap.grids import Browsable

    folders, found, manifests = (folder, *beside), [], []
    for number, each in enumerate(folders, start=1):
        report(StepStarted("Check the files", number, len(folders)))
        content = open_listed(context, each, token)
        about = context.registry.about(content.manifest.method)
        _check_cube(about, each)
        if len(folders) > 1:
            check_combinable(about, each)
        method = context.registry.get(content.manifest.method, str(each))
        assert isinstance(method, Browsable)
        with told(each):
            found.append((method.reader(content), content))
        manifests.append(content.manifest)
    said = [one for manifest in manifests for one in cautions_of(context, manifest)]
    cautions = (*related_words(folders, manifests), *dict.fromkeys(said))
    with told(folder):
        alone = len(found) == 1
        reader = found[0][0] if alone else combine([(one.cube, own) for one, own in found])
        promised = [manifest.guarantee for manifest in manifests]
        claim = promised[0].claim if alone else together_claim(promised)
        asked, levels = _with_known(reader.cube, known)
        book = read_dimension_labels(_public(folder), manifests[0])
        title = manifests[0].title
        sold = all(context.registry.about(one.method).allows(Use.BOUGHT) for one in manifests)
        return OpenCube(title, claim, asked, levels, folders, cautions, reader, book, sold)


def _public(folder: Path) -> Path:
    """The public part of a release, which may stand alone."""
    from dpdesk.io.release_folder import PUBLIC

    inside = folder / PUBLIC
    return inside if inside.is_dir() else folder


def _check_cube(about: Capabilities, folder: Path) -> None:
    if not about.allows(Use.BROWSED):
        words: dict[Content | None, str] = {
            Content.GRAPH: "a graph",
            Content.TABLES: "tables",
            Content.ITEMSETS: "sets of items",
            Content.CHOICES: "choices",
        }
        held = words.get(about.content, "rows")
        raise RefusedError(
            "browse.no-cube",
            msg(
                "{folder}: the release holds {held} and no cube of tables, so there is "
                "nothing to browse.",
                folder=folder,
                held=held,
            ),
            hint=msg("Ask it for numbers with `dpdesk query {name}`.", name=folder.name),
        )


def _with_known(cube: ReleasedCube, known: OpenCube | None) -> tuple[Askable, Mapping[str, Levels]]:
    from dpdesk.engine.cubes.olap.grids import askable_cube

    asked = askable_cube(cube)
    levels = dict(zip(cube.domain.dimensions, cube.levels, strict=True))
    if known is None:
        return asked, levels
    more = [each for each in known.askable.columns if each.name not in levels]
    levels |= {each.name: known.levels[each.name] for each in more}
    order = [each.name for each in known.askable.columns]
    columns = sorted(
        (*asked.columns, *more),
        key=lambda each: order.index(each.name) if each.name in order else len(order),
    )
    return replace(asked, columns=tuple(columns)), levels


def planned_cube(context: AppContext, shop: Shop, token: CancelToken, report: Report) -> OpenCube:
    """The cube of a plan of which nothing is released yet, to buy its tables one by one.

    Raises InputError for whatever is wrong with the plan, Cancelled.
    """
    from dpdesk.app.buying import check_sold, described
    from dpdesk.engine.cubes.olap.grids import askable_cube

    check_sold(context, shop.plan, shop.where)
    columns: list[AskableColumn] = []
    levels: dict[str, Levels] = {}
    measures: tuple[str, ...] = ("count",)
    for number, name in enumerate(shop.dimensions, start=1):
        report(StepStarted("Read the dimensions of the plan", number, len(shop.dimensions)))
        cube = described(context, shop, name, token)
        one = askable_cube(cube)
        columns += one.columns
        levels[name], measures = cube.levels[0], one.measures
    asked = Askable(tuple(columns), measures)
    return OpenCube(shop.plan.title, "", asked, levels, (), sold=True)


def first_view(cube: OpenCube) -> BrowseState:
    """What is shown at first: two dimensions of a published table, the longer one on rows."""
    known = cube.cube
    if known is None:
        return BrowseState()
    names = [column.name for column in cube.askable.columns]
    sizes = {column.name: len(column.categories) for column in cube.askable.columns}
    pairs = [known.names(mask) for mask in known.published if mask.bit_count() == 2]
    fitting = [pair for pair in pairs if max(sizes[name] for name in pair) <= _FEW] or pairs
    if not fitting:
        single = next((known.names(m) for m in known.published if m), ())
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
        raise InputError(
            "export.format", msg("{out}: expected a name that ends in .csv or .xlsx.", out=out)
        )
    there = out.absolute().resolve()
    if any(there.is_relative_to(folder.resolve()) for folder in cube.pieces):
        raise InputError(
            "export.inside",
            msg("{out}: is inside the release, to which nothing may be added.", out=out),
            hint="Choose a place outside the release folder.",
        )
    pivot = cube.look(state, token, report)
    write = write_view_csv if kind == "csv" else write_view_xlsx
    write(pivot, _about(cube, state, pivot), out, context.workspace, token)
    return out


def _about(cube: OpenCube, state: BrowseState, pivot: Pivot) -> list[tuple[str, str]]:
    from dpdesk.io.view_files import ONLY

    lines = [("Title", cube.title)]
    lines += [("Release", folder.name) for folder in cube.pieces]
    lines += [("Numbers", pivot.grid.sentence)]
    lines += [(ONLY, condition.words()) for condition in state.query().where]
    lines += [("Note", warning) for warning in pivot.grid.warnings]
    return [*lines, ("Guarantee", cube.claim)]
