"""A signal's handler and the main thread share what they like: they are one thread."""

import signal
import threading
import time

from _shared import Box

box = Box()
other = Box()
calls = []


def handle(number, frame):
    box.value += 1
    calls.append(number)


def work():
    other.value += 1


signal.signal(signal.SIGUSR1, handle)
thread = threading.Thread(target=work)
thread.start()
box.value += 1
signal.raise_signal(signal.SIGUSR1)
while not calls:
    time.sleep(0.001)
box.value += 1
thread.join()
assert box.value == 3
