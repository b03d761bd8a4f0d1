"""Whatever is done to a release, verify notices and names the file; forged claims are recounted."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.app import verifying
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.io import release_check
from dpdesk.io.safewrite import hash_file
from tests.helpers import releases as town
from tests.helpers.forging import canonical, manifest_of, places, seal_again
from tests.helpers.searching import examples

FILES = (
    "public/manifest.json",
    "public/microdata.csv",
    "public/about.html",
    "internal/evidence.json",
    "internal/report.html",
    "internal/report.pdf",
    "internal/seal.json",
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.write_source(tmp_path_factory.mktemp("source")).parent / town.SOURCE


@pytest.fixture(scope="module")
def genuine(source: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = source.parent / "zq-plan.toml"
    return town.release(plan, tmp_path_factory.mktemp("made") / "release", context).out


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(genuine, tmp_path / "release"))


@pytest.fixture
def verify(context: AppContext) -> Callable[..., VerifyReport]:
    def run(path: Path, source: Path | None = None) -> VerifyReport:
        return verify_release(
            path, context.registry, CancelToken(), silent, source, context.workspace
        )

    return run


def named(report: VerifyReport, path: str) -> bool:
    """Whether the report fails and says so of this path; a reason is never empty."""
    assert all(failure.reason for failure in report.failures)
    return not report.ok and any(failure.path == path for failure in report.failures)


def test_an_untouched_release_verifies_and_is_sealed(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    report = verify(copy)
    assert report.ok
    assert report.sealed
    assert report.failures == ()
    assert report.confirmed()[0].claim.startswith("k = 5")


def test_the_public_part_alone_verifies_but_is_called_unsealed(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    report = verify(copy / "public")
    assert report.ok
    assert not report.sealed
    assert report.notes[0].startswith("manifest unsealed")
    assert report.as_json()["ok"] is True


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_anywhere_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    path = copy / name
    data = path.read_bytes()
    for place in sorted({0, 1, len(data) - 1, *range(7, len(data), max(1, len(data) // 23))}):
        for flip in (0x01, 0x80):
            changed = bytearray(data)
            changed[place] ^= flip
            path.write_bytes(changed)
            assert named(verify(copy), name), (place, flip)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.999])
def test_a_truncated_file_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str, keep: float
) -> None:
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[: int(len(data) * keep)])
    assert named(verify(copy), name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("added", [b"\n", b" ", b"\0", b"x,y,z\n", b"{}\n"])
def test_bytes_added_at_the_end_are_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str, added: bytes
) -> None:
    with (copy / name).open("ab") as out:
        out.write(added)
    assert named(verify(copy), name)


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    (copy / name).write_bytes(b"\xef\xbb\xbf" + (copy / name).read_bytes())
    assert named(verify(copy), name)


@pytest.mark.parametrize("name", FILES)
def test_a_deleted_file_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    (copy / name).unlink()
    report = verify(copy)
    assert named(report, name)
    assert any("missing" in failure.reason for failure in report.failures)


@pytest.mark.parametrize("name", FILES)
def test_a_renamed_file_is_noticed_under_both_names(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    path = copy / name
    path.rename(path.with_name(path.name.upper()))
    report = verify(copy)
    assert named(report, name)
    assert named(report, f"{path.parent.name}/{path.name.upper()}")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("other", FILES)
def test_swapped_files_are_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str, other: str
) -> None:
    if name == other:
        return
    first, second = (copy / name).read_bytes(), (copy / other).read_bytes()
    (copy / name).write_bytes(second)
    (copy / other).write_bytes(first)
    report = verify(copy)
    # What hashes are compared with may be one of the two; then only that one can be named.
    assert named(report, name) or named(report, other)


@pytest.mark.parametrize("name", ["microdata.csv", "about.html"])
def test_in_a_public_part_alone_every_listed_file_is_compared(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    path = copy / "public" / name
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 17)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        assert named(verify(copy / "public"), name)
    path.unlink()
    assert named(verify(copy / "public"), name)


@pytest.mark.parametrize("name", FILES)
def test_a_file_far_larger_than_it_is_said_to_be_is_never_read(
    copy: Path, verify: Callable[..., VerifyReport], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hole of 256 GiB costs no room on the disk, but all who read it hours and all memory."""
    with (copy / name).open("r+b") as file:
        file.truncate(1 << 38)

    def hashed(path: Path, token: CancelToken) -> tuple[str, int]:
        assert path.stat().st_size < 1 << 30
        return hash_file(path, token)

    monkeypatch.setattr(release_check, "hash_file", hashed)
    monkeypatch.setattr(verifying, "hash_file", hashed)
    assert named(verify(copy), name)
    if name.startswith("public/"):
        assert named(verify(copy / "public"), name.removeprefix("public/"))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "loop"])
