"""The programs of the race suite: which variables race, and at which lines.

Owns the list of `programs/`. Most come in pairs: `x_racy.py`, whose races are given here and happen
under every schedule, and `x_safe.py`, its twin, which has none under any. A line is named by the
word in its comment `# at: word`. Every race that is not *also* must be reported, and nothing that
is not here may be. Files that begin with an underscore are parts of programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

DIRECTORY = Path(__file__).parent / "programs"
_MARK = re.compile(r"# at: (\w+)$")


@dataclass(frozen=True)
class Variable:
    """What is raced on. An empty type is not compared: different views of it are right."""

    kinds: frozenset[str]  # of those that a report may name
    name: str = ""
    type: str = ""


def attribute(type: str, name: str) -> Variable:
    return Variable(frozenset(["attribute"]), name, type)


def of_module(name: str) -> Variable:
    """Seen from outside it is an attribute."""
    return Variable(frozenset(["attribute", "global"]), name)


def closure(name: str) -> Variable:
    return Variable(frozenset(["closure"]), name)


def contents(type: str) -> Variable:
    """An item of a container, or all of them."""
    return Variable(frozenset(["item", "contents"]), "", type)


@dataclass(frozen=True)
class Race:
    variable: Variable
    first: str
    second: str
    also: tuple[tuple[str, str], ...] = ()  # pairs of lines that race under some schedules only


@dataclass(frozen=True)
class Program:
    name: str
    races: tuple[Race, ...] = ()

    @property
    def path(self) -> Path:
        return DIRECTORY / f"{self.name}.py"

    @cached_property
    def lines(self) -> dict[str, int]:
        """The numbers of the lines that have a name."""
        numbered = enumerate(self.path.read_text().splitlines(), 1)
        found = [(_MARK.search(line), number) for number, line in numbered]
        return {match[1]: number for match, number in found if match}


def pair(name: str, *races: Race) -> Iterator[Program]:
    yield Program(f"{name}_racy", races)
    yield Program(f"{name}_safe")


def racy(name: str, *races: Race) -> Iterator[Program]:
    yield Program(f"{name}_racy", races)


def safe(name: str) -> Iterator[Program]:
    yield Program(f"{name}_safe")


def both(variable: Variable, line: str) -> Race:
    """Two threads meet at one line."""
    return Race(variable, line, line)


BOX = attribute("Box", "value")
LIST, DICT, SET, DEQUE, BYTES = map(contents, ("list", "dict", "set", "deque", "bytearray"))
UNORDERED = Race(BOX, "write", "read")  # what most of those about synchronisation have

ACCESSES = [
    # attributes
    *pair("attribute", Race(attribute("Account", "balance"), "write", "read")),
    *pair("attribute_deleted", Race(attribute("Box", "extra"), "delete", "write")),
    *pair("attribute_inherited", Race(attribute("Derived", "state"), "start", "describe")),
    *pair("attribute_names", Race(attribute("Window", "width"), "widen", "reset")),
    *pair("attribute_objects", Race(BOX, "left", "right")),
    *pair("attribute_private", Race(attribute("Meter", "_Meter__count"), "read", "reset")),
    *pair("attribute_readers", UNORDERED),
    *pair("augmented", both(BOX, "add")),
    *pair("class_attribute", Race(attribute("", "limit"), "write", "read")),
    *pair("class_counter", both(attribute("", "made"), "count")),
    *pair("class_list", Race(LIST, "append", "len")),
    *pair("dataclass", Race(attribute("Order", "amount"), "write", "read")),
    *pair("descriptor", Race(attribute("Kettle", "kept"), "set", "get")),
    *pair("function_attribute", both(attribute("function", "count"), "count")),
    *pair("getattr", UNORDERED),
    *pair("hasattr", Race(BOX, "ask", "write")),
    *pair("module_attribute", Race(of_module("verbose"), "attribute", "global")),
    *pair("namespace", Race(attribute("SimpleNamespace", "level"), "write", "read")),
    *pair("object_in_dict", both(BOX, "change")),
    *pair("property", Race(attribute("Kettle", "_celsius"), "set", "get")),
    *pair("setattr_hook", Race(DICT, "set", "get")),
    *pair("slot", Race(attribute("Point", "x"), "write", "read")),
    *racy("same_value", both(BOX, "mark")),
    # globals, closures, targets
    *pair("closure", both(closure("count"), "add")),
    *pair("closure_reader", Race(closure("level"), "write", "read")),
    *pair("default_argument", Race(LIST, "append", "clear")),
    *pair("except_target", Race(of_module("problem"), "except", "read")),
    *pair("for_global", Race(of_module("current"), "for", "read")),
    *pair("for_target", Race(BOX, "for", "read")),
    *pair("global", both(of_module("counter"), "count")),
    *pair("global_deleted", Race(of_module("spare"), "delete", "bind")),
    *pair("global_rebound", Race(of_module("table"), "write", "read")),
    *pair("unpacked_target", UNORDERED),
    *pair("walrus", Race(of_module("latest"), "walrus", "read")),
    *pair("with_target", Race(BOX, "with", "read")),
    # lists
    *pair("append", Race(LIST, "append", "len")),
    *pair("arguments", both(LIST, "write")),
    *pair("comprehension", Race(LIST, "comprehension", "extend")),
    *pair("concatenation", Race(LIST, "add", "append")),
    *pair("enumerate", Race(LIST, "for", "clear")),
    *pair("equality", Race(LIST, "compare", "append")),
    *pair("format", Race(LIST, "format", "append")),
    *pair("heap", Race(LIST, "push", "len")),
    *pair("iteration", Race(LIST, "for", "append")),
    *pair("last_item", Race(LIST, "last", "append")),
    *pair("list_delete", Race(LIST, "delete", "read")),
    *pair("list_insert", both(LIST, "insert")),
    *pair("list_item", both(LIST, "write")),
    *pair("list_negative", Race(LIST, "last", "ninth")),
    *pair("list_pop", Race(LIST, "push", "pop")),
    *pair("list_sort", Race(LIST, "sort", "read")),
    *pair("match", Race(LIST, "match", "write")),
    *pair("membership", Race(LIST, "in", "append")),
    *pair("slice", Race(LIST, "slice", "read")),
    *pair("slice_delete", Race(LIST, "delete", "append")),
    *pair("slice_read", Race(LIST, "slice", "write")),
    *pair("star", Race(LIST, "star", "append")),
    *pair("sum", Race(LIST, "sum", "write")),
    *pair("truth", Race(LIST, "if", "append")),
    *pair("unpacking", Race(LIST, "unpack", "write")),
    # dicts
    *pair("augmented_item", both(DICT, "add")),
    *pair("counter", both(contents("Counter"), "update")),
    *pair("defaultdict", both(contents("defaultdict"), "count")),
    *pair("dict_delete", Race(DICT, "delete", "get")),
    *pair("dict_item", Race(DICT, "check", "act", also=(("act", "act"),))),
    *pair("dict_iteration", Race(DICT, "iterate", "write")),
    *pair("dict_keys", Race(DICT, "int", "bool")),
    *pair("dict_len", Race(DICT, "write", "len")),
    *pair("dict_pop", both(DICT, "pop")),
    *pair("dict_popitem", Race(DICT, "popitem", "get")),
    *pair("dict_update", Race(DICT, "update", "read")),
    *pair("dict_views", Race(DICT, "values", "pop")),
    *pair("ordered", Race(contents("OrderedDict"), "move", "popitem")),
    *pair("setdefault", Race(DICT, "default", "write")),
    # other containers
    *pair("bytearray", both(BYTES, "write")),
    *pair("bytearray_extend", Race(BYTES, "extend", "decode")),
    *pair("deque", Race(DEQUE, "append", "while")),
    *pair("deque_rotate", Race(DEQUE, "rotate", "append")),
    *pair("derived_container", both(attribute("Counted", "writes"), "count")),
    *pair("own_container", Race(LIST, "set", "get")),
    *pair("set", Race(SET, "add", "in")),
    *pair("set_clear", Race(SET, "add", "clear")),
    *pair("set_discard", Race(SET, "add", "discard")),
    *pair("set_iteration", Race(SET, "add", "sorted")),
    *safe("read_only"),
    # objects that come and go: their addresses are given again
    *pair("reuse", both(BOX, "add")),
    *pair("reuse_locks", both(BOX, "add")),
    *safe("reuse_cells"),
    *safe("reuse_handed_over"),
    *safe("reuse_keys"),
]

EDGES = [
    # threads
    *pair("crowd", Race(BOX, "first", "last")),
    *pair("daemon", UNORDERED),
    *pair("is_alive", UNORDERED),
    *pair("join", UNORDERED),
    *pair("join_other", UNORDERED),
    *pair("join_timeout", UNORDERED),
    *pair("nested_start", UNORDERED),
    *pair("one_after_another", both(BOX, "add")),
    *pair("start", UNORDERED),
    *pair("thread_class", Race(attribute("Worker", "result"), "write", "read")),
    *pair("timer", UNORDERED),
    *safe("split_sort"),
    # locks
    *pair("bank", Race(DICT, "deposit", "audit")),
    *pair("bounded_semaphore", both(BOX, "write")),
    *pair("cache", both(attribute("Cache", "hits"), "count")),
    *pair("condition", UNORDERED),
    *pair("condition_locks", Race(LIST, "append", "clear")),
    *pair("context_manager", both(BOX, "write")),
    *pair("double_checked", Race(attribute("Lazy", "made"), "look", "make")),
    *pair("generator_lock", both(BOX, "write")),
    *pair("lock", Race(BOX, "one", "other")),
    *pair("lock_early", Race(BOX, "write", "write", also=(("read", "write"),))),
    *pair("lock_handed", UNORDERED),
    *pair("lock_of_object", Race(attribute("Account", "balance"), "take", "give")),
    *pair("lock_timeout", Race(BOX, "work", "main")),
    *pair("publish", Race(LIST, "subscribe", "publish")),
    *pair("rlock", both(BOX, "write")),
    *pair("semaphore", both(BOX, "add")),
    *pair("semaphore_signal", UNORDERED),
    *pair("shared_lock", both(BOX, "add")),
    *pair("try_lock", Race(BOX, "work", "main")),
    # events and barriers
    *pair("barrier", UNORDERED),
    *pair("barrier_action", Race(BOX, "action", "write")),
    *pair("chain", UNORDERED),
    *pair("event", UNORDERED),
    *pair("event_cleared", UNORDERED),
    *pair("event_polled", UNORDERED),
    *pair("event_timeout", UNORDERED),
    *racy("flag_polled", UNORDERED, Race(attribute("Box", "ready"), "set", "poll")),
    *racy("sleep", UNORDERED),
    # queues
    *pair("deque_queue", UNORDERED),
    *pair("lifo_queue", UNORDERED),
    *pair("priority_queue", UNORDERED),
    *pair("queue", UNORDERED),
    *pair("queue_join", UNORDERED),
    *pair("queue_polled", UNORDERED),
    *pair("simple_queue", UNORDERED),
    *safe("pipeline"),
    # futures and pools
    *pair("future", UNORDERED),
    *pair("future_callback", UNORDERED),
    *pair("future_done", UNORDERED),
    *pair("future_own", UNORDERED),
    *pair("futures_wait", Race(LIST, "write", "read")),
    *pair("pool_initializer", both(BOX, "add")),
    *pair("pool_map", both(BOX, "add")),
    *pair("pool_shutdown", UNORDERED),
    *pair("pool_submit", UNORDERED),
    *pair("thread_pool", UNORDERED),
    # asyncio
    *pair("call_soon", UNORDERED),
    *pair("run_coroutine", UNORDERED),
    *pair("run_in_executor", UNORDERED),
    *pair("to_thread", UNORDERED),
    *racy("loops", both(BOX, "add")),
    *safe("tasks"),
    # what belongs to a thread, and what runs in one without having been called there
    *pair("atexit", UNORDERED),
    *pair("context", both(BOX, "add")),
    *racy("published", both(BOX, "add")),
    *pair("finalize", Race(BOX, "note", "read")),
    *pair("finalizer", both(BOX, "count")),
    *racy("finalizer_called", Race(attribute("Resource", "state"), "use", "close")),
    *safe("finalizer_cycle"),
    *pair("finalizer_last", both(attribute("Resource", "state"), "write")),
    *pair("import", both(of_module("uses"), "use")),
    *pair("local", both(BOX, "add")),
    *pair("signal", Race(BOX, "handler", "thread")),
    *pair("weakref", Race(BOX, "callback", "read")),
]

PROGRAMS = [*ACCESSES, *EDGES]
