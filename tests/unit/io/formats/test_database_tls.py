"""A server with TLS: who gets the password, whose certificate counts, and what is said."""

from __future__ import annotations

import datetime as dt
import socket
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dpdesk.core.errors import InputError
from dpdesk.io.formats.databases import hosts
from dpdesk.io.formats.databases.server import connect
from dpdesk.io.formats.request import ReadRequest
from tests.helpers.postgres import postgres_server

SECRET = "zq secret in the environment"
NOW = dt.datetime.now(dt.UTC)


class Authority:
    """An authority of its own, and the certificates that it gives."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority")])
        self.pem = self._made("An authority", self._key, 9, is_authority=True)[0]

    def _made(
        self, name: str, key: ec.EllipticCurvePrivateKey, days: int, *, is_authority: bool = False
    ) -> tuple[bytes, bytes]:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = (
            x509.CertificateBuilder()
            .subject_name(self._name if is_authority else subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - dt.timedelta(days=9))
            .not_valid_after(NOW + dt.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        plain = serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        pem = serialization.Encoding.PEM
        return made.public_bytes(pem), key.private_bytes(pem, form, plain)

    def certificate(self, name: str, days: int = 9) -> tuple[bytes, bytes]:
        """A certificate for a host, and its key; with days below 0 it has expired."""
        return self._made(name, ec.generate_private_key(ec.SECP256R1()), days)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """Trusted by the user, from whom the loopback counts as another computer."""
    made = Authority()
    (tmp_path / "root.crt").write_bytes(made.pem)
    for name in ("PGUSER", "PGHOST", "PGDATABASE", "PGSERVICE", "PGSSLMODE", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / "root.crt"))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    monkeypatch.setattr(hosts, "is_local", lambda host: False)
    return made


def _rows(port: int, mode: str) -> int:
    address = f"postgresql://tester@localhost:{port}/postgres{mode}"
    known = frozenset({f"localhost:{port}"})
    con = connect(ReadRequest(address, "", "postgresql", confirmed=known))
    try:
        assert con.pgconn.ssl_in_use
        return len(con.execute("SELECT 1").fetchall())
    finally:
        con.close()


@pytest.mark.parametrize(
    ("way", "mode", "refused"),
    [
        ("password", "", "asked for a cleartext password"),
        ("password", "?sslmode=verify-ca", "asked for a cleartext password"),
        ("password", "?sslmode=verify-full", ""),
        ("md5", "", "asked for a way of signing in that is not allowed"),
        ("md5", "?sslmode=verify-full", ""),
        ("scram-sha-256", "", ""),
        ("scram-sha-256", "?sslmode=verify-full", ""),
    ],
)
def test_a_password_goes_as_it_is_only_to_a_server_that_was_verified(
    authority: Authority, way: str, mode: str, refused: str
) -> None:
    port = _free_port()
    with postgres_server(SECRET, way, port, authority.certificate("localhost")):
        if not refused:
            assert _rows(port, mode) == 1
            return
        with pytest.raises(InputError, match=refused) as caught:
            _rows(port, mode)
        assert caught.value.code == "database.tls"


@pytest.mark.parametrize(
    ("name", "days", "own", "said"),
    [
        ("other.example.org", 9, True, "does not match host name"),
        ("localhost", -1, True, "certificate verify failed"),
        ("localhost", 9, False, "failure"),
    ],
)
def test_a_certificate_that_is_not_the_servers_own_is_refused_and_said(
    authority: Authority, name: str, days: int, own: bool, said: str
) -> None:
    port = _free_port()
    given = (authority if own else Authority()).certificate(name, days)
    with postgres_server(SECRET, "password", port, given):
        with pytest.raises(InputError, match="could not be verified") as caught:
            _rows(port, "?sslmode=verify-full")
        assert caught.value.code == "database.tls"
        assert said in caught.value.sentence
        assert "PGPASSWORD" not in caught.value.line


def test_a_server_without_tls_is_told(authority: Authority) -> None:
    port = _free_port()
    with (
        postgres_server(SECRET, "scram-sha-256", port),
        pytest.raises(InputError, match="the server offers no TLS") as caught,
    ):
        _rows(port, "")
    assert caught.value.code == "database.tls"
