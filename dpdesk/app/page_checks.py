"""What a release says twice must agree: manifest, page, settings, plan in the evidence.

The page for users is a function of the manifest and the table, so it is made once more and compared
byte for byte; settings are read by the specifications of their method; the plan in the evidence
must be one that leads to this manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.labelling import stated_labels
from dpdesk.app.manifests import listed_checks
from dpdesk.app.texts import same_texts
from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import ENGLISH, languages, speaking
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Parameter,
    ParameterValue,
    effective_parameters,
    parse_parameters,
)
from dpdesk.core.plan import Plan
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list
from dpdesk.engine.method import Method
from dpdesk.engine.methods.k_anonymity.guarantee import linkages_from
from dpdesk.engine.registry import rows_of
from dpdesk.io.release_folder import ABOUT, MANIFEST

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv

ABOUT_CLAIM = "about.html says what the manifest and the table say"
MALFORMED = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError),
    *(RecursionError, StopIteration),
)
"""What a manifest or evidence of another form than a page has room for raises there."""
_LARGEST_PAGE = 64 * 1024 * 1024


def public_page(
    manifest: Manifest,
    method: Method,
    published: PublishedCsv,
    token: CancelToken,
    language: str = ENGLISH,
    book: Codebook = NO_BOOK,
) -> bytes:
    """The bytes of ``about.html``: they depend on the manifest, without ``files``, the table, and
    what ``book``, the published one, says of numbers that were made coarser.

    There is one page for each language.

    What ``render_about`` raises for a manifest that is not of the right shape is raised here too.
    """
    from dpdesk.report.about import AboutContent, describe_columns, render_about, render_drawn

    with speaking(language):
        columns = describe_columns(published, manifest, method, token, book)
        content = AboutContent(manifest, method, columns)
        rows = rows_of(method)
        drawn = rows is not None and rows.draws and not rows.advice
        return render_drawn(content) if drawn else render_about(content)


@contextmanager
def page_is_made(method: Method) -> Iterator[None]:
    """A page is made in the block from what a method gave; RefusedError ``release.no-page`` where
    this has another form than the page has room for.
    """
    from jinja2 import TemplateError

    try:
        yield
    except (TemplateError, *MALFORMED) as error:
        raise RefusedError(
            "release.no-page",
            msg(
                "The method `{method}` describes its release in a form for which the pages have "
                "no room ({kind}), so nothing is released.",
                method=method.id,
                kind=type(error).__name__,
            ),
            hint="Use another method, or ask the authors of this one.",
        ) from error


def about_check(
    manifest: Manifest,
    method: Method,
    published: PublishedCsv,
    page: Path,
    token: CancelToken,
) -> ClaimCheck:
    """Whether the page is the one that this manifest and table give. Raises OSError."""
    book = stated_labels(page.parent, published.columns)
    written = partial(_expected_page, manifest, method, published, token, book=book)
    return page_check(manifest, about_page(manifest, page_bytes(page)), written)


def page_bytes(page: Path) -> bytes:
    """The bytes of a page; none of one that is larger than any of ours. Raises OSError."""
    return page.read_bytes() if page.stat().st_size <= _LARGEST_PAGE else b""


@dataclass(frozen=True)
class StoredPage:
    """A page as it lies in a release: its claim, its file, its bytes, the hash named for it."""

    claim: str
    path: str
    content: bytes
    sha256: str


def about_page(manifest: Manifest, content: bytes) -> StoredPage:
    """``about.html`` with the hash that the manifest names."""
    listed = manifest.files.get(ABOUT)
    return StoredPage(ABOUT_CLAIM, ABOUT, content, "" if listed is None else listed.sha256)


def page_check(
    manifest: Manifest, page: StoredPage, written: Callable[[str], bytes | None]
) -> ClaimCheck:
    """Whether a page is the one that ``written`` makes in its language.

    Other texts than those that the release names word the page in their own way, so one that is not
    the same byte for byte may be right then: that cannot be told here, and the page is not checked.
    It must be a page without anything active in any case. Raises TypeError for a manifest that says
    of its texts what cannot be read.
    """
    from dpdesk.report.page_tree import active_part
    from dpdesk.report.pages import stated_language

    stated, content = manifest.texts, page.content
    language = stated_language(content) if stated is None else stated.language

    def answer(status: CheckStatus, found: str) -> ClaimCheck:
        return ClaimCheck(page.claim, status, found, page.path)

    if page.sha256 != sha256(content).hexdigest():
        found = "its bytes are not those that the manifest names, or too many"
        return answer(CheckStatus.FAILED, found)
    active = active_part(content)
    if active is not None:
        found = msg("the page holds {part}, which no page of this program does", part=active)
        return answer(CheckStatus.FAILED, found)
    try:
        if language not in languages():
            return answer(CheckStatus.NOT_CHECKED, _no_texts(manifest, language))
        if content == written(language):
            return answer(CheckStatus.CONFIRMED, "written again, the same")
        same = same_texts(manifest)
    except StorageError as error:
        if not error.code.startswith("resources."):
            raise
        return answer(CheckStatus.NOT_CHECKED, _no_texts(manifest, language))
    if not same:
        return answer(CheckStatus.NOT_CHECKED, other_texts(manifest))
    found = "written again with the same texts, the page is different"
    return answer(CheckStatus.FAILED, found)


def other_texts(manifest: Manifest) -> str:
    """Why a page was not compared: which version says that it made it."""
    return msg(
        "made by version {version} with texts other than this program's, not compared; its bytes "
        "are those that the release names",
        version=manifest.dpdesk[:60],
    )


def _no_texts(manifest: Manifest, language: str) -> str:
    shown = language[:40]
    return msg(
        "made by version {version} in the language `{language}`, for which this program has no "
        "readable texts, not compared; its bytes are those that the release names",
        version=manifest.dpdesk[:60],
        language=shown,
    )


def _expected_page(
    manifest: Manifest,
    method: Method,
    published: PublishedCsv,
    token: CancelToken,
    language: str,
    *,
    book: Codebook,
) -> bytes | None:
    from jinja2 import TemplateError

    try:
        return public_page(manifest, method, published, token, language, book)
    except TemplateError:
        return None


def setting_checks(manifest: Manifest, method: Method) -> list[ClaimCheck]:
    """Settings that the method does not take fail, and so does any field that is not listed."""
    checks = listed_checks(manifest, method)
    known = {parameter.key: parameter for parameter in method.parameters}
    for key, value in manifest.parameters.items():
        parameter = known.get(key)
        if parameter is not None and not _is_setting(parameter, value):
            found = msg(
                "found {str!r}, expected {range_text}",
                str=str(value)[:60],
                range_text=parameter.range_text(),
            )
            claim = msg("parameters, {key}", key=key)
            checks.append(ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST))
    return checks


def _is_setting(parameter: Parameter, value: object) -> bool:
    try:
        plain = parameter.as_plain(parameter.parse(value, ""))
    except InputError:
        return False
    return isinstance(value, bool) is isinstance(plain, bool) and plain == value


def plan_fault(manifest: Manifest, evidence: Mapping[str, object], method: Method) -> str | None:
    """Why the plan and the roles in the evidence cannot have led to this manifest, or None."""
    raw, source = evidence.get("plan"), evidence.get("source")
    if not isinstance(raw, Mapping) or not isinstance(source, Mapping):
        return "gives neither plan nor source"
    try:
        plan = Plan.from_plain(raw, "the plan")
        given = plan.protection.parameters
        values = parse_parameters(method.parameters, given, "the plan")
    except InputError as error:
        return msg("its plan cannot be read: {reason}", reason=error.sentence)
    public = [parameter for parameter in method.parameters if parameter.public]
    whole = effective_parameters(method.parameters, values, public)
    said = {
        "title": (plan.title, manifest.title),
        "method": (plan.protection.method, manifest.method),
        "parameters": (
            stated_settings(whole, manifest.parameters, given, complete=same_texts(manifest)),
            manifest.parameters,
        ),
    }
    for key, (planned, stated) in said.items():
        if planned != stated:
            return msg("`{key}` of its plan is not the one of the manifest", key=key)
    return _role_fault(manifest, evidence, plan, method, values, source.get("columns"))


def stated_settings(
    whole: Mapping[str, object],
    stated: Mapping[str, object],
    given: Mapping[str, object],
    *,
    complete: bool,
) -> dict[str, object]:
    """The settings of a plan as its release must state them, of all that this program has.

    Unless it is ``complete``, another program made the release, which may not have known a setting
    that has its default: one that is neither ``given`` by the plan nor ``stated`` is not missed.
    """
    known = {*given, *stated}
    return {key: value for key, value in whole.items() if complete or key in known}


def _role_fault(
    manifest: Manifest,
    evidence: Mapping[str, object],
    plan: Plan,
    method: Method,
    values: Mapping[str, ParameterValue],
    columns: object,
) -> str | None:
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        return "gives no list of the source's columns"
    roles = method.effective_roles(plan.column_roles(columns), values)
    if evidence.get("roles") != {name: role.value for name, role in roles.items()}:
        return "`roles` are not those of its plan"
    named = manifest.guarantee.parameters
    keys = {"quasi_identifiers": Role.QUASI_IDENTIFIER} | {role.value: role for role in Role}
    apart = named.get("separated", named.get("drawn"))  # such columns are named there alone
    listed = [name for name in columns if not isinstance(apart, list) or name not in apart]
    for key, value in named.items():
        role = keys.get(key)
        if role is not None and value != [name for name in listed if roles[name] is role]:
            return msg("its plan has other {role} columns than the guarantee", role=role.value)
    linked = plan.linkages(columns)
    said = linkages_from(named, list(linked))
    return None if said == linked else "its plan has other pseudonyms than the guarantee"


def recorded_hierarchies(raw: Mapping[str, object]) -> dict[str, Hierarchy]:
    """Hierarchies as the evidence holds them. Raises TypeError and InputError."""
    found: dict[str, Hierarchy] = {}
    for name, rows in raw.items():
        texts = [[str(value) for value in as_list(row)] for row in as_list(rows)]
        found[name] = Hierarchy.from_rows(name, texts, "the evidence")
    return found
