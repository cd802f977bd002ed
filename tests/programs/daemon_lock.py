"""Daemon threads waiting on a lock, an Event, a Condition, a Queue and a join when main ends.

Varies: which of them had come how far.
"""

import queue
import threading

lock = threading.Lock()
event = threading.Event()
condition = threading.Condition()
box = queue.SimpleQueue()
reached = []


def wait_lock():
    reached.append("lock")
    lock.acquire()


def wait_event():
    reached.append("event")
    event.wait()


def wait_condition():
    with condition:
        reached.append("condition")
        condition.wait()


def wait_queue():
    reached.append("queue")
    box.get()


def wait_thread():
    reached.append("join")
    threads[0].join()


lock.acquire()
targets = (wait_lock, wait_event, wait_condition, wait_queue, wait_thread)
threads = [threading.Thread(target=target, daemon=True) for target in targets]
for thread in threads:
    thread.start()
print("reached", list(reached))
print("alive", [thread.is_alive() for thread in threads])
