"""Verifying through any method: faults of a manifest or a table never become exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dpdesk import __version__
from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, Event, StepStarted, silent
from dpdesk.core.published import CheckStatus, ClaimCheck, PublishedTable
from dpdesk.engine.anonymity.method import KAnonymity
from dpdesk.engine.registry import Registry
from dpdesk.io.csvgrammar import UnreadableTableError
from tests.helpers import releases as town


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = town.write_source(tmp_path_factory.mktemp("source"))
    return town.release(plan, tmp_path_factory.mktemp("out") / "release", context).out


@pytest.mark.parametrize(
    ("error", "path"),
    [
        (KeyError("k"), "public/manifest.json"),
        (OverflowError(), "public/manifest.json"),
        (RecursionError(), "public/manifest.json"),
        (UnreadableTableError("holds bytes that are no UTF-8 text"), "public/microdata.csv"),
    ],
)
def test_a_method_that_stumbles_over_a_release_fails_it(
    made: Path, error: Exception, path: str
) -> None:
    class Stumbling(KAnonymity):
        def verify(
            self, manifest: Mapping[str, object], published: PublishedTable, token: CancelToken
        ) -> tuple[ClaimCheck, ...]:
            raise error

    report = verify_release(made, Registry((Stumbling(),)), CancelToken(), silent)
    assert not report.ok
    assert [failure.path for failure in report.failures] == [path]


def test_a_method_that_this_version_lacks_fails_the_release(made: Path) -> None:
    report = verify_release(made, Registry(), CancelToken(), silent)
    assert not report.ok
    assert "unknown method `k-anonymity`" in report.failures[0].reason


def test_a_cancel_is_a_cancel_and_no_failure(made: Path, context: AppContext) -> None:
    token = CancelToken()

    def cancel_at_claims(event: Event) -> None:
        if isinstance(event, StepStarted) and event.index == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        verify_release(made, context.registry, token, cancel_at_claims)


def test_a_workspace_of_its_own_is_opened_and_removed_for_the_source(
    made: Path, context: AppContext, private_home: Path, tmp_path: Path
) -> None:
    plan = town.write_source(tmp_path)
    report = verify_release(
        made, context.registry, CancelToken(), silent, source=plan.parent / town.SOURCE
    )
    assert report.ok
    assert [path for path in (private_home / "work").iterdir() if path.is_dir()] == []


def test_the_evidence_of_a_release_whose_plan_was_replaced_cannot_settle_claims(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    import shutil

    from dpdesk.io.canonical import canonical_json, read_canonical
    from dpdesk.io.release_folder import seal_bytes

    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    evidence = read_canonical(copy / "internal/evidence.json")
    evidence["plan"] = {"version": 1, "source": {"path": "x.csv"}}
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    source = town.write_source(tmp_path).parent / town.SOURCE
    report = verify_release(
        copy, context.registry, CancelToken(), silent, source, context.workspace
    )
    assert not report.ok
    assert "could not be read as the evidence says" in report.failures[0].reason
    assert report.claims  # those that need no source were checked all the same


def of_another_version(made: Path, place: Path, page: bytes | None, table: bytes | None) -> Path:
    """The release as if another version had made it, with consistent hashes and seal."""
    import shutil

    from dpdesk.io.canonical import canonical_json, read_canonical
    from dpdesk.io.release_folder import public_files, seal_bytes

    copy = Path(shutil.copytree(made, place))
    for name, data in (("about.html", page), ("microdata.csv", table)):
        if data is not None:
            (copy / "public" / name).write_bytes(data)
    for part, name in (("public", "manifest.json"), ("internal", "evidence.json")):
        said = {**read_canonical(copy / part / name), "dpdesk": "0.0.9"}
        if part == "public":
            said["files"] = public_files(copy / part, CancelToken())
        (copy / part / name).write_bytes(canonical_json(said))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    return copy


def test_the_page_of_another_version_is_said_to_be_beyond_this_one_and_why(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    release = of_another_version(made, tmp_path / "other", b"<p>other words</p>", None)
    report = verify_release(release, context.registry, CancelToken(), silent)
    here = verify_release(made, context.registry, CancelToken(), silent)
    (page,) = [check for check in report.claims if "about.html" in check.claim]
    assert page.status is CheckStatus.NOT_CHECKABLE
    assert "0.0.9" in page.found
    assert __version__ in page.found
    assert "hash is checked" in page.found
    others = [check for check in report.claims if check is not page]
    assert others == [check for check in here.claims if "about.html" not in check.claim]


def test_the_table_of_another_version_is_checked_in_full(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    header, *rows = (made / "public/microdata.csv").read_bytes().splitlines(keepends=True)
    release = of_another_version(made, tmp_path / "other", None, b"".join([header, *rows[1:]]))
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert not report.ok
    assert "public/microdata.csv" in {failure.path for failure in report.failures}


def test_the_page_of_another_version_cannot_be_changed_behind_the_manifest(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    release = of_another_version(made, tmp_path / "other", b"<p>other words</p>", None)
    (release / "public/about.html").write_bytes(b"<p>quite other words</p>")
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert "public/about.html" in {failure.path for failure in report.failures}
