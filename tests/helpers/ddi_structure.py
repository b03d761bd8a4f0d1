"""The structure of DDI Codebook 2.5 for the elements that DPDesk writes, and a check of it.

Written after ``codebook.xsd`` (DDI Alliance, 2012-01-17): for each element its children in their
order, the ones that come once at most, the attributes with what they may be. Identifiers must be
unique and references must lead to one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

NAMESPACE = "{ddi:codebook:2_5}"
_GLOBAL = {"ID", "{http://www.w3.org/XML/1998/namespace}lang"}
_SCHEMA_PLACE = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Rule:
    """Children in order (a ``+`` after those that may be repeated, ``!`` after required ones)."""

    children: str = ""
    attributes: str = ""
    text: bool = False


RULES = {
    "codeBook": Rule("docDscr+ stdyDscr+! fileDscr+ dataDscr+ otherMat+", "version"),
    "docDscr": Rule("citation guide docStatus docSrc+ controlledVocabUsed+ notes+"),
    "stdyDscr": Rule("citation+! studyAuthorization+ stdyInfo+ studyDevelopment+ method+"),
    "citation": Rule("titlStmt! rspStmt prodStmt distStmt serStmt+ verStmt+ biblCit holdings+"),
    "titlStmt": Rule("titl! subTitl+ altTitl+ parTitl+ IDNo+"),
    "prodStmt": Rule("producer+ copyright prodDate+ prodPlac+ software+ fundAg+ grantNo+"),
    "stdyInfo": Rule("studyBudget subject+ abstract+ sumDscr+ qualityStatement+ notes+"),
    "sumDscr": Rule("timePrd+ collDate+ nation+ geogCover+ anlyUnit+ universe+ dataKind+"),
    "method": Rule("dataColl+ notes+ anlyInfo stdyClas dataProcessing+ codingInstructions+"),
    "fileDscr": Rule("fileTxt+ locMap notes+", "URI"),
    "fileTxt": Rule("fileName fileCitation fileCont fileStrc dimensns fileType format filePlac"),
    "dimensns": Rule("caseQnty+ varQnty+ logRecL+ recPrCas+ recNumTot+"),
    "dataDscr": Rule("varGrp+ nCubeGrp+ var+ nCube+ notes+"),
    "var": Rule(
        "location+ labl+ imputation security embargo respUnit anlysUnit qstn+ valrng+ invalrng+ "
        "undocCod+ universe+ TotlResp sumStat+ txt+ stdCatgry+ catgryGrp+ catgry+ codInstr+ "
        "verStmt+ concept+ derivation varFormat geoMap+ catLevel+ notes+",
        "name! files intrvl=contin|discrete nature=nominal|ordinal|interval|ratio|percent|other "
        "catQnty",
    ),
    "nCube": Rule(
        "location+ labl+ txt+ universe+ imputation security embargo respUnit anlysUnit verStmt+ "
        "purpose dmns+ measure+ notes+",
        "name dmnsQnty cellQnty",
    ),
    "invalrng": Rule("item+ range+ key notes+"),
    "catgry": Rule("catValu labl+ txt+ catStat+ mrow", "missing=Y|N"),
    "dmns": Rule("cohort+", "rank varRef"),
    "measure": Rule("", "aggrMeth=sum|average|count|other"),
    "location": Rule("", "StartPos fileid"),
    "item": Rule("", "VALUE! UNITS=INT|REAL"),
    "range": Rule("", "UNITS=INT|REAL min max"),
    "otherMat": Rule("labl+ txt notes+", "level! URI type"),
    "sumStat": Rule("", "type=mean|medn|mode|vald|invd|min|max|stdev|other", True),
    "catStat": Rule("", "type=freq|percent|crosstab|other", True),
    "varFormat": Rule(
        "",
        "type=numeric|character category=date|time|currency|other formatname "
        "schema=SAS|SPSS|IBM|ANSI|ISO|XML-Data|other",
        True,
    ),
    "notes": Rule("", "type", True),
    "dataProcessing": Rule("", "type", True),
    "prodDate": Rule("", "date", True),
    "software": Rule("", "version", True),
    "fileType": Rule("", "charset", True),
} | {
    name: Rule(text=True)
    for name in (
        "titl", "IDNo", "abstract", "dataKind", "fileName", "caseQnty", "varQnty", "format", "labl",
        "txt", "catValu",
    )
}  # fmt: skip


def faults(document: bytes) -> list[str]:
    """What of a document is not as the schema wants it; empty for a good one."""
    root = Xml.fromstring(document)
    found = [] if root.tag == f"{NAMESPACE}codeBook" else [f"root is {root.tag}"]
    if root.get("version") != "2.5":
        found.append("version is not 2.5")
    for element in root.iter():
        found += _element(element)
    return found + _references(root)


def _element(element: Xml.Element) -> list[str]:
    name = element.tag.removeprefix(NAMESPACE)
    rule = RULES.get(name)
    if rule is None:
        return [f"<{name}> is unknown"]
    found = [f"<{name}>: {fault}" for fault in _children(element, rule)]
    found += [f"<{name}>: {fault}" for fault in _attributes(element, rule)]
    if not rule.text and (element.text or "").strip():
        found.append(f"<{name}>: has text")
    return found


def _children(element: Xml.Element, rule: Rule) -> list[str]:
    order = [word.rstrip("+!") for word in rule.children.split()]
    names = [child.tag.removeprefix(NAMESPACE) for child in element]
    unknown = [f"<{name}> does not belong here" for name in names if name not in order]
    if unknown:
        return unknown
    places = [order.index(name) for name in names]
    found = [] if places == sorted(places) else ["children are out of order"]
    for word in rule.children.split():
        name = word.rstrip("+!")
        if "+" not in word and names.count(name) > 1:
            found.append(f"<{name}> comes twice")
        if "!" in word and name not in names:
            found.append(f"<{name}> is missing")
    return found


def _attributes(element: Xml.Element, rule: Rule) -> list[str]:
    allowed = {word.split("=")[0].rstrip("!"): word for word in rule.attributes.split()}
    found = []
    for key, value in element.attrib.items():
        if key in _GLOBAL or key == _SCHEMA_PLACE:
            continue
        word = allowed.get(key)
        if word is None:
            found.append(f"attribute {key} does not belong here")
        elif "=" in word and value not in word.split("=")[1].split("|"):
            found.append(f"attribute {key} is {value}")
    required = [key for key, word in allowed.items() if word.endswith("!")]
    return found + [f"attribute {key} is missing" for key in required if key not in element.attrib]


def _references(root: Xml.Element) -> list[str]:
    identifiers = [one.get("ID", "") for one in root.iter() if "ID" in one.attrib]
    found = [f"ID {name} is no name" for name in identifiers if not _NAME.fullmatch(name)]
    if len(set(identifiers)) < len(identifiers):
        found.append("an ID comes twice")
    for element in root.iter():
        for key in ("files", "fileid", "varRef"):
            names = element.get(key, "").split()
            found += [f"{key} {name} leads nowhere" for name in names if name not in identifiers]
    return found
