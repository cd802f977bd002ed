"""Threads that are started one by one, and joined when all of them have been started."""

import threading

from _shared import Box

box = Box()
threads = []


def work():
    box.value += 1  # at: add


for _ in range(30):
    threads.append(threading.Thread(target=work))
    threads[-1].start()
for thread in threads:
    thread.join()
