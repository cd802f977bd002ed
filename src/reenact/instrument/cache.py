"""The cache of rewritten code, on disk, shared by all processes of one user.

Owns the layout of the directory and of an entry, and whom to trust. The loader asks it on every
import of an instrumented module; `store` and `trim` run in the child process that warms it.
An entry is named by a digest of all that decides its content, so it never goes stale, and is
bound to that name by a checksum. The cache is optional: trouble with the disk is never reported,
and costs no more than a miss.

A recording and its replay must place their objects alike, though one finds the cache cold and
the other warm. So `has` answers without raising, and nothing is remembered from call to call.

Left out on purpose: locks (an entry appears whole, by rename), times of reading (the entry
written first goes first, however often it was read) and entries of other users (to unmarshal a
stranger's file is to run his code).
"""

from __future__ import annotations

import os
import sys
from importlib._bootstrap_external import MAGIC_NUMBER  # as importlib.util does, at no cost
from marshal import dumps, loads

# Bound now, before the interceptors replace them: the cache is no input of the program.
from os import access, close, fstat, geteuid, getpid, listdir, lstat, read, replace, unlink, write
from os import open as open_fd
from stat import S_ISREG

from reenact.instrument.rewrite import REWRITER_VERSION

try:  # hashlib would load OpenSSL: 3 ms more
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

MAX_BYTES = 256 << 20
_TRIM_EVERY = 64  # entries written into one of the 256 directories
_MAGIC = b"reenact code 1\r\n"
_HEADER_SIZE = len(_MAGIC) + 32
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe must not block us
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_REWRITER = f"{sys.implementation.cache_tag} {MAGIC_NUMBER.hex()} {REWRITER_VERSION}"


def digest_of(data: bytes) -> str:
    """The SHA-256 of *data*, in hexadecimal."""
    digest: str = sha256(data).hexdigest()
    return digest


def key_for(source_digest: str, filename: str, optimize: int = -1, config: str = "") -> str:
    """The name of what this interpreter's rewriter makes of a source file."""
    level = sys.flags.optimize if optimize < 0 else optimize
    parts = (source_digest, _REWRITER, str(level), config, filename)
    return digest_of(os.fsencode("\0".join(parts)))


def default_root() -> str:
    """The directory that the environment asks for."""
    if chosen := os.environ.get("REENACT_CACHE_DIR"):
        return os.path.abspath(chosen)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):  # so says the XDG specification
        caches = os.path.expanduser("~/.cache")
    return os.path.join(caches, "reenact")


class Cache:
    """Rewritten code by key, in the directory *root*."""

    def __init__(self, root: str) -> None:
        self.root = root

    def has(self, key: str) -> bool:
        """Is there an entry, sound or not?"""
        return access(self._path(key), os.R_OK)

    def load(self, key: str) -> CodeType | None:
        """The code stored under *key*. A damaged entry is removed, for the next run to renew."""
        entry = _read_own(self._path(key))
        if entry is None:
            return None
        code = _unpack(key, entry)
        if code is None:
            _remove(self._path(key))
        return code

    def store(self, key: str, code: CodeType) -> bool:
        """Keep *code* under *key*; False if we cannot."""
        name = self._path(key)
        try:
            if not self._prepare(os.path.dirname(name)):
                return False
            _write_whole(name, _pack(key, code))
            if len(listdir(os.path.dirname(name))) % _TRIM_EVERY == 0:
                self.trim()  # keys spread evenly, so one directory speaks for all
        except OSError:
            return False
        return True

    def trim(self, max_bytes: int = MAX_BYTES) -> None:
        """Remove the entries written first until no more than *max_bytes* are left."""
        entries = sorted(self._entries())
        excess = sum(size for _, size, _ in entries) - max_bytes
        for _, size, name in entries:
            if excess <= 0:
                break
            _remove(name)
            excess -= size

    def _path(self, key: str) -> str:
        return f"{self.root}/{key[:2]}/{key[2:]}"

    def _prepare(self, directory: str) -> bool:
        """Make *directory*, unless the cache is another user's, as under sudo."""
        os.makedirs(self.root, 0o700, exist_ok=True)
        if lstat(self.root).st_uid != geteuid():
            return False
        os.makedirs(directory, 0o700, exist_ok=True)
        return True

    def _entries(self) -> Iterator[tuple[int, int, str]]:
        """Time written, size and path of each entry, abandoned temporary ones included.

        Looks at nothing that is not named like an entry: *root* may be any directory of the user.
        """
        for prefix in range(256):
            directory = f"{self.root}/{prefix:02x}"
            for name in filter(_is_entry_name, _names_in(directory)):
                try:
                    found = lstat(f"{directory}/{name}")
                except OSError:  # another process trims, too
                    continue
                yield found.st_mtime_ns, found.st_size, f"{directory}/{name}"


def _names_in(directory: str) -> list[str]:
    try:
        return listdir(directory)
    except OSError:
        return []


def _is_entry_name(name: str) -> bool:
    stem = name.partition(".")[0]
    return len(stem) == 62 and not stem.strip("0123456789abcdef")


def _pack(key: str, code: CodeType) -> bytes:
    payload = dumps(code)
    return _MAGIC + _checksum(key, payload) + payload


def _unpack(key: str, entry: bytes) -> CodeType | None:
    payload = memoryview(entry)[_HEADER_SIZE:]
    if entry[:_HEADER_SIZE] != _MAGIC + _checksum(key, payload):
        return None
    code: CodeType = loads(payload)
    return code


def _checksum(key: str, payload: bytes | memoryview) -> bytes:
    """Covers the key too: an entry moved to another name is a damaged one."""
    state = sha256(key.encode())
    state.update(payload)
    checksum: bytes = state.digest()
    return checksum


def _read_own(name: str) -> bytes | None:
    """The content of *name*, unless it is missing or others may have written it."""
    try:
        fd = open_fd(name, _READ)
    except OSError:
        return None
    try:
        found = fstat(fd)
        return read(fd, found.st_size) if _is_own(found) else None
    except OSError:
        return None
    finally:
        close(fd)


def _is_own(found: os.stat_result) -> bool:
    return S_ISREG(found.st_mode) and found.st_uid == geteuid() and not found.st_mode & 0o022


def _write_whole(name: str, entry: bytes) -> None:
    """Let *name* appear with all of *entry* or not at all."""
    temporary = f"{name}.{getpid()}"
    fd = open_fd(temporary, _CREATE, 0o600)
    try:
        written = 0
        while written < len(entry):
            written += write(fd, memoryview(entry)[written:])
        replace(temporary, name)
    except OSError:
        _remove(temporary)
        raise
    finally:
        close(fd)


def _remove(name: str) -> None:
    try:
        unlink(name)
    except OSError:
        return  # gone already, or not ours to remove
