"""Ask several releases of one cube together; each is a measurement with noise of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.buying import check_apart, manifest_hash
from dpdesk.app.querying import AskedRelease, told
from dpdesk.app.shops import CUBE
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.plain import quoted
from dpdesk.core.query import Answer, Query

if TYPE_CHECKING:
    from dpdesk.engine.olap.combined import CombinedReleases
    from dpdesk.engine.olap.grids import OneRelease

_UNRELATED = (
    "The releases do not name each other; they are combined as tables of the same data, each with "
    "noise of its own, which is for you to know."
)
_OTHER_ROWS = (
    "Rows whose value in {names} is none of the declared categories are left out of the releases "
    "that have this dimension and counted in the others; their numbers differ by such rows, and "
    "the ± does not tell by how many. A category that takes all other values avoids this."
)


@dataclass(frozen=True)
class OpenTogether:
    """Releases of one cube whose files were found intact; ``warnings`` go with every answer."""

    about: AskedRelease
    reader: CombinedReleases | OneRelease
    warnings: tuple[str, ...]

    def ask(self, query: Query, token: CancelToken, report: Report) -> Answer:
        """The answer from all of them; as :meth:`~dpdesk.app.querying.OpenRelease.ask`."""
        from dpdesk.engine.olap.answering import read_grid

        with told(self.about.folder):
            answer = read_grid(self.reader, query, token).answer()
        return replace(answer, warnings=(*answer.warnings, *self.warnings))


def open_together(folders: Sequence[Path], token: CancelToken, report: Report) -> OpenTogether:
    """Check the files of several releases of one cube, and read them as one.

    Raises InputError ``release.missing``, ``release.unreadable``, ``query.twice``,
    ``query.combine``; RefusedError ``release.not-intact``, ``query.no-cube``; Cancelled.
    """
    from dpdesk.engine.olap.combined import reader_of
    from dpdesk.engine.olap.cube import ReleasedCube
    from dpdesk.engine.olap.selection import askable_cube
    from dpdesk.io.release_content import ReleaseContent

    found, manifests = [], []
    for number, folder in enumerate(folders, start=1):
        report(StepStarted(f"Check the files of {folder.name}", number, len(folders)))
        content = ReleaseContent.open(folder, token)
        manifest = content.manifest
        if manifest["method"] != CUBE:
            raise RefusedError(
                "query.no-cube", f"{folder}: only releases of cubes are asked together."
            )
        with told(folder):
            found.append((ReleasedCube.from_manifest(manifest), content))
        manifests.append(manifest)
    warnings = related_words(folders, manifests)
    reader = reader_of(found)
    title = str(found[0][1].manifest["title"])
    about = AskedRelease(folders[0], title, CUBE, askable_cube(reader.cube))
    return OpenTogether(about, reader, warnings)


def related_words(
    folders: Sequence[Path], manifests: Sequence[Mapping[str, object]]
) -> tuple[str, ...]:
    """What to say beside numbers of several releases.

    Nothing when they name each other and count the same rows.

    Raises InputError ``query.twice`` when one is named twice, ``release.unreadable``.
    """
    hashes = [manifest_hash(manifest) for manifest in manifests]
    check_apart(folders, hashes)
    named: set[str] = set()
    for folder, manifest in zip(folders, manifests, strict=True):
        with told(folder):
            named.update(_follows(manifest["parameters"]))
    unrelated = () if len(named & set(hashes)) >= len(hashes) - 1 else (_UNRELATED,)
    return (*_other_rows(manifests), *unrelated)


def _other_rows(manifests: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """A warning where a release leaves rows out by a dimension that another does not look at."""
    held = [_dimensions(manifest) for manifest in manifests]
    found = sorted({name for each in held for name, drops in each.items() if drops})
    apart = [name for name in found if not all(name in each for each in held)]
    if not apart:
        return ()
    return (_OTHER_ROWS.format(names=", ".join(quoted(name) for name in apart)),)


def _dimensions(manifest: Mapping[str, object]) -> dict[str, bool]:
    """The dimensions of a release, and whether rows outside the categories are left out."""
    result, parameters = manifest["result"], manifest["parameters"]
    if not isinstance(result, Mapping) or not isinstance(parameters, Mapping):
        return {}
    taken = result.get("outside", {})
    return {str(name): name not in taken for name in parameters.get("dimensions", ())}


def _follows(parameters: object) -> Sequence[str]:
    given = parameters.get("follows", ()) if isinstance(parameters, dict) else ()
    return [str(each) for each in given]
