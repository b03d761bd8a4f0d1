"""No password to a server that was not confirmed, and none to another computer without TLS."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from dpdesk.app import databases, describing, opening
from dpdesk.app.context import AppContext
from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.databases import hosts, server
from dpdesk.io.formats.databases.server import connect
from dpdesk.io.formats.request import ReadRequest

SECRET = "zq secret in the environment"


class Rogue:
    """A server that gives each connection the answers in turn and keeps all that it is sent.

    It hangs up on what comes after the last answer, or falls ``silent``, and ends with
    :meth:`close`, whatever a client that stays connected does.
    """

    def __init__(self, *answers: bytes, folder: Path | None = None, silent: bool = False) -> None:
        self._silent = silent
        self.heard = b""
        self.connections = 0
        self._answers = answers
        self.on_heard: Callable[[], object] = lambda: None
        self._open: list[socket.socket] = []
        if folder is None:
            self._socket = socket.create_server(("127.0.0.1", 0))
            self.port = self._socket.getsockname()[1]
        else:
            self._socket, self.port = socket.socket(socket.AF_UNIX), 5432
            self._socket.bind(str(folder / f".s.PGSQL.{self.port}"))
            self._socket.listen()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            with connection, suppress(OSError):
                for answer in self._answers:
                    heard = connection.recv(4096)
                    self.heard += heard
                    if not heard:
                        break
                    connection.sendall(answer)
                while heard := connection.recv(4096):
                    self.heard += heard
                    self.on_heard()
                    if not self._silent:
                        break

    def close(self) -> None:
        """Stop listening, hang up, and wait until all that was sent has been heard."""
        for one in (self._socket, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RD)
        self._thread.join()
        self._socket.close()


NO_TLS = b"N"
CLEAR_PASSWORD = b"R\0\0\0\x08\0\0\0\x03"
MD5 = b"R\0\0\0\x0c\0\0\0\x05salt"
GSS = b"R\0\0\0\x08\0\0\0\x07"
SSPI = b"R\0\0\0\x08\0\0\0\x09"
OAUTH = b"R\0\0\0\x15\0\0\0\x0aOAUTHBEARER\0\0"
SIGNED_IN = b"R\0\0\0\x08\0\0\0\0" + b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x01" + b"Z\0\0\0\x05I"


@pytest.fixture
def rogue() -> Iterator[Rogue]:
    server = Rogue(NO_TLS, CLEAR_PASSWORD)
    yield server
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
    describing.inspect_source(context, source, CancelToken(), silent)


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
    known = frozenset({f"127.0.0.1:{rogue.port}"})
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d{more}"
    request = ReadRequest(address, "", "postgresql", confirmed=known)
    with pytest.raises(InputError, match="the server offers no TLS") as caught:
        connect(request)
    assert caught.value.code == "database.tls"
    assert rogue.connections >= 1
    assert SECRET.encode() not in rogue.heard
    assert b"u\0" not in rogue.heard


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
def test_an_address_that_goes_without_tls_is_refused(
    rogue: Rogue, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d"
    known = frozenset({f"127.0.0.1:{rogue.port}"})
    with pytest.raises(InputError, match=f"sslmode={mode}"):
        connect(ReadRequest(f"{address}?sslmode={mode}", "", "postgresql", confirmed=known))
    monkeypatch.setenv("PGSSLMODE", mode)
    with pytest.raises(InputError, match=f"sslmode={mode}"):
        connect(ReadRequest(address, "", "postgresql", confirmed=known))
    assert rogue.connections == 0


def test_a_confirmed_place_on_this_computer_may_get_the_password_without_tls(rogue: Rogue) -> None:
    """So that the attack of the other tests is one that works."""
    known = frozenset({f"127.0.0.1:{rogue.port}"})
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d"
    with pytest.raises(StorageError):
        connect(ReadRequest(address, "", "postgresql", confirmed=known))
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
        ("postgresql://localhost./d", ("localhost.:5432",)),
        ("postgresql:///d?host=[127.0.0.1]", ("[127.0.0.1]:5432",)),
        ("postgresql://127.1/d", ("127.1:5432",)),
        ("postgresql://0.0.0.0/d", ("0.0.0.0:5432",)),
        ("postgresql:///d?host=%20127.0.0.1", (" 127.0.0.1:5432",)),
        ("postgresql://%65vil.example.org/d", ("evil.example.org:5432",)),
        ("postgresql:///d?h%6fst=db.example.org", ("db.example.org:5432",)),
        ("postgresql://localhost/d?host=db.example.org", ("db.example.org:5432",)),
        ("postgresql://db.example.org/d?host=localhost", ()),
        ("postgresql://localhost/d?hostaddr=127.0.0.1,192.0.2.7", ("192.0.2.7:5432",)),
        ("postgresql:///host%3Ddb.example.org", ()),
        ("postgresql://localhost,db.example.org:1,/d", ("db.example.org:1",)),
    ],
)
def test_places_of_an_address_on_other_computers(address: str, remote: tuple[str, ...]) -> None:
    found = tuple(place.name for place in hosts.named_places(address) if not place.local)
    assert found == remote
    with suppress(InputError):
        hosts.refuse_unconfirmed(address, ())
        assert remote == ()


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("postgresql:///d", ()),
        ("postgresql:///d?service=census", ()),
        ("postgresql://localhost/d", ("localhost:5432",)),
        ("postgresql://LOCALHOST:5433/d", ("localhost:5433",)),
        ("postgresql://[::1]/d", ("[::1]:5432",)),
        ("postgresql:///d?host=/tmp/A%20b", ("/tmp/A b:5432",)),
        ("postgresql://%2Ftmp%2Fx:7/d", ("/tmp/x:7",)),
        ("postgresql://a.example.org/d?hostaddr=127.0.0.1", ("127.0.0.1:5432",)),
        ("postgresql://localhost:1,localhost:2/d", ("localhost:1", "localhost:2")),
        ("postgresql:///d?host=localhost,::1&port=,9", ("localhost:5432", "[::1]:9")),
    ],
)
def test_places_of_an_address_on_this_computer(address: str, local: tuple[str, ...]) -> None:
    assert hosts.unconfirmed_places(address) == local
    assert all(place.local for place in hosts.named_places(address))


def test_a_port_alone_names_the_place_where_the_library_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its folder of sockets, as it tells itself when no server is there."""
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect("postgresql:///d?port=1")
    (place,) = hosts.named_places("postgresql:///d?port=1")
    assert place.local
    folder, port = place.name.rsplit(":", 1)
    assert f"{folder}/.s.PGSQL.{port}" in str(caught.value)
    monkeypatch.setenv("PGHOST", "db.example.org")
    assert hosts.unconfirmed_places("postgresql:///d?port=1") == ("db.example.org:1",)
    assert hosts.unconfirmed_places("postgresql:///d") == ()
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.7")
    assert hosts.unconfirmed_places("postgresql://localhost/d") == ("192.0.2.7:5432",)


