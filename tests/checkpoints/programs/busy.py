"""Threads that hold locks, wait in every way there is, and have generators suspended.

busy.py THREADS ROUNDS [numpy]
"""

import queue
import sys
import threading
import time

THREADS, ROUNDS = int(sys.argv[1]), int(sys.argv[2])
if sys.argv[3:] == ["numpy"]:
    import numpy

    table = numpy.arange(40_000, dtype=float).reshape(200, 200) % 7
else:
    table = None
lock = threading.Lock()
again = threading.RLock()
changed = threading.Condition()
small = queue.Queue(2)
simple = queue.SimpleQueue()
over = threading.Event()
log = []


def numbers(number):
    while True:
        number = (number * 7 + 1) % 1009
        yield number


def take_lock(number, source, mine):
    with lock:
        log.append((number, next(source)))


def take_again(number, source, mine):
    with again, again:
        mine.append([next(source)])


def wait_for_change(number, source, mine):
    with changed:
        mine.append(changed.wait(0.0005))


def put(number, source, mine):
    try:
        small.put((number, next(source)), timeout=0.0005)
    except queue.Full:
        mine.append("full")


def get(number, source, mine):
    try:
        mine.append(small.get(timeout=0.0005))
    except queue.Empty:
        mine.append("empty")
    with changed:
        changed.notify()


def sleep(number, source, mine):
    time.sleep(0.0002)
    simple.put(next(source))


def multiply(number, source, mine):
    if table is not None:
        mine.append(table @ table % (number + 2))
        table[number % 200] = next(source)


KINDS = (multiply, take_lock, take_again, wait_for_change, put, get, sleep)


def work(number):
    source, mine = numbers(number), []
    for turn in range(ROUNDS):
        KINDS[(number + turn) % len(KINDS)](number, source, mine)
    over.wait()
    texts = [each for each in mine if isinstance(each, str)]
    print(number, len(mine), texts.count("full"), texts.count("empty"), flush=True)


threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
with lock:  # held while others want it
    time.sleep(0.001)
threads[0].join(0.001)
over.set()
for thread in threads:
    thread.join()
print(sum(number for _, number in log), simple.qsize(), table if table is None else table.sum())
