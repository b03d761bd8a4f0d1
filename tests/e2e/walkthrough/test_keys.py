"""Three people make keys and trust each other, by mouse and keys; one of them has no mouse."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.keyboard import CTRL, SHIFT, Key, Keyboard
from tests.helpers.office import Office, passphrase_of
from tests.helpers.person import Person
from tests.helpers.signers import AUTHOR, FIRST, SECOND
from tests.helpers.signers import Person as Signer

Three = tuple[Signer, Signer, Signer]


def test_three_people_make_keys_and_trust_each_other(office: Office, tmp_path: Path) -> None:
    author, first, second = three = newcomers(tmp_path)
    for who in (author, second):
        make_key(office.sit(who), who)
    make_key_by_keyboard(office.sit(first), first)
    trust_by_mouse(office.sit(author), author, three)
    trust_list_by_keyboard(office.sit(first), author.desk / "trusted.json")
    import_list(office.sit(second), author.desk / "trusted.json")
    office.leave()
    lists = {(who.home / "trust.json").read_bytes() for who in three}
    assert len(lists) == 1


def newcomers(folder: Path) -> Three:
    author, first, second = (
        Signer(name, folder / name.split()[0].lower()) for name in (AUTHOR, FIRST, SECOND)
    )
    for who in (author, first, second):
        who.home.mkdir(parents=True)
        who.secret.write_text(f"a passphrase of {who.name}\n", "utf-8")
    return author, first, second


def make_key(person: Person, who: Signer) -> None:
    person.keys(Key.Key_K, CTRL, SHIFT)
    person.reads("There is no key on this computer yet.", "At least 12 characters")
    person.type("Name of the holder", who.name)
    person.type("Passphrase", passphrase_of(who))
    person.type("Passphrase again", "another one than before")
    person.click("Make the key")
    person.reads("The two passphrases differ")
    person.shoot("passphrases-differ")
    person.type("Passphrase", passphrase_of(who))
    person.type("Passphrase again", passphrase_of(who))
    person.click("Make the key")
    person.reads("The key has been made.", f"Fingerprint of {who.name}'s key: ")
    person.asker.answer = who.desk / "card.json"
    person.click("Write the card…")
    person.reads("Written: ")
    person.shoot("key-made")
    person.settled()


def make_key_by_keyboard(person: Person, who: Signer) -> None:
    keyboard = Keyboard(person)
    keyboard.press(Key.Key_K, CTRL | SHIFT)
    person.reads("There is no key on this computer yet.")
    keyboard.fill("Name of the holder", who.name)
    keyboard.fill("Passphrase", passphrase_of(who))
    keyboard.fill("Passphrase again", passphrase_of(who))
    keyboard.press(Key.Key_Return)
    person.reads("The key has been made.")
    person.asker.answer = who.desk / "card.json"
    keyboard.use("Write the card…")
    person.reads("Written: ")
    keyboard.press(Key.Key_Escape)
    assert person.front is person.window


def trust_by_mouse(person: Person, who: Signer, three: Three) -> None:
    person.keys(Key.Key_K, CTRL, SHIFT)
    person.click("Trusted people")
    person.reads("This computer trusts no keys yet")
    person.shoot("trusts-nobody")
    for one in three:
        person.asker.answer = one.desk / "card.json"
        person.click("Add a card…")
        person.reads(f"Fingerprint of {one.name}'s key: ", "Call the holder")
        digits = "Digits that the holder read out (20 or more; optional)"
        person.type(digits, "0123 4567 89ab cdef 0123")
        person.click("Trust this key")
        person.reads("not the one given")
        person.shoot("other-digits")
        person.type(digits, "")
        person.click("Trust this key")
        person.settled()
    person.lists("Trusted keys", AUTHOR, FIRST, SECOND)
    person.shoot("trusted")
    person.asker.answer = who.desk / "trusted.json"
    person.click("Export the list…")
    person.reads("Written: ")
    person.settled()


def trust_list_by_keyboard(person: Person, path: Path) -> None:
    keyboard = Keyboard(person)
    keyboard.press(Key.Key_K, CTRL | SHIFT)
    keyboard.turn("Trusted people")
    person.asker.answer = path
    keyboard.use("Import a list…")
    person.lists("Trusted keys", AUTHOR, FIRST, SECOND)
    person.shoot("imported")


def import_list(person: Person, path: Path) -> None:
    person.keys(Key.Key_K, CTRL, SHIFT)
    person.click("Trusted people")
    person.asker.answer = path
    person.click("Import a list…")
    person.lists("Trusted keys", AUTHOR, FIRST, SECOND)
    person.settled()
