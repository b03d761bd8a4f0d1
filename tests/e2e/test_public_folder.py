"""The whole public folder is the same, byte for byte, for every row that could be suppressed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from tests.helpers import releases as town

LEVELS = "levels = { age = 1, town = 0 }\n"
OTHERS = (
    ("77", "Zqrarehaven", "none"),
    ("20", "Zqfarby", "Zqother"),
    ("5", "Zqnearby", ""),
    ("", "Zqrarehaven", "cold"),
    ("300", "", "12"),
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def files_of(folder: Path) -> dict[str, bytes]:
    """Every public file without the commitment, and without hashes that follow from it."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    commitment = manifest["commitment"].encode()
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    about = found["about.html"]
    found["about.html"] = about.replace(commitment, b"")
    assert hashlib.sha256(about).hexdigest() == manifest["files"]["about.html"].pop("sha256")
    del manifest["commitment"]
    return found | {"manifest.json": json.dumps(manifest).encode()}


def test_the_public_folder_does_not_tell_suppressed_rows_apart(
    context: AppContext, tmp_path: Path
) -> None:
    """But for the commitment, whose key is drawn anew each time and stays inside."""
    found = []
    for number, (age, place, illness) in enumerate(OTHERS):
        plan = town.write_source(tmp_path / f"data{number}")
        text = plan.read_text("utf-8").replace("[protection]\n", "[protection]\n" + LEVELS)
        plan.write_text(text.replace("objective", "# objective"), "utf-8")
        source = plan.parent / town.SOURCE
        rows = source.read_text("utf-8").splitlines()
        at = next(n for n, row in enumerate(rows) if town.SUPPRESSED_TOWN in row)
        rows[at] = f'{rows[at].split(",")[0]},{age},{place},"{illness}"'
        source.write_text("\n".join(rows) + "\n", "utf-8")
        made = town.release(plan, tmp_path / f"out{number}", context).out
        found.append(files_of(made / "public"))
    assert "about.html" in found[0]
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []
