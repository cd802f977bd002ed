"""Threads that Python knows nothing of: they run C code only, one with all signals blocked."""

import ctypes
import signal
import sys
import threading

libc = ctypes.CDLL(None)
usleep = ctypes.cast(libc.usleep, ctypes.c_void_p)
handles = (ctypes.c_ulong * 2)()
LONG_US = 4_000_000_000 if sys.argv[1:] == [] else int(sys.argv[1])


def start(index):
    assert (
        libc.pthread_create(
            ctypes.byref(handles, 8 * index), None, usleep, ctypes.c_void_p(LONG_US)
        )
        == 0
    )


start(0)
before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
start(1)
signal.pthread_sigmask(signal.SIG_SETMASK, before)
lock = threading.Lock()
total = 0


def work():
    global total
    for number in range(100):
        with lock:
            total += number


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(total)
