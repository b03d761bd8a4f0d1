"""Frozen values that jobs send to the main thread."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtCore import QCoreApplication

from dpdesk.core.errors import DpdeskError, InputError, RefusedError, StorageError
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


@dataclass(frozen=True)
class JobState:
    """A running job as it stands.

    ``step`` is the current step in words, number ``index`` of ``count`` (0 when not said); ``done``
    of ``total`` units are finished (``total`` None: unknown). ``seconds_left`` estimates the rest
    of the current step, None while nothing is known. ``notes`` are sentences worth showing.
    """

    job: int
    title: str
    quiet: bool = False
    step: str = ""
    index: int = 0
    count: int = 0
    done: int = 0
    total: int | None = None
    unit: str = ""
    seconds_left: float | None = None
    cancelling: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobDone:
    """A job ended with a value (what the work returned)."""

    job: int
    title: str
    value: object = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobFailed:
    """A job ended with an error.

    ``kind`` is ``"input"``, ``"storage"``, ``"refused"`` or ``"internal"`` (a fault of the
    program); ``sentence`` and ``hint`` are for people. ``trace`` lists the program's own places,
    without messages or values; it is empty unless the kind is internal.
    """

    job: int
    title: str
    kind: str
    code: str
    sentence: str
    hint: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    trace: str = ""


@dataclass(frozen=True)
class JobCancelled:
    """A job was stopped; ``superseded`` when a newer request of its channel took its place."""

    job: int
    title: str
    superseded: bool = False


JobOutcome: TypeAlias = "JobDone | JobFailed | JobCancelled"


def failure(job: int, title: str, error: BaseException) -> JobFailed:
    """The failed outcome of an exception; keeps no reference to it or to its frames."""
    if isinstance(error, DpdeskError):
        return JobFailed(
            job,
            title,
            _kind(error),
            error.code,
            said(error.sentence),
            said(error.hint),
            dict(error.details),
        )
    if isinstance(error, MemoryError):
        return JobFailed(
            job,
            title,
            "storage",
            "memory.full",
            translate("Jobs", "The memory of this computer is not enough for this step."),
            translate("Jobs", "Close other programs, or use fewer columns or rows."),
        )
    return JobFailed(
        job,
        title,
        "internal",
        f"internal.{type(error).__name__}",
        translate(
            "Jobs", "A step stopped because of a fault in DPDesk; the last result still stands."
        ),
        translate(
            "Jobs", "The details name only places in the program, no data. Please report them."
        ),
        trace=places(error),
    )


def _kind(error: DpdeskError) -> str:
    kinds = ((InputError, "input"), (StorageError, "storage"), (RefusedError, "refused"))
    return next((kind for known, kind in kinds if isinstance(error, known)), "input")


def places(error: BaseException) -> str:
    """Where an exception came from: file, line and function per frame, and its type; no values."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return "\n".join([*lines, type(error).__name__])
