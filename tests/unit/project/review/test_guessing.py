"""Which passphrases are refused and which are taken."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.project.review.keys import checked_passphrase, guesses_log10

TYPICAL = """
    Sommer2024Sommer password1234 Passwort1234 passwort12345 Sommer2024!!!
    Winter2023Winter qwertz123456 Berlin2024Berlin Password2024! Geheim123456
    Willkommen2024 Willkommen123! Welcome12345 Summer2024Summer Statistik2024
    Statistik2024Amt Muenchen2024! Hallo12345678 hallohallohallo Schatzi12345!
    Fruehling2024! dpdesk2024dpdesk Monika19841984 Letmein123456 Januar2024Januar
    Montag123Montag Sonnenschein1 Sonnenschein2024 PasswortPasswort abcdefghijkl
    123456789012 Admin2024Admin! Frankfurt1899 Fussball2024! ichliebedich1
    iloveyou1234 Password123! Datenschutz2024 Geheimnis2024! Deutschland2024
    Administrator1 StatistischesAmt2024 Sommer2024Winter2024 Sommerzeit2024 Herbst2023Herbst
    Weihnachten2023 Oesterreich2024 Kennwort123456 Zensus2022Zensus
"""


@pytest.mark.parametrize("typical", TYPICAL.split())
def test_words_with_years_or_runs_of_digits_are_refused(typical: str) -> None:
    for spelled in (typical, typical.upper(), typical.lower()):
        with pytest.raises(InputError) as error:
            checked_passphrase(spelled)
        assert error.value.code == "key.passphrase-rule"


@pytest.mark.parametrize(
    "row",
    [
        "йцукенгшщзхъ",
        "ЙЦУКЕНгшщзхъ",
        "фывапролджэя",
        "ςερτυθιοπασδ",
        "a b c d e f g",
        "q-w-e-r-t-z-u",
        "DPDesk-release-2026",
    ],
)
def test_rows_of_other_keyboards_and_words_of_the_matter_are_refused(row: str) -> None:
    with pytest.raises(InputError, match="guesses"):
        checked_passphrase(row)


@pytest.mark.parametrize(
    "saying", ["IchLiebeDich2024", "to be or not to be", "Fussball-2024-WM", "what is love is what"]
)
def test_sayings_of_the_words_that_every_sentence_has_are_refused(saying: str) -> None:
    """Pronouns, articles and the like are the first words that a program tries."""
    with pytest.raises(InputError, match="guesses"):
        checked_passphrase(saying)


@pytest.mark.parametrize(
    "saying",
    [
        "correct horse battery staple",
        "CorrectHorseBatteryStaple",
        "correct-horse-battery-staple-1",
        "2024_correct_horse_battery_staple!",
        "The quick brown fox jumps over the lazy dog",
        "may the force be with you",
        "Sein oder Nichtsein, das ist hier die Frage",
        "Freude, schöner Götterfunken",
        "Vater unser im Himmel",
        "Zeit ist Geld, Ende gut, alles gut",
    ],
)
def test_sayings_that_everyone_knows_are_refused(saying: str) -> None:
    with pytest.raises(InputError, match="guesses"):
        checked_passphrase(saying)


def test_a_saying_does_not_spoil_what_is_good_without_it() -> None:
    assert checked_passphrase("let it be copper otter meadow lantern")
    assert checked_passphrase("Letitia Oberhofen Pumpernickel Karusell")


@pytest.mark.parametrize("typical", ["Xantippe1999!", "Xantippe-Quendel", "quendel2024quendel"])
def test_a_passphrase_made_of_the_own_name_is_refused(typical: str) -> None:
    with pytest.raises(InputError):
        checked_passphrase(typical, "Xantippe Quendel")


@pytest.mark.parametrize(
    "good",
    [
        "copper otter meadow lantern",
        "vier pferde laufen quer",
        "Lampe Igel Wolke Tinte",
        "blau-Tisch-Regen-Uhr-42",
        "gurkeankerlampemoos",
        "Nebel tanzt auf grauem Stein",
        "Blaue Eimer tanzen nie mittwochs im Keller",
        "mein dritter Nachbar sammelt rostige Trompeten",
        "zK7!vq9PwLm2",
        "xkqzvbwjfpht",
        "μήλο γέφυρα σύννεφο ποτάμι",
    ],
)
def test_four_words_or_random_signs_are_taken(good: str) -> None:
    assert checked_passphrase(good)
    assert guesses_log10(good) >= 10
