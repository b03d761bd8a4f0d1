"""Manifests for tests that care for a few of their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpdesk.core.release import NO_MANIFEST, Manifest
from dpdesk.io.canonical import canonical_json, parse_canonical


def stated(given: Mapping[str, Any] | None = None, **keys: Any) -> Manifest:
    """The manifest with these keys; all others are empty, those of its guarantee too.

    Raises ShapeError for a key of another type.
    """
    empty: dict[str, Any] = NO_MANIFEST.as_json() | {"format": 1}
    said = {**empty, **(given or {}), **keys}
    if isinstance(said["guarantee"], Mapping):
        said["guarantee"] = {**empty["guarantee"], **said["guarantee"]}
    return Manifest.from_json(parse_canonical(canonical_json(said)))
