"""Alarms and interval timers, while the main thread works, sleeps, waits and reads.

Varies: where each handler runs.
"""

import os
import signal
import socket
import threading
import time

heard = []
place = "start"


def hear(number, frame):
    heard.append((number, place, frame.f_code.co_name, len(os.urandom(2))))


def one_more(value):
    return value + 1


signal.signal(signal.SIGALRM, hear)
near, far = socket.socketpair()
near.setblocking(False)
far.setblocking(False)
before = signal.set_wakeup_fd(far.fileno())

place = "work"
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
count = 0
while len(heard) < 3:
    count = one_more(count)
place = "sleep"
time.sleep(0.01)
place = "event"
threading.Event().wait(0.01)
place = "lock"
lock = threading.Lock()
lock.acquire()
print(lock.acquire(timeout=0.01))
print("timer", [value > 0 for value in signal.setitimer(signal.ITIMER_REAL, 0)])
print("before", before, signal.set_wakeup_fd(-1), set(near.recv(1000)))

place = "pipe"
readable, writable = os.pipe()
threading.Timer(0.03, os.write, (writable, b"x")).start()
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.01)
print(os.read(readable, 1), signal.setitimer(signal.ITIMER_REAL, 0)[1], signal.alarm(0))
print(count, heard)
