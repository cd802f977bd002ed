"""Every kind of entry a recording can have, and loops that end whatever the clocks say."""

import gc
import os
import queue
import select
import signal
import sys
import threading
import time

lock = threading.Lock()
inner = threading.RLock()
letters = queue.Queue(maxsize=2)
simple = queue.SimpleQueue()
readable, writable = os.pipe()
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
    for step in range(40):
        with lock:
            total = one_more(total)
        with inner, inner:
            Node()
        if step % 10 == 0:
            print(name, step, total)
            print(name, file=sys.stderr)
        if step % 20 == 0:
            gc.collect(0)


def send():
    for step in range(20):
        letters.put(step)
        os.write(writable, bytes([step]))
    letters.put(None)


def receive():
    started = time.monotonic()
    while (letter := letters.get()) is not None:
        ready = select.select([readable], [], [], 1)[0]
        data = os.read(readable, 10) if ready else b""
        if letter % 5 == 0:
            time.sleep(0.001)
        print(letter, len(data) > 0, time.monotonic() >= started, time.time() > 0)


signal.signal(signal.SIGUSR1, lambda *_: simple.put("signal"))
threads = [threading.Thread(target=count, args=(name,)) for name in "abc"]
threads += [threading.Thread(target=send), threading.Thread(target=receive)]
for thread in threads:
    thread.start()
os.kill(os.getpid(), signal.SIGUSR1)
for thread in threads:
    thread.join(timeout=30)
print("total", total, simple.qsize() > 0)
