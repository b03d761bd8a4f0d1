"""Check a release folder against a policy: verify, count what the table shows, ask."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.review.protocols import passage
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.labels import UserMissing
from dpdesk.core.release import ReleaseFacts, TableFacts, VerifyReport
from dpdesk.core.schema import Role
from dpdesk.project.review.checklist import Checklist, Difference, make_checklist
from dpdesk.project.review.events import Mode
from dpdesk.project.review.policy import (
    AgencyPolicy,
    Policy,
    agency_policy,
    read_policy,
    standing_of,
)
from dpdesk.project.review.questions import Basis, CheckedFacts, Item
from dpdesk.project.review.table_facts import ValueReading, table_facts
from dpdesk.project.review.votes import ItemStatus

if TYPE_CHECKING:
    from dpdesk.app.at_hand import Given
    from dpdesk.app.context import AppContext
    from dpdesk.project.review.protocol import SignedProtocol

__all__ = [
    "AgencyPolicy",
    "Basis",
    "CheckedFacts",
    "CheckedRelease",
    "Checklist",
    "Difference",
    "Item",
    "ItemStatus",
    "Policy",
    "agency_policy",
    "check_release",
    "gather",
    "read_policy",
]


@dataclass(frozen=True)
class CheckedRelease:
    """A release, what checking it showed, and its checklist."""

    facts: CheckedFacts
    checklist: Checklist


def check_release(
    context: AppContext,
    path: Path,
    token: CancelToken,
    report: Report,
    policy: Policy | None = None,
    source: Given | None = None,
    mode: Mode = Mode.DEVELOP,
    protocol: SignedProtocol | None = None,
    author: str = "",
) -> CheckedRelease:
    """Verify a release folder and make its checklist.

    ``policy`` is that of a submission; None takes the one that holds on this computer. In the mode
    "apply", ``protocol`` is the one that was locked (None: it is not at hand), and ``author`` who
    submits the release. Whatever is wrong with the folder becomes items that fail. Raises
    InputError when ``path`` is no folder, ``source`` no file or the agency's policy unreadable, and
    Cancelled.
    """
    agency = agency_policy(context.home)
    facts = gather(context, path, token, report, source)
    chosen = agency.policy if policy is None else policy
    standing = standing_of(chosen, agency.given)
    way = passage(context, mode, protocol, facts, chosen, author)
    checklist = make_checklist(facts, chosen, standing, way)
    return CheckedRelease(facts, checklist)


def gather(
    context: AppContext, path: Path, token: CancelToken, report: Report, source: Given | None = None
) -> CheckedFacts:
    """The facts of a release folder: verified, and counted from its table.

    Raises what :func:`dpdesk.app.verifying.verify_release` raises.
    """
    from dpdesk.app.verifying import verify_release

    verified = verify_release(
        path, context.registry, token, report, source, context.workspace, reviewed=True
    )
    return facts_of(context, path, verified, token, report)


def facts_of(
    context: AppContext, path: Path, verified: VerifyReport, token: CancelToken, report: Report
) -> CheckedFacts:
    """The facts of a release folder that has just been verified.

    Raises StorageError when there is no room to count in, and Cancelled.
    """
    from dpdesk.io.release_check import read_what_there_is

    release = read_what_there_is(path)
    about = context.registry.about(release.method)
    return CheckedFacts(release, verified, _table_facts(context, release, token, report), about)


def _table_facts(
    context: AppContext, release: ReleaseFacts, token: CancelToken, report: Report
) -> TableFacts | None:
    """What the published table shows; None when there is none that can be read."""
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.release_folder import MICRODATA

    path = release.public / MICRODATA
    if path.is_symlink() or not path.is_file():
        return None
    roles = _claimed_roles(release)
    try:
        published = PublishedCsv(path, token)
        reading = _reading(release, published.columns)
        return table_facts(published, roles, reading, context.workspace, token, report)
    except (UnreadableTableError, OSError):
        return None


def _claimed_roles(release: ReleaseFacts) -> dict[str, Role]:
    """The roles of the published columns, as far as they can be read.

    The guarantee gives them; where it does not name a column, the plan's role counts.
    """
    given = release.manifest.guarantee.parameters
    keys = {role.value: role for role in Role} | {"quasi_identifiers": Role.QUASI_IDENTIFIER}
    roles = {role.value: role for role in Role}
    planned = {name: roles[role] for name, role in release.evidence.roles.items() if role in roles}
    return planned | {
        name: role
        for key, role in keys.items()
        if isinstance(names := given.get(key), list)
        for name in names
        if isinstance(name, str)
    }


def _reading(release: ReleaseFacts, columns: tuple[str, ...]) -> ValueReading:
    """Missing codes and decimal mark of the source; without the evidence, the usual ones.

    What the source itself declares missing is read from the labels of the release; a plan with
    ``missing = []`` says that nothing of it counts.
    """
    reading = release.evidence.source.reading
    codes = reading.get("missing", [""])
    missing = [code for code in codes if isinstance(code, str)] if isinstance(codes, list) else [""]
    decimal = "," if reading.get("decimal") == "," else "."
    k = release.manifest.guarantee.parameters.get("k")
    known = isinstance(k, int) and not isinstance(k, bool) and 0 < k < 2**31
    user = _user_missing(release, columns) if missing or codes != [] else {}
    return ValueReading(tuple(missing), decimal, k if known and isinstance(k, int) else 0, user)


def _user_missing(release: ReleaseFacts, columns: tuple[str, ...]) -> dict[str, UserMissing]:
    from dpdesk.io.canonical import UnreadableJsonError
    from dpdesk.io.csvw import read_variables
    from dpdesk.io.release_folder import VARIABLES

    path = release.public / VARIABLES
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        book = read_variables(path, columns)
    except UnreadableJsonError:  # verifying names it
        return {}
    return {one.name: one.missing for one in book.variables if one.missing}
