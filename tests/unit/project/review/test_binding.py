"""What a submission signs of a release folder, when the folder was made to keep readers busy."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, read_canonical
from dpdesk.project.review.binding import bind_release, manifest_code

HUGE = 1 << 43  # bytes that are not there: hashing them would take a day


def released(folder: Path) -> Path:
    """Both parts of a release, with one table of three bytes."""
    for part in ("public", "internal"):
        (folder / part).mkdir(parents=True)
    (folder / "public/a.csv").write_bytes(b"1\n2")
    files = {"a.csv": {"bytes": 3, "sha256": "0" * 64}}
    (folder / "public/manifest.json").write_bytes(
        canonical_json({"files": files, "commitment": "c" * 64})
    )
    (folder / "internal/evidence.json").write_bytes(canonical_json({"plan": {"version": 1}}))
    return folder


@pytest.mark.parametrize(
    "name", ["public/a.csv", "public/manifest.json", "internal/evidence.json", "public/other"]
)
def test_a_file_that_says_to_be_huge_is_not_read_and_is_not_the_one_submitted(
    tmp_path: Path, name: str
) -> None:
    folder = released(tmp_path)
    whole = bind_release(folder, CancelToken())
    assert whole.commitment == "c" * 64
    assert whole.files["public/a.csv"] == hashlib.sha256(b"1\n2").hexdigest()
    try:
        with (folder / name).open("ab") as stream:
            os.truncate(stream.fileno(), HUGE)
    except OSError:
        pytest.skip("this disk has no files with holes of this size")
    assert bind_release(folder, CancelToken()).files[name] == ""
    assert bool(manifest_code(folder, CancelToken())) == (name != "public/manifest.json")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless devices")
def test_a_link_to_an_endless_device_is_not_read(tmp_path: Path) -> None:
    folder = released(tmp_path)
    evidence = folder / "internal/evidence.json"
    evidence.unlink()
    evidence.symlink_to("/dev/zero")
    with pytest.raises(UnreadableJsonError, match="is a link, a folder or a device"):
        read_canonical(evidence)
    found = bind_release(folder, CancelToken())
    assert found.plan_sha256 == ""
    assert found.odd == ("internal/evidence.json",)