def test_a_thing_that_is_no_file_is_noticed_and_never_read(
    copy: Path, verify: Callable[..., VerifyReport], name: str, kind: str
) -> None:
    path = copy / name
    kept = path.rename(copy.parent / "kept")
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(kept)
    elif kind == "loop":
        path.symlink_to(path.name)
    else:
        os.mkfifo(path)
    assert named(verify(copy), name)


@pytest.mark.parametrize(
    "name",
    [
        "extra.txt",
        "public/extra.csv",
        "public/Manifest.json",
        "public/.hidden",
        "internal/review.json",
        "internal/notes.txt",
        "public/manifest.json ",
        "public/new\nline",
        "public/\u202etxt",
    ],
)
def test_an_added_file_is_noticed_even_when_its_name_is_odd(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    (copy / name).write_text("x")
    report = verify(copy)
    assert not report.ok
    assert all(failure.path.isprintable() for failure in report.failures)
    json.dumps(report.as_json()).encode()


def test_a_file_name_that_is_no_text_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    with open(os.fsencode(copy / "public") + b"/\xff\xfe.csv", "wb"):
        pass
    report = verify(copy)
    assert not report.ok
    json.dumps(report.as_json(), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("name", ["public/deeper", "internal/deeper", "deeper"])
def test_an_added_folder_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], name: str
) -> None:
    (copy / name).mkdir()
    assert named(verify(copy), name)


@pytest.mark.parametrize("part", ["public", "internal"])
def test_a_missing_part_or_a_linked_one_is_noticed(
    copy: Path, verify: Callable[..., VerifyReport], part: str
) -> None:
    moved = (copy / part).rename(copy.parent / "moved")
    assert named(verify(copy), part)
    (copy / part).symlink_to(moved)
    assert named(verify(copy), part)


def test_only_a_folder_that_does_not_exist_is_bad_usage(
    tmp_path: Path, verify: Callable[..., VerifyReport]
) -> None:
    with pytest.raises(InputError) as caught:
        verify(tmp_path / "nowhere")
    assert caught.value.exit_code == 2
    empty = verify(tmp_path)
    assert not empty.ok
    assert ("manifest.json", "is missing") in empty.failures


def test_parts_of_two_releases_do_not_mix(
    copy: Path, source: Path, context: AppContext, verify: Callable[..., VerifyReport]
) -> None:
    plan = source.parent / "zq-plan.toml"
    other = town.release(plan, copy.parent / "other", context).out
    for name in FILES:
        if (copy / name).read_bytes() == (other / name).read_bytes():
            continue  # microdata and about.html of two runs of one plan are alike
        mixed = Path(shutil.copytree(copy, copy.parent / "mixed"))
        shutil.copyfile(other / name, mixed / name)
        assert not verify(mixed).ok, name
        shutil.rmtree(mixed)


# Forgery: somebody who knows the format and seals everything again.


