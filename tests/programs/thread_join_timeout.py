"""Thread.join with timeouts, and one thread joined by several others.

Varies: how many joins timed out, the order in which joiners returned.

Before 3.13, joins of one thread by several others may fail, also without reenact: one joiner
holds the thread's lock for a moment while another asserts that nobody does. That is logged.
"""

import threading
import time

log = []


def sleep(seconds):
    time.sleep(seconds)
    log.append(("slept", seconds))


def patiently(wait, *arguments):
    while True:
        try:
            return wait(*arguments)
        except (AssertionError, RuntimeError) as error:
            log.append((wait.__name__, "failed", type(error).__name__))


def join(name, thread):
    tries = 0
    while patiently(thread.is_alive):
        patiently(thread.join, 0.001)
        tries += 1
    log.append((name, "joined after", tries))


sleepers = [threading.Thread(target=sleep, args=(ms / 1000,)) for ms in (3, 5)]
for sleeper in sleepers:
    sleeper.start()
joiners = [
    threading.Thread(target=join, args=(f"{name}{n}", sleeper))
    for n, sleeper in enumerate(sleepers)
    for name in "ab"
]
for joiner in joiners:
    joiner.start()
patiently(sleepers[1].join, 0)
log.append(("main, at once", patiently(sleepers[1].is_alive)))
patiently(sleepers[1].join, -1)
log.append(("main, negative", patiently(sleepers[1].is_alive)))
for thread in joiners + sleepers:
    patiently(thread.join)

for entry in log:
    print(*entry)
