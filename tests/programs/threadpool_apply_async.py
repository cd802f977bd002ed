"""ThreadPool.apply_async with callbacks, error callbacks, timeouts, close and join.

Varies: the order of callbacks, what was ready early, timeouts met.
"""

import multiprocessing
import time
from multiprocessing.pool import ThreadPool

log = []


def task(number):
    if number % 4 == 3:
        raise ValueError(number)
    return number * 10


def failed(error):
    log.append(("failed", str(error)))


def worked(result):
    log.append(("worked", result))


pool = ThreadPool(3)
results = [
    pool.apply_async(task, (number,), callback=worked, error_callback=failed)
    for number in range(16)
]
print("ready early", [result.ready() for result in results])
slow = pool.apply_async(time.sleep, (0.003,))
timeouts = 0
while not slow.ready():
    try:
        slow.get(timeout=0.001)
    except multiprocessing.TimeoutError:
        timeouts += 1
pool.close()
pool.join()

for entry in log:
    print(*entry)
print("successful", [result.successful() for result in results])
print("timeouts", timeouts)