def test_sealing_again_without_a_change_still_verifies(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    """The forger's tools are sound: what the next tests find is the forgery, not the tools."""
    before = {name: (copy / name).read_bytes() for name in FILES}
    seal_again(copy, manifest_of(copy))
    assert {name: (copy / name).read_bytes() for name in FILES} == before
    assert verify(copy).ok


def test_a_consistent_manifest_over_a_bad_table_fails(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    path = copy / "public/microdata.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    rows[-1] = rows[-1].replace(rows[-1].split(",")[0], "zz-unique", 1)
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    seal_again(copy, manifest_of(copy))
    for place in (copy, copy / "public"):
        report = verify(place)
        assert not report.ok
        failed = [check for check in report.claims if check.status is CheckStatus.FAILED]
        assert any("covers only 1" in check.found for check in failed)
        assert any(failure.path.endswith("microdata.csv") for failure in report.failures)
    assert verify(copy).sealed


def test_rows_out_of_order_fail_even_when_sealed(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    path = copy / "public/microdata.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([header, *reversed(rows)]) + "\n", "utf-8")
    seal_again(copy, manifest_of(copy))
    report = verify(copy)
    assert named(report, "public/microdata.csv")
    assert "out of order" in report.failures[0].reason


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("guarantee", "parameters", {"k": 50, "quasi_identifiers": ["age", "town"]}),
        ("guarantee", "parameters", {"k": 5, "quasi_identifiers": ["age", "town", "illness"]}),
        ("result", "smallest_class", 7),
        ("result", "rows_out", 1),
        ("result", "classes", 10**400),
        ("parameters", "k", 50),
    ],
)
def test_a_claim_that_the_table_does_not_keep_fails_even_when_sealed(
    copy: Path, verify: Callable[..., VerifyReport], section: str, key: str, value: object
) -> None:
    manifest = manifest_of(copy)
    manifest[section] = {**manifest[section], key: value}  # type: ignore[dict-item]
    seal_again(copy, manifest)
    assert not verify(copy).ok


def test_a_manifest_that_lists_files_elsewhere_fails(
    copy: Path, verify: Callable[..., VerifyReport]
) -> None:
    for path in ("../internal/evidence.json", "/etc/passwd", "a/../microdata.csv", "C:\\x", ""):
        manifest = manifest_of(copy)
        files = dict(manifest["files"])  # type: ignore[call-overload]
        files[path] = {"sha256": "0" * 64, "bytes": 1}
        (copy / "public/manifest.json").write_bytes(canonical({**manifest, "files": files}))
        assert named(verify(copy / "public"), "manifest.json"), path
        (copy / "public/manifest.json").write_bytes(canonical(manifest))


ABSURD = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([-1, 0, 10**400, 1e308, -0.0, "", "\x00", "9" * 5000, "k-anonymity"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("ak", max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), value=ABSURD)
def test_no_value_in_a_manifest_raises(
    copy: Path, verify: Callable[..., VerifyReport], data: st.DataObject, value: object
) -> None:
    pristine = (copy / "public/manifest.json").read_bytes()
    manifest = json.loads(pristine)
    parent, key = data.draw(st.sampled_from(places(manifest)))
    parent[key] = value
    (copy / "public/manifest.json").write_bytes(canonical(manifest))
    try:
        for place in (copy, copy / "public"):
            json.dumps(verify(place).as_json())
        changed = (copy / "public/manifest.json").read_bytes() != pristine
        assert verify(copy).ok != changed
    finally:
        (copy / "public/manifest.json").write_bytes(pristine)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(FILES), noise=st.binary(max_size=60))
def test_no_bytes_in_any_file_raise(
    copy: Path, verify: Callable[..., VerifyReport], name: str, noise: bytes
) -> None:
    pristine = (copy / name).read_bytes()
    (copy / name).write_bytes(noise)
    try:
        assert named(verify(copy), name)
    finally:
        (copy / name).write_bytes(pristine)


# With the source at hand.


def test_the_source_settles_what_the_public_files_leave_open(
    copy: Path, source: Path, verify: Callable[..., VerifyReport]
) -> None:
    without, with_source = verify(copy), verify(copy, source)
    assert with_source.ok
    assert len(with_source.confirmed()) > len(without.confirmed())
    assert any("is the source" in note for note in with_source.notes)


def test_another_source_fails_and_a_missing_one_is_bad_usage(
    copy: Path, source: Path, verify: Callable[..., VerifyReport]
) -> None:
    other = copy.parent / "other.csv"
    other.write_bytes(source.read_bytes() + b"zqid9999999,20,Zqeastby,none\n")
    report = verify(copy, other)
    assert named(report, str(other))
    with pytest.raises(InputError) as caught:
        verify(copy, copy.parent / "nowhere.csv")
    assert caught.value.exit_code == 2


def test_the_public_part_alone_cannot_be_compared_with_a_source(
    copy: Path, source: Path, verify: Callable[..., VerifyReport]
) -> None:
    report = verify(copy / "public", source)
    assert report.ok
    assert any("could not be compared" in note for note in report.notes)


def test_a_forged_count_of_suppressed_rows_is_found_with_the_source(
    copy: Path, source: Path, verify: Callable[..., VerifyReport]
) -> None:
    manifest = manifest_of(copy)
    result = dict(manifest["result"])  # type: ignore[call-overload]
    manifest["result"] = {**result, "rows_suppressed": 0}
    seal_again(copy, manifest)
    assert not verify(copy, source).ok


# Export refuses what verify refuses.


@pytest.mark.parametrize("name", FILES)
def test_a_changed_release_is_not_exported(copy: Path, context: AppContext, name: str) -> None:
    with (copy / name).open("ab") as out:
        out.write(b" ")
    target = copy.parent / "out.csv"
    with pytest.raises(RefusedError) as caught:
        export_release(copy, "csv", target, context.workspace, CancelToken(), silent)
    assert caught.value.exit_code == 1
    assert not target.exists()


def test_a_forged_claim_is_not_exported(copy: Path, context: AppContext) -> None:
    manifest = manifest_of(copy)
    manifest["result"] = {**manifest["result"], "classes": 1}  # type: ignore[dict-item]
    seal_again(copy, manifest)
    target = copy.parent / "out.csv"
    with pytest.raises(RefusedError, match="classes"):
        export_release(copy, "csv", target, context.workspace, CancelToken(), silent)
    assert not target.exists()


def test_an_export_never_lands_in_the_release(copy: Path, context: AppContext) -> None:
    for place in (copy / "out.csv", copy / "public/out.csv", copy / "internal/out.csv"):
        for release in (copy, copy / "public"):
            with pytest.raises(InputError, match="inside the release"):
                export_release(release, "csv", place, context.workspace, CancelToken(), silent)