def test_an_address_of_a_service_cannot_move_it(tmp_path: Path) -> None:
    (tmp_path / "services.conf").write_text("[census]\nhost=db.example.org\n")
    for more in ("host=localhost", "hostaddr=127.0.0.1", "port=99", "host="):
        with pytest.raises(InputError, match="names a service and a host"):
            hosts.safe_parameters(f"postgresql:///d?service=census&{more}")


@pytest.mark.parametrize("own", ["hostaddr=127.0.0.3", "hostaddr=127.0.0.3\nport=1"])
def test_a_service_of_the_environment_does_not_hide_where_an_address_leads(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is checked is what is connected to: libpq takes `hostaddr`, psycopg looks up `host`."""
    (tmp_path / "services.conf").write_text(f"[mine]\n{own}\n")
    monkeypatch.setenv("PGSERVICE", "mine")
    rogue = Rogue(NO_TLS, CLEAR_PASSWORD)
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d"
    (place,) = hosts.named_places(address)
    with pytest.raises(StorageError, match="cannot be reached"):
        connect(ReadRequest(address, "", "postgresql", confirmed=frozenset({place.name})))
    rogue.close()
    assert place.name == f"127.0.0.3:{rogue.port}"
    assert rogue.connections == 0


def test_a_socket_without_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would count as this computer, and its name be looked up in the network."""
    asked: list[str] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: asked.append(host) or [])
    for host in ("@evil.example.org", "localhost,@evil.example.org"):
        with pytest.raises(InputError, match="socket without a file"):
            connect(ReadRequest(f"postgresql:///d?host={host}", "", "postgresql"))
    assert asked == []
    assert not hosts.is_local("@evil.example.org")


