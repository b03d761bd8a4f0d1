"""The codebook of a released cube: dimensions as variables, every table as an nCube.

Nothing in it depends on data: categories are those of the plan's domain, and errors follow from the
noise alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from xml.etree import ElementTree as Xml

from dpdesk.core.labels import Variable
from dpdesk.core.release import Manifest
from dpdesk.io.ddi.document import (
    FileContent,
    codebook_bytes,
    nature,
    new_codebook,
    put,
    put_about,
    put_file,
    put_invalid,
)
from dpdesk.io.sdmx.cubes import CubeTable, SdmxCube

_METHODS = ("sum", "average", "count")


def cube_codebook(manifest: Manifest, method: str, cube: SdmxCube) -> bytes:
    """The document; ``method`` is the method's name for people."""
    root = new_codebook(manifest, method, "Aggregate data, with random noise")
    for number, table in enumerate(cube.tables, 1):
        sha256 = manifest.files[table.file].sha256
        content = FileContent(table.file, _cells(cube, table), len(table.dimensions) + 1, sha256)
        put_file(root, f"F{number}", content)
    described = put(root, "dataDscr")
    numbers = {name: f"V{place}" for place, name in enumerate(cube.domain.dimensions, 1)}
    for name, identifier in numbers.items():
        _dimension(described, cube, name, identifier)
    for number, table in enumerate(cube.tables, 1):
        _table(described, cube, table, number, numbers)
    put_about(root)
    return codebook_bytes(root)


def _cells(cube: SdmxCube, table: CubeTable) -> int:
    sizes = dict(zip(cube.domain.dimensions, cube.domain.shape, strict=True))
    return prod(sizes[name] for name in table.dimensions)


def _dimension(parent: Xml.Element, cube: SdmxCube, name: str, identifier: str) -> None:
    place = cube.domain.dimensions.index(name)
    categories = cube.domain.categories[place]
    variable = cube.book.get(name) or Variable(name)
    files = [
        f"F{number}" for number, table in enumerate(cube.tables, 1) if name in table.dimensions
    ]
    found = put(
        parent, "var", ID=identifier, name=name, intrvl="discrete", catQnty=str(len(categories)),
        **({"files": " ".join(files)} if files else {}), **nature(variable),
    )  # fmt: skip
    if variable.label:
        put(found, "labl", variable.label)
    put_invalid(found, variable.missing)
    for text in categories:
        missing = variable.missing.holds(text)
        category = put(found, "catgry", **({"missing": "Y"} if missing else {}))
        put(category, "catValu", text)
        label = variable.value_labels.get(text, "")
        if label:
            put(category, "labl", label)
    put(found, "varFormat", type="character")


def _table(
    parent: Xml.Element, cube: SdmxCube, table: CubeTable, number: int, numbers: Mapping[str, str]
) -> None:
    name = " × ".join(table.dimensions) or "grand total"
    found = put(
        parent, "nCube", ID=f"N{number}", name=name, dmnsQnty=str(len(table.dimensions)),
        cellQnty=str(_cells(cube, table)),
    )  # fmt: skip
    put(found, "location", fileid=f"F{number}")
    put(found, "labl", f"{table.measure} by {name}" if table.dimensions else table.measure)
    put(found, "txt", _error_words(cube, table))
    for rank, dimension in enumerate(table.dimensions, 1):
        put(found, "dmns", rank=str(rank), varRef=numbers[dimension])
    how = next((word for word in _METHODS if table.measure.startswith(word)), None)
    put(found, "measure", **({} if how is None else {"aggrMeth": how}))


def _error_words(cube: SdmxCube, table: CubeTable) -> str:
    if table.exact:
        return "Published without noise: these numbers are not protected."
    if table.error is None:
        return "The error of an average depends on the number that it is of; see about.html."
    text = f"Standard error of the noise in a cell{cube.before}: {table.error:.6g}."
    if table.exact_cells:
        text += f" {len(table.exact_cells)} of the cells have no noise and are not protected."
    return text
