"""Every known call that waits, reads a clock or prints, and how it is treated.

`install.py` turns the rows into patches. Locks, RLocks and SimpleQueues are not rows: the core
patches their types in place (`_core/locks.c`, `_core/queues.c`). Rows of modules that are not
loaded yet apply when they are.

Treatments:

- ``modelled``: the gate performs it (sleeping, starting and ending threads);
- ``recorded``: the outcome is kept, and a replay returns it without calling; the baton is dropped
  while the call waits;
- ``clock``: the same for clocks, which never wait;
- ``outside``: the baton is dropped while the call waits; a replay performs it again;
- ``sent``: performed, and may send the program itself a signal;
- ``printed``: written to descriptor 1 or 2, it is performed, and kept for comparison; written to
  a pipe or socket, it is recorded.

Regular files are read and written as ever: their contents are not recorded.
"""

from __future__ import annotations

MODELLED = "modelled"
RECORDED = "recorded"
CLOCK = "clock"
OUTSIDE = "outside"
SENT = "sent"
PRINTED = "printed"


class Row:
    """`owner` is a module, or `module:Type`.

    `on_descriptor`: the first argument is a file or descriptor, and regular files do not wait.
    `fills`: the second argument is a buffer that the call fills. Not a dataclass: the program's
    process should not have to load that module.
    """

    __slots__ = ("fills", "names", "on_descriptor", "owner", "treatment")

    def __init__(
        self,
        owner: str,
        names: tuple[str, ...],
        treatment: str,
        on_descriptor: bool = False,
        fills: bool = False,
    ) -> None:
        self.owner = owner
        self.names = names
        self.treatment = treatment
        self.on_descriptor = on_descriptor
        self.fills = fills


_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")

TABLE = (
    Row("time", tuple(name + suffix for name in _CLOCKS for suffix in ("", "_ns")), CLOCK),
    Row("time", ("sleep",), MODELLED),
    Row(
        "_thread",
        ("start_new_thread", "start_joinable_thread", "_set_sentinel", "_shutdown"),
        MODELLED,
    ),
    Row("_thread", ("interrupt_main",), MODELLED),
    Row("_imp", ("acquire_lock", "release_lock"), MODELLED),
    Row("_io:FileIO", ("write",), PRINTED, on_descriptor=True),
    Row("posix", ("write",), PRINTED, on_descriptor=True),
    Row("_io:FileIO", ("read", "readall"), RECORDED, on_descriptor=True),
    Row("_io:FileIO", ("readinto",), RECORDED, on_descriptor=True, fills=True),
    Row("posix", ("read",), RECORDED, on_descriptor=True),
    Row("posix", ("readv",), OUTSIDE, on_descriptor=True),
    Row("posix", ("system", "wait", "waitpid"), RECORDED),
    Row("posix", ("wait3", "wait4", "waitid"), OUTSIDE),
    Row("_signal", ("pause", "sigwait"), RECORDED),
    Row("_signal", ("sigtimedwait", "sigwaitinfo"), OUTSIDE),
    Row("_signal", ("pthread_kill", "raise_signal"), SENT),
    Row("posix", ("kill", "killpg"), SENT),
    Row("select", ("select",), RECORDED),
    Row("select:poll", ("poll",), RECORDED),
    Row("select:epoll", ("poll",), RECORDED),
    Row("fcntl", ("flock", "lockf"), OUTSIDE),
    Row("_socket:socket", ("_accept", "connect", "connect_ex"), OUTSIDE),
    Row("_socket:socket", ("recv", "recvfrom", "recvmsg"), RECORDED),
    Row("_socket:socket", ("send", "sendall", "sendmsg", "sendto"), RECORDED),
    Row("_socket:socket", ("recv_into",), RECORDED, fills=True),
    Row("_socket:socket", ("recvfrom_into", "recvmsg_into"), OUTSIDE),
    Row(
        "_socket",
        ("getaddrinfo", "gethostbyaddr", "gethostbyname", "gethostbyname_ex", "getnameinfo"),
        RECORDED,
    ),
    Row("_ssl:_SSLSocket", ("do_handshake", "read", "shutdown", "write"), OUTSIDE),
    Row("_multiprocessing:SemLock", ("acquire", "__enter__"), OUTSIDE),
)
