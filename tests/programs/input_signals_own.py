"""Signals that a program sends to itself, waits for, blocks, and gets as KeyboardInterrupt.

Varies: where handlers run.
"""

import os
import signal
import subprocess
import threading
import time

heard = []


def hear(number, frame):
    heard.append(signal.Signals(number).name)


signal.signal(signal.SIGUSR1, hear)
signal.signal(signal.SIGCHLD, hear)
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
print(heard, signal.getsignal(signal.SIGUSR1) is hear)

threads = [threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGUSR1)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(heard) > 2, heard)

subprocess.run(["true"])
time.sleep(0.002)
print(heard)

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR2)
print(signal.sigpending(), signal.sigwait({signal.SIGUSR2}))
print(signal.sigtimedwait({signal.SIGUSR2}, 0.002))

try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupted")
try:
    os.kill(os.getpid(), 0)
    os.kill(2**22 + 1, 0)
except ProcessLookupError as error:
    print(error)
