"""Condition waits with timeouts of about the time that the notifier takes.

Varies: which waits time out.
"""

import threading
import time

condition = threading.Condition()
results = []
number = 0


def wait(name, seconds):
    for turn in range(3):
        with condition:
            results.append((name, turn, condition.wait(timeout=seconds)))


def wait_until(name, goal):
    with condition:
        results.append((name, goal, condition.wait_for(lambda: number >= goal, timeout=0.012)))


def notify():
    global number
    for _ in range(5):
        time.sleep(0.002)
        with condition:
            number += 1
            condition.notify(2)


threads = [threading.Thread(target=wait, args=(f"w{ms}", ms / 1000)) for ms in (1, 2, 3, 4)]
threads += [threading.Thread(target=wait_until, args=(f"u{goal}", goal)) for goal in (2, 5, 9)]
threads.append(threading.Thread(target=notify))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for result in results:
    print(*result)
