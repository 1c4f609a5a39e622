"""Tables that are made and changed."""

from __future__ import annotations

from lancet import _lancet
from lancet._columns import is_column, rows_of
from lancet._data import Column, Schema, core_of, unnumbered
from lancet._expr import Expr, tree_of
from lancet._readable import names_of, not_negative
from lancet._reports import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Union

    from lancet._data import AnyRows, ArrowArray, ArrowRows, ArrowSchema
    from lancet._expr import FilterLike
    from lancet._readable import RowNumbers

    #: Rows that are written: those of any library, several of them one after the other, or columns by their names.
    Rows = Union[AnyRows, Iterable[ArrowRows]]


class Change(Record):
    """What a change did to the rows of a table."""

    __slots__ = ("rows_deleted", "rows_inserted", "rows_updated", "version")
    #: The version of the table now. A change of no rows makes no version.
    version: int
    #: Rows that are new.
    rows_inserted: int
    #: Rows that have other values.
    rows_updated: int
    #: Rows that are gone.
    rows_deleted: int


class Compaction(Record):
    """What a compaction did."""

    __slots__ = ("bytes", "deleted_rows", "fragments_added", "fragments_removed", "indexes", "rows", "version")
    #: The version that it made; the one that was there if there was nothing to do.
    version: int
    #: Fragments that are gone.
    fragments_removed: int
    #: Fragments that took their place.
    fragments_added: int
    #: Rows that were written again.
    rows: int
    #: Deleted rows that are gone for good.
    deleted_rows: int
    #: Bytes of the new data files.
    bytes: int
    #: Indexes that cover fewer rows than before, and how many: build them again.
    indexes: list[tuple[str, int]]


class Cleanup(Record):
    """What a cleanup removed, or would remove."""

    __slots__ = ("bytes", "dry_run", "files", "versions", "young_files")
    #: The versions that are gone, oldest first.
    versions: list[int]
    #: The other files that are gone, below the folder of the table.
    files: list[str]
    #: The bytes of all files that are gone, those of the versions included.
    bytes: int
    #: Files that no version names, but that are younger than a week: they may belong to a commit under way.
    young_files: int
    #: Whether everything is still there.
    dry_run: bool


def given(rows: Any, schema: _lancet.Schema | None = None) -> Any:
    """Rows as the extension module takes them; a dict of columns has the types of a table."""
    if isinstance(rows, dict):
        if not rows:
            raise ValueError("the rows have no columns")
        return rows_of(rows, schema)
    if hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
        return unnumbered(rows)
    if isinstance(rows, str) or not hasattr(rows, "__iter__"):
        return _lancet.Data.from_arrow(rows)  # which says what it should be
    return (rows_of(part, schema) if isinstance(part, dict) else unnumbered(part) for part in rows)


