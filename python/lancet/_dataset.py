"""Tables: folders of files, with versions."""

from __future__ import annotations

import os

from lancet import _lancet
from lancet._changes import Changes, given, options_of
from lancet._data import Batch
from lancet._file import Blobs, File
from lancet._file import open as _open
from lancet._readable import Readable, names_of, not_negative
from lancet._reports import Statistics, TableReport
from lancet._source import is_table, is_url, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lancet._changes import Rows
    from lancet._expr import FilterLike
    from lancet._readable import RowNumbers, RowRanges, Scan
    from lancet._source import Source


def open_table(
    path: str | os.PathLike[str],
    *,
    version: int | None = None,
    tag: str | None = None,
    branch: str | None = None,
    timestamp: dt.datetime | None = None,
    bases: Sequence[str | os.PathLike[str]] = (),
    storage_options: Mapping[str, str] | None = None,
    memory_limit: int | None = None,
    verify_checksums: bool = False,
    zone_maps: bool = True,
    threads: int | None = None,
) -> Dataset:
    """Opens a Lance table, a folder: its latest version, or one by number, tag, branch or the time it was current at.

    >>> table = lancet.open_table("orders")
    >>> table.version, table.num_rows
    (2, 5)
    >>> lancet.open_table("orders", version=1).num_rows
    3

    `bases` are folders beside its own whose files it may read, as shallow clones do. Tables in object stores are refused; the
    rest is as in `lancet.open`.
    """
    _check_place(path)
    if storage_options is not None:
        raise ValueError("`storage_options` are for URLs")
    options = {"memory_limit": memory_limit, "verify_checksums": verify_checksums, "zone_maps": zone_maps, "threads": threads}
    not_negative(options, "memory_limit", "threads")
    # What a table notes of them are absolute paths.
    folders = [os.path.abspath(path_of(base)) for base in ([bases] if isinstance(bases, (str, os.PathLike)) else bases)]
    wanted = _wanted(version, tag, branch, timestamp)
    place = path_of(path)
    try:
        core = _lancet.TableReader.open(place, wanted, folders, options)
    except (ValueError, NotADirectoryError):
        import errno

        if not os.path.exists(place):
            raise FileNotFoundError(errno.ENOENT, "there is no table", place) from None
        if os.path.isfile(place):
            raise NotADirectoryError(errno.ENOTDIR, "a file, and no table: use `lancet.open`", place) from None
        raise
    return Dataset._make(core, place, folders, options, None)


def create_table(
    rows: Rows,
    path: str | os.PathLike[str],
    *,
    stable_row_ids: bool = False,
    version: str = "2.2",
    profile: str = "balanced",
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    max_rows_per_fragment: int | None = None,
    max_bytes_per_file: int | None = None,
    message: str | None = None,
    **write_options: Any,
) -> Dataset:
    """Makes a Lance table with these rows in a folder that holds none.

    >>> table = lancet.create_table({"id": [1, 2], "name": ["a", "b"]}, "letters")
    >>> table.version, table.append({"id": [3], "name": ["c"]}).version
    (1, 2)

    `rows` is anything that has Arrow rows (a data frame, a table, a scan), several of them one after the other, or a dict of
    columns. With `stable_row_ids` rows keep their ids when they are changed or moved; that is decided once. `version` is the
    format of the data files. A file has at most `max_rows_per_fragment` rows (1,048,576) and about `max_bytes_per_file` bytes
    (64 GiB). `message` is kept with the version. `profile`, `columns` and the rest of `write_options` are as in
    `lancet.write_table`; `attempts` and `timeout` (seconds) say for how long a commit is tried against other writers.
    """
    _check_place(path)
    place = path_of(path)
    if is_table(place):
        import errno

        raise FileExistsError(errno.EEXIST, "there is a table already; open it with `lancet.open_table`", place)
    options = options_of(message, {**write_options, "columns": columns})
    options.update(stable_row_ids=stable_row_ids, version=version, profile=profile)
    options.update(max_rows_per_fragment=max_rows_per_fragment, max_bytes_per_file=max_bytes_per_file)
    not_negative(options, "max_rows_per_fragment", "max_bytes_per_file")
    core = _lancet.create_table(place, given(rows), options)
    return Dataset._make(core, place, [], {}, None)


