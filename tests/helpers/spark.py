"""Spark on this computer for tests; they skip where Java or the library is missing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

MASTER = "local[2]"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""How Java compiles what runs for seconds: quickly, where it would spend half of them on more."""


def need_spark() -> None:
    """Skip the test where Spark cannot run."""
    if find_spec("pyspark") is None or find_spec("ibis") is None:
        pytest.skip("the optional part `engines` is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """The address of a stand-alone cluster on the loopback: a master, and a worker of two cores."""
    import pyspark

    programs = Path(pyspark.__file__).parent / "bin" / "spark-class"
    port, deploy = free_port(), "org.apache.spark.deploy"
    address = f"spark://127.0.0.1:{port}"
    near = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": near}
    master = ("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    worker = ("worker.Worker", "--webui-port", "0", "-c", "2", "-m", "2g", address)
    started = []
    try:
        for name, *arguments in (master, worker):
            command = [str(programs), f"{deploy}.{name}", *arguments]
            started.append(subprocess.Popen(command, **quiet))  # type: ignore[call-overload]
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
