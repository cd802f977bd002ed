# reenact-test: exit=4
"""os._exit(4) from a thread, while main waits for it and others work: nobody is waited for.

Varies: how far the others were.
"""

import os
import sys
import threading

counts = [0, 0]
started = threading.Barrier(3)


def work(number):
    started.wait()
    while True:
        counts[number] += 1


def leave():
    started.wait()
    while min(counts) < 20:
        pass
    print("leaving at", counts[:])
    sys.stdout.flush()
    os._exit(4)


for number in range(2):
    threading.Thread(target=work, args=(number,)).start()
leaver = threading.Thread(target=leave)
leaver.start()
leaver.join()
print("never printed")