def test_an_address_cannot_make_the_program_wait_for_many_servers() -> None:
    for key in ("host", "hostaddr"):
        many = ",".join(["127.0.0.1"] * 9)
        with pytest.raises(InputError, match="names 9 servers, expected at most 8"):
            hosts.refuse_unconfirmed(f"postgresql:///d?{key}={many}", ())


def test_a_sign_in_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a server asks for two thousand million rounds of SCRAM."""
    let_go, ended = threading.Event(), threading.Event()

    def work(*_: object, **__: object) -> None:
        let_go.wait()
        ended.set()

    monkeypatch.setattr(psycopg, "connect", work)
    monkeypatch.setattr(server, "SIGNING_IN", 0.01)
    with pytest.raises(StorageError, match="no sign-in within") as caught:
        connect(ReadRequest("postgresql://127.0.0.1:1/d", "", "postgresql"))
    assert caught.value.code == "database.unreachable"
    let_go.set()
    ended.wait()


def test_no_ticket_goes_to_a_place_here_that_was_not_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Encryption by GSSAPI begins with a ticket, whatever `require_auth` says."""
    monkeypatch.setenv("PGGSSENCMODE", "prefer")
    address = "postgresql:///d?host=db.example.org&hostaddr=127.0.0.1"
    assert hosts.safe_parameters(address)["gssencmode"] == "disable"
    assert "gssencmode" not in hosts.safe_parameters(address, {"127.0.0.1:5432"})


@pytest.mark.parametrize("answer", [CLEAR_PASSWORD, MD5, GSS, SSPI, OAUTH])
def test_a_place_here_that_a_plan_names_gets_nothing_that_could_be_used(answer: bytes) -> None:
    rogue = Rogue(NO_TLS, answer)
    try:
        with pytest.raises(InputError) as caught:
            connect(ReadRequest(f"postgresql://u@127.0.0.1:{rogue.port}/d", "", "postgresql"))
    finally:
        rogue.close()
    assert caught.value.code == "database.unconfirmed"
    assert f"The server at 127.0.0.1:{rogue.port} on this computer asked" in caught.value.sentence
    assert ("cleartext" in caught.value.sentence) == (answer == CLEAR_PASSWORD)
    assert f"`dpdesk databases confirm 127.0.0.1:{rogue.port}`" in caught.value.hint
    assert b"u\0" in rogue.heard
    _, _, after = rogue.heard.partition(b"database\0d\0\0")
    assert after == b""


def test_a_socket_in_a_folder_that_a_plan_names_gets_no_password(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="dpdesk-s-", dir="/tmp"))  # sockets need short paths
    rogue = Rogue(CLEAR_PASSWORD, folder=folder)
    try:
        with pytest.raises(InputError) as caught:
            connect(ReadRequest(f"postgresql://u@/d?host={folder}", "", "postgresql"))
        assert f"The server at {folder}:5432 on this computer" in caught.value.sentence
    finally:
        rogue.close()
        shutil.rmtree(folder)
    assert SECRET.encode() not in rogue.heard


def test_a_place_of_the_user_s_own_gets_the_password(
    rogue: Rogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(rogue.port))
    with pytest.raises(StorageError):
        connect(ReadRequest("postgresql://u@/d", "", "postgresql"))
    rogue.close()
    assert SECRET.encode() in rogue.heard


def test_the_reading_process_is_told_what_was_confirmed(context: AppContext, rogue: Rogue) -> None:
    address = f"postgresql://u@127.0.0.1:{rogue.port}/d"
    for look in (
        lambda: inspect(context, address),
        lambda: databases.offered_tables(address, "", CancelToken(), silent),
        lambda: databases.offered_tables(address, SECRET, CancelToken(), silent),
    ):
        with pytest.raises(InputError) as caught:
            look()
        assert caught.value.code == "database.unconfirmed"
    problem = opening.preview(SourceSpec(address, table="people"), Path()).problem
    assert problem is not None
    assert problem.code == "database.unconfirmed"
    databases.confirm_host(context, f"127.0.0.1:{rogue.port}", silent)
    with pytest.raises(StorageError):
        inspect(context, address)
    rogue.close()
    assert SECRET.encode() in rogue.heard


