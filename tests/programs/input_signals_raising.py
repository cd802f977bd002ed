"""A handler that raises in the middle of whatever waits: the call must end with it.

Varies: how far the others were.
"""

import os
import queue
import select
import signal
import socket
import subprocess
import threading
import time

log = []
progress = [0]


class Enough(Exception):
    pass


def stop(number, frame):
    raise Enough(number)


def work():
    while not done.is_set():
        progress[0] += 1
        time.sleep(0.001)


near, far = socket.socketpair()
listener = socket.create_server(("127.0.0.1", 0))
readable, writable = os.pipe()
locked = threading.Lock()
locked.acquire()
done = threading.Event()
worker = threading.Thread(target=work)
worker.start()
ways = {
    "select": lambda: select.select([near], [], []),
    "poll": lambda: select.poll().poll(1000),
    "accept": listener.accept,
    "receive": lambda: near.recv(1),
    "read": lambda: os.read(readable, 1),
    "file": lambda: open(readable, "rb", closefd=False).read(),
    "sleep": lambda: time.sleep(5),
    "lock": locked.acquire,
    "lock for a while": lambda: locked.acquire(timeout=5),
    "event": lambda: threading.Event().wait(5),
    "queue": lambda: queue.SimpleQueue().get(timeout=5),
    "join": worker.join,
    "child": lambda: subprocess.run(["sleep", "0.05"]),
    "pause": signal.pause,
}
signal.signal(signal.SIGALRM, stop)
for name, way in ways.items():
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        log.append((name, way()))
    except Enough as error:
        log.append((name, repr(error), len(log)))
    signal.setitimer(signal.ITIMER_REAL, 0)
done.set()
worker.join()
for line in log:
    print(*line)
print(progress[0] > 0, progress)
