"""The ``query`` of a source, as the database's own parser takes it, and what may stand in it.

A query is one SELECT over the table ``data``. What it may hold is listed here, and everything else
is refused: a part that this page does not know could read another file, or give other rows the next
time. The database in which it runs refuses the first as well (:mod:`dpdesk.io.row_query`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import one_of
from dpdesk.core.schema import form
from dpdesk.core.shapes import read_json
from dpdesk.io.database import in_memory

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DATA = "data"
"""The name of the table in a query."""
_NODES = ("SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE")
_TABLES = ("BASE_TABLE", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST")
_MODIFIERS = ("ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER")
_ORDERS = ("ORDER_DEFAULT", "ASCENDING", "DESCENDING")
_EXPRESSIONS = (
    *("COLUMN_REF", "CONSTANT", "CAST", "TYPE", "STAR", "COMPARISON", "CONJUNCTION", "OPERATOR"),
    *("BETWEEN", "CASE", "FUNCTION", "WINDOW", "SUBQUERY", "COLLATE"),
)
_FUNCTIONS = frozenset(
    (
        "+", "-", "*", "/", "//", "%", "**", "^", "||", "~~", "!~~", "~~*", "!~~*", "~~~", "&",
        "|", "~", "<<", ">>", "abs", "ceil", "ceiling", "floor", "round", "trunc", "sign", "sqrt",
        "exp", "ln", "log", "log10", "log2", "mod", "pow", "power", "greatest", "least", "lower",
        "upper", "lcase", "ucase", "trim", "ltrim", "rtrim", "length", "len", "strlen", "substr",
        "substring", "left", "right", "replace", "concat", "concat_ws", "contains", "starts_with",
        "ends_with", "prefix", "suffix", "instr", "strpos", "position", "lpad", "rpad", "reverse",
        "repeat", "split_part", "regexp_matches", "regexp_full_match", "regexp_replace",
        "regexp_extract", "like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape",
        "nfc_normalize", "strip_accents", "translate", "nullif", "if", "row", "date_part",
        "datepart", "date_trunc", "date_diff", "datediff", "date_sub", "date_add", "year",
        "month", "day", "quarter", "week", "dayofweek", "dayofyear", "isodow", "isoyear", "hour",
        "minute", "second", "last_day", "make_date", "strptime", "try_strptime", "strftime",
        "epoch", "to_days", "to_weeks", "to_months", "to_years", "count", "count_star",
        "count_if", "countif", "sum", "avg", "mean", "min", "max", "median", "mode", "stddev",
        "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "quantile",
        "quantile_cont", "quantile_disc", "bool_and", "bool_or", "string_agg", "first", "last",
        "any_value", "arg_min", "arg_max", "min_by", "max_by", "row_number", "rank", "dense_rank",
        "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
        "nth_value",
    )
)  # fmt: skip
"""Functions that give the same for the same rows, and know nothing but them."""
_MOMENTS = frozenset(
    (
        "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
        "current_user", "current_role", "session_user", "user", "current_catalog",
        "current_schema",
    )
)  # fmt: skip
_UNEQUAL = (
    *("COMPARE_LESSTHAN", "COMPARE_GREATERTHAN"),
    *("COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHANOREQUALTO"),
)
_NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*")
_LONGEST_SHOWN = 60
_HINT = "A query is one SELECT over the table `data`, such as SELECT * FROM data WHERE sex = 'm'."

_PLAIN_NODE = {"alias": "", "query_location": 0}

Node = Mapping[str, Any]


@dataclass(frozen=True)
class QueryTree:
    """A query that was read; ``statement`` is its tree as the database's parser tells it."""

    text: str
    statement: Node

    @property
    def _node(self) -> Node:
        node: Node = self.statement["node"]
        return node

    @cached_property
    def named(self) -> frozenset[str]:
        """Every name that stands where that of a column may stand, in small letters."""
        return frozenset(name for parts in self._refs for name in parts)

    @cached_property
    def _refs(self) -> tuple[tuple[str, ...], ...]:
        """The parts of every name that stands where that of a column may stand."""
        refs = (node for node in walk(self._node) if node.get("class") == "COLUMN_REF")
        return tuple(tuple(map(folded, ref["column_names"])) for ref in refs)

    @cached_property
    def _tables(self) -> frozenset[str]:
        """What the tables of the query are called in it."""
        tables = [node for node in walk(self._node) if node.get("type") in _TABLES]
        called = (table.get(key) for table in tables for key in ("table_name", "alias"))
        return frozenset(folded(name) for name in called if name)

    @property
    def is_filter(self) -> bool:
        """Whether each row is kept or left out by its own values alone.

        Nothing else of the table decides: no order, no limit, no other row in a subquery, a window
        or an aggregate, which a condition on rows cannot hold in any case.
        """
        return self._selects_columns and not self._node["modifiers"] and self._by_own_values

    @property
    def keeps_rows(self) -> bool:
        """Whether the result consists of rows of the table, each at most once, as they are."""
        ordered = all(map(_orders_by_columns, self._node["modifiers"]))
        renamed = any(item["alias"] for item in self._node["select_list"])
        return self._selects_columns and ordered and not (renamed and self._node["modifiers"])

    @property
    def _by_own_values(self) -> bool:
        where = self._node["where_clause"]
        return not any(node.get("class") in ("SUBQUERY", "WINDOW") for node in walk(where))

    @property
    def _selects_columns(self) -> bool:
        node = self._node
        unused = ("group_expressions", "group_sets", "having", "sample", "qualify")
        return (
            node["type"] == "SELECT_NODE"
            and node["from_table"]["type"] == "BASE_TABLE"
            and not node["cte_map"]["map"]
            and not any(node[key] for key in unused)
            and node["aggregate_handling"] == "STANDARD_HANDLING"
            and all(map(_is_column, node["select_list"]))
            and not any(map(_is_whole, walk([node["from_table"], node["where_clause"]])))
        )

    def takes_rows_whole(self, names: Sequence[str]) -> bool:
        """Whether the name of a table stands for all of its columns, where it is none of them."""
        tables = self._tables - {folded(name) for name in names}
        return any(parts[0] in tables for parts in self._refs if len(parts) == 1)

    def columns(self, names: Sequence[str], file: str) -> list[tuple[int, str]]:
        """The places in ``names`` of the columns that are selected, each with its new name.

        For a query that :attr:`keeps_rows`. Raises InputError ``source.query`` for another name.
        """
        found: list[tuple[int, str]] = []
        for item in self._node["select_list"]:
            if item["class"] == "STAR":
                left_out = {folded(name) for name in item["exclude_list"]}
                unknown = left_out - {folded(name) for name in names}
                if unknown:
                    raise unknown_column(min(unknown), names, file)
                found += [(j, name) for j, name in enumerate(names) if folded(name) not in left_out]
            else:
                wanted = item["column_names"][-1]
                place = place_of(wanted, names, file)
                found.append((place, item["alias"] or names[place]))
        return found

    def check_names(self, names: Sequence[str], file: str) -> None:
        """Raise InputError ``source.query`` for a name that no column has.

        The name of the table is none: it would stand for all columns. Where a subquery gives names
        of its own, the database finds out by itself.
        """
        if self._by_own_values:
            columns = {folded(name) for name in names}
            before = {name for parts in self._refs for name in parts[:-1]}
            wanted = {parts[-1] for parts in self._refs}
            for name in sorted((before - self._tables | wanted) - columns):
                raise unknown_column(name, names, file)

    def spelled_as(self, names: Sequence[str]) -> QueryTree:
        """The query with the names of columns as these are written, in whatever Unicode form."""
        exact = {folded(name) for name in names}
        by_form = {form(folded(name)): name for name in reversed(names)}
        if all(name in exact or form(name) not in by_form for name in self.named):
            return self

        def spelled(name: str) -> str:
            return name if folded(name) in exact else by_form.get(form(folded(name)), name)

        def changed(tree: Any) -> Any:
            if isinstance(tree, list):
                return [changed(item) for item in tree]
            if not isinstance(tree, Mapping):
                return tree
            found = {key: changed(item) for key, item in tree.items()}
            if tree.get("class") == "COLUMN_REF":
                found["column_names"] = [spelled(name) for name in tree["column_names"]]
            return found

        statement = changed(self.statement)
        return QueryTree(_in_sql(statement), statement)

    def check_moments(self, names: Sequence[str], file: str) -> None:
        """Raise InputError ``source.query`` for a column that would be the time or the user.

        In quotes these are names of columns, but where no column is called so the database would
        take them for what differs from run to run.
        """
        lost = (self.named & _MOMENTS) - {folded(name) for name in names}
        if lost:
            raise unknown_column(min(lost), names, file)

    @property
    def selects_all(self) -> bool:
        """Whether the query selects every column, as it is."""
        items = self._node["select_list"]
        return len(items) == 1 and _is_star(items[0]) and not items[0]["exclude_list"]

    def trying(self, column: str) -> str:
        """The query that selects ``column`` of the rows whose condition can be computed and holds.

        For a query that :attr:`is_filter`.
        """
        where = self._node["where_clause"]
        # Without the cast in here a condition that is a text would be cast outside, untried.
        decided = {
            **_PLAIN_NODE,
            "class": "CAST",
            "type": "OPERATOR_CAST",
            "child": where,
            "cast_type": {"id": "BOOLEAN", "type_info": None},
            "try_cast": False,
        }
        tried = {**_PLAIN_NODE, "class": "OPERATOR", "type": "OPERATOR_TRY", "children": [decided]}
        return self._changed(column, {} if where is None else {"where_clause": tried})

    def selecting(self, column: str) -> str:
        """The query that selects ``column`` of the same rows in the same order, in SQL."""
        return self._changed(column, {})

    def _changed(self, column: str, parts: Node) -> str:
        selected = {
            **_PLAIN_NODE,
            "class": "COLUMN_REF",
            "type": "COLUMN_REF",
            "column_names": [column],
        }
        statement = {**self.statement, "node": {**self._node, **parts, "select_list": [selected]}}
        return _in_sql(statement)


