"""The bill of materials of the program: every component with its version and its hash."""

from __future__ import annotations

import hashlib
import platform
import re
from functools import cache
from importlib import metadata

from dpdesk import __version__
from dpdesk.io.canonical import canonical_json

_MAIN = "dpdesk"
_REQUIRED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@cache
def components() -> tuple[tuple[str, str, str], ...]:
    """Name, version and SHA-256 of the file list of everything the program runs with, by name.

    The file list of an installed package (``RECORD``) holds the hash of each of its files; the
    hash is empty for a package that was installed without one.
    """
    found: dict[str, tuple[str, str, str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    todo = [_MAIN]
    while todo:
        name, extras = _named(todo.pop())
        key = name.lower().replace("_", "-")
        if (key, extras) in seen:
            continue
        seen.add((key, extras))
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        record = package.read_text("RECORD") or ""
        code = hashlib.sha256(record.encode("utf-8")).hexdigest() if record else ""
        found[key] = (key, package.version, "" if key == _MAIN else code)
        todo += [line for line in package.requires or () if _applies(line, extras)]
    return tuple(found[key] for key in sorted(found))


def bill_of_materials() -> bytes:
    """The bill as CycloneDX 1.6 (JSON, canonical bytes); the same installation, the same bytes."""
    parts = []
    for name, version, code in components():
        if name == _MAIN:
            continue
        part: dict[str, object] = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
        }
        if code:
            part["properties"] = [{"name": "dpdesk:record-sha256", "value": code}]
        parts.append(part)
    python = {"type": "platform", "name": "python", "version": platform.python_version()}
    return canonical_json(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": {"type": "application", "name": _MAIN, "version": __version__}
            },
            "components": [*parts, python],
        }
    )


def bill_sha256() -> str:
    """The SHA-256 of :func:`bill_of_materials`."""
    return hashlib.sha256(bill_of_materials()).hexdigest()


def _named(requirement: str) -> tuple[str, frozenset[str]]:
    """The package that is required, and with which extras."""
    found = _REQUIRED.match(requirement)
    if found is None:
        return requirement, frozenset()
    extras = (each.strip() for each in (found[2] or "").split(","))
    return found[1], frozenset(each for each in extras if each)


def _applies(requirement: str, extras: frozenset[str]) -> bool:
    """Whether a requirement is one of this installation: extras are not, but those asked for."""
    named = _EXTRA.findall(requirement)
    return not named or any(each in extras for each in named)
