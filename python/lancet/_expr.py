"""Conditions on rows: `col("x") > 3`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Union

    #: What `filter` takes: conditions of `col`, or tuples as pyarrow has them.
    FilterLike = Union["Expr", Sequence[tuple[str, str, Any]], Sequence[Sequence[tuple[str, str, Any]]]]

__all__ = ["Col", "Expr", "col"]


class Expr:
    """A condition on rows. Join them by `&` and `|`, turn them by `~`.

    >>> large = (lancet.col("population") > 1_000_000) & ~lancet.col("name").is_null()
    >>> large
    ((population > 1000000) & ~(name is null))

    A condition that is null, because a value is, does not hold.
    """

    __slots__ = ("_tree",)
    _tree: tuple[Any, ...]

    def __init__(self, tree: tuple[Any, ...]) -> None:
        self._tree = tree

    def __and__(self, other: Expr) -> Expr:
        return _join("and", self, other)

    def __or__(self, other: Expr) -> Expr:
        return _join("or", self, other)

    def __invert__(self) -> Expr:
        return Expr(("not", self._tree))

    def __bool__(self) -> bool:
        raise TypeError("a condition is neither true nor false; join conditions by & and |, turn them by ~, in parentheses")

    def __repr__(self) -> str:
        return _shown(self._tree)


class Col(Expr):
    """A column in a condition; `lancet.col` makes one. A column of booleans is a condition by itself."""

    __slots__ = ("name",)
    #: The name; nested ones have dots.
    name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a column is a text, not a value of type {type(name).__name__}")
        super().__init__(("true", name))
        self.name = name

    #: `list(col("x"))` would go on for ever, asking for one field after the other.
    __iter__ = None

    def __getitem__(self, field: str) -> Col:
        """A field of a struct."""
        if not isinstance(field, str):
            raise TypeError(f"the name of a field is a text, not a value of type {type(field).__name__}")
        return Col(f"{self.name}.{field}")

    def _compare(self, op: str, value: Any) -> Expr:
        if isinstance(value, Expr):
            raise TypeError("a column is compared with a value, not with another column")
        if value is None:
            raise ValueError("nothing compares with None; use `is_null()` or `is_not_null()`")
        return Expr(("compare", self.name, op, literal(value)))

    def __eq__(self, value: object) -> Expr:  # type: ignore[override]
        return self._compare("=", value)

    def __ne__(self, value: object) -> Expr:  # type: ignore[override]
        return self._compare("!=", value)

    def __lt__(self, value: Any) -> Expr:
        return self._compare("<", value)

    def __le__(self, value: Any) -> Expr:
        return self._compare("<=", value)

    def __gt__(self, value: Any) -> Expr:
        return self._compare(">", value)

    def __ge__(self, value: Any) -> Expr:
        return self._compare(">=", value)

    def __hash__(self) -> int:
        return hash(self.name)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """The value is one of these."""
        if isinstance(values, (str, bytes, Expr)) or not hasattr(values, "__iter__"):
            raise TypeError(f"a column is one of several values: give a list of them, not a value of type {type(values).__name__}")
        return Expr(("in", self.name, [literal(value) for value in values]))

    def between(self, low: Any, high: Any) -> Expr:
        """The value is one of those from `low` to `high`, both among them."""
        return self._compare(">=", low) & self._compare("<=", high)

    def is_null(self) -> Expr:
        """There is no value."""
        return Expr(("null", self.name))

    def is_not_null(self) -> Expr:
        """There is a value."""
        return ~self.is_null()

    def starts_with(self, prefix: str | bytes) -> Expr:
        """The text, or the bytes, begin with these."""
        if not isinstance(prefix, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a column starts with a text or with bytes, not with a value of type {type(prefix).__name__}")
        return Expr(("prefix", self.name, prefix.encode() if isinstance(prefix, str) else bytes(prefix)))

    def __repr__(self) -> str:
        return self.name


def col(name: str) -> Col:
    """A column, to compare it with something. Nested fields are named with dots.

    >>> lancet.open("cities.lance").count(lancet.col("population") > 1_000_000)
    2
    """
    return Col(name)


def _join(how: str, one: Expr, other: Expr) -> Expr:
    if not isinstance(other, Expr):
        raise TypeError(f"conditions are joined with conditions, not with a value of type {type(other).__name__}")
    # Long chains do not nest.
    parts: list[Any] = []
    for tree in (one._tree, other._tree):
        parts.extend(tree[1] if tree[0] == how else [tree])
    return Expr((how, parts))


def _shown(tree: tuple[Any, ...]) -> str:
    kind = tree[0]
    if kind in ("and", "or"):
        return "(" + (" & " if kind == "and" else " | ").join(map(_shown, tree[1])) + ")"
    if kind == "not":
        return "~" + _shown(tree[1])
    if kind == "compare":
        return f"({tree[1]} {tree[2]} {_value(tree[3])})"
    if kind == "in":
        return f"({tree[1]} in [{', '.join(map(_value, tree[2]))}])"
    if kind == "prefix":
        return f"({tree[1]} starts with {tree[2]!r})"
    if kind == "null":
        return f"({tree[1]} is null)"
    return str(tree[1])


def _value(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else repr(value)


def literal(value: Any) -> Any:
    """A value as the extension module takes it: see `literals.rs`."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("M", "m"):
        return _numpy_time(value, kind)
    if getattr(value, "ndim", 0) > 0:
        raise TypeError(f"a column is compared with one value, not with a value of type {type(value).__name__}; use `is_in`")
    if hasattr(value, "as_py"):
        return _arrow_scalar(value)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return literal(value.item())
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    import datetime as dt
    from decimal import Decimal

    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("columns do not compare with a decimal that is no number")
        return ("decimal", f"{value:f}")
    if isinstance(value, (dt.datetime, dt.timedelta)) and hasattr(value, "asm8"):
        # Those of pandas, which have nanoseconds beside what Python's have.
        found = _numpy_time(value.asm8, value.asm8.dtype.kind)
        is_aware = isinstance(value, dt.datetime) and value.tzinfo is not None
        return (*found[:3], True) if is_aware else found
    micro = dt.timedelta(microseconds=1)
    if isinstance(value, dt.datetime):
        zone = None if value.tzinfo is None else dt.timezone.utc
        return ("timestamp", (value - dt.datetime(1970, 1, 1, tzinfo=zone)) // micro, "us", zone is not None)
    if isinstance(value, dt.date):
        return ("date", value.toordinal() - dt.date(1970, 1, 1).toordinal())
    if isinstance(value, dt.timedelta):
        return ("duration", value // micro, "us")
    if isinstance(value, dt.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return ("time", seconds * 1_000_000 + value.microsecond, "us")
    if hasattr(value, "__index__"):
        return value.__index__()
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"columns neither hold nor compare with a value of type {type(value).__name__}")


def _arrow_scalar(value: Any) -> Any:
    """A scalar of pyarrow; objects of Python would lose the nanoseconds of times."""
    kind, _, rest = str(getattr(value, "type", "")).partition("[")
    if not rest or getattr(value, "value", None) is None:
        return literal(value.as_py())
    unit = value.type.unit
    if kind == "timestamp":
        return ("timestamp", value.value, unit, value.type.tz is not None)
    if kind in ("duration", "time32", "time64"):
        return ("duration" if kind == "duration" else "time", value.value, unit)
    return literal(value.as_py())


def _numpy_time(value: Any, kind: str) -> Any:
    unit = value.dtype.name.partition("[")[2].rstrip("]")
    is_date = kind == "M" and unit in ("Y", "M", "W", "D")
    if is_date:
        value = value.astype("M8[D]")
    elif unit not in ("s", "ms", "us", "ns"):
        unit, value = "s", value.astype(f"{kind}8[s]")
    number = int(value.astype("i8"))
    if number == -(2**63):
        raise ValueError("nothing compares with NaT; use `is_null()` or `is_not_null()`")
    if is_date:
        return ("date", number)
    return ("timestamp", number, unit, False) if kind == "M" else ("duration", number, unit)


def tree_of(condition: FilterLike) -> tuple[Any, ...]:
    """What the extension module takes, of all that `filter` takes."""
    if isinstance(condition, Expr):
        return condition._tree
    if isinstance(condition, tuple) and len(condition) == 3 and isinstance(condition[0], str):
        return _of_tuple(condition)
    if isinstance(condition, (list, tuple)):
        if not condition:
            return ("and", [])
        if all(isinstance(part, tuple) and len(part) == 3 and isinstance(part[0], str) for part in condition):
            return ("and", [_of_tuple(part) for part in condition])
        return ("or", [tree_of(part) for part in condition])
    kind = type(condition)
    raise TypeError(
        f'a filter is a condition like lancet.col("x") > 3, or a list of tuples like [("x", ">", 3)], '
        f"not a value of type {kind.__name__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__name__}'}"
    )


def _of_tuple(condition: tuple[str, str, Any]) -> tuple[Any, ...]:
    name, op, value = condition
    if op == "in":
        return col(name).is_in(value)._tree
    if op == "not in":
        return (~col(name).is_in(value))._tree
    return col(name)._compare(op, value)._tree
