"""Keys of pseudonyms: made, listed, backed up, taken back, deleted, and kept from others."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import json
import os
import pickle
from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import SMALL_PARTIAL, Workspace
from dpdesk.project.pseudonym_keys import PseudonymKeys
from dpdesk.project.review.keys import Argon2Cost

CHEAP = Argon2Cost(time=1, lanes=1, kib=8)
PHRASE = "four words of nothing"


def keys(folder: Path) -> PseudonymKeys:
    return PseudonymKeys(folder, cheap_for_tests=CHEAP)


def code_of(action: object, *arguments: object) -> str:
    with pytest.raises(InputError) as caught:
        action(*arguments)  # type: ignore[operator]
    return caught.value.code


def test_a_key_lies_in_a_private_file_of_a_private_folder(tmp_path: Path) -> None:
    made = keys(tmp_path).create("people")
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.path.parent.stat().st_mode & 0o777 == 0o700
    assert len(keys(tmp_path).open("PEOPLE").secret) == 32


def test_the_id_of_a_key_tells_nothing_of_it(tmp_path: Path) -> None:
    one, two = keys(tmp_path / "a").create("people"), keys(tmp_path / "b").create("people")
    assert one.id != two.id
    secret = keys(tmp_path / "a").open("people").secret
    assert one.id not in (hashlib.sha256(secret).hexdigest()[:32], secret.hex()[:32])


def test_the_key_of_a_domain_is_an_hmac_of_its_frame(tmp_path: Path) -> None:
    keys(tmp_path).create("people")
    key = keys(tmp_path).open("people")
    assert key.domain_key(b"frame") == hmac.new(key.secret, b"frame", "sha256").digest()


def test_a_key_shows_itself_nowhere(tmp_path: Path) -> None:
    keys(tmp_path).create("people")
    key = keys(tmp_path).open("people")
    assert key.secret.hex() not in repr(key)
    assert str(key.secret) not in repr(key)
    with pytest.raises(TypeError, match="not passed on"):
        pickle.dumps(key)


def test_two_keys_do_not_share_a_name(tmp_path: Path) -> None:
    keys(tmp_path).create("people")
    assert code_of(keys(tmp_path).create, "People") == "pseudonym-key.exists"
    assert code_of(keys(tmp_path).create, "a/b") == "pseudonym-key.name"


def test_a_file_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    made = keys(tmp_path).create("people")
    made.path.chmod(0o640)
    assert "others on this computer" in keys(tmp_path).keys()[0].problem
    assert code_of(keys(tmp_path).open, "people") == "pseudonym-key.missing"
    assert keys(tmp_path).with_id(made.id) is None


def test_a_damaged_file_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    made = keys(tmp_path).create("people")
    raw = json.loads(made.path.read_text())
    raw["secret"] = raw["secret"][:-2]
    made.path.write_text(json.dumps(raw, indent=2, sort_keys=True) + "\n")
    assert "changed after DPDesk wrote it" in keys(tmp_path).keys()[0].problem


def test_a_backup_needs_its_passphrase_and_gives_the_same_key(tmp_path: Path) -> None:
    keys(tmp_path / "a").create("people")
    out = tmp_path / "backup.json"
    keys(tmp_path / "a").export("people", PHRASE, out)
    secret = keys(tmp_path / "a").open("people").secret
    assert out.stat().st_mode & 0o777 == 0o600
    assert secret.hex() not in out.read_text()
    assert code_of(keys(tmp_path / "b").take, out, "another passphrase") == "key.passphrase"
    taken = keys(tmp_path / "b").take(out, PHRASE)
    assert keys(tmp_path / "b").open("people").secret == secret
    assert keys(tmp_path / "b").with_id(taken.id) is not None
    assert code_of(keys(tmp_path / "b").take, out, PHRASE) == "pseudonym-key.exists"


def test_a_changed_backup_is_refused(tmp_path: Path) -> None:
    keys(tmp_path).create("people")
    out = tmp_path / "backup.json"
    keys(tmp_path).export("people", PHRASE, out)
    out.write_text(out.read_text().replace('"people"', '"peaple"'))
    assert code_of(keys(tmp_path).take, out, PHRASE) == "key.passphrase"


@pytest.mark.parametrize("inside", ["public", "internal", "", "internal/more"])
def test_no_backup_goes_into_a_release(tmp_path: Path, inside: str) -> None:
    keys(tmp_path).create("people")
    release = tmp_path / "release"
    for name in ("public/manifest.json", "internal/seal.json"):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).write_text("{}\n")
    (release / inside).mkdir(parents=True, exist_ok=True)
    found = code_of(keys(tmp_path).export, "people", PHRASE, release / inside / "k.json")
    assert found == "pseudonym-key.backup-place"


def test_a_backup_replaces_no_file_and_no_short_passphrase_seals_it(tmp_path: Path) -> None:
    keys(tmp_path).create("people")
    (tmp_path / "there.json").write_text("mine")
    export = keys(tmp_path).export
    assert code_of(export, "people", PHRASE, tmp_path / "there.json") == (
        "pseudonym-key.backup-place"
    )
    assert code_of(export, "people", "short", tmp_path / "x.json") == "key.passphrase-rule"
    assert (tmp_path / "there.json").read_text() == "mine"


def test_a_key_is_deleted_only_by_its_name_and_its_id(tmp_path: Path) -> None:
    made = keys(tmp_path).create("people")
    delete = keys(tmp_path).delete
    for digits in ("", made.id[:7], "0" * 32):
        assert code_of(delete, "people", digits) == "pseudonym-key.other"
    delete("people", made.id[:8].upper())
    assert not made.path.exists()
    assert code_of(keys(tmp_path).open, "people") == "pseudonym-key.missing"


@pytest.mark.parametrize("step", ["replace", "unlink", "open", "stat"])
def test_a_key_is_there_whole_or_gone_wherever_deleting_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    made = keys(tmp_path).create("people")
    whole = made.path.read_bytes()
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt, StorageError):
        usual = getattr(Path, step)

        def stopped(path: Path, *arguments: object, **named: object) -> object:
            if made.id in path.name:
                patch.undo()
                raise KeyboardInterrupt
            return usual(path, *arguments, **named)

        patch.setattr(Path, step, stopped)
        keys(tmp_path).delete("people", made.id[:8])
    assert not made.path.exists() or made.path.read_bytes() == whole
    kept = keys(tmp_path)
    listed = kept.keys()
    assert [one.problem for one in listed if one.problem] == []


@pytest.mark.parametrize("failing", ["write", "unlink"])
def test_a_key_that_was_taken_away_is_not_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    made = keys(tmp_path).create("people")

    def fails(*arguments: object, **named: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(*{"write": (os, "fsync"), "unlink": (Path, "unlink")}[failing], fails)
        keys(tmp_path).delete("people", made.id[:8])
    assert keys(tmp_path).keys() == ()
    left = [path.read_bytes() for path in made.path.parent.glob("*.new")]
    assert [data.strip(b"\0") for data in left] in ([], [b""])


def test_a_kill_leaves_nothing_of_a_backup_and_nothing_of_a_key_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[str] = []
    rename = Path.replace

    def seen(self: Path, target: Path) -> Path:
        beside.extend(path.name for path in target.parent.glob(".*.json.*"))
        return rename(self, target)

    with closing(Workspace.open(tmp_path / "home")) as space:
        stored = PseudonymKeys(space.home, space, cheap_for_tests=CHEAP)
        monkeypatch.setattr(Path, "replace", seen)
        made = stored.create("people")
        assert [name.endswith(SMALL_PARTIAL) for name in beside] == [True]  # swept when it is old
        beside.clear()
        stored.export("people", PHRASE, tmp_path / "backup.json")
        assert beside == []
    assert made.path.exists()
    assert (tmp_path / "backup.json").stat().st_mode & 0o777 == 0o600


def test_no_flipped_bit_makes_another_key(tmp_path: Path) -> None:
    """Pseudonyms of a key that is another one by a digit link nobody, and look like any others."""
    path = keys(tmp_path).create("people").path
    whole = path.read_bytes()
    for place in range(len(whole)):
        flipped = whole[place] ^ 1 << place % 7
        path.write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
        assert code_of(keys(tmp_path).open, "people") == "pseudonym-key.missing"
    for form in (b"true", b"2.0", b"1"):
        path.write_bytes(whole.replace(b'"format": 2', b'"format": ' + form))
        assert code_of(keys(tmp_path).open, "people") == "pseudonym-key.missing"


def test_a_key_of_an_earlier_version_is_still_read(tmp_path: Path) -> None:
    made = keys(tmp_path).create("people")
    secret = keys(tmp_path).open("people").secret
    raw = json.loads(made.path.read_text("utf-8"))
    del raw["check"]
    made.path.write_bytes(canonical_json({**raw, "format": 1}))
    assert keys(tmp_path).open("people").secret == secret
