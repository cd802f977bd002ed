"""A signal's handler runs in the main thread: it is not ordered with what other threads do."""

import signal
import threading
import time

from _shared import Box

box = Box()
calls = []


def handle(number, frame):
    box.value += 1  # at: handler
    calls.append(number)


def work():
    box.value += 1  # at: thread


signal.signal(signal.SIGUSR1, handle)
thread = threading.Thread(target=work)
thread.start()
signal.raise_signal(signal.SIGUSR1)
while not calls:
    time.sleep(0.001)
thread.join()
