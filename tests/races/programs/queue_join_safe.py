"""When all tasks are done, all that they did is known."""

import queue
import threading

tasks = queue.Queue()
done = {}


def work():
    while (task := tasks.get()) is not None:
        done[task] = task * 2
        tasks.task_done()


threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(6):
    tasks.put(number)
tasks.join()
assert done == {number: number * 2 for number in range(6)}
for _ in threads:
    tasks.put(None)
for thread in threads:
    thread.join()
