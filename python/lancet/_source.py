"""Where the bytes of a file come from."""

from __future__ import annotations

import os

from lancet import _lancet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, BinaryIO, Union

    #: What can be opened: paths, URLs, bytes, files that can seek, and a store of obstore with a path in it.
    Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview, BinaryIO, tuple[Any, str]]

Ranges = "list[tuple[int, int]]"


def is_url(source: object) -> bool:
    """Whether a source is a URL of a store: a path has no `://`."""
    return isinstance(source, str) and "://" in source and not source.startswith("file://")


def path_of(source: str | os.PathLike[str]) -> str:
    """The path of a file on disk."""
    path = os.fsdecode(source)
    if not path:
        raise ValueError("the path is empty; `.` is the current folder")
    if not path.startswith("file://"):
        return path
    from urllib.parse import unquote

    return unquote(path[len("file://") :])


def check_bytes(file: object, mode: str) -> None:
    """Fails where a file was opened as text."""
    if hasattr(file, "encoding"):
        raise TypeError(f'the file was opened as text; open it with the mode "{mode}"')


class PathSource:
    """A file on disk. It must stay what it was when it was first opened."""

    __slots__ = ("path", "state")

    def __init__(self, path: str, state: tuple[int, int] | None = None) -> None:
        self.path = path
        self.state = state

    def open(self, options: Mapping[str, Any]) -> _lancet.Reader:
        try:
            reader = _lancet.Reader.open(self.path, dict(options))
        except ValueError:
            if os.path.isdir(self.path):
                import errno

                what = "it is a table: use `lancet.open_table`" if is_table(self.path) else "name one file inside it"
                raise IsADirectoryError(errno.EISDIR, f"a folder; {what}", self.path) from None
            raise
        found = os.stat(self.path)
        state = (found.st_size, found.st_mtime_ns)
        if self.state is not None and self.state != state:
            from lancet._errors import Error

            raise Error(f"{self.path} has changed since it was opened; open it again")
        self.state = state
        return reader

    def __reduce__(self) -> tuple[Any, ...]:
        return PathSource, (os.path.abspath(self.path), self.state)

    def __repr__(self) -> str:
        return self.path


def is_table(source: object) -> bool:
    """Whether a source is a folder that holds a Lance table."""
    if not isinstance(source, (str, os.PathLike)) or is_url(source):
        return False
    return os.path.isdir(os.path.join(path_of(source), "_versions"))