def options_of(message: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a change; those of columns are texts."""
    from lancet._write import settings

    made = {**options, "message": message}
    not_negative(made, "max_rows_per_fragment", "max_bytes_per_file", "attempts", "page_bytes", "memory_limit", "threads")
    if made.get("columns") is not None:
        made["columns"] = settings(made["columns"])
    return made


class Changes:
    """The verbs that change a table; see `Dataset`."""

    __slots__ = ()
    _core: Any
    _names: tuple[str, ...] | None

    def _move(self, core: _lancet.TableReader) -> None:
        """Goes on with another version."""
        raise NotImplementedError

    def _to_change(self) -> _lancet.TableReader:
        if self._names is not None:
            raise ValueError("this is a view of some columns; change the table that it was selected from")
        core: _lancet.TableReader = self._core
        return core

    def _done(self, done: tuple[_lancet.TableReader, dict[str, Any]]) -> Change:
        self._move(done[0])
        return Change(done[1])

    def append(self, rows: Rows, *, message: str | None = None, **write_options: Any) -> Change:
        """Adds rows. Their columns are found by name, in any order; columns that allow nulls may be missing.

        >>> table = lancet.open_table("stock")
        >>> table.append({"item": ["nut"], "price": [2]})
        Change(rows_deleted=0, rows_inserted=1, rows_updated=0, version=2)

        Lists become what the table has. `write_options` are those of `lancet.create_table`.
        """
        core = self._to_change()
        rows = given(rows, core.project().schema)
        return self._done(_lancet.append_rows(core, rows, options_of(message, write_options)))

    def overwrite(self, rows: Rows, *, message: str | None = None, **write_options: Any) -> Change:
        """Replaces all rows, and the columns. Older versions stay as they are."""
        core = self._to_change()
        return self._done(_lancet.overwrite_rows(core, given(rows), options_of(message, write_options)))

    def delete(
        self,
        filter: FilterLike | None = None,
        *,
        rows: RowNumbers | None = None,
        row_ids: RowNumbers | None = None,
        addresses: RowNumbers | None = None,
        all_rows: bool = False,
        message: str | None = None,
    ) -> Change:
        """Deletes rows: those that match a condition, or by their numbers, ids or addresses; or `all_rows`.

        >>> table = lancet.open_table("stock")
        >>> table.delete(lancet.col("price") > 7).rows_deleted
        1

        A condition is evaluated on the newest version, and again if other writers are faster. One of no parts, `[]`, is refused.
        Numbers are those of the version that is open. Deleted rows stay in the files, and in older versions, until `compact` and
        `cleanup`.
        """
        which, predicate = _which(filter, rows, row_ids, addresses, "to delete all rows, pass `all_rows=True`")
        if all_rows:
            if which is not None:
                raise ValueError("`all_rows=True` stands alone: it deletes all rows")
            which, predicate = ("filter", tree_of([])), "true"
        if which is None:
            raise ValueError("name the rows to delete; `all_rows=True` deletes all of them")
        core = self._to_change()
        core = core.newest() if which[0] == "filter" else core
        return self._done(_lancet.delete_rows(core, which, predicate, options_of(message, {})))

    def update(
        self,
        values: AnyRows,
        filter: FilterLike | None = None,
        *,
        rows: RowNumbers | None = None,
        row_ids: RowNumbers | None = None,
        addresses: RowNumbers | None = None,
        message: str | None = None,
        **write_options: Any,
    ) -> Change:
        """Gives rows other values: all rows where none are named, those that match a condition, or by their numbers, ids or addresses.

        >>> table = lancet.open_table("stock")
        >>> table.update({"price": 5}, lancet.col("item") == "bolt").rows_updated
        1
        >>> table.update({"price": [6, 3]}, rows=[1, 0]).version
        3

        A dict of single values gives all these rows the same. A dict of columns, or Arrow rows, have a row for each, in the
        order of the rows. Columns that are not named stay as they are. Changed rows move behind the others.

        Single values for a condition are set on the newest version; otherwise the rows are those of the version that is open, and
        a `ConflictError` tells that others have changed them.
        """
        core = self._to_change()
        which, _ = _which(filter, rows, row_ids, addresses, "to update all rows, leave the filter out")
        which = which or ("filter", tree_of([]))
        options = options_of(message, write_options)
        if isinstance(values, dict) and not names_of(values):
            raise ValueError("there are no columns to update")
        if isinstance(values, dict) and not any(_is_column_of(core, *pair) for pair in values.items()):
            core = core.newest() if which[0] == "filter" else core
            schema = core.project(list(values)).schema
            one = rows_of({name: [value] for name, value in values.items()}, schema)
            return self._done(_lancet.set_values(core, which, one, options))
        schema = core.project().schema
        return self._done(_lancet.update_rows(core, which, given(values, schema), options))

    def merge(
        self,
        rows: AnyRows,
        on: str | Sequence[str],
        *,
        update: bool = True,
        insert: bool = True,
        message: str | None = None,
        **write_options: Any,
    ) -> Change:
        """An upsert: rows update those with the same values in the columns `on`, and the others are added, in one version.

        >>> table = lancet.open_table("stock")
        >>> table.merge({"item": ["bolt", "nail"], "price": [4, 1]}, on="item")
        Change(rows_deleted=0, rows_inserted=1, rows_updated=1, version=2)

        Without `update` rows are only added, without `insert` only updated. The rows are held in memory, and a key must not come
        twice among them; in the table it may, and all its rows are updated. A key that is null equals no other. It is done on the
        newest version, and again if other writers are faster.
        """
        core = self._to_change().newest()
        keys = list(dict.fromkeys(names_of(on)))
        source = core_of(given(rows, core.project().schema) if isinstance(rows, dict) else unnumbered(rows))
        done = _lancet.merge_rows(core, source, keys, (update, insert), options_of(message, write_options))
        return self._done(done)

    def add_columns(
        self, columns: AnyRows | ArrowSchema, *, message: str | None = None, **write_options: Any
    ) -> None:
        """Adds columns. The files that are there stay as they are.

        >>> table = lancet.open_table("stock")
        >>> table.add_columns({"currency": "CHF", "rank": [1, 2, 3]})
        >>> table.take([2])["rank"].to_pylist()
        [3]

        A dict has a value for all rows, or one for each row in the order of a scan; so have Arrow rows. A schema adds columns
        that are null. If other writers change the rows meanwhile, values for each row are a `ConflictError`.
        """
        core = self._to_change()
        options = options_of(message, write_options)
        if isinstance(columns, dict):
            if not columns:
                raise ValueError("there are no columns to add")
            if not any(is_column(values) for values in columns.values()):
                one = rows_of({name: _constant(name, value, 1) for name, value in columns.items()})
                return self._move(_lancet.add_constant_columns(core, one, options))
            count = core.num_rows
            columns = {
                name: values if is_column(values) else _constant(name, values, count) for name, values in columns.items()
            }
        elif hasattr(columns, "__arrow_c_schema__") and not hasattr(columns, "__arrow_c_stream__"):
            if not hasattr(columns, "__arrow_c_array__"):
                return self._move(_lancet.add_null_columns(core, Schema(columns)._core, options))
        self._move(_lancet.add_columns(core, given(columns), options))

    def drop_columns(self, columns: str | Sequence[str], *, message: str | None = None) -> None:
        """Drops columns, or fields of structs, named with dots. Their values stay in the files until `compact`.

        >>> table = lancet.open_table("stock")
        >>> table.drop_columns("price")
        >>> table.column_names
        ['item']
        """
        core, names = self._to_change(), names_of(columns)
        core.project(names)  # which says what is not there
        self._move(_lancet.drop_columns(core, names, options_of(message, {})))

    def rename_column(self, name: str, to: str, *, message: str | None = None) -> None:
        """Gives a column, or a field of a struct, named with dots, another name."""
        core = self._to_change()
        core.project(names_of(name))
        self._move(_lancet.rename_column(core, name, to, options_of(message, {})))

    def reorder_columns(self, columns: Sequence[str], *, message: str | None = None) -> None:
        """Puts these columns first, in this order; the others follow in the order they have."""
        core, names = self._to_change(), names_of(columns)
        core.project(names)
        self._move(_lancet.reorder_columns(core, names, options_of(message, {})))

    def set_nullable(self, name: str, nullable: bool, *, message: str | None = None) -> None:
        """Lets a column have nulls, or forbids them; all its values are looked at before they are forbidden."""
        core = self._to_change()
        core.project(names_of(name))
        self._move(_lancet.set_nullable(core, name, nullable, options_of(message, {})))

    def retype_column(
        self,
        name: str,
        type: ArrowSchema,
        convert: Callable[[Column], ArrowArray] | None = None,
        *,
        message: str | None = None,
        **write_options: Any,
    ) -> None:
        """Gives a column another type, as `pyarrow.int64()`.

        `convert` makes the new values of the old ones, batch by batch; by default pyarrow casts them, and fails where a value
        would not stay what it is.

        >>> import pyarrow
        >>> table = lancet.open_table("stock")
        >>> table.retype_column("price", pyarrow.float32())
        >>> table.schema["price"].type
        'Float32'
        """

        def made(core: _lancet.Column) -> Any:
            column = Column(core)
            array = column.to_pyarrow().cast(type) if convert is None else convert(column)
            if not hasattr(array, "__arrow_c_array__"):
                raise TypeError(f"`convert` gives an Arrow array, not a value of type {array.__class__.__name__}")
            return array

        core, field = self._to_change(), _lancet.Schema.of_type(type)
        core.project(names_of(name))
        self._move(_lancet.retype_column(core, name, field, made, options_of(message, write_options)))

    def compact(
        self,
        *,
        target_rows: int | None = None,
        deleted_share: float | None = None,
        message: str | None = None,
        **write_options: Any,
    ) -> Compaction:
        """Joins fragments of fewer than `target_rows` rows (1,048,576), and writes those again of which more than `deleted_share`
        (0.1) is deleted.

        Joined rows move behind the others. Older versions keep the old files until `cleanup`.
        """
        options = options_of(message, write_options)
        not_negative({"target_rows": target_rows}, "target_rows")
        if deleted_share is not None and not 0 <= deleted_share <= 1:
            raise ValueError(f"`deleted_share` is a number from 0 to 1, not {deleted_share}")
        core, done = _lancet.compact(self._to_change(), target_rows, deleted_share, options)
        self._move(core)
        return Compaction(done)

    def restore(self, *, message: str | None = None) -> None:
        """Makes the version that is open the newest one again. What came since stays in the history.

        >>> table = lancet.open_table("stock")
        >>> _ = table.delete(all_rows=True)
        >>> table = table.checkout(1)
        >>> table.restore()
        >>> table.version, table.num_rows
        (3, 3)
        """
        self._move(_lancet.restore(self._to_change(), options_of(message, {})))

    def cleanup(
        self, *, older_than: dt.timedelta | None = None, keep_versions: int | None = None, dry_run: bool = False
    ) -> Cleanup:
        """Removes versions older than a week, or `older_than`, and the files that only they need.

        What the newest version, the `keep_versions` newest ones, a tag or a branch needs stays. `dry_run` only tells. Shallow
        clones in other places are not known: do not clean up what they were made from.

        >>> lancet.open_table("stock").cleanup(dry_run=True).versions
        []
        """
        not_negative({"keep_versions": keep_versions}, "keep_versions")
        if older_than is not None and not hasattr(older_than, "total_seconds"):
            raise TypeError(f"`older_than` is a datetime.timedelta, not a value of type {type(older_than).__name__}")
        seconds = None if older_than is None else older_than.total_seconds()
        return Cleanup(_lancet.cleanup(self._core, seconds, keep_versions, dry_run))

    def create_tag(self, name: str) -> None:
        """Names the version that is open. A version with a tag is not cleaned up."""
        _lancet.create_tag(self._core, name, False)

    def move_tag(self, name: str) -> None:
        """Moves a tag to the version that is open."""
        _lancet.create_tag(self._core, name, True)

    def delete_tag(self, name: str) -> None:
        """Removes a tag. The version that it named stays."""
        _lancet.delete_tag(self._core, name)

    def delete_branch(self, name: str) -> None:
        """Removes a branch with all its versions and files. Refused while a tag or another branch needs it."""
        _lancet.delete_branch(self._core, name)


def _which(filter: Any, rows: Any, row_ids: Any, addresses: Any, for_all: str) -> tuple[tuple[str, Any] | None, str]:
    """The rows that a change is about, and what they are, for people; `for_all` says how all rows are named."""
    named = {"filter": filter, "rows": rows, "ids": row_ids, "addresses": addresses}
    found = [(kind, names) for kind, names in named.items() if names is not None]
    if len(found) > 1:
        raise ValueError("name the rows once: by a filter, their numbers, ids or addresses")
    if not found:
        return None, ""
    kind, names = found[0]
    if kind != "filter":
        return (kind, names), ""
    tree = tree_of(names)
    if _is_empty(tree):
        # A list that was put together and got no condition must not change every row.
        raise ValueError(f"the filter has a list of no conditions, which would hold for every row; {for_all}")
    return ("filter", tree), repr(Expr(tree))


def _is_empty(tree: tuple[Any, ...]) -> bool:
    """Whether a condition, or one of several of which one is enough, has no parts."""
    return (tree[0] == "and" and not tree[1]) or (tree[0] == "or" and any(map(_is_empty, tree[1])))


def _is_column_of(core: _lancet.TableReader, name: str, value: Any) -> bool:
    """Whether a value is one for each row, and not one list or vector for all: it has more levels than the column."""
    kind, levels = core.project([name]).schema.type_of(0), 0
    while kind.removeprefix("non-null ").startswith(("List(", "LargeList(", "FixedSizeList(")):
        kind, levels = kind.partition("(")[2], levels + 1
        kind = kind.partition(" x ")[2] if kind[:1].isdigit() else kind
    return _levels(value) > levels


def _levels(value: Any) -> float:
    """How many lists are in each other."""
    if not is_column(value):
        return 0
    if isinstance(value, (list, tuple, range)):
        return 1 + _levels(next((item for item in value if item is not None), None))
    return getattr(value, "ndim", float("inf"))


def _constant(name: str, value: Any, count: int) -> Any:
    """A value, so many times. One of numpy keeps its type."""
    if value is None:
        raise ValueError(f"column `{name}` would have no type; give a schema to add columns that are null")
    if hasattr(value, "dtype"):
        import numpy

        return numpy.full(count, value, dtype=value.dtype)
    return [value] * count
