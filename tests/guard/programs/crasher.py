"""A racy program, after the Crasher of iReplayer's paper: one thread takes away what another uses.

    crasher.py RUNS [dying]

Each run has two threads, and an epoch of its own. A reader that comes while there is nothing to
read crashes: by an exception that nobody catches or, dying, by following a null pointer. Prints how
many runs have crashed.
"""

import ctypes
import random
import sys
import threading
import time

import reenact

RUNS, IS_DYING = int(sys.argv[1]), sys.argv[2:] == ["dying"]
TEXT = ctypes.create_string_buffer(b"text")
crashed = []


class Shared:
    def __init__(self):
        self.address = ctypes.addressof(TEXT)


def take_away(shared):
    for _ in range(2):
        kept, shared.address = shared.address, None
        time.sleep(random.random() / 2000)
        shared.address = kept


def use(shared):
    for _ in range(2):
        time.sleep(random.random() / 2000)
        if IS_DYING:
            ctypes.string_at(shared.address or 0)
        else:
            shared.address + 1


def note(arguments):
    crashed.append(arguments.exc_type)


threading.excepthook = note
for _ in range(RUNS):
    reenact.begin_epoch()
    shared = Shared()
    threads = [threading.Thread(target=each, args=(shared,)) for each in (take_away, use)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("crashed", len(crashed))
