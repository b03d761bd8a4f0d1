from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.app import demo
from dpdesk.app.context import AppContext
from dpdesk.cli.main import main
from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Event, StepStarted, silent

DATA = "age,sex\n" + "34,f\n36,m\n" * 10
PLAN = """\
version = 1
title = "Tiny"
[source]
path = "../people.csv"
[attributes]
age = { role = "quasi-identifier" }
sex = { role = "quasi-identifier" }
[protection]
method = "k-anonymity"
k = 4
"""


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tiny plans in place of the bundled ones."""
    folder = tmp_path / "sample"
    (folder / "plans").mkdir(parents=True)
    (folder / "people.csv").write_text(DATA)
    for name in ("one", "two"):
        (folder / "plans" / f"{name}.toml").write_text(PLAN)
    monkeypatch.setattr(demo, "sample_plans", lambda bundled: plans_of(folder))
    return folder


def plans_of(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted((folder / "plans").glob("*.toml")))


def test_every_bundled_plan_becomes_a_release_that_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    with demo.sample_folder() as bundled:
        names = [plan.stem for plan in demo.sample_plans(bundled)]
    assert sorted(path.name for path in out.iterdir()) == names
    assert len(names) >= 3
    for name in names:
        assert str(out / name) in said
        assert main(["verify", str(out / name)]) == 0


def test_a_demo_is_never_written_over_anything(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_plan_that_fails_leaves_no_demo(sample: Path, tmp_path: Path) -> None:
    (sample / "plans" / "two.toml").write_text(PLAN.replace("k = 4", "k = 400"))
    before = sorted(tmp_path.rglob("*"))
    with AppContext.open() as context, pytest.raises(DpdeskError):
        demo.make_demo(context, tmp_path / "new" / "demo", CancelToken(), silent)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_cancelled_demo_leaves_nothing(sample: Path, tmp_path: Path) -> None:
    token = CancelToken()

    def cancel_at_the_second(event: Event) -> None:
        if isinstance(event, StepStarted) and "two" in event.step:
            token.cancel()

    before = sorted(tmp_path.rglob("*"))
    with AppContext.open() as context, pytest.raises(Cancelled):
        demo.make_demo(context, tmp_path / "demo", token, cancel_at_the_second)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_folder_is_filled(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    out.mkdir()
    with AppContext.open() as context:
        made = demo.make_demo(context, out, CancelToken(), silent)
        assert [release.summary.out for release in made] == [out / "one", out / "two"]
        assert all(release.verified.ok for release in made)
        with pytest.raises(InputError):
            demo.make_demo(context, out, CancelToken(), silent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo", "sample"]
