"""Executor.map from two threads at once, results in order, side effects not.

Varies: the order of side effects.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

effects = []


def collatz(number):
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


def task(number, name):
    steps = collatz(number)
    effects.append((name, number))
    return steps


def use(name, numbers):
    results[name] = list(pool.map(task, numbers, [name] * len(numbers)))


results = {}
with ThreadPoolExecutor(3) as pool:
    users = [
        threading.Thread(target=use, args=("low", range(1, 40))),
        threading.Thread(target=use, args=("high", range(100, 140))),
    ]
    for user in users:
        user.start()
    for user in users:
        user.join()

for name, steps in results.items():
    print(name, sum(steps))
print("effects", effects[:8], crc32(repr(effects).encode()))
