"""Releases as values: what was made, what checking it showed, what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dpdesk.core.evidence import NO_EVIDENCE, Evidence
from dpdesk.core.manifest import NO_MANIFEST, Manifest
from dpdesk.core.published import OTHER_WORDS, CheckStatus, ClaimCheck


@dataclass(frozen=True)
class ReleaseSummary:
    """A release that has just been made; ``guarantee`` and ``result`` as its manifest has them."""

    out: Path
    method: str
    guarantee: Mapping[str, object]
    result: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The object that ``run --json`` prints."""
        return {
            "out": str(self.out),
            "method": self.method,
            "guarantee": dict(self.guarantee),
            "result": dict(self.result),
        }


class Failure(NamedTuple):
    """A file of a release that is not what it should be; ``path`` is relative to the folder."""

    path: str
    reason: str


@dataclass(frozen=True)
class VerifyReport:
    """What checking a release showed.

    ``sealed`` says whether the manifest itself was covered by a seal; ``notes`` are sentences about
    what could not be checked.
    """

    ok: bool
    claims: tuple[ClaimCheck, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()
    sealed: bool = False

    def as_json(self) -> dict[str, object]:
        """The object that ``verify --json`` prints."""
        return {
            "ok": self.ok,
            "claims": [
                {
                    "claim": check.claim,
                    "status": check.status.value,
                    "found": check.found,
                    "path": check.path,
                }
                for check in self.claims
            ],
            "failures": [
                {"path": failure.path, "reason": failure.reason} for failure in self.failures
            ],
            "not_checked": [check.claim for check in self.not_checked()],
            "notes": list(self.notes),
        }

    def not_checked(self) -> tuple[ClaimCheck, ...]:
        """What was compared with nothing; no checklist counts it as passed."""
        return tuple(check for check in self.claims if check.status is CheckStatus.NOT_CHECKED)

    @property
    def words_compared(self) -> bool:
        """Whether the sentences of the guarantee were compared with those of this program."""
        return all(check.found != OTHER_WORDS for check in self.claims)

    def confirmed(self) -> tuple[ClaimCheck, ...]:
        """The claims that the files at hand confirm."""
        return tuple(check for check in self.claims if check.status is CheckStatus.CONFIRMED)


@dataclass(frozen=True)
class ReleaseFacts:
    """What a release folder says of itself; nothing of it is checked here.

    ``public`` is the folder that is published, ``internal`` the part that stays in the agency (None
    when only the public part is at hand). ``evidence`` is empty without ``internal``.
    """

    public: Path
    internal: Path | None
    manifest: Manifest = NO_MANIFEST
    evidence: Evidence = NO_EVIDENCE

    @property
    def title(self) -> str:
        """Title as published; empty when none was given."""
        return self.manifest.title

    @property
    def method(self) -> str:
        """Id of the method."""
        return self.manifest.method

    @property
    def created(self) -> str:
        """Date of the release, ``YYYY-MM-DD``."""
        return self.manifest.created
