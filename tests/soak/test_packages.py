"""A Debian package is made, unpacked into a bare root without a network, and releases there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is missing")
@pytest.mark.skipif(os.geteuid() != 0, reason="a bare root needs the rights of root")
def test_the_debian_package_runs_where_there_is_nothing_else(tmp_path: Path) -> None:
    tool = [sys.executable, ROOT / "installer" / "package.py"]
    made = subprocess.run([*tool, "deb", tmp_path], check=True, capture_output=True, text=True)
    package = Path(made.stdout.strip())
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "root"], check=True)
    assert (tmp_path / "root/usr/bin/dpdesk").is_symlink()
    folder = tmp_path / "root" / "opt" / "dpdesk"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    done = subprocess.run([*tool, "check", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "a match is right with a chance of at most" in done.stdout
