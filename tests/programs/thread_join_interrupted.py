"""A handler ends a join by an exception, and the thread goes on: before 3.13 it counts as ended.

Varies: nothing.
"""

import queue
import signal
import threading
import time


class Enough(Exception):
    pass


def stop(number, frame):
    raise Enough


def work():
    go_on.wait()
    told.put("worker")


go_on = threading.Event()
told = queue.SimpleQueue()
worker = threading.Thread(target=work)
worker.start()
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.005)
try:
    worker.join()
except Enough:
    print("interrupted,", "alive" if worker.is_alive() else "taken for ended")
go_on.set()
print(told.get())
time.sleep(0.02)  # it comes to its end
worker.join()
print(worker.is_alive(), threading.active_count())
