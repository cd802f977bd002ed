"""Facts about the process, its user, the machine and the environment.

Varies: process ids, load, times and the order.
"""

import getpass
import grp
import locale
import multiprocessing
import os
import platform
import pwd
import resource
import shutil
import socket
import sys
import threading

seen = []
ways = {
    "pid": os.getpid,
    "parent": os.getppid,
    "group": os.getpgrp,
    "session": lambda: os.getsid(0),
    "ids": lambda: (os.getuid(), os.geteuid(), os.getgid(), os.getresuid(), os.getgroups()),
    "priority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "host": socket.gethostname,
    "uname": os.uname,
    "node": platform.node,
    "platform": platform.platform,
    "processors": lambda: (os.cpu_count(), multiprocessing.cpu_count()),
    "affinity": lambda: sorted(os.sched_getaffinity(0)),
    "load": os.getloadavg,
    "times": os.times,
    "usage": lambda: resource.getrusage(resource.RUSAGE_SELF),
    "limit": lambda: resource.getrlimit(resource.RLIMIT_NOFILE),
    "page": lambda: os.sysconf("SC_PAGE_SIZE"),
    "user": lambda: pwd.getpwuid(os.getuid()),
    "users": lambda: len(pwd.getpwall()),
    "nobody": lambda: pwd.getpwnam("nobody there"),
    "group name": lambda: grp.getgrgid(os.getgid()).gr_name,
    "login": os.getlogin,
    "getpass": getpass.getuser,
    "terminal": shutil.get_terminal_size,
    "terminal of 1": lambda: os.get_terminal_size(1),
    "is terminal": lambda: [os.isatty(number) for number in range(3)],
    "directory": os.getcwd,
    "home": lambda: os.path.expanduser("~"),
    "path": lambda: os.environ.get("PATH"),
    "variables": lambda: len(os.environ),
    "encoding": locale.getpreferredencoding,
    "arguments": lambda: sys.argv[1:],
    "native": threading.get_native_id,
    "mask": lambda: os.umask(0o22),
    "interfaces": lambda: socket.if_nameindex()[:1],
}


def look(names):
    for name in names:
        try:
            seen.append((name, str(ways[name]())))
        except (OSError, KeyError) as error:
            seen.append((name, repr(error)))


names = list(ways)
threads = [threading.Thread(target=look, args=(names[part::3],)) for part in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for line in seen:
    print(*line)
