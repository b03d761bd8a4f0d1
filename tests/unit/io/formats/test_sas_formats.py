"""Display formats of SAS: which are dates, moments and times, and which were made for labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.labels import Kind
from dpdesk.io.formats.moments import is_own_format, kind_of, shows
from tests.helpers.stat_files import head
from tests.unit.io.formats.test_transport_ends import _file, _table

DATES = """
DATE DAY DDMMYY DDMMYYB DDMMYYC DDMMYYD DDMMYYN DDMMYYP DDMMYYS DOWNAME JULDAY JULIAN MMDDYY
MMDDYYB MMDDYYC MMDDYYD MMDDYYN MMDDYYP MMDDYYS MMYY MMYYC MMYYD MMYYN MMYYP MMYYS MONNAME MONTH
MONYY PDJULG PDJULI QTR QTRR WEEKDATE WEEKDATX WEEKDAY WEEKU WEEKV WEEKW WORDDATE WORDDATX YEAR
YYMM YYMMC YYMMD YYMMN YYMMP YYMMS YYMMDD YYMMDDB YYMMDDC YYMMDDD YYMMDDN YYMMDDP YYMMDDS YYMON YYQ
YYQC YYQD YYQN YYQP YYQS YYQR YYQRC YYQRD YYQRN YYQRP YYQRS YYQZ YYWEEKU YYWEEKV YYWEEKW B8601DA
E8601DA IS8601DA ND8601DA HDATE HEBDATE MINGUO NENGO NLDATE NLDATEL NLDATEMN NLDATEYQ NLDATEW
XYYMMDD EURDFDD EURDFDE EURDFDN EURDFDWN EURDFMN EURDFMY EURDFWDX EURDFWKX DEUDFWDX FRADFDE NLDDFDE
JDATEYMD JDATEMDW JNENGO JNENGOW
"""
MOMENTS = """
DATETIME DATEAMPM MDYAMPM DTDATE DTMONYY DTWKDATX DTYEAR DTYYQC B8601DT B8601DN B8601DX B8601DZ
B8601LX E8601DT E8601DN E8601DX E8601DZ E8601LX IS8601DN IS8601DT IS8601DZ NLDATM NLDATMTM NLDATMTZ
NLDATMZ NLDATMYQ EURDFDT DEUDFDT JDATEYT JNENGOTW TWMDY
"""
TIMES = """
TIME TIMEAMPM TOD HHMM HOUR MMSS B8601TM B8601TZ B8601TX B8601LZ E8601TM E8601TZ E8601TX E8601LZ
IS8601TM IS8601TZ IS8601LZ NLTIME NLTIMAP JTIMEH JTIMEHMS JTIMESW
"""
OTHERS = """
BEST BESTD F Z COMMA COMMAX DOLLAR DOLLARX EURO EUROX EURFRDEM EURTOATS NUMX PERCENT PERCENTN
NEGPAREN HEX BINARY OCTAL IB IBR PIB PIBR RB PD PK ZD VMSZN ROMAN WORDS WORDF FRACT SSN YEN PVALUE
SIZEKB VAXRB FLOAT IEEE IEEER S370FPD NLBEST NLNUM NLNUMI NLMNLEUR NLMNIUSD NLPCT NLPCTP NLPVALUE
NLSTRMON NLSTRQTR $CHAR $UPCASE $ASCII $EBCDIC $VARYING $QUOTE $REVERJ $REVERS $MSGCASE $BASE64X
$UTF8X $UCS2B $UCS4LE $UESC $UNCRE $UPAREN $N8601B $N8601EX $BIDI $CPTDW $KANJI $KANJIX $LOGVS
$VSLOGR $HEX $OCTAL $BINARY $F
"""


@pytest.mark.parametrize(
    ("kind", "names"),
    [(Kind.DATE, DATES), (Kind.DATETIME, MOMENTS), (Kind.TIME, TIMES), (Kind.NUMBER, OTHERS)],
)
def test_formats_of_sas_show_what_they_are_made_for(kind: Kind, names: str) -> None:
    for name in names.split():
        for display in (name, f"{name}10", f"{name}12.3", name.lower()):
            assert kind_of("sas7bdat", display) is kind, display
        assert not is_own_format(name), name


def test_other_formats_were_made_for_labels() -> None:
    for name in ("SEXF", "$TOWN", "WEEKDAT", "DATES", "AGEGRP", "DEUDF", "$YESNO", "DTX", "YYQX"):
        assert is_own_format(name), name
        assert kind_of("sas7bdat", name) is Kind.NUMBER


def test_columns_of_those_formats_are_read_as_dates_moments_and_times(tmp_path: Path) -> None:
    day, noon = bytes.fromhex("4455F00000000000"), bytes.fromhex("44A8C00000000000")
    moment = bytes.fromhex("486D4055C0000000")
    columns = [
        (b"A", True, 8, b"WEEKDATE"), (b"B", True, 8, b"WORDDATE"), (b"C", True, 8, b"E8601LZ"),
        (b"D", True, 8, b"DTMONYY"), (b"E", True, 8, b"SEXF"),
    ]  # fmt: skip
    rows = day + day + noon + moment + day
    found = head(_file(tmp_path / "p.xpt", _table(columns, rows, b"T")))
    kinds = [variable.kind for variable in found.variables]
    assert kinds == [Kind.DATE, Kind.DATE, Kind.TIME, Kind.DATETIME, Kind.NUMBER]
    assert found.head[0] == ("2020-03-26", "2020-03-26", "12:00:00", "2018-01-30 12:00:00", "22000")
    assert found.notes[0].startswith("The value labels of `E` are in a catalogue")


def test_a_format_that_a_transport_file_has_no_room_for_is_none_of_it() -> None:
    assert shows("sas7bdat", "NLDATEMDL20", Kind.DATE)
    assert not shows("xpt", "NLDATEMDL20", Kind.DATE)
    assert shows("xpt", "WEEKDATE29", Kind.DATE)
