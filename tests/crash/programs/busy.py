"""Does a bit of everything, for as long as it is let: locks, queues, clocks, output, garbage.

Given a number it stops after so many rounds a thread.
"""

import queue
import sys
import threading
import time

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
lock = threading.Lock()
inner = threading.RLock()
letters = queue.Queue(maxsize=3)
simple = queue.SimpleQueue()
total = 0


class Node:
    def __init__(self):
        self.me = self

    def __del__(self):
        simple.put("collected")


def one_more(value):
    return value + 1


def count(name):
    global total
    for step in range(rounds):
        with lock:
            total = one_more(total)
        with inner, inner:
            Node()
        if step % 50 == 0:
            print(name, step, total, flush=step % 100 == 0)


def send():
    for step in range(rounds):
        letters.put(step)
    letters.put(None)


def receive():
    started = time.monotonic()
    while letters.get() is not None:
        if time.monotonic() - started > 0.01:
            time.sleep(0.001)
            started = time.monotonic()
        while not simple.empty():
            simple.get()


threads = [threading.Thread(target=count, args=(name,)) for name in "abc"]
threads += [threading.Thread(target=send), threading.Thread(target=receive)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("total", total)
