"""Every leaf of a JSON file changed, left out or added, while all else is made to fit again."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpdesk.app.cells import public_page as cells_page
from dpdesk.app.page_checks import public_page
from dpdesk.app.private.checking import public_page as private_page
from dpdesk.app.private.labelling import read_dimension_labels
from dpdesk.app.reports import made_again
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.private.method import PrivateMethod
from dpdesk.engine.registry import Registry, cells_of
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_folder import public_files, seal_bytes
from tests.helpers.forging import canonical, manifest_of, stated_in

MANIFEST, EVIDENCE = "public/manifest.json", "internal/evidence.json"
_SHARED = ("method", "title", "created", "guarantee", "dpdesk")
Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Forgery:
    """What is done to which place of which file: ``changed``, ``deleted`` or ``added``."""

    file: str
    place: Path_
    deed: str

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}: {self.deed} {'/'.join(map(str, self.place))}"


def forgeries(release: Path, most_items: int = 3) -> list[Forgery]:
    """All of them, of long lists only the first items."""
    found = []
    for file in (MANIFEST, EVIDENCE):
        value = json.loads((release / file).read_text("utf-8"))
        for place, leaf in _leaves(value, (), most_items):
            found.append(Forgery(file, place, "changed" if leaf else "added"))
            if leaf:
                found.append(Forgery(file, place, "deleted"))
    return [each for each in found if each.place[:1] != ("files",)]


def _leaves(value: object, place: Path_, most: int) -> Iterator[tuple[Path_, bool]]:
    """Places of leaves, and of tables and lists to which something can be added."""
    if isinstance(value, dict):
        yield place, False
        for key, inner in value.items():
            if key != _never_shown(value):
                yield from _leaves(inner, (*place, key), most)
    elif isinstance(value, list):
        yield place, False
        for number, inner in enumerate(value[:most]):
            yield from _leaves(inner, (*place, number), most)
    else:
        yield place, True


def _never_shown(value: dict[str, object]) -> str:
    """The form of a counted sentence that its count does not choose: no page or window shows it."""
    if set(value) != {"one", "many", "count", "values"}:
        return ""
    return "many" if value["count"] == 1 else "one"


def forge(genuine: Path, target: Path, forgery: Forgery, registry: Registry) -> Path:
    """A copy with the forgery in it, whose pages, hashes and seal fit it as far as can be."""
    release = Path(shutil.copytree(genuine, target))
    (release / "internal/report.pdf").unlink(missing_ok=True)
    _say(release, printed=False)
    value = json.loads((release / forgery.file).read_text("utf-8"))
    changed = _forged(value, forgery)
    (release / forgery.file).write_bytes(canonical(changed))
    if forgery.file == MANIFEST:
        _follow(release, changed)
    else:
        manifest = manifest_of(release)
        manifest |= {key: changed[key] for key in _SHARED if key in changed}
        (release / MANIFEST).write_bytes(canonical(manifest))
    fit_again(release, registry)
    return release


def _say(release: Path, **keys: object) -> None:
    """Other values of keys of the evidence."""
    path = release / EVIDENCE
    path.write_bytes(canonical(json.loads(path.read_text("utf-8")) | keys))


def _forged(value: Any, forgery: Forgery) -> Any:
    whole = copy.deepcopy(value)
    if forgery.deed == "added":
        there = _at(whole, forgery.place)
        if isinstance(there, dict):
            there["forged"] = 1
        else:
            there.append(copy.deepcopy(there[0]) if there else 1)
        return whole
    parent, key = _at(whole, forgery.place[:-1]), forgery.place[-1]
    if forgery.deed == "deleted":
        del parent[key]
    else:
        parent[key] = _other(parent[key])
    return whole


def _at(value: Any, place: Path_) -> Any:
    for key in place:
        value = value[key]
    return value


def _other(leaf: object) -> object:
    """Another value of the same kind."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf + 1
    if isinstance(leaf, float):
        return leaf * 1.01 + 0.01
    return f"{leaf}x" if isinstance(leaf, str) else 1


def _follow(release: Path, manifest: dict[str, Any]) -> None:
    """The evidence says what the forged manifest says."""
    path = release / EVIDENCE
    evidence = json.loads(path.read_text("utf-8"))
    evidence |= {key: manifest[key] for key in _SHARED if key in manifest}
    evidence["plan"] |= {"title": manifest["title"]} if "title" in manifest else {}
    if isinstance(manifest.get("result"), dict):
        evidence["result"] |= manifest["result"]
    path.write_bytes(canonical(evidence))


def fit_again(release: Path, registry: Registry) -> None:
    """Pages, hashes and seal, where the forged files still give them."""
    try:
        said = stated_in(release)
        method = registry.get(said.method, "the forger")
        public = release / "public"
        if isinstance(method, PrivateMethod):
            page = private_page(said, method, "en", read_dimension_labels(public, said))
        elif cells_of(method) is not None:
            page = cells_page(said, method)
        else:
            table = PublishedCsv(public / "microdata.csv", CancelToken())
            page = public_page(said, method, table, CancelToken())
        (public / "about.html").write_bytes(page)
        _sealed(release)
        said = stated_in(release)
        evidence = json.loads((release / EVIDENCE).read_text("utf-8"))
        report = made_again(public, said, evidence, method, "en")
        if report is not None:
            (release / "internal/report.html").write_bytes(report)
    except Exception:  # noqa: BLE001 - what gives no page is sealed without one
        pass
    _sealed(release)


def file_forgeries(release: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Each file removed, changed, with a script where it is a page; and files that are new."""
    for path in sorted(release.rglob("*")):
        name = path.relative_to(release).as_posix()
        if path.is_dir() or name in (MANIFEST, EVIDENCE, "internal/seal.json"):
            continue
        yield f"removed {name}", partial(_remove, name)
        yield f"changed {name}", partial(_rewrite, name, b"", b"\n1,2\n")
        if name.endswith(".html"):
            yield f"script in {name}", partial(_rewrite, name, b"</main>", b"<script>1</script>")
            yield f"words in {name}", partial(_rewrite, name, b"</main>", b"<p>1 in 1,000</p>")
    for name in ("public/more.csv", "public/more.html", "internal/more.html", "more.html"):
        yield f"added {name}", partial(_rewrite, name, b"", b"<p>1 in 1,000</p>\n")


def _remove(name: str, release: Path) -> None:
    (release / name).unlink()


def _rewrite(name: str, before: bytes, added: bytes, release: Path) -> None:
    path = release / name
    content = path.read_bytes() if path.exists() else b""
    where = content.rindex(before) if before else len(content)
    path.write_bytes(content[:where] + added + content[where:])


def seal_whatever_there_is(release: Path) -> None:
    """Hashes and a seal over all files that there are now, the PDF only where there is one."""
    _sealed(release)


def _sealed(release: Path) -> None:
    """Hashes and seal again."""
    manifest = manifest_of(release)
    files = public_files(release / "public", CancelToken())
    manifest["files"] = {name: listed.as_json() for name, listed in files.items()}
    (release / MANIFEST).write_bytes(canonical(manifest))
    (release / "internal/seal.json").write_bytes(seal_bytes(release, CancelToken()))
