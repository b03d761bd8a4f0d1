"""Counting how often something costly is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app import verifying
from dpdesk.app.types import VerifyReport


def counted_verifications(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are verified from now on, one entry for each time."""
    seen: list[Path] = []
    whole = verifying.verify_release

    def counting(path: Path, *more: Any, **named: Any) -> VerifyReport:
        seen.append(path)
        return whole(path, *more, **named)

    monkeypatch.setattr(verifying, "verify_release", counting)
    return seen


def counted_calls(work: Callable[[], object]) -> int:
    """How many functions, also compiled ones, are called by some work of this thread."""
    calls = 0

    def noted(_frame: object, event: str, _more: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(noted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls
