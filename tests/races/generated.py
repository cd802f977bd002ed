"""Random programs with threads, for comparing the race detector with the oracle.

Owns `program(seed)`: the source of a small program that always ends, without an exception, under
every schedule, and what each of its lines touches. Threads share a few objects, which they touch
with and without locks, and tell each other things by events, queues, semaphores, futures,
barriers, starts and joins, all at random.

A plan is made first, as lists of steps. That it cannot deadlock is seen by going through it once:
all that is waited for is either never taken back or has one taker, so that when one order of steps
comes to its end, all do. A step that would wait for ever is left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.races.oracle import OF_ONE, Mode

Sight = tuple[int, Mode]  # an access as far as it is compared: its line, and what it does


@dataclass(frozen=True)
class Target:
    """What a line touches: an object by its name in the source, and a name or key in it."""

    object: str
    what: str | None  # None: all of it


@dataclass(frozen=True)
class Touch:
    text: str
    target: Target


@dataclass(frozen=True)
class Within:
    """Steps that cannot wait for ever, in a `with` or a loop."""

    head: str
    body: tuple[Touch | Within, ...]


@dataclass(frozen=True)
class Signal:
    place: str


@dataclass(frozen=True)
class Await:
    place: str
    is_polled: bool = False


@dataclass(frozen=True)
class Start:
    thread: int


@dataclass(frozen=True)
class Join:
    thread: int
    is_polled: bool = False


_NOBODYS = Target("what is not shared", None)
Step = Touch | Within | Signal | Await | Start | Join
Plan = list[list[Step]]  # the steps of each thread; the first is the main thread


@dataclass(frozen=True)
class Program:
    source: str
    targets: dict[int, Target]  # by line

    def variable(self, first: Sight, second: Sight) -> Target:
        """What two accesses race on: an item or attribute if both mean one, else the whole."""
        (line, mode), (other_line, other_mode) = first, second
        one, other = (self.targets.get(each, _NOBODYS) for each in (line, other_line))
        if one.object != other.object:  # which would be wrong, and should be seen
            return Target(f"{one.object} and {other.object}", None)
        return one if {mode, other_mode} <= OF_ONE else Target(one.object, None)


# ---- what can be touched ----

_KEYS = ("0", "1")
_ATTRIBUTE = ("{o}.{k} = 1", "own = {o}.{k}", "{o}.{k} += 1", "own = [{o}.{k}, {o}.{k}]")
_VARIABLE = ("{o} = 1", "own = {o}", "{o} += 1")
_LIST_ITEM = ("{o}[{k}] = 1", "own = {o}[{k}]", "{o}[{k}] += 1")
_LIST = (
    *("{o}.append(1)", "{o}.extend((1, 2))", "own = len({o})", "own = 1 in {o}", "own = sum({o})"),
    *("{o}.sort()", "{o}.insert(0, 1)", "{o}[0:1] = [1]", "own = {o}[:]", "own = {o}.pop()"),
    *("for own in {o}: pass", "own = [each for each in {o}]"),
)
_DICT_ITEM = (
    *("{o}[{k}] = 1", "own = {o}.get({k})", "own = {k} in {o}", "{o}.setdefault({k}, 1)"),
    "{o}.pop({k}, None)",
)
_DICT = ("own = len({o})", "own = list({o})", "{o}.update({{0: 1}})", "{o}.clear()")
_SET_ITEM = ("{o}.add({k})", "own = {k} in {o}", "{o}.discard({k})")
_SET = ("own = len({o})", "own = sorted({o})", "{o}.clear()")
_DEQUE = (
    *("{o}.append(1)", "{o}.appendleft(1)", "own = len({o})", "{o}.rotate()"),
    *("with suppress(IndexError): own = {o}.popleft()", "{o}.clear()"),
    "with suppress(RuntimeError): own = list({o})",  # without a GIL it is changed on the way
)
# By the kind of the object, which its name begins with: with a key, and of the whole.
_STATEMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "box": (_ATTRIBUTE, ()),
    "slotted": (_ATTRIBUTE, ()),
    "counter": ((), _VARIABLE),
    "total": ((), _VARIABLE),
    "numbers": (_LIST_ITEM, _LIST),
    "names": (_DICT_ITEM, _DICT),
    "seen": (_SET_ITEM, _SET),
    "line": ((), _DEQUE),
}
_NAMED = ("box", "slotted")  # their keys are names of attributes


def touch(random: Random, object: str) -> Touch:
    kind = object.rstrip("0123456789")
    keyed, whole = _STATEMENTS[kind]
    if keyed and (not whole or random.random() < 0.6):
        key = random.choice(_KEYS)
        shown = f"a{key}" if kind in _NAMED else key
        text = random.choice(keyed)
    else:
        key, shown, text = None, "", random.choice(whole)
    return Touch(text.format(o=object, k=shown), Target(object, key))


def fresh(random: Random) -> Touch:
    """An object that nobody else ever has, where another one may have been before."""
    text = random.choice(("use(Box())", "fill([], {})", "count()"))
    return Touch(text, _NOBODYS)


# ---- plans ----


def make_plan(random: Random) -> Plan:
    count = random.randint(2, 4) + 1
    objects = _objects(random)
    guards = {each: f"lock{random.randrange(3)}" for each in objects if random.random() < 0.4}
    plan: Plan = [_touches(random, objects, guards) for _ in range(count)]
    _add_threads(random, plan)
    for number in range(random.randint(0, 4)):
        _add_signal(random, plan, number)
    return without_endless_waits(plan)


def _objects(random: Random) -> list[str]:
    kinds = random.sample(list(_STATEMENTS), random.randint(1, 3))
    return [f"{kind}{random.randrange(2)}" for kind in kinds]


def _touches(random: Random, objects: list[str], guards: dict[str, str]) -> list[Step]:
    steps: list[Step] = []
    for _ in range(random.randint(1, 6)):
        object = random.choice(objects)
        lock = guards.get(object, "")
        if not lock and random.random() < 0.3:
            lock = f"lock{random.randrange(3)}"
        made: Touch | Within = touch(random, object) if random.random() < 0.9 else fresh(random)
        if lock:
            made = Within(f"with {lock}:", (made, *_more(random, object)))
        if random.random() < 0.15:
            made = Within("for _ in range(2):", (made,))
        steps.append(made)
    return steps


def _more(random: Random, object: str) -> Iterator[Touch]:
    if random.random() < 0.3:
        yield touch(random, object)


def _add_threads(random: Random, plan: Plan) -> None:
    """Each is started by one before it, and may be joined there."""
    for thread in range(1, len(plan)):
        parent = plan[random.randrange(thread) if random.random() < 0.4 else 0]
        at = random.randint(0, len(parent))
        parent.insert(at, Start(thread))
        if random.random() < 0.6:
            join = Join(thread, is_polled=random.random() < 0.3)
            parent.insert(random.randint(at + 1, len(parent)), join)


_PLACES = ("event", "queue", "simple", "semaphore", "future", "handed", "barrier", "deque")
_KEPT = ("event", "future")  # whoever waits finds it; the others have one taker


def _add_signal(random: Random, plan: Plan, number: int) -> None:
    kind = random.choice(_PLACES)
    place = f"{kind}{number}"
    giver, *takers = random.sample(range(len(plan)), min(len(plan), 3))
    if kind == "barrier":
        _insert(random, plan[giver], Await(place))
        _insert(random, plan[takers[0]], Await(place))
        return
    times = 1 if kind in ("future", "handed") else random.randint(1, 2)
    for _ in range(times):
        _insert(random, plan[giver], Signal(place))
    for taker in takers if kind in _KEPT else takers[:1]:
        for _ in range(times):
            is_polled = kind == "deque" or (kind in _POLLS and random.random() < 0.4)
            _insert(random, plan[taker], Await(place, is_polled))


def _insert(random: Random, steps: list[Step], step: Step) -> None:
    steps.insert(random.randint(0, len(steps)), step)


def without_endless_waits(plan: Plan) -> Plan:
    while (stuck := _stuck(plan)) is not None:
        thread, at = stuck
        step = plan[thread][at]
        is_barrier = isinstance(step, Await) and step.place.startswith("barrier")
        if is_barrier:  # the other one would wait for ever, then
            plan = [[each for each in steps if each != step] for steps in plan]
        else:
            del plan[thread][at]
    return plan


def _stuck(plan: Plan) -> tuple[int, int] | None:
    """The first step that is never made, if there is one: thread and place in its list."""
    state = _State(plan)
    while any([state.step(thread) for thread in range(len(plan))]):
        pass
    for thread, steps in enumerate(plan):
        if thread in state.started and state.at[thread] < len(steps):
            return thread, state.at[thread]
    return None


class _State:
    """How far each thread has come, if all go on as long as they can."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.at = [0] * len(plan)
        self.started = {0}
        self.given: Counter[str] = Counter()
        self.met: dict[str, set[int]] = {}

    def step(self, thread: int) -> bool:
        if thread not in self.started or self.at[thread] == len(self.plan[thread]):
            return False
        if not self._is_made(thread, self.plan[thread][self.at[thread]]):
            return False
        self.at[thread] += 1
        return True

    def _is_made(self, thread: int, step: Step) -> bool:
        match step:
            case Start():
                self.started.add(step.thread)
            case Signal():
                self.given[step.place] += 1
            case Join():
                return self.at[step.thread] == len(self.plan[step.thread])
            case Await():
                return self._is_met(thread, step.place)
        return True

    def _is_met(self, thread: int, place: str) -> bool:
        if place.startswith("barrier"):
            self.met.setdefault(place, set()).add(thread)
            return len(self.met[place]) == 2
        if self.given[place] == 0:
            return False
        if not place.startswith(_KEPT):
            self.given[place] -= 1
        return True


# ---- source ----

_HEAD = """\
import queue
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress


class Box:
    def __init__(self):
        self.a0 = 0
        self.a1 = 0


class Slotted:
    __slots__ = ("a0", "a1")

    def __init__(self):
        self.a0 = 0
        self.a1 = 0


def use(box):
    box.a0 += 1
    box.a1 = box.a0


def fill(numbers, names):
    numbers.append(1)
    names["key"] = numbers[0]
    numbers[0] = len(names)


def count():
    kept = 0

    def add():
        nonlocal kept
        kept += 1

    add()


def poll(is_done):
    while not is_done():
        time.sleep(0)


def is_taken(inbox):
    try:
        inbox.popleft() if isinstance(inbox, deque) else inbox.get_nowait()
    except (IndexError, queue.Empty):
        return False
    return True


"""
_MAKERS = {
    "box": "Box()",
    "slotted": "Slotted()",
    "counter": "0",
    "numbers": "[3, 2, 1] * 20",  # more than are ever popped
    "names": "{0: 0}",
    "seen": "{0}",
    "line": "deque([1] * 40)",
    "lock": "threading.RLock()",
    "event": "threading.Event()",
    "queue": "queue.Queue()",
    "simple": "queue.SimpleQueue()",
    "semaphore": "threading.Semaphore(0)",
    "future": "Future()",
    "handed": "threading.Lock()",
    "deque": "deque()",
    "barrier": "threading.Barrier(2)",
}
_SIGNALS = {
    "event": "{p}.set()",
    "queue": "{p}.put(0)",
    "simple": "{p}.put(0)",
    "semaphore": "{p}.release()",
    "future": "{p}.set_result(0)",
    "handed": "{p}.release()",
    "deque": "{p}.append(0)",
}
_AWAITS = {
    "event": "{p}.wait()",
    "queue": "{p}.get()",
    "simple": "{p}.get()",
    "semaphore": "{p}.acquire()",
    "future": "{p}.result()",
    "handed": "{p}.acquire()",
    "barrier": "{p}.wait()",
}
_POLLS = {
    "event": "poll({p}.is_set)",
    "future": "poll({p}.done)",
    "simple": "poll(lambda: is_taken({p}))",
    "deque": "poll(lambda: is_taken({p}))",
}
_INDENT = "    "


class _Writer:
    def __init__(self) -> None:
        self.lines = _HEAD.splitlines()
        self.targets: dict[int, Target] = {}

    def line(self, depth: int, text: str, target: Target | None = None) -> None:
        self.lines.append(_INDENT * depth + text)
        if target is not None:
            self.targets[len(self.lines)] = target

    def step(self, depth: int, step: Step) -> None:
        match step:
            case Touch():
                self.line(depth, step.text, step.target)
            case Within():
                self.line(depth, step.head)
                for each in step.body:
                    self.step(depth + 1, each)
            case Signal():
                self.line(depth, _for_place(_SIGNALS, step.place))
            case Await():
                self.line(depth, _for_place(_POLLS if step.is_polled else _AWAITS, step.place))
            case Start():
                self.line(depth, f"threads[{step.thread}].start()")
            case Join() if step.is_polled:
                self.line(depth, f"poll(lambda: not threads[{step.thread}].is_alive())")
            case Join():
                self.line(depth, f"threads[{step.thread}].join()")


def _kind(name: str) -> str:
    return name.rstrip("0123456789")


def _for_place(texts: dict[str, str], place: str) -> str:
    return texts[_kind(place)].format(p=place)


def program_of(plan: Plan) -> Program:
    writer = _Writer()
    for object in _numbered("box", "slotted", "counter", "numbers", "names", "seen", "line"):
        writer.line(0, f"{object} = {_MAKERS[_kind(object)]}")
    for lock in ("lock0", "lock1", "lock2", *_places(plan)):
        writer.line(0, f"{lock} = {_MAKERS[_kind(lock)]}")
        if lock.startswith("handed"):
            writer.line(0, f"{lock}.acquire()")
    writer.line(0, "def program():")
    for total in _numbered("total"):
        writer.line(1, f"{total} = 0")
    for thread, steps in enumerate(plan):
        _write_thread(writer, thread, steps)
    names = ", ".join(f"thread_{thread}" for thread in range(len(plan)))
    writer.line(1, f"threads = [threading.Thread(target=each) for each in ({names})]")
    writer.line(1, "thread_0()")
    writer.line(1, "return threads")
    writer.line(0, "threads = program()")
    return Program("\n".join(writer.lines) + "\n", writer.targets)


def _numbered(*kinds: str) -> list[str]:
    return [f"{kind}{number}" for kind in kinds for number in range(2)]


def _places(plan: Plan) -> list[str]:
    steps = [step for steps in plan for step in steps]
    return sorted({step.place for step in steps if isinstance(step, Signal | Await)})


def _write_thread(writer: _Writer, thread: int, steps: list[Step]) -> None:
    writer.line(1, f"def thread_{thread}():")
    writer.line(2, "global counter0, counter1")
    writer.line(2, "nonlocal total0, total1")
    for step in steps:
        writer.step(2, step)


def program(seed: int) -> Program:
    return program_of(make_plan(Random(seed)))


if __name__ == "__main__":
    print(program(int(sys.argv[1])).source, end="")
