"""Where this interpreter can switch threads: an experiment.

A thread gives up the interpreter's lock where signal handlers run, too: in one place of the
interpreter, which certain instructions jump to. So a timer sends signals while a loop goes through
instructions of all sorts, and the handler notes at which one it was called. Prints, for each
instruction of the loop, how often that was; those with 0 after many signals do not check.
"""

import dis
import signal
import sys
import time
from collections import Counter
from types import FrameType


class Thing:
    __slots__ = ("value",)

    def method(self) -> int:
        return 1


def python_function() -> None:
    pass


def generator():  # type: ignore[no-untyped-def]
    while True:
        yield 1


def loop(seconds: float) -> None:
    thing = Thing()
    thing.value = 0
    items = [1, 2, 3]
    table = {"a": 1}
    lock = __import__("threading").Lock()
    made = generator()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        thing.value += 1
        table["a"] = table["a"] + 1
        items[0] = items[1] if items[2] > 2 else 0
        len(items)
        isinstance(items, list)
        items.append(1)
        items.pop()
        max(1, 2)
        str(1)
        print(*(), end="")
        python_function()
        thing.method()
        next(made)
        with lock:
            pass
        for each in items:
            each + 1
        f"{thing.value}"
        is_same = items == [1, 2]
        if not is_same:
            del is_same
        global COUNT
        COUNT = COUNT + 1


COUNT = 0


def main() -> None:
    seen: Counter[tuple[str, int]] = Counter()

    def note(number: int, frame: FrameType | None) -> None:
        if frame is not None:
            seen[frame.f_code.co_name, frame.f_lasti] += 1

    signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0002)
    loop(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    functions = (loop, python_function, Thing.method, generator)
    print(sys.version.split()[0], sum(seen.values()), "signals")
    for function in functions:
        for each in dis.get_instructions(function):
            count = seen[function.__name__, each.offset]
            if count:
                print(f"  {function.__name__:16} {each.offset:>4} {each.opname:24} {count}")


if __name__ == "__main__":
    main()
