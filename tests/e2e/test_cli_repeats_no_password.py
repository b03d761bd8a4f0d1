"""Whatever is typed in the place of a file, no command repeats a password, and no file keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.cli import main as command_line
from dpdesk.cli.arguments import COMMANDS

SECRET = "Hunt3rTw0"
TYPED = (
    f"host=127.0.0.1 port=1 user=u password={SECRET} dbname=d",
    f"host=127.0.0.1 password='{SECRET} x'",
    f"password={SECRET}",
    f"user=u\tpassword={SECRET}",
    f"\\\\u:{SECRET}@h\\share\\d.csv",
    f"host=h,password={SECRET}",
    f"Server=h;Uid=u;Pwd={SECRET};",
    f"postgresql://u:{SECRET}@127.0.0.1:1/d",
    f"postgresql:/u:{SECRET}@h/d",
    f"postgresql:////u:{SECRET}@h/d",
    f"postgresql%3A%2F%2Fu%3A{SECRET}%40h%2Fd",
    f"postgresql://u%3A{SECRET}@h:1/d",
    f"postgresql://h/d?sslp%61ssword={SECRET}",
    f"postgresql://h/d?sslpassword={SECRET}",
    f"postgresql://h:{SECRET}/d",
    f"jdbc:postgresql://h/d?user=u&password={SECRET}",
    f"https://h/people.csv?access_token={SECRET}",
    f"u:{SECRET}@h:1/d",
    f"h:5432:d:u:{SECRET}",
    f"u/{SECRET}@h:1521/d",
    f"u:{SECRET}@localhost",
    f"mysql://u/{SECRET}@h",
    f"https://{SECRET}@h/people.csv",
    f'{{"password":"{SECRET}"}}',
    f"password\u200b = {SECRET}",
)
MORE = {
    "run": ["--out", "out"],
    "export": ["--format", "csv", "--out", "out"],
    "databases": ["confirm"],
    "review": ["status"],
    "ledger": ["show"],
    "pseudonyms": ["show"],
}


@pytest.mark.parametrize("typed", TYPED)
def test_no_command_repeats_a_password(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))
    (tmp_path / "a.csv").write_text("sex,age\nf,3\nm,4\n")
    lines = [[typed], ["inspect", typed, "--table", "t"], ["inspect", "a.csv", "--plan", typed]]
    lines += [["inspect", typed, "--query", "SELECT 1"], ["verify", "a", "--source", typed]]
    lines += [["export", "a", "--format", "csv", "--out", typed], ["run", "a", "--out", typed]]
    for command in COMMANDS:
        if command in ("open", "demo"):
            continue  # a window, and a release that takes seconds
        more = MORE.get(command, [])
        at = 1 if more and not more[0].startswith("-") else 0
        lines.append([command, *more[:at], typed, *more[at:]])
    for line in lines:
        code = command_line.main(line)
        out, err = capfd.readouterr()
        assert code in (1, 2), line
        assert SECRET not in out + err, line
        assert "Traceback" not in err
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
