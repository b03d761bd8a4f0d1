"""Settings as small and as large as a plan can write them give releases that verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.cli import main as command_line

PLAN = """version = 1
[source]
path = "a.csv"
[attributes.age]
role = "quasi-identifier"
{hierarchy}
[protection]
method = "k-anonymity"
k = 2
{key}
"""


@pytest.mark.parametrize(
    ("hierarchy", "key"),
    [
        ("", "max_suppression = 1e-308"),
        ("", "max_suppression = 5e-324"),
        ('hierarchy = { kind = "intervals", widths = [1e-300] }', "max_suppression = 0.5"),
        ('hierarchy = { kind = "intervals", widths = [1e300] }', "max_suppression = 0.5"),
    ],
)
def test_a_release_of_such_settings_verifies(
    hierarchy: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))
    (tmp_path / "a.csv").write_text("age\n" + "20\n20\n31\n31\n31\n" * 3)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(hierarchy=hierarchy, key=key))
    assert command_line.main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0
    source = str(tmp_path / "a.csv")
    assert command_line.main(["verify", str(tmp_path / "out"), "--source", source]) == 0
    assert command_line.main(["verify", str(tmp_path / "out" / "public")]) == 0
