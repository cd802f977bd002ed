"""Queue.task_done and join, with two joiners and daemon workers; one task_done too many.

Varies: which worker did what, the order in which joiners returned.
"""

import queue
import threading

jobs = queue.Queue()
log = []


def work(name):
    while True:
        number = jobs.get()
        log.append(f"{name} does {number}")
        if number in (3, 7):
            jobs.put(number * 10)
        jobs.task_done()


def wait(name):
    jobs.join()
    log.append(f"{name} joined with {jobs.unfinished_tasks} unfinished")


for number in range(12):
    jobs.put(number)
for name in "abc":
    threading.Thread(target=work, args=(name,), daemon=True).start()
joiners = [threading.Thread(target=wait, args=(f"joiner {n}",)) for n in range(2)]
for joiner in joiners:
    joiner.start()
jobs.join()
log.append("main joined")
for joiner in joiners:
    joiner.join()
try:
    jobs.task_done()
except ValueError as error:
    log.append(f"{type(error).__name__}: {error}")
for line in list(log):
    print(line)
