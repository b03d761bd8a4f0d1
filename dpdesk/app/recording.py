"""Entries of the home folder's audit log: what is done with this installation of DPDesk.

A release or an export that could not be entered is not made; looking at something is never refused
for that, but it is said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import Note, Report

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext

_NOTHING: Mapping[str, object] = MappingProxyType({})


def enter(
    context: AppContext, action: str, subject: Path | str, details: Mapping[str, object] = _NOTHING
) -> None:
    """Enter what is about to be done (``ran``, ``decided``, ``exported``).

    Raises StorageError ``audit.*``; whoever calls does not go on then.
    """
    from dpdesk.project.audit import AuditLog

    with AuditLog.open_home(context.home) as log:
        log.append(action, str(subject), details)


def mention_release(context: AppContext, out: Path, report: Report) -> None:
    """Enter that a release has come about, with the hash by which its reviews will name it."""
    manifest = out / "public" / "manifest.json"
    try:
        with manifest.open("rb") as stream:
            facts = {"manifest_sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
    except OSError:  # taken away meanwhile: what was made is said all the same
        facts = {}
    mention(context, "released", out.absolute(), report, facts)


def mention(
    context: AppContext,
    action: str,
    subject: Path | str,
    report: Report,
    details: Mapping[str, object] = _NOTHING,
) -> None:
    """Enter that something was looked at (``opened``, ``viewed``) or has come about.

    Where that is impossible, a note says so and the work goes on.
    """
    try:
        enter(context, action, subject, details)
    except StorageError as error:
        report(Note(error.code, error.line))