def read_query(text: str, where: str) -> QueryTree:
    """Read a query and check what it holds; needs no data.

    ``where`` names the plan or the file. Raises InputError ``source.query``.
    """
    statement = one_select(text, where)
    tree = QueryTree(text, statement)
    for fault in _faults(statement["node"], text.encode()):
        raise refused(where, fault)
    return tree


def one_select(text: str, where: str) -> Node:
    """The tree of the one SELECT that a text holds. Raises InputError ``source.query``."""
    tree: Node = read_json(str(_parser("json_serialize_sql(?)", text)))
    if tree["error"]:
        said = " ".join(str(tree.get("error_message", "")).split())
        syntax = tree.get("error_type") == "parser"
        raise refused(
            where,
            msg("it cannot be read ({said})", said=said) if syntax else "it is not one SELECT",
        )
    if len(tree["statements"]) != 1:
        raise refused(where, msg("it holds {n} statements", n=len(tree["statements"])))
    statement: Node = tree["statements"][0]
    return statement


def _in_sql(statement: Node) -> str:
    whole = json.dumps({"error": False, "statements": [statement]})
    return str(_parser("json_deserialize_sql(CAST(? AS JSON))", whole))


@cache
def _parsing() -> DuckDBPyConnection:
    """The database whose parser reads all queries of this process: to open one takes far longer."""
    return in_memory()


