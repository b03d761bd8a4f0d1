"""Verifying through any method: faults of a manifest or a table never become exceptions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpdesk import __version__
from dpdesk.app import page_checks
from dpdesk.app.context import AppContext
from dpdesk.app.reports import made_again
from dpdesk.app.texts import TEXTS_CLAIM, stated_texts, texts_fingerprint
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken, Event, StepStarted, silent
from dpdesk.core.language import catalogue, read_catalogue, voice_of
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest, PublishedTable, VerifyReport
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.registry import Registry
from dpdesk.io.csvgrammar import UnreadableTableError
from tests.helpers import clinic
from tests.helpers import releases as town
from tests.helpers.forging import OTHER_PAGE, PAGES, report_again

pytestmark = pytest.mark.cheap_prints


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
        (UnreadableTableError("holds bytes that are not UTF-8 text"), "public/microdata.csv"),
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
    assert any("unknown method `k-anonymity`" in failure.reason for failure in report.failures)


@pytest.mark.skipif(os.name == "nt", reason="there is no such device")
def test_a_source_that_is_not_an_ordinary_file_is_named_as_that(
    made: Path, context: AppContext
) -> None:
    registry, token = context.registry, CancelToken()
    with pytest.raises(InputError, match="this is not a regular file"):
        verify_release(made, registry, token, silent, Path("/dev/zero"))
    with pytest.raises(InputError, match="there is no such file"):
        verify_release(made, registry, token, silent, made / "nothing.csv")


def test_a_source_of_another_size_is_not_read(
    made: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = town.write_source(tmp_path).parent / town.SOURCE
    right = file.stat().st_size
    with file.open("ab") as more:
        more.write(b"\n")
    monkeypatch.setattr("dpdesk.io.source.hash_file", lambda *_: pytest.fail("it was read"))
    report = verify_release(made, context.registry, CancelToken(), silent, file)
    reason = "is not the source of this release: "
    reason += f"it has {right + 1:,} bytes, expected {right:,}"
    assert [(one.path, one.reason) for one in report.failures] == [(str(file), reason)]


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


OTHER = {"language": "en", "sha256": "0" * 64}
ABOUT = "about.html says what the manifest and the table say"


def with_texts(
    made: Path,
    place: Path,
    texts: object = OTHER,
    page: bytes | None = None,
    table: bytes | None = None,
    **keys: object,
) -> Path:
    """The release as if a program with these texts had made it, with consistent hashes and seal.

    Without texts (None), as if one had that did not tell of its texts; ``keys`` go to the manifest.
    """
    import shutil

    from dpdesk.io.canonical import canonical_json, read_canonical
    from dpdesk.io.release_folder import public_files, seal_bytes

    copy = Path(shutil.copytree(made, place))
    for name, data in (("about.html", page), ("microdata.csv", table)):
        if data is not None:
            (copy / "public" / name).write_bytes(data)
    said = {**read_canonical(copy / "public/manifest.json"), "texts": texts, **keys}
    if texts is None:
        del said["texts"]
    if "guarantee" in keys:
        del said["messages"]  # it says of other sentences what they are made of
    said["files"] = public_files(copy / "public", CancelToken())
    (copy / "public/manifest.json").write_bytes(canonical_json(said))
    evidence = read_canonical(copy / "internal/evidence.json")
    evidence |= {key: said[key] for key in evidence if key in keys}
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    return copy


def status_and_words(report: VerifyReport, claim: str = ABOUT) -> tuple[CheckStatus, str]:
    (check,) = [check for check in report.claims if check.claim == claim]
    return check.status, check.found


FIGURES = "figures of the evidence are those of the source"


def with_evidence(made: Path, place: Path, texts: object, change: Callable[[Any], object]) -> Path:
    """The release with changed evidence and the report that it gives, sealed again."""
    from dpdesk.engine.methods.registered import default_registry
    from dpdesk.io.canonical import canonical_json, read_canonical
    from dpdesk.io.release_folder import seal_bytes

    copy = with_texts(made, place, texts)
    evidence = read_canonical(copy / "internal/evidence.json")
    change(evidence)
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    report_again(copy, default_registry())
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    return copy


@pytest.mark.parametrize("own", [True, False])
def test_what_an_earlier_version_wrote_down_less_of_a_reading_is_no_fault(
    made: Path, context: AppContext, tmp_path: Path, own: bool
) -> None:
    """A version before some option of reading: the keys that it knew are compared, no others."""

    def before(evidence: Any) -> None:
        del evidence["source"]["reading"]["skip"], evidence["source"]["reading"]["escape"]

    texts = stated_texts("en") if own else None
    release = with_evidence(made, tmp_path / "other", texts, before)
    source = town.write_source(tmp_path).parent / town.SOURCE
    report = verify_release(release, context.registry, CancelToken(), silent, source)
    status, words = status_and_words(report, FIGURES)
    assert report.ok is not own
    assert status is (CheckStatus.FAILED if own else CheckStatus.NOT_CHECKED)
    assert ("reading" in words) is own


@pytest.mark.parametrize("key", ["encoding", "newline"])
def test_what_an_earlier_version_wrote_down_of_a_reading_is_compared(
    made: Path, context: AppContext, tmp_path: Path, key: str
) -> None:
    def forge(evidence: Any) -> None:
        evidence["source"]["reading"][key] = "other"

    release = with_evidence(made, tmp_path / "other", None, forge)
    source = town.write_source(tmp_path).parent / town.SOURCE
    report = verify_release(release, context.registry, CancelToken(), silent, source)
    assert not report.ok
    assert "`source, reading` is not what the source gives" in report.failures[0].reason


def test_a_warning_that_the_source_gives_cannot_be_left_out_unseen(
    context: AppContext, tmp_path: Path
) -> None:
    """What measuring the release found is said in notes that a reviewer reads."""
    source = clinic.write_source(tmp_path)
    made = clinic.release(clinic.write_plan(tmp_path), tmp_path / "release", context).out

    def silence(evidence: Any) -> None:
        assert evidence["notes"]
        evidence["notes"] = []

    release = with_evidence(made, tmp_path / "other", stated_texts("en"), silence)
    whole = verify_release(made, context.registry, CancelToken(), silent, source)
    assert whole.ok
    report = verify_release(release, context.registry, CancelToken(), silent, source)
    assert not report.ok
    assert "`notes` do not say what the source gives" in report.failures[0].reason


def test_an_added_note_is_found_with_the_source(context: AppContext, tmp_path: Path) -> None:
    source = clinic.write_source(tmp_path)
    made = clinic.release(clinic.write_plan(tmp_path), tmp_path / "release", context).out

    def praise(evidence: Any) -> None:
        evidence["notes"] = [*evidence["notes"], "All is well."]

    release = with_evidence(made, tmp_path / "other", stated_texts("en"), praise)
    report = verify_release(release, context.registry, CancelToken(), silent, source)
    assert any("say what the source does not give" in one.reason for one in report.failures)


def test_a_report_says_how_its_notes_are_checked(made: Path) -> None:
    """A forged note shows in a report that is made again from it."""
    from dpdesk.engine.methods.registered import default_registry
    from dpdesk.io.canonical import read_canonical

    manifest = Manifest.from_json(read_canonical(made / "public/manifest.json"))
    evidence = read_canonical(made / "internal/evidence.json") | {"notes": ["All is well."]}
    method = default_registry().get("k-anonymity", "the test")
    page = made_again(made / "public", manifest, evidence, method, "en")
    assert page is not None
    before, _, after = page.decode().partition("<li>All is well.</li>")
    assert "A check with the source makes them again" in before
    assert after


@pytest.mark.parametrize("texts", [OTHER, None])
def test_a_page_of_other_texts_is_not_checked_and_all_else_is(
    made: Path, context: AppContext, tmp_path: Path, texts: object
) -> None:
    release = with_texts(made, tmp_path / "other", texts, OTHER_PAGE)
    report = verify_release(release, context.registry, CancelToken(), silent)
    here = verify_release(made, context.registry, CancelToken(), silent)
    assert report.ok
    assert status_and_words(report) == (
        CheckStatus.NOT_CHECKED,
        f"made by version {__version__} with texts other than this program's, not compared; its "
        "bytes are those that the release names",
    )
    open_claims = [check.claim for check in report.not_checked()]
    assert ABOUT in open_claims
    assert TEXTS_CLAIM in open_claims
    others = {*PAGES, TEXTS_CLAIM}
    assert [check for check in report.claims if check.claim not in others] == [
        check for check in here.claims if check.claim not in others
    ]


@pytest.mark.parametrize("texts", [OTHER, None])
@pytest.mark.parametrize(
    "active",
    [
        b"<script>alert(1)</script>",
        b'<p onclick="alert(1)">words</p>',
        b"<p onclick=alert(1)>words</p>",
        b'<img src="https://example.org/x.png">',
        b'<a href="javascript:alert(1)">words</a>',
        b'<p style="background:url(https://example.org/x)">words</p>',
        b'<p style="background:u&#114;l(https://example.org/x)">words</p>',
        b'<svg><title><img src="x"></title></svg>',
        b"<!-- <p> -->",
        b'<style>@import "https://example.org/x.css";</style>',
        b'<meta http-equiv="refresh" content="0">',
        b"<p>\xff</p>",
        b"<p",
    ],
)
def test_a_page_with_anything_active_fails_whatever_texts_are_named(
    made: Path, context: AppContext, tmp_path: Path, texts: object, active: bytes
) -> None:
    page = OTHER_PAGE.replace(b"<p>other words</p>", active)
    release = with_texts(made, tmp_path / "other", texts, page)
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert not report.ok
    assert status_and_words(report)[0] is CheckStatus.FAILED


@pytest.mark.parametrize("texts", [OTHER, None])
def test_a_page_of_other_texts_that_is_the_same_all_the_same_is_confirmed(
    made: Path, context: AppContext, tmp_path: Path, texts: object
) -> None:
    release = with_texts(made, tmp_path / "other", texts)
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert status_and_words(report)[0] is CheckStatus.CONFIRMED


def test_another_version_with_the_same_texts_is_compared_byte_for_byte(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    page = (made / "public/about.html").read_bytes()
    own = stated_texts("en")
    release = with_texts(made, tmp_path / "other", own, page, dpdesk="0.0.9")
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert status_and_words(report)[0] is CheckStatus.FAILED


@pytest.mark.parametrize("named", ["xx", "en"])
def test_a_page_cannot_hide_behind_a_language_that_nobody_has(
    made: Path, context: AppContext, tmp_path: Path, named: str
) -> None:
    page = OTHER_PAGE.replace(b'lang="en"', b'lang="xx"')
    texts = {"language": named, "sha256": texts_fingerprint(named)}
    release = with_texts(made, tmp_path / "other", texts, page)
    report = verify_release(release, context.registry, CancelToken(), silent)
    status, words = status_and_words(report)
    if named == "en":
        assert status is CheckStatus.FAILED
    else:
        assert status is CheckStatus.NOT_CHECKED
        assert "in the language `xx`, for which this program has no readable texts" in words


@pytest.mark.parametrize("broken", ["no catalogue", "no PO file"])
def test_a_language_without_readable_texts_is_said_in_one_sentence(
    made: Path,
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
) -> None:
    page = OTHER_PAGE.replace(b'lang="en"', b'lang="de"')
    release = with_texts(made, tmp_path / "other", stated_texts("de"), page)
    if broken == "no catalogue":
        monkeypatch.setattr(page_checks, "languages", lambda: ("en",))
    else:
        folder = tmp_path / "resources"
        (folder / "translations/de").mkdir(parents=True)
        (folder / "translations/de/pages.po").write_bytes(b"\xff nothing of the kind")
        monkeypatch.setattr(catalogue, "resource_files", lambda *_: tuple(folder.rglob("*.po")))
        read_catalogue.cache_clear()
        voice_of.cache_clear()
    report = verify_release(release, context.registry, CancelToken(), silent)
    read_catalogue.cache_clear()
    voice_of.cache_clear()
    assert report.ok
    status, words = status_and_words(report)
    assert status is CheckStatus.NOT_CHECKED
    assert "in the language `de`, for which this program has no readable texts" in words


def test_sentences_of_a_guarantee_in_other_texts_are_not_checked_but_its_facts_are(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    from dpdesk.io.canonical import read_canonical

    guarantee: Any = read_canonical(made / "public/manifest.json")["guarantee"]
    words = guarantee | {"claim": "Said in another way."}
    facts = words | {"model": "another model"}
    claim = "the words of the guarantee"
    for place, texts, said, status in (
        ("own", stated_texts("en"), words, CheckStatus.FAILED),
        ("other", OTHER, words, CheckStatus.NOT_CHECKED),
        ("none", None, words, CheckStatus.NOT_CHECKED),
    ):
        release = with_texts(made, tmp_path / place, texts, guarantee=said)
        report = verify_release(release, context.registry, CancelToken(), silent)
        assert status_and_words(report, claim)[0] is status
        assert report.ok is (status is CheckStatus.NOT_CHECKED)
    forged = with_texts(made, tmp_path / "facts", OTHER, guarantee=facts)
    assert not verify_release(forged, context.registry, CancelToken(), silent).ok


@pytest.mark.parametrize("texts", ["en", {"language": "en"}, {"language": 1, "sha256": "0" * 64}])
def test_texts_that_are_told_in_another_form_fail(
    made: Path, context: AppContext, tmp_path: Path, texts: object
) -> None:
    release = with_texts(made, tmp_path / "other", texts, OTHER_PAGE)
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert "public/manifest.json" in {failure.path for failure in report.failures}


def test_the_table_of_other_texts_is_checked_in_full(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    header, *rows = (made / "public/microdata.csv").read_bytes().splitlines(keepends=True)
    release = with_texts(made, tmp_path / "other", table=b"".join([header, *rows[1:]]))
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert not report.ok
    assert "public/microdata.csv" in {failure.path for failure in report.failures}


def test_a_page_of_other_texts_cannot_be_changed_behind_the_manifest(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    release = with_texts(made, tmp_path / "other", page=b"<p>other words</p>")
    (release / "public/about.html").write_bytes(OTHER_PAGE)
    report = verify_release(release, context.registry, CancelToken(), silent)
    assert "public/about.html" in {failure.path for failure in report.failures}


def test_no_report_passes_that_quotes_words_which_were_not_compared(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    """Another claim under other texts: the report that is made again from it says it too."""
    from dpdesk.io.canonical import read_canonical

    guarantee = read_canonical(made / "public/manifest.json")["guarantee"]
    assert isinstance(guarantee, dict)
    forged = guarantee | {"claim": "No one can be found: the chance is 1 in 1,000."}
    first = with_texts(made, tmp_path / "first", OTHER, guarantee=forged)
    release = with_evidence(first, tmp_path / "other", OTHER, lambda _: None)
    report = verify_release(release, context.registry, CancelToken(), silent)
    words, page = "the words of the guarantee", PAGES[1]
    assert status_and_words(report, words)[0] is CheckStatus.NOT_CHECKED
    for claim in (page, PAGES[2]):
        status, found = status_and_words(report, claim)
        assert status is CheckStatus.NOT_CHECKED
        assert "quotes the guarantee, whose words were not compared" in found
