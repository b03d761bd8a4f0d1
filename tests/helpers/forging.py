"""Tools of somebody who knows the format of a release and seals again what was changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpdesk.app.private.checking import public_page
from dpdesk.app.reports import made_again
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import Manifest
from dpdesk.engine.method import Method
from dpdesk.engine.registry import Registry
from dpdesk.report.printing import PRINTER

OTHER_PAGE = b"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>words</title></head>
<body><main><p>other words</p></main></body>
</html>
"""
"""A page with nothing active in it that no program of ours wrote."""
PAGES = (
    "about.html says what the manifest and the table say",
    "report.html says what the manifest and the evidence say",
    "report.pdf is report.html, printed",
)
"""Claims on pages, in the order in which they are checked."""


RECORDED = (
    "figures of the evidence are those of the source",
    "notes, times and environment in the evidence",
)
"""Claims on the evidence that stay open without the source."""


def canonical(value: object) -> bytes:
    """The documented form, written by other code than the program's."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return f"{text}\n".encode()


def seal_again(release: Path, manifest: dict[str, object]) -> None:
    """Make hashes, evidence and seal consistent with whatever the files now hold."""
    files = {}
    for path in sorted((release / "public").rglob("*")):
        name = path.relative_to(release / "public").as_posix()
        if path.is_file() and name != "manifest.json":
            data = path.read_bytes()
            files[name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (release / "public/manifest.json").write_bytes(canonical({**manifest, "files": files}))
    evidence = json.loads((release / "internal/evidence.json").read_text("utf-8"))
    evidence |= {key: manifest[key] for key in ("method", "title", "created", "guarantee")}
    evidence["result"] = {**evidence["result"], **dict(manifest["result"])}  # type: ignore[call-overload]
    (release / "internal/evidence.json").write_bytes(canonical(evidence))
    names = json.loads((release / "internal/seal.json").read_text("utf-8"))["files"]
    sealed = {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in names}
    seal = {"format": 1, "files": sealed, "self": ""}
    seal["self"] = hashlib.sha256(canonical(seal)).hexdigest()
    (release / "internal/seal.json").write_bytes(canonical(seal))


def report_again(release: Path, registry: Registry) -> None:
    """The report that the changed files give, as a page and printed."""
    manifest = stated_in(release)
    evidence = json.loads((release / "internal/evidence.json").read_text("utf-8"))
    method = registry.get(manifest.method, "the forger")
    page = made_again(release / "public", manifest, evidence, method, "en")
    assert page is not None, "the files give no report"
    (release / "internal/report.html").write_bytes(page)
    (release / "internal/report.pdf").write_bytes(PRINTER.pdf(page, CancelToken()))


def forged(
    genuine: Path, folder: Path, forge: Callable[[dict[str, Any], Path], None], method: Method
) -> Path:
    """A copy below ``folder`` in which page, hashes and seal agree with what ``forge`` changed."""
    copy = Path(shutil.copytree(genuine, folder / "release"))
    said = manifest_of(copy)
    forge(said, copy / "public")
    (copy / "public/about.html").write_bytes(public_page(Manifest.from_json(said), method))
    seal_again(copy, said)
    return copy


def check_found(folder: Path, registry: Registry) -> None:
    """A forgery is found in the release, and in its public part alone."""
    for place in (folder, folder / "public"):
        found = verify_release(place, registry, CancelToken(), silent)
        assert not found.ok
        assert all(failure.path and failure.reason for failure in found.failures)


def stated_in(release: Path) -> Manifest:
    """The manifest of a release, unchecked."""
    return Manifest.from_json(manifest_of(release))


def manifest_of(release: Path) -> dict[str, object]:
    value = json.loads((release / "public/manifest.json").read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def places(value: object) -> list[tuple[dict[str, object], str]]:
    """Every table and key in a manifest."""
    found: list[tuple[dict[str, object], str]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found.append((value, key))
            found += places(inner)
    return found
