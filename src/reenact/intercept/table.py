"""Every known call that brings something in from outside or sends something out.

`install.py` turns the rows into patches; the page docs/coverage.md is made from them. Locks,
RLocks and SimpleQueues are not rows: the core patches their types in place (`_core/locks.c`,
`_core/queues.c`). Rows of modules that are not loaded yet apply when they are.

Treatments, the same words as in configuration:

- ``modelled``: the gate performs it (sleeping, starting and ending threads);
- ``recorded``: the outcome is kept, and a replay returns it without calling;
- ``passed``: a replay performs it again;
- ``deferred``: performed, and its lasting effect is confined to the replay's own process;
- ``refused``: an error that says why.

A row's manner is what the core does around the call (`_core/calls.c`). Its undo class says what
it takes to run the call once more after going back in time: ``repeatable`` nothing, ``recordable``
its recorded outcome, ``revocable`` what it changed can be put back, ``deferrable`` it can wait
until going back is out of the question, ``irrevocable`` nothing helps.
"""

from __future__ import annotations

MODELLED = "modelled"
RECORDED = "recorded"
PASSED = "passed"
DEFERRED = "deferred"
REFUSED = "refused"

REPEATABLE = "repeatable"
RECORDABLE = "recordable"
REVOCABLE = "revocable"
DEFERRABLE = "deferrable"
IRREVOCABLE = "irrevocable"

# Flags of the core's calls.
WAITS = 1
ON_DESCRIPTOR = 2
FILLS = 4
ON_PATH = 8
MAKES = 16
ALSO_PERFORMED = 32
STARTS = 64
REAPS = 128
ON_SOCKET = 256
ZERO_SECOND = 512
ZERO_FOURTH = 1024
AT_OFFSET = 2048
ENDS_EPOCH = 4096

SOURCES = {
    "threads": "starting, ending and waiting for threads",
    "clock": "clocks, dates and timers",
    "random": "random bytes and seeds",
    "system": "ids, host, users, limits of the machine",
    "files": "files and directories",
    "terminal": "standard streams, terminals and pipes",
    "sockets": "sockets, names and addresses, TLS, waiting for descriptors",
    "processes": "other processes and their ends",
    "signals": "signals and their handlers",
}


class Row:
    """Calls of one owner, a module or `module:Type`, that are treated alike.

    Not a dataclass: the program's process should not have to load that module.
    """

    __slots__ = ("flags", "manner", "names", "owner", "source", "treatment", "undo")

    def __init__(
        self,
        source: str,
        owner: str,
        names: str,
        treatment: str,
        undo: str,
        flags: int = 0,
        manner: str = "",
    ) -> None:
        self.source = source
        self.owner = owner
        self.names = tuple(names.split())
        self.treatment = treatment
        self.undo = undo
        self.flags = flags
        self.manner = manner or treatment


def _recorded(source: str, owner: str, names: str, flags: int = 0, undo: str = RECORDABLE) -> Row:
    return Row(source, owner, names, RECORDED, undo, flags)


def _sent(source: str, owner: str, names: str, flags: int = 0) -> Row:
    return Row(source, owner, names, RECORDED, IRREVOCABLE, flags)


_READS = WAITS | ON_DESCRIPTOR
_CLOCKS = "time monotonic perf_counter process_time thread_time"
_NAMES = " ".join(f"{name} {name}_ns" for name in _CLOCKS.split())

