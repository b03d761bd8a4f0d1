"""Settings that a search misread, one at a time: its release has k rows in each class, and another
form than its manifest says. It must not be released, nor verify.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.settings import Settings
from tests.helpers.forging import manifest_of

Patch = pytest.MonkeyPatch
HEAD = """version = 1
[source]
path = "people.csv"
[attributes]
age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [5, 10, 30] } }
zip = { role = "quasi-identifier", hierarchy = { kind = "mask" } }
sex = { role = "quasi-identifier" }
illness = { role = "sensitive" }
[protection]
method = "k-anonymity"
k = 3
"""
LEVELS = "max_suppression = 0.3\nlevels = { age = 2, zip = 2, sex = 0 }\n"
PLANS = {
    "by hand": LEVELS,
    "TS": 'model = "TS"\nmax_suppression = 0.9\n',
    "AG": 'model = "AG"\nmax_suppression = 0.1\n',
    "AS": 'model = "AS"\n',
    "AG_CS": 'model = "AG_CS"\n',
    "mondrian": 'algorithm = "mondrian"\n',
    "top-down": 'algorithm = "top-down"\n',
}
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("by hand", {"levels": None}),
    ("by hand", {"levels": {"age": 1, "zip": 2, "sex": 1}}),
    ("TS", {"model": "AG_TS", "max_suppression": Fraction(1, 10)}),
    ("AG", {"model": "AG_TS"}),
    ("AS", {"model": "CS"}),
    ("AG_CS", {"model": "CG"}),
    ("mondrian", {"strict": False}),
    ("top-down", {"algorithm": "mondrian"}),
]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def _released(context: AppContext, folder: Path, plan: str) -> Path:
    draw = random.Random(5)
    lines = ["age,zip,sex,illness"]
    for _ in range(70):
        age = 20 + 3 * min(draw.randrange(8), draw.randrange(8))
        place = f"941{draw.choice('334')}{draw.randrange(4)}"
        lines.append(f"{age},{place},{draw.choice('mf')},{draw.choice(['flu', 'cold', 'gout'])}")
    (folder / "people.csv").write_text("\n".join([*lines, ""]), "utf-8")
    (folder / "plan.toml").write_text(HEAD + PLANS[plan], "utf-8")
    run_plan(context, folder / "plan.toml", folder / "release", CancelToken(), silent)
    return folder / "release"


@pytest.mark.parametrize("plan", PLANS)
def test_a_release_of_the_form_that_was_asked_for_is_kept(
    plan: str, context: AppContext, tmp_path: Path
) -> None:
    assert manifest_of(_released(context, tmp_path, plan))["method"] == "k-anonymity"


@pytest.mark.parametrize(
    ("plan", "facts"), FAULTS, ids=[f"{plan}, {', '.join(facts)}" for plan, facts in FAULTS]
)
def test_a_release_of_another_form_is_not_kept(
    plan: str, facts: dict[str, Any], context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    true = Settings.from_parameters

    def read(*given: Any) -> Settings:
        return replace(true(*given), **facts)

    monkeypatch.setattr(Settings, "from_parameters", read)
    with pytest.raises(RefusedError) as caught:
        _released(context, tmp_path, plan)
    assert caught.value.code == "release.check-failed"
    assert not (tmp_path / "release").exists()
