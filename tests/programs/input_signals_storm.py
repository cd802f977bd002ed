"""200 signals from a child process at random moments while threads work.

Varies: where each handler runs.
"""

import os
import signal
import subprocess
import sys
import threading
from zlib import crc32

CHILD = """
import os, random, signal, time
for number in range(200):
    os.kill(os.getppid(), random.choice((signal.SIGUSR1, signal.SIGUSR2)))
    time.sleep(random.random() * 0.0005)
"""
counts = [0, 0, 0]
heard = []


def hear(number, frame):
    heard.append((signal.Signals(number).name, frame.f_lineno, *counts))


def one_more(value):
    return value + 1


def work(name):
    while not done.is_set():
        for _ in range(20):
            counts[name] = one_more(counts[name])
        done.wait(0.001)


signal.signal(signal.SIGUSR1, hear)
signal.signal(signal.SIGUSR2, hear)
done = threading.Event()
threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
for thread in threads:
    thread.start()
child = subprocess.Popen([sys.executable, "-S", "-E", "-c", CHILD])
while child.poll() is None:
    counts[2] = one_more(counts[2])
    threading.Event().wait(0.001)
done.set()
for thread in threads:
    thread.join()
print(len(heard), counts, child.returncode, os.getpid() > 0)
print(crc32(repr(heard).encode()), heard[:5], heard[-5:])