TABLE = (
    # threads
    Row("threads", "_thread", "start_new_thread start_joinable_thread", MODELLED, REVOCABLE),
    Row("threads", "_thread", "_set_sentinel _shutdown", MODELLED, REVOCABLE),
    Row("threads", "_imp", "acquire_lock release_lock", MODELLED, REVOCABLE),
    _recorded("threads", "_thread", "get_native_id", undo=REPEATABLE),
    # clock
    Row("clock", "time", _NAMES, RECORDED, RECORDABLE, manner="ours"),
    Row("clock", "time", "clock_gettime clock_gettime_ns", RECORDED, RECORDABLE),
    Row("clock", "time", "sleep", MODELLED, REPEATABLE),
    Row("clock", "time", "localtime gmtime ctime", RECORDED, RECORDABLE, manner="ours"),
    Row("clock", "time", "strftime asctime", RECORDED, RECORDABLE, manner="ours"),
    Row("clock", "datetime:datetime", "now utcnow today", RECORDED, RECORDABLE, manner="ours"),
    Row("clock", "datetime:date", "today", RECORDED, RECORDABLE, manner="ours"),
    _recorded("clock", "_uuid", "generate_time_safe"),
    # random
    _recorded("random", "posix", "urandom getrandom"),
    Row("random", "_random:Random", "seed", RECORDED, RECORDABLE, manner="ours"),
    _recorded("random", "_ssl", "RAND_bytes RAND_status"),
    # system
    _recorded("system", "posix", "getpid getppid getuid geteuid getgid getegid getgroups getlogin"),
    _recorded("system", "posix", "getpgid getpgrp getsid getresuid getresgid getpriority uname"),
    _recorded("system", "posix", "cpu_count sched_getaffinity getloadavg times sysconf confstr"),
    _recorded("system", "posix", "nice setpriority sched_setaffinity sched_yield", undo=REVOCABLE),
    _recorded("system", "_socket", "gethostname if_nameindex if_nametoindex if_indextoname"),
    _recorded("system", "resource", "getrusage getrlimit setrlimit prlimit"),
    _recorded("system", "pwd", "getpwnam getpwuid getpwall"),
    _recorded("system", "grp", "getgrnam getgrgid getgrall"),
    # files
    Row("files", "posix", "open", RECORDED, REVOCABLE, manner="opens"),
    Row("files", "_io:FileIO", "__init__", RECORDED, REVOCABLE, manner="ours"),
    Row("files", "_io:FileIO", "read readall", RECORDED, REVOCABLE, _READS, "reads"),
    Row("files", "_io:FileIO", "readinto", RECORDED, REVOCABLE, _READS | FILLS, "reads"),
    Row("files", "posix", "read", RECORDED, REVOCABLE, _READS, "reads"),
    Row("files", "posix", "pread", RECORDED, REVOCABLE, ON_DESCRIPTOR | AT_OFFSET, "reads"),
    Row("files", "posix", "readv preadv", RECORDED, REVOCABLE, manner="ours"),
    Row("files", "posix", "close", PASSED, DEFERRABLE, manner="closes"),
    Row("files", "_io:FileIO", "close", PASSED, DEFERRABLE, manner="closes"),
    Row("files", "posix", "scandir", RECORDED, RECORDABLE, manner="ours"),
    _recorded("files", "posix", "stat lstat access readlink listdir statvfs", ON_PATH),
    _recorded("files", "posix", "getxattr listxattr pathconf", ON_PATH),
    _recorded("files", "posix", "fstat fstatvfs fpathconf"),
    _sent("files", "posix", "mkdir rmdir remove unlink rename replace link symlink", ON_PATH),
    _sent("files", "posix", "chmod chown lchown utime truncate mkfifo mknod", ON_PATH),
    _sent("files", "posix", "setxattr removexattr", ON_PATH),
    _sent("files", "posix", "fchmod fchown umask sync"),
    _recorded("files", "posix", "chdir fchdir", ALSO_PERFORMED, REVOCABLE),
    _recorded("files", "posix", "getcwd getcwdb"),
    Row("files", "posix", "dup memfd_create", DEFERRED, DEFERRABLE, manner="makes"),
    Row("files", "fcntl", "flock lockf", RECORDED, REVOCABLE, WAITS),
    Row("files", "posix", "lockf", RECORDED, REVOCABLE, WAITS),
    Row("files", "posix", "ftruncate", PASSED, REVOCABLE),
    # terminal
    Row("terminal", "_io:FileIO", "write", PASSED, IRREVOCABLE, WAITS | ON_DESCRIPTOR, "output"),
    Row("terminal", "posix", "write", PASSED, IRREVOCABLE, WAITS | ON_DESCRIPTOR, "output"),
    _sent("terminal", "posix", "writev", WAITS | ON_DESCRIPTOR),
    _sent("terminal", "posix", "sendfile splice", WAITS | ON_DESCRIPTOR),
    Row("terminal", "posix", "pipe pipe2", DEFERRED, DEFERRABLE, manner="makes"),
    _recorded("terminal", "posix", "openpty eventfd posix_openpt", MAKES),
    _recorded("terminal", "posix", "eventfd_read eventfd_write", WAITS),
    _recorded("terminal", "posix", "isatty ttyname ctermid get_terminal_size tcgetpgrp tcsetpgrp"),
    _recorded("terminal", "_io:FileIO", "isatty"),
    _recorded("terminal", "termios", "tcgetattr tcsetattr tcdrain tcflow tcflush tcsendbreak"),
    _recorded("terminal", "termios", "tcgetwinsize tcsetwinsize"),
    _recorded("terminal", "fcntl", "fcntl ioctl"),
    Row("terminal", "builtins", "input", RECORDED, RECORDABLE, manner="ours"),
    _recorded("terminal", "_curses:window", "getch getkey get_wch getstr", WAITS),
    _recorded("terminal", "_curses:window", "getmaxyx"),
    _recorded("terminal", "_curses", "getmouse is_term_resized has_colors can_change_color"),
    _recorded("clock", "pygame.time:Clock", "tick tick_busy_loop", WAITS),
    _recorded("clock", "pygame.time:Clock", "get_time get_rawtime get_fps"),
    _recorded("clock", "pygame.time", "get_ticks"),
    _recorded("clock", "pygame.time", "wait delay", WAITS),
    # sockets
    Row("sockets", "_socket:socket", "__init__", DEFERRED, DEFERRABLE, manner="makes"),
    Row("sockets", "_socket", "socketpair", DEFERRED, DEFERRABLE, manner="makes"),
    Row("sockets", "_socket", "dup", DEFERRED, DEFERRABLE, manner="makes"),
    Row("sockets", "_socket:socket", "close", PASSED, DEFERRABLE, manner="closes"),
    Row("sockets", "_socket", "close", PASSED, DEFERRABLE, manner="closes"),
    _recorded("sockets", "_socket:socket", "_accept", WAITS | MAKES | ON_SOCKET),
    _sent("sockets", "_socket:socket", "connect connect_ex", WAITS | ON_SOCKET),
    _recorded("sockets", "_socket:socket", "bind listen shutdown getsockopt setsockopt"),
    _recorded("sockets", "_socket:socket", "getsockname getpeername ioctl"),
    _recorded("sockets", "_socket:socket", "recv recvfrom recvmsg", WAITS | ON_SOCKET),
    _recorded("sockets", "_socket:socket", "recv_into recvfrom_into", WAITS | ON_SOCKET | FILLS),
    Row("sockets", "_socket:socket", "recvmsg_into", RECORDED, RECORDABLE, manner="ours"),
    _sent("sockets", "_socket:socket", "send sendall sendmsg sendto", WAITS | ON_SOCKET),
    _recorded("sockets", "_socket", "getaddrinfo gethostbyaddr gethostbyname", WAITS),
    _recorded("sockets", "_socket", "gethostbyname_ex getnameinfo", WAITS),
    _recorded("sockets", "_socket", "getservbyname getservbyport getprotobyname"),
    Row("sockets", "select", "select", RECORDED, RECORDABLE, manner="ours"),
    _recorded("sockets", "select:poll", "poll", WAITS | ZERO_SECOND),
    _recorded("sockets", "select:epoll", "poll", WAITS | ZERO_SECOND),
    _recorded("sockets", "select:epoll", "register modify unregister"),
    Row("sockets", "select", "epoll", DEFERRED, DEFERRABLE, manner="makes"),
    Row("sockets", "select:epoll", "close", PASSED, DEFERRABLE, manner="closes"),
    _recorded("sockets", "_ssl:_SSLSocket", "do_handshake shutdown write", WAITS),
    _recorded("sockets", "_ssl:_SSLSocket", "read", WAITS | FILLS),
    _recorded("sockets", "_ssl:_SSLSocket", "pending getpeercert cipher shared_ciphers version"),
    _recorded("sockets", "_ssl:_SSLSocket", "selected_alpn_protocol compression"),
    _recorded("sockets", "_ssl:_SSLSocket", "get_channel_binding"),
    _recorded("sockets", "_ssl:_SSLSocket", "verify_client_post_handshake"),
    _recorded("sockets", "_ssl:_SSLSocket", "get_unverified_chain get_verified_chain"),
    _recorded("sockets", "_ssl:MemoryBIO", "read write write_eof"),
    _recorded("sockets", "_ssl:_SSLContext", "load_cert_chain load_verify_locations"),
    _recorded("sockets", "_ssl:_SSLContext", "load_dh_params set_default_verify_paths"),
    _recorded("sockets", "_ssl:_SSLContext", "cert_store_stats get_ca_certs session_stats"),
    # processes
    Row("processes", "posix", "fork", RECORDED, IRREVOCABLE, manner="forks"),
    Row("processes", "posix", "posix_spawn", RECORDED, IRREVOCABLE, STARTS, "ours"),
    Row("processes", "_posixsubprocess", "fork_exec", RECORDED, IRREVOCABLE, STARTS, "ours"),
    _sent("processes", "posix", "posix_spawnp", STARTS),
    _sent("processes", "posix", "system", WAITS | STARTS),
    _recorded("processes", "posix", "wait waitpid wait3 wait4 waitid", WAITS | REAPS),
    _recorded("processes", "posix", "pidfd_open", MAKES),
    _recorded("processes", "_multiprocessing:SemLock", "acquire __enter__", WAITS),
    _recorded("processes", "_multiprocessing:SemLock", "release __exit__ _count _is_mine"),
    _recorded("processes", "_multiprocessing:SemLock", "_get_value _is_zero"),
    # signals
    Row("signals", "_signal", "signal getsignal", MODELLED, REVOCABLE, manner="ours"),
    Row("signals", "_thread", "interrupt_main", MODELLED, RECORDABLE),
    _recorded("signals", "_signal", "pause sigwait sigtimedwait sigwaitinfo", WAITS),
    _recorded("signals", "_signal", "set_wakeup_fd sigpending"),
    _recorded("signals", "_signal", "alarm setitimer getitimer siginterrupt"),
    Row("signals", "_signal", "pthread_kill raise_signal", PASSED, RECORDABLE, manner="raised"),
    Row("signals", "posix", "kill killpg", RECORDED, IRREVOCABLE, manner="sent"),
)

# Modules that do their own scheduling or input, in ways that the table does not see.
REFUSED_MODULES = {
    "uvloop": "its event loop runs outside Python; use asyncio's own loop while recording",
    "gevent": "its threads are not the interpreter's; reenact controls threads and asyncio",
    "eventlet": "its threads are not the interpreter's; reenact controls threads and asyncio",
}

# Modules that calls of a C module load on the way. A replay does not make the calls: they are
# loaded beforehand.
LOADED_INSIDE = {"_socket": "encodings.idna"}

# Struct sequences and exceptions that outcomes may be instances of.
KNOWN_TYPES = {
    "posix": "stat_result statvfs_result times_result uname_result terminal_size waitid_result "
    "sched_param",
    "resource": "struct_rusage",
    "pwd": "struct_passwd",
    "grp": "struct_group",
    "time": "struct_time",
    "_signal": "struct_siginfo ItimerError",
    "_socket": "gaierror herror",
    "termios": "error",
    "_ssl": "SSLError SSLZeroReturnError SSLWantReadError SSLWantWriteError SSLSyscallError "
    "SSLEOFError SSLCertVerificationError",
}
