"""Daemon threads in an endless loop when main ends.

Varies: how far they had counted when main, and then the atexit handler, looked.
"""

import atexit
import threading
import time

counts = [0, 0, 0]
running = threading.Barrier(len(counts) + 1)


def spin(number):
    running.wait()
    while True:
        counts[number] += 1


@atexit.register
def look_again():
    print("at exit", counts[:])


for number in range(len(counts)):
    threading.Thread(target=spin, args=(number,), daemon=True).start()
running.wait()
time.sleep(0.002)
print("main ends", counts[:])
