"""A task is said to be done before it is."""

import queue
import threading

from _shared import Box

box = Box()
tasks = queue.Queue()


def work():
    tasks.get()
    tasks.task_done()
    box.value = 1  # at: write


thread = threading.Thread(target=work)
thread.start()
tasks.put("task")
tasks.join()
assert box.value in (0, 1)  # at: read
thread.join()
