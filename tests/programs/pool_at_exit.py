"""An executor never shut down: its queued tasks still run while the interpreter exits.

Varies: how many tasks ran before main ended, the order of the rest.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

done = []
main_ended = False


def task(number):
    done.append(number)
    print("task", number, "after main" if main_ended else "before the end")


pool = ThreadPoolExecutor(3)
for number in range(20):
    pool.submit(task, number)
print("main ends with", threading.active_count() > 1, len(done))
main_ended = True
