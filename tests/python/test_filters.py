"""Filters give exactly the rows that match: compared with Python, value by value."""

from __future__ import annotations

import datetime as dt
import enum
import operator
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import written

import lancet
from lancet import col

OPS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
DAY = dt.date(2024, 1, 1)
NOON = dt.datetime(2024, 1, 1, 12)
ZONED = NOON.replace(tzinfo=dt.timezone.utc)


def column(kind: str, rng: random.Random, count: int) -> tuple[pa.Array, list[Any]]:
    """A column of a kind, and values to compare it with."""

    def values(make: Any) -> list[Any]:
        return [None if rng.random() < 0.1 else make() for _ in range(count)]

    if kind == "int":
        return pa.array(values(lambda: rng.randint(-50, 50)), pa.int16()), [-51, 0, 7, 2.5, Decimal("-3.25"), 10**30, 2**63]
    if kind == "unsigned":
        return pa.array(values(lambda: rng.randint(0, 2**64 - 1)), pa.uint64()), [0, 2**63, 2**64 - 1, -1]
    if kind == "double":
        return pa.array(values(lambda: rng.choice([0.1, 0.5, -1.0, 3.0]))), [0.1, 0, 3, 0.30000000000000004]
    if kind == "text":
        return pa.array(values(lambda: rng.choice(["", "a", "ab", "b", "ä"]))), ["", "a", "aa", "z"]
    if kind == "bytes":
        return pa.array(values(lambda: rng.choice([b"", b"a", b"\xff"]))), [b"", b"a", bytearray(b"\xff")]
    if kind == "flag":
        return pa.array(values(lambda: rng.random() < 0.5)), [True, False]
    if kind == "day":
        return pa.array(values(lambda: DAY + dt.timedelta(days=rng.randint(-9, 9)))), [DAY, dt.date(1960, 1, 1)]
    if kind == "instant":
        made = values(lambda: NOON + dt.timedelta(seconds=rng.randint(-9, 9)))
        return pa.array(made, pa.timestamp("us")), [NOON, NOON + dt.timedelta(microseconds=1)]
    if kind == "zoned":
        made = values(lambda: ZONED + dt.timedelta(seconds=rng.randint(-9, 9)))
        return pa.array(made, pa.timestamp("s", "Europe/Zurich")), [ZONED, ZONED + dt.timedelta(microseconds=1)]
    if kind == "span":
        return pa.array(values(lambda: dt.timedelta(seconds=rng.randint(-9, 9)))), [dt.timedelta(0), dt.timedelta(seconds=-3)]
    if kind == "time":
        return pa.array(values(lambda: dt.time(rng.randint(0, 23)))), [dt.time(0), dt.time(12, 0, 0, 1)]
    assert kind == "price"
    return pa.array(values(lambda: Decimal(rng.randint(-99, 99)) / 10), pa.decimal128(6, 1)), [0, 1.5, Decimal("0.25"), 7]


KINDS = ["int", "unsigned", "double", "text", "bytes", "flag", "day", "instant", "zoned", "span", "time", "price"]


@pytest.mark.parametrize("kind", KINDS)
def test_filters_are_exact(kind: str) -> None:
    rng = random.Random(kind)
    array, others = column(kind, rng, 20_000)
    table = pa.table({"x": array, "row": np.arange(len(array))})
    file = lancet.open(written(table))
    values = array.to_pylist()
    compared = [value for value in others + [v for v in values[:3] if v is not None]]

    def check(condition: lancet.Expr, holds: Any) -> None:
        wanted = [row for row, value in enumerate(values) if value is not None and holds(value)]
        assert file.read(filter=condition, columns=["row"])["row"].to_pylist() == wanted, condition
        assert file.count(condition) == len(wanted)

    for other in compared:
        for op in OPS.values():
            check(op(col("x"), other), lambda value: op(value, other))
            check(~op(col("x"), other), lambda value: not op(value, other))
    check(col("x").is_in(compared), lambda value: value in compared)
    assert file.count(col("x").is_null()) == values.count(None)
    assert file.count(col("x").is_not_null()) == len(values) - values.count(None)


