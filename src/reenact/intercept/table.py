"""Every known call that waits, reads a clock or prints, and how it is treated.

`install.py` turns the rows into patches. Locks, RLocks and SimpleQueues are not rows: the core
patches their types in place (`_core/locks.c`, `_core/queues.c`). Rows of modules that are not
loaded yet apply when they are.

Treatments:

- ``modelled``: the gate performs it (sleeping, starting and ending threads);
- ``recorded``: the outcome is kept, and returned by a replay;
- ``outside``: the baton is dropped while the call waits; a replay performs it again;
- ``printed``: performed, and what was written is kept for comparison.

Sources other than the clock are performed again by a replay: their outcomes are not recorded.
"""

from __future__ import annotations

MODELLED = "modelled"
RECORDED = "recorded"
OUTSIDE = "outside"
PRINTED = "printed"


class Row:
    """`owner` is a module, or `module:Type`. `on_descriptor`: regular files do not wait.

    Not a dataclass: the program's process should not have to load that module.
    """

    __slots__ = ("names", "on_descriptor", "owner", "treatment")

    def __init__(
        self, owner: str, names: tuple[str, ...], treatment: str, on_descriptor: bool = False
    ) -> None:
        self.owner = owner
        self.names = names
        self.treatment = treatment
        self.on_descriptor = on_descriptor


_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")

TABLE = (
    Row("time", tuple(name + suffix for name in _CLOCKS for suffix in ("", "_ns")), RECORDED),
    Row("time", ("sleep",), MODELLED),
    Row(
        "_thread",
        ("start_new_thread", "start_joinable_thread", "_set_sentinel", "_shutdown"),
        MODELLED,
    ),
    Row("_io:FileIO", ("write",), PRINTED),
    Row("posix", ("write",), PRINTED),
    Row("_io:FileIO", ("read", "readall", "readinto"), OUTSIDE, on_descriptor=True),
    Row("posix", ("read", "readv"), OUTSIDE, on_descriptor=True),
    Row("posix", ("system", "wait", "wait3", "wait4", "waitid", "waitpid"), OUTSIDE),
    Row("_signal", ("pause", "sigtimedwait", "sigwait", "sigwaitinfo"), OUTSIDE),
    Row("select", ("select",), OUTSIDE),
    Row("select:poll", ("poll",), OUTSIDE),
    Row("select:epoll", ("poll",), OUTSIDE),
    Row("fcntl", ("flock", "lockf"), OUTSIDE),
    Row(
        "_socket:socket",
        (
            "_accept",
            "connect",
            "connect_ex",
            "recv",
            "recv_into",
            "recvfrom",
            "recvfrom_into",
            "recvmsg",
            "recvmsg_into",
            "send",
            "sendall",
            "sendmsg",
            "sendto",
        ),
        OUTSIDE,
    ),
    Row(
        "_socket",
        ("getaddrinfo", "gethostbyaddr", "gethostbyname", "gethostbyname_ex", "getnameinfo"),
        OUTSIDE,
    ),
    Row("_ssl:_SSLSocket", ("do_handshake", "read", "shutdown", "write"), OUTSIDE),
    Row("_multiprocessing:SemLock", ("acquire", "__enter__"), OUTSIDE),
)
