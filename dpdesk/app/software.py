"""The bill of materials of the program: every component with its version and its hash."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata

from dpdesk import __version__
from dpdesk.io.canonical import canonical_json

_MAIN = "dpdesk"


@cache
def components() -> tuple[tuple[str, str, str], ...]:
    """Name, version and SHA-256 of the file list of everything the program runs with, by name.

    The file list of an installed package (``RECORD``) holds the hash of each of its files; the
    hash is empty for a package that was installed without one.
    """
    found: dict[str, tuple[str, str, str]] = {}
    todo = [_MAIN]
    while todo:
        name = todo.pop()
        key = name.lower().replace("_", "-")
        if key in found:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        record = package.read_text("RECORD") or ""
        code = hashlib.sha256(record.encode("utf-8")).hexdigest() if record else ""
        found[key] = (key, package.version, "" if key == _MAIN else code)
        todo += [_name(line) for line in package.requires or () if _applies(line)]
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


def _name(requirement: str) -> str:
    for place, character in enumerate(requirement):
        if not (character.isalnum() or character in "-_."):
            return requirement[:place]
    return requirement


def _applies(requirement: str) -> bool:
    """Whether a requirement is one of this installation: extras are not."""
    return "extra ==" not in requirement.replace("'", '"')
