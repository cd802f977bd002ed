"""Threads count; one of them ends the process in the way it is told."""

import ctypes
import os
import signal
import sys
import threading

how = sys.argv[1]
counts = [0, 0, 0]
turn = threading.Lock()


def one_more(value):
    return value + 1


def work(name):
    for step in range(3000):
        counts[name] = one_more(counts[name])
        if step % 100 == 0:
            with turn:
                print(name, step, counts, flush=True)
        if name == 1 and step == 2000:
            WAYS[how]()


WAYS = {
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "exit": lambda: os._exit(7),
    "terminate": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
}
threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("never printed")