def test_conditions_of_conditions() -> None:
    rng = random.Random(7)
    rows = [{"a": rng.choice([None, *range(5)]), "b": rng.choice([None, "x", "y"])} for _ in range(9_000)]
    file = lancet.open(written(pa.Table.from_pylist(rows)))

    def three(value: bool | None) -> bool | None:
        return value

    for _ in range(40):
        number, letter = rng.randint(0, 4), rng.choice("xy")
        expr = ((col("a") > number) | (col("b") == letter)) & ~((col("a") == 2) & (col("b") != letter))

        def holds(row: dict[str, Any]) -> bool:
            # As in SQL: null is true or false, one does not know which.
            a, b = row["a"], row["b"]
            options_a = range(5) if a is None else [a]
            options_b = ["x", "y", "z"] if b is None else [b]
            null_a, null_b = a is None, b is None
            more = None if null_a else a > number
            same = None if null_b else b == letter
            one = True if more or same else (None if more is None or same is None else False)
            two_a = None if null_a else a == 2
            two_b = None if null_b else b != letter
            two = False if two_a is False or two_b is False else (None if two_a is None or two_b is None else True)
            other = None if two is None else not two
            del options_a, options_b
            return one is True and other is True

        assert file.count(expr) == sum(map(holds, rows)), expr


