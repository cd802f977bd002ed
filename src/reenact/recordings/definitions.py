"""What the numbers in other streams stand for: strings, sites, objects, threads, calls, sources.

One pass over the definitions makes all but the objects, of which a long run has millions: of
those it keeps where each begins, and decodes one when it is asked for. Counts are limited, so
that a small file that unpacks to a large one cannot fill the memory. Read by `streams.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path

from reenact.errors import RecordingError
from reenact.events import THREAD_OPERATIONS, Call, Names, Object, Site
from reenact.recordings.format import decode_varint

LIMIT = 1 << 28
LONGEST_STRING = 1 << 16
LONGEST_CALL = 256
MOST = {
    "strings": 1 << 22,
    "sites": 1 << 20,
    "threads": 1 << 20,
    "sources": 1 << 20,
    "modules": 1 << 16,
    "calls": 1 << 16,
}

# A thread started by a thread started by ... deeper than this is called `#index`: the paths
# of n threads in one chain would take n * n memory.
DEEPEST_PATH = 1000
_KEPT = 1 << 16
_KEPT_PATH_CHARACTERS = 1 << 24

NOWHERE = Site(0, "none", "", "", 0)
NOTHING = Object("none", 0)


class Definitions:
    """Everything the program named. Lookups of what was never defined raise RecordingError."""

    def __init__(self, data: bytes, names: Names, path: Path) -> None:
        self._data = data
        self._path = path
        self.names = names
        self.strings: list[str] = []
        self.sites: list[Site] = [NOWHERE]
        self.sources: dict[str, str] = {}
        self.modules: list[str] = []
        self.calls: dict[int, Call] = {}
        self.paths = Paths(self._fail)
        self.objects = Objects(self, self._fail)
        self._source_count = 0
        self.is_cut = False
        self._read_all()
        self.thread_objects = ThreadObjects(self.paths)
        self.object_tables = [self._table(site.operation) for site in self.sites]

    def site(self, number: int) -> Site:
        if not 0 <= number < len(self.sites):
            raise self._fail(f"site {number} is not defined")
        return self.sites[number]

    def object(self, site: Site, number: int) -> Object:
        return self.object_tables[site.number][number]

    def _table(self, operation: str) -> dict[int, Object]:
        """Where the objects of an operation are looked up: for an unknown one, nowhere."""
        if operation in THREAD_OPERATIONS:
            return self.thread_objects
        return self.objects if operation in self.names.operations[1:] else _UNKNOWN

    def _read_all(self) -> None:
        readers = (
            *(None, self._string, self._site, self._object),
            *(self._source, self._thread, self._call, self._module),
        )
        data, at = self._data, 0
        start = at
        try:
            while at < len(data):
                start = at
                tag, at = decode_varint(data, at)
                if not 0 < tag < len(readers):
                    raise ValueError(f"there is no definition {tag}")
                at = readers[tag](at)  # type: ignore[misc]
        except IndexError:
            self.is_cut = True
        except ValueError as error:
            raise self._fail(f"byte {start}: {error}") from None

    def _fields(self, at: int, count: int) -> tuple[list[int], int]:
        values = []
        for _ in range(count):
            value, at = decode_varint(self._data, at)
            values.append(value)
        return values, at

    def _string(self, at: int) -> int:
        size, at = decode_varint(self._data, at)
        self._count("strings", len(self.strings))
        self.strings.append(self._sized(at, size, LONGEST_STRING))
        return at + size

    def _sized(self, at: int, size: int, limit: int) -> str:
        if size > limit:
            raise ValueError(f"a string has {size} bytes")
        if at + size > len(self._data):
            raise IndexError
        return self._data[at : at + size].decode("utf-8", "backslashreplace")

    def _site(self, at: int) -> int:
        (kind, file, function, line), at = self._fields(at, 4)
        operation = self.names.operation(kind)
        number = len(self.sites)
        self._count("sites", number)
        self.sites.append(Site(number, operation, self._text(file), self._text(function), line))
        return at

    def _object(self, at: int) -> int:
        start = at
        _, at = self._fields(at, 3)
        self.objects.add(start)
        return at

    def _source(self, at: int) -> int:
        (path, digest), at = self._fields(at, 2)
        self._source_count += 1
        self._count("sources", self._source_count)
        self.sources[self._text(path)] = self._text(digest)
        return at

    def _thread(self, at: int) -> int:
        (index, parent, ordinal), at = self._fields(at, 3)
        self._count("threads", self.paths.count)
        self.paths.add(index, parent, ordinal)
        return at

    def _module(self, at: int) -> int:
        size, at = decode_varint(self._data, at)
        self._count("modules", len(self.modules))
        self.modules.append(self._sized(at, size, LONGEST_STRING))
        return at + size

    def _call(self, at: int) -> int:
        (number, opens, size), at = self._fields(at, 3)
        self._count("calls", len(self.calls))
        if number in self.calls:
            raise ValueError(f"call {number} is defined twice")
        self.calls[number] = Call(number, self._sized(at, size, LONGEST_CALL), opens == 1)
        return at + size

    def decode_object(self, at: int) -> tuple[str, Site, int]:
        (kind, site, address), _ = self._fields(at, 3)
        return self.names.object(kind), self.site(site), address

    def _text(self, number: int) -> str:
        if number >= len(self.strings):
            raise ValueError(f"string {number} is not defined")
        return self.strings[number]

    def _count(self, what: str, count: int) -> None:
        if count >= MOST[what]:
            reason = f"definitions has more than {MOST[what]} {what}"
            raise RecordingError(self._path, "oversized", reason)

    def _fail(self, what: str) -> RecordingError:
        return RecordingError(self._path, "damaged", f"definitions: {what}")


_Fail = Callable[[str], RecordingError]


class Objects(dict[int, Object]):
    """Objects by number, decoded when first asked for; the dictionary is the cache."""

    def __init__(self, definitions: Definitions, fail: _Fail) -> None:
        self._definitions = definitions
        self._fail = fail
        self._begins = array("I")  # LIMIT < 4 GiB

    @property
    def count(self) -> int:
        return len(self._begins)

    def add(self, begin: int) -> None:
        self._begins.append(begin)

    def __missing__(self, number: int) -> Object:
        if number == 0:
            return NOTHING
        if not 0 < number <= len(self._begins):
            raise self._fail(f"object {number} is not defined")
        if len(self) >= _KEPT:
            self.clear()
        kind, site, address = self._definitions.decode_object(self._begins[number - 1])
        made = self[number] = Object(kind, number, site, address)
        return made


class Paths(dict[int, str]):
    """Thread ids by index, made when first asked for; the dictionary is the cache.

    Invariant: a thread's parent is defined before it, so that no chain of parents is a ring.
    """

    def __init__(self, fail: _Fail) -> None:
        self._fail = fail
        self._parents: dict[int, tuple[int, int, int]] = {0: (0, 0, 0)}
        self._kept = 0

    @property
    def count(self) -> int:
        return len(self._parents)

    def indexes(self) -> list[int]:
        return sorted(self._parents)

    def add(self, index: int, parent: int, ordinal: int) -> None:
        if index in self._parents:
            raise ValueError(f"thread {index} is defined twice")
        if parent not in self._parents:
            raise ValueError(f"thread {index} was started by undefined thread {parent}")
        self._parents[index] = (parent, ordinal, self._parents[parent][2] + 1)

    def parent(self, index: int) -> tuple[int, int]:
        """The index of a thread's parent, and its number among that one's children."""
        if index not in self._parents:
            raise self._fail(f"thread {index} is not defined")
        return self._parents[index][:2]

    def __missing__(self, index: int) -> str:
        if index not in self._parents:
            raise self._fail(f"thread {index} is not defined")
        path = self._make(index)
        self._kept += len(path)
        if self._kept > _KEPT_PATH_CHARACTERS:
            self.clear()
            self._kept = len(path)
        self[index] = path
        return path

    def _make(self, index: int) -> str:
        if self._parents[index][2] > DEEPEST_PATH:
            return f"#{index}"
        parts = []
        while index != 0:
            index, ordinal, _ = self._parents[index]
            parts.append(str(ordinal))
        return ".".join(["0", *reversed(parts)])


class ThreadObjects(dict[int, Object]):
    """Threads as objects of operations, by index."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def __missing__(self, index: int) -> Object:
        if len(self) >= _KEPT:
            self.clear()
        made = self[index] = Object("thread", index, path=self._paths[index])
        return made


class _Unknown(dict[int, Object]):
    """For operations this reenact does not know: it cannot tell what their objects are."""

    def __missing__(self, number: int) -> Object:
        return Object("object", number) if number else NOTHING


_UNKNOWN = _Unknown()
