"""A file whose name holds `[`, `*` or `?` is read, not others that such a pattern finds."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

POSIX = () if sys.platform == "win32" else ("a*", "a?", "**")
NAMES = ("a[12]", "a[1]", "a[", "[", "a]", "a[!x]", "a[a-z]", "a[[]", "sex=1", "{a,b}", *POSIX)
OTHERS = ("a1", "a2", "aa", "ab", "a", "a[1")


def _write(path: Path, value: str) -> None:
    if path.suffix == ".csv":
        path.write_text(f'town,size\n"{value}",1\n', encoding="utf-8")
    else:
        parquet.write_table(pa.table({"town": [value], "size": ["1"]}), path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_that_very_name_is_read(
    tmp_path: Path, private_home: Path, suffix: str, name: str
) -> None:
    for folder in (name, *OTHERS):
        (tmp_path / folder).mkdir()
        for file in (name, *OTHERS):
            _write(tmp_path / folder / f"{file}{suffix}", f"{folder} {file}")
    home = private_home / name
    for other in OTHERS:
        (private_home / other).mkdir()
    for folder in (name, "a1"):
        spec = SourceSpec(f"{folder}/{name}{suffix}")
        workspace = Workspace.open(home)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == ((f"{folder} {name}", "1"),)
        store.close()
        workspace.close()
        assert preview_source(spec, tmp_path).rows == ((f"{folder} {name}", "1"),)
