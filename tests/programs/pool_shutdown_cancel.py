"""Executor.shutdown(cancel_futures=True), cancel() of single futures, submit after shutdown.

Varies: how many tasks ran before the shutdown, which cancels came in time.
"""

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

started = threading.Event()
ran = []


def task(number):
    started.set()
    ran.append(number)
    return sum(range(number))


pool = ThreadPoolExecutor(2)
futures = [pool.submit(task, number) for number in range(40)]
started.wait()
single = [futures[number].cancel() for number in (1, 5, 10, 39)]
pool.shutdown(wait=False, cancel_futures=True)
try:
    pool.submit(task, 99)
except RuntimeError as error:
    print(type(error).__name__, error)
pool.shutdown(wait=True)

outcomes = []
for future in futures:
    try:
        outcomes.append(future.result())
    except CancelledError:
        outcomes.append("cancelled")
print("single cancels", single)
print("ran", ran)
print("cancelled", outcomes.count("cancelled"))
print(outcomes)
