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
from dpdesk.core.query import Answer, Query

if TYPE_CHECKING:
    from dpdesk.engine.olap.combined import CombinedReleases
    from dpdesk.engine.olap.grids import OneRelease

_UNRELATED = (
    "The releases do not name each other; they are combined as tables of the same data, each with "
    "noise of its own, which is for you to know."
)


@dataclass(frozen=True)
class OpenTogether:
    """Releases of one cube whose files were found intact; ``related`` when they name each other."""

    about: AskedRelease
    reader: CombinedReleases | OneRelease
    related: bool

    def ask(self, query: Query, token: CancelToken, report: Report) -> Answer:
        """The answer from all of them; as :meth:`~dpdesk.app.querying.OpenRelease.ask`."""
        from dpdesk.engine.olap.answering import read_grid

        with told(self.about.folder):
            answer = read_grid(self.reader, query, token).answer()
        if self.related:
            return answer
        return replace(answer, warnings=(*answer.warnings, _UNRELATED))


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
    return OpenTogether(about, reader, not warnings)


def related_words(
    folders: Sequence[Path], manifests: Sequence[Mapping[str, object]]
) -> tuple[str, ...]:
    """What to say beside numbers of several releases: nothing when they name each other.

    Raises InputError ``query.twice`` when one is named twice, ``release.unreadable``.
    """
    hashes = [manifest_hash(manifest) for manifest in manifests]
    check_apart(folders, hashes)
    named: set[str] = set()
    for folder, manifest in zip(folders, manifests, strict=True):
        with told(folder):
            named.update(_follows(manifest["parameters"]))
    return () if len(named & set(hashes)) >= len(hashes) - 1 else (_UNRELATED,)


def _follows(parameters: object) -> Sequence[str]:
    given = parameters.get("follows", ()) if isinstance(parameters, dict) else ()
    return [str(each) for each in given]
