# reenact-test: layout=yes
"""ThreadPoolExecutor with as_completed: results in the order of completion.

Varies: the order, which worker ran which task.
"""

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from zlib import crc32

ran = []


def task(number):
    ran.append((threading.current_thread().name, number))
    total = 0
    for step in range((number * 7) % 40):
        total += step
    return number, total


with ThreadPoolExecutor(max_workers=4, thread_name_prefix="pool") as pool:
    futures = [pool.submit(task, number) for number in range(40)]
    order = [future.result()[0] for future in as_completed(futures)]

print("order", order)
print("sum", sum(future.result()[1] for future in futures))
print("ran", len({name for name, _ in ran}), crc32(repr(ran).encode()))
