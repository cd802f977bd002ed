"""Threads that Python knows nothing of: they run C code only, one with signals blocked, one that
goes on waiting when it was called by a signal."""

import ctypes
import signal
import sys
import threading

libc = ctypes.CDLL(None)
usleep = ctypes.cast(libc.usleep, ctypes.c_void_p)
sem_wait = ctypes.cast(libc.sem_wait, ctypes.c_void_p)
semaphore = (ctypes.c_long * 4)()  # of nobody
handles = (ctypes.c_ulong * 3)()
LONG_US = 4_000_000_000 if sys.argv[1:] == [] else int(sys.argv[1])


def start(index, function, given):
    handle = ctypes.byref(handles, 8 * index)
    assert libc.pthread_create(handle, None, function, ctypes.c_void_p(given)) == 0


start(0, usleep, LONG_US)
before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
start(1, usleep, LONG_US)
signal.pthread_sigmask(signal.SIG_SETMASK, before)
start(2, sem_wait, ctypes.addressof(semaphore))
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
