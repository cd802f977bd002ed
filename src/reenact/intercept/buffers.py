"""Calls that fill several buffers: what they bring in is one value, put into the buffers after."""

from __future__ import annotations

from reenact import _core
from reenact.intercept.table import ON_DESCRIPTOR, ON_SOCKET, WAITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any


def patch_posix(module: ModuleType) -> None:
    for name in ("readv", "preadv"):
        setattr(module, name, _reader(name, getattr(module, name)))


def _reader(name: str, native: Callable[..., int]) -> Callable[..., int]:
    def gather(fd: int, sizes: list[int], *rest: Any, **names: Any) -> tuple[int, bytes]:
        pieces = [bytearray(size) for size in sizes]
        count = native(fd, pieces, *rest, **names)
        return count, b"".join(pieces)[:count]

    recorded = _core.call(f"posix.{name}", gather, "recorded", WAITS | ON_DESCRIPTOR)

    def read(fd: int, buffers: Iterable[Any], /, *rest: Any, **names: Any) -> int:
        views = _views(buffers)
        count, data = recorded(fd, [view.nbytes for view in views], *rest, **names)
        _scatter(data, views)
        return count  # type: ignore[no-any-return]

    read.__name__ = read.__qualname__ = name
    return read


def patch_socket(module: ModuleType) -> None:
    native = module.socket.recvmsg_into

    def gather(self: Any, sizes: list[int], *rest: int) -> tuple[Any, ...]:
        pieces = [bytearray(size) for size in sizes]
        count, *others = native(self, pieces, *rest)
        return b"".join(pieces)[:count], count, *others

    recorded = _core.call("_socket.socket.recvmsg_into", gather, "recorded", WAITS | ON_SOCKET)

    def recvmsg_into(self: Any, buffers: Iterable[Any], /, *rest: int) -> tuple[Any, ...]:
        views = _views(buffers)
        data, *others = recorded(self, [view.nbytes for view in views], *rest)
        _scatter(data, views)
        return tuple(others)

    _core.put(module.socket, "recvmsg_into", recvmsg_into)


def _views(buffers: Iterable[Any]) -> list[memoryview]:
    return [memoryview(buffer).cast("B") for buffer in buffers]


def _scatter(data: bytes, views: list[memoryview]) -> None:
    for view in views:
        piece, data = data[: view.nbytes], data[view.nbytes :]
        view[: len(piece)] = piece
