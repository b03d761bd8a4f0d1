"""Spark on this computer for tests; they skip where Java or the library is missing."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

MASTER = "local[2]"


def need_spark() -> None:
    """Skip the test where Spark cannot run."""
    if find_spec("pyspark") is None or find_spec("ibis") is None:
        pytest.skip("the optional part `engines` is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