def _parser(call: str, text: str) -> object:
    with _parsing().cursor() as cursor:  # threads may not share a connection
        found = cursor.execute(f"SELECT {call}", [text]).fetchone()
    return found[0] if found else None


def refused(where: str, fault: str, hint: str = _HINT) -> InputError:
    """The error for a query that is not run."""
    return InputError(
        "source.query",
        msg("{where}: the query is refused: {fault}.", where=where, fault=fault),
        hint=hint,
        details={"key": "query"},
    )


def unknown_column(name: str, names: Sequence[str], file: str) -> InputError:
    """The error for a column that the source does not have."""
    shown = one_of(tuple(names[:8])) + (", …" if len(names) > 8 else "")
    return InputError(
        "source.query",
        msg(
            "{file}: the query names the column `{name}`, which does not exist, expected {shown}.",
            file=file,
            name=name,
            shown=shown,
        ),
        hint=("Texts are written in single quotes, names of columns in double quotes or none."),
        details={"key": "query", "column": name},
    )


def place_of(wanted: str, names: Sequence[str], file: str) -> int:
    """The place of a column by its name, whatever its case, as SQL compares names.

    Raises InputError ``source.query`` for a name of none or of several columns.
    """
    places = [j for j, name in enumerate(names) if folded(name) == folded(wanted)]
    if not places:
        raise unknown_column(wanted, names, file)
    if len(places) > 1:
        several = " and ".join(f"`{names[place]}`" for place in places[:2])
        raise refused(
            file,
            msg(
                "the columns {several} differ only in case, which SQL ignores",
                several=several,
            ),
            "",
        )
    return places[0]