def test_forms_of_filters() -> None:
    table = pa.table({"id": range(100), "s": [f"{i:03}" for i in range(100)]})
    file = lancet.open(written(table))
    assert file.count([("id", ">=", 90)]) == 10
    assert file.count(("id", "==", 90)) == 1
    assert file.count([("id", ">=", 90), ("s", "<", "095")]) == 5
    assert file.count([[("id", "<", 5)], [("id", ">=", 95)]]) == 10
    assert file.count([("id", "in", {1, 2, 200})]) == 2
    assert file.count([("id", "not in", [1, 2])]) == 98
    assert file.count([]) == 100
    assert file.count(col("s").starts_with("09")) == 10
    assert file.count(col("id").between(10, 19)) == 10
    assert file.count(col("id").is_in([])) == 0
    assert file.count(col("id") == np.int32(7)) == 1
    assert file.count(col("id") == pa.scalar(7)) == 1
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(col("id") > 3 and col("id") < 5)
    for wrong in (7, "id > 3", [("id", 3)], lambda row: True):
        with pytest.raises((TypeError, ValueError)):
            file.count(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is_null"):
        col("id") == None  # noqa: B015, E711
    with pytest.raises(ValueError, match="no comparison"):
        file.count([("id", "~", 3)])


#: Ends of texts and of bytes, letters of one to four bytes, and what LIKE takes for something else.
PARTS = ["", "a", "b", "%", "_", "\\", "'", "*", "\0", "ä", "\ud7ff", "\uffff", "\U00010000", "\U0010ffff", "\U0010ffff\U0010ffff"]


@pytest.mark.parametrize("kind", ["text", "large text", "bytes", "dictionary", "sorted", "long"])
def test_prefixes_are_exact(kind: str) -> None:
    rng = random.Random(kind)
    count = 30_000
    texts: list[Any] = [None if rng.random() < 0.1 else "".join(rng.choices(PARTS, k=rng.randint(0, 4))) for _ in range(count)]
    prefixes: list[Any] = [*PARTS, "a%", "ab", "\\%", "_a", "aä", "zz", *(text for text in texts[:10] if text is not None)]
    if kind == "long":
        # Longer than the bounds that zone maps keep, which are cut.
        texts = [None if text is None else "\U0010ffff" * 40 + text for text in texts]
        prefixes = [*prefixes, *("\U0010ffff" * n + text for text in ("", "a", "\U0010ffff") for n in (1, 15, 16, 31, 32, 39, 40))]
    if kind == "bytes":
        parts = [b"\0", b"\xff", b"\xfe", b"\xff\xff", b"a", b"%"]
        texts = [None if rng.random() < 0.1 else b"".join(rng.choices(parts, k=rng.randint(0, 6))) for _ in range(count)]
        prefixes = [b"", *parts, b"\xff\xff\xff", b"\xff\xff\xff\xff", b"\xff" * 9, b"\xfe\xff", b"a\0", b"zz", bytearray(b"%"), memoryview(b"a")]
    if kind == "sorted":
        # Zones that hold nothing else, or nothing of it.
        texts.sort(key=lambda text: (text is None, (text or "").encode()))
    types = {"large text": pa.large_string(), "bytes": pa.binary()}
    array = pa.array(texts, types.get(kind, pa.string()))
    array = array.dictionary_encode() if kind == "dictionary" else array
    file = lancet.open(written(pa.table({"x": array, "row": np.arange(count)})))
    for prefix in prefixes:
        start = prefix if isinstance(prefix, str) else bytes(prefix)
        wanted = [row for row, text in enumerate(texts) if text is not None and text.startswith(start)]
        other = [row for row, text in enumerate(texts) if text is not None and not text.startswith(start)]
        condition = col("x").starts_with(prefix)
        assert file.read(filter=condition, columns=["row"])["row"].to_pylist() == wanted, prefix
        assert file.read(filter=~condition, columns=["row"])["row"].to_pylist() == other, prefix
        assert file.count(condition | col("x").is_null()) == count - len(other), prefix
        left = file.prune(condition)
        assert all(any(row in rows for rows in left) for row in wanted[::97]), prefix
    # Text is told from bytes by what is compared; bytes that are no text begin no text.
    if kind == "text":
        assert file.count(col("x").starts_with(b"\xff")) == 0
        assert file.count(col("x").starts_with("ä".encode()[:1])) == sum(text is not None and text.startswith("ä") for text in texts)


def test_prefixes_of_polars() -> None:
    polars = pytest.importorskip("polars")
    texts = [None, *PARTS, *(one + other for one in PARTS for other in PARTS)]
    table = pa.table({"x": texts})
    frame, lazy = polars.from_arrow(table), lancet.scan_polars(written(table))
    for prefix in PARTS:
        for condition in (polars.col("x").str.starts_with(prefix), ~polars.col("x").str.starts_with(prefix)):
            assert lazy.filter(condition).collect().equals(frame.filter(condition)), prefix
    assert lazy.filter(polars.col("x").str.starts_with(None)).collect().height == 0


def test_what_is_no_condition() -> None:
    file = lancet.open(written(pa.table({"id": [1, 97], "s": ["a", "b"]})))
    wrong = [
        # `bytes(5)` are five zeros, and a text is a list of letters.
        (lambda: col("s").starts_with(5), "starts with a text"),  # type: ignore[arg-type]
        (lambda: col("s").starts_with(None), "starts with a text"),  # type: ignore[arg-type]
        (lambda: col("s").starts_with([97]), "starts with a text"),  # type: ignore[arg-type]
        (lambda: col("s").is_in("ab"), "give a list"),
        (lambda: col("s").is_in(b"ab"), "give a list"),  # type: ignore[arg-type]
        (lambda: col("id").is_in(5), "give a list"),  # type: ignore[arg-type]
        (lambda: file.count([("s", "in", "ab")]), "give a list"),
        (lambda: col("id") == np.array([1, 2]), "use `is_in`"),
        (lambda: col("id")[0], "name of a field"),  # type: ignore[index]
        # Asked for one field after the other, a column would have no end.
        (lambda: list(col("id")), "not iterable"),  # type: ignore[call-overload]
        (lambda: "id" in col("id"), "iterable"),  # type: ignore[operator]
        (lambda: file.count("id > 3"), "of type str"),  # type: ignore[arg-type]
        (lambda: file.count(True), "of type bool"),  # type: ignore[arg-type]
    ]  # fmt: skip
    for attempt, said in wrong:
        with pytest.raises(TypeError, match=said):
            attempt()
    assert file.count(col("id").is_in(np.array([1, 2]))) == file.count(col("id").is_in({97: "x"})) == 1


def test_filters_that_do_not_fit() -> None:
    now = dt.datetime(2024, 1, 1)
    table = pa.table({"id": [1], "s": ["a"], "t": pa.array([now], pa.timestamp("us")), "l": [[1]]})
    file = lancet.open(written(table))
    for wrong in (col("id") == "a", col("s") > 3, col("t") == 5, col("l") == 1, col("id").is_in([1, "a"]), col("s") == b"a"):
        with pytest.raises(TypeError, match="does not compare|column `l`"):
            file.count(wrong)
    with pytest.raises(TypeError, match="no time zone"):
        file.count(col("t") > now.replace(tzinfo=dt.timezone.utc))
    with pytest.raises(KeyError, match="did you mean `id`"):
        file.count(col("ID") > 3)
    with pytest.raises(OverflowError):
        file.count(col("id") > 10**90)
    with pytest.raises(ValueError, match="only strings"):
        file.count(col("id").starts_with("1"))
    deep = col("id") > 1
    for _ in range(500):
        deep = ~(deep & (col("id") > 1))
    with pytest.raises(ValueError, match="deep"):
        file.count(deep)


def test_numpy_times() -> None:
    times = np.array(["2024-01-01T00:00:01", "2024-01-01T00:00:02"], "M8[ns]")
    file = lancet.open(written(pa.table({"t": times, "d": times - times[0]})))
    assert file.count(col("t") > times[0]) == 1
    assert file.count(col("t") >= np.datetime64("2024-01-01")) == 2
    assert file.count(col("d") > np.timedelta64(0, "ns")) == 1
    with pytest.raises(ValueError, match="NaT"):
        col("t") > np.datetime64("NaT", "ns")


class Word(str, enum.Enum):
    A = "a"


class Number(int, enum.Enum):
    ONE = 1


class Level(enum.IntEnum):
    TWO = 2


def test_members_of_enums(tmp_path: Path) -> None:
    table = lancet.create_table(pa.table({"s": ["a", "b"], "n": [1, 2]}), tmp_path / "t")
    assert table.count(col("s") == Word.A) == table.count(col("n") == Number.ONE) == table.count(col("n").is_in([Level.TWO])) == 1
    assert table.count(col("s").starts_with(Word.A)) == 1
    table.append({"s": [Word.A], "n": [Level.TWO]})
    table.update({"s": Word.A}, col("n") == Level.TWO)
    assert table.read().to_pydict() == {"s": ["a", "a", "a"], "n": [1, 2, 2]}


def test_texts_that_are_none(tmp_path: Path) -> None:
    table = lancet.create_table(pa.table({"s": ["\ufffd"]}), tmp_path / "t")
    with pytest.raises(UnicodeEncodeError):
        table.count(col("s") == "\ud800")
    with pytest.raises(UnicodeEncodeError):
        table.append({"s": ["\ud800"]})


def test_nanoseconds_of_others(tmp_path: Path) -> None:
    """Times of pandas and scalars of pyarrow have nanoseconds, which neither filters nor tables lose."""
    start = pd.Timestamp("2024-01-01T00:00:01.000000001")
    times = pa.array([start.value - 1, start.value, start.value + 1], pa.timestamp("ns"))
    spans = pa.array([999, 1_001, 1_002], pa.duration("ns"))
    clock = pa.array([999, 1_001, 1_002], pa.time64("ns"))
    table = lancet.create_table(pa.table({"t": times, "z": times.cast(pa.timestamp("ns", "UTC")), "d": spans, "c": clock}), tmp_path / "t")
    for condition in (col("t") >= start, col("t") >= times[1], col("z") >= start.tz_localize("UTC"), col("d") >= pd.Timedelta(1_001, "ns")):
        assert table.count(condition) == 2
    assert table.count(col("d") >= spans[1]) == table.count(col("c") >= clock[1]) == 2
    assert table.count(col("z") >= table.read()["z"].to_pyarrow()[1]) == 2
    # Beside one of another unit.
    whole = dt.datetime(2024, 1, 1, 0, 0, 1)
    assert table.count(col("t").is_in([start, whole])) == 2 and table.count(col("t").is_in([whole, dt.date(2024, 1, 1), start])) == 2
    late = start + pd.Timedelta(5, "ns")
    table.append({"t": [late], "z": [late.tz_localize("UTC")], "d": [pd.Timedelta(7, "ns")], "c": [clock[2]]})
    last = table.read(rows=range(3, 4)).to_pyarrow()
    assert [last[name][0].value for name in "tzdc"] == [late.value, late.value, 7, 1_002]
    for nothing in (pd.NaT, np.datetime64("NaT")):
        with pytest.raises(ValueError, match="NaT"):
            col("t") > nothing


def test_days_of_numpy() -> None:
    days = pa.array([dt.date(2024, 1, day) for day in (1, 2, 3)])
    file = lancet.open(written(pa.table({"d": days, "t": days.cast(pa.timestamp("us"))})))
    for name in ("d", "t"):
        assert file.count(col(name) > np.datetime64("2024-01-01")) == file.count(col(name) > np.datetime64("2024-01")) == 2
        assert file.count(col(name).is_in(np.array(["2024-01-01", "2024-01-03"], "M8[D]"))) == 2


def test_bytes_of_one_length() -> None:
    values = [b"aaaa", b"bbbb", None, b"cccc"]
    file = lancet.open(written(pa.table({"b": pa.array(values, pa.binary(4))})))
    assert file.count(col("b") == b"bbbb") == file.count(col("b") > b"bbbb") == 1
    assert file.count(col("b").is_in([b"aaaa", b"cccc", b"dddd"])) == 2
    with pytest.raises(ValueError, match="4 bytes"):
        file.count(col("b") == b"bb")
    with pytest.raises(TypeError, match="does not compare"):
        file.count(col("b") == "bbbb")
