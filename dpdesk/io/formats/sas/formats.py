"""The display formats that SAS has itself, as "SAS Formats and Informats" and its volume on
national languages list them: which of them show dates, moments or times, and which other values.
"""

from __future__ import annotations

import re

from dpdesk.core.labels import Kind

_LANGUAGES = (
    "(AFR|CAT|CRO|CSY|DAN|DES|DEU|ENG|ESP|EUR|FIN|FRA|FRS|HUN|ITA|MAC|NLD|NOR|POL|PTG|RUS|SLO|SVE)"
)
_ISO = "([BE]|IS|ND)8601"
_WIDTH = r"[\d.]*"
_MOMENTS = (
    r"DATETIME|DATEAMPM|MDYAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|NLDATM\w*?|B8601DJ"
    rf"|{_ISO}(D[TZNX]|LX)|{_LANGUAGES}DFDT|J(DATEY|NENGO)TW?|TWMDY"
)
_DATES = (
    r"DATE|DAY|DDMMYY[BCDNPS]?|MMDDYY[BCDNPS]?|X?YYMMDD[BCDNPS]?|JULIAN|JULDAY|PDJUL[GI]|MONYY"
    r"|YYMM[CDNPS]?|MMYY[CDNPS]?|YYMON|YYQ[CDNPSZ]?|YYQR[CDNPS]?|QTRR?|YEAR|MONTH|MONNAME|DOWNAME"
    r"|WEEKDAY|WEEKDAT[EX]|WORDDAT[EX]|(YY)?WEEK[UVW]|NLDATE\w*?|HDATE|HEBDATE|MINGUO|NENGO"
    rf"|{_ISO}DA|{_LANGUAGES}DF(D[DEN]|DWN|MN|MY|WDX|WKX)|JNENGOW?"
    r"|JDATE(MD|MDW|MNW|MON|QRW|QTR|SEM|SMW|WK|YDW|YM|YMD|YMW)"
)
_TIMES = rf"TIME|TIMEAMPM|TOD|HHMM|HOUR|MMSS|NLTIM\w*?|{_ISO}(TM|TZ|TX|LZ)|JTIME(H|HM|HMS|HW|MW|SW)"
KINDS = tuple(
    (kind, f"({names}){_WIDTH}")
    for kind, names in ((Kind.DATETIME, _MOMENTS), (Kind.DATE, _DATES), (Kind.TIME, _TIMES))
)
"""Kinds of values, and patterns of the formats with widths that show them."""

_NUMBERS = (
    r"|F|BEST[DX]?|Z|COMMAX?|DOLLARX?|EUR(FR|TO)[A-Z]{3}|EUROX?|NUMX?|E|D|PERCENTN?|NEGPAREN|HEX"
    r"|BINARY|OCTAL|IBR?|PIBR?|RB|PD|PK|ZD|VMSZN|ROMAN|WORDS|WORDF|FRACT|SSN|YEN|PVALUE|SIZEK\w*"
    r"|VAXRB|FLOAT|IEEER?|S370\w*|ODDSR|STIMES|NLBEST|NLNUMI?|NLMN[IL]\w+|NLPCT[INP]?|NLPVALUE"
    r"|NLSTR(MON|QTR|WK)|RSTDO\w+"
)
_TEXTS = (
    r"|CHAR|UPCASE|ASIS|ASCII|EBCDIC|VARYING|QUOTE|REVERJ|REVERS|MSGCASE|BASE64X|UTF\w*|UCS[24]\w*"
    r"|UESCE?|UNCRE?|UPARENP?E?|UUID|N8601\w*|BIDI|SBIDI|CPTDW|CPTWD|CSTR|KANJIX?|(LOGVS|VSLOG)R?|W"
)
BUILT_IN = re.compile(rf"\$?({_NUMBERS}{_TEXTS})", re.IGNORECASE)
"""Formats, without their widths, of numbers that are no times, and of texts."""