def folded(name: str) -> str:
    """A name as the database compares it: the letters of ASCII in small."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in name)


def walk(tree: object) -> Iterator[Node]:
    """Every node of a tree, from the outside in."""
    left: list[object] = [tree]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            yield item
            left += item.values()
        elif isinstance(item, list):
            left += item


def _faults(root: Node, text: bytes) -> Iterator[str]:
    """What a query may not hold, in words that end the sentence of :func:`refused`."""
    known = {DATA}
    for node in walk(root):
        for entry in node.get("cte_map", {}).get("map", ()):
            known.add(folded(entry["key"]))
    for node in walk(root):
        yield from _table_faults(node, known)
        yield from _expression_faults(node, text)
        if any(node.get(key) for key in ("sample", "at_clause")):
            yield "it draws rows at random, so the next run would give others"


def _table_faults(node: Node, known: set[str]) -> Iterator[str]:
    kind = str(node.get("type", ""))
    if "class" in node or not kind.isupper():
        return
    if kind == "BASE_TABLE":
        named = [node[key] for key in ("catalog_name", "schema_name") if node[key]]
        name = ".".join([*named, node["table_name"]])
        if named or folded(name) not in known:
            yield msg(
                "it reads `{table}`, expected the table `{data}`", table=_cut(name), data=DATA
            )
    elif "from_table" in node or kind.endswith("_NODE"):
        if kind not in _NODES:
            yield msg("it holds {words}", words=_words(kind))
    elif kind not in (*_TABLES, *_MODIFIERS, *_ORDERS):
        yield msg("it holds {words}", words=_words(kind))


def _expression_faults(node: Node, text: bytes) -> Iterator[str]:
    kind = node.get("class")
    if kind is None:
        return
    if kind not in _EXPRESSIONS:
        yield msg("it holds {words}", words=_words(str(kind)))
    elif kind in ("FUNCTION", "WINDOW"):
        name = str(node["function_name"])
        if node["schema"] or node["catalog"] or name.lower() not in _FUNCTIONS:
            yield msg(
                "the function `{name}` is not among those that a query may use", name=_cut(name)
            )
    elif kind == "COLUMN_REF" and len(node["column_names"]) == 1:
        name = str(node["column_names"][0])
        place = int(node["query_location"])
        if folded(name) in _MOMENTS and text[place : place + 1] != b'"':
            yield msg(
                "`{name}` differs from run to run, expected a value that stays the same", name=name
            )
    elif kind == "COMPARISON" and node["type"] in _UNEQUAL:
        yield from _letter_by_letter((node["left"], node["right"]))
    elif kind == "BETWEEN":
        yield from _letter_by_letter((node["input"], node["lower"], node["upper"]))


def _letter_by_letter(parts: Sequence[Node]) -> Iterator[str]:
    """A column is compared with a number that stands in quotes: texts, in which 9 is above 10."""
    columns = [part for part in parts if part["class"] == "COLUMN_REF"]
    literals = [part["literal"] for part in parts if part["class"] == "CONSTANT"]
    texts = [str(literal["text"]) for literal in literals if literal["kind"] == "STRING"]
    for text in filter(_NUMBER.fullmatch, texts if columns else ()):
        name = columns[0]["column_names"][-1]
        yield (
            msg(
                "it compares the column `{name}` with the text '{text}' character by character, "
                "where 9 comes after 10; write CAST({again} AS DOUBLE) and the number without "
                "quotes",
                name=_cut(name),
                text=_cut(text),
                again=_quoted(name),
            )
        )


def _is_column(item: Node) -> bool:
    """Whether an item of a selection is a column as it is, or all columns but some."""
    if item["class"] == "COLUMN_REF":
        return True
    changes = ("replace_list", "rename_list", "columns", "expr", "qualified_exclude_list")
    return item["class"] == "STAR" and not any(item[key] for key in changes)


def _is_star(node: Node) -> bool:
    return node.get("class") == "STAR"


def _is_whole(node: Node) -> bool:
    """Whether a part means all columns of a table, or those at some places, by whatever name."""
    joined = node.get("type") == "JOIN" and "class" not in node
    return _is_star(node) or joined or bool(node.get("column_name_alias"))


def _orders_by_columns(modifier: Node) -> bool:
    """Whether a modifier means the same whatever columns are selected."""
    if modifier["type"] == "LIMIT_MODIFIER":
        return True
    if modifier["type"] != "ORDER_MODIFIER":
        return False
    return all(
        order["expression"]["class"] not in ("CONSTANT", "STAR")
        and not any(map(_is_star, walk(order["expression"])))
        for order in modifier["orders"]
    )


def _words(kind: str) -> str:
    return msg("`{replace}`, which a query may not hold", replace=kind.lower().replace("_", " "))


def _quoted(name: str) -> str:
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name)
    return name if plain else '"' + name.replace('"', '""') + '"'


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
