"""Tasks that submit tasks, an initializer with thread-local state, and result(timeout).

Varies: which worker counted what, the order of leaves, how many timeouts were met.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

state = threading.local()
initialised = []
leaves = []
timeouts = 0


def initialise(label):
    state.done = 0
    initialised.append((label, threading.current_thread().name))


def split(low, high):
    state.done += 1
    if high - low <= 2:
        leaves.append((low, state.done))
        return []
    middle = (low + high) // 2
    return [pool.submit(split, low, middle), pool.submit(split, middle, high)]


def drain(future):
    for child in future.result():
        drain(child)


with ThreadPoolExecutor(3, "w", initializer=initialise, initargs=("init",)) as pool:
    drain(pool.submit(split, 0, 64))
    slow = pool.submit(time.sleep, 0.004)
    while not slow.done():
        try:
            slow.result(timeout=0.001)
        except FutureTimeout:
            timeouts += 1

print("initialised", initialised)
print("leaves", leaves)
print("timeouts", timeouts)