def test_a_stronger_wish_of_the_user_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def wanted(asked: str, address: str = "postgresql://localhost/d") -> str:
        monkeypatch.setenv("PGREQUIREAUTH", asked)
        return str(hosts.safe_parameters(address, ("db.example.org:5432",))["require_auth"])

    assert wanted("") == "none,scram-sha-256"
    assert wanted("!none") == "scram-sha-256"
    assert wanted("scram-sha-256,password") == "scram-sha-256"
    assert wanted("password") == "scram-sha-256"
    there = "postgresql://db.example.org/d"
    assert wanted("scram-sha-256,password,md5", there) == "scram-sha-256"
    assert {"password", "md5"}.isdisjoint(wanted("", there).split(","))
    assert "sspi" not in wanted("!sspi", there).split(",")


@pytest.mark.parametrize("answers", [(NO_TLS,), (NO_TLS, SIGNED_IN)])
def test_a_server_that_falls_silent_is_given_up(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[bytes, ...]
) -> None:
    monkeypatch.setattr(server, "CONNECTING", 2)
    monkeypatch.setattr(server, "ANSWERING", 0.2)
    rogue = Rogue(*answers, silent=True)
    try:
        with pytest.raises(StorageError) as caught:
            connect(ReadRequest(f"postgresql://u@127.0.0.1:{rogue.port}/d", "", "postgresql"))
    finally:
        rogue.close()
    assert caught.value.code == "database.unreachable"


def test_waiting_for_a_silent_server_can_be_stopped(context: AppContext) -> None:
    rogue = Rogue(NO_TLS, SIGNED_IN, silent=True)
    address, token = f"postgresql://u@127.0.0.1:{rogue.port}/d", CancelToken()
    source = SourceSpec(address, table="people")
    rogue.on_heard = lambda: token.cancel() if b"default_transaction" in rogue.heard else None
    try:
        with pytest.raises(Cancelled):
            opening.preview(source, Path(), token)
    finally:
        rogue.close()


def test_names_that_hide_what_they_are_and_authorities_of_a_plan(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be printed"):
        hosts.named_places("postgresql://db.example.org%0A127.0.0.1/d")
    os.mkfifo(tmp_path / "root.crt")
    there, known = "postgresql://db.example.org/d?sslmode=verify-full", ("db.example.org:5432",)
    with pytest.raises(InputError, match="which does not exist"):
        hosts.safe_parameters(f"{there}&sslrootcert={tmp_path}/root.crt", known)
    (tmp_path / "own.crt").write_text("")
    of_plan = hosts.safe_parameters(f"{there}&sslrootcert={tmp_path}/own.crt", known)
    assert "password" not in of_plan["require_auth"].split(",")
    assert hosts.safe_parameters(f"{there}&sslrootcert=system", known) == {"sslmode": "verify-full"}
    with pytest.raises(InputError, match="has not been confirmed"):
        hosts.safe_parameters(there)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql:///d?host=db.example.org", "db.example.org, database d"),
        ("postgresql://a.example.org/d?hostaddr=192.0.2.7", "192.0.2.7, database d"),
        ("postgresql://good@evil.example.org/d", "evil.example.org, database d"),
        ("postgresql:///d?host=/tmp", "this computer, database d"),
        ("postgresql:///d?service=census", "service census"),
    ],
)
def test_errors_name_the_server_that_is_connected_to(address: str, said: str) -> None:
    assert server.server_name(address) == said


@pytest.mark.parametrize(
    "setting",
    ["passfile=/tmp/x", "sslkey=/tmp/x", "gssdelegation=1", "sslkeylogfile=/tmp/x", "password=x"],
)
def test_settings_that_could_give_secrets_away_are_refused(setting: str) -> None:
    with pytest.raises(InputError) as caught:
        hosts.safe_parameters(f"postgresql:///d?{setting}")
    assert caught.value.code == "database.address"


@pytest.mark.parametrize("address", ["u/zq@h:1521/x", "zq", "host=h zq", "postgresql://[zq/d"])
def test_what_is_no_address_is_not_repeated(address: str) -> None:
    with pytest.raises(InputError) as caught:
        hosts.named_places(address)
    assert caught.value.code == "database.address"
    assert "zq" not in caught.value.line


