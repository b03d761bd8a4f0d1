"""No password to a server that was not confirmed, and none to another computer without TLS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dpdesk.app import databases, inspecting
from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.databases import hosts
from dpdesk.io.formats.databases.server import connect
from dpdesk.io.formats.request import ReadRequest

SECRET = "zq secret in the environment"


class Rogue:
    """A server that answers each connection with ``answer`` and keeps all that it is sent."""

    def __init__(self, *answers: bytes) -> None:
        self.heard = b""
        self.connections = 0
        self._answers = answers
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                for answer in self._answers:
                    heard = connection.recv(4096)
                    self.heard += heard
                    if not heard:
                        break
                    connection.sendall(answer)
                self.heard += connection.recv(4096)

    def close(self) -> None:
        """Stop, once the connection that is served has ended."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(30)


NO_TLS = b"N"
CLEAR_PASSWORD = b"R\0\0\0\x08\0\0\0\x03"


@pytest.fixture
def rogue() -> Iterator[Rogue]:
    server = Rogue(NO_TLS, CLEAR_PASSWORD)
    yield server
    with suppress(OSError):
        server.close()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PGUSER", "PGHOST", "PGDATABASE", "PGSERVICE", "PGSSLMODE", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services.conf"))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback counts as another computer."""
    monkeypatch.setattr(hosts, "is_local", lambda host: False)


def inspect(context: AppContext, address: str) -> None:
    source = SourceSpec(address, table="people")
    inspecting.inspect_source(context, source, CancelToken(), silent)


@pytest.mark.usefixtures("elsewhere")
def test_nothing_is_sent_to_a_server_that_a_plan_names_and_no_one_confirmed(
    context: AppContext, rogue: Rogue
) -> None:
    with pytest.raises(InputError, match="has not been confirmed") as caught:
        inspect(context, f"postgresql://127.0.0.1:{rogue.port}/census")
    assert caught.value.code == "database.unconfirmed"
    assert f"127.0.0.1:{rogue.port}" in caught.value.hint
    assert rogue.connections == 0


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("more", ["", "?sslmode=require"])
def test_a_confirmed_server_without_tls_gets_no_password(rogue: Rogue, more: str) -> None:
    request = ReadRequest(f"postgresql://u@127.0.0.1:{rogue.port}/d{more}", "", "postgresql")
    with pytest.raises(StorageError) as caught:
        connect(request)
    assert caught.value.code == "database.unreachable"
    assert rogue.connections >= 1
    assert SECRET.encode() not in rogue.heard
    assert b"u\0" not in rogue.heard


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
def test_an_address_that_goes_without_tls_is_refused(
    rogue: Rogue, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d"
    with pytest.raises(InputError, match=f"sslmode={mode}"):
        connect(ReadRequest(f"{address}?sslmode={mode}", "", "postgresql"))
    monkeypatch.setenv("PGSSLMODE", mode)
    with pytest.raises(InputError, match=f"sslmode={mode}"):
        connect(ReadRequest(address, "", "postgresql"))
    assert rogue.connections == 0


def test_on_this_computer_a_password_may_go_without_tls(rogue: Rogue) -> None:
    """So that the attack of the other tests is one that works."""
    request = ReadRequest(f"postgresql://u@127.0.0.1:{rogue.port}/d", "", "postgresql")
    with pytest.raises(StorageError):
        connect(request)
    rogue.close()
    assert SECRET.encode() in rogue.heard


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("postgresql:///d", ()),
        ("postgresql://localhost/d", ()),
        ("postgresql://127.0.0.9:99/d", ()),
        ("postgresql://[::1]/d", ()),
        ("postgresql:///d?host=/run/postgresql", ()),
        ("postgresql://db.example.org/d", ("db.example.org:5432",)),
        ("postgresql://DB.example.org:99/d", ("db.example.org:99",)),
        ("postgresql://localhost,db.example.org/d", ("db.example.org:5432",)),
        ("postgresql://localhost/d?hostaddr=192.0.2.7", ("192.0.2.7:5432",)),
        ("postgresql:///d?host=db.example.org&port=7", ("db.example.org:7",)),
        ("postgresql://[2001:db8::1]:9/d", ("[2001:db8::1]:9",)),
        ("postgresql://a.example.org:1,b.example.org:2/d", ("a.example.org:1", "b.example.org:2")),
        ("postgresql://localhost.example.org/d", ("localhost.example.org:5432",)),
    ],
)
def test_hosts_of_an_address(address: str, remote: tuple[str, ...]) -> None:
    assert hosts.hosts_of(address) == remote
    assert hosts.unconfirmed(address) == remote


@pytest.mark.parametrize(
    "setting",
    ["passfile=/tmp/x", "sslkey=/tmp/x", "gssdelegation=1", "sslkeylogfile=/tmp/x", "password=x"],
)
def test_settings_that_could_give_secrets_away_are_refused(setting: str) -> None:
    with pytest.raises(InputError) as caught:
        hosts.safe_parameters(f"postgresql://db.example.org/d?{setting}")
    assert caught.value.code == "database.address"


def test_tls_is_demanded_of_services_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "services.conf").write_text("[census]\nhost=db.example.org\n")
    wanted = {"sslmode": "require", "require_auth": "!password"}
    assert hosts.safe_parameters("postgresql:///d?service=census") == wanted
    assert hosts.unconfirmed("postgresql:///d?service=census") == ()
    monkeypatch.setenv("PGHOST", "db.example.org")
    assert hosts.safe_parameters("postgresql:///d") == wanted
    verified = hosts.safe_parameters("postgresql://db.example.org/d?sslmode=verify-full")
    assert verified == {"sslmode": "verify-full"}
    assert hosts.safe_parameters("postgresql://localhost/d") == {}


def test_servers_are_confirmed_and_forgotten(context: AppContext) -> None:
    address = "postgresql://DB.example.org/d"
    assert databases.confirm_host(context, "db.Example.org", silent) == "db.example.org:5432"
    assert hosts.unconfirmed(address) == ()
    assert hosts.unconfirmed(address.replace(".org", ".org:99")) == ("db.example.org:99",)
    assert databases.forget_host(context, "db.example.org:5432", silent) == "db.example.org:5432"
    assert hosts.unconfirmed(address) == ("db.example.org:5432",)
    with pytest.raises(InputError, match="is not a confirmed database server"):
        databases.forget_host(context, "db.example.org", silent)
    databases.confirm_typed(context, address, silent)
    assert databases.confirmed_hosts(context) == ("db.example.org:5432",)


@pytest.mark.parametrize("text", ["", "a/b", "a b", "user@host", "host:0", "host:x"])
def test_what_is_not_a_server_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        hosts.parse_host(text)


def test_a_damaged_list_confirms_nothing(context: AppContext) -> None:
    (context.home / hosts.FILE).write_text("[]")
    with pytest.raises(StorageError, match="cannot be read"):
        hosts.unconfirmed("postgresql://db.example.org/d")
