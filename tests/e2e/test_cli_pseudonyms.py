"""``dpdesk pseudonyms``: keys made, backed up, taken back, deleted; and a run that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpdesk.cli.main import main
from dpdesk.io.workspace import Workspace
from dpdesk.project.pseudonym_keys import PseudonymKeys
from tests.helpers import releases as town

RUN = """
import sys
from pathlib import Path
from dpdesk.app.context import AppContext
from tests.helpers.releases import release
def tell(event):
    print(getattr(event, "step", ""), flush=True)
    sys.stdin.readline()
with AppContext.open() as context:
    release(Path(sys.argv[1]), Path(sys.argv[2]), context, report=tell)
"""


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``dpdesk pseudonyms …``."""
    code = main(["pseudonyms", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON object that ``--json`` gives."""
    code, out, _ = said(capsys, *arguments, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def test_a_key_goes_from_one_computer_to_another_and_is_deleted(
    private_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phrase, backup = tmp_path / "phrase", tmp_path / "backup.json"
    phrase.write_text("four words of nothing\n")
    assert "There is no key" in said(capsys, "list")[1]
    made = told(capsys, "new", "panel 2026")
    assert told(capsys, "list") == {"keys": [made], "problems": []}
    secret = PseudonymKeys(private_home).open("panel 2026").secret
    passphrase = ("--passphrase-file", str(phrase))
    assert told(capsys, "export", "panel 2026", "--out", str(backup), *passphrase) == made
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "other"))
    assert told(capsys, "import", str(backup), *passphrase) == made
    assert PseudonymKeys(tmp_path / "other").open("panel 2026").secret == secret
    code, _, error = said(capsys, "delete", "panel 2026", "--id", "00000000")
    assert code == 2
    assert made["id"][:8] in error.splitlines()[-1]
    assert told(capsys, "delete", "panel 2026", "--id", made["id"]) == made
    assert told(capsys, "list") == {"keys": [], "problems": []}
    log = (tmp_path / "other").rglob("*")
    assert not any(secret.hex().encode() in f.read_bytes() for f in log if f.is_file())


@pytest.mark.parametrize("arguments", [("new", "a/b"), ("delete", "x", "--id", "12345678")])
def test_what_cannot_be_done_exits_2_with_one_sentence(
    private_home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, error = said(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(error.splitlines()) == 1


def test_a_run_that_is_killed_leaves_no_release_and_the_key_in_its_file_alone(
    private_home: Path, tmp_path: Path
) -> None:
    key = PseudonymKeys(private_home).create("panel")
    plan, out = town.write_source(tmp_path / "source", 3_000), tmp_path / "target" / "release"
    text = plan.read_text().replace(
        '{ role = "identifier" }', '{ role = "identifier", pseudonym = { key = "panel" } }'
    )
    plan.write_text(text)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "DPDESK_HOME": str(private_home), "PYTHONPATH": str(root)}
    secret = PseudonymKeys(private_home).open("panel").secret
    for step in ("Replace identifiers by pseudonyms", "Write the report"):
        command = [sys.executable, "-c", RUN, str(plan), str(out)]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            while (line := process.stdout.readline().strip()) != step:
                assert line or process.poll() is None
                process.stdin.write("\n")
                process.stdin.flush()
            process.send_signal(signal.SIGKILL)
        assert not out.exists()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        files += [path for path in private_home.rglob("*") if path.is_file()]
        forms = (secret, secret.hex().encode())
        holding = [path for path in files if any(form in path.read_bytes() for form in forms)]
        assert set(holding) == {key.path}
        Workspace.open(private_home).close()
        assert not out.parent.exists()  # it was made for the release


def test_the_risk_of_a_release_tells_whom_their_rows_together_single_out(
    private_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PseudonymKeys(private_home).create("panel")
    rows = [(f"p{row % 20}", "mf"[row % 2]) for row in range(40)] + [("p0", "m"), ("p1", "m")]
    text = "id,sex\n" + "".join(f"{person},{sex}\n" for person, sex in rows)
    (tmp_path / "people.csv").write_text(text)
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
        'id = { role = "identifier", pseudonym = { key = "panel" } }\n'
        'sex = { role = "quasi-identifier" }\n[protection]\nmethod = "k-anonymity"\nk = 5\n'
    )
    release = tmp_path / "release"
    assert main(["run", str(tmp_path / "plan.toml"), "--out", str(release)]) == 0
    capsys.readouterr()
    assert main(["risk", str(release)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("id "))
    assert line.split() == ["id", "20", "20", "3", "2", "2"]  # p0 and p1 alone have three rows
