"""Whether ``internal/report.html`` and its PDF are what the other files of a release give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from dpdesk.app.evidence import review_page
from dpdesk.app.evidence_checks import PRINTED_TOO
from dpdesk.app.page_checks import MALFORMED, StoredPage, page_bytes, page_check
from dpdesk.app.private.labelling import read_dimension_labels
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.engine.method import Method
from dpdesk.engine.registry import noise_of
from dpdesk.io.canonical import UnreadableJsonError
from dpdesk.io.release_folder import INTERNAL, PRINTED, REPORT

REPORT_CLAIM = "report.html says what the manifest and the evidence say"
PRINTED_CLAIM = "report.pdf is report.html, printed"
_REPORT, _PRINTED = f"{INTERNAL}/{REPORT}", f"{INTERNAL}/{PRINTED}"


def report_checks(
    root: Path,
    public: Path,
    manifest: Manifest,
    evidence: Mapping[str, object],
    method: Method,
    token: CancelToken,
) -> list[ClaimCheck]:
    """The report made again, as a page and printed, against what lies in the folder.

    Raises OSError where a file cannot be read, TypeError for a manifest that says of its texts what
    cannot be read, Cancelled.
    """
    content = page_bytes(root / _REPORT)
    stored = StoredPage(REPORT_CLAIM, _REPORT, content, sha256(content).hexdigest())
    page = page_check(
        manifest, stored, lambda language: made_again(public, manifest, evidence, method, language)
    )
    token.check()
    place = root / _PRINTED
    stated = evidence.get(PRINTED_TOO)
    if not place.is_file():
        if not stated:
            return [page]
        found = "it is missing, although the evidence says that there is one"
        return [page, ClaimCheck(PRINTED_CLAIM, CheckStatus.FAILED, found, _PRINTED)]
    if stated not in (True, None):
        found = "it exists, although the evidence says that there is none"
        return [page, ClaimCheck(PRINTED_CLAIM, CheckStatus.FAILED, found, _PRINTED)]
    return [page, _printed(page, content, place, evidence, token)]


def made_again(
    public: Path,
    manifest: Manifest,
    evidence: Mapping[str, object],
    method: Method,
    language: str,
) -> bytes | None:
    """The report that the files of a release give; None when they do not give one.

    Raises StorageError ``resources.*`` when the texts of the language cannot be read.
    """
    from jinja2 import TemplateError

    try:
        private = noise_of(method) is not None
        book = read_dimension_labels(public, manifest) if private else NO_BOOK
        return review_page(manifest, evidence, method, language, book)
    except (TemplateError, UnreadableJsonError, OSError, *MALFORMED):
        return None


def _printed(
    page: ClaimCheck,
    content: bytes,
    place: Path,
    evidence: Mapping[str, object],
    token: CancelToken,
) -> ClaimCheck:
    def answer(status: CheckStatus, found: str) -> ClaimCheck:
        return ClaimCheck(PRINTED_CLAIM, status, found, _PRINTED)

    if page.status is not CheckStatus.CONFIRMED:
        return answer(CheckStatus.NOT_CHECKED, "report.html itself could not be compared")
    try:
        printed = _print_sha256(content, token)
    except StorageError as error:
        return answer(
            CheckStatus.NOT_CHECKED,
            msg("it could not be printed again: {reason}", reason=error.sentence),
        )
    if printed == sha256(place.read_bytes()).hexdigest():
        return answer(CheckStatus.CONFIRMED, "printed again, the same")
    if _printer(evidence) != _own_printer():
        found = "printed with a different version of the PDF library, not compared"
        return answer(CheckStatus.NOT_CHECKED, found)
    return answer(CheckStatus.FAILED, "printed again, it is different")


_known: dict[bytes, str] = {}
_MOST_KNOWN = 64


def _print_sha256(page: bytes, token: CancelToken) -> str:
    """The hash of a page's PDF; that of the last pages is remembered, for it takes a second."""
    from dpdesk.report.printing import PRINTER

    name = sha256(page).digest()
    if name not in _known:
        printed = sha256(PRINTER.pdf(page, token)).hexdigest()
        while len(_known) >= _MOST_KNOWN:
            del _known[next(iter(_known))]
        _known[name] = printed
    return _known[name]


def _printer(evidence: Mapping[str, object]) -> object:
    """The version of the library for PDF that the evidence names."""
    environment = evidence.get("environment")
    packages = environment.get("packages") if isinstance(environment, Mapping) else None
    return packages.get("reportlab") if isinstance(packages, Mapping) else None


@lru_cache(maxsize=1)
def _own_printer() -> str:
    from importlib import metadata

    return metadata.version("reportlab")
