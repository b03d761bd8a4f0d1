"""A PostgreSQL server for tests: its own folder, its own socket, no network, nothing kept."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PLACES = "/usr/lib/postgresql"


def server_programs() -> Path:
    """The folder of the server's programs; skips the test where there is none."""
    found = sorted(Path(_PLACES).glob("*/bin/postgres")) if Path(_PLACES).is_dir() else []
    named = shutil.which("postgres")
    if found:
        return found[-1].parent
    if named is None:
        pytest.skip("no PostgreSQL server is installed here")
    return Path(named).resolve().parent


def _user() -> str | None:
    """Who runs the server: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("the PostgreSQL server does not run as root, and there is no other user")


@contextmanager
def postgres_server(
    password: str = "",
    way: str = "scram-sha-256",
    port: int = 0,
    tls: tuple[bytes, bytes] = (b"", b""),
) -> Iterator[str]:
    """The address of a running server, which is gone afterwards; it asks for the password.

    ``way`` is how it asks. With a ``port`` it listens on the loopback too, and with a certificate
    and its key (PEM) it offers TLS there.
    """
    programs, user = server_programs(), _user()
    folder = Path(tempfile.mkdtemp(prefix="dpdesk-pg-", dir="/tmp"))  # sockets need short paths
    if user is not None:
        shutil.chown(folder, user)
    environment = {"PATH": str(programs), "LC_ALL": "C.UTF-8", "HOME": str(folder)}

    def run(*command: str) -> None:
        subprocess.run(
            command, check=True, capture_output=True, timeout=60, user=user, cwd=folder,
            env=environment,
        )  # fmt: skip

    data, listens = folder / "data", f"127.0.0.1 -p {port}" if port else "''"
    options = f"-F -k {folder} -c max_connections=10 -c listen_addresses={listens}"
    try:
        asks = ["-A", "trust"]
        if password:
            (folder / "password").write_text(password + "\n", "utf-8")
            (folder / "password").chmod(0o644)
            asks = ["-A", way, "--pwfile", str(folder / "password")]
        run(str(programs / "initdb"), "-D", str(data), *asks, "-U", "tester", "-N")
        for name, content in zip(("crt", "key"), tls, strict=True):
            path = folder / f"server.{name}"
            if content:
                path.write_bytes(content)
                path.chmod(0o600)
                shutil.chown(path, user or os.geteuid())
                options += f" -c ssl=on -c ssl_{'cert' if name == 'crt' else name}_file={path}"
        control = (str(programs / "pg_ctl"), "-D", str(data), "-w")
        run(*control, "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
