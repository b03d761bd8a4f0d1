"""Whether a release may be exported: verified, and what was not compared answered for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.checklists import agency_policy
from dpdesk.app.context import AppContext
from dpdesk.app.review.review_picture import is_whole, released_by_all, signed_or_refused
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.messages import msg
from dpdesk.core.release import MINIMAL_CHANGE, ClaimCheck

if TYPE_CHECKING:
    from dpdesk.engine.registry import Registry
    from dpdesk.io.workspace import Workspace

_NOT_VERIFIED = (
    "export.not-verified",
    "A release that fails the check is not exported; see `dpdesk verify`.",
)
_ACCEPT_IT = (
    "Have it reviewed and released with a reason, and export the whole folder; or set "
    "`accept_not_compared = true` in the policy."
)
_WITH_4TI2 = (
    "Install 4ti2, which can check it; or have it reviewed and released with a reason, and "
    "export the whole folder; or set `accept_not_compared = true` in the policy."
)


def check_exportable(
    release: Path, workspace: Workspace, registry: Registry, token: CancelToken
) -> None:
    """Raise unless files and claims of the release are all as they should be."""
    context = AppContext(workspace.home, workspace, registry)
    found = signed_or_refused(context, release, token, silent, _NOT_VERIFIED)
    _check_compared(context, release, found.not_checked(), token)


def _check_compared(
    context: AppContext, release: Path, unlike: Sequence[ClaimCheck], token: CancelToken
) -> None:
    """Raise where something was compared with nothing, and neither policy nor review accepts it."""
    if not unlike or agency_policy(context.home).policy.accept_not_compared:
        return
    if is_whole(release) and released_by_all(context, release, token):
        return  # its reviewers gave a reason: such an item fails without one
    first = unlike[0]
    more = msg(" ({unlike} more)", unlike=len(unlike) - 1) if len(unlike) > 1 else ""
    raise RefusedError(
        "export.not-compared",
        msg(
            "{release}: `{claim}` could not be compared with anything{more}, so nothing "
            "is exported.",
            release=release,
            claim=first.claim,
            more=more,
        ),
        hint=_WITH_4TI2 if first.claim == MINIMAL_CHANGE else _ACCEPT_IT,
    )
