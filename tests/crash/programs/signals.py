"""Signals reach main in the way it is told; what its handler saw is printed."""

import _thread
import os
import signal
import sys
import threading
import time

count = 0
heard = []


def one_more(value):
    return value + 1


def hear(number, frame):
    heard.append(count)


def work():
    global count
    for _ in range(4000):
        count = one_more(count)


def poke():
    for _ in range(5):
        time.sleep(0.002)
        work()
        os.kill(os.getpid(), signal.SIGUSR1)


def interrupt():
    work()
    _thread.interrupt_main()


def beside(target, wait):
    thread = threading.Thread(target=target)
    thread.start()
    wait()
    thread.join()


def alarm_while_computing():
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while len(heard) < 3:
        work()
    signal.setitimer(signal.ITIMER_REAL, 0)


def alarm_while_joining():
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for _ in range(3):
        beside(work, lambda: None)
    signal.setitimer(signal.ITIMER_REAL, 0)


def raise_thrice():
    for _ in range(3):
        signal.raise_signal(signal.SIGUSR1)
        work()


def wait_for_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    beside(poke, lambda: print(signal.sigwait([signal.SIGUSR1])))


def compute_until_interrupted():
    try:
        beside(interrupt, lambda: [work() for _ in range(1000)])
    except KeyboardInterrupt:
        heard.append(count)


WAYS = {
    "alarm while computing": alarm_while_computing,
    "alarm while joining": alarm_while_joining,
    "kill while sleeping": lambda: beside(poke, lambda: time.sleep(0.1)),
    "raise": raise_thrice,
    "sigwait": wait_for_signals,
    "interrupt main": compute_until_interrupted,
}
signal.signal(signal.SIGUSR1, hear)
signal.signal(signal.SIGALRM, hear)
WAYS[sys.argv[1]]()
print(sys.argv[1], heard, count)
