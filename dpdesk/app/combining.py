"""Ask several releases of one cube together; each is a measurement with noise of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.buying import check_apart
from dpdesk.app.manifests import manifest_hash
from dpdesk.app.querying import AskedRelease, cautions_of, open_listed, told
from dpdesk.core.capabilities import Capabilities, Use
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.query import Answer, Query
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list, as_table

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.engine.cubes.olap.combined import CombinedReleases
    from dpdesk.engine.cubes.olap.grids import OneRelease

_UNRELATED = (
    "The releases do not name each other; they are combined as tables of the same data, each with "
    "noise of its own, which is for you to know."
)
_ONE_FILE = (
    "The releases do not name each other; according to their internal parts, they were made from "
    "one file that was read in one way, each with noise of its own. This sentence is internal."
)
_OTHER_ROWS = (
    "Rows whose value in {names} is not one of the declared categories are left out of some of "
    "the releases and counted in the others; their numbers differ by such rows, and the ± does "
    "not say by how many. A category that takes all other values avoids this, and tables "
    "bought from one plan count the same rows."
)
_OTHER_CHOICE = (
    "Of a person with more rows than are used, the releases may use different ones, because they "
    "are not based on the same columns; their numbers differ by such rows, and the ± does not "
    "say by how many. Tables bought from one plan use the same rows."
)

Counted = dict[str, tuple[str, ...] | None]


@dataclass(frozen=True)
class OpenTogether:
    """Releases of one cube whose files were found intact; ``warnings`` go with every answer."""

    about: AskedRelease
    reader: CombinedReleases | OneRelease
    warnings: tuple[str, ...]

    def ask(self, query: Query, token: CancelToken, report: Report) -> Answer:
        """The answer from all of them; as :meth:`~dpdesk.app.querying.OpenRelease.ask`."""
        from dpdesk.engine.cubes.olap.grids import read_grid

        query = query.spelled_as([column.name for column in self.about.askable.columns])
        with told(self.about.folder):
            answer = read_grid(self.reader, query, token).answer()
        return replace(answer, warnings=(*answer.warnings, *self.warnings))


def open_together(
    context: AppContext, folders: Sequence[Path], token: CancelToken, report: Report
) -> OpenTogether:
    """Check the files of several releases of one cube, and read them as one.

    Raises InputError ``release.missing``, ``release.unreadable``, ``query.twice``,
    ``query.combine``; RefusedError ``release.not-intact``, ``query.no-cube``; Cancelled.
    """
    from dpdesk.engine.cubes.olap.combined import reader_of
    from dpdesk.engine.cubes.olap.cube import ReleasedCube
    from dpdesk.engine.cubes.olap.grids import askable_cube

    found, manifests = [], []
    for number, folder in enumerate(folders, start=1):
        report(
            StepStarted(msg("Check the files of {name}", name=folder.name), number, len(folders))
        )
        content = open_listed(context, folder, token)
        manifest = content.manifest
        check_combinable(context.registry.about(manifest.method), folder)
        with told(folder):
            found.append((ReleasedCube.from_manifest(manifest), content))
        manifests.append(manifest)
    said = [one for manifest in manifests for one in cautions_of(context, manifest)]
    warnings = (*related_words(folders, manifests), *dict.fromkeys(said))
    reader = reader_of(found)
    first = manifests[0]
    about = AskedRelease(folders[0], first.title, first.method, askable_cube(reader.cube))
    return OpenTogether(about, reader, warnings)


def check_combinable(about: Capabilities, folder: Path) -> None:
    """Raise RefusedError ``query.no-cube`` unless releases of this kind can be read as one."""
    if not about.allows(Use.BOUGHT):
        raise RefusedError(
            "query.no-cube",
            msg("{folder}: only releases of cubes can be queried together.", folder=folder),
        )


def related_words(folders: Sequence[Path], manifests: Sequence[Manifest]) -> tuple[str, ...]:
    """What to say beside numbers of several releases.

    Nothing when they name each other and count the same rows.

    Raises InputError ``query.twice`` when one is named twice, ``release.unreadable``.
    """
    hashes = [manifest_hash(manifest) for manifest in manifests]
    check_apart(folders, hashes)
    named: set[str] = set()
    held: list[Counted] = []
    kept: list[object] = []
    for folder, manifest in zip(folders, manifests, strict=True):
        with told(folder):
            named.update(_follows(manifest.parameters))
            held.append(_counted(manifest))
            kept.append(_kept(manifest, tuple(held[-1])))
    origins = [
        _origin(folder, manifest) for folder, manifest in zip(folders, manifests, strict=True)
    ]
    warnings = (*_other_sources(origins), *_other_rows(held))
    warnings += (_OTHER_CHOICE,) if any(each != kept[0] for each in kept) else ()
    if len(named & set(hashes)) < len(hashes) - 1:
        one_file = None not in origins and not _other_sources(origins)
        warnings += (_ONE_FILE if one_file else _UNRELATED,)
    return warnings


@dataclass(frozen=True)
class _Origin:
    """What the internal part of a release says of its source, where it belongs to the manifest."""

    name: str
    sha256: str
    read: Mapping[str, object]


def _origin(folder: Path, manifest: Manifest) -> _Origin | None:
    """The source of a release; None where the internal part is not here, or not that of it."""
    from dpdesk.io.release_check import read_what_there_is
    from dpdesk.io.release_folder import commitment

    facts = read_what_there_is(folder)
    source, plan = facts.evidence.source, facts.evidence.plan
    sha256, key = source.sha256, facts.evidence.commitment_key
    try:
        if commitment(sha256, key) != manifest.commitment:
            return None
    except ValueError:
        return None
    read = plan.get("source")
    given = read if isinstance(read, Mapping) else {}
    told = {name: value for name, value in given.items() if name != "path"}
    return _Origin(source.name, sha256, told)


def _other_sources(origins: Sequence[_Origin | None]) -> tuple[str, ...]:
    """A warning where releases were made of different files, or of one that was read otherwise."""
    known = [each for each in origins if each is not None]
    if len({each.sha256 for each in known}) > 1:
        names = ", ".join(quoted(each.name) for each in known)
        return (
            msg(
                "According to their internal parts, the releases were made from different "
                "files ({names}): their numbers are not from the same data, and the ± does not "
                "say by how much these differ. This sentence is internal.",
                names=names,
            ),
        )
    keys = sorted({key for each in known for key in each.read})
    apart = [
        key for key in keys if any(each.read.get(key) != known[0].read.get(key) for each in known)
    ]
    if not apart:
        return ()
    return (
        msg(
            "According to their internal parts, the releases were made from one file that was "
            "read in different ways ({names}): their numbers may be from different rows and "
            "values, and the ± does not say by how much these differ. This sentence is "
            "internal.",
            names=", ".join(f"`{key}`" for key in apart),
        ),
    )


def _other_rows(held: Sequence[Counted]) -> tuple[str, ...]:
    """A warning where releases leave rows out by other columns or categories."""
    found = sorted({name for each in held for name, lost in each.items() if lost is not None})
    apart = [name for name in found if any(each.get(name) != held[0].get(name) for each in held)]
    if not apart:
        return ()
    return (_OTHER_ROWS.format(names=", ".join(quoted(name) for name in apart)),)


def _counted(manifest: Manifest) -> Counted:
    """The columns by which rows of a release count, in order.

    Each with the categories outside of which they are left out, None where they never are.
    """
    result, parameters = manifest.result, manifest.parameters
    extra = as_table(result.get("counted_by", {"domains": [], "outside": {}}))
    found: Counted = {}
    for part in (result, extra):
        taken = as_table(part.get("outside", {}))
        for item in map(as_table, as_list(part["domains"])):
            categories = tuple(map(str, as_list(item["categories"])))
            found[str(item["dimension"])] = None if item["dimension"] in taken else categories
    order = parameters.get("counted_by") or parameters["dimensions"]
    return {str(name): found[str(name)] for name in as_list(order)}


def _kept(manifest: Manifest, columns: tuple[str, ...]) -> object:
    """By what the rows of a person are cut to the bound; None where they are not."""
    stated = manifest.guarantee.parameters
    cluster = stated.get("cluster")
    return None if not cluster else (cluster, stated.get("rows_per_person"), columns)


def _follows(parameters: object) -> Sequence[str]:
    given = parameters.get("follows", ()) if isinstance(parameters, dict) else ()
    return [str(each) for each in given]