def opened(source: Source | File | Dataset, options: Mapping[str, Any]) -> File | Dataset:
    """A file or a table, whichever a source is."""
    if isinstance(source, (File, Dataset)):
        return source
    return open_table(source, **options) if is_table(source) else _open(source, **options)  # type: ignore[arg-type]


def _check_place(path: object) -> None:
    if is_url(path):
        from lancet._errors import UnsupportedError

        raise UnsupportedError(
            f"{path}: this package has no way to tables in object stores; `lancet.open` reads their single files there, the crate "
            "`lancet-table` of Rust and `lancet sql` read the tables. Copy the folder to disk to open it here"
        )


def _wanted(version: int | None, tag: str | None, branch: str | None, timestamp: dt.datetime | None) -> dict[str, Any]:
    if hasattr(version, "__index__") and version < 0:  # type: ignore[operator]
        raise ValueError(f"there is no version {version}")
    not_negative({"version": version}, "version")
    for option, name in (("tag", tag), ("branch", branch)):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`{option}` is a name, not {name!r} of type {type(name).__name__}")
    instant = None
    if timestamp is not None:
        import datetime as dt

        if not isinstance(timestamp, dt.datetime):
            raise TypeError(f"`timestamp` is a datetime.datetime, not {timestamp!r} of type {type(timestamp).__name__}")
        if timestamp.tzinfo is None:
            timestamp = timestamp.astimezone()
        micros = (timestamp - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(microseconds=1)
        # Versions are told in nanoseconds, and times of Python have none: the whole microsecond is meant.
        instant = min(max(micros * 1_000 + 999, 0), 2**63 - 1)
    return {"version": version, "tag": tag, "branch": branch, "instant": instant}


def _instant(nanos: int | None) -> dt.datetime | None:
    if nanos is None:
        return None
    import datetime as dt

    return dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(microseconds=nanos // 1_000)


class Version:
    """One version of a table."""

    __slots__ = ("num_rows", "timestamp", "version")
    #: Its number.
    version: int
    #: When it was made.
    timestamp: dt.datetime | None
    #: Its rows, where its manifest tells.
    num_rows: int | None

    def __init__(self, version: int, timestamp: dt.datetime | None, num_rows: int | None) -> None:
        self.version, self.timestamp, self.num_rows = version, timestamp, num_rows

    def __repr__(self) -> str:
        when = "" if self.timestamp is None else f", {self.timestamp:%Y-%m-%d %H:%M:%S}"
        return f"Version({self.version}{when}, {self.num_rows} rows)"


class Tag:
    """A name for a version."""

    __slots__ = ("branch", "version")
    #: The branch it is on; None for the main one.
    branch: str | None
    #: The version.
    version: int

    def __init__(self, branch: str | None, version: int) -> None:
        self.branch, self.version = branch, version

    def __repr__(self) -> str:
        return f"Tag(version {self.version}{'' if self.branch is None else f' of {self.branch}'})"


class Fragment:
    """Rows of a table that lie in the same files."""

    __slots__ = ("files", "id", "num_deleted_rows", "num_rows")
    #: Its number; row addresses begin with it.
    id: int
    #: Its rows without deleted ones, where the manifest tells.
    num_rows: int | None
    #: Its deleted rows, where the manifest tells.
    num_deleted_rows: int | None
    #: The names of its data files.
    files: list[str]

    def __init__(self, id: int, num_rows: int | None, num_deleted_rows: int | None, files: list[str]) -> None:
        self.id, self.num_rows, self.num_deleted_rows, self.files = id, num_rows, num_deleted_rows, files

    def __repr__(self) -> str:
        return f"Fragment({self.id}: {self.num_rows} rows in {len(self.files)} files, {self.num_deleted_rows} deleted)"


class Dataset(Changes, Readable):
    """One version of a Lance table; `lancet.open_table` and `lancet.create_table` make one.

    It has the verbs of `File`. Rows are counted as a scan gives them, deleted ones left out. The columns `_rowid`, `_rowaddr`,
    `_row_created_at_version` and `_row_last_updated_at_version` are there when they are asked for.

    >>> table = lancet.open_table("orders")
    >>> table.take([0, 4], columns=["id", "_rowid"]).to_pylist()
    [{'id': 1, '_rowid': 0}, {'id': 5, '_rowid': 4294967297}]
    >>> table.count(lancet.col("id") > 3)
    2

    Each verb that changes it commits a version, and moves this handle there; others that are open stay where they are. Several
    writers may change a table at the same time: what does not go together with what others did first is a `ConflictError`, and
    nothing of it is there. Ctrl-C ends a change; the table is then as it was, unless the exception has a note that says otherwise.
    """

    __slots__ = ("_bases", "_options", "path")
    #: The folder.
    path: str
    _bases: list[str]
    _options: dict[str, Any]
    _opened: _lancet.TableReader | None
    _projected: _lancet.TableProjection

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("`lancet.open_table` opens tables, and `lancet.create_table` makes them")

    @classmethod
    def _make(
        cls,
        core: _lancet.TableReader,
        path: str,
        bases: list[str],
        options: dict[str, Any],
        names: tuple[str, ...] | None,
    ) -> Dataset:
        table = cls.__new__(cls)
        table._opened, table.path, table._bases, table._options, table._names = core, path, bases, options, names
        table._projected = core.project(None if names is None else list(names))
        return table

    def _move(self, core: _lancet.TableReader) -> None:
        self._opened, self._projected = core, core.project()

    def _view(self, names: tuple[str, ...] | None) -> Dataset:
        return self._make(self._core, self.path, self._bases, self._options, names)

    @classmethod
    def _open(
        cls, path: str, wanted: dict[str, Any], bases: list[str], options: dict[str, Any], names: tuple[str, ...] | None
    ) -> Dataset:
        return cls._make(_lancet.TableReader.open(path, wanted, bases, options), path, bases, options, names)

    def _state(self) -> tuple[Any, ...]:
        # The version that is open, whatever the latest one is where it lands.
        wanted = _wanted(self.version, None, self.branch, None)
        return os.path.abspath(self.path), wanted, self._bases, self._options, self._names

    def _with_threads(self, threads: int) -> Dataset:
        """The same version, opened again for so many threads."""
        if self._options.get("threads") == threads:
            return self
        path, wanted, bases, options, names = self._state()
        return self._open(path, wanted, bases, {**options, "threads": threads}, names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset._open, self._state()

    @property
    def version(self) -> int:
        """The version that is open."""
        return self._core.version  # type: ignore[no-any-return]

    @property
    def branch(self) -> str | None:
        """The branch that is open; None for the main one."""
        return self._core.branch  # type: ignore[no-any-return]

    @property
    def timestamp(self) -> dt.datetime | None:
        """When the version was made."""
        return _instant(self._core.timestamp)

    @property
    def config(self) -> dict[str, str]:
        """The settings of the table."""
        return self._core.config  # type: ignore[no-any-return]

    @property
    def metadata(self) -> dict[str, str]:
        """What is noted in the schema."""
        return self.schema.metadata

    def versions(self) -> list[Version]:
        """All versions that were there when the table was opened and still are, oldest first.

        >>> [version.version for version in lancet.open_table("orders").versions()]
        [1, 2]
        """
        return [Version(version, _instant(nanos), rows) for version, nanos, rows in self._core.versions()]

    def tags(self) -> dict[str, Tag]:
        """The tags, by their names."""
        return {name: Tag(branch, version) for name, branch, version in self._core.tags()}

    def branches(self) -> dict[str, Tag]:
        """The branches by their names, with the version that each was made from."""
        return {name: Tag(parent, version) for name, parent, version in self._core.branches()}

    def checkout(
        self,
        version: int | None = None,
        *,
        tag: str | None = None,
        branch: str | None = None,
        timestamp: dt.datetime | None = None,
    ) -> Dataset:
        """Another version of the same table; the latest by default. Files that both have stay open.

        >>> lancet.open_table("orders").checkout(1).num_rows
        3

        Where a branch is open, versions are those of the branch; `branch="main"` leads back. Times are told on the main branch
        only.
        """
        if tag is None and branch is None:
            branch = self.branch
            if branch is not None and timestamp is not None:
                raise ValueError(
                    f"versions of a branch, here `{branch}`, are not found by time; look in `versions()` for the number"
                )
        core = self._core.checkout(_wanted(version, tag, branch, timestamp))
        return self._make(core, self.path, self._bases, self._options, self._names)

    def create_branch(self, name: str) -> Dataset:
        """Begins a branch at the version that is open: a table of its own that shares the files so far. Gives the branch.

        >>> branch = lancet.open_table("stock").create_branch("try")
        >>> branch.delete(all_rows=True).rows_deleted, lancet.open_table("stock").num_rows
        (3, 3)
        """
        core = _lancet.create_branch(self._core, name)
        return self._make(core, self.path, self._bases, self._options, None)

    def shallow_clone(self, path: str | os.PathLike[str]) -> Dataset:
        """Makes a table in another folder that begins with the version that is open and shares its files.

        The clone says where these are by an absolute path: it needs them there, and is opened with `bases=[this folder]`.
        """
        _check_place(path)
        core, bases = _lancet.shallow_clone(self._core, path_of(path)), [os.path.abspath(self._core.folder)]
        return self._make(core, path_of(path), [*self._bases, *bases], self._options, None)

    def fragments(self) -> list[Fragment]:
        """The fragments, in the order of the rows."""
        return [Fragment(*fragment) for fragment in self._core.fragments()]

    def scan(
        self,
        *,
        columns: Sequence[str] | None = None,
        rows: RowRanges | None = None,
        filter: FilterLike | None = None,
        limit: int | None = None,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        threads: int | None = None,
        describe_blobs: bool = False,
        fragments: Sequence[int] | None = None,
    ) -> Scan:
        """As `File.scan`; `fragments` reads only those with these numbers, and fails if the table has none of that number."""
        options: dict[str, Any] = {
            "rows": rows,
            "filter": filter,
            "limit": limit,
            "batch_rows": batch_rows,
            "batch_bytes": batch_bytes,
            "threads": threads,
            "describe_blobs": describe_blobs,
        }
        if fragments is not None:
            options["fragments"] = list(fragments)
        return self._scan(columns, options)

    def take_row_ids(self, ids: RowNumbers, *, columns: Sequence[str] | None = None) -> Batch:
        """Rows by their ids, in the order asked for; ids that no row has are left out. Ask for `_rowid` to see which."""
        return Batch(self._core.take_row_ids(ids, self._project(columns)))

    def take_addresses(self, addresses: RowNumbers, *, columns: Sequence[str] | None = None) -> Batch:
        """Rows by their addresses (`fragment << 32 | offset`), in the order asked for; those where no row is are left out."""
        return Batch(self._core.take_addresses(addresses, self._project(columns)))

    def blobs(self, column: str) -> Blobs:
        """The blobs of a column, to be read by ranges of bytes."""
        return Blobs(self._core.blobs(column))

    @property
    def nbytes(self) -> int:
        """The size of all data files of this version."""
        return _lancet.table_bytes(self._core)

    def statistics(self, columns: Sequence[str] | None = None) -> dict[str, Statistics | None]:
        """As `File.statistics`, over all files; None for a column of which the files of some fragment do not tell.

        >>> found = lancet.open_table("stock").statistics(["item"])
        >>> list(found)
        ['item']
        """
        names = self.column_names if columns is None else names_of(columns)
        found = _lancet.table_statistics(self._core, names)
        return {name: None if one is None else Statistics(one) for name, one in found.items()}

    def inspect(self) -> TableReport:
        """Fragments, files, columns, and where the bytes are. Opens every data file.

        >>> report = lancet.open_table("stock").inspect()
        >>> [column.name for column in report.columns], len(report.fragments)
        (['item', 'price'], 1)
        """
        return TableReport(_lancet.inspect_table(self._core))

    def verify(self) -> list[tuple[str, str]]:
        """Checks every file of this version. What is wrong: pairs of a file and what it breaks; empty if it is sound."""
        problems: list[tuple[str, str]] = self._core.verify()["problems"]
        return problems

    def _title(self) -> str:
        return f"{self.path}, version {self.version}"

    def __repr__(self) -> str:
        if self._opened is None:
            return f"<Dataset {self.path}: closed>"
        names = self.column_names
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return f"<Dataset {self.path}: version {self.version}, {self.num_rows:,} rows, columns {shown}>"
