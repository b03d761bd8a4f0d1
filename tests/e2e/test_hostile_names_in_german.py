"""Names that look like sentences, counts, lists and fields are said as they are, from structure.

No finished English sentence is matched here: what a release states and keeps is said from the
templates and values that are stored with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language.catalogue import PAGES, TEXTS, read_catalogue
from dpdesk.core.language.speaker import Untranslated, Voice
from dpdesk.core.messages import TABLE, Message, read_again
from dpdesk.report.printing import Printer
from tests.e2e.test_pages_in_german import not_printed

NAMES = ("Q1. Income", "1 row", "{name}", "a, b and c")
PLAN = """version = 1
language = "de"
title = "Ein Titel"
[source]
path = "data.csv"
[attributes]
"Q1. Income" = { role = "quasi-identifier" }
"1 row" = { role = "quasi-identifier" }
"{name}" = { role = "sensitive" }
"a, b and c" = { role = "insensitive" }
[protection]
method = "k-anonymity"
k = 2
max_suppression = 0.2
"""


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    rows = [
        f"{row % 3},{row % 2},x{row % 5},y{row % 7}" if row else "only,one,x0,y0"
        for row in range(40)
    ]
    head = ",".join(f'"{name}"' for name in NAMES)
    (made / "data.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    (made / "plan.toml").write_text(PLAN, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def release(context: AppContext, folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Printer, "pdf", not_printed)
        run_plan(context, folder / "plan.toml", folder / "out", CancelToken(), silent)
    return folder / "out"


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(read_catalogue("de", (PAGES, TEXTS)))


def stored(release: Path, name: str) -> dict[str, Any]:
    """What a file of the release holds, with its texts as messages again."""
    raw = json.loads((release / name).read_text(encoding="utf-8"))
    assert isinstance(raw[TABLE], Mapping)
    return read_again(raw, raw[TABLE])


def messages(content: object) -> Iterator[Message]:
    if isinstance(content, Message):
        yield content
    elif isinstance(content, Mapping):
        for item in content.values():
            yield from messages(item)
    elif isinstance(content, list):
        for item in content:
            yield from messages(item)


def test_what_a_release_states_and_keeps_is_said_from_its_structure(
    release: Path, voice: Voice
) -> None:
    found = list(messages(stored(release, "public/manifest.json")))
    found += messages(stored(release, "internal/evidence.json"))
    unsaid = [text for text in found if voice.known(text) is None]
    assert unsaid == []
    for name in NAMES:
        named = [text for text in found if name in text]
        assert named, name
        assert [text for text in named if name not in str(voice.say(text))] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_guarantee_is_of_messages_alone(release: Path, name: str, voice: Voice) -> None:
    guarantee = stored(release, "public/manifest.json")["guarantee"]
    texts = [guarantee["claim"], *guarantee["assumes"], *guarantee["does_not_cover"]]
    assert [text for text in texts if isinstance(voice.say(text), Untranslated)] == []
    assert isinstance(guarantee["claim"], Message)


def test_a_release_whose_table_says_otherwise_fails(
    context: AppContext, release: Path, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    assert verify_release(copy, context.registry, CancelToken(), silent).ok
    path = copy / "internal/evidence.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw[TABLE]["No one was here."] = {"template": "Ann was here.", "values": {}}
    path.write_text(
        json.dumps(raw, sort_keys=True, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    found = verify_release(copy, context.registry, CancelToken(), silent)
    assert not found.ok
    assert any("does not give the text" in str(one) for one in found.failures)


def test_an_error_about_such_a_column_is_said_from_its_structure(
    context: AppContext, folder: Path, voice: Voice
) -> None:
    for name in NAMES:
        plan = folder / "wrong.toml"
        plan.write_text(PLAN.replace(f'"{name}" =', f'"{name}!" ='), encoding="utf-8")
        with pytest.raises(DpdeskError) as caught:
            run_plan(context, plan, folder / "none", CancelToken(), silent)
        said = voice.known(caught.value.sentence)
        assert said is not None
        assert f"{name}!" in said
