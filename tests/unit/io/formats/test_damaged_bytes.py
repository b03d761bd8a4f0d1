"""Files with damaged bytes: looked through, or refused in a sentence; nothing else happens."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.sas import text_losses as sas_losses
from dpdesk.io.formats.spss import text_losses as sav_losses
from dpdesk.io.formats.stata import text_losses as dta_losses
from dpdesk.io.formats.stata.text_losses import check_texts
from dpdesk.io.formats.table import Notes
from tests.helpers.sas_bytes import Form, write_sas_bytes
from tests.helpers.sav_bytes import write_sav_bytes

COLUMNS = [("NUM", 0), ("TEXT", 11), ("LONG", 90)]
ROWS: list[list[bytes | float]] = [[float(n), b"text %d" % n, b"ab" * (n % 40)] for n in range(60)]
NAMES = [name for name, _ in COLUMNS]
WORDS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\0\0")


def _stata(path: Path) -> Path:
    frame = pd.DataFrame({"NUM": [1.5] * 9, "TEXT": ["x"] * 9, "LONG": ["y" * 50] * 9})
    frame.to_stata(path, version=118, write_index=False, convert_strl=["LONG"])
    return path


def _sas(path: Path) -> None:
    for encoding in ("ascii", "utf-8", "cp932"):
        endings = Endings(encoding)
        sas_losses.refuse_losses(path, NAMES, None, Notes(), lambda row, at, raw: True, endings)


FILES: dict[str, tuple[Callable[[Path], Path], Callable[[Path], None]]] = {
    "plain SPSS": (
        lambda path: write_sav_bytes(path, COLUMNS, ROWS),
        lambda path: sav_losses.refuse_losses(path, NAMES, None, Notes()),
    ),
    "SPSS with zlib": (
        lambda path: write_sav_bytes(path, COLUMNS, ROWS, compression=2),
        lambda path: sav_losses.refuse_losses(path, NAMES, None, Notes()),
    ),
    "Stata": (_stata, lambda path: dta_losses.refuse_losses(path, NAMES, None, Notes())),
    "texts of Stata": (
        _stata,
        lambda path: check_texts(path, NAMES, None, Notes(), Endings("cp932")),
    ),
    "SAS": (lambda path: write_sas_bytes(path, COLUMNS, ROWS), _sas),
    "SAS with RDC": (lambda path: write_sas_bytes(path, COLUMNS, ROWS, Form(method="rdc")), _sas),
}


def _damaged(raw: bytes, chance: random.Random) -> bytes:
    made = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(min(len(made), chance.choice((300, 2_000, len(made)))))
        how = chance.random()
        if how < 0.6:
            made[at] = chance.randrange(256)
        elif how < 0.8:
            made[at : at + 4] = chance.choice(WORDS)
        elif how < 0.9:
            del made[at : at + chance.randrange(40)]
        else:
            del made[max(1, at) :]
    return bytes(made)


@pytest.mark.parametrize("kind", FILES)
def test_damaged_bytes_are_looked_through_or_refused_in_a_sentence(
    tmp_path: Path, kind: str
) -> None:
    make, look = FILES[kind]
    path = make(tmp_path / "whole")
    raw, chance = path.read_bytes(), random.Random(20)
    refused: list[str] = []
    look(path)
    for _ in range(250):
        path.write_bytes(_damaged(raw, chance))
        try:
            look(path)
        except InputError as error:
            refused.append(error.sentence)
    assert all(sentence.startswith("whole") for sentence in refused)
    assert refused or kind.startswith("SAS")


@pytest.mark.parametrize("place", [72, 176 + 4, 176 + 8, 176 + 12])
def test_impossible_sizes_in_a_dictionary_of_spss_are_refused(tmp_path: Path, place: int) -> None:
    path = write_sav_bytes(tmp_path / "whole", COLUMNS, ROWS)
    raw = path.read_bytes()
    path.write_bytes(raw[:place] + b"\xf0\xff\xff\x7f" + raw[place + 4 :])
    with pytest.raises(InputError, match="whole: "):
        sav_losses.refuse_losses(path, NAMES, None, Notes())
