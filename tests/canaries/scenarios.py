"""What a misbehaving extension does, one thing in each function.

Comments mark the lines that must be found: `# write` where the damage is done, `# allocation` and
`# free` where the block came from and went to; SCENARIOS has the rest.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

import misbehaving


@dataclass(frozen=True)
class Expected:
    """What must be told of a scenario; no callee: the line itself wrote, without a call.

    The first bad byte is the one at `offset`, or one of the next `slack`.
    """

    kind: str
    offset: int
    size: int | None
    callee: str | None
    slack: int = 0


SCENARIOS: dict[str, tuple[Callable[[], None], Expected]] = {}


def scenario(
    kind: str, offset: int, size: int | None, callee: str | None, slack: int = 0
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(function: Callable[[], None]) -> Callable[[], None]:
        SCENARIOS[function.__name__] = (function, Expected(kind, offset, size, callee, slack))
        return function

    return keep


def others() -> list[object]:
    """What programs do in between."""
    texts = [f"text {number}" * number for number in range(20)]
    return [{"length": len(text), "text": text.upper()} for text in texts]


@scenario("overflow", 40, 40, "write")
def by_one() -> None:
    others()
    misbehaving.hold(40)  # allocation
    misbehaving.write(0, 40, 0)
    kept = others()
    misbehaving.write(40, 1, 0)  # write
    misbehaving.write(0, 40, 1)
    del kept


@scenario("overflow", 21, 21, "write")
def by_eight() -> None:
    misbehaving.hold(21)  # allocation
    for byte in range(5):
        misbehaving.write(byte, 1, 7)
    misbehaving.write(21, 8, 255)  # write
    others()


@scenario("underflow", -1, 64, "write")
def before_it() -> None:
    misbehaving.hold(64)  # allocation
    others()
    misbehaving.write(-1, 1, 0)  # write


@scenario("underflow", -16, 64, "write")
def far_before_it() -> None:
    misbehaving.hold(64)  # allocation
    misbehaving.write(-16, 16, 65)  # write


@scenario("overflow", 100, 100, "write")
def object_memory() -> None:
    misbehaving.hold_object_memory(100)  # allocation
    misbehaving.write(100, 1, 0)  # write


@scenario("overflow", 7, 7, "write")
def raw_memory() -> None:
    misbehaving.hold_raw(7)  # allocation
    misbehaving.write(0, 8, 1)  # write
    misbehaving.let_go_raw()  # free


@scenario("overflow", 8_000_000, 8_000_000, "write")
def large() -> None:
    misbehaving.hold(8_000_000)  # allocation
    misbehaving.write(8_000_000, 1, 0)  # write


@scenario("overflow", 5, 5, "write_and_free")
def gone_with_it() -> None:
    misbehaving.hold(5)  # allocation
    misbehaving.write_and_free(5)  # write and free
    others()


@scenario("overflow", 24, 24, "copy", slack=7)
def eight_too_many_copied() -> None:
    # each byte may happen to be the right one, once in 64 times: see docs/memory.md
    misbehaving.hold(24)
    misbehaving.copy(24)  # write and allocation


@scenario("overflow", 53, 53, "spoil_bytes")
def bytes_of() -> None:
    data = bytes(range(20))  # allocation
    misbehaving.spoil_bytes(data, 19)
    misbehaving.spoil_bytes(data, 21)  # write


@scenario("overflow", 10, 10, "spoil_bytes")
def bytearray_of() -> None:
    data = bytearray(9)  # allocation
    misbehaving.spoil_bytes(data, 8)
    misbehaving.spoil_bytes(data, 10)  # write
    others()


@scenario("overflow", 12, 12, "spoil_buffer")
def array_of() -> None:
    data = array("i", [1, 2, 3])  # allocation
    misbehaving.spoil_buffer(data, 11)
    misbehaving.spoil_buffer(data, 12)  # write


@scenario("overflow", 56, 56, "spoil_list", slack=7)
def list_of() -> None:
    # what is written is the address of None, whose first byte may be that of a canary: 0xA0 on 3.13
    items = [None] * 7  # allocation
    misbehaving.spoil_list(items, 6)
    misbehaving.spoil_list(items, 7)  # write


@scenario("overflow", 24, 24, None)
def instance_of() -> None:
    small = misbehaving.Small()  # allocation
    small[7] = 1
    small[8] = 1  # write
    others()


@scenario("overflow", 24, 24, None)
def after_a_return() -> None:
    def index() -> int:
        others()
        return 8

    small = misbehaving.new_small()  # allocation
    small[index()] = 1  # write


@scenario("overflow", 48, 48, "call_and_write")
def after_a_callback() -> None:
    misbehaving.hold(48)  # allocation
    misbehaving.call_and_write(others, 48)  # write
    others()


@scenario("use after free", 3, 30, "write")
def freed() -> None:
    misbehaving.hold(30)  # allocation
    misbehaving.write(3, 1, 0)
    misbehaving.let_go()  # free
    kept = others()
    misbehaving.write(3, 1, 0)  # write
    del kept


@scenario("use after free", 29, 30, "write")
def freed_object_memory() -> None:
    misbehaving.hold_object_memory(30)  # allocation
    misbehaving.let_go_object_memory()  # free
    misbehaving.write(29, 1, 0)  # write


@scenario("use after free", 0, 30, "write")
def freed_long_ago() -> None:
    misbehaving.hold(30)  # allocation
    misbehaving.let_go()  # free
    for _ in range(100):
        others()
    misbehaving.write(0, 1, 0)  # write


@scenario("use after free", 2_000, 300_000, "write")
def freed_large() -> None:
    misbehaving.hold(300_000)  # allocation
    misbehaving.let_go()  # free
    misbehaving.write(2_000, 9, 0)  # write


@scenario("use after free", 19, 24, "use_remembered")
def freed_object() -> None:
    small = misbehaving.Small()  # allocation
    misbehaving.remember(small)
    misbehaving.use_remembered()
    del small  # free
    misbehaving.use_remembered()  # write
    others()


@scenario("use after free", 0, 24, "count_remembered")
def counted_after_its_end() -> None:
    small = misbehaving.new_small()  # allocation
    misbehaving.remember(small)
    small = None  # free
    misbehaving.count_remembered()  # write


@scenario("use after free", 30, 100, "write")
def moved() -> None:
    misbehaving.hold(100)  # allocation
    misbehaving.grow_and_forget(200)  # free
    misbehaving.write(30, 1, 0)  # write


@scenario("double free", 0, 100, "let_go")
def freed_twice() -> None:
    misbehaving.hold(100)  # allocation
    misbehaving.let_go()  # free
    misbehaving.let_go()  # write
