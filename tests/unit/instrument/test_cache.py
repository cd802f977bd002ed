"""The cache gives back what it was given, trusts nobody else, and never gets in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import CodeType

import pytest

from reenact.instrument import cache as caching
from reenact.instrument.cache import Cache, default_root, digest_of, key_for

from .standins import in_child

KEY = key_for(digest_of(b"x = 1\n"), "/program.py")
CODE = compile("x = 1\n", "/program.py", "exec")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


def entry(cache: Cache, key: str = KEY) -> Path:
    return Path(cache.root, key[:2], key[2:])


def make(cache: Cache, names: int) -> list[str]:
    """Store that many entries, each older than the next."""
    keys = [digest_of(b"%d" % number) for number in range(names)]
    for age, key in enumerate(reversed(keys)):
        assert cache.store(key, CODE)
        os.utime(entry(cache, key), (1_000_000 - age, 1_000_000 - age))
    return keys


def test_gives_back_what_was_stored(cache: Cache) -> None:
    assert not cache.has(KEY)
    assert cache.load(KEY) is None
    assert cache.store(KEY, CODE)
    assert cache.has(KEY)
    assert cache.load(KEY) == CODE
    assert [path for path in Path(cache.root).rglob("*") if path.is_file()] == [entry(cache)]


def test_stores_again_over_an_old_entry(cache: Cache) -> None:
    other = compile("y = 2\n", "/program.py", "exec")
    assert cache.store(KEY, CODE)
    assert cache.store(KEY, other)
    assert cache.load(KEY) == other


def test_what_another_process_stored_is_seen(cache: Cache) -> None:
    assert in_child(lambda: cache.store(KEY, CODE))
    assert cache.load(KEY) == CODE


def test_nobody_else_may_read_or_write(cache: Cache) -> None:
    cache.store(KEY, CODE)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (entry(cache), entry(cache).parent)]
    assert modes == [0o600, 0o700]
    assert stat.S_IMODE(os.stat(cache.root).st_mode) == 0o700


@pytest.mark.parametrize("position", [0, 20, 60, -1])
def test_a_changed_byte_is_a_miss(cache: Cache, position: int) -> None:
    cache.store(KEY, CODE)
    data = bytearray(entry(cache).read_bytes())
    data[position] ^= 1
    entry(cache).write_bytes(data)
    assert cache.load(KEY) is None
    assert not cache.has(KEY), "the next run would not renew it"


@pytest.mark.parametrize("size", [0, 10, 47, 48, 60])
def test_a_truncated_entry_is_a_miss(cache: Cache, size: int) -> None:
    cache.store(KEY, CODE)
    os.truncate(entry(cache), size)
    assert cache.load(KEY) is None
    assert cache.store(KEY, CODE)
    assert cache.load(KEY) == CODE


def test_an_entry_under_another_name_is_a_miss(cache: Cache) -> None:
    other = digest_of(b"other")
    cache.store(KEY, CODE)
    cache.store(other, CODE)
    entry(cache).replace(entry(cache, other))
    assert cache.load(other) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_read(cache: Cache, mode: int) -> None:
    cache.store(KEY, CODE)
    entry(cache).chmod(mode)
    assert cache.load(KEY) is None


def test_what_others_own_is_not_read(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, CODE)
    monkeypatch.setattr(caching, "geteuid", lambda: os.geteuid() + 1)
    assert cache.load(KEY) is None
    assert entry(cache).exists()


def test_nothing_is_stored_with_another_user(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, CODE)
    monkeypatch.setattr(caching, "geteuid", lambda: os.geteuid() + 1)
    assert not cache.store(digest_of(b"other"), CODE)


def test_links_and_pipes_are_not_read(cache: Cache) -> None:
    cache.store(KEY, CODE)
    elsewhere = Path(cache.root, "elsewhere")
    entry(cache).rename(elsewhere)
    entry(cache).symlink_to(elsewhere)
    assert cache.load(KEY) is None
    entry(cache).unlink()
    os.mkfifo(entry(cache))
    assert cache.load(KEY) is None


def test_an_impossible_directory_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    cache = Cache(str(file / "cache"))
    assert not cache.store(KEY, CODE)
    assert not cache.has(KEY)
    assert cache.load(KEY) is None
    cache.trim(0)


def test_a_full_disk_is_no_error(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching, "write", write)
    assert not cache.store(KEY, CODE)
    assert not list(entry(cache).parent.iterdir())


def test_writing_in_pieces(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "write", lambda fd, data: os.write(fd, data[:7]))
    assert cache.store(KEY, CODE)
    assert cache.load(KEY) == CODE


def test_trim_removes_the_oldest(cache: Cache) -> None:
    keys = make(cache, 6)
    size = entry(cache, keys[0]).stat().st_size
    cache.trim(3 * size)
    assert [cache.has(key) for key in keys] == [False] * 3 + [True] * 3
    cache.trim(3 * size)
    assert sum(cache.has(key) for key in keys) == 3


def test_trim_touches_nothing_that_is_not_ours(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path))
    keep = [tmp_path / "thesis.tex", tmp_path / "ab" / "photo.jpg", tmp_path / "xyz" / ("a" * 62)]
    for path in keep:
        path.parent.mkdir(exist_ok=True)
        path.write_text("dear to me")
    keys = make(cache, 3)
    abandoned = entry(cache, keys[0]).with_suffix(".4711")
    abandoned.write_text("half an ent")
    cache.trim(0)
    assert not any(cache.has(key) for key in keys)
    assert not abandoned.exists()
    assert all(path.exists() for path in keep)


def test_store_trims_now_and_then(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    trims: list[str] = []
    monkeypatch.setattr(Cache, "trim", lambda self: trims.append(self.root))
    for number in range(130):
        assert cache.store(f"{number:064x}", CODE)
    assert len(trims) == 2


def test_keys_tell_apart_what_matters() -> None:
    digest = digest_of(b"")
    keys = [
        key_for(digest, "/a.py"),
        key_for(digest_of(b"x"), "/a.py"),
        key_for(digest, "/b.py"),
        key_for(digest, "/a.py", optimize=2),
        key_for(digest, "/a.py", config="sites"),
        key_for(digest, "/\udcff.py"),
    ]
    assert len(set(keys)) == len(keys)
    assert key_for(digest, "/a.py") == keys[0]
    assert all(len(key) == 64 for key in keys)


def test_key_depends_on_the_rewriter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "_REWRITER", caching._REWRITER + "1")
    assert key_for(digest_of(b"x = 1\n"), "/program.py") != KEY


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"REENACT_CACHE_DIR": "/r", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/r"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/reenact"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/reenact"),
        ({"REENACT_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/reenact"),
        ({"HOME": "/h"}, "/h/.cache/reenact"),
    ],
)
def test_the_directory_follows_the_environment(
    environment: dict[str, str], root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REENACT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert default_root() == root


def test_many_processes_at_once(cache: Cache) -> None:
    children = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if all(_store_and_load(cache) for _ in range(20)) else 1)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
    assert cache.load(KEY) == CODE


def _store_and_load(cache: Cache) -> bool:
    code: CodeType | None = cache.load(KEY)
    return cache.store(KEY, CODE) and code in (None, CODE)