@pytest.mark.parametrize(
    "named", ["d\u0131.example.org", "db.ex\u0430mple.org", "db\u3002example.org"]
)
def test_a_name_that_only_looks_like_one_of_the_network_is_refused(named: str) -> None:
    """Whoever reads it would confirm another server than the one that it looks like."""
    with pytest.raises(InputError, match="holds letters that no name in the network has"):
        hosts.named_places(f"postgresql://{named}/d")
    assert hosts.named_places("postgresql:///d?host=/srv/B\u00e4r")[0].local


def test_tls_is_demanded_of_services_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "services.conf").write_text("[census]\nhost=db.example.org\n")
    wanted = {"sslmode": "require", "require_auth": ",".join(hosts._without_password())}
    assert hosts.safe_parameters("postgresql:///d?service=census") == wanted
    assert hosts.unconfirmed_places("postgresql:///d?service=census") == ()
    monkeypatch.setenv("PGHOST", "db.example.org")
    assert hosts.safe_parameters("postgresql:///d") == wanted
    address = "postgresql://db.example.org/d?sslmode=verify-full"
    verified = hosts.safe_parameters(address, {"db.example.org:5432"})
    assert verified == {"sslmode": "verify-full"}
    monkeypatch.delenv("PGHOST")
    assert hosts.safe_parameters("postgresql://localhost/d", {"localhost:5432"}) == {}


def test_servers_are_confirmed_and_forgotten(context: AppContext) -> None:
    address = "postgresql://DB.example.org/d"
    assert databases.confirm_host(context, "db.Example.org", silent) == "db.example.org:5432"
    assert hosts.unconfirmed_places(address) == ()
    assert hosts.unconfirmed_places(address.replace(".org", ".org:99")) == ("db.example.org:99",)
    assert databases.forget_host(context, "db.example.org:5432", silent) == "db.example.org:5432"
    assert hosts.unconfirmed_places(address) == ("db.example.org:5432",)
    with pytest.raises(InputError, match="is not a confirmed database server"):
        databases.forget_host(context, "db.example.org", silent)
    databases.confirm_typed(context, address, silent)
    databases.confirm_typed(context, "postgresql:///d?host=/run/a:b", silent)
    databases.confirm_host(context, " [::1] ", silent)
    databases.confirm_host(context, "/run/Postgres", silent)
    assert databases.confirmed_hosts(context) == (
        "/run/Postgres:5432",
        "/run/a:b:5432",
        "[::1]:5432",
        "db.example.org:5432",
    )
    for name in databases.confirmed_hosts(context):
        assert databases.forget_host(context, name, silent) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b",
        "a b",
        "user@host",
        "host:0",
        "host:x",
        "a,b",
        "/a,/b",
        "/a\nb",
        "a\u202eb",
        "ev\u0131l.org",
    ],
)
def test_what_is_not_a_server_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        hosts.parse_host(text)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:s3cret@db.example.org/d",
        "me:s3cret@db.example.org",
        "//me:s3cret@db.example.org/d",
        "host=h password=s3cret",
    ],
)
def test_a_password_typed_for_a_server_is_neither_kept_nor_repeated(
    text: str, tmp_path: Path
) -> None:
    with AppContext.open(tmp_path) as context:
        with pytest.raises(InputError) as caught:
            databases.confirm_host(context, text, silent)
        assert databases.confirmed_hosts(context) == ()
    assert "s3cret" not in caught.value.line
    assert all(b"s3cret" not in file.read_bytes() for file in tmp_path.rglob("*.*"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@[::1/d",
        "postgresql://me:s3cret/d@host",
        "postgresql://host/d?passs3cret",
        "postgresql://host/d?options=s3cret%zz",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(address: str) -> None:
    with pytest.raises(InputError) as caught:
        hosts.safe_parameters(address)
    assert caught.value.code == "database.address"
    assert "s3cret" not in caught.value.line


def test_a_list_serves_no_longer_than_its_home_is_open(tmp_path: Path) -> None:
    address = "postgresql://db.example.org/d"
    with AppContext.open(tmp_path / "one") as one:
        databases.confirm_host(one, "db.example.org", silent)
        assert hosts.unconfirmed_places(address) == ()
    assert hosts.unconfirmed_places(address) == ("db.example.org:5432",)


def test_a_damaged_list_confirms_nothing(context: AppContext) -> None:
    (context.home / hosts.FILE).write_text("[]")
    with pytest.raises(StorageError, match="cannot be read"):
        hosts.unconfirmed_places("postgresql://db.example.org/d")
