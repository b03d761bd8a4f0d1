"""Finding the folders of releases that a review names by the hash of their manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.project.review.state import ReviewState

_MOST_FOLDERS = 500


def named_releases(state: ReviewState) -> tuple[str, ...]:
    """The other releases that a review names: the one it replaces, and the one in its place."""
    from dpdesk.project.review.events import Supersede

    current = state.current
    if current is None:
        return ()
    after = None if current.superseded_by is None else current.superseded_by.payload
    found = [current.payload.supersedes]
    found.append(after.replacement if isinstance(after, Supersede) else None)
    return tuple(code for code in found if code)


def find_releases(folder: Path, codes: Iterable[str], token: CancelToken) -> Mapping[str, Path]:
    """The release folders beside ``folder`` with these manifests (SHA-256), as far as there are.

    Raises Cancelled.
    """
    from dpdesk.project.review.binding import manifest_code

    wanted, found = set(codes), {}
    if not wanted:
        return {}
    try:
        beside = sorted(one for one in folder.absolute().parent.iterdir() if one.is_dir())
    except OSError:
        return {}
    for place in beside[:_MOST_FOLDERS]:
        token.check()
        code = manifest_code(place, token)
        if code in wanted:
            found[code] = place
    return found
