"""The fingerprint of the texts: the same for the same texts, wherever and however they lie."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dpdesk.app import texts
from dpdesk.core import resources
from dpdesk.core.errors import StorageError
from dpdesk.core.release import Guarantee, StatedTexts
from dpdesk.core.resources import resource_root

PACKAGE = Path(texts.__file__).parent.parent
SMALL = ("app/texts.py", "core/release.py", "engine/method.py", "io/canonical.py")

Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def forgetful() -> None:
    texts.texts_fingerprint.cache_clear()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small copy of the program: some of its code, its templates and catalogues."""
    copy = tmp_path / "dpdesk"
    for name in SMALL:
        (copy / name).parent.mkdir(parents=True)
        shutil.copy(PACKAGE / name, copy / name)
    shutil.copytree(PACKAGE / "report/templates", copy / "report/templates")
    with_catalogues = Path(str(resource_root())) / "translations"
    shutil.copytree(with_catalogues, copy / "resources/translations")
    for module in (texts, resources):
        monkeypatch.setattr(module, "files", lambda _: copy)
    return copy


def both() -> tuple[str, str]:
    texts.texts_fingerprint.cache_clear()
    return texts.texts_fingerprint("en"), texts.texts_fingerprint("de")


def add(name: str) -> Change:
    return lambda copy: (copy / name).write_bytes((copy / name).read_bytes() + b"\n# more\n")


def with_windows_line_ends(copy: Path) -> None:
    for path in [each for each in copy.rglob("*") if each.is_file()]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    ("change", "english", "german"),
    [
        (add("core/release.py"), True, True),
        (add("report/templates/about.html"), True, True),
        (add("resources/translations/de/pages.po"), False, True),
        (add("resources/translations/de/texts-io.po"), False, True),
        (add("resources/translations/de/window.po"), False, False),
        (lambda copy: (copy / "core/more.py").write_text("x = 1\n"), True, True),
        (lambda copy: (copy / "core/release.py").rename(copy / "core/promise.py"), True, True),
        (with_windows_line_ends, False, False),
        (lambda copy: (copy / "core/__pycache__").mkdir(), False, False),
    ],
)
def test_the_fingerprint_changes_with_what_pages_in_a_language_are_made_from(
    program: Path, change: Change, english: bool, german: bool
) -> None:
    before = both()
    assert both() == before
    change(program)
    after = both()
    assert (after[0] != before[0], after[1] != before[1]) == (english, german)


def test_a_build_without_source_files_has_the_fingerprint_of_its_code(program: Path) -> None:
    before = both()
    (program / "resources/program.sha256").write_text(f"{texts.program_fingerprint()}\n")
    for path in program.rglob("*.py"):
        path.unlink()
    assert both() == before
    (program / "resources/program.sha256").unlink()
    with pytest.raises(StorageError, match="missing from this installation"):
        both()


def test_the_programs_own_fingerprint_covers_its_templates_and_code() -> None:
    found = texts.texts_fingerprint("en")
    assert len(found) == 64
    assert found != texts.texts_fingerprint("de")
    assert texts.stated_texts("en") == StatedTexts("en", found)


def test_a_guarantee_differs_in_words_alone_when_its_facts_are_the_same() -> None:
    made = Guarantee("m", {"k": 5, "names": ("a",)}, "claim", ("one",), ("two",))
    said = made.as_json()
    assert made.differs_in_words(said | {"claim": "other", "assumes": ["more", "sentences"]})
    assert made.differs_in_words(said | {"parameters": {"names": ["a"], "k": 5}})
    for other in (
        said | {"model": "n"},
        said | {"parameters": {"k": 5.0, "names": ["a"]}},
        said | {"parameters": {"k": 5}},
        said | {"more": "keys"},
        said | {"claim": 5},
        said | {"assumes": "no list"},
        said | {"does_not_cover": [5]},
        "no table",
    ):
        assert not made.differs_in_words(other)
