"""A lost wake-up: the flag is tested outside the lock, so a notify can come before the wait.

Varies: how many waits timed out although they had been notified.
"""

import threading

condition = threading.Condition()
outcomes = []


class Box:
    full = False


def consume(box, number):
    if not box.full:
        with condition:
            notified = condition.wait(timeout=0.005)
            outcomes.append((number, "notified" if notified else "timed out", box.full))
    else:
        outcomes.append((number, "no wait", True))


def produce(box):
    box.full = True
    with condition:
        condition.notify()


for number in range(12):
    box = Box()
    pair = [
        threading.Thread(target=consume, args=(box, number)),
        threading.Thread(target=produce, args=(box,)),
    ]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()

for outcome in outcomes:
    print(*outcome)