class BytesSource:
    """A file in memory."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def open(self, options: Mapping[str, Any]) -> _lancet.Reader:
        return _lancet.Reader.from_bytes(self.data, dict(options))

    def __reduce__(self) -> tuple[Any, ...]:
        return BytesSource, (self.data,)

    def __repr__(self) -> str:
        return f"{len(self.data)} bytes"


class ObjectSource:
    """A file that an object reads: one with `seek` and `read`."""

    __slots__ = ("file", "lock", "pid")

    def __init__(self, file: Any) -> None:
        import os
        import threading

        self.file = file
        self.lock = threading.Lock()
        self.pid = os.getpid()

    def open(self, options: Mapping[str, Any]) -> _lancet.Reader:
        self._check_process()
        with self.lock:
            size = self.file.seek(0, 2)
            size = self.file.tell() if size is None else size
        return _lancet.Reader.from_object(self, size, dict(options))

    def read_ranges(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        """Bytes from start to end, for each pair."""
        self._check_process()
        with self.lock:
            return [self._read(start, end) for start, end in ranges]

    def _check_process(self) -> None:
        """Files in memory are copied by a fork; others share where they stand, so that reads would mix."""
        import io
        import os
        import threading

        if self.pid == os.getpid():
            return
        if not isinstance(self.file, io.BytesIO):
            raise OSError("a file object cannot be read after a fork; open the file by its path")
        self.lock, self.pid = threading.Lock(), os.getpid()

    def _read(self, start: int, end: int) -> bytes:
        self.file.seek(start)
        parts, left = [], end - start
        while left > 0:
            part = bytes(self.file.read(left))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectSource, (self.file,)

    def __repr__(self) -> str:
        return repr(self.file)


class StoreSource:
    """A file in an object store, by its URL, read by obstore. It must stay what it was when it was first opened."""

    __slots__ = ("options", "path", "state", "store", "url")

    def __init__(
        self, url: str, options: Mapping[str, str] | None = None, state: tuple[int, str | None] | None = None
    ) -> None:
        self.url = url
        self.options = dict(options) if options else None
        self.state = state
        self.store, self.path = open_store(url, self.options)

    def open(self, options: Mapping[str, Any]) -> _lancet.Reader:
        import obstore

        found = self._asked(obstore.head)
        state = (found["size"], found.get("e_tag"))
        if self.state is not None and self.state != state:
            from lancet._errors import Error

            raise Error(f"{self.url} has changed since it was opened; open it again")
        self.state = state
        return _lancet.Reader.from_object(self, state[0], dict(options))

    def read_ranges(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        """Bytes from start to end, for each pair: one request asks for all."""
        import obstore

        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        parts = self._asked(obstore.get_ranges, starts=starts, ends=ends)
        return [bytes(part) for part in parts]

    def _asked(self, request: Any, **arguments: Any) -> Any:
        """What the store answers."""
        _check_store_process(self.url)
        try:
            return request(self.store, self.path, **arguments)
        except BaseException as error:
            # What obstore raises where it sees the fork by itself is no `Exception`.
            if type(error).__name__ == "PanicException":
                raise _after_fork(self.url) from error
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return StoreSource, (self.url, self.options, self.state)

    def __repr__(self) -> str:
        return self.url


class GivenStoreSource:
    """A file in a store that the caller has made: an object with `head` and `get_ranges`, as those of obstore have them.

    It must stay what it was when it was first opened.
    """

    __slots__ = ("path", "state", "store")

    def __init__(self, store: Any, path: str, state: tuple[int, str | None] | None = None) -> None:
        self.store, self.path, self.state = store, path, state

    def open(self, options: Mapping[str, Any]) -> _lancet.Reader:
        found = self._asked("head")
        state = (found["size"], found.get("e_tag"))
        if self.state is not None and self.state != state:
            from lancet._errors import Error

            raise Error(f"{self.path} has changed since it was opened; open it again")
        self.state = state
        return _lancet.Reader.from_object(self, state[0], dict(options))

    def read_ranges(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        """Bytes from start to end, for each pair: one request asks for all."""
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        return [bytes(part) for part in self._asked("get_ranges", starts=starts, ends=ends)]

    def _asked(self, request: str, **arguments: Any) -> Any:
        """What the store answers. Those of obstore have threads, which a child would wait for."""
        if type(self.store).__module__.partition(".")[0] == "obstore":
            _check_store_process(self.path)
        return getattr(self.store, request)(self.path, **arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return GivenStoreSource, (self.store, self.path, self.state)

    def __repr__(self) -> str:
        return f"{self.path} in {self.store!r}"


#: The process in which obstore was first used: its threads are there, and a child would wait for them for ever.
_store_process: int | None = None


def _check_store_process(url: str) -> None:
    global _store_process
    if _store_process is None:
        _store_process = os.getpid()
    if _store_process != os.getpid():
        raise _after_fork(url)


def _after_fork(url: str) -> OSError:
    return OSError(f'{url}: object stores cannot be used after a fork; start processes by "spawn" or "forkserver"')


def open_store(url: str, options: Mapping[str, str] | None) -> tuple[Any, str]:
    """The store of a URL, and the path in it."""
    try:
        from obstore.store import from_url
    except ImportError as error:
        raise ImportError(
            f"{url}: files in object stores need the package obstore; install it with `pip install 'lancet-io[cloud]'`"
        ) from error
    _check_store_process(url)
    scheme, _, rest = url.partition("://")
    bucket, _, path = rest.partition("/")
    if scheme == "memory":
        raise ValueError("memory:// has no files; give bytes, or a file object")
    settings: Any = dict(options) if options else None
    if settings and scheme in ("http", "https"):
        # They have no keys and regions, but headers, timeouts and proxies.
        return from_url(f"{scheme}://{bucket}", client_options=settings), path
    return from_url(f"{scheme}://{bucket}", config=settings), path


def source_of(source: Any, storage_options: Mapping[str, str] | None) -> Any:
    """What a caller has named, as one of the classes above."""
    if is_url(source):
        return StoreSource(source, storage_options)
    if storage_options is not None:
        raise ValueError("`storage_options` are for URLs")
    if isinstance(source, (str, os.PathLike)):
        return PathSource(path_of(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return BytesSource(source if isinstance(source, bytes) else bytes(source))
    if hasattr(source, "seek") and hasattr(source, "read"):
        check_bytes(source, "rb")
        return ObjectSource(source)
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], str):
        store, path = source
        if hasattr(store, "get_ranges") and hasattr(store, "head"):
            return GivenStoreSource(store, path)
    raise TypeError(
        "a file is a path, a URL, bytes, an object with `seek` and `read`, or a pair of a store with `head` and `get_ranges` and a "
        f"path in it, not a value of type {type(source).__name__}"
    )
