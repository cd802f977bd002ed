"""Main waits or computes, as told, until Ctrl-C; workers count meanwhile, then all is printed."""

import queue
import sys
import threading
import time

where = sys.argv[1]
stopped = False
counts = [0, 0, 0]


def one_more(value):
    return value + 1


def work(name):
    while not stopped:
        counts[name] = one_more(counts[name])
        if counts[name] % 100 == 0:
            time.sleep(0.0005)


def compute():
    number = 0
    while True:
        number = one_more(number)
        counts[0] += number % 3


def take_twice():
    lock = threading.Lock()
    with lock, lock:
        pass


def wait_for_notice():
    condition = threading.Condition()
    with condition:
        condition.wait()


WAYS = {
    "join": lambda: threads[0].join(),
    "sleep": lambda: time.sleep(10_000),
    "alone": lambda: time.sleep(10_000),
    "compute": compute,
    "lock": take_twice,
    "queue": lambda: queue.Queue().get(),
    "condition": wait_for_notice,
    "event": lambda: threading.Event().wait(10_000),
    "input": lambda: sys.stdin.readline(),
}
threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
if where != "alone":
    for thread in threads:
        thread.start()
print("ready", flush=True)
try:
    WAYS[where]()
except KeyboardInterrupt as error:
    print("interrupted", counts, error.__traceback__.tb_next is not None)
    stopped = True
    if where != "alone":
        for thread in threads:
            thread.join()
    print("stopped", counts)
    if "again" in sys.argv:
        raise
